"""The partitioner of an op's calls, which XLA asks how to run a call on several devices.

Each device makes a call on its part of the batch that the op declares, and an all-reduce adds up the sums over it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax.interpreters import mlir
from jaxlib import xla_client

from oxcall._batch_dims import BatchDims, batch_dims
from oxcall._manifest import OpInfo
from oxcall._operands import aliases, by_parameter, counts, updated
from oxcall._split import Placed, Split, Tiles, choose

_Sharding = xla_client.HloSharding
_Kind = xla_client.OpSharding.Type


class Partitioner:
    """The callbacks of `jaxlib.xla_client.register_custom_call_partitioner`, which get XLA's shapes and shardings."""

    def __init__(self, op: OpInfo, target: str):
        self._op, self._target = op, target

    def propagate(self, sharding: Any, shape: Any, _config: Any) -> Any:
        """The sharding of the results, given one that suits their users."""

        def chosen() -> Any:
            if _is_fixed(_shardings(shape, sharding)):
                return sharding
            results = _elements(shape)
            found = self._batch_dims((), results)
            arrays = _placed(results, _shardings(shape, sharding), found.results)
            return _pack(shape, _tiles(results, found.results, choose(arrays, found.count)))

        return _or_whole(shape, chosen)

    def infer(self, arg_shapes: Sequence[Any], arg_shardings: Sequence[Any], shape: Any, _config: Any) -> Any:
        """The sharding of the results, given those of the operands, some of which may be ``None``."""

        def chosen() -> Any:
            results = _elements(shape)
            if _is_fixed(arg_shardings):
                return _of_results(shape, [_Sharding.manual()] * len(results))
            found = self._batch_dims(arg_shapes, results)
            arrays = _placed(arg_shapes, arg_shardings, found.operands)
            return _pack(shape, _tiles(results, found.results, choose(arrays, found.count)))

        return _or_whole(shape, chosen)

    def partition(
        self, arg_shapes: Sequence[Any], arg_shardings: Sequence[Any], shape: Any, sharding: Any, config: Any
    ) -> tuple[bytes, list[Any], Any]:
        """The program of each device, and the shardings of its operands and results."""
        results = _elements(shape)
        found = self._batch_dims(arg_shapes, results)
        is_fixed = _is_fixed([*_shardings(shape, sharding), *arg_shardings])
        split = None
        if not is_fixed:
            # Results come first: the parts exist for them.
            arrays = [
                *_placed(results, _shardings(shape, sharding), found.results),
                *_placed(arg_shapes, arg_shardings, found.operands),
            ]
            split = choose(arrays, found.count)
        taken = _tiles(arg_shapes, found.operands, split)
        given = _tiles(results, found.results, split)
        program = self._program(
            _types(arg_shapes, taken), _types(results, given), [place is None for place in found.results], split, config
        ).encode()
        if is_fixed:
            return program, list(arg_shardings), sharding
        return program, [_sharding(tiles) for tiles in taken], _pack(shape, given)

    def _batch_dims(self, arg_shapes: Sequence[Any], results: Sequence[Any]) -> BatchDims:
        """Where arrays have the batch: nowhere, if that is not found."""
        op = self._op
        operands = [shape.dimensions() for shape in arg_shapes]
        taken, given = self._counts(len(operands), len(results)) if operands else ((), counts(op.results, len(results)))
        names = [param.name for param, number in zip(op.results, given, strict=True) for _ in range(number)]
        shapes = [(name, shape.dimensions()) for name, shape in zip(names, results, strict=True)]
        found = batch_dims(op, by_parameter(op, taken, operands) if operands else {}, shapes)
        return found or BatchDims((None,) * len(operands), (None,) * len(results), 0)

    def _counts(self, operands: int, results: int) -> tuple[Sequence[int], Sequence[int]]:
        """The number of arrays of each operand parameter, and of each result parameter."""
        taken = counts(self._op.operands, operands)
        return taken, counts(self._op.results, results, updated(self._op, taken))

    def _program(
        self, operands: Sequence[_Type], results: Sequence[_Type], is_sum: Sequence[bool], split: Split | None,
        config: Any,
    ) -> str:  # fmt: skip
        """The program of one device, as text."""
        config = config.decode() if isinstance(config, bytes) else config
        options = [
            "api_version = 4 : i32", f"backend_config = {config or '{}'}",
            f"operand_layouts = [{_layouts(operands)}]", f"result_layouts = [{_layouts(results)}]",
            f"output_operand_aliases = [{self._aliases(len(operands), len(results))}]",
        ]  # fmt: skip
        arguments = ", ".join(f"%a{index}" for index in range(len(operands)))
        head = ", ".join(f"%a{index}: {type_}" for index, type_ in enumerate(operands))
        types = ", ".join(map(str, results))
        body = [
            f'%c:{len(results)} = "stablehlo.custom_call"({arguments}) {{call_target_name = "{self._target}", '
            f"{', '.join(options)}}} : ({', '.join(map(str, operands))}) -> ({types}) "
            f'loc("{self._op.name}")'
        ]
        values = [f"%c#{index}" for index in range(len(results))]
        if split is not None and split.is_split:
            for index, type_ in enumerate(results):
                if is_sum[index]:
                    body.append(_all_reduce(f"%s{index}", values[index], type_, split.groups()))
                    values[index] = f"%s{index}"
        lines = "\n".join(body)
        return f"func.func @main({head}) -> ({types}) {{\n{lines}\nreturn {', '.join(values)} : {types}\n}}"

    def _aliases(self, operands: int, results: int) -> str:
        pairs = aliases(self._op, *self._counts(operands, results))
        return ", ".join(
            f"#stablehlo.output_operand_alias<output_tuple_indices = [{'' if results == 1 else result}], "
            f"operand_index = {operand}, operand_tuple_indices = []>"
            for operand, result in pairs.items()
        )


class _Type:
    """The type of an array on one device."""

    def __init__(self, shape: Any, tiles: Tiles):
        self.dims = [size // parts for size, parts in zip(shape.dimensions(), tiles.dims, strict=True)]
        self.element = _element(np.dtype(shape.numpy_dtype()))

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self.dims)}{self.element}>"


@functools.cache
def _element(dtype: Any) -> str:
    """The name of an element type in MLIR."""
    with mlir.make_ir_context():
        return str(mlir.dtype_to_ir_type(dtype))


def _types(shapes: Sequence[Any], tilings: Sequence[Tiles]) -> list[_Type]:
    return [_Type(shape, tiles) for shape, tiles in zip(shapes, tilings, strict=True)]


def _layouts(types: Sequence[_Type]) -> str:
    """Row-major layouts."""
    ranks = [len(type_.dims) for type_ in types]
    return ", ".join(f"dense<{list(reversed(range(rank))) or ''}> : tensor<{rank}xindex>" for rank in ranks)


def _all_reduce(name: str, value: str, type_: _Type, groups: np.ndarray[Any, Any]) -> str:
    scalar = f"tensor<{type_.element}>"
    rows, columns = groups.shape
    return (
        f'{name} = "stablehlo.all_reduce"({value}) ({{\n^bb0(%x: {scalar}, %y: {scalar}):\n'
        f"%z = stablehlo.add %x, %y : {scalar}\nstablehlo.return %z : {scalar}\n}}) {{replica_groups = "
        f"dense<{groups.tolist()}> : tensor<{rows}x{columns}xi64>, use_global_device_ids, channel_handle = "
        f"#stablehlo.channel_handle<handle = 1, type = 1>}} : ({type_}) -> {type_}"
    )


def _elements(shape: Any) -> list[Any]:
    return list(shape.tuple_shapes()) if shape.is_tuple() else [shape]


def _tiles(shapes: Sequence[Any], places: Sequence[int | None], split: Split | None) -> list[Tiles]:
    split = Split.none() if split is None else split
    return [split.tiles(len(shape.dimensions()), place) for shape, place in zip(shapes, places, strict=True)]


def _shardings(shape: Any, sharding: Any) -> list[Any]:
    return list(sharding.tuple_elements()) if shape.is_tuple() else [sharding]


def _is_fixed(shardings: Sequence[Any]) -> bool:
    """Whether each device has arrays of its own, as in `jax.shard_map`. Given other shardings, XLA ends the process."""
    known = [sharding for sharding in shardings if sharding is not None]
    return any(sharding.is_manual() or sharding.is_unknown() for sharding in known)


def _placed(shapes: Sequence[Any], shardings: Sequence[Any], places: Sequence[int | None]) -> list[Placed]:
    return [
        Placed(shape.dimensions(), _tiling(sharding, len(shape.dimensions())), place)
        for shape, sharding, place in zip(shapes, shardings, places, strict=True)
    ]


def _tiling(sharding: Any, rank: int) -> Tiles | None:
    """The tiling of an array of this rank; ``None`` where it has none."""
    if sharding is None or not sharding.is_tiled():
        return None
    dims = tuple(sharding.tile_assignment_dimensions())
    kinds = [_Kind.REPLICATED] if sharding.replicate_on_last_tile_dim() else list(sharding.subgroup_types())
    if any(kind not in (_Kind.REPLICATED, _Kind.MANUAL) for kind in kinds):
        return None
    devices = np.array(sharding.tile_assignment_devices()).reshape(dims)
    copies = [rank + index for index, kind in enumerate(kinds) if kind == _Kind.REPLICATED]
    groups = [rank + index for index, kind in enumerate(kinds) if kind == _Kind.MANUAL]
    sizes = [int(np.prod([dims[axis] for axis in axes], dtype=int)) for axes in (copies, groups)]
    return Tiles(dims[:rank], devices.transpose(*range(rank), *copies, *groups).reshape(*dims[:rank], *sizes))


def _sharding(tiles: Tiles) -> Any:
    copies, groups = tiles.devices.shape[-2:]
    if groups == 1 and all(parts == 1 for parts in tiles.dims):
        return _Sharding.replicate()
    proto = xla_client.OpSharding()
    proto.type = _Kind.OTHER
    dims = [*tiles.dims, *(size for size in (copies, groups) if size > 1)]
    if groups > 1:
        proto.last_tile_dims = [*[_Kind.REPLICATED] * (copies > 1), _Kind.MANUAL]
    else:
        proto.replicate_on_last_tile_dim = copies > 1
    proto.tile_assignment_dimensions = dims
    proto.tile_assignment_devices = tiles.devices.ravel().tolist()
    return _Sharding.from_proto(proto)


def _or_whole(shape: Any, chosen: Callable[[], Any]) -> Any:
    """A sharding of the results. XLA ends the process if propagation raises; whole results are always right."""
    try:
        return chosen()
    except Exception:
        return _of_results(shape, [_Sharding.replicate()] * len(_elements(shape)))


def _pack(shape: Any, tilings: Sequence[Tiles]) -> Any:
    return _of_results(shape, [_sharding(tiles) for tiles in tilings])


def _of_results(shape: Any, shardings: Sequence[Any]) -> Any:
    return _Sharding.tuple_sharding(shape, list(shardings)) if shape.is_tuple() else shardings[0]
