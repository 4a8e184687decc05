"""Checks of the plugin that are about a whole process: how it is found, what is the default, how it ends."""

import os
import pathlib
import subprocess
import sys
import textwrap

PLUGIN = pathlib.Path(__file__).resolve().parents[2] / "python" / "oxcall-plugin"

# An installation that the scan of the namespace package `jax_plugins` cannot see: its modules come from a finder, as
# those of editable installations do, and its entry point from metadata.
ENTRY_POINT = """
    import importlib.machinery, importlib.metadata, pathlib, sys, tomllib
    source = pathlib.Path({source!r})
    project = tomllib.loads((source.parent / "pyproject.toml").read_text())["project"]

    class Finder(importlib.metadata.DistributionFinder):
        def find_spec(self, name, path=None, target=None):
            if name == "jax_plugins":
                return importlib.machinery.ModuleSpec(name, None, is_package=True)
            if name.split(".")[0] in ("jax_plugins", "oxcall_plugin"):
                folder = source.joinpath(*name.split(".")[:-1])
                return importlib.machinery.PathFinder.find_spec(name, [str(folder)])

        def find_distributions(self, context=None):
            return [Distribution()]

    class Distribution(importlib.metadata.Distribution):
        def read_text(self, name):
            if name == "METADATA":
                return "Name: oxcall-plugin\\nVersion: 0\\n"
            if name == "entry_points.txt":
                entries = project["entry-points"]["jax_plugins"]
                return "[jax_plugins]\\n" + "\\n".join(f"{{key}} = {{value}}" for key, value in entries.items())

        def locate_file(self, path):
            return source / path

    sys.meta_path.append(Finder())
"""


def python(code, path=None, timeout=120, **environment):
    """What a new process prints; its path of modules is this one's unless given."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    if path is not None:
        variables["PYTHONPATH"] = path
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**variables, **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    errors = done.stderr.strip()
    assert done.returncode == 0, f"exit status {done.returncode}: {errors[-1500:]}"
    return done.stdout.strip()


def entry_point():
    source = PLUGIN / "src"
    others = os.pathsep.join(part for part in os.environ["PYTHONPATH"].split(os.pathsep) if part != str(source))
    find = textwrap.dedent(ENTRY_POINT.format(source=str(source)))
    use = "import jax; print(jax.devices('oxcall')[0].platform)"
    assert python(f"{find}\n{use}", others) == "oxcall"


def namespace():
    assert python("import jax; print(jax.devices('oxcall')[0].platform)") == "oxcall"


def default():
    code = "import jax; print(jax.default_backend(), [device.platform for device in jax.devices()])"
    assert python(code) == "cpu ['cpu']"


def JAX_PLATFORMS():
    code = "import jax.numpy as jnp; x = jnp.add(1, 1); print(int(x), [device.platform for device in x.devices()])"
    assert python(code, JAX_PLATFORMS="oxcall,cpu") == "2 ['oxcall']"


def options():
    code = "import jax; print(len(jax.devices('oxcall')))"
    assert python(code, OXCALL_NUM_DEVICES="3") == "3"
    assert python(f"import oxcall_plugin; oxcall_plugin.configure(num_devices=2); {code}") == "2"


def exit_in_flight():
    code = """
        import jax, jax.numpy as jnp
        x = jnp.ones((500, 500))
        f = jax.jit(lambda x: jax.lax.fori_loop(0, 200, lambda i, y: y @ x / 500, x))
        results = [f(x + i) for i in range(4)]
        print("bye")
    """
    assert python(code, JAX_PLATFORMS="oxcall,cpu") == "bye"


BEFORE = [entry_point, namespace, default, JAX_PLATFORMS, options]
AFTER = [exit_in_flight]
