"""What a program calls: the op that it was made with, in whatever order a process loads libraries, or an error."""

import os
import subprocess
import sys
import textwrap

import pytest

import fake

HEAD = """
    import sys, jax, jax.numpy as jnp, oxcall
    try:
        from jax import export
    except ImportError:
        from jax.experimental import export
    x = jnp.ones(2)

    def save(op, path):
        check = export.DisabledSafetyCheck.custom_call(op.target)
        exported = export.export(jax.jit(lambda x: op(x)), disabled_checks=[check])(x)
        open(path, "wb").write(exported.serialize())
        print(op.target)

    def run(path):
        return export.deserialize(open(path, "rb").read()).call(x).tolist()
"""


def python(code, *arguments):
    """What a new process prints, in lines."""
    command = [sys.executable, "-W", "ignore::UserWarning", "-c", textwrap.dedent(HEAD) + textwrap.dedent(code)]
    env = {**os.environ, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def library(tmp_path, crate, bias, name=None):
    ops = [{**op, "module": f"{crate}::ops"} for op in fake.OPS]
    return fake.build(tmp_path, name or f"lib{crate}.so", ops=ops, BIAS=bias)


@pytest.fixture
def libraries(tmp_path):
    """Two libraries of crates of their own, each with an op `scale`."""
    return library(tmp_path, "first", 10), library(tmp_path, "second", 20)


LOAD_BOTH = "first, second = [oxcall.load(path) for path in sys.argv[1:3]]\n"


def test_the_order_of_loading_does_not_matter(libraries, tmp_path):
    first, second = libraries
    program = tmp_path / "program"
    assert python(LOAD_BOTH + "save(second.scale, sys.argv[3])", first, second, program) == ["second::scale"]
    for order in [(first, second), (second, first)]:
        assert python(LOAD_BOTH + "print(run(sys.argv[3]))", *order, program) == ["[22.0, 22.0]"]


def test_an_op_of_another_library_is_not_called(libraries, tmp_path):
    first, second = libraries
    program = tmp_path / "program"
    python("save(oxcall.load(sys.argv[1]).scale, sys.argv[2])", first, program)
    code = """
        oxcall.load(sys.argv[1])
        try:
            run(sys.argv[2])
        except Exception as error:
            print("first::scale" in str(error))
    """
    assert python(code, second, program) == ["True"]


def test_builds_of_one_library(tmp_path):
    """A program that was made while a process has both calls its own in whatever order they are loaded."""
    old, new = library(tmp_path, "ops", 10, "libold.so"), library(tmp_path, "ops", 20, "libnew.so")
    programs = [tmp_path / "of_old", tmp_path / "of_new"]
    code = LOAD_BOTH + "save(first.scale, sys.argv[3]); save(second.scale, sys.argv[4])"
    targets = python(code, old, new, *programs)
    assert all(target.startswith("ops::scale#") for target in targets) and len(set(targets)) == 2
    code = LOAD_BOTH + "print(run(sys.argv[3]), run(sys.argv[4]))"
    for order in [(old, new), (new, old)]:
        assert python(code, *order, *programs) == ["[12.0, 12.0] [22.0, 22.0]"]
    # One that was made with one build calls another that is there in its place.
    program = tmp_path / "program"
    assert python("save(oxcall.load(sys.argv[1]).scale, sys.argv[2])", old, program) == ["ops::scale"]
    code = "oxcall.load(sys.argv[1]); print(run(sys.argv[2]))"
    assert python(code, new, program) == ["[22.0, 22.0]"]


def test_a_program_of_a_reloaded_library_runs_in_a_new_process(tmp_path):
    path, rebuilt = library(tmp_path, "ops", 10), library(tmp_path, "ops", 20, "libnew.so")
    program = tmp_path / "program"
    code = """
        import os
        path, rebuilt, program = sys.argv[1:]
        before = oxcall.load(path)
        assert before.scale(x).tolist() == [12, 12]
        os.replace(rebuilt, path)
        save(oxcall.load(path).scale, program)
        assert before.scale(x).tolist() == [12, 12]
    """
    (target,) = python(code, path, rebuilt, program)
    assert target.startswith("ops::scale#")
    assert python("oxcall.load(sys.argv[1]); print(run(sys.argv[2]))", path, program) == ["[22.0, 22.0]"]


def test_programs_by_hand_have_the_plain_name(libraries):
    code = """
        first, second = [oxcall.load(path) for path in sys.argv[1:3]]
        try:
            import jax.ffi as ffi
        except ImportError:
            import jax.extend.ffi as ffi
        for target in ("scale", "first::scale", "second::scale"):
            y = ffi.ffi_call(target, jax.ShapeDtypeStruct(x.shape, x.dtype))(x, factor=jnp.float32(2).item())
            print(y.tolist())
    """
    code = code.replace("factor=jnp.float32(2).item()", "factor=__import__('numpy').float32(2)")
    assert python(code, *libraries) == ["[12.0, 12.0]", "[12.0, 12.0]", "[22.0, 22.0]"]


def test_legacy_calls_have_the_same_names(libraries, tmp_path):
    code = LOAD_BOTH + "print(first.scale(x, custom_call_api_version=3), second.scale(x, custom_call_api_version=2))"
    assert python(code, *libraries) == ["[12. 12.] [22. 22.]"]
    code = LOAD_BOTH + "print(jax.jit(lambda x: second.scale(x, custom_call_api_version=3)).lower(x).as_text())"
    assert any("second::scale.v3" in line for line in python(code, *libraries))
