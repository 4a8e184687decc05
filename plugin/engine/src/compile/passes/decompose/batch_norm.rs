//! Batch normalisation as element-wise ops and sums, following the specification. Elements narrower than `F32` are
//! computed in `F32`.

use oxcall_hlo::{BinaryOp, ElementType, Op, OpKind, TensorType, UnaryOp, ValueId};

use super::super::ir::{Rewrite, Rewriter};
use super::{reduce, splat};

/// `(operand - mean) * (scale / sqrt(variance + epsilon)) + offset`.
pub(super) fn inference(rewriter: &mut Rewriter<'_>, op: &Op, epsilon: f32, feature: usize) -> Rewrite {
    let mut norm = Norm::new(rewriter, op, feature);
    let [operand, scale, offset, mean, variance] = norm.operands(op);
    let output = norm.normalise(operand, scale, offset, mean, variance, epsilon);
    norm.finish(&[output])
}

/// Like inference, with the mean and variance of the operand, which are also results.
pub(super) fn training(rewriter: &mut Rewriter<'_>, op: &Op, epsilon: f32, feature: usize) -> Rewrite {
    let mut norm = Norm::new(rewriter, op, feature);
    let [operand, scale, offset] = norm.operands(op);
    let count = norm.count();
    let sum = norm.sum(operand);
    let mean = norm.divide_by(sum, count);
    let centered = norm.centered(operand, mean);
    let squares = norm.binary(BinaryOp::Multiply, centered, centered);
    let sum = norm.sum(squares);
    let variance = norm.divide_by(sum, count);
    let output = norm.normalise(operand, scale, offset, mean, variance, epsilon);
    norm.finish(&[output, mean, variance])
}

/// The gradients of the operand, the scale and the offset.
pub(super) fn gradient(rewriter: &mut Rewriter<'_>, op: &Op, epsilon: f32, feature: usize) -> Rewrite {
    let mut norm = Norm::new(rewriter, op, feature);
    let [operand, scale, mean, variance, grad_output] = norm.operands(op);
    let count = norm.count();
    let deviation = norm.deviation(variance, epsilon);
    let centered = norm.centered(operand, mean);
    let product = norm.binary(BinaryOp::Multiply, grad_output, centered);
    let projection = norm.sum(product);
    let grad_scale = norm.binary(BinaryOp::Divide, projection, deviation);
    let grad_offset = norm.sum(grad_output);

    // grad_operand = scale / deviation * (grad_output - sum / n - centered * projection / (n * deviation^2))
    let mean_grad = norm.divide_by(grad_offset, count);
    let square = norm.binary(BinaryOp::Multiply, deviation, deviation);
    let slope = norm.divide_by(projection, count);
    let slope = norm.binary(BinaryOp::Divide, slope, square);
    let slope = norm.spread(slope);
    let along = norm.binary(BinaryOp::Multiply, centered, slope);
    let grad = norm.centered(grad_output, mean_grad);
    let grad = norm.binary(BinaryOp::Subtract, grad, along);
    let factor = norm.binary(BinaryOp::Divide, scale, deviation);
    let factor = norm.spread(factor);
    let grad_operand = norm.binary(BinaryOp::Multiply, grad, factor);
    norm.finish(&[grad_operand, grad_scale, grad_offset])
}

/// The expansion of a batch norm.
struct Norm<'r, 'f> {
    rewriter: &'r mut Rewriter<'f>,
    /// The type of the operand, with the element type of the computation.
    shape: TensorType,
    /// The element type of the results.
    element: ElementType,
    feature: usize,
}

impl<'r, 'f> Norm<'r, 'f> {
    fn new(rewriter: &'r mut Rewriter<'f>, op: &Op, feature: usize) -> Norm<'r, 'f> {
        let ty = rewriter.tensor(op.operands[0]).clone();
        let wide = if ty.element == ElementType::F64 { ElementType::F64 } else { ElementType::F32 };
        Norm { shape: ty.with_element(wide), element: ty.element, feature, rewriter }
    }

    fn operands<const N: usize>(&mut self, op: &Op) -> [ValueId; N] {
        std::array::from_fn(|index| self.rewriter.convert(op.operands[index], self.shape.element))
    }

    fn finish(self, results: &[ValueId]) -> Rewrite {
        Rewrite::With(results.iter().map(|&value| self.rewriter.convert(value, self.element)).collect())
    }

    fn binary(&mut self, op: BinaryOp, lhs: ValueId, rhs: ValueId) -> ValueId {
        self.rewriter.emit_like(OpKind::Binary(op), &[lhs, rhs])
    }

    /// A value of the feature dimension, broadcast to the shape of the operand.
    fn spread(&mut self, value: ValueId) -> ValueId {
        self.rewriter.broadcast(value, &[self.feature], &self.shape)
    }

    fn centered(&mut self, operand: ValueId, mean: ValueId) -> ValueId {
        let mean = self.spread(mean);
        self.binary(BinaryOp::Subtract, operand, mean)
    }

    /// `sqrt(variance + epsilon)`.
    fn deviation(&mut self, variance: ValueId, epsilon: f32) -> ValueId {
        let ty = self.rewriter.tensor(variance).clone();
        let epsilon = splat(self.rewriter, &ty, f64::from(epsilon));
        let sum = self.binary(BinaryOp::Add, variance, epsilon);
        self.rewriter.emit_like(OpKind::Unary(UnaryOp::Sqrt), &[sum])
    }

    fn normalise(
        &mut self,
        operand: ValueId,
        scale: ValueId,
        offset: ValueId,
        mean: ValueId,
        variance: ValueId,
        epsilon: f32,
    ) -> ValueId {
        let deviation = self.deviation(variance, epsilon);
        let factor = self.binary(BinaryOp::Divide, scale, deviation);
        let centered = self.centered(operand, mean);
        let (factor, offset) = (self.spread(factor), self.spread(offset));
        let scaled = self.binary(BinaryOp::Multiply, centered, factor);
        self.binary(BinaryOp::Add, scaled, offset)
    }

    /// The number of elements of each feature.
    fn count(&self) -> f64 {
        let others = self.shape.dims.iter().enumerate().filter(|(dim, _)| *dim != self.feature);
        others.map(|(_, &size)| size as f64).product()
    }

    fn divide_by(&mut self, value: ValueId, divisor: f64) -> ValueId {
        let ty = self.rewriter.tensor(value).clone();
        let divisor = splat(self.rewriter, &ty, divisor);
        self.binary(BinaryOp::Divide, value, divisor)
    }

    /// The sum over all dimensions except the features.
    fn sum(&mut self, value: ValueId) -> ValueId {
        let others = (0..self.shape.rank()).filter(|dim| *dim != self.feature).collect();
        reduce(self.rewriter, value, BinaryOp::Add, 0.0, others)
    }
}
