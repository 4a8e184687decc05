"""Functions that the plugin computes by kernels of its own.

On the way to a plugin, jaxlib writes these functions of CHLO as sums of logarithms and series, which lose all digits
near their zeros, or as products with an exponential of a rounded square, which loses them where that is large. They are
lowered as composites of their names: the plugin takes its kernel, another reader what they are made of.
"""

from __future__ import annotations

from typing import Any

_FUNCTIONS = ("bessel_i0e", "bessel_i1e", "digamma", "erfc", "lgamma", "polygamma")


def register_functions(platform: str) -> None:
    """Lets `platform` lower these functions as composites, where JAX's version of MLIR has them."""
    from jax._src.interpreters import mlir
    from jax._src.lax import special
    from jax._src.lib.mlir.dialects import hlo

    if not hasattr(hlo, "CompositeOp"):
        return
    for name in _FUNCTIONS:
        primitive = getattr(special, f"{name}_p")
        mlir.register_lowering(primitive, _lowering(name, mlir._lowerings[primitive]), platform=platform)


def _lowering(name: str, usual: Any) -> Any:
    usual = getattr(usual, "rule", usual)

    def lower(ctx: Any, *operands: Any, **params: Any) -> Any:
        from jax._src.lib.mlir import ir
        from jax._src.lib.mlir.dialects import func, hlo

        exported = getattr(ctx.module_context.lowering_parameters, "for_export", False)
        first, *others = [*ctx.avals_in, *ctx.avals_out]
        same = all((aval.shape, aval.dtype) == (first.shape, first.dtype) for aval in others)
        # Scalars beside arrays are left to the usual rule, and so are sizes that are not known yet.
        if exported or not same or not all(isinstance(size, int) for size in first.shape):
            return usual(ctx, *operands, **params)
        result = operands[0].type
        module = ctx.module_context.module
        with ir.InsertionPoint(module.body):
            function = func.FuncOp(f"chlo.{name}", ([operand.type for operand in operands], [result]))
        function.attributes["sym_visibility"] = ir.StringAttr.get("private")
        ctx.module_context.symbol_table.insert(function)
        with ir.InsertionPoint(function.add_entry_block()):
            (value,) = usual(ctx, *function.arguments, **params)
            func.ReturnOp([value if isinstance(value, ir.Value) else value[0]])
        composite = hlo.CompositeOp(
            [result],
            list(operands),
            name=ir.StringAttr.get(f"chlo.{name}"),
            decomposition=ir.FlatSymbolRefAttr.get(function.name.value),
        )
        return composite.results

    return lower
