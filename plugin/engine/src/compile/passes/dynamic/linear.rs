//! Ops on matrices and rows of dynamic sizes: their padding gets values that change nothing in the rest.

use oxcall::Error;
use oxcall_hlo::{ComparisonDirection, ComparisonType, ElementType, Literal, Op, OpKind, TensorType, ValueId};

use super::rules::{only, unsupported};
use super::{Resolver, Sizes};

impl Resolver {
    /// The factor of a matrix beside an identity is its own factor beside an identity.
    pub(super) fn cholesky(&mut self, op: &mut Op) -> Result<(), Error> {
        let a = op.operands[0];
        let (sizes, size) = (self.sizes(a), self.order("a", a)?);
        op.operands[0] = self.beside_identity(a, size);
        self.set(op.results[0], sizes);
        Ok(())
    }

    /// Equations of an identity, whose right-hand sides are zeros, follow those of the matrix.
    pub(super) fn triangular_solve(&mut self, op: &mut Op, left_side: bool) -> Result<(), Error> {
        let (a, b) = (op.operands[0], op.operands[1]);
        let rank = self.tensor(b).rank();
        let unknowns = if left_side { rank - 2 } else { rank - 1 };
        let own = self.order("a", a)?;
        let size = self.smaller(own, self.size(b, unknowns));
        op.operands[0] = self.beside_identity(a, size);
        let mut sizes = self.sizes(b);
        if let Some(size) = size {
            op.operands[1] = self.fill_zeros(b, &Sizes::from_slice(&[(unknowns, size)]));
            sizes.retain(|(dim, _)| *dim != unknowns);
            sizes.push((unknowns, size));
        }
        for (dim, size) in self.sizes(a).into_iter().filter(|&(dim, _)| dim + 2 < rank) {
            let smaller = self.smaller(Some(size), self.size(b, dim)).expect("one is given");
            sizes.retain(|(each, _)| *each != dim);
            sizes.push((dim, smaller));
        }
        self.set(op.results[0], sizes);
        Ok(())
    }

    /// The first elements of rows with padding that comes last in their order, also after equal ones before it.
    pub(super) fn top_k(&mut self, op: &mut Op, largest: bool) -> Result<(), Error> {
        let operand = op.operands[0];
        let (sizes, ty) = (self.sizes(operand), self.tensor(operand));
        let (rows, row): (Sizes, Sizes) = sizes.iter().copied().partition(|&(dim, _)| dim + 1 < ty.rank());
        if !row.is_empty() {
            let last = last_in_order(ty.element, largest);
            let last = last.ok_or_else(|| unsupported("operand", ty.rank() - 1))?;
            let last = self.literal(Literal::splat(TensorType::scalar(ty.element), last));
            op.operands[0] = self.fill(operand, &row, last);
        }
        op.results.iter().for_each(|&result| self.set(result, rows.clone()));
        Ok(())
    }

    /// The number of rows and columns of matrices, if it is dynamic.
    fn order(&mut self, what: &str, matrices: ValueId) -> Result<Option<ValueId>, Error> {
        let (sizes, rank) = (self.sizes(matrices), self.tensor(matrices).rank());
        match (self.size(matrices, rank - 2), self.size(matrices, rank - 1)) {
            (Some(rows), Some(columns)) => Ok(self.smaller(Some(rows), Some(columns))),
            // A matrix that is sometimes not square.
            _ => only(what, &sizes, |dim| dim + 2 < rank).map(|()| None),
        }
    }

    /// Matrices with an identity in their padding.
    fn beside_identity(&mut self, matrices: ValueId, size: Option<ValueId>) -> ValueId {
        let Some(size) = size else { return matrices };
        let mut ty = self.tensor(matrices);
        ty.dynamic = Default::default();
        let (row, column) = (ty.rank() - 2, ty.rank() - 1);
        let indices = ty.with_element(ElementType::S32);
        let [rows, columns] = [row, column].map(|dim| self.emit(OpKind::Iota { dim }, &[], indices.clone()));
        let is_diagonal = OpKind::Compare(ComparisonDirection::Eq, ComparisonType::NoType);
        let diagonal = self.emit(is_diagonal, &[rows, columns], ty.with_element(ElementType::Pred));
        let identity = self.emit(OpKind::Convert, &[diagonal], ty.clone());
        let real = self.real_elements(&ty.dims, &[(row, size), (column, size)]).expect("there are sizes");
        self.emit(OpKind::Select, &[real, matrices, identity], ty)
    }
}

/// The bytes of the element that comes last where the largest, or the smallest, come first; `None` for types of less
/// than a byte and narrow floats.
fn last_in_order(element: ElementType, largest: bool) -> Option<Vec<u8>> {
    use ElementType::{BF16, F16, F32, F64, Pred, S8, S16, S32, S64, U8, U16, U32, U64};
    let (fill, top) = match (element, largest) {
        (Pred, _) => (0, u8::from(!largest)),
        (U8 | U16 | U32 | U64, true) => (0, 0),
        (S8 | S16 | S32 | S64, true) => (0, 0x80),
        // In total order a NaN with a sign is the first of all numbers, and one without the last.
        (F16 | BF16 | F32 | F64, true) | (U8 | U16 | U32 | U64, false) => (0xff, 0xff),
        (F16 | BF16 | F32 | F64 | S8 | S16 | S32 | S64, false) => (0xff, 0x7f),
        _ => return None,
    };
    let mut bytes = vec![fill; element.byte_width()];
    *bytes.last_mut()? = top;
    Some(bytes)
}
