"""An installed plugin breaks no program: JAX where the plugin cannot run."""

import contextlib
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

# What JAX does without naming the plugin, the warnings meanwhile, and what it says to those who then ask for it.
WITHOUT = """
    import warnings
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        import jax, jax.numpy as jnp
        print(jnp.add(1, 1), jax.default_backend())
        jax.devices()
    messages = [str(warning.message) for warning in caught if warning.category.__name__ == "PluginWarning"]
    print(len(messages), messages[:1])
    try:
        jax.devices("oxcall")
    except RuntimeError as error:
        print(error)
"""

# By the message: what is wrong. `{tmp}` is a folder, `{text}` a file that is not a library, `{half}` a part of one.
BROKEN = {
    "there is no plugin at": {"OXCALL_PLUGIN_LIBRARY": "{tmp}/missing.so"},
    "it is not a shared library": {"OXCALL_PLUGIN_LIBRARY": "{text}"},
    "it is not complete": {"OXCALL_PLUGIN_LIBRARY": "{half}"},
    "is not a plugin made with": {"OXCALL_PLUGIN_LIBRARY": "{libs}/libempty_ops.so"},
    "OXCALL_NUM_DEVICES is many": {"OXCALL_NUM_DEVICES": "many"},
    "OXCALL_NUM_THREADS is 0": {"OXCALL_NUM_THREADS": "0"},
    "OXCALL_COLLECTIVE_TIMEOUT is soon": {"OXCALL_COLLECTIVE_TIMEOUT": "soon"},
    "none.so does not exist": {"OXCALL_LIBRARIES": "{tmp}/none.so"},
    "half.so cannot be loaded here: it is not complete": {"OXCALL_LIBRARIES": "{half}"},
    "/none/trace.json": {"OXCALL_TRACE": "{tmp}/none/trace.json"},
}


@pytest.fixture
def broken(tmp_path):
    """The environment variables of an entry of `BROKEN`."""
    text, half = tmp_path / "text.so", tmp_path / "half.so"
    text.write_text("not a library")
    with open(os.environ["OXCALL_PLUGIN_LIBRARY"], "rb") as library:
        half.write_bytes(library.read(1 << 20))

    def variables(message):
        places = {"tmp": tmp_path, "text": text, "half": half, "libs": os.environ["OXCALL_TEST_LIBS"]}
        return {name: value.format(**places) for name, value in BROKEN[message].items()}

    return variables


@pytest.mark.parametrize("message", BROKEN)
def test_jax_goes_on_without_a_plugin_that_fails(fresh, broken, message):
    lines = fresh(WITHOUT, **broken(message)).splitlines()
    assert lines[0] == "2 cpu"
    assert lines[1].startswith("1 ") and "JAX goes on without it" in lines[1] and message in lines[1]
    assert "'oxcall' failed to initialize" in lines[2] and message in lines[2]


@pytest.mark.parametrize("message", list(BROKEN)[:4])
def test_a_plugin_that_is_not_asked_for_says_nothing(fresh, broken, message):
    lines = fresh(WITHOUT, JAX_PLATFORMS="cpu", **broken(message)).splitlines()
    assert lines[:2] == ["2 cpu", "0 []"]


@pytest.mark.parametrize("platforms", ["oxcall", "oxcall,cpu", "cpu,oxcall"])
@pytest.mark.parametrize("message", ["there is no plugin at", "OXCALL_NUM_DEVICES is many"])
def test_an_error_for_those_who_ask_for_the_plugin(fresh, broken, platforms, message):
    code = """
        import warnings
        warnings.simplefilter("error")
        import jax
        try:
            jax.devices()
        except RuntimeError as error:
            print(error)
    """
    text = fresh(code, JAX_PLATFORMS=platforms, **broken(message))
    assert text.startswith("Unable to initialize backend 'oxcall'") and message in text


def test_the_test_mode_never_falls_back_to_the_cpu_of_jax(fresh, broken):
    code = """
        import jax
        try:
            print(jax.devices())
        except RuntimeError as error:
            print(error)
    """
    for message in ("there is no plugin at", "OXCALL_NUM_DEVICES is many"):
        assert message in fresh(code, OXCALL_PLATFORM_NAME="cpu", **broken(message))


def test_a_library_that_does_not_fit_into_memory(environment):
    """JAX goes on, whether there is room for none of it, for a part, or hardly more than it takes."""
    code = """
        import resource, sys, warnings
        import jax, jax.numpy as jnp
        from jax._src import xla_bridge
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        # Only while the library is loaded: with little memory, jaxlib's own client ends the process.
        resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[1]), resource.RLIM_INFINITY))
        xla_bridge._discover_and_register_pjrt_plugins()
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        print(jnp.add(1, 1), jax.default_backend())
    """
    library = pathlib.Path(os.environ["OXCALL_PLUGIN_LIBRARY"]).stat().st_size
    for room in (1 << 20, library // 2, library + (8 << 20)):
        command = [sys.executable, "-c", textwrap.dedent(code), str(room)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)
        assert (done.returncode, done.stdout) == (0, "2 cpu\n"), done.stderr


def hidden_sys():
    """How to start a program that sees an empty `/sys`; `None` where the system does not allow that."""
    for flags in (["-m"], ["-rm"]):
        command = ["unshare", *flags, "sh", "-c", 'mount -t tmpfs none /sys && exec "$0" "$@"']
        with contextlib.suppress(OSError):
            if subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
                return command
    return None


def test_no_program_is_run_where_sys_cannot_be_read(environment, tmp_path):
    """To learn the sizes of caches, for instance, by the first program of a name that `PATH` has."""
    if (prefix := hidden_sys()) is None:
        pytest.skip("no namespaces of mounts")
    for name in ("lscpu", "nproc", "getconf", "uname"):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        program.chmod(0o755)
    code = """
        import jax, jax.numpy as jnp
        x = jnp.ones((64, 64), jnp.float32)
        results = x @ x, jnp.linalg.qr(jnp.eye(200))[0], jnp.linalg.cholesky(jnp.eye(9))
        print(*(float(result.sum()) for result in results))
    """
    variables = {**environment, "JAX_PLATFORMS": "oxcall,cpu", "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = [*prefix, sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stdout) == (0, "262144.0 200.0 9.0\n"), done.stderr
    assert not (tmp_path / "ran").exists()
