"""The tests of a project that `oxcall new --torch` makes, on the gallery's op of the same name."""

import os
import subprocess
import sys

from oxcall._new import new


def test_the_tests_of_a_new_project(library_path, tmp_path):
    new(str(tmp_path / "their_ops"), "torch")
    # What its wheel has.
    modules = tmp_path / "modules"
    modules.mkdir()
    library = str(library_path("custom_ops"))
    (modules / "their_ops.py").write_text(f"import oxcall\n\nrms_norm = oxcall.load({library!r}).rms_norm\n")
    paths = os.pathsep.join(filter(None, (str(modules), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "tests"], cwd=tmp_path / "their_ops",
        env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0 and "7 passed" in done.stdout, done.stdout + done.stderr
