"""Pointwise functions of the gallery: values, broadcasting, promotion, derivatives of first and second order."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.special import logit

import oxcall
from formulas import TRANSFORMS, check_transform, close, loss


@pytest.fixture(scope="module", autouse=True)
def _x64():
    with jax.enable_x64(True):
        yield


def softplus(x, beta=1.0):
    return jnp.logaddexp(beta * x, 0.0) / beta


def swiglu(gate, x):
    return gate * jax.nn.sigmoid(gate) * x


def huber(x, delta=1.0):
    return jnp.where(jnp.abs(x) <= delta, x * x / 2, delta * (jnp.abs(x) - delta / 2))


def rope_pair(x, y, angle):
    return [x * jnp.cos(angle) - y * jnp.sin(angle), x * jnp.sin(angle) + y * jnp.cos(angle)]


def logit_normal_pdf(p, mean, deviation):
    z = (logit(p) - mean) / deviation
    return jnp.exp(-z * z / 2) / (deviation * p * (1 - p) * jnp.sqrt(2 * jnp.pi))


def normal(seed, *shape):
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape))


# Operands are made in the tests, where JAX has `f64`.
CASES = {
    "softplus": (softplus, lambda: (normal(0, 4, 3),)),
    "swiglu": (swiglu, lambda: (normal(0, 4, 3), normal(1, 4, 3))),
    "huber": (huber, lambda: (2 * normal(0, 4, 3),)),
    "rope_pair": (rope_pair, lambda: (normal(0, 4, 3), normal(1, 4, 3), normal(2, 4, 3))),
    "logit_normal_pdf": (
        logit_normal_pdf,
        lambda: (jax.nn.sigmoid(normal(0, 4, 3)), normal(1, 4, 3), 1 + normal(2, 4, 3) ** 2),
    ),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives_are_those_of_the_formula(gallery, name, transform):
    formula, operands = CASES[name]
    check_transform(TRANSFORMS[transform], gallery[name], formula, operands())


def test_third_derivatives_are_not_declared(gallery):
    third = jax.grad(jax.grad(jax.grad(gallery.softplus)))
    with pytest.raises(oxcall.CallError, match="softplus_vjp_vjp: it cannot be differentiated"):
        third(1.0)


def test_attributes_reach_the_derivatives(gallery):
    x = normal(0, 5)
    for beta in (0.5, 3.0):
        close(
            jax.grad(lambda x, beta=beta: gallery.softplus(x, beta=beta).sum())(x),
            jax.grad(lambda x, beta=beta: softplus(x, beta).sum())(x),
        )


def test_operands_are_broadcast_and_promoted(gallery):
    gate, x = normal(0, 4, 1, 3), normal(1, 5, 1)
    close(gallery.swiglu(gate, x), swiglu(gate, x))
    close(jax.grad(loss(gallery.swiglu), (0, 1))(gate, x), jax.grad(loss(swiglu), (0, 1))(gate, x))
    assert gallery.swiglu(jnp.float16(1), 2.0).dtype == jnp.float16
    assert gallery.swiglu(jnp.ones(3, jnp.float32), jnp.ones(3, jnp.bfloat16)).dtype == jnp.float32
    close(gallery.swiglu(np.arange(3), 2), swiglu(jnp.arange(3.0), 2.0))
    close(jax.vmap(gallery.swiglu, (0, None))(normal(0, 4, 3), 2.0), swiglu(normal(0, 4, 3), 2.0))
    with pytest.raises(oxcall.CallError, match=r"swiglu: the shapes of `gate` \(2\), `x` \(3\) cannot be broadcast"):
        gallery.swiglu(jnp.ones(2), jnp.ones(3))
    with pytest.raises(oxcall.CallError, match=r"`gate` has dtype complex.*; pass its `\.real` and its `\.imag`"):
        gallery.swiglu(1j, 1.0)


SHAPES = {
    "number": ((5, 7), ()),
    "row": ((5, 7), (7,)),
    "column": ((5, 7), (5, 1)),
    "both": ((5, 1), (1, 7)),
    "inner": ((2, 3, 4), (2, 1, 4)),
    "outer": ((1, 3, 1), (2, 1, 4)),
    "long row": ((3, 1000), (1000,)),
    "long column": ((1000, 3), (1000, 1)),
    "empty": ((0, 7), (7,)),
}


INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]


@pytest.mark.parametrize("dtype", [*INTEGERS, "float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
def test_functions_of_rings_take_numbers_of_all_kinds(gallery, dtype):
    """More elements than one thread gets; integers wrap around as those of `jax.numpy`."""
    random = np.random.default_rng(0)
    values = random.integers(0, 100, (2, 40_000)) + (1j * random.normal(size=(2, 40_000)) if "comp" in dtype else 0)
    a, b = (jnp.asarray(value).astype(dtype) for value in values)
    c = a[7:8]
    for f in (gallery.multiply_add, jax.jit(gallery.multiply_add)):
        found = f(a, b, c)
        assert found.dtype == dtype
        if dtype in INTEGERS:
            np.testing.assert_array_equal(found, a * b + c)
        else:
            wide = [np.asarray(x, np.complex128) for x in (a, b, c)]
            np.testing.assert_allclose(
                np.asarray(found, np.complex128), wide[0] * wide[1] + wide[2], rtol=2 * float(jnp.finfo(dtype).eps)
            )


def multiply_add(a, b, c):
    return a * b + c


def test_derivatives_along_complex_numbers_are_those_of_jax(gallery):
    a, b, c = (normal(seed, 4, 3) + 1j * normal(seed + 3, 4, 3) for seed in range(3))
    row = c[0]
    for operands in ((a, b, c), (a, row, c[:, :1]), (row, b, row[0])):
        # What derivatives of real functions of complex numbers are made of, and holomorphic ones.
        for f, g in ((gallery.multiply_add, multiply_add),):
            close(
                jax.grad(lambda *x, f=f: jnp.abs(f(*x)).sum(), (0, 1, 2))(*operands),
                jax.grad(lambda *x, g=g: jnp.abs(g(*x)).sum(), (0, 1, 2))(*operands),
            )
            for mode in (jax.jacrev, jax.jacfwd):
                close(
                    mode(lambda *x, f=f: (f(*x) ** 2).sum(), (0, 1, 2), holomorphic=True)(*operands),
                    mode(lambda *x, g=g: (g(*x) ** 2).sum(), (0, 1, 2), holomorphic=True)(*operands),
                )
    close(jax.hessian(lambda x: gallery.multiply_add(x, x, x).sum())(1.5), jnp.asarray(2.0))


def test_integers_are_promoted_and_have_no_derivatives(gallery):
    n = jnp.arange(4)
    assert gallery.multiply_add(n, n, 1).dtype == n.dtype
    assert gallery.multiply_add(n.astype(jnp.int8), n.astype(jnp.uint8), 1).dtype == jnp.int16
    assert gallery.multiply_add(n, jnp.float32(0.5), 1j).dtype == jnp.complex64
    with pytest.raises(TypeError, match="real- or complex-valued"):
        jax.grad(lambda n: gallery.multiply_add(n, n, n).sum())(n)
    slope = jax.grad(lambda n: gallery.multiply_add(n, n, n).sum().astype(float), allow_int=True)(n)
    assert slope.dtype == jax.dtypes.float0
    moved = jax.jvp(lambda x: gallery.multiply_add(n, n, 1) * x, (2.0,), (1.0,))[1]
    close(moved, n * n + 1.0)


NUMBERS = ["bool", *INTEGERS, "float16", "bfloat16", "float32", "float64"]


@pytest.mark.parametrize("x64", [True, False])
def test_the_promoted_dtype_is_that_of_jax(gallery, x64):
    with jax.enable_x64(x64):
        given = [jnp.ones(2, dtype) for dtype in NUMBERS if x64 or "64" not in dtype]
        given += [True, 1, 1.0, 2 * jnp.asarray(1), 2.0 * jnp.asarray(1.0)]

        def number(x, y):
            # `jax.numpy` has "and" and "or" for booleans, and no difference: here, they are numbers.
            result = multiply_add(jnp.asarray(x), y, y)
            return result + 0 if result.dtype == bool else result

        pairs = [(gallery.swiglu, jnp.arctan2), (lambda x, y: gallery.multiply_add(x, y, y), number)]
        cases = [(gallery.softplus, jnp.exp, (x,)) for x in given]
        cases += [(op, formula, args) for op, formula in pairs for args in itertools.product(given, repeat=2)]
        for op, formula, args in cases:
            # A function of nothing, so that numbers of Python stay such.
            found, expected = (jax.eval_shape(lambda f=f, args=args: f(*args)) for f in (op, formula))
            assert (found.dtype, found.weak_type) == (expected.dtype, expected.weak_type), args


def test_results_of_weak_operands_are_weak_in_every_transformation(gallery):
    half = jnp.bfloat16(1)
    for f in (gallery.softplus, jax.jit(gallery.softplus), jax.grad(gallery.softplus), jax.hessian(gallery.softplus)):
        assert (f(2.0) * half).dtype == jnp.bfloat16
    assert jax.vmap(gallery.softplus)(jnp.broadcast_to(2.0 * jnp.asarray(1.0), 3)).weak_type
    assert jax.lax.fori_loop(0, 3, lambda _, x: gallery.softplus(x), 2.0).weak_type
    assert not gallery.softplus(jnp.float32(2.0)).weak_type
    assert not gallery.swiglu(2.0, jnp.float32(2.0)).weak_type


def test_cotangents_are_numbers_of_python_as_well(gallery):
    for f, g in (
        (gallery.softplus, softplus),
        (lambda x: gallery.rope_pair(x, 1.0, x), lambda x: rope_pair(x, 1.0, x)),
    ):
        for wrap in (lambda f: f, jax.jit):
            outputs = jax.tree.leaves(f(2.0))
            found, expected = (
                jax.vjp(wrap(h), 2.0)[1](jax.tree.unflatten(jax.tree.structure(h(2.0)), [2.0] * len(outputs)))
                for h in (f, g)
            )
            close(found, expected)
            assert found[0].weak_type
    close(jax.vjp(lambda n, x: gallery.multiply_add(n, x, x), 2, 1.0)[1](1.0)[1], jnp.asarray(3.0))


def test_the_operand_at_fault_is_named(gallery):
    for x in (2, True, 1.5, jnp.ones(2), jnp.ones(2, int), jnp.ones(2, bool)):
        for y in (1j, jnp.ones(2, "complex64")):
            with pytest.raises(oxcall.CallError, match=r"argument `x` has dtype complex\d+, .*; pass its `.real`"):
                gallery.swiglu(x, y)
            with pytest.raises(oxcall.CallError, match=r"argument `gate` has dtype complex\d+, .*; pass its `.real`"):
                gallery.swiglu(y, x)


@pytest.mark.parametrize("name", ["softplus", "multiply_add", "softmax_cross_entropy", "rms_norm", "concatenate"])
def test_random_keys_are_no_numbers(gallery, name):
    key = jax.random.key(0)
    with pytest.raises(
        oxcall.CallError, match=f"{name}: argument `.*` is a random key, but it takes numbers .*key_data"
    ):
        gallery[name](*[key] * len(gallery[name]._info.operands))


@pytest.mark.parametrize("name", SHAPES)
def test_broadcast_operands_give_what_the_formula_gives(gallery, name):
    gate, x = (normal(seed, *shape) for seed, shape in enumerate(SHAPES[name]))
    for wrap in (lambda f: f, jax.jit):
        for a, b in ((gate, x), (x, gate)):
            close(wrap(gallery.swiglu)(a, b), swiglu(a, b))
            close(wrap(jax.grad(loss(gallery.swiglu), (0, 1)))(a, b), jax.grad(loss(swiglu), (0, 1))(a, b))
    half = jax.jit(gallery.swiglu)(gate.astype(jnp.bfloat16), x.astype(jnp.bfloat16))
    np.testing.assert_array_equal(
        half, jax.jit(gallery.swiglu)(*jnp.broadcast_arrays(gate.astype(jnp.bfloat16), x.astype(jnp.bfloat16)))
    )


@pytest.mark.parametrize("dims", [(0, None), (None, 0), (1, 0), (0, 0)])
def test_batches_of_broadcast_operands(gallery, dims):
    gate, x = normal(0, 7, 7), normal(1, 7)
    close(jax.jit(jax.vmap(gallery.swiglu, dims))(gate, x), jax.vmap(swiglu, dims)(gate, x))
    of_sum = [jax.vmap(jax.grad(loss(f), (0, 1)), dims) for f in (gallery.swiglu, swiglu)]
    close(jax.jit(of_sum[0])(gate, x), of_sum[1](gate, x))


def test_no_array_holds_what_is_repeated(gallery):
    """XLA gives a compiled program the memory for arrays between its operands and results."""
    x, row, number = normal(0, 512, 512), normal(1, 512), normal(2)

    def room(f, *operands):
        return jax.jit(f).lower(*operands).compile().memory_analysis().temp_size_in_bytes

    assert room(gallery.swiglu, x, row) < 64 * 1024
    assert room(gallery.swiglu, x, row[:, None]) < 64 * 1024
    assert room(gallery.swiglu, x, number) < 64 * 1024
    # The cotangent of a sum is one number.
    assert room(jax.grad(lambda x: gallery.softplus(x).sum()), x) < 64 * 1024
    assert room(jax.grad(lambda x: gallery.swiglu(x, row).sum()), x) < 3 * 1024 * 1024
    assert room(jax.vmap(gallery.swiglu, (0, None)), x, number) < 64 * 1024


def test_broadcast_operands_of_split_arrays(gallery):
    x, row = normal(0, 8, 4), normal(1, 4)
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("rows",))
    spread = jax.device_put(x, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("rows")))
    gradient = jax.jit(jax.grad(loss(gallery.swiglu), (0, 1)))
    close(gradient(spread, row), jax.grad(loss(swiglu), (0, 1))(x, row))


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16])
def test_halves_are_rounded_once(gallery, dtype):
    """All numbers of the format: the nearest to the exact result, or, where `f32` sees a tie, a neighbour."""
    x = jax.lax.bitcast_convert_type(jnp.arange(1 << 16, dtype=jnp.uint16), dtype)
    found, exact = gallery.softplus(x), softplus(x.astype(jnp.float64))
    expected = exact.astype(jnp.float32).astype(dtype)
    differs = (found != expected) & ~(jnp.isnan(found) & jnp.isnan(expected))
    assert differs.mean() < 1e-3
    ratio = jnp.abs(found.astype(jnp.float64) - exact)[differs] / jnp.abs(exact)[differs]
    assert jnp.all(ratio <= 1.01 * float(jnp.finfo(dtype).eps) / 2)


def test_what_is_not_chosen_has_no_derivative(gallery):
    """Where a formula in JAX gives NaN: 0 times the infinite slope of a logarithm."""
    outside = jnp.array([-1.0, 0.0, 1.0, 2.0])
    gradient = jax.grad(lambda p: gallery.logit_normal_pdf(p, 0.0, 1.0).sum())(outside)
    np.testing.assert_array_equal(gradient, np.zeros(4))


def test_symbolic_shapes_and_splits(gallery):
    a, b = jax.export.symbolic_shape("a, b")
    shaped = [jax.ShapeDtypeStruct(shape, jnp.float64) for shape in ((a, 1), (b,))]
    checks = [jax.export.DisabledSafetyCheck.custom_call(gallery.swiglu.target)]
    exported = jax.export.export(jax.jit(gallery.swiglu), disabled_checks=checks)(*shaped)
    assert exported.out_avals[0].shape == (a, b)
    x = normal(0, 8, 4)
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("rows",))
    spread = jax.device_put(x, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("rows")))
    program = jax.jit(jax.grad(lambda x: gallery.softplus(x).sum())).lower(spread).compile()
    assert "all-gather" not in program.as_text()
    close(program(spread), jax.grad(lambda x: softplus(x).sum())(x))


def test_large_arrays_are_computed_on_several_threads(gallery):
    x, y = (normal(seed, 1_000_003).astype(jnp.float32) for seed in (0, 1))
    np.testing.assert_allclose(gallery.swiglu(x, y), swiglu(x, y), rtol=3e-6, atol=1e-30)
