"""The plugin in jobs of `jax.distributed`: unused, beside JAX's CPU, and as the default platform."""

import jobs
import pytest

START = """
    import sys, warnings
    warnings.simplefilter("error")
    import jax, jax.numpy as jnp, numpy as np
    from jax.experimental import multihost_utils
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
    import oxcall

    rank, count, port, library = int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]
    if jax.__version_info__ < (0, 6):
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"localhost:{port}", num_processes=count, process_id=rank)
    ops = oxcall.load(library)
"""

# Both platforms in each process, and what the processes do together on JAX's CPU.
BESIDE = (
    START
    + """
    print(jax.process_index(), jax.process_count(), jax.default_backend())
    print(multihost_utils.process_allgather(np.arange(2) + 10 * rank).tolist())
    if jax.config.jax_platforms != "cpu":
        device, = jax.devices("oxcall")
        assert [device] == jax.local_devices(backend="oxcall")
        print(device.id, device.process_index, jax.process_index("oxcall"))
        x = jax.device_put(jnp.arange(4, dtype=np.float32) + rank, jax.local_devices()[0])
        x = jax.device_put(x, device)
        y = jax.jit(lambda x: ops.async_scale(x, factor=2.0))(x)
        print(y.devices() == {device}, y.is_fully_addressable, np.asarray(y).tolist())
        z = jax.device_put(y, jax.local_devices()[0])
        print(z.platform() if callable(getattr(z, "platform", None)) else z.device.platform, np.asarray(z).tolist())
    multihost_utils.sync_global_devices("the end")
"""
)


@pytest.mark.parametrize("platforms", ["", "cpu", "cpu,oxcall"])
def test_beside_the_cpu_each_process_has_devices_of_its_own(library_path, platforms):
    printed = jobs.run_job(BESIDE, 2, jobs.clean_environment(JAX_PLATFORMS=platforms), str(library_path("custom_ops")))
    for rank, lines in enumerate(printed):
        assert lines[:2] == [f"{rank} 2 cpu", "[[0, 1], [10, 11]]"]
        values = [2.0 * i + 2 * rank for i in range(4)]
        own = [f"{4096 * rank} {rank} {rank}", f"True True {values}", f"cpu {values}"]
        assert lines[2:] == ([] if platforms == "cpu" else own)


DEFAULT = (
    START
    + """
    print(jax.process_index(), jax.process_count(), jax.default_backend())
    print([device.id for device in jax.devices()], [device.id for device in jax.local_devices()])

    x = jax.random.normal(jax.random.key(rank), (4, 8))
    loss = lambda x: (ops.rms_norm(x, eps=1e-5) ** 3).sum()
    gradient = jax.jit(jax.grad(loss))(x)
    print(gradient.devices() == {jax.local_devices()[0]})
    rows = NamedSharding(Mesh(jax.local_devices(), ("data",)), P("data"))
    split = jax.jit(jax.grad(loss))(jax.make_array_from_process_local_data(rows, np.asarray(x)))
    np.testing.assert_allclose(np.asarray(split), np.asarray(gradient), rtol=1e-5, atol=1e-5)
    print(len(split.sharding.device_set))

    def refused(call):
        try:
            call()
        except Exception as error:
            print(error)
        else:
            print("no error")

    everywhere = NamedSharding(Mesh(jax.devices(), ("data",)), P("data"))
    y = jax.make_array_from_process_local_data(everywhere, np.asarray(x))
    refused(lambda: jax.jit(lambda y: y.sum())(y))
    refused(lambda: multihost_utils.process_allgather(np.arange(2)))
"""
)


@pytest.mark.parametrize("platforms", ["oxcall", "oxcall,cpu"])
def test_as_the_default_platform_it_runs_the_programs_of_each_process(library_path, platforms):
    variables = jobs.clean_environment(JAX_PLATFORMS=platforms, OXCALL_NUM_DEVICES="2")
    for rank, lines in enumerate(jobs.run_job(DEFAULT, 2, variables, str(library_path("custom_ops")))):
        own = [4096 * rank, 4096 * rank + 1]
        assert lines[:2] == [f"{rank} 2 oxcall", f"[0, 1, 4096, 4097] {own}"]
        assert lines[2:4] == ["True", "2"]
        assert len(lines) == 6
        for line in lines[4:]:
            assert f"process {rank} of 2 runs programs on its own devices of `oxcall` only (it has 2)" in line
            assert f"of process {1 - rank}" in line and "JAX_PLATFORMS=cpu,oxcall" in line


def test_the_place_of_a_process_is_checked(fresh):
    code = """
        import jax
        from jax._src import xla_bridge
        from jaxlib import xla_client
        jax.devices("oxcall")
        for node, nodes in [(2, 2), (-1, 2), (0, 0), (0, 1 << 20)]:
            try:
                xla_client.make_c_api_client("oxcall", {"node_id": node, "num_nodes": nodes}, None)
            except Exception as error:
                print(error)
        client = xla_client.make_c_api_client("oxcall", {"node_id": 3, "num_nodes": 4, "num_devices": 2}, None)
        print(client.process_index(), [(device.id, device.process_index) for device in client.devices()])
    """
    lines = fresh(code).splitlines()
    assert ["expected an integer from" in line for line in lines] == [True] * 4 + [False]
    assert "`node_id` is 2; expected an integer from 0 to 1" in lines[0]
    assert lines[4] == "3 [(12288, 3), (12289, 3)]"
