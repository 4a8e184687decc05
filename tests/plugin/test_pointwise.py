"""Functions of single numbers and of rows on the plugin: fused with the ops around them, as their handlers compute."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

import oxcall

SCRIPT = pathlib.Path(__file__).parent / "programs" / "pointwise.py"
NAMES = ("softplus", "swiglu", "huber", "rope_pair", "logit_normal_pdf")
ROWS = ("softmax_cross_entropy", "layer_norm", "tempered_softmax")
DTYPES = ("float16", "bfloat16", "float32", "float64")
# A unit in the last place of each dtype, times what a formula of twenty operations, and its derivative, may differ by.
ULPS = 64
EPSILONS = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-23, "float64": 2**-52}


@pytest.fixture(scope="module")
def outcomes(environment, gallery, tmp_path_factory):
    """Results and plans of each function on the plugin, fused and called, and on stock JAX: `programs/pointwise.py`."""
    found = {}
    for inline in ("1", "0"):
        folder = tmp_path_factory.mktemp("plans")
        variables = {
            **environment,
            "JAX_PLATFORMS": "cpu,oxcall",
            "JAX_ENABLE_X64": "1",
            "OXCALL_INLINE": inline,
            "OXCALL_DUMP": str(folder),
        }
        command = [sys.executable, str(SCRIPT), str(gallery.path)]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        plans = "".join(path.read_text() for path in folder.glob("**/*plan.txt"))
        found[inline] = (json.loads(done.stdout.splitlines()[-1]), plans)
    return found


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES + ROWS)
def test_values_and_derivatives_are_those_of_the_handlers(outcomes, name, dtype):
    fused, called = outcomes["1"][0], outcomes["0"][0]
    keys = [key for key in fused if key.startswith(f"{name}, {dtype}, ")]
    assert len(keys) == 4
    for key in keys:
        tolerance = ULPS * EPSILONS[dtype]
        for place, results in (("fused", fused), ("called", called)):
            ours, stock = (np.array(results[key][device], "float64") for device in ("oxcall", "cpu"))
            np.testing.assert_allclose(ours, stock, tolerance, tolerance, err_msg=f"{place}, {key}")


def test_plans_call_no_handler(outcomes):
    fused, called = outcomes["1"][1], outcomes["0"][1]
    for name in NAMES + ROWS:
        for suffix in ("", "_vjp", "_jvp"):
            assert f"{name}{suffix}(" in called
    assert "custom_op::" not in fused


def test_a_chain_reads_and_writes_memory_once(fresh, gallery, tmp_path):
    code = f"""
        import jax, jax.numpy as jnp, oxcall
        ops = oxcall.load({str(gallery.path)!r})
        x = jnp.ones(1000)
        jax.jit(lambda x, y, z: jnp.tanh(ops.softplus(x) * y) + z).lower(x, x, x).compile()
    """
    fresh(code, JAX_PLATFORMS="oxcall", OXCALL_DUMP=str(tmp_path))
    [plan] = [path.read_text() for path in tmp_path.glob("**/*lambda*plan.txt")]
    steps = [line for line in plan.splitlines() if line[:1].isdigit()]
    assert len(steps) == 1, plan


@pytest.mark.parametrize("operands", [(0,), (0, 1), (0, 1, 2)])
def test_the_gradient_of_a_chain_reads_and_writes_memory_once(fresh, gallery, tmp_path, operands):
    """Of large arrays. What is added has the cotangent itself as its own, which is copied."""
    code = f"""
        import jax, jax.numpy as jnp, oxcall
        ops = oxcall.load({str(gallery.path)!r})
        x = jax.ShapeDtypeStruct((1_000_000,), jnp.float32)
        chain = lambda x, y, z: jnp.tanh(ops.softplus(x) * y) + z
        pull = lambda x, y, z, cotangent: [jax.vjp(chain, x, y, z)[1](cotangent)[i] for i in {operands}]
        jax.jit(pull).lower(x, x, x, x).compile()
    """
    fresh(code, JAX_PLATFORMS="oxcall", OXCALL_DUMP=str(tmp_path))
    [plan] = [path.read_text() for path in tmp_path.glob("**/*lambda*plan.txt")]
    steps = [line for line in plan.splitlines() if line[:1].isdigit() and "= copy(" not in line]
    assert len(steps) == 1, plan


@pytest.mark.parametrize("name", ["softmax_cross_entropy", "layer_norm"])
def test_a_function_of_rows_and_its_neighbours_are_one_step(fresh, gallery, tmp_path, name):
    count = {"softmax_cross_entropy": 2, "layer_norm": 3}[name]
    code = f"""
        import jax, jax.numpy as jnp, oxcall
        ops = oxcall.load({str(gallery.path)!r})
        args = [jnp.ones((8, 100))] * {count}
        jax.jit(lambda x, *args: jnp.tanh(ops[{name!r}](x * 2 + 1, *args))).lower(*args).compile()
    """
    fresh(code, JAX_PLATFORMS="oxcall", OXCALL_DUMP=str(tmp_path))
    [plan] = [path.read_text() for path in tmp_path.glob("**/*lambda*plan.txt")]
    steps = [line for line in plan.splitlines() if line[:1].isdigit()]
    assert len(steps) == 1, plan


def test_functions_are_fused_in_every_transformation(gallery, on_plugin):
    x = jnp.linspace(-2.0, 2.0, 12).reshape(3, 4)
    check_grads(gallery.softplus, (x,), order=2)
    check_grads(lambda x: gallery.swiglu(x, jnp.cos(x)), (x,), order=2)
    batched = jax.vmap(gallery.softplus, in_axes=1)(x)
    np.testing.assert_allclose(batched, jax.nn.softplus(x).T, rtol=1e-14)

    def step(carry, x):
        carry = gallery.softplus(carry - x)
        return carry, carry

    found = jax.lax.scan(step, x[0], x)[1]
    expected = []
    carry = np.asarray(x[0])
    for row in np.asarray(x):
        carry = np.logaddexp(carry - row, 0.0)
        expected.append(carry)
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_mistakes_have_the_errors_of_the_handler(gallery, on_plugin):
    call = jax.ffi.ffi_call("softplus", jax.ShapeDtypeStruct((3,), jnp.int32))
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"softplus: .*`x`"):
        call(jnp.zeros(3, jnp.int32)).block_until_ready()
    call = jax.ffi.ffi_call("softplus", jax.ShapeDtypeStruct((3,), jnp.float32))
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"softplus .*`betta`"):
        call(jnp.zeros(3, jnp.float32), betta=np.float64(1)).block_until_ready()


@pytest.fixture(scope="module")
def derived(library_path):
    return oxcall.load(library_path("derived_ops"))


SLOPES = {
    "power": (jnp.power, (-2.0, 2.0)),
    "product": (jnp.multiply, (float("inf"), 2.0)),
    "quotient": (jnp.divide, (float("inf"), 2.0)),
    "root_product": (lambda x, y: x * jnp.sqrt(y), (3.0, 0.0)),
    "row_product": (lambda x, y: x * jnp.sqrt(y), (np.ones(3), np.zeros(3))),
}


@pytest.mark.parametrize("transform", [jax.hessian, lambda f: lambda x: jax.jvp(f, (x,), (jnp.ones_like(x),))[1]])
@pytest.mark.parametrize("name", SLOPES)
def test_operands_that_nobody_differentiates_take_no_part(derived, on_plugin, name, transform):
    formula, (x, y) = SLOPES[name]
    found, expected = (jax.jit(transform(lambda x, f=f: f(x, y) * 2.0))(x) for f in (derived[name], formula))
    np.testing.assert_allclose(found, expected)
