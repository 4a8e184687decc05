"""Two libraries with operators of the same names: torch has one of each."""

import shutil

import pytest

from test_process import run

CALL = "assert torch.ops.derived_ops.double(torch.ones(2)).tolist() == [2, 2]\n"
REFUSED = """
except (RuntimeError, OSError) as error:
    # torch has put an error of its own around it since 2.13.
    message = f"{error} {error.__cause__}"
    for part in (first, second, "`derived_ops::cube`", "`derived_ops::double`", "oxcall::namespace!"):
        assert part in message, (part, message)
else:
    raise AssertionError("the second library was taken")
"""


@pytest.fixture
def libraries(library_path, tmp_path):
    """The same operators in two libraries that differ, as assignments."""
    first = library_path("derived_ops").resolve()
    second = tmp_path / "libother_ops.so"
    second.write_bytes(first.read_bytes() + b"\0")
    return f"first, second = {str(first)!r}, {str(second)!r}\n"


@pytest.mark.parametrize("load_first", ["torch.ops.load_library", "oxcall.load"])
@pytest.mark.parametrize("load_second", ["torch.ops.load_library", "oxcall.load"])
def test_another_library_is_refused(libraries, load_first, load_second):
    run(f"""
import torch, oxcall
{libraries}
{load_first}(first)
{CALL}
try:
    {load_second}(second)
{REFUSED}
{CALL}
""")


def test_by_the_class_of_the_package(libraries):
    run(f"""
import torch, oxcall
{libraries}
oxcall.load(first)
try:
    oxcall.load(second)
except oxcall.LoadError as error:
    assert first in str(error) and second in str(error)
else:
    raise AssertionError
""")


def test_libraries_that_are_there_before_torch(libraries):
    """An import does not fail for their sake."""
    run(f"""
import oxcall, warnings
{libraries}
oxcall.load(first), oxcall.load(second)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import torch
messages = [str(warning.message) for warning in caught if warning.category is oxcall.OxcallWarning]
assert len(messages) == 1 and first in messages[0] and second in messages[0], messages
{CALL}
""")


def test_libraries_with_other_operators_are_all_there(library_path):
    run(f"""
import oxcall
for name in ("derived_ops", "custom_ops", "test_ops"):
    oxcall.load({str(library_path("derived_ops"))!r}.replace("derived_ops", name))
import torch
{CALL}
assert torch.ops.custom_op.async_scale(torch.ones(2)).tolist() == [2, 2]
assert torch.ops.test_ops.cos(torch.zeros(1)).tolist() == [1]
""")


def test_a_copy_is_the_same_library(library_path, tmp_path):
    first = library_path("derived_ops")
    copy = shutil.copy(first, tmp_path / "libcopied.so")
    run(f"""
import torch, oxcall
for load in (torch.ops.load_library, oxcall.load):
    for path in ({str(first)!r}, {str(copy)!r}):
        load(path)
{CALL}
""")


def test_a_reloaded_library_keeps_its_operators(library_path, tmp_path):
    path = shutil.copy(library_path("derived_ops"), tmp_path / "libreloaded.so")
    run(f"""
import torch, oxcall, os, shutil, warnings
path = {str(path)!r}
oxcall.load(path)
shutil.copy(path, path + ".new")
open(path + ".new", "ab").write(b"0")
os.replace(path + ".new", path)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    library = oxcall.load(path)
{CALL}
try:
    library.double.torch
except oxcall.LoadError:
    pass
else:
    raise AssertionError("the operator is that of the first build")
""")
