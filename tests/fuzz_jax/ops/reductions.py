"""Reductions, running reductions, windows, and sorting."""

from __future__ import annotations

from fuzz_jax.ops.table import define, maker

_SUMS = define(
    2,
    sums=True,
    sum="jnp.sum({0}, axis={axis}, keepdims={keep})",
    mean="jnp.mean({0}, axis={axis}, keepdims={keep})",
    reduce_sum="lax.reduce({0}, np.array(0, {0}.dtype), lax.add, {axis})",
)
# Of equal numbers they are squares of the mean's error, to which each term of its sum adds.
_SUMS += define(
    16,
    sums=True,
    var="jnp.var({0}, axis={axis}, keepdims={keep})",
    std="jnp.std({0}, axis={axis}, keepdims={keep})",
)
_SUMS += define(
    2, sums=True, spills=True, norm="jnp.sqrt(jnp.sum(jnp.square(jnp.abs({0})), axis={axis}, keepdims={keep}))"
)
_PRODUCTS = define(8, sums=True, spills=True, prod="jnp.prod({0}, axis={axis}, keepdims={keep})")
_PRODUCTS += define(8, sums=True, beside="one", logsumexp="jax.nn.logsumexp({0}, axis={axis}, keepdims={keep})")
_EXTREMES = define(
    max_of="jnp.max({0}, axis={axis}, keepdims={keep})",
    min_of="jnp.min({0}, axis={axis}, keepdims={keep})",
    ptp="jnp.ptp({0}, axis={axis}, keepdims={keep})",
)
_LOGICAL = define(
    any="jnp.any({0}, axis={axis}, keepdims={keep})",
    all_of="jnp.all({0}, axis={axis}, keepdims={keep})",
    count="jnp.count_nonzero({0}, axis={axis}, keepdims={keep})",
)
_BITWISE = define(
    reduce_and="lax.reduce_and({0}, {axis})",
    reduce_or="lax.reduce_or({0}, {axis})",
    reduce_xor="lax.reduce_xor({0}, {axis})",
)
_ARG = define(argmax="lax.argmax({0}, {at}, jnp.int32)", argmin="lax.argmin({0}, {at}, jnp.int32)")
_RUNNING = define(
    2,
    sums=True,
    cumsum="lax.cumsum({0}, {at}, {reverse})",
    cumlogsumexp="lax.cumlogsumexp({0}, {at}, {reverse})",
)
_RUNNING += define(8, sums=True, spills=True, cumprod="lax.cumprod({0}, {at}, {reverse})")
_RUNNING_EXACT = define(cummax="lax.cummax({0}, {at}, {reverse})", cummin="lax.cummin({0}, {at}, {reverse})")
_SORTS = define(
    sort="jnp.sort({0}, axis={at}, descending={reverse})",
    argsort="jnp.argsort({0}, axis={at}, descending={reverse})",
)
define(4, sums=True, softmax="jax.nn.softmax({0}, axis={at})")
define(4, sums=True, beside="one", log_softmax="jax.nn.log_softmax({0}, axis={at})")
define(
    median="jnp.median({0}, axis={at})",
    searchsorted="jnp.searchsorted(jnp.sort({0}.ravel()), {0}.ravel(), side={side})",
)
define(0, many=True, sort_pairs="lax.sort(({all}), dimension={at}, num_keys={keys})")
define(0, many=True, signs=True, top_k="lax.top_k({0}, {k})")
_WINDOW = "window_dimensions={size}, window_strides={strides}, padding={padding}, window_dilation={dilation}"
define(2, sums=True, window_sum=f"lax.reduce_window({{0}}, np.array(0, {{0}}.dtype), lax.add, {_WINDOW})")
define(
    window_max=f"lax.reduce_window({{0}}, np.array({{start}}, {{0}}.dtype), lax.max, {_WINDOW})",
    window_min=f"lax.reduce_window({{0}}, np.array({{start}}, {{0}}.dtype), lax.min, {_WINDOW})",
)


def _wide(type):
    return not type.is_narrow()


@maker(7)
def reduction(c):
    """A reduction over some dimensions."""
    x = c.value(lambda type: _wide(type) and (type.rank or c.chance(0.2)))
    type = c[x]
    axis = tuple(n for n in range(type.rank) if c.chance(0.6)) or (c.integer(0, type.rank - 1),) if type.rank else ()
    keep = c.chance(0.3)
    if type.is_bool():
        return c.emit(c.one([*_LOGICAL, "sum"]), [x], axis=axis, keep=keep)
    if type.is_integer():
        if c.chance(0.2):
            return c.emit(c.one(_BITWISE), [x], axis=axis)
        return c.emit(c.one(["sum", "prod", *_EXTREMES, *_LOGICAL, "reduce_sum"]), [x], axis=axis, keep=keep)
    if type.is_complex():
        return c.emit(c.one(["sum", "mean", "prod", "norm", "reduce_sum"]), [x], axis=axis, keep=keep)
    return c.emit(c.one([*_SUMS, *_SUMS, *_PRODUCTS, *_EXTREMES, *_EXTREMES]), [x], axis=axis, keep=keep)


def _with_rank(c, test=lambda type: True):
    x = c.value(lambda type: type.rank > 0 and _wide(type) and test(type))
    return x, c.integer(0, c[x].rank - 1)


@maker(1.5)
def position(c):
    """The position of an extreme."""
    x, at = _with_rank(c, lambda type: not type.is_complex() and not type.is_bool())
    return c.emit(c.one(_ARG), [x], at=at)


@maker(3)
def running(c):
    """A running reduction."""
    x, at = _with_rank(c, lambda type: not type.is_bool())
    type, reverse = c[x], c.chance(0.3)
    names = [*_RUNNING, *_RUNNING_EXACT] if type.is_float() else ["cumsum", "cumprod"]
    if type.is_integer():
        names += _RUNNING_EXACT
    return c.emit(c.one(names), [x], at=at, reverse=reverse)


@maker(2)
def normalised(c):
    """A softmax."""
    x, at = _with_rank(c, lambda type: type.is_float())
    return c.emit(c.one(["softmax", "log_softmax", "median"], [4, 4, 1]), [x], at=at)


@maker(4)
def sorting(c):
    """A sort, its order, a sort of several operands, or the largest elements."""
    kind = c.integer(0, 4)
    x, at = _with_rank(c, lambda type: not type.is_complex())
    type = c[x]
    if kind <= 1:
        return c.emit(c.one(_SORTS), [x], at=at, reverse=c.chance(0.3))
    if kind == 2:
        count = c.integer(2, 3)
        others = [c.value(lambda other: other.shape == type.shape and _wide(other)) for _ in range(count - 1)]
        return c.emit_many("sort_pairs", [x, *others], at=at, keys=c.integer(1, count))
    if kind == 3:
        x, at = _with_rank(c, lambda type: type.is_float() or type.is_integer())
        return c.emit_many("top_k", [x], k=c.integer(0, min(c[x].shape[-1], 5)))
    return c.emit("searchsorted", [x], side=c.one(["left", "right"]))


@maker(2)
def window(c):
    """A reduction of windows."""
    x, _ = _with_rank(c, lambda type: type.is_wide_float() or type.is_integer())
    type = c[x]
    draw = lambda least, most: tuple(c.integer(least, most) for _ in range(type.rank))  # noqa: E731
    size, strides, dilation = draw(1, 3), draw(1, 2), draw(1, 2)
    padding = tuple((c.integer(0, 2), c.integer(0, 2)) for _ in range(type.rank))
    name = c.one(["window_sum", "window_max", "window_min"])
    shape = {"size": size, "strides": strides, "padding": padding, "dilation": dilation}
    if name == "window_sum":
        return c.emit(name, [x], **shape)
    return c.emit(name, [x], start=c.integer(0, 3), **shape)
