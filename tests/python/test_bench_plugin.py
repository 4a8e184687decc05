"""The bench of the plugin: its options, its figures, and what it takes for agreement."""

import math

import pytest
from bench.plugin import options, results

FILES = ["gallery.so", "ops.so", "docs/plugin", "scratch/plugin"]


def parse(*arguments):
    return options.parse([*FILES, *arguments])


def test_all_sets_are_recorded_without_arguments():
    chosen = parse()
    assert (chosen.sets, chosen.condition) == (options.SETS, options.PLAIN)
    assert options.is_record(chosen)


@pytest.mark.parametrize("arguments", [["scan"], ["--quick"], ["--set", "everyday", "scan"]])
def test_a_part_or_a_quick_look_is_not_recorded(arguments):
    assert not options.is_record(parse(*arguments))


def test_names_and_options_may_be_mixed():
    chosen = parse("scan", "--set", "everyday", "--load", "Adam")
    assert (chosen.names, chosen.sets, chosen.condition) == (["scan", "Adam"], ("everyday",), options.LOAD)


@pytest.mark.parametrize("arguments", [["--set", "others"], ["--load", "--huge-pages"]])
def test_unknown_sets_and_two_conditions_are_refused(arguments):
    with pytest.raises(SystemExit):
        parse(*arguments)


def test_huge_pages_start_the_process_anew_and_once(monkeypatch):
    started = []
    monkeypatch.setattr(options.os, "execve", lambda program, arguments, environment: started.append(environment))
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.check=0")
    options.with_huge_pages()
    [environment] = started
    assert environment["GLIBC_TUNABLES"] == f"glibc.malloc.check=0:{options.TUNABLE}"
    monkeypatch.setenv("GLIBC_TUNABLES", environment["GLIBC_TUNABLES"])
    options.with_huge_pages()
    assert len(started) == 1


def test_the_summary_is_of_the_programs_that_ran():
    records = [{"name": "a", "ratio": 4.0}, {"name": "b", "error": "fails"}, {"name": "c", "ratio": 0.25}]
    figures = results.summary(records)
    assert (figures.programs, figures.below, figures.slowest["name"]) == (2, 1, "c")
    assert math.isclose(figures.mean, 1)
    assert results.summary(records[1:2]) is None


def test_results_of_an_older_layout_are_measured_anew(tmp_path):
    page = tmp_path / "plugin.json"
    nothing = {"conditions": {}, "call_ns": {}}
    assert results.stored(page) == nothing
    page.write_text('{"about": {}, "programs": []}')
    assert results.stored(page) == nothing


@pytest.fixture(scope="module")
def difference():
    pytest.importorskip("jax")
    from bench.plugin import agreement

    return agreement.difference


@pytest.mark.parametrize(
    ("expected", "actual", "dtype", "message"),
    [
        ([1.0, 1000.0], [1.5, 1000.0], "float32", None),
        ([1.0, 1000.0], [3.0, 1000.0], "float32", "2 apart, where 1e+03 is the largest"),
        ([1.0, 1000.0], [3.0, 1000.0], "bfloat16", None),
        ([1.0, math.inf], [1.0, math.nan], "float32", "infinities or NaNs in different places"),
        ([1.0, 2.0], [1.0, math.inf], "float32", "infinities or NaNs in different places"),
        ([-math.inf, 2.0], [-math.inf, 2.0], "float32", None),
        ([1, 2], [1, 3], "int32", "1 of 2 elements differ"),
        ([0.0, 0.0], [0.0, 0.1], "float32", "0.1 apart, where 0 is the largest"),
        ([1.0], [1.5j], "complex64", "1.8 apart, where 1 is the largest"),
    ],
)
def test_differences_beyond_the_tolerance_are_told(difference, expected, actual, dtype, message):
    import jax.numpy as jnp
    import numpy as np

    kind = jnp.dtype(dtype)
    assert difference(np.array(expected).astype(kind), np.array(actual).astype(kind)) == message


def test_other_types_and_shapes_are_told(difference):
    import numpy as np

    assert difference(np.zeros(2, "float32"), np.zeros(3, "int32")) == "float32[2] and int32[3]"
