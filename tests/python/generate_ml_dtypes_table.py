"""Writes the table that the 8-bit and 4-bit floating-point elements are tested against.

Usage: python generate_ml_dtypes_table.py > ../../element/src/testdata/ml_dtypes.txt

For each format, one `decode` line with the binary32 bits of every code, and one `encode` line with the conversion
from binary32: `BITS:CODE` means that inputs from these bits on, up to the next entry, become this code. The conversion
is scanned in steps that are far below the distance of two codes, and bisected where the code changes.
"""

import ml_dtypes
import numpy as np

FORMATS = {
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e3m4": ml_dtypes.float8_e3m4,
    "f8e4m3": ml_dtypes.float8_e4m3,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "f8e8m0fnu": ml_dtypes.float8_e8m0fnu,
    "f4e2m1fn": ml_dtypes.float4_e2m1fn,
}
STEP = 1 << 12


def encode(dtype, bits):
    """The codes of binary32 bit patterns."""
    with np.errstate(all="ignore"):
        return bits.astype(np.uint32).view(np.float32).astype(dtype).view(np.uint8)


def runs(dtype):
    """Yields (first bits, code) for each run of bit patterns with one code."""
    coarse = np.arange(0, 1 << 32, STEP, dtype=np.uint64)
    # The first patterns after zero and after an infinity are runs of their own in some formats.
    points = np.unique(np.concatenate([coarse, coarse[:-1] + 1, coarse[1:] - 1, [0xFFFFFFFF]]))
    codes = encode(dtype, points)
    yield 0, codes[0]
    for i in np.flatnonzero(codes[1:] != codes[:-1]):
        block = np.arange(points[i], points[i + 1] + 1, dtype=np.uint64)
        fine = encode(dtype, block)
        for j in np.flatnonzero(fine[1:] != fine[:-1]):
            yield int(block[j + 1]), fine[j + 1]


def main():
    print(f"# ml_dtypes {ml_dtypes.__version__}; written by tests/python/generate_ml_dtypes_table.py")
    for name, dtype in FORMATS.items():
        codes = np.arange(1 << ml_dtypes.finfo(dtype).bits, dtype=np.uint8)
        values = codes.view(dtype).astype(np.float32).view(np.uint32)
        print("decode", name, *(f"{v:08x}" for v in values))
        print("encode", name, *(f"{start:08x}:{code:02x}" for start, code in runs(dtype)))


if __name__ == "__main__":
    main()
