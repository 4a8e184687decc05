"""Results whose size the device computes: `nonzero`, `masked_select` and `masked_scatter`, which have bounded dynamic
shapes where `XLA_EXPERIMENTAL` names them. Then what is done with them, in the same program and in a later one.
"""

import os

import pytest

HEAD = """
import torch, torch_xla
import torch_xla.debug.metrics as metrics
device = torch_xla.device()

def mixed(*dims):
    return torch.arange(float(torch.Size(dims).numel())).reshape(dims).sub(3) % 4

INPUTS = {
    "vector": mixed(7),
    "matrix": mixed(3, 5),
    "cube": mixed(2, 3, 2),
    "none set": torch.zeros(2, 3),
    "all set": torch.ones(3, 2),
    "one element": torch.full((1,), 2.0),
}

def select(x):
    return x.masked_select(x > 1)

def check(name, function, later=lambda value: value):
    '''`later` in the program of `function`, and in one that takes the value that `function` gives.'''
    for kind, x in INPUTS.items():
        try:
            right = later(function(x))
        except (IndexError, RuntimeError):
            continue  # torch itself has no such thing
        got = later(function(x.to(device)))
        value = function(x.to(device))
        torch_xla.sync()
        again = later(value)
        for where, result in (("at once", got), ("later", again)):
            try:
                torch.testing.assert_close(result.cpu(), right.to(result.dtype), equal_nan=True, check_stride=False)
            except Exception as error:
                raise AssertionError(f"{name} of {kind}, {where}: {error}") from error
    # Otherwise torch_xla asks the CPU.
    fallbacks = [each for each in metrics.counter_names() if each.startswith("aten::")]
    assert not fallbacks, (name, fallbacks)
    metrics.clear_all()
"""

ENDINGS = {
    "itself": "lambda v: v",
    "add": "lambda v: v + 1",
    "product": "lambda v: v * v",
    "sum": "lambda v: v.sum()",
    "mean": "lambda v: v.float().mean()",
    "columns": "lambda v: v.sum(0)",
    "type": "lambda v: v.to(torch.int32)",
    "comparison": "lambda v: (v > 1).sum()",
}


@pytest.fixture
def run(fresh):
    """Runs code with all of the experiments, in the format of this process."""

    def run(code):
        return fresh(
            HEAD + code + "\nprint('ok')",
            PJRT_DEVICE="LIBRARY",
            PJRT_LIBRARY_PATH=os.environ["PJRT_LIBRARY_PATH"],
            XLA_EXPERIMENTAL="nonzero:masked_select:masked_scatter",
            XLA_STABLEHLO_COMPILE=os.environ.get("XLA_STABLEHLO_COMPILE"),
        )

    return run


def checks(function, endings):
    return "\n".join(f"check({name!r}, {function}, {later})" for name, later in endings.items())


def test_nonzero(run):
    endings = ENDINGS | {
        "transposed": "lambda v: v.t()",
        "rows": "lambda v: v.sum(1)",
        "matmul": "lambda v: v.float() @ torch.ones(v.shape[1], 3, device=v.device)",
        "inner": "lambda v: v.float().t() @ v.float()",
    }
    assert run(checks("lambda x: x.nonzero()", endings)) == "ok"


def test_masked_select(run):
    endings = ENDINGS | {
        "column": "lambda v: v.unsqueeze(1)",
        "row": "lambda v: v.unsqueeze(0) * 2",
        "softmax": "lambda v: v.softmax(0)",
        "running": "lambda v: v.cumsum(0)",
        "joined": "lambda v: torch.cat([v, v])",
    }
    assert run(checks("select", endings)) == "ok"


def test_masked_scatter(run):
    code = """
check("masked_scatter", lambda x: x.masked_scatter(x > 1, torch.ones_like(x).cumsum(0)))
check("selected", lambda x: x.masked_scatter(x > 1, x.masked_select(x > 1) * 10))
"""
    assert run(code) == "ok"


def test_indexing(run):
    code = """
check("mask", lambda x: x[x > 1])
check("mask of rows", lambda x: x[(x > 1).reshape(x.shape[0], -1).any(1)])
check("nonzero", lambda x: x.flatten()[x.flatten().nonzero().squeeze(1)])
check("assignment", lambda x: x.index_put((x > 1,), torch.tensor(7.0, device=x.device)))
"""
    assert run(code) == "ok"


def test_sizes(run):
    """torch asks for the size of a result, which is there when the result is."""
    code = """
for kind, x in INPUTS.items():
    got, right = x.to(device).nonzero(), x.nonzero()
    assert int(got.shape[0]) == right.shape[0], kind
    assert got.cpu().shape == right.shape, kind
"""
    assert run(code) == "ok"
