"""Control flow, derivatives, rules of one's own, references and checks, against NumPy and exact values."""

import contextlib
import functools
import io

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.ad_checkpoint import checkpoint_name

X = np.random.RandomState(0).uniform(0.1, 0.9, (5, 3)).astype(np.float32)


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("unroll", [1, 2, 5, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_scan_and_its_gradient(unroll, reverse):
    def total(c, xs):
        c, ys = lax.scan(lambda c, x: (c * x, c), c, xs, reverse=reverse, unroll=unroll)
        return c.sum(), ys

    gradient, ys = jax.jit(jax.grad(total, has_aux=True))(jnp.ones(3), X)
    close(gradient, X.prod(0))
    rows = X[::-1] if reverse else X
    before = np.concatenate([np.ones((1, 3)), np.cumprod(rows, 0)[:-1]])
    close(ys, before[::-1] if reverse else before)


def test_loops_end_where_each_element_of_a_batch_ends():
    def collatz(n):
        def step(state):
            n, steps = state
            return lax.cond(n % 2 == 0, lambda n: n // 2, lambda n: 3 * n + 1, n), steps + 1

        return lax.while_loop(lambda state: state[0] != 1, step, (n, 0))[1]

    np.testing.assert_array_equal(jax.jit(jax.vmap(collatz))(jnp.arange(1, 8)), [0, 1, 7, 2, 5, 8, 16])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32"])
def test_switch_clamps_its_index(dtype):
    branches = [lambda x: x, lambda x: 2 * x, lambda x: x**2]
    f = jax.jit(lambda i, x: lax.switch(i, branches, x))
    for index in (0, 1, 2, 100):
        assert f(jnp.asarray(index, dtype), 3.0) == [3, 6, 9][min(index, 2)]
    np.testing.assert_array_equal(jax.vmap(f, (0, None))(jnp.arange(5).astype(dtype), 3.0), [3, 6, 9, 9, 9])
    assert jax.grad(f, 1)(jnp.asarray(2, dtype), 3.0) == 6


@pytest.mark.parametrize(("op", "oracle"), [(jnp.add, np.cumsum), (jnp.multiply, np.cumprod)])
@pytest.mark.parametrize("size", [1, 2, 5, 16, 33])
def test_associative_scan(op, oracle, size):
    x = np.linspace(0.5, 1.5, size).astype(np.float32)
    np.testing.assert_allclose(lax.associative_scan(op, x), oracle(x), rtol=1e-5)
    np.testing.assert_allclose(lax.associative_scan(op, x, reverse=True)[::-1], oracle(x[::-1]), rtol=1e-5)


def test_solutions_have_derivatives_without_those_of_the_solver():
    matrix = X[:3] + 3 * np.eye(3, dtype=np.float32)
    inverse = np.linalg.inv(matrix)

    def solve(b):
        return lax.custom_linear_solve(
            lambda x: matrix @ x,
            b,
            lambda _, b: jnp.linalg.solve(matrix, b),
            lambda _, b: jnp.linalg.solve(matrix.T, b),
        )

    close(jax.jit(jax.jacrev(solve))(jnp.ones(3)), inverse)
    close(jax.vmap(solve)(jnp.eye(3)), inverse.T)

    def root(y):
        def newton(f, x):
            return lax.fori_loop(0, 20, lambda _, x: x - f(x) / jax.grad(f)(x), x)

        return lax.custom_root(lambda x: x**2 - y, 1.0, newton, lambda g, y: y / g(1.0))

    close(jax.jit(jax.value_and_grad(root))(4.0), (2, 0.25))
    close(jax.grad(jax.grad(root))(4.0), -1 / 32)


def test_rules_of_ones_own():
    @jax.custom_jvp
    def tripled(x):
        return jnp.sin(x)

    tripled.defjvp(lambda primals, tangents: (tripled(*primals), 3 * tangents[0]))

    @functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
    def doubled(f, x):
        return f(x)

    doubled.defvjp(lambda f, x: (f(x), None), lambda f, _, g: (2 * g,))

    def repeated(f):
        return lambda x: lax.fori_loop(0, 3, lambda _, x: f(x), x)

    assert jax.jit(jax.grad(repeated(tripled)))(0.5) == 27
    assert jax.jit(jax.vmap(jax.grad(repeated(functools.partial(doubled, jnp.cos)))))(X[0]).tolist() == [8, 8, 8]


NAMED = jax.checkpoint_policies.save_and_offload_only_these_names(
    names_which_can_be_saved=["a"], names_which_can_be_offloaded=["b"], offload_src="device", offload_dst="pinned_host"
)


@pytest.mark.parametrize("policy", [None, jax.checkpoint_policies.dots_saveable, NAMED], ids=["none", "dots", "names"])
def test_rematerialisation_does_not_change_gradients(policy):
    def f(x):
        a = checkpoint_name(jnp.sin(x @ x.T), "a")
        b = checkpoint_name(jnp.cos(a), "b")
        return jnp.sin(b @ a).sum()

    close(jax.jit(jax.grad(jax.checkpoint(f, policy=policy)))(X), jax.grad(f)(X))


def test_references_are_updated_in_loops_and_branches():
    total, last = jax.new_ref(0.0), jax.new_ref(jnp.zeros(3))

    @jax.jit
    def f(xs):
        def step(i, _):
            total[...] += xs[i].sum()
            lax.cond(xs[i, 0] > 0.5, lambda: last.__setitem__(..., xs[i]), lambda: None)

        lax.fori_loop(0, len(xs), step, None)

    f(X)
    close(total[...], X.sum())
    close(last[...], X[X[:, 0] > 0.5][-1])


@pytest.mark.parametrize(
    ("f", "op"),
    [
        (lambda x: jnp.log(x - 2), "log"),
        (jax.jit(lambda x: (x, jnp.log(x - 2))), "log"),
        (jax.jit(lambda x: lax.scan(lambda c, _: (jnp.log(c), None), x, None, length=4)[0]), None),
        (jax.vmap(lambda x: (x - x) / (x - x)), "div"),
    ],
)
def test_nans_are_found_where_they_come_up(f, op):
    with jax.debug_nans(True):
        jnp.tanh(X).block_until_ready()
        with pytest.raises(FloatingPointError, match=rf"invalid value \(nan\) encountered in {op or ''}"):
            f(X)


def test_leaks_are_found():
    leaked = []

    def f(x):
        leaked.append(x)
        return x

    with jax.checking_leaks():
        jax.jit(lambda x: lax.fori_loop(0, 3, lambda i, c: c + i, x))(0.0)
        with pytest.raises(Exception, match="Leaked trace"):
            jax.jit(f)(1.0)


def test_what_is_cached_is_not_compiled_again():
    from jax._src import test_util as jtu

    f = jax.jit(lambda x: x * 5)
    with jtu.count_jit_compilation_cache_miss() as compiled:
        f(1.0), f(2.0), f(np.arange(3))
    assert compiled() == 2
    jax.clear_caches()
    assert f(1.0) == 5


def test_clients_come_back_after_they_were_cleared():
    # In a process of its own: arrays of a cleared client are not for use with the next one.
    import os
    import subprocess
    import sys

    code = """
import jax, jax.numpy as jnp, numpy as np
import jax.extend.backend
f = jax.jit(lambda x: jax.pure_callback(lambda x: np.asarray(x) + 1, jax.ShapeDtypeStruct((), np.float32), x) * 2)
print(f(1.0))
jax.extend.backend.clear_backends()
print(f(1.0), len(jax.devices()))
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=False)
    assert out.stdout == "4.0\n4.0 8\n", out.stderr


def test_pallas_kernels_run_as_programs():
    from jax.experimental import pallas as pl

    def kernel(x, y, out):
        @pl.when(pl.program_id(2) == 0)
        def _():
            out[...] = jnp.zeros_like(out)

        out[...] += x[...] @ y[...]

    @jax.jit
    def matmul(x, y):
        return pl.pallas_call(
            kernel,
            out_shape=jax.ShapeDtypeStruct((8, 12), jnp.float32),
            grid=(2, 3, 4),
            in_specs=[
                pl.BlockSpec((4, 4), lambda i, j, k: (i, k)),
                pl.BlockSpec((4, 4), lambda i, j, k: (k, j)),
            ],
            out_specs=pl.BlockSpec((4, 4), lambda i, j, k: (i, j)),
            interpret=True,
        )(x, y)

    x, y = np.arange(128.0, dtype=np.float32).reshape(8, 16), np.ones((16, 12), np.float32)
    np.testing.assert_array_equal(matmul(x, y), x @ y)
    np.testing.assert_array_equal(jax.vmap(matmul, (0, None))(np.stack([x, -x]), y), np.stack([x @ y, -x @ y]))


def test_prints_come_in_the_order_of_the_program():
    with io.StringIO() as out, contextlib.redirect_stdout(out):
        jax.jit(lambda x: lax.fori_loop(0, 3, lambda i, x: (jax.debug.print("{}", i, ordered=True), x)[1], x))(0)
        jax.effects_barrier()
        assert out.getvalue() == "0\n1\n2\n"
