"""Tensors that are updated in place, as autograd sees them."""

import pytest
import torch

from cases import numbers


def contiguous():
    return torch.ones(3, 4)


def transposed():
    return torch.ones(4, 3).t()


def conjugate():
    return torch.ones(3, 4, dtype=torch.complex64).conj().imag


MAKERS = pytest.mark.parametrize("make", [contiguous, transposed, conjugate])


@MAKERS
def test_versions_count_updates(ops, make):
    y = make()
    x = torch.ones(3, 4)
    for number in range(1, 4):
        ops.axpy(0.5, x, y)
        assert y._version == number
    assert x._version == 0
    with pytest.raises(RuntimeError):
        ops.axpy(0.5, torch.ones(7), y)
    assert y._version == 3


def test_views_and_their_bases_have_one_version(ops):
    base = torch.zeros(4, 4)
    ops.axpy(1.0, torch.ones(2, 4), base[1:3])
    assert base._version == 1


def test_every_updated_tensor_has_a_new_version(ops):
    total, error, x = torch.zeros(4), torch.zeros(4), numbers(4)
    ops.compensated_add(total, error, x)
    assert (total._version, error._version, x._version) == (1, 1, 0)


@MAKERS
def test_backward_notices_updates(ops, make):
    w = torch.ones(3, 4, requires_grad=True)
    saved = make()
    # The product keeps `saved` for the gradient of `w`.
    loss = (w * saved).sum()
    ops.axpy(1.0, torch.ones(3, 4), saved)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_operators_notice_updates_of_what_they_saved(ops):
    x = torch.ones(2, 3, requires_grad=True) * 1
    loss = ops.rms_norm(x).square().sum()
    with torch.no_grad():
        ops.axpy(1.0, torch.ones(2, 3), x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_inference_tensors(ops):
    x = torch.ones(3)
    with torch.inference_mode():
        y = torch.zeros(3)
        ops.axpy(2.0, x, y)
        assert y.tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        ops.axpy(2.0, x, y)
