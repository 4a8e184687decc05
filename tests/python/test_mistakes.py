"""Mistakes that users make, through real JAX.

Each is an exception that names the op, the parameter, what is expected and what was given; none ends the process or
writes where it should not. Where a mistake can be made both through the ops of an `oxcall.Library`, which check before
anything is compiled, and through `jax.ffi` alone, where only the handler checks, it is made both ways.
"""

import gc
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import oxcall
import raw

F32, S32, BF16 = jnp.float32, jnp.int32, jnp.bfloat16


def of(shape, dtype=F32):
    return jax.ShapeDtypeStruct(shape, dtype)


X = np.linspace(-1, 1, 32, dtype=np.float32).reshape(4, 8)
Y = of((4, 8))
TOP = [of((4, 2)), of((4, 2), S32)]


def refuses(status, *parts):
    """Asserts that a call fails with this status and a message that has all these parts, in order."""
    return pytest.raises(jax.errors.JaxRuntimeError, match=f"(?s)^{status}: " + ".*".join(map(re.escape, parts)))


def declines(*parts):
    """Asserts that the Python package refuses a call with a message that has all these parts, in order."""
    return pytest.raises(oxcall.CallError, match="(?s)" + ".*".join(map(re.escape, parts)))


# What the handler says to a call that nothing checked before: target, results, operands, attributes, parts.
INVALID = [
    # Wrong numbers of arguments and results.
    ("rms_norm", Y, (), {}, ("rms_norm: expected 1 argument (x), got 0",)),
    ("rms_norm", Y, (X, X), {}, ("rms_norm: expected 1 argument (x), got 2",)),
    ("rms_norm", [Y, Y], (X,), {}, ("rms_norm: expected 1 result (y), got 2",)),
    ("axpy", Y, (X,), {"alpha": 1.0}, ("axpy: expected 2 arguments (x, y), got 1",)),
    # Wrong dtypes.
    ("rms_norm", Y, (X.astype(int),), {}, ("rms_norm: argument `x`", "one of f16, bf16, f32, f64, got s32")),
    ("rms_norm", of((4, 8), BF16), (X,), {}, ("rms_norm: result `y`", "f32, got bf16", "T is f32")),
    ("softmax", of((4, 8), BF16), (X,), {}, ("softmax: argument `x`", "expected dtype bf16, got f32")),
    ("concatenate", of((8, 8)), (X, X.astype(int)), {}, ("concatenate: argument `xs[1]`", "f32, got s32")),
    # Wrong ranks.
    ("rms_norm", of(()), (X[0, 0],), {}, ("rms_norm: argument `x` has shape []", "[..b, n]")),
    ("softmax", of((8,), BF16), (X[0].astype(BF16),), {}, ("softmax: argument `x`", "[8]", "[rows, n]")),
    # Results of wrong shapes: a handler that trusts them writes past their end.
    ("rms_norm", of((4, 4)), (X,), {}, ("rms_norm: result `y` has shape [4, 4]", "expects [4, 8]")),
    ("rms_norm", of((999, 8)), (X,), {}, ("rms_norm: result `y` has shape [999, 8]", "expects [4, 8]")),
    ("top_k", TOP, (X,), {"k": 3}, ("top_k: result `values` has shape [4, 2]", "k = 3", "expects [4, 3]")),
    ("concatenate", of((5, 8)), (X, X), {}, ("concatenate: result `y` has shape [5, 8]", "give [8, 8]")),
    # Attributes: missing, unknown, of wrong types, out of range.
    ("top_k", TOP, (X,), {}, ("top_k: attribute `k` is missing",)),
    ("rms_norm", Y, (X,), {"epz": 1.0}, ("rms_norm: there is no attribute `epz`; did you mean `eps`?",)),
    ("rms_norm", Y, (X,), {"eps": 1.0, "zoom": 2}, ("rms_norm: there is no attribute `zoom`", "takes `eps`")),
    ("rms_norm", Y, (X,), {"eps": "tiny"}, ("rms_norm: attribute `eps`: expected f64, got the string \"tiny\"",)),
    ("top_k", TOP, (X,), {"k": 2.0}, ("top_k: attribute `k`", "got 2.0 (f64)", "give an int")),
    ("top_k", TOP, (X,), {"k": True}, ("top_k: attribute `k`", "got true (pred)", "give an int")),
    ("top_k", TOP, (X,), {"k": -1}, ("top_k: attribute `k`", "-1")),
    ("top_k", [of((4, 9)), of((4, 9), S32)], (X,), {"k": 9}, ("top_k: attribute `k` is 9", "8 elements")),
    ("async_scale", Y, (X,), {"factor": 1e300}, ("async_scale: attribute `factor`", "f32", "too large")),
    # Enums, structs and strings.
    ("panics", Y, (X,), {"kind": "index "}, ("panics: attribute `kind`", "\"str\"", "got \"index \"", "`index`?")),
    ("panics", Y, (X,), {"kind": 17}, ("panics: attribute `kind`", "0 (str)", "got 17")),
    ("affine", Y, (X,), {"config": {"gain": 1.0}}, ("affine: attribute `config`", "`gain`; did you mean `gains`?")),
    ("affine", Y, (X,), {"config": 3}, ("affine: attribute `config`", "a dictionary", "gains", "got 3 (s64)")),
    ("fail", Y, (X,), {"message": b"\xff"}, ("fail: attribute `message`", "UTF-8")),
]  # fmt: skip


@pytest.mark.parametrize("target, results, args, attrs, parts", INVALID)
def test_calls_that_only_the_handler_checks(gallery, target, results, args, attrs, parts):
    assert gallery[target].target == f"custom_op::{target}"
    with refuses("INVALID_ARGUMENT", *parts):
        raw.call(target, results, *args, **attrs)


# The same, said before anything is compiled.
DECLINED = [
    (lambda ops: ops.rms_norm(), ("rms_norm: got 0 arguments, but it takes 1 (`x`)",)),
    (lambda ops: ops.rms_norm(X, X), ("rms_norm: got 2 arguments, but it takes 1 (`x`)",)),
    (lambda ops: ops.rms_norm(X.astype(int)), ("rms_norm: argument `x` has dtype int32", "float32")),
    (lambda ops: ops.softmax(X), ("softmax: argument `x` has dtype float32, but it takes bfloat16",)),
    (lambda ops: ops.softmax(X[None].astype(BF16)), ("softmax: argument `x` has rank 3", "takes rank 2")),
    (lambda ops: ops.axpy(X, X.astype(BF16), alpha=1), ("axpy: argument `y` is updated in place", "T is float32")),
    (lambda ops: ops.concatenate(X, X[:, :3]), ("concatenate: argument `xs[1]` has shape [4, 3]", "[4, 8]")),
    (lambda ops: ops.concatenate(), ("concatenate:",)),
    (lambda ops: ops.top_k(X), ("top_k: missing attribute `k`",)),
    (lambda ops: ops.rms_norm(X, epz=1.0), ("rms_norm: unexpected attribute `epz`", "did you mean `eps`?")),
    (lambda ops: ops.rms_norm(X, eps="tiny"), ("rms_norm: attribute `eps` takes a float64", "'tiny' (str)")),
    (lambda ops: ops.top_k(X, k=2.5), ("top_k: attribute `k` takes an int64", "2.5 (float)")),
    (lambda ops: ops.top_k(X, k=-1), ("top_k:", "`k`", "-1")),
    (lambda ops: ops.panics(X, kind="formated"), ("panics: attribute `kind` is \"formated\"", "\"formatted\"?")),
    (lambda ops: ops.affine(X, config={"gain": [1.0]}), ("affine: unexpected field `config.gain`", "`gains`")),
    (lambda ops: ops.affine(X, config={}), ("affine: missing attribute `config.gains`",)),
    (lambda ops: ops.low_pass(X, cutoff=0.2), ("low_pass: result `y` has no shape", "`n - taps` is negative")),
]  # fmt: skip


@pytest.mark.parametrize("call, parts", DECLINED)
def test_calls_that_are_declined_before_they_are_compiled(gallery, call, parts):
    with declines(*parts):
        call(gallery)


def test_misspelt_op(gallery):
    with pytest.raises(AttributeError, match=r"custom_ops has no op `rms_nrom` \(did you mean `rms_norm`\?\)"):
        gallery.rms_nrom  # noqa: B018


def test_results_of_wrong_shapes_leave_memory_alone(gallery):
    """Small results for large arguments, many times, with neighbours that would be overwritten."""
    x = jnp.ones((64, 1024))
    neighbours = [jnp.full((4, 4), float(i)) for i in range(200)]
    for i in range(50):
        with refuses("INVALID_ARGUMENT", "rms_norm: result `y`"):
            raw.call("rms_norm", of((4, 4)), x)
        neighbours.append(jnp.full((4, 4), 200.0 + i))
    for i, neighbour in enumerate(neighbours):
        np.testing.assert_array_equal(neighbour, np.full((4, 4), float(i)))


def test_alias_that_the_op_does_not_declare(test_ops):
    options = {"input_output_aliases": {0: 0}}
    x = jnp.ones(8)
    with refuses("INVALID_ARGUMENT", "add: result `z` and argument `x` share memory"):
        raw.call("add", of((8,)), x, x + 1, options=options)
    np.testing.assert_array_equal(x, np.ones(8))
    np.testing.assert_array_equal(test_ops.add(x, x), np.full(8, 2.0))


def test_alias_that_the_op_declares_may_be_left_out(gallery):
    # Without the declaration the host gives two buffers, and the handler copies the first into the second.
    result = raw.call("axpy", Y, X, X, alpha=1.0)
    np.testing.assert_array_equal(result, 2 * X)
    assert gallery.axpy.target == "custom_op::axpy"


def test_bools_that_are_neither_0_nor_1(test_ops):
    bools = np.array([0, 1, 2, 255], np.uint8).view(np.bool_)
    with refuses("INVALID_ARGUMENT", "not: argument `x`: element 2 is the byte 2"):
        test_ops["not"](bools).block_until_ready()
    np.testing.assert_array_equal(test_ops["not"](np.array([True, False])), [False, True])


PAYLOADS = [
    ("str", "a str panics"),
    ("string", "a String panics in"),
    ("custom", "not a string"),
    ("bomb", "not a string"),
]


@pytest.mark.parametrize("place", ["instantiate", "execute", "thread", "pool"])
@pytest.mark.parametrize("payload, text", PAYLOADS)
def test_panics(test_ops, place, payload, text):
    with refuses("INTERNAL", "panic_in: panicked at ", "panicking.rs:", text):
        jax.jit(lambda x: test_ops.panic_in(x, place=place, payload=payload))(X).block_until_ready()
    # The process, its threads and the same op go on.
    y = jax.jit(lambda x: test_ops.panic_in(x, place="nowhere", payload=payload))(X)
    np.testing.assert_array_equal(y, X)


@pytest.mark.parametrize("payload, text", PAYLOADS)
def test_panic_in_the_drop_of_a_state(test_ops, capfd, payload, text):
    compiled = jax.jit(lambda x: test_ops.panic_in(x, place="drop", payload=payload)).lower(X).compile()
    np.testing.assert_array_equal(compiled(X), X)
    del compiled
    jax.clear_caches()
    gc.collect()
    assert re.search(rf"oxcall: panicked at .*{text}.* in the drop of state .*Fuse", capfd.readouterr().err)


def test_panics_of_stages_that_the_cpu_does_not_run(test_ops):
    for place in ["prepare", "initialize"]:
        y = jax.jit(lambda x, place=place: test_ops.panic_in(x, place=place, payload="str"))(X)
        np.testing.assert_array_equal(y, X)


@pytest.mark.parametrize("kind, text", [("str", "a negative element"), ("formatted", "element 0 is negative"),
                                        ("payload", "not a string"), ("index", "index out of bounds")])  # fmt: skip
def test_panics_of_the_gallery(gallery, kind, text):
    with refuses("INTERNAL", "panics: panicked at ", "failing.rs", text):
        gallery.panics(X, kind=kind).block_until_ready()


@pytest.mark.parametrize("ending, status, text", [("broken", "DATA_LOSS", "the promise is broken"),
                                                  ("dropped", "ABORTED", "the promise was dropped"),
                                                  ("abandoned", "ABORTED", "the promise was dropped")])  # fmt: skip
def test_promises_that_are_not_kept(test_ops, ending, status, text):
    with refuses(status, f"promise: {text}"):
        jax.jit(lambda x: test_ops.promise(x, ending=ending))(X).block_until_ready()
    np.testing.assert_array_equal(test_ops.promise(X, ending="kept"), X)


def test_state_of_a_stage_that_the_cpu_does_not_run(test_ops):
    with refuses("FAILED_PRECONDITION", "prepared_scale: ", "`factor`", "prepare", "XLA:CPU runs only"):
        test_ops.prepared_scale(X).block_until_ready()


def test_states_are_dropped_once(test_ops):
    def states():
        return [int(n) for n in test_ops.states()]

    made, dropped = states()
    for i in range(20):
        np.testing.assert_allclose(jax.jit(lambda x, i=i: test_ops.counted_scale(x, factor=float(i)))(X), i * X)
    assert states()[0] == made + 20
    jax.clear_caches()
    gc.collect()
    made, dropped = states()
    assert made == dropped


def test_message_with_an_embedded_nul(gallery):
    with refuses("INVALID_ARGUMENT", "fail: a\\0b"):
        raw.call("fail", Y, -abs(X), message=b"a\0b")
    assert gallery.fail.target == "custom_op::fail"


def test_target_that_is_not_registered():
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"NOT_FOUND: .*no_such_target"):
        raw.call("no_such_target", Y, X)


def test_op_for_another_platform(test_ops):
    assert "CUDA" in test_ops.cuda_only.__doc__
    with pytest.raises((oxcall.CallError, jax.errors.JaxRuntimeError), match="cuda_only"):
        test_ops.cuda_only(X).block_until_ready()


@pytest.mark.parametrize("shape", [(2**61,), (2**31, 2**31), (2**40, 2**40, 0)])
def test_results_that_cannot_be_addressed(test_ops, shape):
    # XLA aborts the process.
    with declines("ramp: result `y` would have the shape [", "more memory than can be addressed"):
        test_ops.ramp(out_shape=shape, dtype=jnp.float32)
    with declines("ramp: result `y` has the shape [-1]; dimensions are not negative"):
        test_ops.ramp(out_shape=(-1,), dtype=jnp.float32)


@pytest.mark.parametrize("dtype", [object, "U1", "datetime64[s]", np.longdouble])
def test_arrays_that_jax_does_not_have(gallery, dtype):
    with declines("rms_norm: argument `x` has dtype ", "which JAX arrays cannot have"):
        gallery.rms_norm(np.zeros(3).astype(dtype))


def test_dtypes_and_operands_in_the_wrong_place(gallery, test_ops):
    with declines("ramp: no argument gives the dtype of result `y`; choose it with `dtype=`: "):
        test_ops.ramp(out_shape=(3,))
    with declines("axpy: got 1 argument", "attributes are given by keyword"):
        gallery.axpy(X, alpha=1.0)
    with declines("rms_norm: argument `x` is given twice, by position and by keyword"):
        gallery.rms_norm(X, x=X)
    with declines("axpy: argument `x` is missing; it takes `x` and `y`"):
        gallery.axpy(y=X, alpha=1.0)
