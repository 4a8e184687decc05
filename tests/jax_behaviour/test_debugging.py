"""`jax.debug`: prints amid control flow, shardings, the debugger."""

import io

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


@pytest.fixture
def printed(capsys):
    def lines(function, *args):
        function(*args)
        jax.effects_barrier()
        return capsys.readouterr().out.split()

    return lines


def show(x, ordered):
    jax.debug.print("{}", x, ordered=ordered)
    return x


# The program, its argument, what is printed.
PRINTS = {
    "loop": (lambda o: lambda x: jax.lax.while_loop(lambda x: x < 5, lambda x: show(x, o) + 1, x), 2, "2 3 4"),
    "condition": (lambda o: lambda x: jax.lax.while_loop(lambda x: show(x, o) < 5, lambda x: x + 1, x), 3, "3 4 5"),
    "scan": (lambda o: lambda x: jax.lax.scan(lambda c, x: (c + show(x, o), c), 0, x), np.arange(3), "0 1 2"),
    "branch": (lambda o: lambda x: jax.lax.cond(x > 1, lambda x: show(x, o), lambda x: -show(-x, o), x), 1, "-1"),
    "gradient": (lambda o: jax.grad(lambda x: show(x, o) ** 2), 2.0, "2.0"),
    "twice": (lambda o: lambda x: show(show(x, o) + 1, o), 4, "4 5"),
}


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("where", PRINTS)
def test_prints(printed, where, ordered):
    program, x, expected = PRINTS[where]
    assert printed(jax.jit(program(ordered)), x) == expected.split()


SPECS = [P("x", "y"), P("x"), P(None, "y"), P(("x", "y")), P()]
OPS = {
    "as it is": (lambda x: x, lambda spec: spec),
    "element-wise": (lambda x: jnp.sin(x) + 1, lambda spec: spec),
    "transposed": (lambda x: x.T, lambda spec: P(*reversed([*spec, None, None][:2]))),
}


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_shardings_are_told_when_a_program_is_compiled(spec, op):
    compute, expected = OPS[op]
    whole = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
    told = []

    @jax.jit
    def program(x):
        y = compute(x)
        jax.debug.inspect_array_sharding(y, callback=told.append)
        return y

    x = jax.device_put(jnp.arange(64.0).reshape(8, 8), NamedSharding(whole, spec))
    y = program(x)
    np.testing.assert_allclose(y, compute(np.asarray(x)), rtol=1e-6)
    program(x)
    (sharding,) = told
    assert sharding.is_equivalent_to(NamedSharding(whole, expected(spec)), 2)


def test_a_function_that_fails_when_it_is_told_a_sharding():
    whole = Mesh(np.array(jax.devices()), ("x",))
    x = jax.device_put(jnp.arange(8.0), NamedSharding(whole, P("x")))

    def fail(_):
        raise ValueError("not that one")

    with pytest.raises(Exception, match="not that one"):
        jax.jit(lambda x: jax.debug.inspect_array_sharding(x, callback=fail))(x)


@pytest.mark.parametrize("ordered", [False, True])
def test_the_debugger_reads_commands_and_shows_variables(ordered):
    stdin, stdout = io.StringIO("p y\nc\n"), io.StringIO()

    @jax.jit
    def program(x):
        y = x + 1
        jax.debug.breakpoint(backend="cli", stdin=stdin, stdout=stdout, ordered=ordered)
        return y

    assert program(jnp.float32(2)) == 3
    jax.effects_barrier()
    assert "Array(3., dtype=float32)" in stdout.getvalue()
