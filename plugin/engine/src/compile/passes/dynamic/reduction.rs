//! Ops whose regions combine or order elements, and must not see the padding.

use oxcall::Error;
use oxcall_hlo::{BinaryOp, ElementType, Literal, Op, OpKind, Region, TensorType, ValueId, WindowDim};

use super::super::identity;
use super::emit::fits;
use super::rules::unsupported;
use super::{Resolver, Sizes};

/// Whether the windows along a dimension are its single elements.
pub(super) fn is_trivial(window: &WindowDim) -> bool {
    let WindowDim { size, stride, padding_low, padding_high, base_dilation, .. } = *window;
    (size, stride, padding_low, padding_high, base_dilation) == (1, 1, 0, 0, 1)
}

impl Resolver {
    /// Replaces the padding along reduced dimensions by the region's identity. If there is none, a flag beside each
    /// element excludes the padding.
    pub(super) fn reduce(&mut self, mut op: Op, dims: &[usize]) -> Result<(), Error> {
        let inputs = op.operands.len() / 2;
        let own = self.merged(&op.operands[..inputs]);
        let reduced: Sizes = own.iter().copied().filter(|(dim, _)| dims.contains(dim)).collect();
        let place = |dim: usize| dim - dims.iter().filter(|&&each| each < dim).count();
        let kept = own.iter().filter(|(dim, _)| !dims.contains(dim)).map(|&(dim, size)| (place(dim), size));
        let kept: Sizes = kept.collect();
        op.results.iter().for_each(|&result| self.set(result, kept.clone()));
        if !reduced.is_empty() {
            let element = self.tensor(op.operands[0]).element;
            match identity::of_region(&op.regions[0], element).filter(|_| inputs == 1) {
                Some(identity) => {
                    let identity = self.literal(identity);
                    op.operands[0] = self.fill(op.operands[0], &reduced, identity);
                }
                None => self.add_flags(&mut op, &reduced),
            }
        }
        self.ops.push(op);
        Ok(())
    }

    /// Reduces flags beside the elements. Real elements have their flag set; the others are not combined.
    fn add_flags(&mut self, op: &mut Op, reduced: &Sizes) {
        let inputs = op.operands.len() / 2;
        let dims = self.tensor(op.operands[0]).dims;
        let flags = self.real_elements(&dims, reduced).expect("there is a dynamic dimension");
        let flag = TensorType::scalar(ElementType::Pred);
        let set = self.literal(Literal::splat(flag.clone(), [1u8]));
        op.operands.insert(inputs, flags);
        op.operands.push(set);
        let region = &mut op.regions[0];
        let (left, right) = (self.value(flag.clone()), self.value(flag.clone()));
        let (first, second) = (region.params[..inputs].to_vec(), region.params[inputs..].to_vec());
        region.params = [&first[..], &[left], &second[..], &[right]].concat();
        let outer = std::mem::replace(&mut self.ops, std::mem::take(&mut region.ops));
        let mut results = Vec::with_capacity(inputs + 1);
        for ((&combined, &first), &second) in region.results.iter().zip(&first).zip(&second) {
            let ty = self.tensor(combined);
            let both = self.emit(OpKind::Select, &[right, combined, first], ty.clone());
            results.push(self.emit(OpKind::Select, &[left, both, second], ty));
        }
        results.push(self.binary(BinaryOp::Or, left, right));
        region.ops = std::mem::replace(&mut self.ops, outer);
        region.results = results;
        let result = TensorType::new(ElementType::Pred, self.tensor(op.results[0]).dims);
        op.results.push(self.value(result));
    }

    /// The number of windows along a dimension of `size` elements, at most `bound`.
    pub(super) fn windows(
        &mut self,
        (size, bound): (ValueId, usize),
        dim: usize,
        window: &WindowDim,
    ) -> Result<ValueId, Error> {
        let reach = window.size.saturating_mul(window.window_dilation);
        fits(bound.saturating_mul(window.base_dilation).saturating_add(reach))?;
        let number = |number: i64| i32::try_from(number).map_err(|_| unsupported("operand", dim));
        let (zero, one) = (self.signed(0), self.signed(1));
        let base = self.signed(number(window.base_dilation as i64)?);
        let width = if window.size == 0 { 0 } else { (window.size as i64 - 1) * window.window_dilation as i64 + 1 };
        // (size - 1) * base + 1 elements with holes; there are none if there are no elements.
        let gaps = self.binary(BinaryOp::Subtract, size, one);
        let spread = self.binary(BinaryOp::Multiply, gaps, base);
        let spread = self.binary(BinaryOp::Add, spread, one);
        let spread = self.binary(BinaryOp::Maximum, spread, zero);
        let more = self.signed(number(window.padding_low + window.padding_high - width + window.stride as i64)?);
        let all = self.binary(BinaryOp::Add, spread, more);
        let all = self.binary(BinaryOp::Maximum, all, zero);
        let stride = self.signed(number(window.stride as i64)?);
        Ok(self.binary(BinaryOp::Divide, all, stride))
    }

    /// Sorts the padding to the end along a dynamic dimension.
    pub(super) fn sort(&mut self, mut op: Op, dim: usize) -> Result<(), Error> {
        let sizes = self.merged(&op.operands);
        op.results.iter().for_each(|&result| self.set(result, sizes.clone()));
        let sorted: Sizes = sizes.iter().copied().filter(|(each, _)| *each == dim).collect();
        let dims = self.tensor(op.operands[0]).dims;
        if let Some(flags) = self.real_elements(&dims, &sorted) {
            op.operands.push(flags);
            let result = self.value(TensorType::new(ElementType::Pred, dims));
            op.results.push(result);
            self.compare_flags(&mut op.regions[0]);
        }
        self.ops.push(op);
        Ok(())
    }

    /// Makes a comparator put real elements, whose flags are set, first.
    fn compare_flags(&mut self, region: &mut Region) {
        let flag = TensorType::scalar(ElementType::Pred);
        let (left, right) = (self.value(flag.clone()), self.value(flag.clone()));
        region.params.extend([left, right]);
        let outer = std::mem::replace(&mut self.ops, std::mem::take(&mut region.ops));
        let differ = self.binary(BinaryOp::Xor, left, right);
        let result = self.emit(OpKind::Select, &[differ, left, region.results[0]], flag);
        region.ops = std::mem::replace(&mut self.ops, outer);
        region.results = vec![result];
    }
}
