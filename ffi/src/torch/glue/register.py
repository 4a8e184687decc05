"""What torch lets only Python add to the operators of a library: autocast, derivatives, batching,
sharding, shapes, torch_xla.

The files of this folder are joined, this one last, and compiled into every op library. They run once torch is there,
with the library's manifest as `MANIFEST` and what became of its ops in torch as `REPORT`, both JSON. They use nothing
but torch, and running them again changes nothing.
"""

import filecmp
import json
import os
import sys
import types

import torch

# Registrations last as long as the `torch.library.Library` that they were made through, and another library of ops may
# bring a copy of this code: both are kept for the process.
_PROCESS = sys.modules.setdefault("_oxcall_torch", types.ModuleType("_oxcall_torch"))
_LIBRARIES = _PROCESS.__dict__.setdefault("libraries", {})
_DONE = _PROCESS.__dict__.setdefault("done", set())
# The library that defined each operator.
_OWNERS = _PROCESS.__dict__.setdefault("owners", {})
# The files that the oxcall package has loaded, which are copies of those that a user knows.
_ORIGINS = _PROCESS.__dict__.setdefault("origins", {})


def register(manifest, report):
    """Adds to every operator what belongs to it.

    Args:
        manifest: the library's manifest.
        report: what became of each op of the manifest in this torch.
    """
    implementations = {}
    for entry, outcome in zip(manifest["ops"], report["ops"], strict=True):
        implementations.setdefault(entry["name"], []).append((entry, outcome))
    ops = {name: Op(found) for name, found in implementations.items()}
    derivatives = {name for op in ops.values() for name in op.derivatives()}
    sharded = []
    for op in ops.values():
        for operator in op.operators():
            name = operator.overload._name
            if name not in _DONE:
                _DONE.add(name)
                _register(op, operator, ops, derivatives)
                if has_sharding(op):
                    sharded.append((op, operator))
    register_shardings(sharded)
    _check_owners(report)


def _check_owners(report):
    """Refuses a library whose operators another one has defined, unless it is the same library."""
    path = os.path.abspath(report["library"]) if report.get("library") else None
    taken = {}
    for outcome in report["ops"]:
        if outcome["name"]:
            _OWNERS.setdefault(outcome["name"], path)
        wanted = outcome.get("wanted")
        if wanted and torch._C._jit_get_schemas_for_operator(wanted):
            owner = _OWNERS.get(wanted)
            if not _is_same(owner, path):
                taken.setdefault(_shown(owner) or "another library", []).append(wanted)
    # The package says it itself, to the thread that loads the library.
    if not taken or ("PENDING" in globals() and path in _ORIGINS):
        return
    listed = "; ".join(f"{', '.join(f'`{name}`' for name in names)} of {owner}" for owner, names in taken.items())
    error = RuntimeError(
        f"{_shown(path)} defines operators that torch has already, and it has one of each name in a process: {listed}. "
        'Load only one of these libraries, or give a crate another namespace: `oxcall::namespace!("...");`'
    )
    error.is_of_library = True
    raise error


def _shown(path):
    return _ORIGINS.get(path, path)


def _is_same(a, b):
    """Whether two files are one library: a copy, or another build of what was at the same place."""
    if a is None or b is None:
        return False
    try:
        return _shown(a) == _shown(b) or filecmp.cmp(a, b, shallow=False)
    except OSError:
        return False


def _register(op, operator, ops, derivatives):
    overload = operator.overload
    if op.json["shape"] == "dims" and op.operands:
        # Instead of a kernel in Rust, which sees numbers where this sees symbols.
        torch.library.register_fake(overload, Fake(op, operator), lib=_library(op, "FRAGMENT"))
    # torch takes derivatives and batches of functions only.
    # The kernel of a function without derivatives says how to declare them.
    has_kernel = op.declares_derivative() or op.name in derivatives or op.is_recorded()
    if has_kernel and not op.mutates():
        register_derivative(op, operator, ops, _library(op, "IMPL"))
    if Batched.is_declared(op) and not op.mutates():
        torch.library.register_vmap(overload, Batched(op, operator, ops), lib=_library(op, "FRAGMENT"))
    register_autocast(op, operator, _library(op, "IMPL"))
    if op.mutates():
        # torch's own way with views that are conjugated or negated wants what is updated to be returned.
        for key in ("Conjugate", "Negative"):
            _library(op, "IMPL").impl(_local_name(overload), Materialized(op, operator), key)
    if "XLA" not in op.keys:
        # torch_xla wraps its tensors to make updates functions, which torch refuses to do for operators of others: what
        # updates comes before the wrapper is opened.
        for key in ("XLA", "AutogradXLA") if op.mutates() else ("XLA",):
            _library(op, "IMPL").impl(_local_name(overload), XlaCall(op, operator), key)


def _local_name(overload):
    """The operator's name without its namespace, with its overload's."""
    return overload._name.partition("::")[2]


def _library(op, kind):
    """A library that adds to the op's namespace."""
    key = op.namespace, kind
    if key not in _LIBRARIES:
        _LIBRARIES[key] = torch.library.Library(op.namespace, kind)
    return _LIBRARIES[key]


if "MANIFEST" in globals():
    register(json.loads(globals()["MANIFEST"]), json.loads(globals()["REPORT"]))
