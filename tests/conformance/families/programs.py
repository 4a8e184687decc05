"""Whole programs: models with their gradients, under vmap, scan and while."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from conformance import inputs
from conformance.cases import Case, family
from conformance.compare import Tolerance

_NEAR = Tolerance(4096, of_largest=True, below=1e-5, reason="thousands of roundings in another order")


def _norm(x, scale):
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * scale


def _transformer(x, wq, wk, wv, wo, w1, w2, scale):
    h = _norm(x, scale)
    heads = lambda w: (h @ w).reshape(*x.shape[:2], 4, -1).transpose(0, 2, 1, 3)  # noqa: E731
    q, k, v = heads(wq), heads(wk), heads(wv)
    scores = q @ jnp.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9)
    y = (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(x.shape)
    x = x + y @ wo
    return x + jax.nn.gelu(_norm(x, scale) @ w1) @ w2


def _resnet(x, w1, w2, scale):
    conv = lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))  # noqa: E731
    normed = lambda x: (x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-5) * scale  # noqa: E731
    y = jax.nn.relu(normed(conv(x, w1)))
    y = jax.nn.relu(x + normed(conv(y, w2)))
    return lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def _lstm(xs, wx, wh):
    def step(state, x):
        h, c = state
        i, f, g, o = jnp.split(x @ wx + h @ wh, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros((xs.shape[1], wh.shape[0]), xs.dtype)
    return lax.scan(step, (zero, zero), xs)[1]


def _ode(y):
    def step(state):
        t, y, h = state
        f = lambda y: jnp.stack([y[1], -y[0] - 0.1 * y[1]])  # noqa: E731
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        k4 = f(y + h * k3)
        return t + h, y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), h

    return lax.while_loop(lambda s: s[0] < 3.0, step, (jnp.zeros((), y.dtype), y, jnp.asarray(0.0625, y.dtype)))[1]


def _mcmc(seed):
    def step(state, key):
        x, accepted = state
        move, choose = jax.random.split(key)
        y = x + 0.5 * jax.random.normal(move, x.shape)
        ratio = 0.5 * (x @ x - y @ y)
        accept = jnp.log(jax.random.uniform(choose)) < ratio
        return (jnp.where(accept, y, x), accepted + accept), x

    start = (jnp.zeros(3), jnp.zeros((), jnp.int32))
    return lax.scan(step, start, jax.random.split(jax.random.key(seed), 50))


def _mlp_step(w1, b1, w2, x, y):
    def loss(params):
        w1, b1, w2 = params
        return jnp.mean((jnp.tanh(x @ w1 + b1) @ w2 - y) ** 2)

    value, grads = jax.value_and_grad(loss)((w1, b1, w2))
    return value, [p - 0.1 * g for p, g in zip((w1, b1, w2), grads, strict=True)]


def _of(function, operands: int):
    def loss(*args):
        return jnp.sum(jnp.sin(function(*args)))

    return jax.value_and_grad(loss, tuple(range(operands)))


@family
def models(rng: np.random.Generator) -> Iterator[Case]:
    """Each forward, with its gradient, and under vmap."""
    for dtype in ("float32", "float64"):

        def draw(*shape, dtype=dtype):
            return (inputs.moderate(rng, dtype, shape) * 0.3).astype(dtype)

        arguments = {
            "transformer": (
                _transformer,
                [draw(2, 10, 16), *(draw(16, 16) for _ in range(4)), draw(16, 64), draw(64, 16), draw(16)],
            ),
            "resnet": (_resnet, [draw(2, 8, 8, 4), draw(3, 3, 4, 4), draw(3, 3, 4, 4), draw(4)]),
            "lstm": (_lstm, [draw(7, 3, 5), draw(5, 32), draw(8, 32)]),
            "ode": (_ode, [draw(2)]),
        }
        for name, (function, operands) in arguments.items():
            yield Case("program", dtype, name, function, operands, _NEAR)
            if name != "ode":
                yield Case("program", dtype, f"{name} gradient", _of(function, len(operands)), operands, _NEAR)
            batch = [np.stack([operand, operand * 0.5]) for operand in operands]
            yield Case("program", dtype, f"{name} vmap", jax.vmap(function), batch, _NEAR)
        yield Case(
            "program", dtype, "mlp step", _mlp_step, [draw(5, 9), draw(9), draw(9, 2), draw(30, 5), draw(30, 2)], _NEAR
        )
        yield Case("program", dtype, "hessian", jax.hessian(lambda x: jnp.sum(jnp.tanh(x) ** 3)), [draw(6)], _NEAR)
    yield Case("program", "float32", "mcmc", _mcmc, [np.uint32(3)], _NEAR)
    image = inputs.moderate(rng, "float32", (9, 7, 3))
    for method in ("nearest", "linear", "cubic"):
        yield Case(
            "program",
            "float32",
            f"resize {method}",
            lambda x, m=method: jax.image.resize(x, (13, 5, 3), m),
            [image],
            _NEAR,
        )
