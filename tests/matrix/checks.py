"""Runs checks and prints one `check<TAB>result` line each, which `cargo xtask matrix` reads."""

import sys


def run(checks):
    """Runs functions in order; each is named by itself. Returns whether any failed.

    A line is printed as soon as its check is done, so that after a crash the last line tells how far it came.
    """
    failed = False
    for check in checks:
        try:
            check()
            result = "ok"
        except Exception as error:
            failed = True
            result = f"{type(error).__name__}: {error}".replace("\n", " ").replace("\t", " ")
        print(f"{check.__name__.strip('_').replace('_', ' ')}\t{result}", flush=True)
    return failed


def exit_with(failed):
    """Ends the process as the task runner expects."""
    sys.exit(1 if failed else 0)
