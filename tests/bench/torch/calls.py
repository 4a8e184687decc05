"""The calls that are timed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch


@dataclasses.dataclass(frozen=True)
class Call:
    """An op of `tests/bench/ffi/src/torch.rs` and of its peers, with arguments."""

    name: str
    op: str
    arguments: Callable[[], tuple[Any, ...]]
    unboxed_limit: float | None = None
    """The most that ours may take, as a multiple of unboxed C++."""
    stable_limit: float | None = 1.0
    """The same of the stable ABI."""
    compared: Callable[[Any], Any] = lambda results: results
    """What of the results is initialised, and equal in all forms."""

    def results(self, function: Callable[..., Any]) -> Any:
        """What a call returns or changes, to compare the forms."""
        arguments = self.arguments()
        returned = function(*arguments)
        return self.compared(arguments[0] if returned is None else returned)


def numbers(*shape: int) -> torch.Tensor:
    """Equal at every call."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1))


def ten() -> tuple[Any, ...]:
    """Ten arguments of as many types."""
    x = numbers(16)
    return x, x + 1, [x + 2, x + 3], 3, 0.5, True, "mode", [1, 2], [0.25], x + 4


FLOOR = Call("look at 16 floats", "look_", lambda: (numbers(16),), stable_limit=None)
"""The stable ABI's own cost: its form in `torch_stable.cc` has nothing but the calls that no kernel can do without."""
IN_PLACE = Call("in place, 16 floats", "negate_", lambda: (numbers(16),), unboxed_limit=1.15)

CALLS = (
    FLOOR,
    IN_PLACE,
    Call("one allocation, 16 floats", "empty_like", lambda: (numbers(16),), compared=lambda y: torch.tensor(y.shape)),
    Call("add_one of 16 floats", "add_one", lambda: (numbers(16),), unboxed_limit=1.08),
    Call("add_one of 1 M floats", "add_one", lambda: (numbers(1 << 20),)),
    Call("ten arguments", "mix", ten, compared=lambda y: y[0]),
    Call("top 3 of 6 x 6", "topk", lambda: (numbers(6, 6), 3)),
)
