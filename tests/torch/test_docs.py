"""The documentation's snippets for PyTorch, run as they are printed."""

import re
import sys
import types

import documents
import pytest
import torch

import oxcall

RAISES = re.compile(r"^# (\w+): (.+)\Z", re.MULTILINE)


@pytest.mark.parametrize("page", documents.pages("torch"))
def test_snippets(page, library_path, monkeypatch):
    path = library_path(documents.library(page))
    ops = oxcall.load(path)
    # What a page leaves to others: operands, and the module that a wheel has.
    monkeypatch.setitem(sys.modules, "my_ops", types.SimpleNamespace(**{name: ops[name] for name in ops}))
    namespace = {"torch": torch, "t": torch.ones(2, 3)}
    for snippet in documents.snippets(page):
        if documents.host(snippet) != "torch":
            continue
        code = documents.with_library(snippet, path)
        if documents.library(page) == "custom_ops":
            code = code.replace("torch.ops.my_ops.", "torch.ops.custom_op.")
        expected = RAISES.search(code.rstrip())
        if expected is None:
            exec(code, namespace)
            continue
        with pytest.raises(Exception, match=re.escape(expected[2])) as raised:
            exec(code, namespace)
        assert type(raised.value).__name__ == expected[1]
