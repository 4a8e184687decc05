"""`autocast`: dtypes inside `torch.autocast`, beside torch's own operators of the same policy."""

import pytest
import torch
from torch.func import grad, jvp, vmap
from torch.library import opcheck

from python_ops import Ops, attr, param

LOWER = [torch.bfloat16, torch.float16]


def randn(*shape, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape))).to(dtype)


X, W, N = randn(3), randn(4)[:3], torch.arange(3, dtype=torch.int32)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("lower", LOWER)
def test_the_policy_f32(derived, dtype, lower):
    x, w = X.to(dtype), W.to(dtype)
    y, m = derived.grown(x, w, N)
    assert (y.dtype, m.dtype) == (dtype, torch.int32)
    with torch.autocast("cpu", dtype=lower):
        y, m = derived.grown(x, w, N)
        assert y.dtype == torch.nn.functional.mse_loss(x, w).dtype
        assert m.dtype == torch.int32
        wide = torch.float32 if dtype != torch.float64 else dtype
        torch.testing.assert_close(y, x.to(wide).exp() * w.to(wide))
        with torch.autocast("cpu", enabled=False):
            assert derived.grown(x, w, N)[0].dtype == dtype
        assert derived.grown(x, w, N)[0].dtype == wide
    assert derived.grown(x, w, N)[0].dtype == dtype


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("lower", LOWER)
def test_the_policy_lowest(derived, dtype, lower):
    x, w, scale = X.to(dtype), W.to(dtype), torch.tensor(2.0)
    with torch.autocast("cpu", dtype=lower):
        y = derived.scaled(x, scale, w)
        assert y.dtype == torch.mm(x[None], w[:, None]).dtype
        torch.testing.assert_close(y, 2 * x.to(y.dtype) * w.to(y.dtype))
        assert derived.scaled(x, scale).dtype == y.dtype
        assert derived.scaled(w=w, scale=scale, x=x).dtype == y.dtype


def test_operands_of_several_dtypes(derived):
    """The inputs of a layer in lower precision, and its weights."""
    x, scale = X.bfloat16(), torch.tensor(2.0)
    with pytest.raises(RuntimeError, match="scaled: argument `w`"):
        derived.scaled(x, scale, W)
    with torch.autocast("cpu"):
        assert derived.scaled(x, scale, W).dtype == torch.bfloat16
        assert derived.grown(x, W, N)[0].dtype == torch.float32
        with pytest.raises(RuntimeError, match="scaled: argument `w`"):
            derived.scaled(x, scale, W.double())
        with pytest.raises(RuntimeError, match="scaled: argument `scale`"):
            derived.scaled(x, scale.bfloat16(), W)


def test_other_devices(derived):
    """Autocast of another device changes nothing."""
    with torch.autocast("cuda", dtype=torch.bfloat16) if torch.cuda.is_available() else torch.autocast("xpu"):
        assert derived.scaled(X, torch.tensor(2.0)).dtype == torch.float32
    with torch.autocast("cpu"):
        assert derived.scaled(X.to("meta"), torch.tensor(2.0, device="meta")).dtype == torch.float32


def test_empty_tensors(derived):
    with torch.autocast("cpu"):
        assert derived.scaled(torch.empty(0), torch.tensor(2.0)).dtype == torch.bfloat16
        assert derived.grown(torch.empty(0).half(), torch.empty(0), N[:0])[0].dtype == torch.float32


def test_updates(derived):
    total = torch.ones(3)
    with torch.autocast("cpu"):
        derived.accumulate(X, total)
    torch.testing.assert_close(total, 1 + X.bfloat16().float())


def test_gradients(derived):
    """They have the operands' dtypes, and the backward op those of the call, whatever its own policy is."""
    for inside in (False, True):
        x, w = X.bfloat16().requires_grad_(), W.clone().requires_grad_()
        reference = x.detach().float().requires_grad_(), w.detach().clone().requires_grad_()
        with torch.autocast("cpu"):
            loss = derived.grown(x, w, N)[0].square().sum()
            if inside:
                loss.backward()
        if not inside:
            loss.backward()
        (reference[0].exp() * reference[1]).square().sum().backward()
        assert (x.grad.dtype, w.grad.dtype) == (torch.bfloat16, torch.float32)
        torch.testing.assert_close(x.grad, reference[0].grad.bfloat16())
        torch.testing.assert_close(w.grad, reference[1].grad)


def test_transforms(derived):
    rows, weights = randn(4, 3).bfloat16(), randn(3)

    def loss(x, w):
        return derived.grown(x, w, N)[0].square().sum()

    def reference(x, w):
        return (x.float().exp() * w).square().sum()

    for transform, args in [
        (lambda f: grad(f, (0, 1)), (rows[0], weights)),
        (lambda f: vmap(grad(f, (0, 1)), (0, None)), (rows, weights)),
    ]:
        with torch.autocast("cpu"):
            found = transform(loss)(*args)
        expected = transform(reference)(*args)
        assert [one.dtype for one in found] == [one.dtype for one in expected]
        torch.testing.assert_close(found, expected, rtol=2e-2, atol=1e-2)


def test_batches(derived):
    """The policy is that of the op, also where `vmap` names another one."""
    rows, scales = randn(4, 3), randn(4)
    with torch.autocast("cpu"):
        y = vmap(derived.scaled, (0, 0, None))(rows, scales, W)
        assert y.dtype == torch.bfloat16
        expected = [derived.scaled(*pair, W) for pair in zip(rows, scales, strict=True)]
        torch.testing.assert_close(y, torch.stack(expected))
        z = vmap(lambda x: derived.grown(x, W, N)[0])(rows.bfloat16())
        assert z.dtype == torch.float32


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiled(derived, backend):
    def function(x, w):
        with torch.autocast("cpu"):
            y = derived.scaled(derived.grown(x, w, N)[0], torch.tensor(0.5), w)
        with torch.autocast("cpu", enabled=False):
            z = derived.grown(x, w, N)[0]
        return y, z

    torch._dynamo.reset()
    compiled = torch.compile(function, backend=backend, fullgraph=True)
    torch.testing.assert_close(compiled(X, W), function(X, W))
    torch._dynamo.reset()
    inside = torch.compile(lambda x, w: derived.grown(x, w, N)[0].square().sum(), backend=backend, fullgraph=True)
    x, w = X.bfloat16().requires_grad_(), W.clone().requires_grad_()
    with torch.autocast("cpu"):
        y = inside(x, w)
    y.backward()
    assert (y.dtype, x.grad.dtype, w.grad.dtype) == (torch.float32, torch.bfloat16, torch.float32)


def test_exported(derived):
    class Model(torch.nn.Module):
        def forward(self, x, w):
            with torch.autocast("cpu"):
                return torch.ops.derived_ops.scaled(x, w[0], w)

    program = torch.export.export(Model(), (X, W))
    torch.testing.assert_close(program.module()(X, W), Model()(X, W))
    assert program.module()(X, W).dtype == torch.bfloat16


def test_checks_of_torch(derived):
    args = X.clone().requires_grad_(), W.clone().requires_grad_(), N
    opcheck(derived.grown.default, args)
    with torch.autocast("cpu"):
        opcheck(derived.grown.default, args)
        opcheck(derived.scaled.default, (X, torch.tensor(2.0), W))


def test_operators_without_a_policy(ops):
    """torch lets them through with the dtypes of their operands."""
    with torch.autocast("cpu"):
        for dtype in (torch.float32, *LOWER):
            assert ops.rms_norm(X.to(dtype)).dtype == dtype


def test_lists_keywords_and_forward_mode(glue):
    ops = Ops()
    var = {"var": 0}
    types = {"type_params": [{"name": "T", "dtypes": ["f16", "bf16", "f32", "f64"]}]}
    ops.add(
        "total", "Tensor[] xs, *, Tensor? bias=None, float scale=1.0", "Tensor",
        lambda xs, bias=None, scale=1.0: scale * (sum(xs) + (0 if bias is None else bias)),
        [
            param("arg", "xs", "n", var, arity="variadic"), param("arg", "bias", "n", var, arity="optional"),
            param("ret", "y", "n", var),
        ],
        [attr("scale", "f64", "default")], autocast="lowest", **types,
    )  # fmt: skip
    ops.add(
        "square", "Tensor x", "Tensor", torch.square,
        [param("arg", "x", "n", var), param("ret", "y", "n", var)], autocast="f32", jvp="square_jvp", **types,
    )  # fmt: skip
    ops.add(
        "square_jvp", "Tensor x, Tensor tx", "Tensor", lambda x, tx: 2 * x * tx,
        [param("arg", "x", "n", var), param("arg", "tx", "n", var), param("ret", "ty", "n", var)],
        autocast="lowest", **types,
    )  # fmt: skip
    glue.register(ops.manifest, ops.report)
    with torch.autocast("cpu"):
        y = ops.total([X, W.bfloat16()], bias=W, scale=2.0)
        assert y.dtype == torch.bfloat16
        value, tangent = jvp(ops.square, (X.bfloat16(),), (W.bfloat16(),))
        assert (value.dtype, tangent.dtype) == (torch.float32, torch.float32)
    torch.testing.assert_close(y.float(), 2 * (X + 2 * W), rtol=5e-2, atol=5e-2)
    torch.testing.assert_close(tangent, 2 * X * W, rtol=2e-2, atol=1e-2)
