"""The ops on stock JAX in jobs of `jax.distributed`: values and gradients as in one process, without all-gathers."""

import pathlib
import re

import jobs
import pytest

PROGRAM = """
    import sys
    import jax, jax.numpy as jnp, numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
    import oxcall

    rank, count, port, library = int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]
    jax.distributed.initialize(f"localhost:{port}", num_processes=count, process_id=rank)
    ops = oxcall.load(library)
    mesh = Mesh(np.array(jax.devices()), ("data",))
    print(jax.process_index(), jax.process_count(), len(jax.devices()), len(jax.local_devices()))

    whole = np.sin(np.arange(128.0, dtype=np.float32)).reshape(8, 16)
    part = np.array_split(whole, count)[rank]
    x = jax.make_array_from_process_local_data(NamedSharding(mesh, P("data")), part)

    weight = np.cos(np.arange(16.0, dtype=np.float32))
    w = jax.make_array_from_process_local_data(NamedSharding(mesh, P()), weight)

    def loss(op, x, w):
        return (jnp.cos(op(x, w)) ** 2).sum()

    def same(array, expected):
        for shard in array.addressable_shards:
            np.testing.assert_allclose(shard.data, np.asarray(expected)[shard.index], rtol=1e-5, atol=1e-6)

    def norm(x, w):
        return ops.rms_norm(x, eps=1e-5) + w

    def by_parts(x, w):
        rows = P("data")
        return jax.shard_map(norm, mesh=mesh, in_specs=(rows, P()), out_specs=rows)(x, w)

    functions = [("jit", norm, norm), ("shard_map", by_parts, norm)]
    functions.append(("weight", ops.weighted_rms_norm, ops.weighted_rms_norm))
    for name, op, alone in functions:
        # This process alone, on one of its devices.
        one = jax.jit(jax.value_and_grad(lambda *args: loss(alone, *args), (0, 1)))(whole, weight)
        step = jax.jit(jax.value_and_grad(lambda *args: loss(op, *args), (0, 1)))
        compiled = step.lower(x, w).compile()
        value, gradients = compiled(x, w)
        same(value, one[0])
        for found, expected in zip(gradients, one[1]):
            same(found, expected)
        assert gradients[0].sharding.is_equivalent_to(x.sharding, 2)
        text = compiled.as_text()
        print(name, text.count(" all-gather"), text.count(" all-reduce") > 0, "rms_norm_vjp" in text)
"""


@pytest.mark.parametrize(("processes", "devices"), [(2, 2), (4, 1)])
def test_values_and_gradients_are_those_of_one_process(library_path, processes, devices):
    variables = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}"}
    library = str(library_path("custom_ops"))
    printed = jobs.run_job(PROGRAM, processes, jobs.clean_environment(**variables), library)
    for rank, (head, *programs) in enumerate(printed):
        assert head == f"{rank} {processes} {processes * devices} {devices}"
        assert programs == ["jit 0 True True", "shard_map 0 True True", "weight 0 True True"]


CHAPTER = pathlib.Path(__file__).parents[2] / "docs/guide/25-several-machines.md"

# The arguments of the chapter's launcher, and the variables of `srun`.
STARTS = {
    "launcher": 'sys.argv = ["train.py", f"localhost:{port}", count, rank]',
    "SLURM": """
import os
step = {"NTASKS": count, "PROCID": rank, "LOCALID": rank, "STEP_NODELIST": "localhost", "STEP_NUM_NODES": "1"}
os.environ.update({f"SLURM_{name}": value for name, value in step.items()})
# From which JAX computes the port.
os.environ["SLURM_JOB_ID"] = str(int(port) % 4096)
sys.argv = ["train.py"]
""",
}


@pytest.mark.parametrize("start", STARTS)
def test_the_program_of_the_guide(library_path, start):
    (program,) = re.findall(r"^```python\n(.*?)^```$", CHAPTER.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    program = program.replace('"target/release/libmy_ops.so"', repr(str(library_path("custom_ops"))))
    code = f"import sys\nrank, count, port = sys.argv[1:]\n{STARTS[start]}\n{program}"
    for rank, lines in enumerate(jobs.run_job(code, 2, jobs.clean_environment(JAX_PLATFORMS="cpu"))):
        assert lines == [f"process {rank} of 2: 128.00 from (8, 16), here (4, 16)"]
