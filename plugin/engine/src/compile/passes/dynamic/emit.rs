//! Creation of ops.

use oxcall::Error;
use oxcall_hlo::{
    BinaryOp, ComparisonDirection, ComparisonType, ElementType, Literal, Op, OpKind, TensorType, Type, ValueId,
};

use super::{Resolver, Sizes};

/// A size as a scalar of the program.
///
/// # Errors
/// UNIMPLEMENTED if it does not fit 32 bits.
pub(super) fn fits(size: usize) -> Result<i32, Error> {
    i32::try_from(size).map_err(|_| Error::unimplemented(format!("a dynamic dimension of up to {size} exceeds an i32")))
}

impl Resolver {
    /// A new value.
    pub(super) fn value(&mut self, ty: impl Into<Type>) -> ValueId {
        let id = ValueId(u32::try_from(self.values.len()).expect("the growth of programs is limited"));
        self.values.push(ty.into());
        id
    }

    /// A new scalar that holds a size.
    pub(super) fn scalar(&mut self) -> ValueId {
        self.value(TensorType::scalar(ElementType::S32))
    }

    /// Adds an op with one result.
    pub(super) fn emit(&mut self, kind: OpKind, operands: &[ValueId], ty: TensorType) -> ValueId {
        let result = self.value(ty);
        self.emit_into(kind, operands, result);
        result
    }

    /// Adds an op whose result is an existing value.
    pub(super) fn emit_into(&mut self, kind: OpKind, operands: &[ValueId], result: ValueId) {
        let (operands, location) = (operands.to_vec(), self.location);
        self.ops.push(Op { kind, operands, results: vec![result], regions: Vec::new(), location });
    }

    /// Adds a constant.
    pub(super) fn literal(&mut self, literal: Literal) -> ValueId {
        let ty = literal.ty().clone();
        self.emit(OpKind::Constant(literal), &[], ty)
    }

    /// A scalar `S32`.
    ///
    /// # Errors
    /// UNIMPLEMENTED if `number` does not fit.
    pub(super) fn number(&mut self, number: usize) -> Result<ValueId, Error> {
        Ok(self.signed(fits(number)?))
    }

    /// A scalar `S32`.
    pub(super) fn signed(&mut self, number: i32) -> ValueId {
        self.literal(Literal::splat(TensorType::scalar(ElementType::S32), number.to_le_bytes()))
    }

    /// An element-wise function of two values of one type.
    pub(super) fn binary(&mut self, op: BinaryOp, left: ValueId, right: ValueId) -> ValueId {
        let ty = self.tensor(left);
        self.emit(OpKind::Binary(op), &[left, right], ty)
    }

    /// The size of a dimension, dynamic or not.
    ///
    /// # Errors
    /// UNIMPLEMENTED if it does not fit 32 bits.
    pub(super) fn any_size(&mut self, value: ValueId, dim: usize) -> Result<ValueId, Error> {
        match self.size(value, dim) {
            Some(size) => Ok(size),
            None => self.number(self.bound(value, dim)),
        }
    }

    /// The smaller of two known sizes of one dimension.
    pub(super) fn smaller(&mut self, left: Option<ValueId>, right: Option<ValueId>) -> Option<ValueId> {
        match (left, right) {
            (Some(left), Some(right)) if left != right => Some(self.binary(BinaryOp::Minimum, left, right)),
            (left, right) => left.or(right),
        }
    }

    /// A tensor filled with a scalar.
    pub(super) fn broadcast(&mut self, scalar: ValueId, dims: &[usize]) -> ValueId {
        let ty = TensorType::new(self.tensor(scalar).element, dims.iter().copied());
        self.emit(OpKind::BroadcastInDim { dims: Vec::new() }, &[scalar], ty)
    }

    /// A mask of the elements of an array of these dimensions that are not padding; `None` if none are padding.
    pub(super) fn real_elements(&mut self, dims: &[usize], sizes: &[(usize, ValueId)]) -> Option<ValueId> {
        let mut all = None;
        for &(dim, size) in sizes {
            let (counts, flags) = (TensorType::new(ElementType::S32, dims.iter().copied()), ElementType::Pred);
            let index = self.emit(OpKind::Iota { dim }, &[], counts.clone());
            let size = self.broadcast(size, dims);
            let kind = OpKind::Compare(ComparisonDirection::Lt, ComparisonType::NoType);
            let real = self.emit(kind, &[index, size], counts.with_element(flags));
            all = Some(all.map_or(real, |all| self.binary(BinaryOp::And, all, real)));
        }
        all
    }

    /// `value` with `scalar` in place of the elements beyond the sizes of dimensions.
    pub(super) fn fill(&mut self, value: ValueId, sizes: &[(usize, ValueId)], scalar: ValueId) -> ValueId {
        let mut ty = self.tensor(value);
        ty.dynamic = Default::default();
        match self.real_elements(&ty.dims, sizes) {
            None => value,
            Some(real) => {
                let other = self.broadcast(scalar, &ty.dims);
                self.emit(OpKind::Select, &[real, value, other], ty)
            }
        }
    }

    /// `value` with zeros in its padding along `dims`.
    pub(super) fn fill_zeros(&mut self, value: ValueId, sizes: &Sizes) -> ValueId {
        let ty = TensorType::scalar(self.tensor(value).element);
        let zero = vec![0; ty.element.byte_width()];
        let zero = self.literal(Literal::splat(ty, zero));
        self.fill(value, sizes, zero)
    }
}
