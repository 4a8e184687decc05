"""A fixed part of the conformance cases; `cargo xtask conformance` runs all of them."""

import itertools

import pytest
from conformance import families, runner
from conformance.cases import all_cases

# Of each cell of op and dtype, so many cases, spread over all of them.
EACH = 1


def chosen(family):
    cases = sorted(all_cases([family]), key=lambda case: (case.op, case.dtype))
    for _, group in itertools.groupby(cases, key=lambda case: (case.op, case.dtype)):
        group = list(group)
        yield from group[:: max(1, len(group) // EACH)][:EACH]


@pytest.mark.parametrize("family", families.NAMES)
def test_family(family):
    outcomes = [runner.run(case) for case in chosen(family)]
    failures = [f"{outcome.case}: {outcome.message}" for outcome in outcomes if outcome.message]
    assert not failures, "\n".join(failures)
    assert any(outcome.applies for outcome in outcomes)
