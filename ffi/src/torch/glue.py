"""What torch lets only Python add to the operators of a library: derivatives, batching, symbolic shapes, torch_xla.

It is compiled into every op library and run once torch is there, with the library's manifest as `MANIFEST` and what
became of its ops in torch as `REPORT`, both JSON. It uses nothing but torch, and running it again changes nothing.
"""

import ast
import functools
import json
import math
import re
import struct
import sys
import types
from operator import add, floordiv, mod, mul, sub

import torch

# Registrations last as long as the `torch.library.Library` that they were made through, and another library of ops may
# bring a copy of this code: both are kept for the process.
_PROCESS = sys.modules.setdefault("_oxcall_torch", types.ModuleType("_oxcall_torch"))
_LIBRARIES = _PROCESS.__dict__.setdefault("libraries", {})
_DONE = _PROCESS.__dict__.setdefault("done", set())

DTYPES = {
    "pred": torch.bool, "s8": torch.int8, "s16": torch.int16, "s32": torch.int32, "s64": torch.int64,
    "u8": torch.uint8, "u16": torch.uint16, "u32": torch.uint32, "u64": torch.uint64,
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
    "c64": torch.complex64, "c128": torch.complex128,
    "f8e5m2": torch.float8_e5m2, "f8e4m3fn": torch.float8_e4m3fn,
    "f8e5m2fnuz": torch.float8_e5m2fnuz, "f8e4m3fnuz": torch.float8_e4m3fnuz,
}  # fmt: skip


def register(manifest, report):
    """Adds to every operator what belongs to it.

    Args:
        manifest: the library's manifest.
        report: what became of each op of the manifest in this torch.
    """
    implementations = {}
    for entry, outcome in zip(manifest["ops"], report["ops"], strict=True):
        implementations.setdefault(entry["name"], []).append((entry, outcome))
    ops = {name: Op(found) for name, found in implementations.items()}
    for op in ops.values():
        for operator in op.operators():
            name = operator.overload._name
            if name not in _DONE:
                _DONE.add(name)
                _register(op, operator, ops)


def _register(op, operator, ops):
    overload = operator.overload
    if op.json["shape"] == "dims" and op.operands:
        # Instead of a kernel in Rust, which sees numbers where this sees symbols.
        torch.library.register_fake(overload, Fake(op, operator), lib=_library(op, "FRAGMENT"))
    # torch takes derivatives and batches of functions only.
    if op.json["vjp"] and not op.mutates():
        _register_derivative(op, operator, ops)
    if op.json["vmap"] in ("broadcast_all", "expand_dims") and not op.mutates():
        torch.library.register_vmap(overload, Batched(op, overload), lib=_library(op, "FRAGMENT"))
    if op.mutates():
        # torch's own way with views that are conjugated or negated wants what is updated to be returned.
        for key in ("Conjugate", "Negative"):
            _library(op, "IMPL").impl(_local_name(overload), Materialized(op, operator), key)
    if "XLA" not in op.keys:
        _library(op, "IMPL").impl(_local_name(overload), XlaCall(op, operator), "XLA")


def _local_name(overload):
    """The operator's name without its namespace, with its overload's."""
    return overload._name.partition("::")[2]


def _register_derivative(op, operator, ops):
    """The pairing is worked out when it is first needed: a mistake in it does not disturb the op itself."""

    @functools.cache
    def derivative():
        name = op.json["vjp"]
        if name not in ops:
            raise RuntimeError(f"{op.name}: its vjp op `{name}` is not in this library; link the crate that has it")
        return Derivative(op, ops[name], operator)

    def setup_context(ctx, inputs, output, keyword_only_inputs=None):
        derivative().setup_context(ctx, inputs, output, keyword_only_inputs)

    def backward(ctx, *cotangents):
        return derivative().backward(ctx, *cotangents)

    fragment = _library(op, "FRAGMENT")
    torch.library.register_autograd(operator.overload, backward, setup_context=setup_context, lib=fragment)


def _library(op, kind):
    """A library that adds to the op's namespace."""
    key = op.namespace, kind
    if key not in _LIBRARIES:
        _LIBRARIES[key] = torch.library.Library(op.namespace, kind)
    return _LIBRARIES[key]


class Op:
    """An op of the manifest, and its operator."""

    def __init__(self, implementations):
        """Takes the implementations for all platforms; they agree but for the platform."""
        platforms = [entry["platform"] for entry, _ in implementations]
        self.json, outcome = implementations[platforms.index("Host") if "Host" in platforms else 0]
        self.name = self.json["name"]
        self.keys = {other["key"] for _, other in implementations}
        self.left_out = outcome["left_out"]
        self._overloads = outcome["overloads"]
        self.namespace, _, self._torch_name = (outcome["name"] or "").partition("::")
        params = self.json["params"]
        self.operands = [param for param in params if param["role"] != "ret"]
        self.results = [param for param in params if param["role"] != "arg"]
        # torch's operators have no optional results.
        self.returns = [param for param in params if param["role"] == "ret" and param["arity"] != "optional"]

    def packet(self):
        """The operator with all its overloads."""
        if self.left_out:
            raise RuntimeError(f"{self.name} is no operator of torch: {self.left_out}")
        return getattr(getattr(torch.ops, self.namespace), self._torch_name)

    def operators(self):
        """Its overloads: none where this torch cannot have the op."""
        return [
            Operator(getattr(self.packet(), overload["overload"] or "default"), overload["arguments"])
            for overload in self._overloads
        ]

    def mutates(self):
        return any(param["role"] == "inout" for param in self.json["params"])


class Operator:
    """An overload, whose schema may have other names for the parameters of the op.

    Attributes:
        names: for each argument of the schema, the name of the parameter or attribute, or the path to a field of one.
    """

    def __init__(self, overload, paths):
        self.overload = overload
        self._arguments = overload._schema.arguments
        self.names = [
            # What is no parameter is a dtype.
            argument.name if path is None else path[0] if len(path) == 1 else tuple(path)
            for argument, path in zip(self._arguments, paths, strict=True)
        ]

    def bind(self, args, kwargs):
        """Values of a call by the names of the op, defaults included."""
        values = {}
        for index, (argument, name) in enumerate(zip(self._arguments, self.names, strict=True)):
            given = args[index] if index < len(args) else kwargs.get(argument.name, argument.default_value)
            values[name] = given
        return values

    def keywords(self, values):
        """Values by the names of the op as keywords of a call; those that the operator does not have are left out."""
        pairs = zip(self._arguments, self.names, strict=True)
        return {argument.name: values[name] for argument, name in pairs if name in values}


def members(value):
    """The tensors of a parameter: one, or none where it is absent, or those of a list."""
    if isinstance(value, (list, tuple)):
        return list(value)
    return [] if value is None else [value]


def as_tuple(results):
    """What an operator returned, as a tuple with one place for each return."""
    if results is None:
        return ()
    return results if isinstance(results, tuple) else (results,)


# Derivatives ---------------------------------------------------------------------------------------------------------


class Derivative:
    """An op's derivative through the op that its `vjp` names.

    What belongs together is found by name: an operand `x` of the backward op is the argument or result `x`, `dy` or
    `d_y` is the cotangent of result `y`; a result `dx` or `d_x` is the cotangent of argument `x`; attributes of one
    name are passed on.
    """

    def __init__(self, forward, backward, operator):
        self.forward, self.backward_op, self.operator = forward, backward, operator
        inputs = [param["name"] for param in forward.operands]
        outputs = [param["name"] for param in forward.returns]
        self.outputs = outputs
        sources = {f"{prefix}{name}": ("cotangent", name) for name in outputs for prefix in ("d", "d_")}
        sources.update((name, ("output", name)) for name in outputs)
        sources.update((name, ("input", name)) for name in inputs)
        targets = {f"{prefix}{name}": name for name in inputs for prefix in ("d", "d_")}
        self.sources = {param["name"]: self._find(sources, param, "argument") for param in backward.operands}
        self.targets = [self._find(targets, param, "result") for param in backward.results]
        self.saved_inputs = [name for kind, name in self.sources.values() if kind == "input"]
        self.saved_outputs = [name for kind, name in self.sources.values() if kind == "output"]

    def _find(self, known, param, what):
        if param["name"] not in known:
            raise RuntimeError(
                f"{self.forward.name}: {what} `{param['name']}` of its vjp op `{self.backward_op.name}` matches "
                f"nothing; expected one of {', '.join(sorted(known))}"
            )
        return known[param["name"]]

    def setup_context(self, ctx, inputs, output, keyword_only_inputs):
        """Keeps what the backward op needs."""
        values = self.operator.bind(inputs, keyword_only_inputs or {})
        kept = {name: values[name] for name in self.saved_inputs}
        results = dict(zip(self.outputs, as_tuple(output), strict=True))
        kept.update((name, results[name]) for name in self.saved_outputs)
        tensors = []
        ctx.places = {name: _put(value, tensors) for name, value in kept.items()}
        # Only what is saved this way is protected from being changed, and freed with the graph.
        ctx.save_for_backward(*tensors)
        operands = {param["name"] for param in self.forward.operands}
        ctx.attributes = {name: value for name, value in values.items() if name not in operands}
        ctx.differentiable = {name: _differentiable(values[name]) for name in operands}

    def backward(self, ctx, *cotangents):
        """Calls the backward op, and puts its results where torch wants the gradients."""
        saved = ctx.saved_tensors
        kept = {name: None if place is None else saved[place] for name, place in ctx.places.items()}
        given = {name: _each(value, _conjugate) for name, value in zip(self.outputs, cotangents, strict=True)}
        values = {}
        for param in self.backward_op.operands:
            kind, name = self.sources[param["name"]]
            value = given[name] if kind == "cotangent" else kept[name]
            # torch forbids changing what it gave.
            values[param["name"]] = _each(value, torch.clone) if param["role"] == "inout" else value
        # The overloads, where there are several, differ in types only.
        keywords = self.backward_op.operators()[0].keywords({**ctx.attributes, **values})
        returned = iter(as_tuple(self.backward_op.packet()(**keywords)))
        found = {}
        for param, target in zip(self.backward_op.results, self.targets, strict=True):
            found[target] = values[param["name"]] if param["role"] == "inout" else next(returned)
        gradients = tuple(_gradient(ctx.differentiable.get(name), found.get(name)) for name in self.operator.names)
        # torch passes no arguments that have their default, and older versions want no gradients for them.
        return gradients[: len(ctx.needs_input_grad)]


def _put(value, tensors):
    """Appends the tensors of a parameter to a list, and says where they are."""
    if value is None:
        return None
    start = len(tensors)
    tensors += members(value)
    return slice(start, len(tensors)) if isinstance(value, (list, tuple)) else start


def _differentiable(value):
    if isinstance(value, (list, tuple)):
        return [_differentiable(tensor) for tensor in value]
    return value is not None and (value.is_floating_point() or value.is_complex())


def _gradient(differentiable, gradient):
    if isinstance(differentiable, list):
        gradients = gradient or [None] * len(differentiable)
        return [_gradient(*pair) for pair in zip(differentiable, gradients, strict=True)]
    return _conjugate(gradient) if differentiable and gradient is not None else None


def _conjugate(tensor):
    """Between cotangents as JAX has them, which backward ops compute, and torch's gradients, which are conjugate."""
    return tensor.conj() if tensor.is_complex() else tensor


def _each(value, function):
    if isinstance(value, (list, tuple)):
        return [function(tensor) for tensor in value]
    return None if value is None else function(value)


# Views that are conjugated or negated --------------------------------------------------------------------------------


class Materialized:
    """An op that updates tensors, where some are views whose elements are in memory with another sign."""

    def __init__(self, op, operator):
        self.operator = operator
        self.updated = [param["name"] for param in op.operands if param["role"] == "inout"]

    def __call__(self, *args, **kwargs):
        values = self.operator.bind(args, kwargs)
        plain = {name: _each_tensor(value, _materialize) for name, value in values.items()}
        returned = self.operator.overload(**self.operator.keywords(plain))
        for name in self.updated:
            for tensor, new in zip(members(values[name]), members(plain[name]), strict=True):
                if new is not tensor:
                    tensor.copy_(new)
        return returned


def _materialize(tensor):
    return tensor.resolve_conj().resolve_neg()


def _each_tensor(value, function):
    if isinstance(value, (list, tuple)):
        return [_each_tensor(member, function) for member in value]
    return function(value) if isinstance(value, torch.Tensor) else value


# Batching ------------------------------------------------------------------------------------------------------------


class Batched:
    """`torch.vmap` of an op that takes any leading dimensions: the batch becomes the first of them."""

    def __init__(self, op, overload):
        self.overload = overload
        self.expands = op.json["vmap"] == "broadcast_all"

    def __call__(self, info, in_dims, *args, **kwargs):
        batched = [self._batch(info.batch_size, value, dim) for value, dim in zip(args, in_dims, strict=True)]
        results = self.overload(*batched, **kwargs)
        return results, torch.utils._pytree.tree_map(lambda _: 0, results)

    def _batch(self, size, value, dim):
        if isinstance(value, (list, tuple)) and any(isinstance(member, torch.Tensor) for member in value):
            dims = dim if isinstance(dim, (list, tuple)) else [dim] * len(value)
            return [self._batch(size, *pair) for pair in zip(value, dims, strict=True)]
        if not isinstance(value, torch.Tensor):
            return value
        if dim is not None:
            return value.movedim(dim, 0)
        return value.expand(size, *value.shape) if self.expands else value.unsqueeze(0)


# Symbolic shapes -----------------------------------------------------------------------------------------------------


# Of dimensions: division truncates, and nothing is negative.
OPERATORS = {ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.Div: floordiv, ast.Mod: mod}


class Fake:
    """Shapes of the results from the dimension patterns, computed with torch's symbolic integers."""

    def __init__(self, op, operator):
        self.op, self.operator = op, operator
        self.patterns = {
            param["name"]: _pattern(param["dims"]) for param in op.json["params"] if param["dims"] is not None
        }

    def __call__(self, *args, **kwargs):
        values = self.operator.bind(args, kwargs)
        operands = {param["name"]: members(values[param["name"]]) for param in self.op.operands}
        bound = {name: value for name, value in values.items() if isinstance(value, (int, torch.SymInt))}
        dtypes = {}
        for param in self.op.operands:
            for tensor in operands[param["name"]]:
                self._bind(bound, self.patterns.get(param["name"]), tensor.shape)
                if isinstance(param["dtype"], dict):
                    dtypes.setdefault(param["dtype"]["var"], tensor.dtype)
        first = next(tensor for tensors in operands.values() for tensor in tensors)
        results = tuple(self._result(param, bound, dtypes, values, first) for param in self.op.returns)
        return results[0] if len(results) == 1 else results or None

    def _bind(self, bound, pattern, shape):
        if pattern is None:
            return
        lists = [place for place, (kind, _) in enumerate(pattern) if kind == "list"]
        # What stands before a list is counted from the front, what stands behind it from the back.
        split = lists[0] if lists else len(pattern)
        behind = len(pattern) - split - 1 if lists else 0
        torch._check(
            len(shape) >= len(pattern) - 1 if lists else len(shape) == len(pattern),
            lambda: f"{self.op.name}: {len(shape)} dimensions do not fit the pattern of {len(pattern)}",
        )
        for place, (kind, text) in enumerate(pattern):
            if kind == "list":
                if text:
                    bound.setdefault(text, tuple(shape[split : len(shape) - behind]))
            elif isinstance(text, ast.Name) and text.id != "_":
                bound.setdefault(text.id, shape[place if place < split else place - len(pattern)])

    def _result(self, param, bound, dtypes, values, first):
        dtype = param["dtype"]
        if isinstance(dtype, dict):
            letter = self.op.json["type_params"][dtype["var"]]["name"].lower()
            chosen = dtypes.get(dtype["var"]) or values.get("dtype") or values.get(letter) or first.dtype
        elif dtype is None:
            chosen = values.get("dtype") or values.get(f"{param['name']}_dtype") or first.dtype
        else:
            chosen = DTYPES[dtype]
        pattern = self.patterns.get(param["name"])
        if pattern is None:
            return first.new_empty(() if param["rank"] == 0 else first.shape, dtype=chosen)
        sizes = []
        for kind, text in pattern:
            sizes += bound[text] if kind == "list" else [self._evaluate(text, bound)]
        return first.new_empty(sizes, dtype=chosen)

    def _evaluate(self, node, bound):
        if isinstance(node, ast.BinOp):
            left, right = self._evaluate(node.left, bound), self._evaluate(node.right, bound)
            return OPERATORS[type(node.op)](left, right)
        return bound[node.id] if isinstance(node, ast.Name) else node.value


def _pattern(text):
    """`..b, n - 1` as pairs: ("list", "b"), ("dim", the expression's syntax tree)."""
    tokens = [token.strip() for token in text.split(",")] if text.strip() else []
    return [
        ("list", token[2:]) if token.startswith("..") else ("dim", ast.parse(token, mode="eval").body)
        for token in tokens
    ]


# torch_xla -----------------------------------------------------------------------------------------------------------


class XlaCall:
    """An op on tensors of torch_xla: a typed custom call in the program that torch_xla builds."""

    def __init__(self, op, operator):
        self.op, self.operator = op, operator

    def __call__(self, *args, **kwargs):
        import torch_xla

        values = self.operator.bind(args, kwargs)
        operands = [tensor for param in self.op.operands for tensor in members(values[param["name"]])]
        if not operands:
            raise NotImplementedError(f"{self.op.name}: torch_xla has no custom calls without a tensor")
        shapes = self._result_types(values)
        attributes = dictionary(self._attributes(values))
        # torch_xla takes two calls for equal, and runs one program for both, if their targets and operands are: the
        # attributes must be seen in the target. The plugin looks for what stands before them.
        results = torch_xla._XLAC._xla_custom_call(
            operands,
            self.op.name + attributes,
            [shape for shape, _ in shapes],
            [dtype for _, dtype in shapes],
            self.op.json["traits"]["side_effect"],
            attributes,
            4,
            {},
        )
        return self._give(values, iter(results))

    def _result_types(self, values):
        """Shapes and dtypes of all results: those of the operator on tensors without data."""

        def meta(tensor):
            return torch.empty(tensor.shape, dtype=tensor.dtype, device="meta")

        names = {param["name"] for param in self.op.operands}
        given = {name: _each(value, meta) if name in names else value for name, value in values.items()}
        returned = iter(as_tuple(self.operator.overload(**self.operator.keywords(given))))
        results = []
        for param in self.op.results:
            tensors = members(given[param["name"]] if param["role"] == "inout" else next(returned))
            results += [(list(tensor.shape), tensor.dtype) for tensor in tensors]
        return results

    def _give(self, values, results):
        """Results as the operator returns them; what it changes is written."""
        returned = []
        for param in self.op.results:
            if param["role"] == "inout":
                for tensor in members(values[param["name"]]):
                    tensor.copy_(next(results))
            else:
                returned.append(list(results) if param["arity"] == "variadic" else next(results))
        return returned[0] if len(returned) == 1 else tuple(returned) or None

    def _attributes(self, values):
        """The attributes as nested dictionaries of (type in the manifest, value); absent ones are left out."""

        def collect(attributes, path):
            found = {}
            for attribute in attributes:
                name, kind, here = attribute["name"], attribute["type"], (*path, attribute["name"])
                value = values.get(here if path else name)
                # The fields of a struct are arguments of their own.
                if isinstance(kind, dict) and "struct" in kind:
                    if fields := collect(kind["struct"], here):
                        found[name] = ("struct", fields)
                elif value is not None:
                    found[name] = (kind, value)
            return found

        return collect(self.op.json["attrs"], ())


def dictionary(attributes):
    """Attributes as the text of an MLIR dictionary; empty if there are none."""
    fields = [f"{_key(name)} = {_attribute(*attributes[name])}" for name in sorted(attributes)]
    return f"{{{', '.join(fields)}}}" if fields else ""


def _key(name):
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_$.]*", name) else _text(name)


def _attribute(kind, value):
    if kind == "struct":
        return dictionary(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(kind, dict) and "array" in kind:
        scalar = _scalar_type(kind["array"])
        elements = ", ".join(_scalar(scalar, element) for element in value)
        return f"array<{scalar}: {elements}>" if elements else f"array<{scalar}>"
    if isinstance(value, bool):
        return _scalar("i1", value)
    if isinstance(value, (int, float)):
        scalar = "f64" if isinstance(value, float) else "i64"
        return f"{_scalar(scalar, value)} : {scalar}"
    raise NotImplementedError(f"a custom call of torch_xla has no attribute of the type of {value!r}")


def _scalar_type(dtype):
    return "i1" if dtype == "pred" else "f64" if "f" in dtype else "i64"


def _scalar(kind, value):
    if kind == "i1":
        return "true" if value else "false"
    if kind == "i64":
        return str(int(value))
    value = float(value)
    if not math.isfinite(value):
        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
    # MLIR's floats have a point; Python's shortest text that reads back as the same number may have none.
    mantissa, exponent, power = repr(value).partition("e")
    return mantissa + ("" if "." in mantissa else ".0") + exponent + power


def _text(value):
    """A string of MLIR, with everything but plain ASCII as hexadecimal bytes."""
    plain = (chr(byte) if 0x20 <= byte < 0x7F and byte not in b'"\\' else f"\\{byte:02X}" for byte in value.encode())
    return f'"{"".join(plain)}"'


if "MANIFEST" in globals():
    register(json.loads(globals()["MANIFEST"]), json.loads(globals()["REPORT"]))
