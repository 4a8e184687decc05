"""torch's dtypes, and their promotion."""

import functools

import torch

DTYPES = {
    "pred": torch.bool, "s8": torch.int8, "s16": torch.int16, "s32": torch.int32, "s64": torch.int64,
    "u8": torch.uint8, "u16": torch.uint16, "u32": torch.uint32, "u64": torch.uint64,
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
    "c64": torch.complex64, "c128": torch.complex128,
    "f8e5m2": torch.float8_e5m2, "f8e4m3fn": torch.float8_e4m3fn,
    "f8e5m2fnuz": torch.float8_e5m2fnuz, "f8e4m3fnuz": torch.float8_e4m3fnuz,
}  # fmt: skip


def promoted_dtype(tensors, allowed):
    """The dtype to which torch promotes tensors, if the op takes it; `None` otherwise.

    Args:
        tensors: pairs of a dtype and a number of dimensions.
        allowed: the names of the dtypes that the op takes; integers become floats if it takes only these, and booleans
            become integers if it takes such, as in `x + 0`.
    """

    try:
        found = _common_dtype(tensors)
    except RuntimeError:
        return None
    allowed = [DTYPES[name] for name in allowed if name in DTYPES]
    if found == torch.bool and found not in allowed and torch.int64 in allowed:
        found = torch.int64
    if found and found not in allowed and not (found.is_floating_point or found.is_complex):
        found = torch.get_default_dtype()
    return found if found in allowed else None


def _common_dtype(tensors):
    """`torch.result_type` of any number of tensors; `None` of none."""
    # Most calls have one dtype, and every call that autograd records comes here.
    if len({dtype for dtype, _ in tensors}) == 1:
        return tensors[0][0]

    def common(has_dims):
        dtypes = [dtype for dtype, rank in tensors if (rank > 0) == has_dims]
        return functools.reduce(torch.promote_types, dtypes) if dtypes else None

    with_dims, without = common(True), common(False)
    if not (with_dims and without):
        return with_dims or without
    # A tensor without dimensions counts less.
    pair = (torch.empty(shape, dtype=dtype, device="meta") for shape, dtype in ((1, with_dims), ((), without)))
    return torch.result_type(*pair)
