"""What programs over several devices share: each is a function of a list of devices, and gives arrays.

A script of programs, run as `python script.py [name ...]`, runs them on the plugin and on stock JAX's CPU, with as many
devices as `OXCALL_NUM_DEVICES` says, and prints as JSON what is wrong with each. Values must be close, and each device
must have the same part of each result.
"""

import json
import os
import sys
import traceback

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

COUNT = int(os.environ["OXCALL_NUM_DEVICES"])
P = PartitionSpec
PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def put(mesh, array, *spec):
    return jax.device_put(array, NamedSharding(mesh, P(*spec)))


def check_values(expected, found, tolerance, what):
    wide = "complex128" if np.iscomplexobj(expected) else "float64"
    expected, found = np.asarray(expected), np.asarray(found)
    assert expected.dtype == found.dtype, f"{what}: {found.dtype}, not {expected.dtype}"
    np.testing.assert_allclose(found.astype(wide), expected.astype(wide), rtol=tolerance, atol=tolerance, err_msg=what)


def run(function, check_pair):
    """Runs a program on both; `check_pair` says what it checks of stock JAX's and the plugin's array besides values."""
    expected = jax.tree.leaves(function(jax.devices("cpu")[:COUNT]))
    found = jax.tree.leaves(function(jax.devices("oxcall")[:COUNT]))
    assert len(expected) == len(found)
    wrong = []
    for index, (left, right) in enumerate(zip(expected, found, strict=True)):
        narrow = left.dtype.itemsize == 2 and left.dtype.kind not in "iu"
        tolerance = 2e-2 if narrow else 2e-4
        check_values(left, right, tolerance, f"result {index}")
        if not isinstance(left, jax.Array):
            continue
        if differs := check_pair(left, right):
            wrong.append(f"result {index}: {differs}")
            continue
        shards = [sorted(array.addressable_shards, key=lambda shard: shard.device.id) for array in (left, right)]
        assert [shard.index for shard in shards[0]] == [shard.index for shard in shards[1]], f"result {index}"
        for theirs, ours in zip(*shards, strict=True):
            check_values(theirs.data, ours.data, tolerance, f"result {index}")
    return "\n".join(wrong)


def main(check_pair=lambda left, right: ""):
    outcomes = {}
    for name, function in PROGRAMS.items():
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        try:
            outcomes[name] = run(function, check_pair)
        except Exception:
            outcomes[name] = traceback.format_exc(limit=-3)
    print(json.dumps(outcomes))
