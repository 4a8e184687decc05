"""Tensors that are not plain dense arrays of their own."""

import numpy as np
import pytest
import torch

from cases import numbers


def views():
    """Views of every kind, by name."""
    base = numbers(4, 6, 8)
    return {
        "transposed": base.transpose(0, 2),
        "sliced": base[1:, ::2, 3:],
        "reversed in memory": base.flip(1).permute(2, 1, 0),
        "offset": base[2],
        "expanded": numbers(1, 8).expand(5, 8),
        "diagonal": numbers(6, 6).diagonal().unsqueeze(0),
        "one": base[1, 2, 3:4],
        "no rows": base[:0],
        "no columns": base[..., :0],
        "size one with odd strides": base[:, :1, :].transpose(0, 1),
    }


@pytest.mark.parametrize("name", views())
def test_views_are_read(ops, name):
    x = views()[name]
    torch.testing.assert_close(ops.rms_norm(x), ops.rms_norm(x.clone(memory_format=torch.contiguous_format)))
    torch.testing.assert_close(ops.async_scale(x), 2 * x)
    assert ops.async_scale(x).is_contiguous()


@pytest.mark.parametrize("name", [name for name in views() if name != "expanded"])
def test_views_are_written(ops, name):
    y, expected = views()[name], views()[name]
    x = numbers(*y.shape, seed=5)
    expected += 0.5 * x
    assert ops.axpy(0.5, x, y) is None
    torch.testing.assert_close(y, expected)


def test_only_the_view_is_written(ops):
    base = torch.zeros(4, 4)
    ops.axpy(1.0, torch.ones(2, 4), base.t()[1:3])
    assert base.sum() == 8 and base[:, 1:3].sum() == 8


def test_scalars(ops):
    x = torch.tensor(1.5)
    assert ops.async_scale(x).shape == ()
    assert float(ops.async_scale(x)) == 3
    y = torch.tensor(2.0)
    ops.axpy(2.0, x, y)
    assert float(y) == 5


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_conjugate_views(ops, dtype):
    values, columns, start = (
        torch.tensor([1 + 2j, 3 - 1j], dtype=dtype),
        torch.tensor([0, 1]).int(),
        torch.tensor([0, 2]).int(),
    )
    x = torch.tensor([[1 + 1j], [2 - 3j]], dtype=dtype)
    assert x.conj().is_conj()
    expected = (values.conj().resolve_conj() @ x.conj().resolve_conj())[None]
    torch.testing.assert_close(ops.csr_matmul(values.conj(), columns, start, x.conj()), expected)
    assert torch.equal(ops.concatenate([x.conj(), x]), torch.cat([x.conj(), x]))


def test_negative_views(ops):
    x = torch.tensor([1 + 2j, 3 - 4j]).conj().imag
    assert x.is_neg()
    torch.testing.assert_close(ops.async_scale(x), torch.tensor([-4.0, 8.0]))
    z = torch.tensor([1 + 2j, 3 - 4j])
    y = z.conj().imag
    ops.axpy(1.0, torch.ones(2), y)
    assert z.tolist() == [1 + 1j, 3 - 5j]


def test_tensors_that_share_memory(ops):
    x = numbers(5)
    expected = 3 * x
    ops.axpy(2.0, x.clone(), x)
    torch.testing.assert_close(x, expected)
    torch.testing.assert_close(ops.concatenate([x, x]), torch.cat([x, x]))


def test_memory_of_others(ops):
    array = np.arange(6, dtype=np.float32)
    torch.testing.assert_close(ops.async_scale(torch.from_numpy(array)), 2 * torch.from_numpy(array))
    ops.axpy(1.0, torch.ones(6), torch.from_numpy(array))
    assert array.tolist() == [1, 2, 3, 4, 5, 6]


def test_unaligned_memory_is_refused(ops):
    raw = torch.frombuffer(bytearray(b"\0" + np.ones(3, np.float32).tobytes()), dtype=torch.uint8)
    unaligned = torch.frombuffer(memoryview(raw.numpy())[1:], dtype=torch.float32)
    with pytest.raises(RuntimeError, match="async_scale: argument `x`: its memory is not aligned to 4 bytes"):
        ops.async_scale(unaligned)


@pytest.mark.parametrize(
    ("devices", "expected"),
    [
        (("cpu",), [-1, 0]),
        ((torch.device("cuda:3"), "meta"), [3, 4]),
        (("privateuseone:0", torch.device("xla:1")), [0, 3]),
    ],
)
def test_devices(library_path, devices, expected):
    torch.ops.load_library(library_path("test_ops"))
    numbers_of = torch.ops.test_ops.device_numbers
    assert str(numbers_of.default._schema).endswith("(Device device, Tensor _x, Device? other=None) -> Tensor")
    x = torch.ones(2)
    assert numbers_of(devices[0], x, *devices[1:]).tolist() == expected
    compiled = torch.compile(lambda x: numbers_of(devices[0], x, *devices[1:]) + 1, backend="aot_eager", fullgraph=True)
    assert compiled(x).tolist() == [number + 1 for number in expected]
    torch.library.opcheck(numbers_of.default, (torch.device(devices[0]), x))


def test_bools(ops):
    mask = torch.tensor([True, False, True])
    with pytest.raises(RuntimeError, match="top_k: argument `x`"):
        ops.top_k(1, mask)


@pytest.mark.parametrize("size", [0, 4, 3996])
def test_a_storage_that_was_shrunk(ops, size):
    x = torch.ones(1000)
    assert ops.async_scale(x).tolist() == [2.0] * 1000
    start, rows = x[:1], x.view(10, 100)
    longer = [x, x[500:], rows.t(), rows[:, 99:]]
    x.untyped_storage().resize_(size)
    for tensor in longer:
        with pytest.raises(RuntimeError, match=f"argument `x`: the tensor takes .* resized to {size};"):
            ops.async_scale(tensor)
    if size:
        assert ops.async_scale(start).shape == (1,)
    with pytest.raises(RuntimeError, match="resized"):
        ops.axpy(1.0, torch.ones(1000), x)
    with pytest.raises(RuntimeError, match="resized"):
        ops.concatenate([torch.ones(1000), x], 0)
