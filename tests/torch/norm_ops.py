"""Operators written in Python, with a batch and a weight, whose gradient is a sum over the batch."""

import collections

from python_ops import Ops, param

CALLS = collections.Counter()


def norm(x, w):
    """Rows by their root mean square, times the weight."""
    return w * x / x.square().mean(-1, keepdim=True).sqrt()


def norm_vjp(x, w, dy):
    scale = x.square().mean(-1, keepdim=True).rsqrt()
    unit = x * scale
    dx = scale * (w * dy - unit * (w * dy * unit).mean(-1, keepdim=True))
    return dx, (dy * unit).flatten(0, -2).sum(0) if x.dim() > 1 else dy * unit


def register(glue):
    """The operators `norm`, `norm_vjp`, `copy`, `scale` and `outer`, registered with the glue."""
    ops = Ops()

    def counted(function):
        def call(*args):
            CALLS[function.__name__] += 1
            return function(*args)

        return call

    def scale(x, factor=2.0):
        return x * factor

    def copy(x):
        return x.clone()

    def scale_of_batch(x, factor=2.0):
        return x * factor

    def row(name, role="arg"):
        return param(role, name, "..b, n", {"var": 0})

    def weight(name, role="arg", **options):
        return {**param(role, name, "n", {"var": 0}), **options}

    ops.add(
        "norm", "Tensor x, Tensor w", "Tensor", counted(norm), [row("x"), weight("w"), row("y", "ret")],
        batch="b", vjp="norm_vjp",
    )  # fmt: skip
    ops.add(
        "norm_vjp", "Tensor x, Tensor w, Tensor dy", "(Tensor, Tensor)", counted(norm_vjp),
        [row("x"), weight("w"), row("dy"), row("dx", "ret"), weight("dw", "ret", sum=True)], batch="b",
    )  # fmt: skip
    ops.add(
        "outer", "Tensor w, Tensor x", "Tensor", lambda w, x: w.reshape(*w.shape, *[1] * x.dim()) * x,
        [param("arg", "w", "..a", {"var": 0}), row("x"), param("ret", "y", "..a, ..b, n", {"var": 0})], batch="b",
    )  # fmt: skip
    ops.add("copy", "Tensor x", "Tensor", counted(copy), [row("x"), param("ret", "y", None, {"var": 0})], batch="b")
    ops.add(
        "scale", "Tensor x, float factor=2.0", "Tensor", counted(scale), [weight("x"), weight("y", "ret")],
        [{"name": "factor", "type": "f64", "presence": "default"}], vmap_op="scale_of_batch",
    )  # fmt: skip
    ops.add(
        "scale_of_batch", "Tensor x, float factor=2.0", "Tensor", counted(scale_of_batch),
        [param("arg", "x", "m, n"), param("ret", "y", "m, n")],
        [{"name": "factor", "type": "f64", "presence": "default"}],
    )  # fmt: skip
    glue.register(ops.manifest, ops.report)
    return ops
