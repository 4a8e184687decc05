"""Backward ops that do not fit: mistakes that a library without the macro's check may have, found when it is loaded."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import fake
import oxcall
from fake import FACTOR, attr, op, param

FORWARD = op("scale", [param("x"), param("y", "ret"), param("z", "ret")], [FACTOR], vjp="scale_vjp")
INDICES = param("i", "ret", dtype="s32")


def build(tmp_path, forward, backward):
    ops = [forward, {**backward, "name": "scale_vjp"}, *fake.OPS[2:]]
    return fake.build(tmp_path, "libpaired.so", ops=ops)


@pytest.mark.parametrize(
    ("backward", "message"),
    [
        (
            op("", [param("dy"), param("dx", "ret")]),
            r"scale: its vjp op `scale_vjp` takes no cotangent of result `z`.*would be zero; add an argument `dz`",
        ),
        (
            op("", [param("dy"), param("dzz"), param("dx", "ret")]),
            r"argument `dzz` of its vjp op `scale_vjp` matches nothing; .*`dy` and `dz` \(did you mean `dz`\?\)",
        ),
        (
            op("", [param("dy"), param("dz"), param("gradient", "ret")]),
            r"result `gradient` of its vjp op `scale_vjp` matches nothing",
        ),
        (op("", [param("dy"), param("dz"), param("dx", "ret")], [attr("k", "s64")]), "requires the attribute `k`"),
    ],
)
def test_mistakes_are_found_when_the_library_is_loaded(tmp_path, backward, message):
    with pytest.raises(oxcall.LoadError, match=message):
        oxcall.load(build(tmp_path, FORWARD, backward))


def test_a_backward_op_that_is_not_there(tmp_path):
    path = fake.build(tmp_path, "liblost.so", ops=[{**fake.OPS[0], "vjp": "gone"}, *fake.OPS[1:]])
    with pytest.raises(oxcall.LoadError, match="scale: its vjp op `gone` is not in this library"):
        oxcall.load(path)


def test_integers_have_no_cotangent_to_take(tmp_path):
    forward = {**FORWARD, "params": [*FORWARD["params"][:2], INDICES]}
    oxcall.load(build(tmp_path, forward, op("", [param("dy"), param("dx", "ret")])))


def test_a_default_of_the_forward_op_is_the_value_of_the_backward_op(tmp_path):
    """Also where the backward op requires the attribute, or has another default of its own."""
    for number, factor in enumerate([attr("factor", "f32", "7.0"), attr("factor", "f32")]):
        ops = [fake.OPS[0], {**fake.OPS[1], "attrs": [factor]}, *fake.OPS[2:]]
        library = oxcall.load(fake.build(tmp_path, f"libdefault{number}.so", ops=ops))
        gradient = jax.grad(lambda x, scale=library.scale: scale(x).sum())(jnp.ones(2))
        np.testing.assert_array_equal(gradient, [2, 2])


def test_derivatives_of_derivatives(library_path):
    derived = oxcall.load(library_path("derived_ops"))
    x = jnp.array([0.5, -2.0, 3.0], jnp.float32)

    def sum_of_gradient(function):
        return lambda x: jax.grad(function)(x).sum()

    def derivative(order):
        def function(x):
            return derived.cube(x).sum()

        for _ in range(order - 1):
            function = sum_of_gradient(function)
        return jax.jit(jax.grad(function))(x)

    np.testing.assert_array_equal(derivative(1), 3 * x * x)
    np.testing.assert_array_equal(derivative(2), 6 * x)
    with pytest.raises(ValueError, match=r"^cube_vjp_vjp: it cannot be differentiated"):
        derivative(3)
