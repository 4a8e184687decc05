"""Ops as PyTorch operators. Importing this module does not import PyTorch."""

from __future__ import annotations

import functools
import importlib.util
import itertools
import sys
import threading
import types
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from oxcall._abi import NativeLibrary
from oxcall._errors import LoadError, OxcallWarning


def announce(file: str, shown: str) -> None:
    """Tells what libraries run in PyTorch that this package loads a file, and what a user calls it."""
    shared = sys.modules.setdefault("_oxcall_torch", types.ModuleType("_oxcall_torch"))
    shared.__dict__.setdefault("origins", {})[file] = shown


class Operators:
    """The PyTorch operators of a library: registered at once if PyTorch is imported, else as soon as it is."""

    def __init__(self, native: NativeLibrary):
        self._native = native
        self._lock = threading.Lock()
        self._report: dict[str, Any] | None = None
        self._ops: Mapping[str, object] = {}

    def register_when_imported(self, ops: Mapping[str, object]) -> None:
        """Registers now or later. A library of an older oxcall has no operators; only a request for one reports it.

        Args:
            ops: the library's ops by name. Each gets its operator as the attribute `torch`.

        Raises:
            LoadError: PyTorch is imported, and has an operator of the same name from another library.
        """
        self._ops = ops
        if sys.modules.get("torch") is None:
            when_imported("torch", self._register_quietly)
            return
        try:
            self._register()
        except _Taken:
            raise
        except LoadError:
            pass
        except Exception as error:
            self._warn(error)

    def __getitem__(self, name: str) -> Any:
        """The operator of an op.

        Raises:
            LoadError: there is none; the message says why.
        """
        try:
            import torch
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            raise LoadError(f"{name}: PyTorch is not installed: `pip install torch`") from error
        report = self._register()
        if report["torch"] is None:
            raise LoadError(f"{name}: {report['reason']} (PyTorch {torch.__version__} is installed)")
        outcomes = [outcome for outcome in report["ops"] if outcome["op"] == name]
        for overload in itertools.chain.from_iterable(outcome["overloads"] for outcome in outcomes):
            # An older library leaves out nothing but whole ops.
            for reason in overload.get("left_out", ()):
                warnings.warn(f"{name} lacks an argument in PyTorch: {reason}", OxcallWarning, stacklevel=3)
        qualified = next((outcome["name"] for outcome in outcomes if outcome["name"]), None)
        if qualified is None:
            reasons = "; ".join(outcome["left_out"] for outcome in outcomes)
            raise LoadError(f"{name} is not an operator in PyTorch {torch.__version__}: {reasons}")
        return _operator(qualified)

    def _register(self) -> dict[str, Any]:
        with self._lock:
            if self._report is None or self._report["torch"] is None:
                self._report, program = self._native.register_torch()
                if program:
                    self._run(program)
                self._hand_out(self._report)
            return self._report

    def _hand_out(self, report: dict[str, Any]) -> None:
        """Gives ops their operators, apart from those whose use is to warn or to fail."""
        if report["torch"] is None:
            return
        for outcome in report["ops"]:
            is_whole = not any(overload.get("left_out") for overload in outcome["overloads"])
            if outcome["name"] and is_whole and outcome["op"] in self._ops:
                vars(self._ops[outcome["op"]]).setdefault("torch", _operator(outcome["name"]))

    def _run(self, program: str) -> None:
        try:
            exec(compile(program, f"<torch glue of {self._native.path}>", "exec"), {})
        except RuntimeError as error:
            if getattr(error, "is_of_library", False):
                raise _Taken(str(error)) from None
            raise

    def _register_quietly(self) -> None:
        """As PyTorch is imported, which cannot fail for a library's sake."""
        try:
            self._register()
        except _Taken as error:
            self._warn(error)
        except LoadError:
            pass
        except Exception as error:
            self._warn(error)

    def _warn(self, error: Exception) -> None:
        message = f"{self._native.path}: not all ops could be registered with PyTorch: {error}"
        warnings.warn(message, OxcallWarning, stacklevel=3)


def _operator(qualified: str) -> Any:
    """The operator of a name such as `my_ops::rms_norm`."""
    return functools.reduce(getattr, qualified.split("::"), sys.modules["torch"].ops)


class _Taken(LoadError):
    """Another library has operators of the same names."""


def outcomes(native: NativeLibrary) -> list[dict[str, Any]]:
    """The outcome for each op in PyTorch, imported or not; empty for a library that is too old for operators."""
    try:
        report, _ = native.register_torch()
    except LoadError:
        return []
    return report["ops"]


def schemas(outcome: dict[str, Any]) -> list[str]:
    """The operators of an op, as they are called."""
    namespace = (outcome["name"] or "").partition("::")[0]
    return [f"torch.ops.{namespace}.{overload['schema']}" for overload in outcome["overloads"]]


def is_installed() -> bool:
    """Whether PyTorch can be imported, as far as one sees without doing so."""
    try:
        return importlib.util.find_spec("torch") is not None
    except ValueError:  # imported, but not from a file
        return sys.modules["torch"] is not None


def when_imported(name: str, callback: Callable[[], None]) -> None:
    """Calls back once a top-level module has been imported: at once if it is already."""
    if sys.modules.get(name) is not None:
        callback()
    else:
        sys.meta_path.insert(0, _Watcher(name, callback))


class _Watcher:
    """Finds nothing by itself: it lets the other finders find the module, and sees when it has been executed."""

    def __init__(self, name: str, callback: Callable[[], None]):
        self._name, self._callback = name, callback
        self._asking = threading.local()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self._name or getattr(self._asking, "others", False):
            return None
        self._asking.others = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._asking.others = False
        loader = getattr(spec, "loader", None)
        if not hasattr(loader, "exec_module"):
            return spec
        execute = loader.exec_module

        # It may only be asked whether the module is there, and an import may fail: it watches until one succeeds.
        def exec_module(module: Any) -> None:
            execute(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                self._callback()

        loader.exec_module = exec_module
        return spec
