"""JAX's own list of uses of its primitives, which its wheel has: 7,526 in jax 0.10.2.

It takes a quarter of an hour, and its ops are JAX's, not StableHLO's: so it runs when it is asked for by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from conformance.cases import Case, family
from conformance.compare import Tolerance

_NEAR = Tolerance(512, of_largest=True, below=1e-6, reason="sums in another order, functions approximated otherwise")
# Vectors of decompositions are unique up to their signs only: the family `linear_algebra` multiplies them again. Of
# equal elements, `approx_top_k` may name any.
_OF_MANY_ANSWERS = frozenset({"svd", "eig", "eigh", "qr", "schur", "hessenberg", "approx_top_k"})


@family
def jax_harnesses(rng: np.random.Generator) -> Iterator[Case]:
    """One case for each harness."""
    from jax._src.internal_test_util import test_harnesses

    seed = int(rng.integers(2**31))
    for harness in test_harnesses.all_harnesses:
        if not harness.filter("cpu"):
            continue
        yield Case(
            op=f"jax.{harness.group_name}",
            dtype=np.dtype(harness.dtype).name if harness.dtype else "-",
            label=harness.name,
            function=_results(harness.dyn_fun),
            inputs=harness.dyn_args_maker(np.random.RandomState(seed)),
            tolerance=_NEAR,
            statistical=harness.group_name in _OF_MANY_ANSWERS or "isstable_False" in harness.name,
        )


def _results(function: Callable[..., Any]) -> Callable[..., Any]:
    """The results of a function, with keys of random numbers as the numbers that they are."""

    def numbers(value: Any) -> Any:
        return jax.random.key_data(value) if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key) else value

    return lambda *inputs: jax.tree.map(numbers, function(*inputs))
