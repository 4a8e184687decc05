"""Fetches a library's source distribution with pip, and runs its files of tests, each in a process of its own."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree as ElementTree

from downstream.libraries import Library

MODES = {
    "stock": {"JAX_PLATFORMS": "cpu"},
    "plugin": {"JAX_PLATFORMS": "cpu", "OXCALL_PLATFORM_NAME": "cpu"},
}

Outcomes = dict[str, str]
"""What became of each test: `passed`, `skipped`, or why it failed."""


@dataclasses.dataclass
class Comparison:
    """The tests of one library, or of one of its files."""

    passed: int = 0
    """On the plugin."""
    missed: dict[str, str] = dataclasses.field(default_factory=dict)
    """Those that pass on stock JAX alone, with what they said on the plugin."""

    def add(self, other: Comparison) -> None:
        """Counts the tests of another file, too."""
        self.passed += other.passed
        self.missed |= other.missed


def source(library: Library, folder: pathlib.Path) -> pathlib.Path:
    """The library's source distribution, unpacked below `folder`; fetched if it is not there yet."""
    stem = f"{library.name.replace('-', '_')}-{library.version}"
    if not (folder / stem).exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--no-binary", library.name, "--dest", str(folder), f"{library.name}=={library.version}"]
        subprocess.run(command, check=True)
        with tarfile.open(folder / f"{stem}.tar.gz") as archive:
            archive.extractall(folder, filter="data")
    return folder / stem


def files(library: Library, root: pathlib.Path) -> list[str]:
    """The library's files of tests, as paths below `root`."""
    found = (str(path.relative_to(root)) for path in root.glob(library.tests))
    return sorted(path for path in found if not path.startswith(library.without))


def compare(root: pathlib.Path, file: str, timeout: float) -> Comparison:
    """Runs a file on the plugin and, if not all of it passes there, on stock JAX."""
    ours = _run(root, file, "plugin", timeout)
    passed = sum(outcome == "passed" for outcome in ours.values())
    bad = {test: outcome for test, outcome in ours.items() if outcome not in ("passed", "skipped")}
    if not bad:
        return Comparison(passed)
    stock = _run(root, file, "stock", timeout)
    # A file that cannot be read, or that ended the process, has no tests of its own.
    if file in bad:
        bad = {test: bad[file] for test, outcome in stock.items() if outcome == "passed"} or bad
    missed = {f"{file}: {test}": text for test, text in bad.items() if stock.get(test) == "passed"}
    return Comparison(passed, missed)


def _run(root: pathlib.Path, file: str, mode: str, timeout: float) -> Outcomes:
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore"]
        command += [f"--junit-xml={report}", file]
        environment = {**os.environ, **MODES[mode]}
        try:
            done = subprocess.run(
                command, cwd=root, env=environment, capture_output=True, text=True, timeout=timeout, check=False
            )
            text = (done.stdout + done.stderr)[-500:]
        except subprocess.TimeoutExpired:
            text = f"no end after {timeout:.0f} s"
        if not report.exists():
            return {file: text}
        cases = list(ElementTree.parse(report).iter("testcase"))
        if any(case.get("classname") == "" for case in cases):
            return {file: text}
        return {f"{case.get('classname')}.{case.get('name')}": _outcome(case) for case in cases}


def _outcome(case: ElementTree.Element) -> str:
    for child in case:
        if child.tag in ("failure", "error"):
            return child.get("message") or child.tag
        if child.tag == "skipped":
            return "skipped"
    return "passed"
