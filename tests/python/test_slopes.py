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
