"""Writes the corpus of portable artifacts that the tests of the bytecode reader read, and what jaxlib reads in them.

Run by hand, in an environment with the newest supported jax, where jaxlib has a newer release of StableHLO (then
`STABLEHLO_VERSIONS` in `bytecode/ops.rs` has it too) or a program is added:

    python plugin/hlo/tests/corpus.py

For each program and each release of StableHLO that it can be written for, `bytecode/corpus/PROGRAM/RELEASE.mlirbc` is
the artifact. What jaxlib itself reads in it is the oracle of the tests: `outline.txt` beside it has the functions, ops,
operands and types, and `module.mlir` all of it as text. Programs called `unsupported_...` have neither: the reader
refuses them. The programs are the `.mlir` files of `bytecode/programs`, and the functions of JAX below.
"""

import functools
import itertools
import pathlib
import shutil

import jax
import jax.numpy as jnp
import jaxlib._jax as _jax
from jax import lax
from jax._src.interpreters import mlir as jax_mlir
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from jax_programs import convolution_gradient
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

# For sharded programs.
jax.config.update("jax_num_cpu_devices", 8)

ROOT = pathlib.Path(__file__).parent / "bytecode"

# Each writes another version of MLIR bytecode, or of some op; the last is jaxlib's own.
RELEASES = ["0.9.0", "0.10.0", "0.12.0", "0.14.0", "0.17.0", "0.20.0", "1.0.0", "1.4.0", "1.7.1", "1.9.5", "1.13.0"]
RELEASES += ["1.17.0", "1.19.0"]
RELEASES.append(stablehlo.get_current_version())

# JAX programs are larger, so fewer releases hold them.
JAX_RELEASES = ["1.9.5", RELEASES[-1]]

# Ops that the reader turns into others, with the number of operands that are left.
LEGACY = {
    "stablehlo.broadcast": ("stablehlo.broadcast_in_dim", 1),
    "stablehlo.create_token": ("stablehlo.after_all", 0),
    "stablehlo.dot": ("stablehlo.dot_general", 2),
    "stablehlo.dynamic_broadcast_in_dim": ("stablehlo.broadcast_in_dim", 1),
    "stablehlo.dynamic_conv": ("stablehlo.convolution", 2),
    "stablehlo.dynamic_gather": ("stablehlo.gather", 2),
    "stablehlo.dynamic_iota": ("stablehlo.iota", 0),
    "stablehlo.dynamic_pad": ("stablehlo.pad", 2),
    "stablehlo.dynamic_reshape": ("stablehlo.reshape", 1),
    "stablehlo.real_dynamic_slice": ("stablehlo.slice", 1),
    "stablehlo.set_dimension_size": ("stablehlo.reshape", 1),
    "stablehlo.torch_index_select": ("stablehlo.gather", 2),
}


def mlp_training_step(weights, x, y):
    def loss(weights):
        hidden = jax.nn.gelu(x @ weights[0])
        return jnp.mean((hidden @ weights[1] - y) ** 2)

    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, jax.grad(loss)(weights))


def lstm(weights, state, inputs):
    def step(state, x):
        h, c = state
        i, f, g, o = jnp.split(jnp.concatenate([x, h]) @ weights, 4)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    return jax.lax.scan(step, state, inputs)


def random_bits(key):
    """A key as an argument brings constraints of the sharding dialect, even on one device."""
    return jax.random.bits(key, (3,))


def statistics(seed, x):
    noise = jax.random.normal(jax.random.PRNGKey(seed), x.shape)
    order = jnp.argsort(x + noise, axis=-1)
    q, r = jnp.linalg.qr(x)
    values, indices = jax.lax.top_k(x, 2)
    return jnp.take_along_axis(x, order, -1), jnp.cumsum(x, 1), q @ r, values, indices, jax.scipy.special.erf(x)


JAX_PROGRAMS = {
    "jax_mlp": (mlp_training_step, [jnp.zeros((8, 16)), jnp.zeros((16, 4))], jnp.zeros((2, 8)), jnp.zeros((2, 4))),
    "jax_lstm": (lstm, jnp.zeros((8, 16)), (jnp.zeros(4), jnp.zeros(4)), jnp.zeros((5, 4))),
    "jax_convolution": (convolution_gradient, jnp.zeros((1, 8, 8, 3)), jnp.zeros((3, 3, 3, 4))),
    "jax_random_bits": (random_bits, jax.random.key(0)),
    "jax_statistics": (statistics, 0, jnp.zeros((6, 6))),
}


def sharded(x, w):
    """Data and tensor parallelism, with constraints, inside a loop and out of it."""

    def step(x, _):
        return lax.with_sharding_constraint(jnp.tanh(x @ w), sharding("x", "y")), x.sum()

    x, sums = lax.scan(step, x, length=3)
    return lax.with_sharding_constraint(x, sharding(PartitionSpec.UNCONSTRAINED, "y")).reshape(-1), sums


def shard_map(x, w):
    """A body per device, of all axes and of one."""
    both = jax.shard_map(
        lambda x, w: x * 2 + w[0] + lax.axis_index("x"),
        in_specs=(PartitionSpec("x", "y"), PartitionSpec(None, "y")),
        out_specs=PartitionSpec("x", "y"),
        mesh=mesh(),
    )
    one = jax.shard_map(
        lambda x: x + x.shape[0],
        in_specs=PartitionSpec("x"),
        out_specs=PartitionSpec("x"),
        axis_names={"x"},
        mesh=mesh(),
    )
    return one(both(x, w) @ w)


def mesh():
    return jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)


def sharding(*spec):
    return NamedSharding(mesh(), PartitionSpec(*spec))


# These run on eight devices.
SHARDED_PROGRAMS = {
    "jax_sharded": (sharded, ((8, 16), PartitionSpec("x", None)), ((16, 16), PartitionSpec(None, "y"))),
    "jax_shard_map": (shard_map, ((8, 16), PartitionSpec("x", None)), ((16, 16), PartitionSpec())),
}


def outline(module):
    """The module's functions, ops, operands and types. Values are numbered in the order of their definition."""
    lines = []
    for func in module.body.operations:
        if func.operation.name != "func.func":
            continue
        numbers = {}
        fresh = itertools.count()

        def define(values, numbers=numbers, fresh=fresh):
            numbers.update((value, next(fresh)) for value in values)
            return [f"%{numbers[value]}: {type_name(value.type)}" for value in values]

        def walk(region, depth, define=define, numbers=numbers):
            block = region.blocks[0]
            indent = "  " * depth
            lines.append(f"{indent}({', '.join(define(block.arguments))})")
            *ops, end = block.operations
            for op in ops:
                op = op.operation
                itself = (op.name, len(op.operands))
                is_dynamic = any("?" in str(value.type) for value in op.results)
                name, count = itself if is_dynamic else LEGACY.get(op.name, itself)
                operands = [f"%{numbers[value]}" for value in list(op.operands)[:count]]
                lines.append(f"{indent}{name}({', '.join(operands)}) -> ({', '.join(define(op.results))})")
                for region in op.regions:
                    walk(region, depth + 1)
            lines.append(f"{indent}return ({', '.join(f'%{numbers[value]}' for value in end.operation.operands)})")

        name = ir.StringAttr(func.attributes["sym_name"]).value
        lines.append(f"func {name}")
        walk(func.operation.regions[0], 1)
    return "\n".join(lines) + "\n"


def type_name(ty):
    return str(ty).replace("index", "i64")


def serialize_as_jax(module, release):
    """The artifact that JAX sends to a plugin of this release: CHLO as composites, other dialects as they are."""
    bytecode = jax_mlir.module_to_bytecode(module)
    return _jax.mlir.serialize_portable_artifact(bytecode, release, True)


def serialize_text_as_jax(text, release):
    with jax_mlir.make_ir_context():
        return serialize_as_jax(ir.Module.parse(text), release)


def write(name, serialize, releases):
    directory = ROOT / "corpus" / name
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    expected = None
    for release in releases:
        try:
            artifact = serialize(release)
        except Exception as error:  # The program needs a newer release.
            print(f"{name}: not in {release}: {str(error).splitlines()[-1][:100]}")
            continue
        (directory / f"{release}.mlirbc").write_bytes(artifact)
        if name.startswith("unsupported_"):
            continue
        with jax_mlir.make_ir_context() as context:
            module = stablehlo.deserialize_portable_artifact(context, artifact)
            read = outline(module), module.operation.get_asm(enable_debug_info=True) + "\n"
        assert expected in (None, read), f"{name}: {release} is read as another program"
        expected = read
    if expected is not None:
        (directory / "outline.txt").write_text(expected[0])
        (directory / "module.mlir").write_text(expected[1])


def write_jax(name, module):
    """Each release of JAX has programs of its own: what they say differs."""
    write(f"{name}_{jax.__version__}", lambda release: serialize_as_jax(module, release), JAX_RELEASES)


def main():
    # No paths of this machine in source locations.
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    for path in sorted((ROOT / "programs").glob("*.mlir")):
        text = path.read_text()
        # Other dialects are let through only where JAX sends programs.
        others = any(dialect in text for dialect in ("sdy.", '"chlo.'))
        serialize = serialize_text_as_jax if others else stablehlo.serialize_portable_artifact_str
        write(path.stem, functools.partial(serialize, text), RELEASES)
    for name, (function, *arguments) in SHARDED_PROGRAMS.items():
        arguments = [jax.ShapeDtypeStruct(shape, "float32", sharding=sharding(*spec)) for shape, spec in arguments]
        module = jax.jit(function).lower(*arguments).compiler_ir()
        write_jax(name, module)
    for name, (function, *arguments) in JAX_PROGRAMS.items():
        module = jax.jit(function).lower(*arguments).compiler_ir()
        write_jax(name, module)


if __name__ == "__main__":
    main()
