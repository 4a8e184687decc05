"""Writes the texts that the tests of the parser read, other than those written by hand in `programs`.

Run by hand, in an environment with jax, where a program is added or JAX prints something new:

    python plugin/hlo/tests/text/corpus.py

`jax` gets the programs below as `jax.jit(f).lower(...).as_text()` gives them; `jax/locations.mlir` with source
locations. `generic` gets each program of `programs` and `jax` in generic form, as jaxlib prints it: both forms have to
read as the same program. `older` has some of the programs, and others with shardings, FFI calls and callbacks, as other
releases of JAX printed them.
"""

import pathlib

import jax
import jax.numpy as jnp
from jax import lax
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir

ROOT = pathlib.Path(__file__).parent


def mlp_gradient(weights, x, y):
    def loss(weights):
        hidden = jax.nn.gelu(x @ weights[0])
        return jnp.mean((hidden @ weights[1] - y) ** 2)

    return jax.grad(loss)(weights)


def rnn_scan(w, xs):
    return lax.scan(lambda h, x: (jnp.tanh(h @ w + x), h.sum()), jnp.zeros(3), xs)


def convolution_gradient(image, kernel):
    def pooled(kernel):
        y = lax.conv_general_dilated(image, kernel, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").sum()

    return jax.grad(pooled)(kernel)


def sorting(x):
    return jnp.sort(x, axis=0), jnp.argsort(x), lax.top_k(x, 2), jnp.median(x), jnp.unique(x, size=3)


def transforms(x):
    return jnp.fft.fft(x), jnp.fft.irfft2(jnp.fft.rfft2(x))


def random_numbers(key):
    return jax.random.normal(key, (3,)), jax.random.permutation(key, 5), jax.random.bits(key, (2,), "uint8")


def linear_algebra(a):
    q, r = jnp.linalg.qr(a)
    return jnp.linalg.cholesky(a), q, r, jnp.linalg.solve(a, a), jnp.linalg.svd(a), jnp.linalg.eigh(a)


def indexing(x, i):
    return x[i], x.at[i].add(1.0), x.at[0, i].max(2.0), lax.dynamic_slice(x, (i[0], 0), (1, 2)), x[::-1, 1::2]


def control_flow(x, n):
    def step(state):
        i, y = state
        return i + 1, lax.switch(i % 3, [jnp.sin, jnp.cos, lambda y: y * 2], y)

    _, y = lax.while_loop(lambda state: state[0] < n, step, (0, x))
    return lax.cond(y.sum() > 0, lambda y: -y, lambda y: lax.fori_loop(0, 3, lambda i, y: y + i, y), y)


def special_functions(x):
    return jax.scipy.special.erf(x), lax.lgamma(x), lax.digamma(x), lax.erf_inv(x), lax.bessel_i1e(x), lax.igamma(x, x)


def attention(q, k, v):
    return jax.nn.dot_product_attention(q, k, v, is_causal=True)


def narrow_types(x):
    return x.astype(jnp.float8_e4m3fn), x.astype(jnp.bfloat16) * 3, x.astype(jnp.int4), x.astype(jnp.float16) + 1


def large_constant(x):
    return x + jnp.arange(300, dtype=jnp.float32).at[7].set(0.5), jax.numpy.asarray(range(120))


F32 = jnp.float32
PROGRAMS = {
    mlp_gradient: ([jnp.ones((4, 8)), jnp.ones((8, 2))], jnp.ones((3, 4)), jnp.ones((3, 2))),
    rnn_scan: (jnp.ones((3, 3)), jnp.ones((5, 3))),
    convolution_gradient: (jnp.ones((1, 8, 8, 3)), jnp.ones((3, 3, 3, 4))),
    sorting: (jnp.ones((4, 6)),),
    transforms: (jnp.ones((4, 6)),),
    random_numbers: (jax.random.key(0),),
    linear_algebra: (jnp.eye(3),),
    indexing: (jnp.ones((4, 6)), jnp.array([1, 2])),
    control_flow: (jnp.ones(3), 5),
    special_functions: (jnp.ones(3),),
    attention: (jnp.ones((1, 4, 2, 8)),) * 3,
    narrow_types: (jnp.ones(4),),
    large_constant: (jnp.ones(300),),
}


def write(directory, name, text):
    (ROOT / directory).mkdir(exist_ok=True)
    (ROOT / directory / f"{name}.mlir").write_text(text.rstrip() + "\n")


def main():
    for program, arguments in PROGRAMS.items():
        write("jax", program.__name__, jax.jit(program).lower(*arguments).as_text())
    root = f"{ROOT.parents[3]}/"
    with_locations = jax.jit(rnn_scan).lower(*PROGRAMS[rnn_scan]).as_text(debug_info=True)
    write("jax", "locations", with_locations.replace(root, ""))
    for path in [*(ROOT / "programs").glob("*.mlir"), *(ROOT / "jax").glob("*.mlir")]:
        with jax_mlir.make_ir_context() as context, ir.Location.unknown(context):
            module = ir.Module.parse(path.read_text())
            debug = path.stem == "locations"
            write("generic", path.stem, module.operation.get_asm(print_generic_op_form=True, enable_debug_info=debug))


if __name__ == "__main__":
    main()
