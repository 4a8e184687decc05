"""The checks, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from oxcall import _jax
from oxcall._described import OpWithoutJax
from oxcall._errors import CallError, listing, nearest
from oxcall._op import Op
from oxcall.testing import _batches, _devices, _execution, _gradients, _sweeps
from oxcall.testing._report import OpCheckError, Outcome, Report, Skip, Wrong
from oxcall.testing._subject import Subject, Tolerance, subject

_CHECKS: dict[str, Callable[[Subject], str]] = {
    "results": _execution.check_results,
    "repeat": _execution.check_repeat,
    "jit": _execution.check_jit,
    "export": _execution.check_export,
    "legacy": _execution.check_legacy,
    "fwd": _gradients.check_fwd,
    "jvp": _gradients.check_jvp,
    "vjp": _gradients.check_vjp,
    "dot_product": _gradients.check_dot_product,
    "nondiff": _gradients.check_nondiff,
    "batch": _batches.check_batch,
    "vmap": _batches.check_vmap,
    "vmap_of_vjp": _batches.check_vmap_of_vjp,
    "sharding": _devices.check_sharding,
    "dtypes": _sweeps.check_dtypes,
    "sizes": _sweeps.check_sizes,
}
CHECKS = tuple(_CHECKS)
"""The names of all checks."""


def check_op(
    op: Op, /, *args: Any, checks: Sequence[str] | None = None, skip: Sequence[str] = (), rtol: float | None = None,
    atol: float | None = None, seed: int = 0, raise_exception: bool = True, **attrs: Any,
) -> Report:  # fmt: skip
    """Checks that an op does what it declares: derivatives, batches, dtypes, sizes.

    The operands of one call are the example; all others are made from them: of the same shapes, with elements scaled a
    little, so that positive numbers stay positive. Where the op takes it, derivatives are checked in double precision;
    the setting `jax_enable_x64` stays as it is. Choose operands of a few dozen elements, away from kinks.

    Args:
        op: an op of a library that :func:`oxcall.load` returned.
        args: its operands.
        checks: the names of the checks to run, of `oxcall.testing.CHECKS`; by default all.
        skip: the names of those that are not run.
        rtol: the tolerance of all comparisons relative to the largest element; by default it follows from the dtypes
            and, for finite differences, from the step.
        atol: an absolute tolerance, added to it.
        seed: where random directions start.
        raise_exception: whether failures raise; otherwise they are in the report.
        attrs: its attributes. One with the name of an option above is given in a `functools.partial` of the op.

    Returns:
        What passed, and what was skipped and why.

    Raises:
        OpCheckError: some checks failed: an `AssertionError` that lists them all and has the report.
        CallError: the op does not take these operands.
    """
    attrs = {**getattr(op, "keywords", {}), **attrs}
    op = getattr(op, "func", op)
    if isinstance(op, OpWithoutJax):
        raise CallError(
            f"{op.__name__}: `check_op` needs JAX, which is not installed; for the PyTorch operator, use "
            "`torch.library.opcheck` and `torch.autograd.gradcheck`"
        )
    if not isinstance(op, Op):
        raise TypeError(f"check_op: got {type(op).__name__}, expected an op of a library that `oxcall.load` returned")
    for name in (*(checks or ()), *skip):
        if name not in _CHECKS:
            raise ValueError(
                f"check_op: got the check `{name}`{nearest(name, _CHECKS)}, expected some of {listing(_CHECKS)}"
            )
    case = subject(op, args, attrs, Tolerance(rtol, atol), seed)
    outcomes: list[Outcome] = []
    cause: Exception | None = None
    with _jax.enable_x64():
        for name, check in _CHECKS.items():
            if name in skip or (checks is not None and name not in checks):
                outcomes.append(Outcome(name, "skipped", "not asked for"))
                continue
            outcome, error = _run(name, check, case)
            outcomes.append(outcome)
            cause = cause or error
    report = Report(case.name, tuple(outcomes))
    if raise_exception and report.failures:
        raise OpCheckError(report) from cause
    return report


def _run(name: str, check: Callable[[Subject], str], case: Subject) -> tuple[Outcome, Exception | None]:
    if name != "legacy" and case.info.side_effect:
        return Outcome(name, "skipped", "it has a side effect, so that two calls may differ"), None
    if any(param.dtype == "token" for param in case.info.params):
        return Outcome(name, "skipped", "it takes or gives tokens, which have no values to compare"), None
    try:
        return Outcome(name, "passed", check(case)), None
    except Skip as reason:
        return Outcome(name, "skipped", str(reason)), None
    except Wrong as wrong:
        return Outcome(name, "failed", str(wrong), wrong.declaration), None
    except Exception as error:  # of the op, its rules, or JAX
        return Outcome(name, "failed", f"{case.name}: the check `{name}` raised {type(error).__name__}: {error}"), error
