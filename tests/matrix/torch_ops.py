"""What `cargo xtask matrix torch` runs on every torch: operators of the gallery.

Only what torch 2.7 has too, and no pytest.
"""

import sys
import warnings

import checks
import torch

import oxcall

X = torch.arange(12.0).reshape(3, 4) + 1
# Texts and lists can be passed since then.
HAS_LISTS = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 10)


def load():
    return oxcall.load(sys.argv[1])  # Once: the same library comes again.


def norm(x):
    return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt()


def values():
    torch.testing.assert_close(torch.ops.custom_op.rms_norm(X), norm(X))
    assert load().rms_norm.torch is torch.ops.custom_op.rms_norm


def dtypes():
    half = torch.ops.custom_op.rms_norm(X.bfloat16())
    assert half.dtype == torch.bfloat16
    torch.testing.assert_close(half.float(), norm(X), rtol=2e-2, atol=2e-2)


def views():
    torch.testing.assert_close(torch.ops.custom_op.rms_norm(X.t()), norm(X.t()))
    y = torch.zeros(4, 3)
    torch.ops.custom_op.axpy(0.5, X, y.t())
    torch.testing.assert_close(y, 0.5 * X.t())


def several_results():
    values, indices = torch.ops.custom_op.top_k(2, X)
    assert values.tolist() == X.topk(2).values.tolist()
    assert indices.tolist() == X.topk(2).indices.tolist()


def texts_and_lists():
    if HAS_LISTS:
        y = torch.ops.custom_op.affine([1.0, 2.0, 3.0, 4.0], X, activation="relu")
        torch.testing.assert_close(y, X * torch.tensor([1.0, 2.0, 3.0, 4.0]))
        torch.testing.assert_close(torch.ops.custom_op.concatenate([X, X]), torch.cat([X, X]))
        return
    try:
        _ = load().affine.torch
    except oxcall.LoadError as error:
        assert "which operators have since torch 2.10" in str(error), error
    else:
        raise AssertionError("an operator with lists")


def absent_arguments():
    if HAS_LISTS:
        torch.testing.assert_close(torch.ops.custom_op.fail(X, message="unused"), X)
        return
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert load().fail.torch is torch.ops.custom_op.fail
    messages = [str(warning.message) for warning in told]
    assert any("`message` is a string, which operators have since torch 2.10" in text for text in messages), messages
    torch.testing.assert_close(torch.ops.custom_op.fail(X), X)
    try:
        torch.ops.custom_op.fail(-X)
    except RuntimeError as error:
        assert "fail: an element is negative" in str(error), error
    else:
        raise AssertionError("the default message")
    torch.library.opcheck(torch.ops.custom_op.fail.default, (X,))


def updates():
    w, saved = torch.ones(2, requires_grad=True), torch.ones(2)
    loss = (w * saved).sum()
    torch.ops.custom_op.axpy(1.0, torch.ones(2), saved)
    assert saved._version == 1
    try:
        loss.backward()
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error), error
    else:
        raise AssertionError("an update that autograd did not notice")


def states():
    first = torch.ops.custom_op.low_pass(torch.ones(16), 0.2, taps=4)
    torch.testing.assert_close(first, torch.ones(13))


def errors():
    for call, text in [
        (lambda: torch.ops.custom_op.rms_norm(X.int()), "rms_norm: argument `x`: expected dtype"),
        (lambda: torch.ops.custom_op.top_k(9, X), "`k` is 9"),
        (lambda: torch.ops.custom_op.async_scale(X, float("nan")), "is NaN"),
    ]:
        try:
            call()
        except RuntimeError as error:
            assert text in str(error), error
        else:
            raise AssertionError(text)


def derivatives():
    x = X.double().requires_grad_()
    assert torch.autograd.gradcheck(torch.ops.custom_op.rms_norm, x)


def opcheck():
    torch.library.opcheck(torch.ops.custom_op.rms_norm.default, (X.clone().requires_grad_(),))
    torch.library.opcheck(torch.ops.custom_op.top_k.default, (2, X))


def compiled_once():
    programs = []

    def backend(graph, _inputs):
        programs.append(graph)
        return graph

    run = torch.compile(lambda x: torch.ops.custom_op.rms_norm(x) + 1, backend=backend, fullgraph=True, dynamic=True)
    for rows in (2, 3, 5):
        x = torch.randn(rows, 6)
        torch.testing.assert_close(run(x), norm(x) + 1)
    assert len(programs) == 1, len(programs)


def exported():
    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.ops.custom_op.rms_norm(x) * 2

    rows = torch.export.Dim("rows", min=2)
    program = torch.export.export(Model(), (X,), dynamic_shapes={"x": {0: rows}})
    x = torch.randn(7, 4)
    torch.testing.assert_close(program.module()(x), norm(x) * 2)


CHECKS = [
    values,
    dtypes,
    views,
    several_results,
    texts_and_lists,
    absent_arguments,
    updates,
    states,
    errors,
    derivatives,
    opcheck,
    compiled_once,
    exported,
]


if __name__ == "__main__":
    checks.exit_with(checks.run([load]) or checks.run(CHECKS))
