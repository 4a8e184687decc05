"""`oxcall new`: a project of ops, from the templates in this package."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import keyword
import os
import pathlib
import re
import shlex
import sys
import urllib.parse
from collections.abc import Mapping
from importlib import metadata, resources

from oxcall._errors import BuildError, listing

# Files of a checkout of oxcall.
_CHECKOUT = ("ffi/Cargo.toml", "python/oxcall/pyproject.toml")
# The names that the templates have.
_PROJECT, _MODULE = "my-ops", "my_ops"
# What else the templates have that is replaced in every project.
_DEPENDENCY, _TEST, _ABOUT = 'oxcall = "0.1"', 'test = ["jax", ', "ABOUT\n"
_FILES = {
    # Not under its own name: cargo and others look for crates by it.
    "Cargo.toml": "project/crate.toml",
    "pyproject.toml": "project/pyproject.toml",
    "README.md": "project/README.md",
    ".gitignore": "project/gitignore",
    ".github/workflows/ci.yml": "project/ci.yml",
}
# Of Rust, beside those of Python; and crates that a crate cannot hide.
_RUST = (
    "abstract", "alloc", "become", "box", "const", "core", "crate", "do", "dyn", "extern", "false", "final",
    "fn", "gen", "impl", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "oxcall", "priv",
    "proc_macro", "pub", "ref", "self", "static", "std", "super", "test", "trait", "true", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where",
)  # fmt: skip
# Namespaces of PyTorch's own operators: a library's namespace there is the crate's name.
_TORCH = ("aten", "prim", "prims")


@dataclasses.dataclass(frozen=True)
class _Kind:
    """A kind of project.

    Attributes:
        crate: the template of its src/lib.rs.
        tests: the template of its tests.
        framework: the package that its tests need.
        framework_name: the framework in prose.
        example: lines of Python that call the op.
        more: further files, and their templates.
        features: features of the crate `oxcall`.
        about: what its README says besides.
    """

    crate: str
    tests: str
    framework: str
    framework_name: str
    example: str
    more: Mapping[str, str] = dataclasses.field(default_factory=dict)
    features: tuple[str, ...] = ()
    about: str = ""


_JAX_EXAMPLE = """\
import jax
import jax.numpy as jnp
import my_ops

x = jnp.ones((4, 8))
"""
KINDS = {
    "jax": _Kind(
        "rms_norm.rs", "rms_norm_jax.py", "jax", "JAX",
        _JAX_EXAMPLE + "jax.jit(my_ops.rms_norm)(x)\njax.grad(lambda x: my_ops.rms_norm(x, eps=1e-3).sum())(x)",
    ),
    "pointwise": _Kind(
        "softplus.rs", "softplus_jax.py", "jax", "JAX",
        _JAX_EXAMPLE + "jax.jit(my_ops.softplus)(x)\njax.grad(lambda x: my_ops.softplus(x, beta=2.0).sum())(x)",
    ),
    "stateful": _Kind(
        "smooth.rs", "smooth_jax.py", "jax", "JAX",
        _JAX_EXAMPLE + "my_ops.smooth(x, taps=3)\njax.grad(lambda x: my_ops.smooth(x, taps=3).sum())(x)",
    ),
    "cuda": _Kind(
        "cuda/lib.rs", "log_softmax_jax.py", "jax", "JAX",
        _JAX_EXAMPLE + "jax.jit(my_ops.log_softmax)(x)\njax.grad(lambda x: (my_ops.log_softmax(x) ** 2).sum())(x)",
        more={"src/cuda.rs": "cuda/cuda.rs", "src/kernels.cu": "cuda/kernels.cu"},
        features=("cuda",),
        about="\nThe same calls run on GPUs of NVIDIA, by the kernels in `src/kernels.cu` and their functions in "
        "`src/cuda.rs`. Building\nthem needs neither a GPU nor a CUDA toolkit; running them needs "
        "`pip install 'jax[cuda12]'`.\n",
    ),
    "torch": _Kind(
        "rms_norm.rs", "rms_norm_torch.py", "torch", "PyTorch",
        "import my_ops\nimport torch\n\nx = torch.ones(4, 8, requires_grad=True)\n"
        "my_ops.rms_norm.torch(x, eps=1e-3).sum().backward()",
    ),
}  # fmt: skip


def new(path: str, kind: str = "jax", checkout: str | None = None) -> list[str]:
    """Makes a project, and gives the paths of its files.

    Args:
        path: its folder, whose name becomes the project's.
        kind: one of `KINDS`.
        checkout: the folder of oxcall's repository, in the place of published versions.

    Raises:
        BuildError: the name does not fit, the folder is there, or cannot be made.
    """
    name = os.path.basename(os.path.abspath(path))
    if os.path.lexists(path):
        raise BuildError(f"{path} exists: choose another name, or remove it")
    _check_name(name)
    texts = _texts(name, KINDS[kind], None if checkout is None else _checked(checkout))
    try:
        for file, text in texts.items():
            target = os.path.join(path, file)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "w", encoding="utf-8") as stream:
                stream.write(text)
    except OSError as error:
        raise BuildError(f"{path} cannot be written: {error.strerror}") from error
    return [os.path.join(path, file) for file in texts]


def _check_name(name: str) -> None:
    """Refuses what cannot be the name of a crate, of a project and, with `_` for `-`, of a module."""
    module = name.replace("-", "_")
    if not re.fullmatch(r"[a-z][a-z0-9]*([_-][a-z0-9]+)*", name):
        suggestion = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
        hint = f", such as `{suggestion}`" if re.match(r"[a-z]", suggestion) else ""
        raise BuildError(
            f"`{name}` is not a name for a crate and a Python package: use lower-case letters, digits, and single `_` "
            f"or `-` between them, beginning with a letter{hint}"
        )
    if keyword.iskeyword(module) or module in _RUST:
        raise BuildError(f"`{name}` is a word of Python or Rust, or a crate of Rust's own: use another name")
    if module in _TORCH:
        raise BuildError(f"`{name}` is a namespace of PyTorch's own operators: use another name")
    place = _module_place(module)
    if place is not None:
        raise BuildError(
            f"Python has a module `{module}` already ({place}), and one would hide the other: use another name, or "
            "uninstall that one"
        )


def _module_place(module: str) -> str | None:
    """Where an installed module of this name comes from."""
    if module in sys.stdlib_module_names:
        return "in its standard library"
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    # A folder without `__init__.py`, of any kind, has no origin.
    return None if spec is None else spec.origin


def _checked(checkout: str) -> str:
    """The full path of a checkout."""
    full = os.path.abspath(os.path.expanduser(checkout))
    missing = [file for file in _CHECKOUT if not _is_file(full, file)]
    if missing:
        raise BuildError(
            f"{checkout} is not a checkout of oxcall: it has no {listing(missing)}; give the folder of the repository"
        )
    return full


def _is_file(folder: str, file: str) -> bool:
    return os.path.isfile(os.path.join(folder, file))


def checkout_of_this_package() -> str | None:
    """The checkout that this package was installed from, where it was."""
    try:
        text = metadata.distribution("oxcall").read_text("direct_url.json")
        url = urllib.parse.urlsplit(json.loads(text or "{}").get("url", ""))
    except (metadata.PackageNotFoundError, ValueError):
        return None
    folder = os.path.dirname(os.path.dirname(urllib.parse.unquote(url.path)))
    return folder if url.scheme == "file" and all(_is_file(folder, file) for file in _CHECKOUT) else None


def _texts(name: str, kind: _Kind, checkout: str | None) -> dict[str, str]:
    templates = resources.files("oxcall") / "_templates"
    module = name.replace("-", "_")
    values = {
        _PROJECT: name,
        _MODULE: module,
        "EXAMPLE": kind.example.replace(_MODULE, module),
        "FRAMEWORK": kind.framework_name,
        _ABOUT: kind.about,
        _TEST: f'test = ["{kind.framework}", ',
        **({} if checkout is None else _of_checkout(checkout)),
        _DEPENDENCY: f"oxcall = {_dependency(kind.features, checkout)}",
    }
    # In one pass: values may have what is replaced. The longest comes first.
    pattern = "|".join(map(re.escape, sorted(values, key=len, reverse=True)))
    files = {**_FILES, **kind.more, "src/lib.rs": kind.crate, "tests/test_ops.py": kind.tests}
    texts = {file: templates.joinpath(template).read_text(encoding="utf-8") for file, template in files.items()}
    return {file: re.sub(pattern, lambda found: values[found[0]], text) for file, text in texts.items()}


def _dependency(features: tuple[str, ...], checkout: str | None) -> str:
    """What Cargo.toml says of the crate `oxcall`."""
    version = _DEPENDENCY.removeprefix("oxcall = ")
    if checkout is None and not features:
        return version
    source = f"version = {version}" if checkout is None else f"path = {_crate(checkout)}"
    more = f", features = {json.dumps(features)}" if features else ""
    return f"{{ {source}{more} }}"


def _crate(checkout: str) -> str:
    """The path of the crate `oxcall`, quoted."""
    return json.dumps(os.path.join(checkout, "ffi"), ensure_ascii=False)


def _of_checkout(checkout: str) -> dict[str, str]:
    """The dependencies on what is not published: by path where crates and builds take one.

    A wheel names versions only: pip takes the oxcall that is installed.
    """
    package = pathlib.Path(checkout, "python", "oxcall")
    install, with_build = (shlex.quote(f"{package}{extra}") for extra in ("", "[build]"))
    return {
        'oxcall = { version = "0.1", ': f"oxcall = {{ path = {_crate(checkout)}, ",
        '"hatchling>=1.26", "oxcall>=0.1"': f'"hatchling>=1.26", "oxcall @ {package.as_uri()}"',
        "pip install 'oxcall[build]'": f"pip install {with_build}",
        "pip install -e '.[test]' ": f"pip install {install}\npip install -e '.[test]' ",
        "pip install '.[test]'": f"pip install {install} '.[test]'",
    }
