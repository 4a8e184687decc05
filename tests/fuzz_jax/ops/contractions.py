"""Products, convolutions, transforms, and linear algebra."""

from __future__ import annotations

from fuzz_jax.ops.table import Verbatim, define, maker

define(
    2,
    sums=True,
    dot_general="lax.dot_general({0}, {1}, {dimensions}, preferred_element_type={preferred})",
    matmul="jnp.matmul({0}, {1})",
    tensordot="jnp.tensordot({0}, {1}, {axes})",
    outer="jnp.outer({0}.ravel()[:7], {1}.ravel()[:5])",
    gram="jnp.einsum('...ij,...kj->...ik', {0}, {0})",
)
define(
    2,
    sums=True,
    spills=True,
    convolution="lax.conv_general_dilated(finite({0}), finite({1}), {strides}, {padding}, lhs_dilation={spread}, "
    "rhs_dilation={dilation}, feature_group_count={groups}, batch_group_count={batches})",
    convolve="jnp.convolve({0}.ravel()[:20], {1}.ravel()[:7], mode={mode})",
)
define(8, sums=True, spills=True, beside="any", fft="jnp.fft.{kind}({0}, axis={at})", fft2="jnp.fft.{kind}({0})")
define(
    16,
    sums=True,
    spills=True,
    cholesky="jnp.linalg.cholesky(spd({0}))",
    det="jnp.linalg.det(spd({0}))",
    qr_r="jnp.abs(jnp.linalg.qr(spd({0}), mode='r'))",
)
define(
    16,
    sums=True,
    spills=True,
    beside="any",
    solve="jnp.linalg.solve(spd({0}), {0})",
    triangular="lax.linalg.triangular_solve(spd({0}), {0}, left_side={left}, lower={lower}, transpose_a={flip})",
    inv="jnp.linalg.inv(spd({0}))",
)
define(
    16,
    sums=True,
    spills=True,
    beside="largest",
    eigvalsh="jnp.linalg.eigvalsh(spd({0}))",
    svdvals="jnp.linalg.svd(bounded({0}), compute_uv=False)",
)
define(16, sums=True, many=True, spills=True, slogdet="jnp.linalg.slogdet(spd({0}))")


@maker(5)
def product(c):
    """A contraction over some dimensions, with some in common."""
    test = lambda type: not type.is_bool() and not type.is_narrow()  # noqa: E731
    kind = c.integer(0, 5)
    x = c.value(test)
    type = c[x]
    if kind == 0:
        return c.emit("outer", [x, c.value(lambda other: other.dtype == type.dtype)])
    if kind == 1:
        return c.emit("gram", [c.value(lambda other: test(other) and other.rank >= 2)])
    if kind == 2:
        return c.emit("matmul", [x, c.value(lambda o: o.dtype == type.dtype and _chains(type.shape, o.shape))])
    y = c.value(lambda other: other.dtype == type.dtype)
    other = c[y]
    pairs = [(i, j) for i, a in enumerate(type.shape) for j, b in enumerate(other.shape) if a == b]
    c.rng.shuffle(pairs)
    contracted, batched, left, right = [], [], set(), set()
    for i, j in pairs:
        if i in left or j in right or c.chance(0.3):
            continue
        left.add(i)
        right.add(j)
        (contracted if c.chance(0.6) else batched).append((int(i), int(j)))
    dimensions = tuple((tuple(i for i, _ in chosen), tuple(j for _, j in chosen)) for chosen in (contracted, batched))
    preferred = None
    if c.chance(0.2):
        if type.dtype in ("bfloat16", "float16"):
            preferred = "float32"
        elif type.dtype in ("int8", "int16"):
            preferred = "int32"
    return c.emit("dot_general", [x, y], dimensions=dimensions, preferred=preferred)


def _chains(a, b):
    if not a or not b:
        return False
    return a[-1] == b[-2 if len(b) > 1 else 0]


@maker(2)
def convolution(c):
    """A convolution, with steps, dilations and groups."""
    test = lambda type: type.is_wide_float() or type.is_complex()  # noqa: E731
    if c.chance(0.3):
        x = c.value(lambda type: test(type) and type.size > 0)
        y = c.value(lambda type: type.dtype == c[x].dtype and type.size > 0)
        return c.emit("convolve", [x, y], mode=c.one(["full", "same", "valid"]))
    x = c.value(test)
    dtype, spatial = c[x].dtype, c.integer(0, 2)
    groups, batches = c.one([(1, 1), (1, 1), (2, 1), (1, 2)])
    inside, out = c.integer(1, 2), c.integer(1, 3) * groups * batches
    image = (c.integer(1, 2) * batches, inside * groups, *(c.integer(1, 7) for _ in range(spatial)))
    kernel = (out, inside, *(c.integer(1, 3) for _ in range(spatial)))
    draw = lambda least, most: tuple(c.integer(least, most) for _ in range(spatial))  # noqa: E731
    operands = [_of_shape(c, x, image), _of_shape(c, c.value(lambda type: type.dtype == dtype), kernel)]
    padding = tuple((c.integer(0, 2), c.integer(0, 2)) for _ in range(spatial))
    return c.emit(
        "convolution",
        operands,
        strides=draw(1, 2),
        padding=padding,
        spread=draw(1, 2),
        dilation=draw(1, 2),
        groups=groups,
        batches=batches,
    )


define(of_shape="jnp.resize({0}, {shape})")


def _of_shape(c, x, shape):
    """The elements of a value again and again, in a shape."""
    return x if c[x].shape == shape else c.emit("of_shape", [x], shape=shape)


@maker(1.5)
def fourier(c):
    """A Fourier transform."""
    x = c.value(lambda type: type.dtype in ("float32", "float64", "complex64", "complex128") and type.rank > 0)
    type = c[x]
    kinds = ["fft", "ifft", "hfft", "irfft"] + ([] if type.is_complex() else ["rfft", "rfft", "ihfft"])
    if type.rank >= 2 and c.chance(0.3):
        return c.emit("fft2", [x], kind=Verbatim(c.one(["fft2", "ifft2"] + ([] if type.is_complex() else ["rfft2"]))))
    return c.emit("fft", [x], kind=Verbatim(c.one(kinds)), at=c.integer(0, type.rank - 1))


@maker(1.5)
def linear_algebra(c):
    """Decompositions and solutions whose result is unique."""
    square = lambda type: (  # noqa: E731
        type.dtype in ("float32", "float64", "complex64", "complex128") and type.rank >= 2 and type.shape[-1] <= 11
    )
    x = c.value(square)
    if c[x].shape[-1] != c[x].shape[-2]:
        side = c.integer(0, 5)
        x = c.emit("of_shape", [x], shape=(*c[x].shape[:-2], side, side))
    name = c.one(["cholesky", "solve", "triangular", "inv", "det", "eigvalsh", "svdvals", "qr_r", "slogdet"])
    if name == "slogdet":
        return c.emit_many(name, [x])
    if name == "triangular":
        return c.emit(name, [x], left=c.chance(0.5), lower=c.chance(0.5), flip=c.chance(0.3))
    return c.emit(name, [x])
