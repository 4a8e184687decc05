"""What is said when a program is compiled, and what compiled programs say of themselves."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import serialize_executable, topologies
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

# An option, a value of another type, and what XLA says of it.
WRONG = [
    ("xla_embed_ir_in_executable", "maybe", "'maybe' is not a valid bool value"),
    ("xla_embed_ir_in_executable", 1, "'1' is not a valid bool value"),
    ("xla_dump_max_hlo_modules", 1.5, "'1.5' is not a valid int32 value"),
    ("xla_gpu_auto_spmd_partitioning_memory_budget_ratio", True, "'1' is not a valid float value"),
    ("xla_dump_to", False, "'0' is not a valid string value"),
    ("no_option", True, "No such compile option: 'no_option'"),
]
RIGHT = {
    "xla_embed_ir_in_executable": True,
    "xla_dump_max_hlo_modules": "200",
    "xla_gpu_auto_spmd_partitioning_memory_budget_ratio": 0.5,
    "xla_cpu_max_isa": "AVX2",
}


@pytest.mark.parametrize(("name", "value", "message"), WRONG)
def test_wrong_compiler_options(name, value, message):
    for compile in (
        lambda: jax.jit(jnp.sin).lower(1.0).compile(compiler_options={name: value}),
        lambda: jax.jit(jnp.sin, compiler_options={name: value})(1.0),
        lambda: jax.pmap(jnp.sin).lower(jnp.ones(8)).compile(compiler_options={name: value}),
    ):
        with pytest.raises(jax.errors.JaxRuntimeError, match=message):
            compile()


def test_right_compiler_options():
    assert float(jax.jit(lambda x: x + 1, compiler_options=RIGHT)(1.0)) == 2


def test_instructions_have_the_names_under_which_they_were_traced():
    def program(x):
        with jax.named_scope("inner"):
            return jax.lax.erf(x)

    assert 'op_name="jit(program)/inner/erf"' in jax.jit(program).lower(jnp.arange(3.0)).compile().as_text()


def test_a_program_on_several_devices_without_results():
    whole = NamedSharding(Mesh(np.array(jax.devices()), ("x",)), P("x"))
    seen = []
    program = jax.jit(lambda x: jax.debug.callback(lambda x: seen.append(float(x)), x.sum()), in_shardings=whole)
    assert program(jnp.arange(8.0)) is None
    jax.effects_barrier()
    assert seen == [28]


def test_programs_for_devices_that_are_described():
    platform = jax.default_backend()
    try:
        options = {"num_devices": 8} if platform == "oxcall" else {}
        described = topologies.get_topology_desc(platform=platform, **options)
    except NotImplementedError:
        pytest.skip("JAX's CPU has no topologies")

    def compiled(topology):
        sharding = NamedSharding(topologies.make_mesh(topology, (4, 2), ("x", "y")), P("x", "y"))
        argument = jax.ShapeDtypeStruct((16, 16), "float32", sharding=sharding)
        return serialize_executable.serialize(jax.jit(lambda x: x * x).lower(argument).compile())

    ours, theirs = compiled(topologies.get_attached_topology()), compiled(described)
    ours, theirs = (serialize_executable.deserialize_and_load(*each) for each in (ours, theirs))
    assert theirs.as_text() == ours.as_text()
