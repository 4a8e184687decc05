"""Derivatives of pointwise and row-wise functions where slopes are infinite, NaN or a matter of choice."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import oxcall

INF = float("inf")


@pytest.fixture(scope="module")
def derived(library_path):
    with jax.enable_x64(True):
        yield oxcall.load(library_path("derived_ops"))


# Not `jnp.hypot`, whose own derivatives of second order are wrong.
FORMULAS = {
    "power": (jnp.power, [(-2.0, 2.0), (-2.0, 3.0), (0.0, 2.0), (0.0, 3.0), (2.0, -1.0)]),
    "product": (lambda x, y: x * y, [(INF, 2.0), (3.0, INF), (0.0, -INF), (-2.0, 0.0)]),
    "quotient": (lambda x, y: x / y, [(INF, 2.0), (3.0, 0.0), (-3.0, INF), (0.0, 2.0)]),
    "root_product": (lambda x, y: x * jnp.sqrt(y), [(3.0, 0.0), (INF, 4.0), (0.0, 0.0), (2.0, -1.0)]),
    "length": (lambda x, y: jnp.sqrt(x * x + y * y), [(-2.0, 2.0), (0.0, 3.0), (-3.0, 0.0)]),
    "two_results": (lambda x, y: (x * 3.0, jnp.sqrt(x) * y), [(0.0, 2.0), (-1.0, 2.0), (INF, 2.0)]),
}
TRANSFORMS = {
    "grad": jax.grad,
    "jvp": lambda f: lambda x: jax.jvp(f, (x,), (1.0,))[1],
    "linearize": lambda f: lambda x: jax.linearize(f, x)[1](1.0),
    "jacfwd": jax.jacfwd,
    "hessian": jax.hessian,
    "grad of grad": lambda f: jax.grad(jax.grad(f)),
    "jacrev of jacfwd": lambda f: jax.jacrev(jax.jacfwd(f)),
    "jacfwd of jacfwd": lambda f: jax.jacfwd(jax.jacfwd(f)),
    "jit": lambda f: jax.jit(jax.hessian(f)),
    "vmap": lambda f: lambda x: jax.vmap(jax.hessian(f))(jnp.array([x, x])),
    "vmap of jvp": lambda f: lambda x: jax.vmap(lambda x, t: jax.jvp(f, (x,), (t,))[1])(*jnp.array([[x, x], [1, 2]])),
    "checkpoint": lambda f: jax.grad(jax.checkpoint(jax.grad(f))),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", FORMULAS)
def test_operands_that_nobody_differentiates_take_no_part(derived, name, transform):
    """A tangent or cotangent that is zero is not multiplied by a slope, which would be NaN where that is infinite."""
    formula, points = FORMULAS[name]

    def along(f, point, index, result):
        def of_one(value):
            values = f(*point[:index], value, *point[index + 1 :])
            return values if result is None else values[result]

        return TRANSFORMS[transform](of_one)(point[index])

    for point in points:
        for index in (0, 1):
            for result in (0, 1) if name == "two_results" else (None,):
                found = along(derived[name], point, index, result)
                expected = along(formula, point, index, result)
                np.testing.assert_allclose(found, expected, 1e-12, err_msg=f"{point}, {index}, {result}")


@pytest.mark.parametrize("transform", ["jvp", "grad", "hessian", "grad of grad", "jit", "jacfwd of jacfwd"])
@pytest.mark.parametrize("name", ["row_product", "row_quotient"])
def test_functions_of_rows_have_no_zero_tangents_either(derived, name, transform):
    x = jnp.array([1.0, 2.0, 3.0])
    y, formula = {
        "row_product": (jnp.zeros(3), lambda x, y: x * jnp.sqrt(y)),
        "row_quotient": (jnp.array(INF), lambda x, y: (x / y).sum(-1)),
    }[name]

    def along(f):
        return TRANSFORMS[transform](lambda scale: jnp.sum(f(x * scale, y) * 2.0))(1.0)

    np.testing.assert_allclose(along(derived[name]), along(formula))


def test_a_mask_is_an_attribute_with_all_as_its_default(derived):
    found = derived.product_jvp(3.0, INF, 1.0, 0.0)
    assert np.isnan(derived.product_jvp(INF, 3.0, 1.0, 0.0)) and found == INF
    assert derived.product_jvp(INF, 3.0, 1.0, 0.0, jvp_active=0b01) == 3.0
    assert derived.product_jvp(3.0, 4.0, 1.0, 1.0, jvp_active=0) == 0.0


def ramp(x, y, power=2.0):
    return jax.nn.softplus(x) * y, y**power


def test_written_derivatives_are_used(derived):
    """The written ones are 3 times the true ones, and those of second order are derived from them."""
    assert jax.grad(derived.rounded)(0.7) == 1.0 and derived.rounded(0.7) == 1.0
    assert jax.jvp(derived.rounded, (0.7,), (2.0,))[1] == 2.0
    for index, point in ((0, (0.3, 2.0)), (1, (0.3, 2.0))):
        for result in (0, 1):

            def of(f, x, index=index, result=result, point=point):
                return f(*point[:index], x, *point[index + 1 :], power=3.0)[result]

            for transform in ("grad", "jvp", "hessian", "grad of grad", "vmap", "jacrev of jacfwd"):
                found, expected = (
                    TRANSFORMS[transform](lambda x, f=f: of(f, x))(point[index]) for f in (derived.ramp, ramp)
                )
                np.testing.assert_allclose(found, 3 * expected, 1e-12, err_msg=f"{transform}, {index}, {result}")


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_a_written_jvp_is_transposed(derived, dtype):
    x, y = jnp.array(2.0, dtype), jnp.array(5.0, dtype)
    holomorphic = dtype == "complex128"
    assert jax.grad(derived.written_product, holomorphic=holomorphic)(x, y) == 15.0
    assert jax.jvp(derived.written_product, (x, y), (x, y))[1] == 60.0
    assert jax.grad(derived.written_product, 1, holomorphic=holomorphic)(x, y) == 6.0


# Of `f32`, against `jax.numpy` in `f64`: in `f32` its second derivative of `arctanh` is 0 near 0.
EDGES = {
    "inverse_cube": (lambda x: jax.lax.integer_pow(x, -3), (0.0, INF, -2.0, 1e-3)),
    "cube_root": (jnp.cbrt, (0.0, INF, -8.0, 1e-3)),
    "area_tangent": (jnp.arctanh, (0.0, 1e-10, 0.5, -0.75)),
    "arc_sine": (jnp.arcsin, (0.0, 1e-10, 0.5, -0.999)),
    "arc_cosine": (jnp.arccos, (0.0, 1e-10, 0.5, -0.999)),
}


@pytest.mark.parametrize("name", EDGES)
def test_derivatives_at_the_edges(derived, name):
    formula, points = EDGES[name]
    for point in np.float32(points):
        for derivative in (jax.grad, jax.hessian):
            found, expected = derivative(derived[name])(point), derivative(formula)(np.float64(point))
            np.testing.assert_allclose(found, expected, 2e-5, err_msg=f"{point}")


def test_nan_reaches_gradients_as_in_numpy(derived):
    for x, y in ((np.nan, 1.0), (1.0, np.nan), (2.0, 2.0), (3.0, 2.0)):
        formulas = {"log_add_exp": jnp.logaddexp, "larger": jnp.maximum, "clamped": lambda x, y: jnp.clip(x, y, 1.0)}
        for name, formula in formulas.items():
            found, expected = (jax.grad(f, (0, 1))(x, y) for f in (derived[name], formula))
            np.testing.assert_allclose(found, expected, err_msg=f"{name}({x}, {y})")
    for row in ([1.0, np.nan, 3.0], [1.0, 3.0, 3.0], [INF, 1.0, 2.0]):
        row = jnp.array(row)
        np.testing.assert_array_equal(jax.grad(derived.row_max)(row), jax.grad(jnp.max)(row))
        moved = [jax.jvp(f, (row,), (jnp.ones(3),))[1] for f in (derived.row_max, jnp.max)]
        np.testing.assert_array_equal(*moved)


def test_conventions_at_kinks(derived):
    """Those of the guide's table: of torch where `jax.numpy` has one side, or half of an unbounded set."""
    assert jax.grad(derived.size)(0.0) == 0.0
    assert jax.grad(derived.length, (0, 1))(0.0, 0.0) == (0.0, 0.0)
    assert jax.grad(derived.power)(0.0, 0.0) == 0.0
    assert jax.grad(derived.larger, (0, 1))(2.0, 2.0) == (0.5, 0.5)


def test_derivatives_that_are_left_out(derived):
    with pytest.raises(oxcall.CallError, match=r"^constant: .*`derivatives = 0`; write `derivatives = 1`"):
        jax.grad(derived.constant)(1.0)
    with pytest.raises(oxcall.CallError, match=r"^once_vjp: .*`once` is declared with `derivatives = 1`"):
        jax.hessian(derived.once)(1.0)
    with pytest.raises(oxcall.CallError, match=r"first and second order; differentiate `cube_root` twice at most"):
        jax.grad(jax.grad(jax.grad(derived.cube_root)))(1.0)
