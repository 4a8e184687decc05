"""Functions of JAX that are programs of more than one corpus."""

import jax
import jax.numpy as jnp


def convolution_gradient(x, kernel):
    """The gradient of a strided convolution with pooling, with respect to its kernel."""

    def loss(kernel):
        y = jax.lax.conv_general_dilated(x, kernel, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jax.lax.reduce_window(y, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").sum()

    return jax.grad(loss)(kernel)
