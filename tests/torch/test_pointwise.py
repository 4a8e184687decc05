"""Pointwise functions of the gallery: derivatives of first and second order, batches, halves."""

import itertools

import pytest
import torch

import formulas

X, Y, Z = (torch.randn(4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(i)) for i in range(3))

CASES = {
    "softplus": (torch.nn.functional.softplus, (X,)),
    "swiglu": (lambda gate, x: torch.nn.functional.silu(gate) * x, (X, Y)),
    "huber": (lambda x: torch.where(x.abs() <= 1, x * x / 2, x.abs() - 0.5), (2 * X,)),
    "rope_pair": (lambda x, y, a: (x * a.cos() - y * a.sin(), x * a.sin() + y * a.cos()), (X, Y, Z)),
    "logit_normal_pdf": (
        lambda p, m, s: torch.exp(-(((p.logit() - m) / s) ** 2) / 2) / (s * p * (1 - p) * (2 * torch.pi) ** 0.5),
        (X.sigmoid(), Y, 1 + Z**2),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives_of_both_orders(ops, name):
    formulas.check_derivatives(getattr(ops, name), CASES[name][1])


@pytest.mark.parametrize("name", CASES)
def test_values_and_transforms_are_those_of_the_formula(ops, name):
    formula, args = CASES[name]
    formulas.check_transforms(getattr(ops, name), formula, args)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_halves_are_rounded_once(ops, dtype):
    x = torch.linspace(-8, 8, 4001, dtype=dtype)
    exact = torch.nn.functional.softplus(x.double())
    assert (ops.softplus(x) == exact.to(dtype)).double().mean() > 0.999


SHAPES = [((4, 3), ()), ((4, 3), (3,)), ((4, 1), (1, 3)), ((2, 3, 4), (2, 1, 4)), ((3, 300), (300,)), ((0, 3), (3,))]


def swiglu(gate, x):
    return torch.nn.functional.silu(gate) * x


def normal(seed, *shape):
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("shapes", SHAPES)
def test_operands_are_broadcast(ops, shapes):
    gate, x = normal(0, *shapes[0]), normal(1, *shapes[1])
    for args in ((gate, x), (x, gate)):
        torch.testing.assert_close(ops.swiglu(*args), swiglu(*args))
        given = [arg.clone().requires_grad_() for arg in args]
        found = torch.autograd.grad(ops.swiglu(*given).sin().sum(), given)
        torch.testing.assert_close(found, torch.autograd.grad(swiglu(*given).sin().sum(), given))
        meta = ops.swiglu(*(arg.to("meta") for arg in args))
        assert meta.shape == swiglu(*args).shape
    if gate.numel():
        torch.library.opcheck(ops.swiglu.default, (gate.requires_grad_(), x.requires_grad_()))


@pytest.mark.parametrize("dims", [(0, None), (None, 0), (1, 0), (0, 0)])
def test_batches_of_broadcast_operands(ops, dims):
    gate, x = normal(0, 3, 3), normal(1, 3)
    torch.testing.assert_close(torch.vmap(ops.swiglu, dims)(gate, x), torch.vmap(swiglu, dims)(gate, x))
    slopes = [
        torch.vmap(torch.func.grad(lambda a, b, f=f: f(a, b).sum(), (0, 1)), dims)(gate, x)
        for f in (ops.swiglu, swiglu)
    ]
    torch.testing.assert_close(*slopes)


def test_views_that_repeat_elements_are_read_where_they_are(ops):
    """Also those of which some dimensions are not row-major, which are copied."""
    x, row = normal(0, 4, 3), normal(1, 3)
    for view in (row.expand(4, 3), row[:1].expand(4, 3), x[:, :1].expand(4, 3), x.T.contiguous().T):
        torch.testing.assert_close(ops.swiglu(x, view), swiglu(x, view))
        torch.testing.assert_close(ops.swiglu(view, view), swiglu(view, view))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "float32", "complex64", "complex128"])
def test_functions_of_rings_take_numbers_of_all_kinds(ops, dtype):
    a, b, c = (torch.randint(0, 100, (50,), generator=torch.Generator().manual_seed(i)) for i in range(3))
    a, b, c = (x.to(getattr(torch, dtype)) * (1j if "complex" in dtype else 1) for x in (a, b, c))
    torch.testing.assert_close(ops.multiply_add(a, b, c[:1]), a * b + c[:1])


def test_derivatives_along_complex_numbers(ops):
    args = [torch.complex(X + i, Y - i).requires_grad_() for i in range(3)]
    assert torch.autograd.gradcheck(ops.multiply_add, args, check_forward_ad=True)
    found, expected = (
        torch.autograd.grad(f(*args).abs().sum(), args) for f in (ops.multiply_add, lambda a, b, c: a * b + c)
    )
    torch.testing.assert_close(found, expected)


def test_operands_that_cannot_be_broadcast(ops):
    message = r"swiglu: the shapes of argument `gate` \[4, 3\], argument `x` \[2\] cannot be broadcast to one"
    with pytest.raises(RuntimeError, match=message):
        ops.swiglu(X, Y[0, :2])


FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
INTEGERS = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64]
NUMBERS = [torch.bool, *INTEGERS, torch.uint16, torch.uint32, *FLOATS, torch.complex64, torch.complex128]


def result_type(x, y):
    """`torch.result_type`; `None` where torch refuses, and for complex numbers of halves, which XLA lacks."""
    try:
        dtype = torch.result_type(x, y)
    except RuntimeError:
        return None
    return None if dtype.is_complex and dtype.itemsize < 8 else dtype


@pytest.mark.parametrize("ranks", [(1, 1), (1, 0), (0, 1), (0, 0)])
def test_the_promoted_dtype_is_that_of_torch(ops, ranks):
    """With and without data."""
    for a, b in itertools.product(NUMBERS, NUMBERS):
        x, y = torch.ones((2,) * ranks[0], dtype=a), torch.ones((2,) * ranks[1], dtype=b)
        expected = result_type(x, y)
        if expected is None:
            for device in ("cpu", "meta"):
                with pytest.raises(RuntimeError, match=r"multiply_add: .*argument"):
                    ops.multiply_add(*(arg.to(device) for arg in (x, x, y)))
            continue
        # Booleans are numbers, as in `x + 0`.
        expected = torch.int64 if expected == torch.bool else expected
        assert ops.multiply_add(x, x, y).dtype == expected, (a, b)
        assert ops.multiply_add(x.to("meta"), x.to("meta"), y.to("meta")).dtype == expected, (a, b)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_integers_become_numbers_of_the_default_dtype(ops, dtype):
    torch.set_default_dtype(dtype)
    try:
        x = torch.arange(-3, 4)
        torch.testing.assert_close(ops.softplus(x), torch.nn.functional.softplus(x.to(dtype)))
        torch.testing.assert_close(ops.swiglu(x, x > 0), swiglu(x.to(dtype), (x > 0).to(dtype)))
        assert ops.softplus(x.to("meta")).dtype == dtype
        # They take the dtype of floats beside them.
        half = torch.ones((), dtype=torch.float16)
        assert ops.swiglu(x, half.expand(7)).dtype == torch.float16
        assert ops.swiglu(x, half).dtype == torch.float16
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("shapes", [((4, 3), (4, 3)), ((4, 3), (3,)), ((4, 3), ()), ((0, 3), (3,))])
@pytest.mark.parametrize("dtypes", [(torch.float32, torch.float64), (torch.bfloat16, torch.float32)])
def test_gradients_have_the_dtypes_of_the_operands(ops, shapes, dtypes):
    args = [normal(i, *shape).to(dtype) for i, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True))]
    torch.testing.assert_close(ops.swiglu(*args), swiglu(*args), rtol=1e-2, atol=1e-2)
    found, expected = (
        torch.autograd.grad(f(*given).sin().sum(), given)
        for f in (ops.swiglu, swiglu)
        for given in [[arg.clone().requires_grad_() for arg in args]]
    )
    torch.testing.assert_close(found, expected, rtol=2e-2, atol=2e-2)
    if args[0].numel():
        torch.library.opcheck(ops.swiglu.default, [arg.requires_grad_() for arg in args])


def test_a_mapped_operand_has_the_rank_of_one_element(ops):
    """It counts as one without dimensions, also where all elements together have one."""
    x, y = normal(0, 5, 3).float(), normal(1, 5)
    assert torch.vmap(swiglu)(x, y).dtype == torch.float32
    found = torch.vmap(ops.swiglu)(x, y)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, torch.vmap(swiglu)(x, y))


def test_views_of_other_dtypes(ops):
    x, y = normal(0, 4, 3), normal(1, 3, 4).float().T
    torch.testing.assert_close(ops.swiglu(x, y), swiglu(x, y))
    torch.testing.assert_close(ops.swiglu(x, y[:, :1].expand(4, 3)), swiglu(x, y[:, :1]))


def test_dtypes_that_an_op_does_not_take(ops):
    """The error names the argument that has it."""
    with pytest.raises(RuntimeError, match=r"swiglu: argument `x`.*torch.complex64"):
        ops.swiglu(X, torch.complex(X, Y).to(torch.complex64))


def test_storage_that_has_been_resized_is_not_copied(ops):
    x = torch.ones(64, dtype=torch.float32)
    x.untyped_storage().resize_(8)
    with pytest.raises(RuntimeError, match="swiglu: argument `x`: the tensor takes 256 bytes of its storage"):
        ops.swiglu(torch.ones(64, dtype=torch.float64), x)
