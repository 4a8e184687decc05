"""Batches against one call after the other."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import numpy as np

from oxcall._manifest import OpInfo
from oxcall.testing._gradients import point
from oxcall.testing._report import Skip, Wrong
from oxcall.testing._subject import Arrays, Subject, first_difference, rounding, to_jax, to_numpy, wide
from oxcall.testing._variants import variants

_SIZE = 3


def with_batch(case: Subject, size: int) -> tuple[Subject, int]:
    """The op on a batch with one more of the independent dimensions, and how many it had before.

    Raises:
        Skip: the op declares none, or takes no more.
    """
    info = case.info
    if info.batch is None:
        raise Skip("it declares no `batch`")
    if case.option("out_shape") is not None:
        raise Skip("`out_shape` states the shapes of the results, so that those of the operands cannot change")
    found = case.batch_dims(case.arrays, case.run(case.arrays))
    if found is None or all(place is None for place in found.operands):
        raise Skip(f"no operand of this call has the dimensions `..{info.batch}`")
    several = variants(case, size)
    arrays = [
        array if place is None else np.stack([other[index] for other in several], place)
        for index, (array, place) in enumerate(zip(case.arrays, found.operands, strict=True))
    ]
    return case.with_arrays(arrays), found.count


def check_batch(case: Subject) -> str:
    """The op on a batch does what it does on the parts."""
    whole, _ = with_batch(case, _SIZE)
    info = case.info
    results = whole.run(whole.arrays)
    found = whole.batch_dims(whole.arrays, results)
    if found is None:
        raise Skip("the dimensions of the batch do not follow from the patterns")
    for dim in range(found.count):
        places = [None if place is None else place + dim for place in found.operands]
        size = next(array.shape[place] for array, place in zip(whole.arrays, places, strict=True) if place is not None)
        if size < 2:
            continue
        parts = [
            whole.run([
                array if place is None else np.take(array, [index], place)
                for array, place in zip(whole.arrays, places, strict=True)
            ])
            for index in range(size)
        ]  # fmt: skip
        for index, (name, result, place) in enumerate(zip(case.result_names, results, found.results, strict=True)):
            of_parts = [part[index] for part in parts]
            tolerance = rounding(*whole.arrays, result)
            if place is None:
                _check_sum(case, name, result, of_parts, tolerance)
                continue
            expected = np.concatenate(of_parts, place + dim)
            if expected.shape != result.shape or not (near := case.is_close(result, expected, tolerance)).all():
                where = (
                    first_difference(near, result, expected) if expected.shape == result.shape
                    else f": expected the shape {list(expected.shape)}, got {list(result.shape)}"
                )  # fmt: skip
                raise Wrong(
                    f"`batch = {info.batch}`",
                    f"{case.name}: `batch = {info.batch}`: the parts of a batch of {size} are not independent; result "
                    f"`{name}` differs from that of calls on the parts{where}; remove `batch`, or compute each part "
                    "from its own operands",
                )
    return f"a batch along {found.count} dimension{'s' * (found.count > 1)} of `..{info.batch}` and its parts"


def _check_sum(case: Subject, name: str, result: np.ndarray, parts: Sequence[np.ndarray], tolerance: float) -> None:
    expected = np.sum([wide(part) for part in parts], 0)
    scale = np.sum([np.abs(wide(part)) for part in parts], 0).max(initial=0.0)
    largest = np.abs(expected).max(initial=0.0)
    near = case.is_close(result, expected, tolerance * (scale / largest if largest else 1.0))
    if near.all():
        return
    batch = case.info.batch
    hint = "make it the sum"
    if case.is_close(wide(result) * len(parts), expected, tolerance).all():
        hint = "it is the mean; give the sum, and divide outside"
    raise Wrong(
        f"`#[sum({batch})]`",
        f"{case.name}: `#[sum({batch})]` on result `{name}`: it is not the sum over the parts of a batch of "
        f"{len(parts)}{first_difference(near, result, expected)}; {hint}",
    )


def check_vmap(case: Subject) -> str:
    """`jax.vmap` does what a loop does."""
    info = case.info
    if not _is_batched(info):
        raise Skip("it declares no `batch` or `vmap`")
    if not case.arrays:
        raise Skip("the call has no operands")
    several = variants(case, _SIZE)
    count = len(case.arrays)
    alone = [tuple(0 if other == index else None for other in range(count)) for index in range(min(count, 4))]
    last = tuple(array.ndim for array in case.arrays)
    compared = 0
    for axes in dict.fromkeys([*alone, (0,) * count, last]):
        calls = [
            tuple(other[index] if axis is not None else case.arrays[index] for index, axis in enumerate(axes))
            for other in several
        ]
        try:
            loop = [case.run(call) for call in calls]
        except Exception:  # this mixture is not an example of what the op takes
            continue
        compared += 1
        expected = [np.stack(results) for results in zip(*loop, strict=True)]
        stacked = [
            np.stack([call[index] for call in calls], axis) if axis is not None else case.arrays[index]
            for index, axis in enumerate(axes)
        ]
        _compare(case, f"in_axes={axes}", lambda arrays, axes=axes: jax.vmap(case, axes)(*arrays), stacked, expected)
    loop = [case.run(call) for call in several]
    nested = [np.stack([np.stack([other[index] for other in several])] * 2) for index in range(count)]
    expected = [np.stack([np.stack(results)] * 2) for results in zip(*loop, strict=True)]
    if (
        info.vmap_op is not None
        and info.batch is None
        and not _is_batched(case.op._primitive._find(info.vmap_op)._info)
    ):
        return f"{compared} combinations of `in_axes`; not nested, since `{info.vmap_op}` declares no `batch` or `vmap`"
    _compare(case, "nested", lambda arrays: jax.vmap(jax.vmap(case))(*arrays), nested, expected)
    return f"{compared} combinations of `in_axes`, and nested"


def check_vmap_of_vjp(case: Subject) -> str:
    """`jax.vmap` of gradients does what a loop does."""
    info = case.info
    if not _is_batched(info):
        raise Skip("it declares no `batch` or `vmap`")
    if info.vjp is None and info.transpose is None:
        raise Skip("it declares no `vjp` or `transpose`")
    at = point(case)
    several = variants(at.case, _SIZE)
    random = case.random()
    weights = [[random.uniform(0.5, 1, at.results[output].shape) for output in at.outputs] for _ in several]
    loop = [
        to_numpy(at.pull(to_jax(arrays), to_jax(given))) for arrays, given in zip(several, weights, strict=True)
    ]  # fmt: skip
    stacked = [to_jax(map(np.stack, zip(*sides, strict=True))) for sides in (several, weights)]
    got = to_numpy(jax.vmap(at.pull)(*stacked))
    for index, ours, theirs in zip(at.active, got, map(np.stack, zip(*loop, strict=True)), strict=True):
        near = case.is_close(ours, theirs, at.eps**0.75)
        if not near.all():
            rule = info.vjp or info.transpose
            raise Wrong(
                f"`{rule}`",
                f"{case.name}: `jax.vmap` of the gradient of argument `{at.name(index)}` differs from a loop"
                f"{first_difference(near, ours, theirs)}; correct `batch` or `vmap` of `{rule}`, or of `{case.name}`",
            )
    return f"a batch of {_SIZE} gradients and a loop"


def _is_batched(info: OpInfo) -> bool:
    return info.batch is not None or info.vmap is not None or info.vmap_op is not None


def _compare(case: Subject, what: str, batched, arrays: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> None:
    info = case.info
    declared = [
        text for text, value in (
            (f"`batch = {info.batch}`", info.batch), (f"`vmap = {info.vmap_op}`", info.vmap_op),
            (f'`vmap = "{info.vmap}"`', info.vmap),
        ) if value is not None
    ]  # fmt: skip
    declaration = " or ".join(declared)
    try:
        got: Arrays = to_numpy(batched(to_jax(arrays)))
    except Exception as error:
        raise Wrong(
            declaration,
            f"{case.name}: {declaration}: `jax.vmap` with {what} failed: {error}; declare another way to batch calls",
        ) from error
    if where := case.difference(got, expected):
        cure = f"correct `{info.vmap_op}`" if info.vmap_op is not None else 'declare `vmap = "sequential"`'
        raise Wrong(
            declaration,
            f"{case.name}: {declaration}: `jax.vmap` with {what} differs from a loop: {where}; {cure}",
        )
