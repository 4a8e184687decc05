"""The bench of the plugin: its options, its figures, and what it takes for agreement."""

import math

import pytest
from bench.plugin import markdown, options, results

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
    assert results.stored(page) == {}
    page.write_text('{"conditions": {"plain": {}}, "call_ns": {}}')
    assert results.stored(page) == {}


def measured(ratio, conditions=("plain",)):
    about = {"jax": "0.10.2", "cpu": "a processor", "date": "2026-11-28"}
    records = [{"name": name, "ratio": ratio, "cpu": ratio * 1e-6, "oxcall": 1e-6} for name in ("scan", "sort")]
    found = {"everyday": {"about": about, "programs": records}}
    return {"conditions": dict.fromkeys(conditions, found), "call_ns": {}}


def test_the_page_has_figures_of_each_kind_of_vectors():
    one, other = measured(2.0, ("plain", "load")), measured(0.5)
    other["conditions"]["plain"]["everyday"]["programs"].append({"name": "pad", "error": "INTERNAL"})
    lines = markdown.text("plugin", {"AVX-512": one, "AVX2": other}).splitlines()
    heads = "AVX-512: XLA:CPU / plugin (us) | ratio | load | AVX2: XLA:CPU / plugin (us) | ratio |"
    assert f"| program | {heads}" in lines
    assert "| sort | 2.0 / 1.0 | 2.00 | 2.00 | 0.5 / 1.0 | 0.50 |" in lines
    assert "| pad | AVX2 fails: INTERNAL | | | | |" in lines
    assert any(line.startswith("| everyday | AVX2 | plain | 2 | 0.50 | 2 | 0.50, scan |") for line in lines)


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
