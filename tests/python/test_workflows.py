"""Workflows and forms of the repository's host: YAML of the shape that the host reads, with few rights."""

import pathlib
import re

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEMPLATE = ROOT / "python/oxcall/src/oxcall/_templates/project/ci.yml"
WORKFLOWS = [*sorted((ROOT / ".github/workflows").glob("*.yml")), TEMPLATE]
FORMS = [path for path in sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")) if path.name != "config.yml"]


def read(path):
    return yaml.safe_load(path.read_text())


def jobs(path):
    return read(path)["jobs"].items()


def name(path):
    return path.relative_to(ROOT).as_posix()


def test_all_are_here():
    assert [path.name for path in WORKFLOWS[:-1]] == ["ci.yml", "matrix.yml", "release.yml"]
    assert [path.name for path in FORMS] == ["bug.yml", "feature.yml"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=name)
def test_workflows_have_jobs_of_steps(path):
    assert True in read(path), "`on`, which YAML takes for true"
    for job, content in jobs(path):
        assert content["runs-on"] == "ubuntu-latest", job
        assert path == TEMPLATE or content["timeout-minutes"] <= 180, job
        needs = content.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= {other for other, _ in jobs(path)}, job
        for step in content["steps"]:
            assert ("uses" in step) != ("run" in step), step
            assert re.fullmatch(r"[\w.-]+/[\w.-]+@(v\d+|release/v\d+)", step.get("uses", "a/b@v1")), step


@pytest.mark.parametrize("path", WORKFLOWS, ids=name)
def test_jobs_read_unless_they_publish(path):
    assert read(path)["permissions"] == {"contents": "read"}
    for job, content in jobs(path):
        rights = content.get("permissions", {})
        assert set(rights.values()) <= {"read", "write"}, job
        if rights.get("id-token") == "write":
            assert path.name == "release.yml" and content["environment"] in ("crates-io", "pypi"), job
        if rights.get("contents") == "write":
            assert path.name == "release.yml" and "id-token" not in rights, job


@pytest.mark.parametrize("path", WORKFLOWS, ids=name)
def test_texts_of_others_do_not_enter_commands(path):
    """An expression in `run` is replaced before the shell reads it, so a name of a branch could be a command."""
    for job, content in jobs(path):
        for step in content["steps"]:
            for expression in re.findall(r"\$\{\{(.*?)\}\}", step.get("run", "")):
                assert expression.strip().startswith("matrix."), f"{job}: {step}"


def test_ci_runs_what_contributors_run():
    steps = dict(jobs(ROOT / ".github/workflows/ci.yml"))["ci"]["steps"]
    assert steps[-1]["run"] == ".ci/run"


def test_rust_is_the_oldest_that_is_supported_or_the_newest():
    oldest = re.search(r'^rust-version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
    found = {path.name: set(re.findall(r"rustup default (\S+)", path.read_text())) for path in WORKFLOWS[:-1]}
    assert found == {"ci.yml": {oldest}, "matrix.yml": {"stable"}, "release.yml": {oldest}}


def test_a_release_publishes_crates_before_wheels():
    release = dict(jobs(ROOT / ".github/workflows/release.yml"))
    assert release["pypi"]["needs"] == "crates" and release["notes"]["needs"] == "pypi"


@pytest.mark.parametrize("path", FORMS, ids=name)
def test_forms_have_fields(path):
    form = read(path)
    assert form["name"] and form["description"]
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields) > 0
    for field in fields:
        assert field["type"] in ("input", "textarea", "dropdown", "checkboxes"), field
        assert field["attributes"]["label"]
    assert any(field.get("validations", {}).get("required") for field in fields)
