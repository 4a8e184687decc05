"""How near each op's results are to stock JAX's, with the reason. What is not listed is exact."""

from __future__ import annotations

from conformance import inputs
from conformance.compare import EXACT, Tolerance

_APPROXIMATE = "both sides approximate the function by polynomials"
_SMALL = "narrow floats are computed in float32 on both sides and rounded once: halfway cases may round apart"

# ULP of float32 and float64; what is narrower is computed in float32 and may be one ULP apart.
_FUNCTIONS = {
    "cbrt": 4,
    "cosine": 4,
    "exponential": 4,
    "exponential_minus_one": 6,
    "log": 4,
    "log_plus_one": 6,
    "logistic": 8,
    "rsqrt": 4,
    "sine": 4,
    "tan": 8,
    "tanh": 8,
    "atan2": 6,
    "power": 16,
}

# Ops that are exact on real numbers, and sums of products on complex ones.
_COMPLEX = {"abs": 2, "divide": 16, "multiply": 4, "sign": 8, "sqrt": 8}


def tolerance(op: str, dtype: str) -> Tolerance:
    """The tolerance of an element-wise op on a dtype."""
    if dtype.startswith("complex") and op in _COMPLEX:
        return Tolerance(_COMPLEX[op], reason="products and sums may be contracted into fused ones")
    if op == "sqrt" and dtype in inputs.SMALL_FLOATS:
        return Tolerance(1, reason=_SMALL)
    if op == "log_plus_one" and dtype == "float64":
        return Tolerance(128, reason="XLA:CPU's approximation is that far from the logarithm below 0")
    ulp = _FUNCTIONS.get(op)
    if ulp is None:
        return EXACT
    if dtype in ("float32", "float64"):
        return Tolerance(ulp, reason=_APPROXIMATE)
    if dtype.startswith("complex"):
        return Tolerance(16 * ulp, reason=_APPROXIMATE)
    return Tolerance(2, reason=_SMALL)


def sums(terms: int, factor: float = 2.0) -> Tolerance:
    """Of sums of ``terms`` products in another order: errors grow with the root of their number."""
    return Tolerance(factor * max(terms, 1) ** 0.5 + 2, of_largest=True, reason="terms are added in another order")
