"""Several devices against one."""

from __future__ import annotations

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from oxcall.testing._batches import with_batch
from oxcall.testing._report import Skip, Wrong
from oxcall.testing._subject import Subject, to_jax, to_numpy


def check_sharding(case: Subject) -> str:
    """Operands split along the batch give what whole ones give."""
    devices = jax.local_devices()[:4]
    if len(devices) < 2:
        raise Skip("there is one device; with XLA_FLAGS=--xla_force_host_platform_device_count=4 JAX's CPU has four")
    whole, _ = with_batch(case, len(devices))
    expected = whole.run(whole.arrays)
    found = whole.batch_dims(whole.arrays, expected)
    if found is None:
        raise Skip("the dimensions of the batch do not follow from the patterns")
    mesh = Mesh(np.array(devices), ("batch",))
    placed = [
        jax.device_put(
            array,
            NamedSharding(mesh, PartitionSpec() if place is None else PartitionSpec(*(None,) * place, "batch")),
        )
        for array, place in zip(to_jax(whole.arrays), found.operands, strict=True)
    ]
    if where := whole.difference(to_numpy(jax.jit(whole)(*placed)), expected):
        batch = case.info.batch
        raise Wrong(
            f"`batch = {batch}`",
            f"{case.name}: `batch = {batch}`: split over {len(devices)} devices, the op differs from one device: "
            f"{where}; remove `batch`, or compute each part from its own operands",
        )
    return f"{len(devices)} devices and one"
