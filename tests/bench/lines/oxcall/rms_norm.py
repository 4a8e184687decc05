"""Root-mean-square norm with a weight, in Rust, for JAX and PyTorch."""

# --- forward
import pathlib

import oxcall

rms_norm = oxcall.load(pathlib.Path(__file__).with_name("librms_norm.so")).rms_norm
