"""Whole programs: models forward, with gradients, under vmap, scan and while."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from conformance import inputs
from conformance.cases import Case, family
from conformance.compare import Tolerance

_NEAR = Tolerance(4096, of_largest=True, below=1e-5, reason="thousands of roundings in another order")

Model = Callable[..., Any]


def _norm(x, scale):
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * scale


def _transformer(x, wq, wk, wv, wo, w1, w2, scale):
    h = _norm(x, scale)
    heads = lambda w: (h @ w).reshape(*x.shape[:2], 4, -1).transpose(0, 2, 1, 3)  # noqa: E731
    q, k, v = heads(wq), heads(wk), heads(wv)
    scores = q @ jnp.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
    scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9)
    y = (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(x.shape)
    x = x + y @ wo
    return x + jax.nn.gelu(_norm(x, scale) @ w1) @ w2


def _resnet(x, w1, w2, scale):
    conv = lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))  # noqa: E731
    normed = lambda x: (x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-5) * scale  # noqa: E731
    y = jax.nn.relu(normed(conv(x, w1)))
    return jax.nn.relu(x + normed(conv(y, w2)))


def _resnet_pooled(x, w1, w2, scale):
    return lax.reduce_window(_resnet(x, w1, w2, scale), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def _lstm(xs, wx, wh):
    def step(state, x):
        h, c = state
        i, f, g, o = jnp.split(x @ wx + h @ wh, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros((xs.shape[1], wh.shape[0]), xs.dtype)
    return lax.scan(step, (zero, zero), xs)[1]


def _runge_kutta(y, friction, h):
    f = lambda y: jnp.stack([y[1], -y[0] - friction * y[1]])  # noqa: E731
    k1 = f(y)
    k2 = f(y + h / 2 * k1)
    k3 = f(y + h / 2 * k2)
    k4 = f(y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def _ode(y, friction):
    """To a fixed time in steps of a fixed size."""
    h = jnp.asarray(0.0625, y.dtype)
    return lax.scan(lambda y, _: (_runge_kutta(y, friction, h),) * 2, y, None, length=48)[1]


def _ode_adaptive(y, friction):
    """To a fixed time in steps whose size follows the error."""

    def step(state):
        t, y, h = state
        whole = _runge_kutta(y, friction, h)
        half = _runge_kutta(_runge_kutta(y, friction, h / 2), friction, h / 2)
        good = jnp.abs(whole - half).max() < 1e-4
        return jnp.where(good, t + h, t), jnp.where(good, half, y), jnp.where(good, h * 1.25, h / 2)

    start = (jnp.zeros((), y.dtype), y, jnp.asarray(0.5, y.dtype))
    return lax.while_loop(lambda state: state[0] < 3.0, step, start)[1]


def _log_density(x, scales):
    return -0.5 * jnp.sum((x / scales) ** 2)


def _langevin(x, noise, choice, scales):
    """A step of Metropolis-adjusted Langevin dynamics, with its random numbers as operands."""
    size = 0.1
    drift = lambda x: x + size * jax.grad(_log_density)(x, scales)  # noqa: E731
    y = drift(x) + (2 * size) ** 0.5 * noise
    forth, back = ((y - drift(x)) ** 2).sum(), ((x - drift(y)) ** 2).sum()
    ratio = _log_density(y, scales) - _log_density(x, scales) - (back - forth) / (4 * size)
    return jnp.where(jnp.log(choice) < ratio, y, x)


def _chain(x, scales, seed):
    """Many steps, with keys split inside."""

    def step(x, key):
        move, choose = jax.random.split(key)
        noise = jax.random.normal(move, x.shape, x.dtype)
        x = _langevin(x, noise, jax.random.uniform(choose, (), x.dtype), scales)
        return x, x

    return lax.scan(step, x, jax.random.split(jax.random.key(seed), 30))[1]


def _chain_until(x, scales, seed):
    """Steps until the state is near the mode, and how many."""

    def step(state):
        x, key, count = state
        key, move, choose = jax.random.split(key, 3)
        noise = jax.random.normal(move, x.shape, x.dtype)
        return _langevin(x, noise, jax.random.uniform(choose, (), x.dtype), scales), key, count + 1

    near = lambda state: (_log_density(state[0], scales) < -0.3) & (state[2] < 100)  # noqa: E731
    x, _, count = lax.while_loop(near, step, (x * 5, jax.random.key(seed), jnp.int32(0)))
    return x, count


def _layers(model: Model) -> Model:
    """The model three times, by scan over stacked parameters."""

    def run(x, *parameters):
        stacked = [jnp.stack([p, p * 0.9, p * 1.1]) for p in parameters]
        return lax.scan(lambda x, p: (model(x, *p), x.mean()), x, tuple(stacked))

    return run


def _until(model: Model) -> Model:
    """The model again and again, by while, until its result is large or ten steps are done."""

    def run(x, *parameters):
        going = lambda state: (jnp.abs(state[0]).max() < 8.0) & (state[1] < 10)  # noqa: E731
        return lax.while_loop(going, lambda s: (model(s[0], *parameters) * 1.5, s[1] + 1), (x, jnp.int32(0)))

    return run


def _loss(model: Model) -> Model:
    return lambda *args: sum(jnp.sum(jnp.sin(leaf)) for leaf in jax.tree.leaves(model(*args)))


def _gradient(model: Model, operands: int) -> Model:
    return jax.value_and_grad(_loss(model), tuple(range(operands)))


def _variants(name: str, model: Model, repeated: Model | None, operands: list[np.ndarray]) -> Iterator[Any]:
    """The model in every setting; ``repeated`` is a form of it whose result is like its first operand."""
    count = len(operands)
    batch = [np.stack([operand, operand * 0.5, operand * 0.25]).astype(operand.dtype) for operand in operands]
    gradient = _gradient(model, count)
    yield "forward", model, operands
    yield "gradient", gradient, operands
    yield "checkpointed gradient", _gradient(jax.checkpoint(model), count), operands
    yield "forward mode", lambda *args: jax.jvp(model, args, args), operands
    yield "vmap", jax.vmap(model), batch
    yield "vmap of one", jax.vmap(model, (0, *(None,) * (count - 1))), [batch[0], *operands[1:]]
    yield "vmap of gradient", jax.vmap(gradient), batch
    yield "gradient of vmap", _gradient(jax.vmap(model), count), batch
    if repeated is not None:
        yield "scan", _layers(repeated), operands
        yield "gradient of scan", _gradient(_layers(repeated), count), operands
        yield "vmap of scan", jax.vmap(_layers(repeated)), batch
        yield "while", _until(repeated), operands
        yield "vmap of while", jax.vmap(_until(repeated)), batch


@family
def models(rng: np.random.Generator) -> Iterator[Case]:
    """A transformer block, a ResNet block, an LSTM, an ODE solver, an MCMC step."""
    for dtype in ("float32", "float64"):

        def draw(*shape, dtype=dtype):
            return (inputs.moderate(rng, dtype, shape) * 0.3).astype(dtype)

        squares = [draw(16, 16) for _ in range(4)]
        scales, choice = np.abs(draw(3)) + np.asarray(0.5, dtype), np.asarray(0.4, dtype)
        table = {
            "transformer": (
                _transformer,
                _transformer,
                [draw(2, 10, 16), *squares, draw(16, 64), draw(64, 16), draw(16)],
            ),
            "resnet": (_resnet_pooled, _resnet, [draw(2, 8, 8, 4), draw(3, 3, 4, 4), draw(3, 3, 4, 4), draw(4)]),
            "lstm": (_lstm, lambda xs, wx, wh: _lstm(xs, wx, wh), [draw(7, 3, 8), draw(8, 32), draw(8, 32)]),
            "ode": (_ode, lambda y, friction: _runge_kutta(y, friction, 0.25), [draw(2), draw()]),
            "mcmc": (_langevin, _langevin, [draw(3), draw(3), choice, scales]),
        }
        for name, (model, repeated, operands) in table.items():
            for label, function, values in _variants(name, model, repeated, operands):
                yield Case(f"model {name}", dtype, label, function, values, _NEAR)
        state = [draw(2), np.abs(draw())]
        yield Case("model ode", dtype, "adaptive", _ode_adaptive, state, _NEAR)
        yield Case("model ode", dtype, "adaptive, forward mode", lambda *s: jax.jvp(_ode_adaptive, s, s), state, _NEAR)
        yield Case(
            "model ode", dtype, "adaptive, vmap", jax.vmap(_ode_adaptive), [np.stack([s, s / 2]) for s in state], _NEAR
        )
        for seed in (np.uint32(3), np.uint32(77)):
            start = [draw(3), scales]
            yield Case("model mcmc", dtype, f"chain {seed}", lambda x, s, k=seed: _chain(x, s, k), start, _NEAR)
            chains = lambda x, s, k=seed: jax.vmap(lambda x: _chain_until(x, s, k))(x)  # noqa: E731
            yield Case("model mcmc", dtype, f"chains until {seed}", chains, [draw(4, 3), scales], _NEAR)
            through = _gradient(lambda x, s, k=seed: _chain(x, s, k), 2)
            yield Case("model mcmc", dtype, f"gradient of chain {seed}", through, start, _NEAR)


def _mlp_step(w1, b1, w2, x, y):
    def loss(params):
        w1, b1, w2 = params
        return jnp.mean((jnp.tanh(x @ w1 + b1) @ w2 - y) ** 2)

    value, grads = jax.value_and_grad(loss)((w1, b1, w2))
    return value, [p - 0.1 * g for p, g in zip((w1, b1, w2), grads, strict=True)]


@family
def training(rng: np.random.Generator) -> Iterator[Case]:
    """A training step, alone and many times, and second derivatives."""
    for dtype in ("float32", "float64"):
        for sizes in ((5, 9, 2, 30), (1, 1, 1, 1), (3, 17, 4, 7)):
            a, b, c, n = sizes
            shapes = ((a, b), (b,), (b, c), (n, a), (n, c))
            operands = [(inputs.moderate(rng, dtype, shape) * 0.3).astype(dtype) for shape in shapes]
            yield Case("model mlp", dtype, f"step {sizes}", _mlp_step, operands, _NEAR)

            def steps(w1, b1, w2, x, y):
                step = lambda _, p: tuple(_mlp_step(*p, x, y)[1])  # noqa: E731
                return lax.fori_loop(0, 20, step, (w1, b1, w2))

            yield Case("model mlp", dtype, f"20 steps {sizes}", steps, operands, _NEAR)
        hessian = jax.hessian(lambda x: jnp.sum(jnp.tanh(x) ** 3))
        yield Case("model mlp", dtype, "hessian", hessian, [inputs.moderate(rng, dtype, (6,))], _NEAR)


# Methods of jax.image.resize.
METHODS = ("nearest", "linear", "cubic", "lanczos3", "lanczos5")


@family
def images(rng: np.random.Generator) -> Iterator[Case]:
    """jax.image."""
    for dtype in ("float32", "float64"):
        for method in METHODS:
            for before, after in (((9, 7, 3), (13, 5, 3)), ((8, 8), (4, 4)), ((1, 1), (3, 3)), ((4, 6), (4, 6))):
                x = inputs.moderate(rng, dtype, before)
                resize = lambda x, s=after, m=method: jax.image.resize(x, s, m)  # noqa: E731
                yield Case("jax.image.resize", dtype, f"{method} {before} {after}", resize, [x], _NEAR)
            if method == "nearest":
                continue
            x, scale = inputs.moderate(rng, dtype, (9, 7, 3)), np.asarray([1.3, 0.6], dtype)
            for shift in ((0.5, -1.25), (3.0, 2.0)):

                def scaled(x, scale, shift, method=method):
                    return jax.image.scale_and_translate(x, (11, 6, 3), (0, 1), scale, shift, method)

                operands = [x, scale, np.asarray(shift, dtype)]
                yield Case("jax.image.scale_and_translate", dtype, f"{method} {shift}", scaled, operands, _NEAR)
        x = inputs.moderate(rng, dtype, (6, 5))
        gradient = jax.grad(lambda x: jnp.sin(jax.image.resize(x, (9, 3), "cubic")).sum())
        yield Case("jax.image.resize", dtype, "gradient", gradient, [x], _NEAR)
