"""Typed custom calls reach Rust handlers, by the interface below `torch.ops`. The handlers are those of the gallery."""

import os

import torch
import torch_xla


def call(target, inputs, shapes, dtypes, config):
    """`inputs` are tensors on the device; `config` is the text of a dictionary."""
    return torch_xla._XLAC._xla_custom_call(inputs, target, shapes, dtypes, False, config, 4, {})


def same_way():
    """The variables by which this process reaches the plugin."""
    names = ("PJRT_DEVICE", "PJRT_LIBRARY_PATH", "XLA_STABLEHLO_COMPILE")
    return {name: os.environ[name] for name in names if name in os.environ}


def test_attributes_of_the_dictionary_arrive(device):
    x = torch.randn(3, 8)
    (y,) = call("rms_norm", [x.to(device)], [[3, 8]], [torch.float32], "{eps = 0.5 : f64}")
    torch.testing.assert_close(y.cpu(), x / (x.square().mean(1, keepdim=True) + 0.5).sqrt())
    (y,) = call("rms_norm", [x.to(device) * 2], [[3, 8]], [torch.float32], "")
    torch.testing.assert_close(y.cpu(), 2 * x / ((2 * x).square().mean(1, keepdim=True) + 1e-5).sqrt())


def test_several_results(device):
    x = torch.randn(4, 9)
    dtypes = [torch.float32, torch.int32]
    values, indices = call("top_k", [x.to(device)], [[4, 3], [4, 3]], dtypes, "{k = 3 : i64}")
    expected = x.topk(3, 1)
    torch.testing.assert_close(values.cpu(), expected.values)
    assert torch.equal(indices.cpu().long(), expected.indices)


def test_results_feed_other_ops(device):
    x = torch.randn(2, 4)
    on_device = x.to(device)
    (y,) = call("rms_norm", [on_device.exp()], [[2, 4]], [torch.float32], "{eps = 0.0 : f64}")
    e = x.exp()
    torch.testing.assert_close((y @ on_device.t()).cpu(), (e / e.square().mean(1, keepdim=True).sqrt()) @ x.t())


def test_other_numbers_of_elements_and_dtypes(device):
    x, y = torch.arange(6).reshape(2, 3), torch.arange(4).reshape(2, 2)
    inputs = [x.to(device), y.to(device)]
    (joined,) = call("concatenate", inputs, [[2, 5]], [torch.int64], "{axis = 1 : i64}")
    assert torch.equal(joined.cpu(), torch.cat([x, y], 1))


def test_strings_and_errors(fresh):
    code = """
    import torch, torch_xla
    device = torch_xla.device()
    def call(x, config):
        return torch_xla._XLAC._xla_custom_call([x], "fail", [[2]], [torch.float32], False, config, 4, {})[0]
    print(call(torch.ones(2, device=device), '{message = "no"}').cpu().tolist())
    try:
        call(-torch.ones(2, device=device), '{message = "a negative number"}').cpu()
    except RuntimeError as error:
        print("fail" in str(error) and "a negative number" in str(error))
    try:
        call(torch.zeros(2, device=device), '{massage = "no"}').cpu()
    except RuntimeError as error:
        print("massage" in str(error))
    """
    assert fresh(code, **same_way()).splitlines() == ["[1.0, 1.0]", "True", "True"]


def test_unknown_targets_are_named(fresh):
    code = """
    import torch, torch_xla
    x = torch.ones(2, device=torch_xla.device())
    try:
        torch_xla._XLAC._xla_custom_call([x], "no_such_op", [[2]], [torch.float32], False, "", 4, {})[0].cpu()
    except RuntimeError as error:
        print("no_such_op" in str(error))
    """
    assert fresh(code, **same_way()) == "True"
