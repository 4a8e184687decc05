"""Random numbers, from keys that depend on values."""

from __future__ import annotations

from fuzz_jax.ops.table import define, maker

_INTEGERS = define(
    random_bits="jax.random.bits(seeded({0}), {shape}, {unsigned})",
    random_randint="jax.random.randint(seeded({0}), {shape}, -5, 100)",
    random_permutation="jax.random.permutation(seeded({0}), 13)",
    random_bernoulli="jax.random.bernoulli(seeded({0}), 0.3, {shape})",
)
_FLOATS = define(1, random_uniform="jax.random.uniform(seeded({0}), {shape}, {dtype}, -1, 3)")
_FLOATS += define(16, random_normal="jax.random.normal(seeded({0}), {shape}, {dtype})")
_FLOATS += define(16, random_exponential="jax.random.exponential(seeded({0}), {shape}, {dtype})")


@maker(2)
def random_numbers(c):
    """Numbers from a key."""
    x = c.value(lambda type: type.is_integer() and not type.is_narrow())
    if c.chance(0.5):
        return c.emit(c.one(_INTEGERS), [x], shape=c.shape(), unsigned=c.one(["uint8", "uint16", "uint32"]))
    return c.emit(c.one(_FLOATS), [x], shape=c.shape(), dtype=c.dtype(lambda type: type.is_wide_float()))
