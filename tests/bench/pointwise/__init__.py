"""Pointwise functions beside the same formulas in JAX and torch, by ``cargo xtask bench pointwise``."""
