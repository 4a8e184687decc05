"""Directional derivatives by central differences, with their errors.

The error of a central difference of step `h` is that of rounding, `eps |f| / h`, and that of truncation, `h² f'''`. Two
steps, `h` and `h / 2`, show the second, and Richardson's extrapolation removes its first term. At a kink the second
difference divided by `h` does not go to zero with `h`: such elements are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

Function = Callable[[Sequence[np.ndarray]], Sequence[np.ndarray]]


def directional(
    function: Function, values: Sequence[np.ndarray], direction: Sequence[np.ndarray], eps: float
) -> list[tuple[np.ndarray, np.ndarray]]:  # fmt: skip
    """The derivative of each result along a direction, and its error: infinite where there is no derivative.

    Args:
        function: of arrays in double precision, which it rounds itself.
        values: where.
        direction: one array for each value, of the same magnitude.
        eps: the precision of the function.
    """
    middle = function(values)
    found: list[tuple[np.ndarray, np.ndarray]] = []
    # A large step for a small error; a small one where a kink or the end of a domain is near.
    for step in (eps**0.25, eps**0.375):
        estimates = _central(function, values, direction, step, eps, middle)
        if not found:
            found = estimates
            continue
        found = [
            (np.where(np.isfinite(error), value, other), np.where(np.isfinite(error), error, other_error))
            for (value, error), (other, other_error) in zip(found, estimates, strict=True)
        ]
    return found


def _central(
    function: Function, values: Sequence[np.ndarray], direction: Sequence[np.ndarray], step: float, eps: float,
    middle: Sequence[np.ndarray],
) -> list[tuple[np.ndarray, np.ndarray]]:  # fmt: skip
    def moved(by: float) -> Sequence[np.ndarray]:
        return function([value + by * along for value, along in zip(values, direction, strict=True)])

    try:
        samples = [moved(by) for by in (step, -step, step / 2, -step / 2)]
    except Exception:  # the op refuses what is outside of its domain
        return [(np.zeros_like(result), np.full(result.shape, np.inf)) for result in middle]
    estimates = []
    for result, up, down, half_up, half_down in zip(middle, *samples, strict=True):
        with np.errstate(all="ignore"):
            coarse, fine = (up - down) / (2 * step), (half_up - half_down) / step
            bend = np.abs((up - 2 * result + down) / step - 2 * (half_up - 2 * result + half_down) / (step / 2))
            value = (4 * fine - coarse) / 3
            size = np.abs(result)[np.isfinite(result)].max(initial=0.0)
            slope = np.abs(value)[np.isfinite(value)].max(initial=0.0)
            noise = 8 * eps * size / step + np.sqrt(eps) * slope
            error = np.abs(coarse - fine)
            # What smooth functions have of both is small beside the slopes; a kink's is not.
            smooth = (np.maximum(error, bend) <= 16 * noise + 4 * step * slope) & np.isfinite(value)
            typical = np.median(error[smooth]) if smooth.any() else 0.0
            estimates.append((np.where(smooth, value, 0), np.where(smooth, noise + error + bend + typical, np.inf)))
    return estimates
