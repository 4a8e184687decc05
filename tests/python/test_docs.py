"""The documentation's Python snippets, run as they are printed."""

import re
import sys
import types

import documents
import jax
import jax.numpy as jnp
import pytest

import oxcall

# The last lines of a snippet that fails: `# CallError: the beginning of its message`.
RAISES = re.compile(r"^# (?:\w+\.)*(\w+): (.+)\Z", re.MULTILINE)


def run(snippet, namespace):
    expected = RAISES.search(snippet.rstrip())
    if expected is None:
        exec(snippet, namespace)
        return
    with pytest.raises(Exception) as raised:
        exec(snippet, namespace)
    assert type(raised.value).__name__ == expected[1]
    assert expected[2] in str(raised.value)


def test_pages():
    """A page that has snippets is found, whichever test runs them."""
    pages = {page for kind in ("jax", "torch", "plugin") for page in documents.pages(kind)}
    assert {"README.md", "docs/guide/06-jax.md", "docs/guide/17-torch.md", "docs/coming-from/numba.md"} <= pages
    for page, test in documents.ELSEWHERE.items():
        assert documents.snippets(page) and page.rsplit("/", 1)[1] in (documents.ROOT / test).read_text()


@pytest.mark.parametrize("page", [page for page in documents.pages("jax") if "07-errors" not in page])
def test_snippets(page, library_path, monkeypatch):
    path = library_path(documents.library(page))
    # What a page leaves to others: imports, operands, and the module that a wheel has.
    ops = oxcall.load(path)
    monkeypatch.setitem(sys.modules, "my_ops", types.SimpleNamespace(**{name: ops[name] for name in ops}))
    namespace = {"jax": jax, "jnp": jnp, "oxcall": oxcall, "ops": ops, "x": jnp.ones((2, 3))}
    for snippet in documents.snippets(page):
        if documents.host(snippet) == "jax":
            run(documents.with_library(snippet, path), namespace)


def test_a_file_that_is_not_complete(library_path, tmp_path, capsys):
    (snippet,) = documents.snippets("docs/guide/07-errors.md")
    content = library_path("custom_ops").read_bytes()
    part = tmp_path / "libmy_ops.so"
    part.write_bytes(content[: len(content) // 2])
    exec(documents.with_library(snippet, part), {"oxcall": oxcall})
    shown = " ".join(line[2:] for line in snippet.splitlines() if line.startswith("# ")).removeprefix("...")
    printed = capsys.readouterr().out.strip()
    assert re.sub(r"\d+", "N", printed.removeprefix(str(tmp_path))) == re.sub(r"\d+", "N", shown)
