//! Operations of a program, counted as XLA's cost analysis does.

use oxcall_hlo::{BinaryOp, Func, Module, Op, OpKind, Region, UnaryOp, ValueId};

/// Arithmetic operations of a program. Bodies of loops count once, since their trip counts are unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Operations {
    /// Additions, multiplications, comparisons, ...
    pub(crate) flops: f64,
    /// Sines, exponentials, ...
    pub(crate) transcendentals: f64,
}

impl Operations {
    /// Those of the program, which has a function for each call at most.
    pub(crate) fn new(module: &Module) -> Operations {
        let mut sum = Operations::default();
        sum.region(module, module.main(), &module.main().body, 1.0, 0);
        sum
    }

    /// Adds what `region` does `times` times. Functions cannot call each other without end, but deeply.
    fn region(&mut self, module: &Module, func: &Func, region: &Region, times: f64, depth: u32) {
        for op in &region.ops {
            let count = |values: &[ValueId]| {
                values.iter().filter_map(|&value| func.ty(value).tensor()).map(|ty| ty.count() as f64).sum::<f64>()
            };
            let results = times * count(&op.results);
            match &op.kind {
                OpKind::Unary(unary) if is_transcendental(*unary) => self.transcendentals += results,
                OpKind::Binary(BinaryOp::Power | BinaryOp::Atan2) => self.transcendentals += results,
                OpKind::Unary(_) | OpKind::Binary(_) | OpKind::Compare(..) | OpKind::Select | OpKind::Clamp => {
                    self.flops += results;
                }
                OpKind::DotGeneral(_) | OpKind::Convolution(_) => {
                    self.flops += 2.0 * results * contracted(func, op);
                }
                OpKind::Cholesky { .. } => self.flops += results * edge(func, op.results[0]) / 3.0,
                OpKind::TriangularSolve { .. } => self.flops += results * edge(func, op.operands[0]),
                OpKind::Call(callee) | OpKind::Composite { decomposition: callee, .. } if depth < 64 => {
                    let callee = module.func(*callee);
                    self.region(module, callee, &callee.body, times, depth + 1);
                }
                _ => {}
            }
            let runs = match &op.kind {
                // One run of the body takes two elements to one.
                OpKind::Reduce { .. } => (times * (count(&op.operands[..1]) - count(&op.results[..1]))).max(0.0),
                OpKind::ReduceWindow { window } => {
                    let size: usize = window.iter().map(|dim| dim.size).product();
                    results * size.saturating_sub(1) as f64
                }
                OpKind::Scatter { .. } | OpKind::SelectAndScatter { .. } => times * count(&op.operands[1..]),
                OpKind::Map { .. } => results,
                OpKind::Sort { .. } => {
                    let elements = times * count(&op.operands[..1]);
                    elements * elements.max(2.0).log2()
                }
                _ => times,
            };
            op.regions.iter().for_each(|region| self.region(module, func, region, runs, depth));
        }
    }
}

fn is_transcendental(op: UnaryOp) -> bool {
    !matches!(
        op,
        UnaryOp::Abs
            | UnaryOp::Ceil
            | UnaryOp::Conj
            | UnaryOp::CountLeadingZeros
            | UnaryOp::Floor
            | UnaryOp::Imag
            | UnaryOp::IsFinite
            | UnaryOp::IsInf
            | UnaryOp::IsNegInf
            | UnaryOp::IsPosInf
            | UnaryOp::Negate
            | UnaryOp::Not
            | UnaryOp::Popcnt
            | UnaryOp::Real
            | UnaryOp::RoundNearestAfz
            | UnaryOp::RoundNearestEven
            | UnaryOp::Sign
            | UnaryOp::Square
    )
}

/// The products that are summed up for an element of the result.
fn contracted(func: &Func, op: &Op) -> f64 {
    let Some(operand) = func.ty(op.operands[usize::from(matches!(op.kind, OpKind::Convolution(_)))]).tensor() else {
        return 0.0;
    };
    let size = |dims: &[usize]| dims.iter().map(|&dim| operand.dims[dim] as f64).product::<f64>();
    match &op.kind {
        OpKind::DotGeneral(dims) => size(&dims.lhs_contracting),
        OpKind::Convolution(dims) => size(&dims.kernel_spatial) * size(&[dims.kernel_input_feature]),
        _ => 0.0,
    }
}

/// The last dimension but one of a matrix.
fn edge(func: &Func, matrix: ValueId) -> f64 {
    func.ty(matrix).tensor().and_then(|ty| ty.dims.iter().rev().nth(1)).map_or(0.0, |&dim| dim as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operations(text: &str) -> (f64, f64) {
        let Operations { flops, transcendentals } = Operations::new(&oxcall_hlo::parse_text(text).unwrap());
        (flops, transcendentals)
    }

    #[test]
    fn products_count_twice_and_sines_apart() {
        let counted = operations(
            "func.func @main(%a: tensor<5x3xf32>, %b: tensor<3x4xf32>) -> tensor<5x4xf32> {
               %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<5x3xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
               %1 = stablehlo.sine %0 : tensor<5x4xf32>
               %2 = stablehlo.add %1, %0 : tensor<5x4xf32>
               return %2 : tensor<5x4xf32>
             }",
        );
        assert_eq!(counted, ((2 * 5 * 4 * 3 + 20) as f64, 20.0));
    }

    #[test]
    fn reductions_count_their_body() {
        let counted = operations(
            "func.func @main(%a: tensor<5x3xf32>, %z: tensor<f32>) -> tensor<5xf32> {
               %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : (tensor<5x3xf32>, tensor<f32>) -> tensor<5xf32>
               return %0 : tensor<5xf32>
             }",
        );
        assert_eq!(counted, (10.0, 0.0));
    }
}
