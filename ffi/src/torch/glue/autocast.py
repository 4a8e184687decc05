"""Dtypes inside `torch.autocast`."""

import contextlib
import threading

import torch

# The dtypes that a parameter has to take, by the policy.
AUTOCAST_DTYPES = {"f32": ("f32",), "lowest": ("bf16", "f16")}


def register_autocast(op, operator, library):
    """Registers the autocast kernels of an overload, of an op that declares `autocast`."""
    if not op.json.get("autocast"):
        return
    name = operator.overload._name.partition("::")[2]
    for key in sorted({*op.keys, "XLA"}):
        if hasattr(torch._C.DispatchKey, f"Autocast{key}"):
            library.impl(name, Autocast(op, operator), f"Autocast{key}")


class _Thread(threading.local):
    casts = True


_THREAD = _Thread()


@contextlib.contextmanager
def without_autocast():
    """No operator of ours casts: for calls whose dtypes follow from those of another operator's call.

    torch's own switches do not do: torch.func restores them at each of its levels.
    """
    before, _THREAD.casts = _THREAD.casts, False
    try:
        yield
    finally:
        _THREAD.casts = before


class Autocast:
    """The autocast kernel of an operator: it casts arguments as torch casts those of its own operators.

    Attributes:
        names: the parameters that are cast: those that take the dtypes of the policy, and are not updated.
    """

    def __init__(self, op, operator):
        self.operator, self.policy = operator, op.json.get("autocast")
        wanted = AUTOCAST_DTYPES.get(self.policy, ())
        self.names = {
            param["name"] for param in op.operands
            if self.policy and param["role"] == "arg" and _takes(op, param["dtype"], wanted)
        }  # fmt: skip

    def __call__(self, *args, **kwargs):
        args, kwargs = self.cast(args, kwargs)
        with torch._C._DisableAutocast():
            return self.operator.overload(*args, **kwargs)

    def cast(self, args, kwargs):
        """The arguments of a call, as the op gets them."""
        if not (self.names and _THREAD.casts):
            return args, kwargs
        return self.operator.with_tensors(self.names, self._cast, args, kwargs)

    def _cast(self, tensor):
        """A tensor on a device with autocast, in the dtype of the policy; torch leaves double precision alone."""
        device = tensor.device.type
        is_cast = tensor.is_floating_point() and tensor.dtype != torch.float64
        if not (is_cast and torch._C._is_autocast_available(device) and torch.is_autocast_enabled(device)):
            return tensor
        return tensor.to(torch.float32 if self.policy == "f32" else torch.get_autocast_dtype(device))


def _takes(op, dtype, wanted):
    """Whether a parameter's dtypes include some."""
    if dtype is None:
        return True
    dtypes = op.json["type_params"][dtype["var"]]["dtypes"] if isinstance(dtype, dict) else [dtype]
    return set(wanted) <= set(dtypes)
