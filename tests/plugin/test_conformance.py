"""A fixed part of the conformance cases; `cargo xtask conformance` runs all of them."""

import itertools

import pytest
from conformance import coverage, families, runner
from conformance.cases import all_cases
from jaxlib.mlir.dialects import stablehlo

import extent

# Of the cells of a family, each of an op and a dtype, every so many has a case that runs.
CELLS = extent.pick(7, thorough=3)


def chosen(family):
    cases = sorted(all_cases([family]), key=lambda case: (case.op, case.dtype))
    for _, group in itertools.islice(itertools.groupby(cases, key=lambda case: (case.op, case.dtype)), 0, None, CELLS):
        group = list(group)
        yield group[len(group) // 2]


@pytest.mark.parametrize("family", families.NAMES)
def test_family(family):
    outcomes = [runner.run(case) for case in chosen(family)]
    failures = [f"{outcome}: {outcome.message}" for outcome in outcomes if outcome.applies and outcome.message]
    assert not failures, "\n".join(failures)
    assert any(outcome.applies for outcome in outcomes)


def test_every_op_of_stablehlo_is_covered():
    names = {
        value.OPERATION_NAME.removeprefix("stablehlo.")
        for name, value in vars(stablehlo).items()
        if name.endswith("Op") and hasattr(value, "OPERATION_NAME")
    }
    assert names - set(coverage.STABLEHLO) - set(coverage.ABSENT) == set()
    assert set(coverage.STABLEHLO) - names == {"call"}  # which is an op of the dialect func
