"""Calls of ops on arrays that are split among four devices, without pytest: tests of several hosts run them.

`check` compares values with those of whole arrays, and counts the collectives of the compiled program.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

# Devices in a row, or in a square of which one axis or both split the rows of the operands.
MESHES = {
    "row": ((4,), ("a",), P("a", None)),
    "square": ((2, 2), ("a", "b"), P(("a", "b"), None)),
    "columns": ((2, 2), ("a", "b"), P("b", None)),
}


def loss(function):
    return lambda *args: jnp.sum(jnp.sin(function(*args)))


def cases(op):
    """Programs over `op(x, w)`; for each, the number of all-reduces, and which results are split."""

    def scanned(x, w):
        return jax.lax.scan(lambda carry, _: (op(0.5 * carry, w), None), x, None, length=3)[0]

    return {
        "call": (lambda x, w: jnp.sin(op(jnp.cos(x), w)), 0, [True]),
        "gradient": (jax.grad(loss(op), (0, 1)), 1, [True, False]),
        "tangent": (lambda x, w: jax.jvp(op, (x, w), (jnp.cos(x), jnp.sin(w))), 0, [True, True]),
        # An operand of which the program does not say how it is split.
        "constant": (lambda x, w: op(jnp.cos(x), jnp.arange(16, dtype=w.dtype)), 0, [True]),
        "vmap": (jax.vmap(op, (0, None)), 0, [True]),
        "vmap of columns": (lambda x, w: jax.vmap(op, (1, None), 1)(x[:, None], w)[:, 0], 0, [True]),
        "scan": (scanned, 0, [True]),
        "gradient of scan": (jax.grad(loss(scanned), (0, 1)), 1, [True, False]),
    }


def arrays(mesh, dtype, devices):
    shape, names, spec = MESHES[mesh]
    mesh = Mesh(np.array(devices[:4]).reshape(shape), names)
    x = np.random.default_rng(0).normal(size=(8, 16)).astype(dtype)
    w = np.random.default_rng(1).normal(size=16).astype(dtype)
    whole = [jax.device_put(value, devices[0]) for value in (x, w)]
    return whole, [jax.device_put(x, NamedSharding(mesh, spec)), jax.device_put(w, NamedSharding(mesh, P()))], spec


def check(op, mesh, case, tolerance, dtype=np.float32, devices=None, collectives=True):
    """Checks a program.

    Args:
        op: a function of `x`, of shape [8, 16], and a weight of shape [16].
        mesh: a key of `MESHES`.
        case: a key of `cases`.
        tolerance: the relative and absolute error that is allowed.
        dtype: that of the arrays.
        devices: four devices; by default, the first ones.
        collectives: whether the compiled program is XLA's, whose collectives are counted.
    """
    function, reduces, is_split = cases(op)[case]
    whole, parts, spec = arrays(mesh, dtype, jax.devices() if devices is None else devices)
    program = jax.jit(function).lower(*parts).compile()
    found, expected = jax.tree.leaves(program(*parts)), jax.tree.leaves(function(*whole))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=tolerance, atol=tolerance)
    split = NamedSharding(parts[0].sharding.mesh, spec)
    assert [value.sharding.is_equivalent_to(split, value.ndim) for value in found] == is_split, found
    if collectives:
        text = program.as_text()
        counts = {name: text.count(f" {name}(") for name in ("all-gather", "all-reduce", "all-to-all")}
        assert counts == {"all-gather": 0, "all-reduce": reduces, "all-to-all": 0}, counts
