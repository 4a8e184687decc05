"""The plugin against stock JAX on the CPU, in one process: every op kind and dtype, with awkward shapes and values.

``python -m conformance`` runs all cases; ``cargo xtask conformance`` calls it. A case is a JAX function with inputs. It
is compiled and run on both platforms, and results are compared in units in the last place (ULP) of their dtype, within
a tolerance that the op's entry in :mod:`conformance.tolerances` gives with its reason.
"""
