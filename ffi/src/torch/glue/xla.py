"""Operators on tensors of torch_xla."""

import math
import re
import struct

import torch


class XlaCall:
    """An op on tensors of torch_xla: a typed custom call in the program that torch_xla builds."""

    def __init__(self, op, operator):
        self.op, self.operator = op, operator

    def __call__(self, *args, **kwargs):
        import torch_xla

        # The handler of an op that expands its operands reads what is repeated where it is.
        common = self.op.promote if self.op.json.get("expands") else self.op.broadcast
        values = self.operator.bind(*common(self.operator, args, kwargs))
        operands = [tensor for param in self.op.operands for tensor in members(values[param["name"]])]
        if not operands:
            raise NotImplementedError(f"{self.op.name}: torch_xla has no custom calls without a tensor")
        refuse_recorded_updates(self.op, values)
        shapes = self._result_types(values)
        attributes = dictionary(self._attributes(values))
        # torch_xla takes two calls for equal, and runs one program for both, if their targets and operands are: the
        # attributes must be seen in the target. The plugin looks for what stands before them.
        results = torch_xla._XLAC._xla_custom_call(
            operands,
            self.op.json["target"] + attributes,
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
        given = {name: each(value, meta) if name in names else value for name, value in values.items()}
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
                    with torch.no_grad():
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
    # A device is passed by its name.
    if isinstance(value, (str, torch.device)):
        return _text(str(value))
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
