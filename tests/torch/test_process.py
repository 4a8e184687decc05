"""Orders of loading and importing, each in a process of its own."""

import os
import subprocess
import sys

import pytest

USE = "assert torch.ops.custom_op.async_scale(torch.ones(2)).tolist() == [2, 2]\n"
GRADIENT = """
x = torch.ones(2, 3, requires_grad=True)
torch.ops.custom_op.rms_norm(x).square().sum().backward()
assert x.grad is not None
"""


def run(code, **variables):
    """Runs Python code in a new process; it must succeed and be silent."""
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning:oxcall", "-c", code],
        env={**os.environ, **variables}, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def library(library_path):
    return str(library_path("custom_ops"))


def test_torch_alone(library):
    """Without the oxcall package, derivatives included."""
    run(f"import sys, torch; torch.ops.load_library({library!r})\n{USE}{GRADIENT}assert 'oxcall' not in sys.modules")


def test_torch_first(library):
    run(f"import torch, oxcall; oxcall.load({library!r})\n{USE}{GRADIENT}")


def test_torch_last(library):
    run(f"""
import oxcall, sys
ops = oxcall.load({library!r})
assert "torch" not in sys.modules
import torch
{USE}{GRADIENT}
assert ops.async_scale.torch is torch.ops.custom_op.async_scale
""")


def test_ops_have_operators_before_anyone_asks(library):
    """`torch.compile` could not look for them."""
    run(
        f"import oxcall\nop = oxcall.load({library!r}).rms_norm\nassert 'torch' not in vars(op)\nimport torch\n"
        "assert vars(op)['torch'] is torch.ops.custom_op.rms_norm"
    )


def test_copies(library):
    """Modules that hold ops are copied, and saved by the path of the library."""
    run(f"""
import copy, oxcall, pickle, torch
op = oxcall.load({library!r}).rms_norm
assert copy.deepcopy({{"norm": op}})["norm"] is op and pickle.loads(pickle.dumps(op)) is op
""")


def test_torch_when_it_is_needed(library):
    run(f"import oxcall\nop = oxcall.load({library!r}).async_scale.torch\nimport torch\n{USE}")


def test_loading_twice(library):
    run(f"""
import torch, oxcall
torch.ops.load_library({library!r})
ops = oxcall.load({library!r})
assert oxcall.load({library!r}) is ops
torch.ops.load_library({library!r})
{USE}{GRADIENT}
""")


def test_loaded_by_another_before_torch(library):
    run(f"""
import ctypes
ctypes.CDLL({library!r})
import torch, oxcall
oxcall.load({library!r})
{USE}{GRADIENT}
""")


def test_gradients_in_what_is_compiled_first(library):
    """torch forgets derivatives that are registered after an operator was compiled."""
    run(f"""
import torch
torch.ops.load_library({library!r})
torch.compile(torch.ops.custom_op.rms_norm, backend="aot_eager")(torch.ones(2, 3))
{GRADIENT}
""")


def test_loaded_by_another_thread(library):
    run(f"""
import threading, torch, oxcall
thread = threading.Thread(target=oxcall.load, args=({library!r},))
thread.start()
thread.join()
{USE}{GRADIENT}
""")


def test_without_torch(library):
    run(f"""
import sys
sys.modules["torch"] = None
import ctypes, oxcall
ctypes.CDLL({library!r})
try:
    oxcall.load({library!r})
except oxcall.LoadError as error:
    assert "needs JAX or PyTorch" in str(error), error
else:
    raise AssertionError
""")


def test_ops_are_no_jax_functions_without_jax(library):
    run(f"""
import oxcall
ops = oxcall.load({library!r})
assert "rms_norm" in ops and "eps" in str(ops.rms_norm)
try:
    ops.rms_norm(1)
except oxcall.CallError as error:
    assert "`ops.rms_norm.torch(...)`" in str(error), error
else:
    raise AssertionError
""")


def test_importing_imports_nothing():
    run("import sys, oxcall; assert not {'torch', 'numpy', 'jax'} & set(sys.modules)")


def test_an_import_of_torch_that_fails(library, tmp_path):
    """It is watched again, and the failure is torch's own."""
    package = tmp_path / "torch"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('broken on purpose')")
    run(f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import oxcall
oxcall.load({library!r})
try:
    import torch
except ImportError as error:
    assert "on purpose" in str(error)
sys.path.pop(0)
import torch
{USE}
""")


def test_forks(library):
    """Data loaders fork. The threads of the parent are not in the child, which starts its own."""
    run(f"""
import os, torch
torch.ops.load_library({library!r})
ops, x = torch.ops.custom_op, torch.ones(2, 3)
y = ops.rms_norm(x)

def works():
    return torch.equal(ops.rms_norm(x), y) and torch.equal(ops.async_scale(x), 2 * x)

def forked(inner=lambda: True):
    if (child := os.fork()) == 0:
        os._exit(7 if works() and inner() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7

assert forked()
assert works()
# Now the parent has threads of its own, and so has the child that forks again.
assert forked(forked)
assert works()
""")


@pytest.mark.parametrize("before", ["", "import torch; "])
def test_the_command_line_shows_schemas(library, before):
    shown = run(f"{before}import oxcall._cli; oxcall._cli.main(['ops', {library!r}])")
    assert "torch.ops.custom_op.rms_norm(Tensor x, float eps=1e-5) -> Tensor" in shown
    assert "torch.ops.custom_op.axpy.float(float alpha, Tensor x, Tensor(a!) y) -> ()" in shown
    assert "polynomial: none, because it takes attributes of any name" in shown
