//! Reshapes: joining and splitting dynamic dimensions, and the new places of elements.

use std::ops::Range;

use oxcall::Error;
use oxcall_hlo::{BinaryOp, ElementType, GatherDims, Op, OpKind, TensorType, ValueId};

use super::emit::fits;
use super::rules::unsupported;
use super::{Resolver, Sizes};

/// Neighbouring dimensions of the operand and of the result that have the same elements.
type Group = (Range<usize>, Range<usize>);

/// The smallest groups of dimensions. Of several dimensions of one element, the first ones belong together, because
/// programs of torch_xla do not always declare the one that is dynamic in the result.
fn groups(from: &[usize], to: &[usize]) -> Vec<Group> {
    let mut groups = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < from.len() || j < to.len() {
        let (first, start) = (i, j);
        if i < from.len() && j < to.len() && from[i] == to[j] {
            (i, j) = (i + 1, j + 1);
        } else {
            let (mut left, mut right) = (1, 1);
            while left != right || (i, j) == (first, start) {
                if i < from.len() && (left <= right || j == to.len()) {
                    left *= from[i];
                    i += 1;
                } else {
                    right *= to[j];
                    j += 1;
                }
            }
        }
        groups.push((first..i, start..j));
    }
    groups
}

impl Resolver {
    /// Moves elements only if the padding does not stay at the end.
    pub(super) fn reshape(&mut self, op: &Op) -> Result<(), Error> {
        let (operand, result) = (op.operands[0], op.results[0]);
        let (from, to) = (self.tensor(operand), self.tensor(result));
        let mut sizes = Sizes::new();
        if from.count() > 0 {
            let groups = groups(&from.dims, &to.dims);
            let mut moves = false;
            for (dims, places) in &groups {
                let Some(dim) = dims.clone().find(|&dim| self.size(operand, dim).is_some()) else { continue };
                let place = self.dynamic_place(&to, places.clone()).ok_or_else(|| unsupported("operand", dim))?;
                let size = self.joined(operand, dims.clone(), &to, places.clone(), place)?;
                sizes.push((place, size));
                // The first of several dimensions is the slowest, so the padding is at the end before and after.
                let is_first = |dims: &[usize], range: Range<usize>, dim: usize| {
                    dims[range.start..dim].iter().all(|&size| size == 1)
                };
                let only_one = dims.clone().filter(|&dim| self.size(operand, dim).is_some()).count() == 1;
                let in_place =
                    only_one && is_first(&from.dims, dims.clone(), dim) && is_first(&to.dims, places.clone(), place);
                moves |= !in_place;
            }
            if moves {
                self.move_elements(operand, result, &groups, &sizes)?;
                self.set(result, sizes);
                return Ok(());
            }
        }
        self.ops.push(op.clone());
        self.set(result, sizes);
        Ok(())
    }

    /// The dimension among `places` that gets the computed size: the only one with more than one element, or the one
    /// that the program declares, or the first.
    fn dynamic_place(&self, to: &TensorType, places: Range<usize>) -> Option<usize> {
        let mut large = places.clone().filter(|&place| to.dims[place] != 1);
        let (first, second) = (large.next(), large.next());
        if first.is_some() && second.is_none() {
            return first;
        }
        let declared = places.clone().find(|&place| to.dynamic.contains(place));
        declared.or(first).or((places.len() == 1).then_some(places.start))
    }

    /// The size of a dimension of the result: the elements of the group divided by its other dimensions.
    fn joined(
        &mut self,
        operand: ValueId,
        dims: Range<usize>,
        to: &TensorType,
        places: Range<usize>,
        place: usize,
    ) -> Result<ValueId, Error> {
        fits(places.clone().map(|place| to.dims[place]).product())?;
        let mut all = None;
        for dim in dims.clone() {
            if self.size(operand, dim).is_some() || self.bound(operand, dim) != 1 {
                let size = self.any_size(operand, dim)?;
                all = Some(all.map_or(size, |all| self.binary(BinaryOp::Multiply, all, size)));
            }
        }
        let all = all.expect("there is a dynamic dimension");
        let others: usize = places.filter(|&each| each != place).map(|each| to.dims[each]).product();
        if others == 1 {
            return Ok(all);
        }
        let others = self.number(others)?;
        Ok(self.binary(BinaryOp::Divide, all, others))
    }

    /// Gathers the elements from among the padding.
    fn move_elements(
        &mut self,
        operand: ValueId,
        result: ValueId,
        groups: &[Group],
        sizes: &Sizes,
    ) -> Result<(), Error> {
        let (from, to) = (self.tensor(operand), self.tensor(result));
        let counts = TensorType::new(ElementType::S32, to.dims.iter().copied());
        let one = self.signed(1);
        self.number(from.count())?;
        let zero = self.signed(0);
        let mut index = self.broadcast(zero, &to.dims);
        let mut stride = from.count();
        for (dims, places) in groups {
            // The index among the elements of the group, for the sizes of the result.
            let mut place = self.broadcast(zero, &to.dims);
            for each in places.clone() {
                let size = sizes.iter().find(|(dim, _)| *dim == each).map(|&(_, size)| size);
                let size = size.map_or_else(|| self.number(to.dims[each]), Ok)?;
                let size = self.broadcast(size, &to.dims);
                let step = self.emit(OpKind::Iota { dim: each }, &[], counts.clone());
                let scaled = self.binary(BinaryOp::Multiply, place, size);
                place = self.binary(BinaryOp::Add, scaled, step);
            }
            // The coordinates of that element for the sizes of the operand, and its place in the padded operand.
            stride /= from.dims[dims.clone()].iter().product::<usize>();
            let mut inner = stride;
            for dim in dims.clone().rev() {
                let size = self.any_size(operand, dim)?;
                let size = self.binary(BinaryOp::Maximum, size, one);
                let size = self.broadcast(size, &to.dims);
                let at = self.binary(BinaryOp::Remainder, place, size);
                place = self.binary(BinaryOp::Divide, place, size);
                let step = self.number(inner)?;
                let step = self.broadcast(step, &to.dims);
                let offset = self.binary(BinaryOp::Multiply, at, step);
                index = self.binary(BinaryOp::Add, index, offset);
                inner *= from.dims[dim];
            }
        }
        let flat = TensorType::new(from.element, [from.count()]);
        let flat = self.emit(OpKind::Reshape, &[operand], flat);
        let dims = GatherDims::of_elements(to.rank());
        let kind = OpKind::Gather { dims, slice_sizes: vec![1], indices_are_sorted: false };
        self.emit_into(kind, &[flat, index], result);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_with_the_same_elements() {
        assert_eq!(groups(&[8, 1], &[8]), [(0..1, 0..1), (1..2, 1..1)]);
        assert_eq!(groups(&[1, 8], &[8]), [(0..1, 0..0), (1..2, 0..1)]);
        assert_eq!(groups(&[4, 6, 5], &[24, 5]), [(0..2, 0..1), (2..3, 1..2)]);
        assert_eq!(groups(&[24], &[2, 3, 4]), [(0..1, 0..3)]);
        assert_eq!(groups(&[6, 4], &[4, 6]), [(0..2, 0..2)]);
        assert_eq!(groups(&[1], &[]), [(0..1, 0..0)]);
        assert_eq!(groups(&[], &[1, 1]), [(0..0, 0..1), (0..0, 1..2)]);
    }
}
