"""What `cargo xtask matrix` runs on every jaxlib: ops of the gallery.

Plain jax API of 0.4.34 and later only, and no pytest: this runs in an environment that holds jax and nothing else.
"""

import os
import pathlib
import sys
import threading

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import checks
import jax
import jax.numpy as jnp
import numpy as np
import sharded

import oxcall

X = np.arange(12, dtype=np.float32).reshape(3, 4) + 1
ops = None  # `load` sets it


def stateless():
    got = jax.jit(lambda x: ops.rms_norm(x, eps=1e-5))(X)
    want = X / np.sqrt((X**2).mean(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(got, want, rtol=1e-6)


def bfloat16():
    got = jax.jit(lambda x: ops.rms_norm(x, eps=1e-5))(X.astype(jnp.bfloat16))
    assert got.dtype == jnp.bfloat16
    want = X / np.sqrt((X**2).mean(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(np.asarray(got, np.float32), want, rtol=2e-2)


def stateful():
    # Each compiled program has a state of its own, so two programs count independently.
    for _ in range(2):
        count = jax.jit(lambda: ops.counter())
        assert [int(count()) for _ in range(3)] == [1, 2, 3]


def state_attribute():
    filtered = jax.jit(lambda x: ops.low_pass(x, cutoff=0.2, taps=np.int64(5)))(np.ones(32, np.float32))
    np.testing.assert_allclose(filtered, np.ones(28), rtol=1e-5)


def asynchronous():
    got = jax.jit(lambda x: ops.async_scale(x, factor=3.0) + 1)(X)
    np.testing.assert_allclose(got, 3 * X + 1, rtol=1e-6)


def raises(call, text):
    try:
        jax.block_until_ready(jax.jit(call)(-X))
    except Exception as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"no error, expected one that says {text!r}")


def failing():
    raises(lambda x: ops.fail(x, message="on request"), "on request")
    stateless()  # The process goes on.


def async_failing():
    raises(lambda x: ops.async_scale(x, factor=np.float32("nan")), "is NaN")


def panicking():
    raises(lambda x: ops.panics(x, kind="formatted"), "element 0 is negative")
    stateless()


def threads():
    results = []
    call = jax.jit(lambda x: ops.rms_norm(x, eps=1e-5))
    workers = [
        threading.Thread(target=lambda: results.extend(np.asarray(call(X)) for _ in range(50))) for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(results) == 200
    assert all((result == results[0]).all() for result in results)


def loss(x):
    return (ops.rms_norm(x, eps=1e-5) * np.arange(4, dtype=np.float32)).sum()


def reference_loss(x):
    normed = x / jnp.sqrt((x**2).mean(-1, keepdims=True) + 1e-5)
    return (normed * np.arange(4, dtype=np.float32)).sum()


def gradients():
    want = jax.grad(reference_loss)(X)
    repeated = np.stack([X, X])
    for got in (
        jax.grad(loss)(X),
        jax.jit(jax.grad(jax.checkpoint(loss)))(X),
        jax.jit(jax.vmap(jax.grad(loss)))(repeated)[1],
        jax.grad(lambda x: jax.vmap(loss)(x).sum())(repeated)[1],
        jax.grad(lambda x: jax.lax.scan(lambda total, row: (total + loss(row), None), 0.0, x[None])[0])(X),
        jax.grad(lambda x: jax.lax.cond(True, loss, lambda x: 0.0, x))(X),
        jax.linear_transpose(jax.linearize(loss, X)[1], X)(jnp.float32(1))[0],
    ):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)
    rows = jax.jacrev(lambda x: ops.rms_norm(x, eps=1e-5))(X)
    assert rows.shape == (3, 4, 3, 4)


def forward_mode():
    raises(lambda x: jax.jvp(loss, (x,), (x,))[1], "rms_norm: it has no derivative in forward mode")


def primitives():
    assert "rms_norm[" in str(jax.make_jaxpr(loss)(X))
    assert "rms_norm_vjp[" in str(jax.make_jaxpr(jax.grad(loss))(X))


def legacy():
    for version in (1, 2, 3):
        got = jax.jit(lambda x, version=version: ops.rms_norm(x, custom_call_api_version=version))(X)
        np.testing.assert_array_equal(got, jax.jit(ops.rms_norm)(X))


def symbolic_shapes():
    try:
        from jax import export
    except ModuleNotFoundError:  # absl, which JAX 0.4 has only here
        return
    shape = jax.ShapeDtypeStruct(export.symbolic_shape("a, b"), np.float32)
    allowed = [export.DisabledSafetyCheck.custom_call(ops.rms_norm.target)]
    program = export.export(jax.jit(ops.rms_norm), disabled_checks=allowed)(shape)
    np.testing.assert_allclose(program.call(X), jax.jit(ops.rms_norm)(X), rtol=1e-6)


def split_calls():
    # Each of four devices calls the op on its rows, without a gather, and the weight's gradient takes one all-reduce.
    for case in sharded.cases(jnp.add):
        sharded.check(ops.weighted_rms_norm, "square", case, 1e-5)


CHECKS = [
    stateless,
    bfloat16,
    stateful,
    state_attribute,
    asynchronous,
    failing,
    async_failing,
    panicking,
    threads,
    gradients,
    forward_mode,
    primitives,
    legacy,
    symbolic_shapes,
    split_calls,
]


def main():
    def load():
        global ops
        ops = oxcall.load(sys.argv[1])

    failed = checks.run([load]) or checks.run(CHECKS)
    checks.exit_with(failed)


if __name__ == "__main__":
    main()
