"""Element-wise ops."""

from __future__ import annotations

from fuzz_jax.ops.table import define, maker

_TAKES_SMALL = define(
    neg="lax.neg({0})", abs="lax.abs({0})", sign="lax.sign({0})", floor="lax.floor({0})", ceil="lax.ceil({0})"
)
_EXACT = define(
    round="lax.round({0}, lax.RoundingMethod.AWAY_FROM_ZERO)",
    round_even="lax.round({0}, lax.RoundingMethod.TO_NEAREST_EVEN)",
    is_finite="lax.is_finite({0})",
    isnan="jnp.isnan({0})",
)
_EXACT += define(signs=True, signbit="jnp.signbit({0})")
_EXACT += define(nan_to_num="jnp.nan_to_num({0})", relu="jax.nn.relu({0})")
_ROUNDED = define(1, sqrt="lax.sqrt({0})")
_ROUNDED += define(1, square="lax.square({0})", reciprocal="1 / {0}")
_FUNCTIONS = define(4, exp="lax.exp({0})", exp2="lax.exp2({0})", logistic="lax.logistic({0})")
_FUNCTIONS += define(4, expm1="lax.expm1({0})", log="lax.log({0})")
_FUNCTIONS += define(64, log1p="lax.log1p({0})")  # of float64 at about -0.4, in vectors
_FUNCTIONS += define(
    4,
    rsqrt="lax.rsqrt({0})",
    cbrt="lax.cbrt({0})",
    sin="lax.sin({0})",
    cos="lax.cos({0})",
    tan="lax.tan({0})",
    tanh="lax.tanh({0})",
    erf="lax.erf({0})",
)
_LESS_EXACT = define(
    16,
    sinh="lax.sinh({0})",
    cosh="lax.cosh({0})",
    asin="lax.asin({0})",
    acos="lax.acos({0})",
    atan="lax.atan({0})",
    asinh="lax.asinh({0})",
    acosh="lax.acosh({0})",
    atanh="lax.atanh({0})",
    erf_inv="lax.erf_inv({0})",
    i0e="jax.scipy.special.i0e({0})",
)
_LESS_EXACT += define(16, cancels=8, poles=True, lgamma="lax.lgamma({0})", digamma="lax.digamma({0})")  # zeros
_LESS_EXACT += define(16, erfc="lax.erfc({0})", softplus="jax.nn.softplus({0})")
_LESS_EXACT += define(16, cancels=2, gelu="jax.nn.gelu({0})")  # 1 + tanh(x), times x
_COMPLEX = define(
    8,
    c_exp="lax.exp({0})",
    c_log="lax.log({0})",
    c_sqrt="lax.sqrt({0})",
    c_sin="lax.sin({0})",
    c_cos="lax.cos({0})",
    c_tanh="lax.tanh({0})",
    c_sign="lax.sign({0})",
    c_abs="lax.abs({0})",
    c_angle="jnp.angle({0})",
    c_rsqrt="lax.rsqrt({0})",
)
_COMPLEX += define(64, c_log1p="lax.log1p({0})")  # as log1p
_PARTS = define(c_real="lax.real({0})", c_imag="lax.imag({0})", c_conj="lax.conj({0})", c_neg="lax.neg({0})")
_OF_INTEGERS = define(
    i_not="lax.bitwise_not({0})",
    i_popcount="lax.population_count({0})",
    i_clz="lax.clz({0})",
    i_neg="lax.neg({0})",
    i_abs="lax.abs({0})",
    i_sign="lax.sign({0})",
)
_ARITHMETIC = define(1, add="lax.add({0}, {1})", sub="lax.sub({0}, {1})")
_ARITHMETIC += define(1, mul="lax.mul({0}, {1})")
_DIVISION = define(2, div="lax.div({0}, {1})")
_REMAINDER = define(0, rem="lax.rem({0}, {1})", max="lax.max({0}, {1})", min="lax.min({0}, {1})")
_OF_FLOATS = define(16, pow="lax.pow({0}, {1})", atan2="lax.atan2({0}, {1})")
_OF_FLOATS += define(16, hypot="jnp.hypot({0}, {1})")
_OF_FLOATS += define(4, logaddexp="jnp.logaddexp({0}, {1})")
_EXACT_BINARY = define(nextafter="normal(lax.nextafter({0}, {1}))")
_EXACT_BINARY += define(signs=True, copysign="jnp.copysign({0}, {1})")
_C_BINARY = define(4, c_mul="lax.mul({0}, {1})")
_C_BINARY += (*define(8, c_div="lax.div({0}, {1})"), "add", "sub")
_C_POW = define(64, spills=True, c_pow="lax.pow(nonzero(finite({0})), finite({1}))")
_BITS = define(
    and_="lax.bitwise_and({0}, {1})",
    or_="lax.bitwise_or({0}, {1})",
    xor="lax.bitwise_xor({0}, {1})",
)
_SHIFTS = define(
    shl="lax.shift_left({0}, {1})",
    shr="lax.shift_right_logical({0}, {1})",
    sar="lax.shift_right_arithmetic({0}, {1})",
    i_pow="jnp.power({0}, jnp.clip({1}, 0, 5))",
    floor_divide="jnp.floor_divide({0}, {1})",
    mod="jnp.mod({0}, {1})",
)
_DIVIDES = ("div", "rem", "floor_divide", "mod")
_COMPARISONS = define(
    **{name: f"lax.{name}({{0}}, {{1}})" for name in ("eq", "ne", "lt", "le", "gt", "ge")},
)
define(
    convert="convert({0}, {dtype})",
    select="lax.select({0}, {1}, {2})",
    select_n="lax.select_n({all})",
    clamp="lax.clamp({0}, {1}, {2})",
    reduce_precision="lax.reduce_precision({0}, {exponent}, {mantissa})",
    complex="lax.complex({0}, {1})",
    to_bool="({0} > 0)",
    remainder="lax.rem({0}, lax.full_like({0}, {by}))",
)
define(signs=True, bitcast="bits_as({0}, {dtype})")
define(4, integer_pow="lax.integer_pow({0}, {power})")
define(4, inverts=True, inverse_power="lax.integer_pow({0}, {power})")
define(2, weak="{0} * {a} + {b}")


@maker(10)
def unary(c):
    """A function of floats."""
    if c.chance(0.15):
        small = c.value(lambda type: type.dtype.startswith("float8"))
        return c.emit(c.one(_TAKES_SMALL), [small])
    group = c.one([_TAKES_SMALL, _EXACT, _ROUNDED, _FUNCTIONS, _LESS_EXACT], [2, 2, 3, 6, 3])
    return c.emit(c.one(group), [c.value(lambda type: type.is_wide_float())])


@maker(1.5)
def of_complex(c):
    """A function of complex numbers, or a part of them."""
    return c.emit(c.one(_COMPLEX if c.chance(0.6) else _PARTS), [c.value(lambda type: type.is_complex())])


@maker(1.5)
def of_integers(c):
    """A function of integers."""
    return c.emit(c.one(_OF_INTEGERS), [c.value(lambda type: type.is_integer() and not type.is_narrow())])


@maker(14)
def binary(c):
    """Two operands of a type."""
    x = c.value(lambda type: not type.is_bool())
    type, y = c[x], c.like(x)
    if c.chance(0.5):
        x, y = y, x
    if type.is_complex():
        return c.emit(c.one([*_C_BINARY, *_C_POW], [2] * len(_C_BINARY) + [0.5]), [x, y])
    if type.is_integer():
        table = [_ARITHMETIC, _DIVISION, _REMAINDER, _BITS, () if type.is_narrow() else _SHIFTS]
        name = c.one([name for group in table for name in group])
        # XLA's constant folding divides 0 by 0, which ends the process.
        if name in _DIVIDES and (x == y or {x, y} <= c.constants):
            name = "add"
        return c.emit(name, [x, y])
    table, weights = [_ARITHMETIC, _DIVISION, _REMAINDER], [6, 2, 2]
    if not type.is_narrow():
        table, weights = [*table, _OF_FLOATS, _EXACT_BINARY], [*weights, 2, 1]
    return c.emit(c.one(c.one(table, weights)), [x, y])


@maker(3)
def comparison(c):
    """A comparison, or logic of bools."""
    x = c.value(lambda type: not type.is_narrow())
    names = _COMPARISONS[:2] if c[x].is_complex() else (*_COMPARISONS, *_BITS) if c[x].is_bool() else _COMPARISONS
    return c.emit(c.one(names), [x, c.like(x)])


@maker(4)
def conversion(c):
    """Another dtype, for the value or for its bits."""
    x = c.value()
    if c.chance(0.8):
        return c.emit("convert", [x], dtype=c.dtype())
    x = c.value(lambda type: not type.is_bool() and not type.is_complex() and not type.is_narrow())
    dtype = c.dtype(lambda type: not type.is_bool() and not type.is_complex() and not type.is_narrow())
    return c.emit("bitcast", [x], dtype=dtype)


@maker(3)
def selection(c):
    """A choice by bools or by numbers, or between bounds."""
    kind = c.integer(0, 2)
    x = c.value()
    if kind == 0:
        predicate = boolean(c, c[x].shape)
        return c.emit("select", [predicate, x, c.like(x)])
    if kind == 1:
        cases = c.integer(2, 4)
        which = c.value(lambda type: type.dtype == "int32" and type.shape == c[x].shape)
        which = c.emit("remainder", [c.emit("i_abs", [which])], by=cases)
        return c.emit("select_n", [which, x, *(c.like(x) for _ in range(cases - 1))])
    x = c.value(lambda type: not type.is_complex() and not type.is_bool())
    return c.emit("clamp", [c.like(x), x, c.like(x)])


@maker(2)
def with_numbers(c):
    """Python's numbers, which have no dtype of their own."""
    x = c.value(lambda type: type.is_wide_float())
    kind = c.integer(0, 2)
    if kind == 0:
        power = c.integer(-3, 5)
        return c.emit("inverse_power" if power < 0 else "integer_pow", [x], power=power)
    if kind == 1:
        return c.emit("reduce_precision", [x], exponent=c.integer(3, 8), mantissa=c.integer(1, 10))
    return c.emit("weak", [x], a=c.one([0.5, -1.0, 2.0, 3, 0.1, 0, 1]), b=c.one([0, 1, -1.5, 0.1]))


@maker(1)
def complex_of_parts(c):
    """A complex number."""
    x = c.value(lambda type: type.dtype in ("float32", "float64"))
    return c.emit("complex", [x, c.like(x)])


def boolean(c, shape):
    """Bools of a shape."""
    if c.chance(0.3):
        scalar = c.value(lambda type: type.is_bool() and not type.shape)
        return c.emit("broadcast_to", [scalar], shape=shape) if shape else scalar
    source = c.value(lambda type: type.shape == shape and not type.is_narrow())
    type = c[source]
    if type.is_bool():
        return source
    if type.is_complex():
        return c.emit("ne", [source, c.like(source)])
    return c.emit("to_bool", [source]) if c.chance(0.5) else c.emit("lt", [source, c.like(source)])
