"""Checks that what the printer writes is, to jaxlib, the program that was read.

Run by hand, in an environment with jax, after a change to the printer:

    python plugin/hlo/tests/text/check_printed.py [FILES]

Without files, all programs of the tests are taken. Each is printed by the crate's example `reprint`; jaxlib reads and
verifies the text, and prints both programs in generic form, which must be equal but for attributes that the IR of this
crate does not keep: those that other dialects put on ops.
"""

import difflib
import pathlib
import re
import subprocess
import sys

from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir

ROOT = pathlib.Path(__file__).parent
# Written by other ops than the ones they were read from, or where defaults are left out.
IGNORED = re.compile(
    r' \{(?:mhlo|stablehlo|xla)\.[^{}]*\}| <\{\}>|backend_config = "", '
    r"|, precision_config = \[(?:#stablehlo<precision DEFAULT>(?:, )?)*\]"
)


def normal_form(text):
    with jax_mlir.make_ir_context() as context, ir.Location.unknown(context):
        module = ir.Module.parse(text)
        module.operation.verify()
        text = module.operation.get_asm(print_generic_op_form=True)
    return IGNORED.sub("", text).splitlines()


def main():
    paths = [pathlib.Path(path) for path in sys.argv[1:]]
    paths = paths or sorted([*(ROOT / "programs").glob("*.mlir"), *(ROOT / "jax").glob("*.mlir")])
    failed = 0
    for path in paths:
        command = ["cargo", "run", "-q", "-p", "oxcall-hlo", "--example", "reprint", "--", str(path)]
        printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        difference = list(difflib.unified_diff(normal_form(path.read_text()), normal_form(printed), lineterm="", n=0))
        failed += bool(difference)
        print("DIFFERENT" if difference else "ok", path.name)
        print("\n".join(difference[2:]), end="\n" if difference else "")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
