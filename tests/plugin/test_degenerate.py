"""Every family of ops over dimensions of 0 and 1, in each position, plain and transformed, against stock JAX."""

import warnings

import jax
import pytest

import degenerate
import extent

# Of the programs of a family, and of their variants, every so many runs; more of those with empty operands. The number
# of sizes is no multiple of it, so that each kind of program is met.
PROGRAMS, EMPTY, VARIANTS = extent.pick(19, thorough=13), extent.pick(7, thorough=5), 2


@pytest.mark.parametrize("family", degenerate.FAMILIES)
def test_family(family, device):
    wrong, count = [], 0
    cpu = jax.devices("cpu")[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, program in enumerate(degenerate.FAMILIES[family]()):
            if number % PROGRAMS and (0 not in program.shapes[0] or number % EMPTY):
                continue
            variants = list(program.variants())
            for name, function, operands in variants[:1] + variants[1 + number % VARIANTS :: VARIANTS]:
                try:
                    reference = degenerate.on(cpu, function, operands)
                except Exception:  # JAX refuses it
                    continue
                count += 1
                try:
                    difference = degenerate.difference(
                        degenerate.on(device, function, operands), reference, program.by_shape
                    )
                except Exception as error:
                    difference = f"{type(error).__name__}: {error}"
                if difference:
                    wrong.append(f"{program}, {name}: {difference}")
    assert not wrong, "\n".join(wrong)
    assert count >= extent.pick(8, thorough=15)


def test_contraction_over_an_empty_dimension(on_plugin):
    x, y = jax.numpy.zeros((0, 2, 3)), jax.numpy.zeros((0, 4, 3))
    assert (jax.numpy.einsum("iaj,ibj->ab", x, y) == jax.numpy.zeros((2, 4))).all()
