"""Writes the corpus of HLO protos that the tests of their reader read, with values that XLA's CPU computes.

Run by hand, in an environment with jax, where a program is added:

    python plugin/hlo/tests/hlo_proto/corpus.py

For each program `corpus/NAME.pb` is an `HloModuleProto`, and `corpus/NAME.values` holds the bytes of arguments and then
of results, one after the other, row-major: the program says their types. The programs are the `.hlo` files of
`programs`, which XLA's own parser reads, and the functions of JAX below.
"""

import pathlib
import sys

import jax
import jax.numpy as jnp
import jaxlib._jax as _jax
import ml_dtypes
import numpy as np
from jaxlib import _hlo, xla_client

ROOT = pathlib.Path(__file__).parent
sys.path.insert(0, str(ROOT.parent))

from jax_programs import convolution_gradient  # noqa: E402

# Arguments of these programs, by number, that must have certain values.
GIVEN = {
    "control": {1: np.array(False), 2: np.array(1, np.int32)},
    "indexing": {1: np.array([4, 0], np.int32)},
    "movement": {1: np.array(1, np.int32)},
}


def leaves(shape):
    return [leaf for part in shape.tuple_shapes() for leaf in leaves(part)] if shape.is_tuple() else [shape]


def argument(shape, random):
    dtype, dims = shape.numpy_dtype(), shape.dimensions()
    if dtype == np.bool_:
        return random.random(dims) < 0.5
    if np.issubdtype(dtype, np.integer):
        return random.integers(0 if dtype.kind == "u" else -9, 9, dims).astype(dtype)
    return random.standard_normal(dims).astype(dtype)


def compute(computation, arguments):
    """What XLA's CPU computes."""
    client = jax.devices("cpu")[0].client
    text = _jax.mlir.xla_computation_to_mlir_module(computation)
    devices = _jax.DeviceList(tuple(client.local_devices()[:1]))
    executable = client.compile_and_load(text, devices, xla_client.CompileOptions())
    buffers = [jax.device_put(value, client.local_devices()[0]) for value in arguments]
    results = executable.execute_sharded(buffers).disassemble_into_single_device_arrays()
    return [np.asarray(result[0]) for result in results]


def write(name, proto, arguments, results):
    corpus = ROOT / "corpus"
    corpus.mkdir(exist_ok=True)
    (corpus / f"{name}.pb").write_bytes(proto)
    values = [np.ascontiguousarray(value).tobytes() for value in [*arguments, *results]]
    (corpus / f"{name}.values").write_bytes(b"".join(values))


def write_text(path):
    computation = _hlo.XlaComputation(_hlo.hlo_module_from_text(path.read_text()).as_serialized_hlo_module_proto())
    random = np.random.default_rng(0)
    shapes = [leaf for shape in computation.program_shape().parameter_shapes() for leaf in leaves(shape)]
    arguments = [argument(shape, random) for shape in shapes]
    for index, value in GIVEN.get(path.stem, {}).items():
        arguments[index] = value
    results = compute(computation, arguments)
    write(path.stem, computation.as_serialized_hlo_module_proto(), arguments, results)


def mlp_training_step(w0, w1, x, y):
    def loss(weights):
        hidden = jax.nn.gelu(x @ weights[0], approximate=False)
        return jnp.mean((jax.nn.softmax(hidden @ weights[1]) - y) ** 2)

    value, grads = jax.value_and_grad(loss)((w0, w1))
    return value, *(w - 0.1 * g for w, g in zip((w0, w1), grads, strict=True))


def scanned(weights, h, inputs):
    def step(h, x):
        h = jnp.tanh(jnp.concatenate([x, h]) @ weights)
        return h, h.sum()

    return jax.lax.scan(step, h, inputs)


def statistics(x):
    order = jnp.argsort(x, axis=-1)
    values, indices = jax.lax.top_k(x, 2)
    return jnp.take_along_axis(x, order, -1), jnp.cumsum(x, 1), values, indices, jnp.quantile(x, 0.3)


def random_numbers(seed):
    key = jax.random.PRNGKey(seed)
    return jax.random.uniform(key, (3, 4)), jax.random.normal(key, (5,)), jax.random.permutation(key, 8)


def mixed_types(x, i):
    half = x.astype(jnp.float16) * 2
    return half, x.astype(jnp.bfloat16), x.astype(jnp.float8_e4m3fn), i.at[1].add(3), jnp.where(i > 0, x, -x)


def normal(*dims):
    return np.random.default_rng(1).standard_normal(dims).astype(np.float32)


JAX_PROGRAMS = {
    "jax_mlp": (mlp_training_step, normal(8, 16), normal(16, 4), normal(2, 8), normal(2, 4)),
    "jax_scan": (scanned, normal(7, 4), normal(4), normal(5, 3)),
    "jax_convolution": (convolution_gradient, normal(1, 8, 8, 3), normal(3, 3, 3, 4)),
    "jax_statistics": (statistics, normal(6, 6)),
    "jax_random": (random_numbers, np.int32(7)),
    "jax_mixed_types": (mixed_types, normal(4), np.array([1, -2, 3, -4], np.int32)),
}


def write_jax(name, function, *arguments):
    lowered = jax.jit(function).lower(*arguments)
    results = [np.asarray(result) for result in jax.tree.leaves(jax.jit(function)(*arguments))]
    write(name, lowered.compiler_ir("hlo").as_serialized_hlo_module_proto(), arguments, results)


def main():
    # No paths of this machine in source locations.
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    for path in sorted((ROOT / "programs").glob("*.hlo")):
        print(path.stem)
        write_text(path)
    for name, (function, *arguments) in JAX_PROGRAMS.items():
        print(name)
        write_jax(name, function, *arguments)


if __name__ == "__main__":
    assert ml_dtypes.bfloat16  # makes NumPy know the types
    main()
