"""Processes of Python that tests start: what they print, and how they end."""

import os
import subprocess
import sys
import textwrap


def run(code: str, *arguments: object, expected: int = 0, **variables: str) -> str:
    """What a process prints; it ends as expected."""
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    done = subprocess.run(
        command, env={**os.environ, **variables}, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == expected, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout.strip()
