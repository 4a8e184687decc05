"""The snippets of the README and of the chapters on the plugin, each in a process of its own, as it is printed."""

import re

import documents
import pytest


def snippets(chapter):
    return documents.snippets(f"docs/guide/{chapter}")


SNIPPETS = [
    *snippets("19-plugin.md"),
    *snippets("21-callbacks-memories-sharing.md"),
    *(text for text in documents.snippets("README.md") if documents.host(text) == "plugin"),
]

# What the chapter has said before, or leaves to the reader.
BEFORE = """
import sys

def check(value, expected):
    assert str(value) == expected, f"{value} is not {expected}"

def capsule_of(path):
    from oxcall import _jax, _library
    native, ops = _library.read(path)
    return _jax.capsule(native.handlers[ops[0].index].execute)
"""
JAX = "import jax, jax.numpy as jnp"
# `expression  # what it is`
SHOWN = re.compile(r"^( *)([^#\n]+?)  # ([^\n]+)$", re.MULTILINE)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: snippet.strip().splitlines()[-1].strip())
def test_snippet(fresh, library_path, snippet):
    code = SHOWN.sub(lambda shown: f"{shown[1]}check({shown[2]}, {shown[3]!r})", snippet)
    for name, library in (("my_ops", "custom_ops"), ("my_plugin", "own_plugin")):
        code = code.replace(f'"target/release/lib{name}.so"', repr(str(library_path(library))))
    if "capsule" in code:
        code = f"capsule = capsule_of({str(library_path('custom_ops'))!r})\n{code}"
    # The chapter's options come before JAX; what comes after its first snippet has imported it.
    head = "" if "configure" in code else JAX
    fresh(f"{BEFORE}\n{head}\n{code}\nimport jax\nassert jax.devices('oxcall')")


def test_several_devices(fresh):
    # The later ones use what the first imports.
    code = "\n".join(snippets("20-several-devices.md"))
    code = SHOWN.sub(lambda shown: f"{shown[1]}check({shown[2]}, {shown[3]!r})", code)
    fresh(f"{BEFORE}\n{code}", OXCALL_NUM_DEVICES="4", JAX_PLATFORMS="oxcall,cpu")


def test_the_chapter_has_them():
    assert len(SNIPPETS) >= 8
