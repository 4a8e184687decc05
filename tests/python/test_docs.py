"""The guide's Python snippets, run as they are printed, with the gallery as the library."""

import pathlib
import re

import pytest

GUIDE = pathlib.Path(__file__).parents[2] / "docs/guide"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LIBRARY = re.compile(r'"target/release/lib\w+\.so"')
# The last line of a snippet that fails: `# CallError: the beginning of its message`.
RAISES = re.compile(r"^# (\w+): (.+)\Z", re.MULTILINE)


def run(snippet, namespace):
    expected = RAISES.search(snippet.rstrip())
    if expected is None:
        exec(snippet, namespace)
        return
    with pytest.raises(Exception) as raised:
        exec(snippet, namespace)
    assert type(raised.value).__name__ == expected[1]
    assert expected[2] in str(raised.value)


@pytest.mark.parametrize("chapter", ["01-getting-started.md", "06-jax.md", "08-testing.md"])
def test_snippets(chapter, library_path):
    gallery = library_path("custom_ops")
    snippets = BLOCK.findall((GUIDE / chapter).read_text(encoding="utf-8"))
    assert snippets
    namespace = {}
    for snippet in snippets:
        run(LIBRARY.sub(repr(str(gallery)), snippet), namespace)
