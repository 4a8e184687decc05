"""The guide's tutorial (28-tutorial.md), followed from its first line to its last."""

import importlib.util
import os
import re
import subprocess
import sys
import zipfile

import documents
import pytest

from oxcall._cli import main

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TARGET = documents.ROOT / "target" / "xtask" / "wheel"

needs_hatchling = pytest.mark.skipif(importlib.util.find_spec("hatchling") is None, reason="hatchling is not installed")


class Reader:
    """Someone who types what the tutorial says, in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.project = folder / "soft-ops"
        self.code = self.tests = ""
        self.python = []
        self.builds = 0
        self.environment = {
            **os.environ,
            "CARGO_TARGET_DIR": str(TARGET),
            "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
            "JAX_PLATFORMS": "cpu",
        }
        self.environment.pop("PYTHONPATH", None)

    def run(self, *command, succeeds=True, **variables):
        done = subprocess.run(
            [*map(str, command)], cwd=self.project, env={**self.environment, **variables},
            capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        output = done.stdout + done.stderr
        assert (done.returncode == 0) == succeeds, output
        return output

    def block(self, language, text):
        if language == "rust":
            if text.startswith("#[cfg(test)]"):
                self.tests = text
            else:
                self.code = text
            (self.project / "src" / "lib.rs").write_text(f"{self.code}\n{self.tests}")
        elif language == "python":
            self.python.append(text)
        elif language == "sh":
            for line in text.splitlines():
                self.command(line)

    def command(self, line):
        packages = "python/oxcall/src"
        if line.startswith("oxcall new "):
            assert main(["new", str(self.project), "--oxcall", str(documents.ROOT)]) == 0
        elif line == "cargo test":
            # The tests come before what they ask for.
            ready = "vjp" in self.code
            output = self.run("cargo", "test", succeeds=ready)
            assert ready or "left: Some(inf)" in output
        elif line == "pip install -e '.[test]'" or line.startswith("oxcall build"):
            self.flush()
            self.builds += 1
            out = self.folder / f"out{self.builds}"
            path = str(documents.ROOT / packages)
            self.run(sys.executable, "-m", "oxcall", "build", "--out", out, PYTHONPATH=path)
            (wheel,) = out.iterdir()
            with zipfile.ZipFile(wheel) as files:
                files.extractall(out)
        else:
            assert line in ("python3 -m venv .venv && . .venv/bin/activate", "cd soft-ops") or line.startswith(
                "pip install '../oxcall/python/oxcall"
            ), f"the test does not know this command: {line}"

    def flush(self):
        """Runs the snippets since the last build, in one process."""
        if self.python:
            paths = [self.folder / f"out{self.builds}", documents.ROOT / "python/oxcall/src"]
            output = self.run(sys.executable, "-c", "\n".join(self.python), PYTHONPATH=os.pathsep.join(map(str, paths)))
            self.python = []
            return output
        return ""


@needs_hatchling
def test_tutorial(tmp_path):
    reader = Reader(tmp_path)
    text = (documents.ROOT / "docs/guide/28-tutorial.md").read_text(encoding="utf-8")
    for language, block in BLOCK.findall(text):
        reader.block(language, block)
    assert reader.builds == 3 and not reader.python
