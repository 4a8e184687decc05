//! Dynamic slices, gathers and scatters.

use oxcall::Error;
use oxcall_hlo::{ElementType, Literal, Op, OpKind, TensorType, ValueId};

use super::rules::{only, unsupported};
use super::{Resolver, Sizes};

impl Resolver {
    /// A dimension that is taken whole keeps its size; of a dynamic dimension otherwise only single elements may be
    /// taken.
    pub(super) fn dynamic_slice(&mut self, op: &Op) -> Result<(), Error> {
        let OpKind::DynamicSlice { sizes: taken } = &op.kind else { return Ok(()) };
        let mut sizes = self.sizes(op.operands[0]);
        let whole = |dim: usize| taken[dim] == self.bound(op.operands[0], dim);
        only("operand", &sizes, |dim| taken[dim] == 1 || whole(dim))?;
        sizes.retain(|(dim, _)| whole(*dim));
        self.set(op.results[0], sizes);
        Ok(())
    }

    /// The padding of an update leaves the operand's elements unchanged.
    pub(super) fn dynamic_update_slice(&mut self, op: &mut Op) -> Result<(), Error> {
        let (operand, update) = (op.operands[0], op.operands[1]);
        let sizes = self.sizes(update);
        if !sizes.is_empty() {
            let ty = TensorType::new(self.tensor(update).element, self.tensor(update).dims);
            let starts = [&[operand], &op.operands[2..]].concat();
            let old = self.emit(OpKind::DynamicSlice { sizes: ty.dims.to_vec() }, &starts, ty.clone());
            if let Some(real) = self.real_elements(&ty.dims, &sizes) {
                op.operands[1] = self.emit(OpKind::Select, &[real, update, old], ty);
            }
        }
        self.set(op.results[0], self.sizes(operand));
        Ok(())
    }

    /// The dimensions of the result are those of the indices, and those of the slices that are taken whole.
    pub(super) fn gather(&mut self, op: &Op) -> Result<(), Error> {
        let OpKind::Gather { dims, slice_sizes, .. } = &op.kind else { return Ok(()) };
        let (operand, indices) = (op.operands[0], op.operands[1]);
        let whole = |dim: usize| slice_sizes[dim] == self.bound(operand, dim);
        only("operand", &self.sizes(operand), |dim| slice_sizes[dim] <= 1 || whole(dim))?;
        only("start_indices", &self.sizes(indices), |dim| dim != dims.index_vector_dim)?;
        let is_dropped =
            |dim: &usize| dims.collapsed_slice_dims.contains(dim) || dims.operand_batching_dims.contains(dim);
        let windows: Vec<usize> = (0..slice_sizes.len()).filter(|dim| !is_dropped(dim)).collect();
        let index_rank = self.tensor(indices).rank();
        let batches: Vec<usize> = (0..index_rank).filter(|&dim| dim != dims.index_vector_dim).collect();
        let rank = self.tensor(op.results[0]).rank();
        let (mut window, mut batch) = (windows.into_iter(), batches.into_iter());
        let mut sizes = Sizes::new();
        for place in 0..rank {
            let size = if dims.offset_dims.contains(&place) {
                window.next().filter(|&dim| whole(dim)).and_then(|dim| self.size(operand, dim))
            } else {
                batch.next().and_then(|dim| self.size(indices, dim))
            };
            sizes.extend(size.map(|size| (place, size)));
        }
        self.set(op.results[0], sizes);
        Ok(())
    }

    /// Updates beyond the sizes get out-of-bounds indices, for which the op writes nothing.
    pub(super) fn scatter(&mut self, op: &mut Op) -> Result<(), Error> {
        let OpKind::Scatter { dims, .. } = &op.kind else { return Ok(()) };
        let inputs = op.operands.len() / 2;
        let (indices, updates) = (op.operands[inputs], &op.operands[inputs + 1..]);
        only("scatter_indices", &self.sizes(indices), |dim| dim != dims.index_vector_dim)?;
        let dims = dims.clone();
        let input_sizes = self.merged(&op.operands[..inputs]);
        let update_sizes = self.merged(updates);
        let rank = self.tensor(updates[0]).rank();
        let is_window = |dim: &usize| dims.update_window_dims.contains(dim);
        let is_kept = |dim: &usize| !dims.inserted_window_dims.contains(dim) && !dims.input_batching_dims.contains(dim);
        let windows: Vec<usize> = (0..rank).filter(is_window).collect();
        let targets: Vec<usize> = (0..self.tensor(op.operands[0]).rank()).filter(is_kept).collect();
        // Dynamic windows must cover a dimension with the same padding.
        for (&window, &target) in windows.iter().zip(&targets) {
            let known = update_sizes.iter().find(|(dim, _)| *dim == window);
            let same = self.bound(updates[0], window) == self.bound(op.operands[0], target);
            if known.is_some() && !(same && input_sizes.iter().any(|(dim, _)| *dim == target)) {
                return Err(unsupported("updates", window));
            }
        }
        let mut masked = self.sizes(indices);
        let index_dims = (0..self.tensor(indices).rank()).filter(|&dim| dim != dims.index_vector_dim);
        for (dim, place) in index_dims.zip((0..rank).filter(|dim| !is_window(dim))) {
            let Some(&(_, size)) = update_sizes.iter().find(|(each, _)| *each == place) else { continue };
            match masked.iter().position(|(each, _)| *each == dim) {
                Some(at) => masked[at].1 = self.smaller(Some(masked[at].1), Some(size)).expect("both are given"),
                None => masked.push((dim, size)),
            }
        }
        if let Some(&(dim, _)) = masked.first() {
            if dims.scatter_dims_to_operand_dims.is_empty() {
                return Err(unsupported("scatter_indices", dim));
            }
            let outside = self.outside(self.tensor(indices).element, dim)?;
            op.operands[inputs] = self.fill(indices, &masked, outside);
        }
        op.results.iter().for_each(|&result| self.set(result, input_sizes.clone()));
        Ok(())
    }

    /// An index that is out of bounds in every dimension: all bits are set.
    fn outside(&mut self, element: ElementType, dim: usize) -> Result<ValueId, Error> {
        // A narrow unsigned index may reach the end of a dimension.
        if element.is_unsigned() && element.bits() < 32 {
            return Err(unsupported("scatter_indices", dim));
        }
        Ok(self.literal(Literal::splat(TensorType::scalar(element), vec![0xff; element.byte_width()])))
    }
}
