"""Prints the layout of each PJRT struct that ffi-sys may have.

A line is: name, size, size without padding (what `struct_size` is set to), field@offset. Unnamed unions are left out.
"""

import ctypes
import re

from pypjrt._abi import pjrt_0_114 as abi

# Extensions that ffi-sys has nothing of.
OTHERS = r"AbiVersion|Callback|Collectives|DeviceEvent|Megascale|MultiSlice|RawBuffer|Tpu|Triton|Xla_?Transform"

for name, struct in sorted(vars(abi).items()):
    if name.startswith("PJRT_") and isinstance(struct, type) and issubclass(struct, ctypes.Structure):
        fields = [field for field, *_ in getattr(struct, "_fields_", []) if not field.startswith("_")]
        if fields and not re.search(OTHERS, name):
            offsets = [f"{field}@{getattr(struct, field).offset}" for field in fields]
            size = ctypes.sizeof(struct)
            print(name, size, getattr(abi, f"{name}_STRUCT_SIZE", size), *offsets)
