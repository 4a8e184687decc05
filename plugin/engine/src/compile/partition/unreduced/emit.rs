//! Creation of ops.

use oxcall_hlo::{BinaryOp, ElementType, Literal, LocationId, Op, OpKind, Region, TensorType, Type, ValueId};

/// Appends ops to a region.
pub(super) struct Emit<'f> {
    values: &'f mut Vec<Type>,
    ops: Vec<Op>,
    pub(super) location: LocationId,
}

impl<'f> Emit<'f> {
    pub(super) fn new(values: &'f mut Vec<Type>) -> Emit<'f> {
        Emit { values, ops: Vec::new(), location: LocationId::UNKNOWN }
    }

    /// Takes the ops so far.
    pub(super) fn take(&mut self) -> Vec<Op> {
        std::mem::take(&mut self.ops)
    }

    /// Takes the ops so far, and puts `ops` in their place.
    pub(super) fn replace(&mut self, ops: Vec<Op>) -> Vec<Op> {
        std::mem::replace(&mut self.ops, ops)
    }

    pub(super) fn push(&mut self, op: Op) {
        self.ops.push(op);
    }

    pub(super) fn dims(&self, value: ValueId) -> Vec<usize> {
        super::dims(self.values, value)
    }

    pub(super) fn element(&self, value: ValueId) -> ElementType {
        self.values[value.0 as usize].tensor().map_or(ElementType::Pred, |ty| ty.element)
    }

    /// A new value.
    pub(super) fn value(&mut self, element: ElementType, dims: impl IntoIterator<Item = usize>) -> ValueId {
        self.values.push(TensorType::new(element, dims).into());
        ValueId(u32::try_from(self.values.len() - 1).expect("programs are limited"))
    }

    /// A value for `count` summands of `sum`.
    pub(super) fn stack_value(&mut self, sum: ValueId, count: usize) -> ValueId {
        let dims: Vec<usize> = [count].into_iter().chain(self.dims(sum)).collect();
        self.value(self.element(sum), dims)
    }

    /// The result of an op without regions.
    pub(super) fn op(
        &mut self,
        kind: OpKind,
        operands: Vec<ValueId>,
        element: ElementType,
        dims: impl IntoIterator<Item = usize>,
    ) -> ValueId {
        let result = self.value(element, dims);
        self.push(Op { kind, operands, results: vec![result], regions: Vec::new(), location: self.location });
        result
    }

    /// The reshape of one value to another.
    pub(super) fn reshape_op(&self, from: ValueId, to: ValueId) -> Op {
        let location = self.location;
        Op { kind: OpKind::Reshape, operands: vec![from], results: vec![to], regions: Vec::new(), location }
    }

    pub(super) fn reshape(&mut self, value: ValueId, dims: Vec<usize>) -> ValueId {
        self.op(OpKind::Reshape, vec![value], self.element(value), dims)
    }

    /// `value` broadcast along the dimensions `to` of an array of shape `dims`.
    pub(super) fn broadcast(&mut self, value: ValueId, to: Vec<usize>, dims: &[usize]) -> ValueId {
        let element = self.element(value);
        self.op(OpKind::BroadcastInDim { dims: to }, vec![value], element, dims.iter().copied())
    }

    /// An array of zeros.
    pub(super) fn zeros(&mut self, element: ElementType, dims: &[usize]) -> ValueId {
        let ty = TensorType::new(element, dims.iter().copied());
        let zero = Literal::splat(ty, vec![0; element.byte_width()]);
        self.op(OpKind::Constant(zero), Vec::new(), element, dims.iter().copied())
    }

    /// An array filled with the index `value`.
    pub(super) fn index(&mut self, value: usize, dims: &[usize]) -> ValueId {
        let ty = TensorType::new(ElementType::S32, dims.iter().copied());
        let literal = Literal::splat(ty, i32::try_from(value).unwrap_or(i32::MAX).to_le_bytes());
        self.op(OpKind::Constant(literal), Vec::new(), ElementType::S32, dims.iter().copied())
    }

    /// Sums a stack into the value `sum`.
    pub(super) fn sum(&mut self, stack: ValueId, sum: ValueId) {
        let op = self.reduction(stack, vec![0], sum);
        self.push(op);
    }

    /// The sum of a value over `dims`, as the value `result`.
    pub(super) fn reduction(&mut self, value: ValueId, dims: Vec<usize>, result: ValueId) -> Op {
        let element = self.element(value);
        let zero = self.zeros(element, &[]);
        let [lhs, rhs, sum] = std::array::from_fn(|_| self.value(element, []));
        let (kind, location) = (OpKind::Binary(BinaryOp::Add), self.location);
        let add = Op { kind, operands: vec![lhs, rhs], results: vec![sum], regions: Vec::new(), location };
        let body = Region { params: vec![lhs, rhs], ops: vec![add], results: vec![sum] };
        let kind = OpKind::Reduce { dims };
        Op { kind, operands: vec![value, zero], results: vec![result], regions: vec![body], location }
    }
}
