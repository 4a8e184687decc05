"""What `cargo xtask matrix` runs on every jax for the plugin: `plugin.py <libcustom_ops.so>`.

Plain jax API of 0.4.38 and later only, and no pytest: this runs in an environment that holds jax and nothing else.
"""

import pathlib
import subprocess
import sys

import checks
import plugin_process


def main():
    failed = checks.run(plugin_process.BEFORE)
    # Imported late: they make JAX's clients, and the checks before are about processes without any.
    import plugin_calls
    import plugin_programs

    plugin_calls.load(sys.argv[1])
    failed |= checks.run(plugin_programs.CHECKS)
    failed |= checks.run(plugin_calls.CHECKS)
    failed |= checks.run(plugin_process.AFTER)
    failed |= subprocess.run([sys.executable, pathlib.Path(__file__).with_name("plugin_devices.py")]).returncode != 0
    checks.exit_with(failed)


if __name__ == "__main__":
    main()
