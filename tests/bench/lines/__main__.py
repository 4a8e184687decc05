"""Counts the lines of each system, after it did what it claims.

``python -m bench.lines LIBRARY TORCH TRITON ABOUT OUTPUT``: `LIBRARY` is the built crate of `oxcall`, `TORCH` the
Python that has PyTorch, `TRITON` a folder into which Triton is installed, `ABOUT` a JSON object to store along, and
`OUTPUT` a path without suffix.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import jax

from bench.lines import report

HERE = pathlib.Path(__file__).parent
SECTION = re.compile(r"^\s*(?:#|//) --- (\w+)$")
DOCSTRING = re.compile(r'"""(?:.|\n)*?"""')
OPERATORS = {
    "oxcall": "rms_norm::rms_norm",
    "torch_cpp": "lines_cpp::rms_norm",
    "triton_torch": "lines_triton::rms_norm",
}


def main() -> None:
    """Prints and stores the number of lines of each part."""
    library, torch, triton, about, output = sys.argv[1:]
    subprocess.run(
        [torch, "-m", "pip", "install", "-q", "--no-deps", "--target", triton, "--upgrade", "triton"], check=True
    )
    os.environ["PYTHONPATH"] = os.pathsep.join((os.environ["PYTHONPATH"], triton))
    checked = {system: check(system, library, torch) for system in report.SYSTEMS}
    lines = {system: count(HERE / system) for system in report.SYSTEMS}
    for system, parts in lines.items():
        print(f"{system:14} {sum(parts.values()):4} lines: {parts}; {checked[system]}", flush=True)
    about = {
        **json.loads(about),
        "jax": jax.__version__,
        "torch": text([torch, "-c", "import torch; print(torch.__version__)"]),
    }
    files = {system: sorted(path.name for path in sources(HERE / system)) for system in report.SYSTEMS}
    report.write(pathlib.Path(output), {"about": about, "lines": lines, "files": files, "checked": checked})


def sources(folder: pathlib.Path) -> list[pathlib.Path]:
    """What a user writes."""
    return [path for path in folder.rglob("*") if path.suffix in (".rs", ".py", ".cc", ".toml", ".txt")]


def count(folder: pathlib.Path) -> dict[str, int]:
    """The lines of each section that are neither blank nor comments."""
    found: dict[str, int] = {}
    for path in sources(folder):
        section = "forward"
        for line in DOCSTRING.sub("", path.read_text(encoding="utf-8")).splitlines():
            if marked := SECTION.match(line):
                section = marked[1]
            elif line.strip() and not line.strip().startswith(("#  ", "# ", "//")):
                found[section] = found.get(section, 0) + 1
    return found


def check(system: str, library: str, torch: str) -> str:
    """Builds a system and runs what it claims: what that printed."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copy(HERE / system / "rms_norm.py", folder)
        source = HERE / system / "rms_norm.cc"
        if system == "oxcall":
            shutil.copy(library, folder / "librms_norm.so")
        elif system == "jax_cpp":
            compile_cc(source, folder, "-std=c++17", [jax.ffi.include_dir()], [])
        elif system == "torch_cpp":
            package = pathlib.Path(text([torch, "-c", "import torch; print(torch.__path__[0])"]))
            headers = [package / "include", package / "include/torch/csrc/api/include"]
            compile_cc(
                source, folder, "-std=c++20", headers, [f"-L{package / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10"]
            )
        outcomes = []
        if system in ("oxcall", "jax_cpp"):
            outcomes.append("JAX: " + text([sys.executable, str(HERE / "check_jax.py"), name]))
        if system in OPERATORS:
            outcomes.append("PyTorch: " + text([torch, str(HERE / "check_torch.py"), name, OPERATORS[system]]))
        return "; ".join(outcomes)


def compile_cc(source: pathlib.Path, folder: pathlib.Path, standard: str, headers: list, libraries: list[str]) -> None:
    command = [os.environ.get("CXX", "g++"), "-O3", "-shared", "-fPIC", standard, *(f"-I{path}" for path in headers)]
    subprocess.run([*command, str(source), "-o", str(folder / "librms_norm.so"), *libraries], check=True)


def text(command: list[str]) -> str:
    environment = {**os.environ, "TRITON_INTERPRET": "1"}  # Triton on the CPU
    return (
        subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        .stdout.strip()
        .splitlines()[-1]
    )


if __name__ == "__main__":
    main()
