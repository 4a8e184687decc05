"""Programs over arrays with dimensions of 0 and 1, in each position."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from fuzz_jax.execute import QUICK
from jax import lax

USUAL = 3


@dataclasses.dataclass(frozen=True)
class Program:
    """A function and the shapes of its operands.

    Attributes:
        name: the operation, without sizes.
        function: what is compiled.
        shapes: of the operands, which have the dtype float32 unless `dtypes` says others.
        dtypes: of the operands.
        modes: in which transformations it runs besides.
        by_shape: whether only shapes and dtypes are compared, as where signs are free.
    """

    name: str
    function: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...] = ()
    modes: tuple[str, ...] = ("grad", "vmap", "jvp")
    by_shape: bool = False

    def __str__(self) -> str:
        return f"{self.name} of {', '.join(map(str, self.shapes))}"

    def operands(self) -> list[np.ndarray]:
        """Operands that are well-conditioned as matrices, and the same each time."""
        rng = np.random.default_rng(0)
        dtypes = self.dtypes or ("float32",) * len(self.shapes)
        return [_values(rng, shape, dtype) for shape, dtype in zip(self.shapes, dtypes, strict=True)]

    def variants(self) -> Iterator[tuple[str, Callable[..., Any], list[np.ndarray]]]:
        """The function by itself and transformed, with the operands of each."""
        operands = self.operands()
        yield "plain", self.function, operands
        if "grad" in self.modes:
            floats = tuple(n for n, x in enumerate(operands) if np.issubdtype(x.dtype, np.inexact))
            yield "grad", jax.grad(functools.partial(_total, self.function), argnums=floats), operands
        if "jvp" in self.modes:
            yield "jvp", functools.partial(_jvp, self.function), operands
        if "vmap" in self.modes:
            for size in (0, 1, 2):
                batch = [np.repeat(x[None], size, 0) for x in operands]
                yield f"vmap of {size}", jax.vmap(self.function), batch


def _values(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    if not np.issubdtype(np.dtype(dtype), np.inexact):
        return rng.integers(0, 2, shape).astype(dtype)
    x = rng.standard_normal(shape)
    if np.issubdtype(np.dtype(dtype), np.complexfloating):
        x = x + 1j * rng.standard_normal(shape)
    if len(shape) >= 2:
        x = x + 4 * np.eye(*shape[-2:])
    return x.astype(dtype)


def _total(function: Callable[..., Any], *operands: jax.Array) -> jax.Array:
    leaves = (leaf for leaf in jax.tree.leaves(function(*operands)) if jnp.issubdtype(leaf.dtype, jnp.inexact))
    return sum((jnp.sum(jnp.abs(leaf) ** 2) for leaf in leaves), jnp.float32(0)).astype(jnp.float32)


def _jvp(function: Callable[..., Any], *operands: jax.Array) -> Any:
    tangents = [
        jnp.ones_like(x) if jnp.issubdtype(x.dtype, jnp.inexact) else np.zeros(x.shape, jax.dtypes.float0)
        for x in operands
    ]
    return jax.tree.map(
        lambda x: x if x.dtype != jax.dtypes.float0 else jnp.zeros(x.shape),
        jax.jvp(function, operands, tuple(tangents)),
    )


def sizes(count: int) -> Iterator[tuple[int, ...]]:
    """Sizes of so many dimensions: a 0, a 1, or both in each place, everywhere, and nowhere."""
    seen = set()
    for pair in itertools.product((0, 1, USUAL), repeat=2):
        for places in itertools.permutations(range(count), 2) if count > 1 else [(0, 0)]:
            chosen = [USUAL] * count
            chosen[places[0]], chosen[places[1]] = pair
            seen.add(tuple(chosen))
    seen |= {(0,) * count, (1,) * count}
    return iter(sorted(seen))


def _named(count: str, *operands: str) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Shapes of operands whose dimensions have names."""
    for chosen in sizes(len(count)):
        by_name = dict(zip(count, chosen, strict=True))
        yield tuple(tuple(by_name[name] for name in operand) for operand in operands)


EINSUMS = (
    "i,i->",
    "i,j->ij",
    "ij,j->i",
    "ij,jk->ik",
    "ij,kj->ki",
    "iaj,ibj->ab",
    "bij,bjk->bik",
    "bij,bkj->bik",
    "bij,bij->b",
    "ij,ij->",
    "abij,abjk->abik",
    "bi,ij->bj",
    "aij,bij->ab",
    "ij->ji",
    "ij->i",
    "ij->",
    "abc,cd->abd",
    "ab,cd->abcd",
)


def contractions() -> Iterator[Program]:
    for pattern in EINSUMS:
        inputs = pattern.split("->")[0].split(",")
        names = "".join(sorted(set("".join(inputs))))
        for shapes in _named(names, *inputs):
            yield Program(f"einsum {pattern}", functools.partial(jnp.einsum, pattern), shapes)
    for dtype in ("bfloat16", "int32", "complex64"):
        modes = () if dtype == "int32" else ("grad",)
        for shapes in _named("ijk", "ij", "jk"):
            yield Program(f"matmul {dtype}", jnp.matmul, shapes, (dtype,) * 2, modes)


def convolutions() -> Iterator[Program]:
    for batch, space, features, window, outputs in sizes(5):
        for padding, stride in ((((0, 0),), 1), (((1, 2),), 2)):
            call = functools.partial(
                lax.conv_general_dilated,
                window_strides=(stride,),
                padding=padding,
                dimension_numbers=("NWC", "WIO", "NWC"),
            )
            shapes = ((batch, space, features), (window, features, outputs))
            yield Program(f"conv stride {stride}", call, shapes, modes=("grad", "vmap"))
    for height, width, kernel, features in sizes(4):
        call = functools.partial(lax.conv_general_dilated, window_strides=(1, 1), padding="SAME", lhs_dilation=(2, 1))
        yield Program("conv 2d", call, ((1, features, height, width), (2, features, kernel, 2)), modes=("grad",))
    for groups in (1, 2):
        call = functools.partial(
            lax.conv_general_dilated, window_strides=(1,), padding="VALID", feature_group_count=groups
        )
        for batch, space in sizes(2):
            yield Program(f"conv of {groups} groups", call, ((batch, 2, space), (2, 2 // groups, 1)))


def reductions() -> Iterator[Program]:
    functions = (
        jnp.sum,
        jnp.prod,
        jnp.max,
        jnp.min,
        jnp.any,
        jnp.all,
        jnp.mean,
        jnp.var,
        jax.nn.logsumexp,
        jax.nn.softmax,
    )
    for function in functions:
        modes = ("grad", "vmap", "jvp") if function in (jnp.sum, jnp.max, jnp.var, jax.nn.softmax) else ()
        for shape in sizes(3):
            for axis in (0, 1, 2, (0, 2), (0, 1, 2)):
                yield Program(
                    f"{function.__name__} along {axis}", functools.partial(function, axis=axis), (shape,), modes=modes
                )
    for function in (jnp.argmax, jnp.argmin):
        for shape in sizes(2):
            for axis in (0, 1):
                yield Program(
                    f"{function.__name__} {axis}", functools.partial(function, axis=axis), (shape,), modes=("vmap",)
                )
    for function in (jnp.cumsum, jnp.cumprod, lax.cummax, lax.cumlogsumexp):
        for shape in sizes(2):
            for axis in (0, 1):
                yield Program(f"{function.__name__} {axis}", functools.partial(function, axis=axis), (shape,))


def windows() -> Iterator[Program]:
    for shape in sizes(2):
        for window, strides, padding in (
            ((1, 2), (1, 1), "VALID"), ((2, 2), (2, 1), "SAME"), ((1, 1), (1, 1), ((0, 1), (2, 0))),
            ((3, 1), (1, 3), "SAME"),
        ):  # fmt: skip
            for name, operation, start in (("add", lax.add, 0.0), ("max", lax.max, -np.inf), ("mul", lax.mul, 1.0)):
                call = functools.partial(
                    lambda x, operation, start, **window: lax.reduce_window(x, np.float32(start), operation, **window),
                    operation=operation, start=start, window_dimensions=window, window_strides=strides, padding=padding,
                )  # fmt: skip
                modes = ("grad", "vmap") if name != "mul" else ()
                yield Program(f"reduce_window {name} {window}", call, (shape,), modes=modes)


def sorting() -> Iterator[Program]:
    for shape in sizes(2):
        for axis in (0, 1):
            yield Program(f"sort {axis}", functools.partial(jnp.sort, axis=axis), (shape,))
            yield Program(f"argsort {axis}", functools.partial(jnp.argsort, axis=axis), (shape,), modes=("vmap",))
            call = functools.partial(lambda x, y, axis: lax.sort((x, y), dimension=axis, num_keys=1), axis=axis)
            yield Program(f"sort by key {axis}", call, (shape, shape))
        for k in (0, 1, 3):
            yield Program(f"top_k of {k}", functools.partial(lax.top_k, k=k), (shape,))


def indexing() -> Iterator[Program]:
    for rows, columns, count in sizes(3):
        i32 = ("float32", "int32")
        yield Program("take rows", lambda x, i: jnp.take(x, i, 0, mode="fill"), ((rows, columns), (count,)), i32)
        yield Program("take columns", lambda x, i: jnp.take(x, i, 1, mode="clip"), ((rows, columns), (count,)), i32)
        update = lambda x, i, y: x.at[i].set(y, mode="drop")  # noqa: E731
        shapes = ((rows, columns), (count,), (count, columns))
        yield Program("set rows", update, shapes, ("float32", "int32", "float32"), ("vmap",))
        add = lambda x, i, y: x.at[i].add(y, mode="drop")  # noqa: E731
        yield Program("add to rows", add, shapes, ("float32", "int32", "float32"))
        most = lambda x, i, y: x.at[:, i].max(y, mode="drop")  # noqa: E731
        shapes = ((rows, columns), (count,), (rows, count))
        yield Program("max of columns", most, shapes, ("float32", "int32", "float32"), ("vmap",))
    for shape in sizes(2):
        for size in ((0, 1), (1, 0), (1, 1)):
            if all(a <= b for a, b in zip(size, shape, strict=True)):
                call = functools.partial(lambda x, i, size: lax.dynamic_slice(x, (i, i), size), size=size)
                yield Program(f"dynamic_slice {size}", call, (shape, ()), ("float32", "int32"))
                call = lambda x, i, y: lax.dynamic_update_slice(x, y, (i, i))  # noqa: E731
                yield Program("dynamic_update_slice", call, (shape, (), size), ("float32", "int32", "float32"))
    for height, width in sizes(2):
        pool = lambda x: lax.reduce_window(x, -np.inf, lax.max, (2, 1), (1, 1), "SAME")  # noqa: E731
        yield Program("max pool", pool, ((height, width),), modes=("grad",))


def movement() -> Iterator[Program]:
    for shape in sizes(2):
        for low, high, inner in ((0, 0, 0), (1, 2, 0), (-1, 0, 0), (0, -1, 1), (-1, 2, 2), (1, -2, 0), (0, 0, 1)):
            config = ((low, high, inner), (0, 0, 0))
            for padding in (config, config[::-1]):
                if all((n and n + (n - 1) * p[2]) + p[0] + p[1] >= 0 for n, p in zip(shape, padding, strict=True)):
                    call = functools.partial(lambda x, padding: lax.pad(x, np.float32(7), padding), padding=padding)
                    yield Program(f"pad {padding}", call, (shape,))
        for axis in (0, 1):
            for other in (0, 1):
                joined = tuple(other if n == axis else size for n, size in enumerate(shape))
                call = functools.partial(lambda *x, axis: jnp.concatenate(x, axis), axis=axis)
                yield Program(f"concatenate {axis}", call, (shape, joined, shape))
            yield Program(f"roll {axis}", functools.partial(jnp.roll, shift=1, axis=axis), (shape,))
            yield Program(f"repeat {axis}", functools.partial(jnp.repeat, repeats=2, axis=axis), (shape,))
        yield Program("transpose", jnp.transpose, (shape,))
        yield Program("reverse", jnp.flip, (shape,))
        yield Program("tile", functools.partial(jnp.tile, reps=(2, 0)), (shape,))
        yield Program("reshape", functools.partial(jnp.ravel), (shape,))
        yield Program("slice", lambda x: x[::2, 1:], (shape,))
        yield Program("elementwise", lambda x: jnp.sin(x) * x + jnp.where(x > 0, x, 2), (shape,))
        yield Program(
            "broadcast", lambda x: jnp.broadcast_to(x[None, :, None], (2, x.shape[0], 0, x.shape[1])), (shape,)
        )
        yield Program("convert", lambda x: x.astype(np.int8).astype(np.float16), (shape,))
        yield Program("bitcast", lambda x: lax.bitcast_convert_type(x, np.uint8), (shape,), modes=("vmap",))
        yield Program("iota", lambda x: x + lax.broadcasted_iota(np.float32, x.shape, 1), (shape,))


def transforms() -> Iterator[Program]:
    for batch, length in sizes(2):
        for name in ("fft", "ifft", "rfft", "hfft"):
            function, least = getattr(jnp.fft, name), 2 if name == "hfft" else 1
            if length >= least:
                yield Program(name, function, ((batch, length),))
        if length > 1:
            yield Program("irfft", lambda x: jnp.fft.irfft(x.astype(np.complex64)), ((batch, length),))
    for batch, height, width in sizes(3):
        if height and width:
            yield Program("fft2", jnp.fft.fft2, ((batch, height, width),))
            yield Program("rfft2", jnp.fft.rfft2, ((batch, height, width),))


def linear_algebra() -> Iterator[Program]:
    for batch, n in sizes(2):
        square = ((batch, n, n),)
        symmetric = lambda f: lambda x: f(x @ jnp.swapaxes(x, -1, -2))  # noqa: E731
        yield Program("cholesky", symmetric(jnp.linalg.cholesky), square)
        yield Program("eigvalsh", symmetric(jnp.linalg.eigvalsh), square)
        yield Program("eigh", symmetric(jnp.linalg.eigh), square, by_shape=True, modes=("vmap",))
        yield Program("eigvals", lambda x: jnp.sort(jnp.linalg.eigvals(x).real), square, modes=("vmap",))
        yield Program("eig", jnp.linalg.eig, square, by_shape=True, modes=())
        yield Program("inv", jnp.linalg.inv, square)
        yield Program("det", jnp.linalg.det, square, modes=("vmap", "jvp"))
        yield Program("slogdet", jnp.linalg.slogdet, square, modes=("vmap",))
        yield Program("lu", lax.linalg.lu, square)
        yield Program("expm", jax.scipy.linalg.expm, square, modes=("vmap",))
        yield Program("schur", lax.linalg.schur, square, by_shape=True, modes=())
        yield Program("hessenberg", lax.linalg.hessenberg, square, by_shape=True, modes=())
    for batch, rows, columns in sizes(3):
        shapes = ((batch, rows, columns),)
        yield Program("qr", jnp.linalg.qr, shapes, by_shape=True, modes=("vmap",))
        yield Program("full qr", functools.partial(jnp.linalg.qr, mode="complete"), shapes, by_shape=True, modes=())
        yield Program("svdvals", functools.partial(jnp.linalg.svd, compute_uv=False), shapes, modes=("vmap",))
        yield Program(
            "svd", functools.partial(jnp.linalg.svd, full_matrices=False), shapes, by_shape=True, modes=("vmap",)
        )
        yield Program("full svd", jnp.linalg.svd, shapes, by_shape=True, modes=())
        yield Program("lu of rectangles", lax.linalg.lu, shapes)
        yield Program("lstsq", lambda x: jnp.linalg.pinv(x), shapes, modes=())
    for batch, n, columns in sizes(3):
        shapes = ((batch, n, n), (batch, n, columns))
        yield Program("solve", jnp.linalg.solve, shapes)
        for left, lower, transposed in itertools.product((True, False), repeat=3):
            call = functools.partial(lax.linalg.triangular_solve, left_side=left, lower=lower, transpose_a=transposed)
            right = (batch, n, columns) if left else (batch, columns, n)
            name = f"triangular_solve {left} {lower} {transposed}"
            yield Program(name, call, (shapes[0], right), modes=("grad", "vmap") if lower else ())
    for n, columns in sizes(2):
        call = lambda x, y: lax.linalg.tridiagonal_solve(x, x + 5, x, y)  # noqa: E731
        if n >= 3:
            yield Program("tridiagonal_solve", call, ((n,), (n, columns)), modes=())


def control() -> Iterator[Program]:
    for shape in sizes(2):
        scan = lambda x: lax.scan(lambda c, row: (c + row.sum(), row * c), jnp.float32(1), x)  # noqa: E731
        yield Program("scan", scan, (shape,))
        yield Program("map", lambda x: lax.map(jnp.sin, x), (shape,))
        loop = lambda x: lax.while_loop(lambda c: c[0] < x.shape[0], lambda c: (c[0] + 1, c[1] * 2), (0, x))  # noqa: E731
        yield Program("while", loop, (shape,), modes=("vmap", "jvp"))
        count = lambda x, n: lax.fori_loop(0, n, lambda i, y: y + i, x)  # noqa: E731
        yield Program("fori", count, (shape, ()), ("float32", "int32"), ("vmap",))
        yield Program("cond", lambda x: lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x), (shape,))
        yield Program("associative_scan", functools.partial(lax.associative_scan, jnp.add), (shape,))


def random_numbers() -> Iterator[Program]:
    for shape in sizes(2):
        for name in ("uniform", "normal", "bits", "gumbel", "exponential"):
            draw = functools.partial(lambda x, draw: draw(jax.random.key(3), x.shape), draw=getattr(jax.random, name))
            yield Program(name, draw, (shape,), modes=("vmap",))
        draw = lambda x: jax.random.randint(jax.random.key(3), x.shape, 0, 7)  # noqa: E731
        yield Program("randint", draw, (shape,), modes=())
        yield Program("permutation", lambda x: jax.random.permutation(jax.random.key(3), x), (shape,), modes=())
        bits = lambda x: lax.rng_bit_generator(jnp.zeros(4, np.uint32), x.shape)  # noqa: E731
        yield Program("rng_bit_generator", bits, (shape,), modes=())
        key = lambda x: jax.random.split(jax.random.key(3), x.shape)  # noqa: E731
        yield Program("split", lambda x: jax.random.key_data(key(x)), (shape,), modes=())  # noqa: B023


FAMILIES = {
    "contractions": contractions,
    "convolutions": convolutions,
    "reductions": reductions,
    "windows": windows,
    "sorting": sorting,
    "indexing": indexing,
    "movement": movement,
    "transforms": transforms,
    "linear algebra": linear_algebra,
    "control": control,
    "random numbers": random_numbers,
}


def on(device: jax.Device, function: Callable[..., Any], operands: list[np.ndarray]) -> list[np.ndarray]:
    """The results on a device."""
    options = QUICK if device.platform == "cpu" else None
    with jax.default_device(device):
        return [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(function, compiler_options=options)(*operands))]


def difference(ours: list[np.ndarray], reference: list[np.ndarray], by_shape: bool) -> str | None:
    """What is wrong with results, if anything is."""
    for a, b in zip(ours, reference, strict=True):
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            return f"{a.dtype}{a.shape} instead of {b.dtype}{b.shape}"
        wide = np.complex128 if np.issubdtype(a.dtype, np.complexfloating) else np.float64
        a, b = a.astype(wide), b.astype(wide)
        if not by_shape and not np.allclose(a, b, 1e-2 if a.dtype.itemsize == 2 else 2e-4, 2e-4, equal_nan=True):
            return f"{a} instead of {b}"
    return None
