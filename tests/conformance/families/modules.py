"""Ops and dtypes that JAX's functions do not reach, as StableHLO text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import jax.numpy as jnp
import numpy as np
from jax import lax

from conformance import inputs, oracles
from conformance.cases import Case, family
from conformance.compare import EXACT
from conformance.modules import body, integers, single, tensor
from conformance.tolerances import sums, tolerance


def _elementwise(op: str, dtypes: Sequence[str], shape: tuple[int, ...], result: str):
    """A program of one element-wise op."""
    return single(op, [tensor(dtype, shape) for dtype in dtypes], [tensor(result, shape)])


@family
def unreached(rng: np.random.Generator) -> Iterator[Case]:
    """Element-wise ops on dtypes for which JAX lowers to something else, or refuses."""
    for shape in inputs.SHAPES:

        def draw(dtype, make=inputs.values, shape=shape):
            return make(rng, dtype, shape)

        for op in ("add", "multiply"):
            x, y = draw("bool"), draw("bool")
            yield Case(op, "bool", f"{shape}", _elementwise(f"stablehlo.{op}", ["bool"] * 2, shape, "bool"), [x, y])
        for dtype in ("int2", "int4"):  # lax refuses them
            for op in ("abs", "sign"):
                function = _elementwise(f"stablehlo.{op}", [dtype], shape, dtype)
                yield Case(op, dtype, f"{shape}", function, [draw(dtype)])
        for dtype in (*inputs.INTEGERS[2:6], *inputs.INTEGERS[8:]):
            yield Case("mulhi", dtype, f"{shape}", lax.mulhi, [draw(dtype), draw(dtype)])
        for dtype in inputs.INTEGERS:
            x, y = draw(dtype, inputs.moderate), draw(dtype, inputs.moderate)
            power = _elementwise("stablehlo.power", [dtype] * 2, shape, dtype)
            yield Case("power", dtype, f"{shape}", power, [x, y])
        for dtype in inputs.COMPLEX:
            x, y = draw(dtype, inputs.moderate), draw(dtype, inputs.moderate)
            yield Case(
                "atan2",
                dtype,
                f"{shape}",
                _elementwise("stablehlo.atan2", [dtype] * 2, shape, dtype),
                [x, y],
                tolerance("atan2", dtype),
            )
        for dtype in (*inputs.SMALL_FLOATS, *inputs.FLOATS):
            for op in ("real", "imag"):
                yield Case(op, dtype, f"{shape}", _elementwise(f"stablehlo.{op}", [dtype], shape, dtype), [draw(dtype)])
        for dtype in ("bool", *inputs.COMPLEX):
            values = [draw(dtype, inputs.moderate) for _ in range(3)]
            yield Case("clamp", dtype, f"{shape}", _elementwise("stablehlo.clamp", [dtype] * 3, shape, dtype), values)
        for dtype in inputs.FLOATS:
            for op in ("is_inf", "is_pos_inf", "is_neg_inf"):
                function = _elementwise(f"chlo.{op}", [dtype], shape, "bool")
                yield Case(op, dtype, f"{shape}", function, [draw(dtype)])
        for dtype in inputs.COMPLEX:
            yield Case("conj", dtype, f"{shape}", _elementwise("chlo.conj", [dtype], shape, dtype), [draw(dtype)])
        for dtype in (*inputs.FLOATS, *inputs.COMPLEX):
            square = _elementwise("chlo.square", [dtype], shape, dtype)
            yield Case(
                "square", dtype, f"{shape}", square, [draw(dtype, inputs.moderate)], tolerance("multiply", dtype)
            )
    for dtype in inputs.SMALL_FLOATS:
        for exponent, mantissa in ((5, 10), (4, 3), (5, 2), (2, 1), (3, 0)):
            x, to = inputs.values(rng, dtype, (97,)), tensor(dtype, (97,))
            bits = f"exponent_bits = {exponent} : i32, mantissa_bits = {mantissa} : i32"
            function = single("stablehlo.reduce_precision", [to], [to], bits)
            yield Case("reduce_precision", dtype, f"e{exponent}m{mantissa}", function, [x])


@family
def reinterpreted(rng: np.random.Generator) -> Iterator[Case]:
    """Conversions of complex numbers to real ones, and bits of complex numbers and bools as those of the same kind."""
    for source in inputs.COMPLEX:
        for target in ("bool", *inputs.INTEGERS, *inputs.SMALL_FLOATS, *inputs.FLOATS):
            x, of, to = inputs.moderate(rng, source, (61,)), tensor(source, (61,)), tensor(target, (61,))
            if target != "float8_e8m0fnu":  # it has no zero
                x.real[::3] = 0
            real = lambda x, t=target: x.real.astype(inputs.dtype_of(t))  # noqa: E731
            oracle = oracles.other(real, "as the specification says: the conversion of the real part")
            yield Case("convert", source, f"to {target}", single("stablehlo.convert", [of], [to]), [x], oracle=oracle)
    for dtype in ("bool", *inputs.COMPLEX):
        for shape in inputs.SHAPES:
            x, of = inputs.values(rng, dtype, shape), tensor(dtype, shape)
            yield Case("bitcast_convert", dtype, f"{shape}", single("stablehlo.bitcast_convert", [of], [of]), [x])


@family
def inside(rng: np.random.Generator) -> Iterator[Case]:
    """The 6-bit floats, which are converted at the program's edges."""
    unary = {
        "negate": np.negative,
        "abs": np.abs,
        "sign": np.sign,
        "floor": np.floor,
        "ceil": np.ceil,
        "sqrt": np.sqrt,
        "exponential": np.exp,
        "tanh": np.tanh,
    }
    binary = {
        "add": np.add,
        "subtract": np.subtract,
        "multiply": np.multiply,
        "divide": np.divide,
        "maximum": np.maximum,
        "minimum": np.minimum,
    }
    for dtype in inputs.INSIDE:
        least, greatest = (1.0, 7.5) if dtype == "float6_e2m3fn" else (0.25, 28.0)
        for shape in ((), (1,), (7,), (0,), (5, 13)):
            wide, narrow = tensor("float32", shape), tensor(dtype, shape)
            # Positive divisors and radicands: the type has neither infinities nor NaN.
            x, y = (np.abs(inputs.moderate(rng, "float32", shape)) * 3 + np.float32(least) for _ in range(2))
            for op, function in (unary | binary).items():
                count = 1 if op in unary else 2
                lines = [f"%n{i} = stablehlo.convert %{i} : ({wide}) -> {narrow}" for i in range(count)]
                names = ", ".join(f"%n{i}" for i in range(count))
                lines += [
                    f'%s = "stablehlo.{op}"({names}) : ({", ".join([narrow] * count)}) -> {narrow}',
                    f"%r = stablehlo.convert %s : ({narrow}) -> {wide}",
                    f"return %r : {wide}",
                ]
                expected = oracles.numpy(_rounding(function, dtype, greatest), _NO_TYPE)
                program = body("\n".join(lines), [wide] * count, [wide])
                yield Case(op, dtype, f"{shape}", program, [x, y][:count], oracle=expected)
            for target in ("float32", "float8_e4m3fn", "bfloat16", "int8"):
                to = tensor(target, shape)
                lines = f"""
                  %n = stablehlo.convert %0 : ({wide}) -> {narrow}
                  %r = stablehlo.convert %n : ({narrow}) -> {to}
                  return %r : {to}"""
                oracle = oracles.interpreter(_NO_TYPE)
                yield Case("convert", dtype, f"to {target} {shape}", body(lines, [wide], [to]), [x], oracle=oracle)


_NO_TYPE = "XLA has no such type: values of it computed in `float32` and rounded to it"


def _rounding(function: oracles.Function, dtype: str, greatest: float) -> oracles.Function:
    """The function of values of the narrow type, as float32: conversions to it saturate."""

    def narrow(x: np.ndarray) -> np.ndarray:
        return np.clip(x, -greatest, greatest).astype(inputs.dtype_of(dtype)).astype("float32")

    return lambda *operands: narrow(function(*map(narrow, operands)))


@family
def maps(rng: np.random.Generator) -> Iterator[Case]:
    """`map` with a body of several ops."""
    for dtype in inputs.EVERY:
        scalar = tensor(dtype)
        for shape in ((), (1,), (7,), (0, 3), (5, 2, 3), (2053,)):
            x, y = inputs.moderate(rng, dtype, shape), inputs.moderate(rng, dtype, shape)
            region = f"""{{
              ^bb0(%a: {scalar}, %b: {scalar}):
                %s = stablehlo.{"or" if dtype == "bool" else "add"} %a, %b : {scalar}
                %t = stablehlo.maximum %s, %a : {scalar}
                stablehlo.return %t : {scalar}
              }}"""
            dimensions = f"dimensions = {integers(range(len(shape)))}"
            to = tensor(dtype, shape)
            yield Case("map", dtype, f"{shape}", single("stablehlo.map", [to, to], [to], dimensions, region), [x, y])


@family
def older(rng: np.random.Generator) -> Iterator[Case]:
    """Ops that newer programs write with others: `dot`, `broadcast`, `einsum`, `torch_index_select`."""
    for dtype in inputs.EVERY:

        def binary(op, a, b, to, attributes="", dtype=dtype):
            types = [tensor(dtype, a), tensor(dtype, b)]
            return single(f"stablehlo.{op}", types, [tensor(dtype, to)], attributes)

        for a, b, to in (
            ((4, 5), (5, 3), (4, 3)),
            ((4, 5), (5,), (4,)),
            ((5,), (5, 3), (3,)),
            ((5,), (5,), ()),
            ((0, 5), (5, 3), (0, 3)),
            ((4, 0), (0, 3), (4, 3)),
        ):
            x, y = inputs.moderate(rng, dtype, a), inputs.moderate(rng, dtype, b)
            near = EXACT if dtype in ("bool", *inputs.INTEGERS) else sums(5)
            oracle = oracles.STOCK
            if dtype in ("int2", "uint2"):
                wider = lambda x, y, t=dtype: jnp.dot(x.astype("int8"), y.astype("int8")).astype(t)  # noqa: E731
                oracle = oracles.other(wider, "XLA:CPU multiplies no 2-bit integers: the low bits of wider ones")
            yield Case("dot", dtype, f"{a} {b}", binary("dot", a, b, to), [x, y], near, oracle=oracle)
        for shape, sizes in (((), (3,)), ((7,), (2,)), ((2, 3), (4, 1)), ((5,), (0,)), ((3, 1), ())):
            x, result = inputs.values(rng, dtype, shape), tensor(dtype, (*sizes, *shape))
            of = tensor(dtype, shape)
            function = single("stablehlo.broadcast", [of], [result], f"broadcast_sizes = {integers(sizes)}")
            yield Case("broadcast", dtype, f"{shape} {sizes}", function, [x])
        for shape, dim, batch, index in (
            ((5, 3), 0, 0, (4,)),
            ((5, 3), 1, 0, (2,)),
            ((5, 3, 2), 1, 0, (2, 2)),
            ((4, 3, 2), 1, 1, (4, 5)),
            ((5, 3), 0, 0, (0,)),
        ):
            x, i = inputs.values(rng, dtype, shape), rng.integers(0, shape[dim], index).astype("int32")
            result = (*shape[:dim], *index[batch:], *shape[dim + 1 :])
            of, at, to = tensor(dtype, shape), tensor("int32", index), tensor(dtype, result)
            attributes = f"dim = {dim} : i64, batch_dims = {batch} : i64"
            function = single("stablehlo.torch_index_select", [of, at], [to], attributes)
            take = lambda x, i, d=dim, b=batch: (  # noqa: E731
                jnp.take(x, i, d) if b == 0 else jnp.stack([jnp.take(r, j, d - 1) for r, j in zip(x, i, strict=True)])
            )
            yield Case(
                "torch_index_select",
                dtype,
                f"{shape} {dim} {batch} {index}",
                function,
                [x, i],
                oracle=oracles.other(take, _NOT_LEGALISED),
            )
        if dtype == "bool":
            continue
        for formula, a, b, to in (
            ("ij,jk->ik", (4, 5), (5, 3), (4, 3)),
            ("bij,bjk->bik", (2, 4, 5), (2, 5, 3), (2, 4, 3)),
            ("i,i->", (5,), (5,), ()),
            ("i,j->ij", (4,), (3,), (4, 3)),
            ("ij,kj->ki", (4, 5), (3, 5), (3, 4)),
        ):
            x, y = inputs.moderate(rng, dtype, a), inputs.moderate(rng, dtype, b)
            near = EXACT if dtype in inputs.INTEGERS else sums(5)
            function = binary("einsum", a, b, to, f'einsum_config = "{formula}"')
            wide = "int8" if dtype in ("int2", "uint2") else dtype
            same = lambda x, y, f=formula, w=wide: jnp.einsum(f, x.astype(w), y.astype(w)).astype(x.dtype)  # noqa: E731
            oracle = oracles.other(same, _NOT_LEGALISED)
            yield Case("einsum", dtype, formula, function, [x, y], near, oracle=oracle)
        for formula, shape, to in (
            ("ij->ji", (4, 5), (5, 4)),
            ("ij->i", (4, 5), (4,)),
            ("ijk->kij", (2, 3, 4), (4, 2, 3)),
            ("i->i", (7,), (7,)),
            ("ij->", (3, 2), ()),
        ):
            if dtype == "float8_e8m0fnu" and len(to) < len(shape):
                formula, to = "ij->ji", shape[::-1]  # it has no zero that a sum could begin with
            x, of, result = inputs.moderate(rng, dtype, shape), tensor(dtype, shape), tensor(dtype, to)
            function = single("stablehlo.unary_einsum", [of], [result], f'einsum_config = "{formula}"')
            near = EXACT if dtype in inputs.INTEGERS else sums(6)
            oracle = oracles.other(lambda x, f=formula: jnp.einsum(f, x), _NOT_LEGALISED)
            yield Case("unary_einsum", dtype, formula, function, [x], near, oracle=oracle)


_NOT_LEGALISED = "XLA takes no such op any more: what the specification writes it as"
