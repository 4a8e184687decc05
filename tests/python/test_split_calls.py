"""Calls on arrays that are split among four devices: each device makes a call on its part of the batch."""

import json
import os
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import oxcall

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import sharded

# Sums over 8 rows in another order, through two roundings.
TOLERANCE = 16 * np.finfo(np.float32).eps

COLLECTIVES = ("all-gather", "all-reduce", "all-to-all", "collective-permute")


@pytest.fixture
def derived(library_path):
    with jax.enable_x64(True):
        yield oxcall.load(library_path("derived_ops"))


@pytest.fixture
def mesh():
    return Mesh(np.array(jax.devices()[:4]), ("a",))


def collectives(function, *args):
    """The collectives of a compiled program that has some."""
    text = jax.jit(function).lower(*args).compile().as_text()
    return {name: count for name in COLLECTIVES if (count := text.count(f" {name}("))}


@pytest.mark.parametrize("case", sharded.cases(jnp.add))
@pytest.mark.parametrize("mesh", sharded.MESHES)
def test_a_weight(gallery, mesh, case):
    sharded.check(gallery.weighted_rms_norm, mesh, case, TOLERANCE)


@pytest.mark.parametrize("mesh", sharded.MESHES)
@pytest.mark.parametrize("case", ["call", "vmap", "vmap of columns", "scan"])
def test_without_a_weight(gallery, mesh, case):
    sharded.check(lambda x, w: gallery.rms_norm(x), mesh, case, TOLERANCE)


def test_sixteen_bits(gallery):
    for dtype in (jnp.float16, jnp.bfloat16):
        # Summands of the weight's gradient are rounded on each device.
        sharded.check(gallery.weighted_rms_norm, "row", "gradient", 4 * float(jnp.finfo(dtype).eps), dtype)


def test_explicit_meshes(gallery):
    op = gallery.weighted_rms_norm
    mesh = jax.make_mesh((4,), ("a",), axis_types=(jax.sharding.AxisType.Explicit,))
    x, w = (jax.device_put(value, device=None) for value in sharded.arrays("row", np.float32, jax.devices())[0])
    with jax.set_mesh(mesh):
        x, w = jax.device_put(np.asarray(x), P("a", None)), jax.device_put(np.asarray(w), P(None))
        programs = {
            op: ["float32[8@a,16]"],
            jax.grad(sharded.loss(op), (0, 1)): ["float32[8@a,16]", "float32[16]"],
            lambda x, w: jax.jvp(op, (x, w), (x, w)): ["float32[8@a,16]"] * 2,
            jax.vmap(op, (0, None)): ["float32[8@a,16]"],
            lambda x, w: jax.vmap(op, (1, None), 1)(x[:, None], w): ["float32[8@a,1,16]"],
        }
        for program, types in programs.items():
            found = jax.tree.leaves(jax.jit(program)(x, w))
            assert [str(jax.typeof(value)) for value in found] == types
            assert "all-gather" not in collectives(program, x, w)


def test_shard_map(gallery):
    """In `shard_map`, and in one over some axes of the mesh, calls are those of the function."""
    op = gallery.weighted_rms_norm
    (x, w), _, _ = sharded.arrays("row", np.float32, jax.devices())
    expected = jax.grad(sharded.loss(op), (0, 1))(x, w)
    square = Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("a", "b"))
    parts = [
        jax.device_put(x, NamedSharding(square, P(("a", "b"), None))),
        jax.device_put(w, NamedSharding(square, P())),
    ]
    for names, rows in ((("a", "b"), P(("a", "b"), None)), (("a",), P("a", None)), (("b",), P("b", None))):
        mapped = jax.shard_map(op, mesh=square, in_specs=(rows, P()), out_specs=rows, axis_names=set(names))
        found = jax.jit(jax.grad(sharded.loss(mapped), (0, 1)))(*parts)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, np.asarray(b), rtol=TOLERANCE, atol=TOLERANCE)


def test_pmap(gallery):
    gradient = jax.grad(sharded.loss(gallery.weighted_rms_norm), (0, 1))
    x = np.random.default_rng(0).normal(size=(4, 2, 16)).astype(np.float32)
    w = np.random.default_rng(1).normal(size=16).astype(np.float32)
    dx, dw = jax.pmap(gradient, in_axes=(0, None))(x, w)
    for device in range(4):
        for found, expected in zip((dx[device], dw[device]), gradient(x[device], w), strict=True):
            np.testing.assert_allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE)


def test_exported_programs_are_split(gallery):
    gradient = jax.grad(sharded.loss(gallery.weighted_rms_norm), (0, 1))
    _, parts, _ = sharded.arrays("row", np.float32, jax.devices())
    names = ("weighted_rms_norm", "weighted_rms_norm_vjp")
    checks = [jax.export.DisabledSafetyCheck.custom_call(getattr(gallery, name).target) for name in names]
    jitted = jax.jit(gradient, in_shardings=tuple(part.sharding for part in parts))
    reloaded = jax.export.deserialize(jax.export.export(jitted, disabled_checks=checks)(*parts).serialize())
    for a, b in zip(jax.jit(reloaded.call)(*parts), gradient(*parts), strict=True):
        np.testing.assert_allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE)
    assert collectives(reloaded.call, *parts) == {"all-reduce": 1}


def test_parts_that_would_not_be_equal_are_gathered(gallery, mesh):
    """XLA fills such parts up with anything, which a sum must not see."""
    _, (_, w), _ = sharded.arrays("row", np.float32, jax.devices())
    x = jnp.arange(7 * 16, dtype=jnp.float32).reshape(7, 16)
    gradient = jax.grad(sharded.loss(gallery.weighted_rms_norm), (0, 1))

    def split(x, w):
        return gradient(jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("a", None))), w)

    for a, b in zip(jax.jit(split)(x, w), gradient(x, np.asarray(w)), strict=True):
        np.testing.assert_allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE)


def splits(random, rank):
    """Which axes split each dimension of an array: none, one or both."""
    names = list(random.permutation(["a", "b"]))
    return P(*(tuple(names.pop() for _ in range(min(random.integers(3), len(names)))) or None for _ in range(rank)))


@pytest.mark.parametrize("seed", range(24))
def test_any_split_gives_the_values_of_whole_arrays(derived, seed):
    """Operands and results that are split along any dimensions, of sizes that divide into equal parts or do not."""
    random = np.random.default_rng(seed)
    mesh = Mesh(random.permutation(np.array(jax.devices()[:4])).reshape(2, 2), ("a", "b"))
    batch = random.choice([0, 1, 2, 3, 4, 8], random.integers(3))
    x = random.normal(size=(*batch, random.choice([1, 3, 8])))
    w = random.normal(size=x.shape[-1])
    programs = [
        derived.growth,
        jax.grad(sharded.loss(derived.growth), (0, 1)),
        lambda x, w: jax.jvp(derived.growth, (x, w), (x, w)),
        lambda x, _: derived.spread(jnp.moveaxis(x, -1, 0), jnp.ones((*x.shape[:-1], 2)), label="ab", factors=[1.5]),
    ]
    for program in programs:

        def split(value):
            return jax.lax.with_sharding_constraint(value, NamedSharding(mesh, splits(random, value.ndim)))

        def constrained(x, w, program=program, split=split):
            # What leaves the program is whole, since JAX has no arrays of unequal parts.
            return [1 * split(value) for value in jax.tree.leaves(program(split(x), split(w)))]

        found = jax.jit(constrained, out_shardings=NamedSharding(mesh, P()))(x, w)
        for a, b in zip(found, jax.tree.leaves(program(x, w)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)


def test_no_rows(gallery, mesh):
    x = jax.device_put(jnp.zeros((0, 16)), NamedSharding(mesh, P("a", None)))
    w = jax.device_put(jnp.ones(16), NamedSharding(mesh, P()))
    dx, dw = jax.jit(jax.grad(sharded.loss(gallery.weighted_rms_norm), (0, 1)))(x, w)
    assert dx.shape == (0, 16)
    np.testing.assert_array_equal(dw, np.zeros(16))


def test_a_batch_anywhere_in_place_and_attributes(derived, mesh):
    x, y = np.arange(24.0).reshape(3, 8), np.arange(16.0).reshape(8, 2)
    label = 'quotes "and" \\ lines\n\u03b1'

    def call(x, y):
        return derived.spread(x, y, label=label, factors=[0.5, 1e300], count=3)

    parts = [jax.device_put(x, NamedSharding(mesh, P(None, "a"))), jax.device_put(y, NamedSharding(mesh, P("a", None)))]
    for donated in ((), (1,)):
        z, total = jax.jit(call, donate_argnums=donated)(*parts)
        np.testing.assert_array_equal(z, y + 1.5 * len(label.encode()))
        np.testing.assert_array_equal(total, x.sum(1))
        assert z.sharding.is_equivalent_to(NamedSharding(mesh, P("a", None)), 2)
        assert total.sharding.is_fully_replicated
    again = jax.device_put(y, NamedSharding(mesh, P("a", None)))
    assert collectives(call, parts[0], again) == {"all-reduce": 1}


def test_numbers_of_arrays(derived, mesh):
    """A partitioner sees arrays without their parameters, which follow from the number of arrays."""
    x, w = np.arange(24.0).reshape(8, 3), np.arange(3.0)
    part = jax.device_put(x, NamedSharding(mesh, P("a", None)))
    weight = jax.device_put(w, NamedSharding(mesh, P()))
    calls = {
        lambda x, w: derived.add_all(x) + w: x + w,
        lambda x, w: derived.add_all(x, w): x + w,
        lambda x, w: derived.add_all(x, w, 2 * w, w): x + 4 * w,
        lambda x, w: derived.scale_and_shift(x) + w: x + w,
        lambda x, w: derived.scale_and_shift(x, w): x * w,
        lambda x, w: derived.scale_and_shift(x, w, w): x * w + w,
    }
    for call, expected in calls.items():
        np.testing.assert_array_equal(jax.jit(call)(part, weight), expected)
        assert collectives(call, part, weight) == {}


def test_the_compilation_cache_hits_in_another_process(library_path, tmp_path):
    program = """
import json, sys
import jax, numpy as np
sys.path[:0] = json.loads(sys.argv[1])
import oxcall, sharded
events = []
jax.monitoring.register_event_listener(lambda name, **_: events.append(name))
ops = oxcall.load(sys.argv[2])
sharded.check(ops.weighted_rms_norm, "row", "gradient", 1e-5)
print(json.dumps([events.count(f"/jax/compilation_cache/cache_{kind}") for kind in ("hits", "misses")]))
"""
    paths = [str(pathlib.Path(sharded.__file__).parent), str(pathlib.Path(oxcall.__file__).parents[1])]
    environment = {
        **os.environ,
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    command = [sys.executable, "-c", program, json.dumps(paths), str(library_path("custom_ops"))]
    first, second = (
        json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)
        for _ in range(2)
    )
    assert first[0] == 0 and first[1] > 0
    assert second == [first[1], 0]
