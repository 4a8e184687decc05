"""The Python snippets of the documentation: where they are, and with what they run."""

import pathlib
import re

ROOT = pathlib.Path(__file__).parents[1]
# A block that does not run is marked as such: ```python,ignore
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LIBRARY = re.compile(r'"(?:target/release/)?lib\w+\.so"')
# Pages whose snippets run in processes of their own, and the tests that run them.
ELSEWHERE = {
    "docs/guide/19-plugin.md": "tests/plugin/test_guide.py",
    "docs/guide/20-several-devices.md": "tests/plugin/test_guide.py",
    "docs/guide/21-callbacks-memories-sharing.md": "tests/plugin/test_guide.py",
    "docs/guide/25-several-machines.md": "tests/python/test_several_processes.py",
    "docs/guide/28-tutorial.md": "tests/python/test_tutorial.py",
}


def snippets(page):
    """The snippets of a page that run."""
    return BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))


def host(snippet):
    """What a snippet needs: `jax`, `torch` or `plugin`."""
    if re.search(r"\btorch\b", snippet):
        return "torch"
    return "plugin" if 'jax.devices("oxcall")' in snippet else "jax"


def pages(kind):
    """The pages that have snippets for a host, without those of ELSEWHERE."""
    files = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    names = [file.relative_to(ROOT).as_posix() for file in files]
    return [name for name in names if name not in ELSEWHERE and any(host(text) == kind for text in snippets(name))]


def library(page):
    """The crate that stands for the library of a page."""
    return "documented_ops" if page.startswith("docs/coming-from/") else "custom_ops"


def with_library(snippet, path):
    """The snippet with the path of a library in the place of the reader's."""
    return LIBRARY.sub(repr(str(path)), snippet)
