"""What the programs of this folder share: each gives a tensor, and what torch's CPU makes of the same."""

import sys
import traceback

import numpy as np
import torch
import torch_xla
import torch_xla.distributed.spmd as xs
import torch_xla.runtime as xr

xr.use_spmd()
DEVICE = torch_xla.device()
LINE = xs.Mesh(np.arange(4), (4,), ("d",))
SQUARE = xs.Mesh(np.arange(4), (2, 2), ("x", "y"))


def sharded(tensor, mesh, spec):
    moved = tensor.to(DEVICE)
    xs.mark_sharding(moved, mesh, spec)
    return moved


def main(cases):
    """Prints the cases that fail; a case may give several pairs of result and expectation."""
    for case in cases:
        torch.manual_seed(0)
        try:
            pairs = case()
            torch_xla.sync()
            for got, expected in pairs if isinstance(pairs, list) else [pairs]:
                torch.testing.assert_close(got.cpu(), expected, rtol=1e-4, atol=1e-5)
        except Exception as error:
            sys.stderr.write(traceback.format_exc())
            sys.stdout.write(f"{case.__name__}: {type(error).__name__}: {str(error).splitlines()[:1]}\n")
