"""Which cells apply: the op kinds of StableHLO and CHLO with the dtypes that their specifications allow, and the public
functions of JAX's modules, as the installed JAX lists them: one that has no case is a cell that lacks cases.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import ModuleType

import jax
import jax.scipy.linalg

from conformance import inputs

_INTEGERS = inputs.INTEGERS
_FLOATS = (*inputs.SMALL_FLOATS, *inputs.FLOATS)
_INEXACT = (*_FLOATS, *inputs.COMPLEX)
_NUMBERS = (*_INTEGERS, *_INEXACT)
_BITS = ("bool", *_INTEGERS)
_ALL = inputs.EVERY
_SOLVED = ("float32", "float64", *inputs.COMPLEX)

# The dtypes of each op of StableHLO.
STABLEHLO: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("abs", "sign"), (*inputs.SIGNED, *_INEXACT)),
    **dict.fromkeys(
        (
            "cosine",
            "exponential",
            "exponential_minus_one",
            "log",
            "log_plus_one",
            "logistic",
            "rsqrt",
            "sine",
            "sqrt",
            "tan",
            "tanh",
            "real",
            "imag",
        ),
        _INEXACT,
    ),
    **dict.fromkeys(("cbrt", "ceil", "floor", "round_nearest_afz", "round_nearest_even", "is_finite"), _FLOATS),
    **dict.fromkeys(("count_leading_zeros", "popcnt"), _INTEGERS),
    **dict.fromkeys(("and", "or", "xor", "not"), _BITS),
    **dict.fromkeys(("shift_left", "shift_right_arithmetic", "shift_right_logical"), _INTEGERS),
    **dict.fromkeys(("add", "multiply", "maximum", "minimum"), _ALL),
    **dict.fromkeys(("subtract", "divide", "negate", "power"), _NUMBERS),
    "remainder": (*_INTEGERS, *_FLOATS),
    "atan2": _INEXACT,
    "reduce_precision": _FLOATS,
    "complex": inputs.COMPLEX,
    "clamp": _ALL,
    **dict.fromkeys(("compare", "select", "convert", "bitcast_convert"), _ALL),
    "iota": _NUMBERS,
    **dict.fromkeys(("constant", "broadcast_in_dim", "broadcast", "reshape", "transpose", "slice", "reverse"), _ALL),
    **dict.fromkeys(("dynamic_slice", "dynamic_update_slice", "pad", "concatenate", "gather", "scatter"), _ALL),
    **dict.fromkeys(("torch_index_select", "reduce", "reduce_window", "select_and_scatter", "sort", "map"), _ALL),
    **dict.fromkeys(("dot_general", "dot", "convolution"), _ALL),
    **dict.fromkeys(("einsum", "unary_einsum"), _NUMBERS),
    **dict.fromkeys(("while", "if", "case", "call", "composite", "tuple", "get_tuple_element"), _ALL),
    **dict.fromkeys(("optimization_barrier", "custom_call"), _ALL),
    "fft": _SOLVED,
    **dict.fromkeys(("cholesky", "triangular_solve"), _SOLVED),
    "rng": ("bool", *_INTEGERS[2:6], *_INTEGERS[8:], *inputs.FLOATS),
    "rng_bit_generator": (*_INTEGERS[2:6], *_INTEGERS[8:], *inputs.FLOATS),
    **dict.fromkeys(("batch_norm_inference", "batch_norm_training", "batch_norm_grad"), inputs.FLOATS),
    **dict.fromkeys(("dynamic_reshape", "dynamic_broadcast_in_dim", "dynamic_pad", "dynamic_gather"), ("float32",)),
    **dict.fromkeys(("dynamic_iota", "dynamic_conv", "real_dynamic_slice", "set_dimension_size"), ("float32",)),
    **dict.fromkeys(("get_dimension_size", "partition_id", "replica_id", "after_all", "create_token"), ("none",)),
}

# The dtypes of each function of CHLO, as ops or as what they are lowered to.
CHLO: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh"), inputs.FLOATS),
    **dict.fromkeys(("bessel_i1e", "digamma", "erf", "erf_inv", "erfc", "lgamma"), inputs.FLOATS),
    **dict.fromkeys(("is_inf", "is_neg_inf", "is_pos_inf"), inputs.FLOATS),
    "conj": inputs.COMPLEX,
    "square": (*inputs.FLOATS, *inputs.COMPLEX),
    "next_after": ("float32", "float64"),
    **dict.fromkeys(("polygamma", "zeta"), ("float32", "float64")),
    "mulhi": (*_INTEGERS[2:6], *_INTEGERS[8:]),
    "ragged_dot": ("float32", "float64"),
    "top_k": (*_INTEGERS[2:6], *_INTEGERS[8:], *inputs.FLOATS),
}

# Ops of StableHLO that no program for one device with static shapes contains, and why.
ABSENT: dict[str, str] = {
    **dict.fromkeys(
        (
            "all_gather",
            "all_reduce",
            "all_to_all",
            "collective_broadcast",
            "collective_permute",
            "cross-replica-sum",
            "reduce_scatter",
        ),
        "collective between devices",
    ),
    **dict.fromkeys(("infeed", "outfeed", "send", "recv"), "there is nobody to talk to"),
    **dict.fromkeys(("async_start", "async_done"), "asynchronous op"),
    **dict.fromkeys(("uniform_quantize", "uniform_dequantize"), "quantised type"),
    "return": "the end of a region",
}


# Modules whose public functions are rows of the table, and dtypes on which each function must have cases.
MODULES: dict[str, tuple[ModuleType, tuple[str, ...]]] = {
    "jnp.linalg": (jax.numpy.linalg, _SOLVED),
    "jax.scipy.linalg": (jax.scipy.linalg, ("float64",)),
    "lax.linalg": (jax.lax.linalg, ("float32", "float64")),
    "jnp.fft": (jax.numpy.fft, ("float32", "float64")),
    "jax.random": (jax.random, ()),
    "jax.image": (jax.image, ("float32", "float64")),
}

# Functions that run nothing: what makes keys, and says what they are.
_KEYS = ("PRNGKey", "key", "key_data", "key_dtype", "key_impl", "wrap_key_data")


def cells() -> Iterator[tuple[str, str]]:
    """The op kinds with the dtypes that they take, and the functions of modules."""
    for table in (STABLEHLO, CHLO):
        for op, dtypes in table.items():
            for dtype in dtypes:
                yield op, dtype
    for prefix, (module, dtypes) in MODULES.items():
        for name in functions(module):
            for dtype in dtypes:
                yield f"{prefix}.{name}", dtype


def functions(module: ModuleType) -> Iterator[str]:
    """The public functions of a module that compute something."""
    for name, value in vars(module).items():
        if not name.startswith("_") and name not in _KEYS and callable(value) and not inspect.isclass(value):
            yield name


def group(op: str) -> int:
    """0 for an op of StableHLO, 1 for one of CHLO, 2 for anything else."""
    return 0 if op in STABLEHLO else 1 if op in CHLO else 2
