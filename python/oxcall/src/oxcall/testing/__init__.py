"""Tests of ops: whether an op does what it declares.

``check_op(ops.rms_norm, x, eps=1e-6)`` checks derivatives against finite differences and against each other. A failure
names the declaration that is wrong.
"""

from oxcall.testing._check import CHECKS, check_op
from oxcall.testing._report import OpCheckError, Outcome, Report

__all__ = ["CHECKS", "OpCheckError", "Outcome", "Report", "check_op"]
