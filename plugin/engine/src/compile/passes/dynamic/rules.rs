//! Rules of ops for dynamic dimensions: the sizes of the results' dimensions, and the operands whose padding must be
//! hidden.

use oxcall::Error;
use oxcall_hlo::{BinaryOp, ConvolutionDims, DotDims, Op, OpKind, TensorType, ValueId};

use super::emit::fits;
use super::{Resolver, Sizes, reduction};
use crate::compile::passes::ir::is_elementwise;

/// The error for a dimension that must not have a computed size in this op.
#[cold]
pub(super) fn unsupported(what: &str, dim: usize) -> Error {
    Error::unimplemented(format!("dimension {dim} of {what} is dynamic, which the op does not support there"))
}

/// Checks that `allowed` holds for all dynamic dimensions.
pub(super) fn only(what: &str, sizes: &Sizes, allowed: impl Fn(usize) -> bool) -> Result<(), Error> {
    match sizes.iter().find(|(dim, _)| !allowed(*dim)) {
        Some(&(dim, _)) => Err(unsupported(what, dim)),
        None => Ok(()),
    }
}

impl Resolver {
    /// Rewrites an op other than a loop or branch, and records the sizes of its results.
    pub(super) fn straight(&mut self, mut op: Op) -> Result<(), Error> {
        match &op.kind {
            OpKind::SetDimensionSize { dim } => return self.set_dimension_size(&op, *dim),
            OpKind::GetDimensionSize { dim } => {
                if let Some(size) = self.size(op.operands[0], *dim) {
                    self.emit_into(OpKind::Reshape, &[size], op.results[0]);
                    return Ok(());
                }
            }
            _ if !op.operands.iter().any(|&operand| self.is_dynamic(operand)) => {}
            OpKind::Reshape => return self.reshape(&op),
            OpKind::Reverse { dims } => return self.reverse(&op, &dims.clone()),
            OpKind::Concatenate { dim } => return self.concatenate(&op, *dim),
            OpKind::Gather { .. } => self.gather(&op)?,
            OpKind::Scatter { .. } => self.scatter(&mut op)?,
            OpKind::DynamicSlice { .. } => self.dynamic_slice(&op)?,
            OpKind::DynamicUpdateSlice => self.dynamic_update_slice(&mut op)?,
            OpKind::Reduce { dims } => return self.reduce(op.clone(), &dims.clone()),
            OpKind::ReduceWindow { window } => {
                let window = window.clone();
                self.reduce_window(&mut op, &window)?;
            }
            OpKind::Sort { dim, .. } => return self.sort(op.clone(), *dim),
            OpKind::Slice { start, limit, strides } => {
                let sizes = self.slice(op.operands[0], start, limit, strides);
                self.set(op.results[0], sizes);
            }
            OpKind::Pad { low, high, interior } => {
                let (low, high, interior) = (low.clone(), high.clone(), interior.clone());
                self.pad(&mut op, &low, &high, &interior)?;
            }
            OpKind::BroadcastInDim { dims } => {
                let sizes = self.broadcast_in_dim(op.operands[0], op.results[0], &dims.clone())?;
                self.set(op.results[0], sizes);
            }
            OpKind::Transpose { permutation } => {
                let place = |dim| permutation.iter().position(|&each| each == dim).expect("verified: a permutation");
                let sizes = self.sizes(op.operands[0]).into_iter().map(|(dim, size)| (place(dim), size)).collect();
                self.set(op.results[0], sizes);
            }
            OpKind::DotGeneral(dims) => {
                let dims = dims.clone();
                self.dot(&mut op, &dims)?;
            }
            OpKind::Convolution(dims) => {
                let dims = dims.clone();
                self.convolution(&op, &dims)?;
            }
            OpKind::BatchNormInference { feature, .. } => {
                let sizes = self.sizes(op.operands[0]);
                only("operand", &sizes, |dim| dim != *feature)?;
                self.set(op.results[0], sizes);
            }
            OpKind::Fft { lengths, .. } => self.leading("operand", &op, lengths.len())?,
            OpKind::Cholesky { .. } => self.cholesky(&mut op)?,
            &OpKind::TriangularSolve { left_side, .. } => self.triangular_solve(&mut op, left_side)?,
            &OpKind::TopK { largest, .. } => self.top_k(&mut op, largest)?,
            OpKind::BitcastConvert => self.bitcast(&op)?,
            OpKind::OptimizationBarrier | OpKind::ShardingConstraint(_) => self.each_by_itself(&op),
            OpKind::CustomCall(call) if call.is_identity() || call.target == "LayoutConstraint" => {
                self.each_by_itself(&op);
            }
            OpKind::ShardingGroup { .. } => {}
            kind if is_elementwise(kind) || matches!(kind, OpKind::Map { .. }) => self.elementwise(&op),
            _ => {
                let place = op.operands.iter().position(|&operand| self.is_dynamic(operand)).unwrap_or_default();
                let dim = self.sizes(op.operands[place]).first().map_or(0, |&(dim, _)| dim);
                return Err(unsupported(&format!("operand {place}"), dim));
            }
        }
        self.ops.push(op);
        Ok(())
    }

    /// Sets the size, clamped to the range from 0 to the bound.
    fn set_dimension_size(&mut self, op: &Op, dim: usize) -> Result<(), Error> {
        let (operand, size) = (op.operands[0], op.operands[1]);
        let (zero, bound) = (self.signed(0), self.number(self.bound(operand, dim))?);
        let ty = self.tensor(size);
        let size = self.emit(OpKind::Clamp, &[zero, size, bound], ty);
        let mut sizes = self.sizes(operand);
        sizes.retain(|(each, _)| *each != dim);
        sizes.push((dim, size));
        self.emit_into(OpKind::Reshape, &[operand], op.results[0]);
        self.set(op.results[0], sizes);
        Ok(())
    }

    /// Gives each result the sizes of its operand.
    fn each_by_itself(&mut self, op: &Op) {
        for (&operand, &result) in op.operands.iter().zip(&op.results) {
            self.set(result, self.sizes(operand));
        }
    }

    /// Gives the results the dynamic dimensions of all operands that are not scalars.
    fn elementwise(&mut self, op: &Op) {
        let sizes = self.merged(&op.operands);
        op.results.iter().for_each(|&result| self.set(result, sizes.clone()));
    }

    /// The sizes of several values of one shape: for each dimension the smallest. Scalars have none.
    pub(super) fn merged(&mut self, values: &[ValueId]) -> Sizes {
        let mut all = Sizes::new();
        for &value in values {
            for (dim, size) in self.sizes(value) {
                match all.iter().position(|(each, _)| *each == dim) {
                    Some(at) => all[at].1 = self.smaller(Some(all[at].1), Some(size)).expect("both are given"),
                    None => all.push((dim, size)),
                }
            }
        }
        all
    }

    /// The results of an op that works on the last `own` dimensions of its operand, for all others alike.
    fn leading(&mut self, what: &str, op: &Op, own: usize) -> Result<(), Error> {
        let (sizes, rank) = (self.sizes(op.operands[0]), self.tensor(op.operands[0]).rank());
        only(what, &sizes, |dim| dim + own < rank)?;
        op.results.iter().for_each(|&result| self.set(result, sizes.clone()));
        Ok(())
    }

    /// Only the last dimension may be joined or split.
    fn bitcast(&mut self, op: &Op) -> Result<(), Error> {
        let (from, to) = (self.tensor(op.operands[0]).rank(), self.tensor(op.results[0]).rank());
        let sizes = self.sizes(op.operands[0]);
        only("operand", &sizes, |dim| dim < to.min(from))?;
        self.set(op.results[0], sizes);
        Ok(())
    }

    /// A dimension of one element that is repeated has the size of the result, or 0.
    fn broadcast_in_dim(&mut self, operand: ValueId, result: ValueId, dims: &[usize]) -> Result<Sizes, Error> {
        let mut sizes = Sizes::new();
        for (dim, size) in self.sizes(operand) {
            let (from, to) = (self.bound(operand, dim), self.bound(result, dims[dim]));
            fits(to)?;
            let size = if from == to {
                size
            } else {
                let times = self.number(to)?;
                self.binary(BinaryOp::Multiply, size, times)
            };
            sizes.push((dims[dim], size));
        }
        Ok(sizes)
    }

    /// Dimensions of one element are static: programs take them from dimensions of any size.
    fn slice(&mut self, operand: ValueId, start: &[usize], limit: &[usize], strides: &[usize]) -> Sizes {
        let mut sizes = Sizes::new();
        for (dim, size) in self.sizes(operand) {
            let (start, limit, stride) = (start[dim], limit[dim], strides[dim]);
            let bound = self.bound(operand, dim);
            if limit.saturating_sub(start).div_ceil(stride) == 1 && bound != 1 {
                continue;
            }
            let mut size = size;
            // Bounds of dynamic dimensions fit 32 bits.
            if limit < bound {
                let limit = self.signed(limit as i32);
                size = self.binary(BinaryOp::Minimum, size, limit);
            }
            if start > 0 {
                let (start, zero) = (self.signed(start as i32), self.signed(0));
                let rest = self.binary(BinaryOp::Subtract, size, start);
                size = self.binary(BinaryOp::Maximum, rest, zero);
            }
            if stride > 1 {
                let (stride, less) = (self.signed(stride as i32), self.signed(stride as i32 - 1));
                let sum = self.binary(BinaryOp::Add, size, less);
                size = self.binary(BinaryOp::Divide, sum, stride);
            }
            sizes.push((dim, size));
        }
        sizes
    }

    /// Padding in memory becomes padding of the op, after the last element.
    fn pad(&mut self, op: &mut Op, low: &[i64], high: &[i64], interior: &[i64]) -> Result<(), Error> {
        let own = self.sizes(op.operands[0]);
        op.operands[0] = self.fill(op.operands[0], &own, op.operands[1]);
        let mut sizes = Sizes::new();
        for (dim, size) in own {
            let bound = self.bound(op.results[0], dim);
            let (zero, one, most) = (self.signed(0), self.signed(1), self.number(bound)?);
            let mut padded = size;
            if interior[dim] != 0 {
                let gap = self.number(interior[dim] as usize)?;
                let gaps = self.binary(BinaryOp::Subtract, size, one);
                let gaps = self.binary(BinaryOp::Maximum, gaps, zero);
                let holes = self.binary(BinaryOp::Multiply, gaps, gap);
                padded = self.binary(BinaryOp::Add, padded, holes);
            }
            let edges = i32::try_from(low[dim] + high[dim]).map_err(|_| unsupported("operand", dim))?;
            let edges = self.signed(edges);
            let padded = self.binary(BinaryOp::Add, padded, edges);
            let ty = self.tensor(padded);
            sizes.push((dim, self.emit(OpKind::Clamp, &[zero, padded, most], ty)));
        }
        self.set(op.results[0], sizes);
        Ok(())
    }

    /// Contracted dimensions get zeros beyond the size on both sides, because a product with a zero need not be zero.
    fn dot(&mut self, op: &mut Op, dims: &DotDims) -> Result<(), Error> {
        let (lhs, rhs) = (op.operands[0], op.operands[1]);
        let (mut left, mut right) = (Sizes::new(), Sizes::new());
        for (&l, &r) in dims.lhs_contracting.iter().zip(&dims.rhs_contracting) {
            if let Some(size) = self.smaller(self.size(lhs, l), self.size(rhs, r)) {
                left.push((l, size));
                right.push((r, size));
            }
        }
        let mut sizes = Sizes::new();
        let mut place = 0;
        for (&l, &r) in dims.lhs_batching.iter().zip(&dims.rhs_batching) {
            sizes.extend(self.smaller(self.size(lhs, l), self.size(rhs, r)).map(|size| (place, size)));
            place += 1;
        }
        let sides =
            [(lhs, &dims.lhs_batching, &dims.lhs_contracting), (rhs, &dims.rhs_batching, &dims.rhs_contracting)];
        for (operand, batching, contracting) in sides {
            for dim in 0..self.tensor(operand).rank() {
                if !batching.contains(&dim) && !contracting.contains(&dim) {
                    sizes.extend(self.size(operand, dim).map(|size| (place, size)));
                    place += 1;
                }
            }
        }
        op.operands = vec![self.fill_zeros(lhs, &left), self.fill_zeros(rhs, &right)];
        self.set(op.results[0], sizes);
        Ok(())
    }

    /// Only the batch and the features of the result may be dynamic.
    fn convolution(&mut self, op: &Op, dims: &ConvolutionDims) -> Result<(), Error> {
        let (input, kernel) = (self.sizes(op.operands[0]), self.sizes(op.operands[1]));
        only("the input", &input, |dim| dim == dims.input_batch && dims.batch_groups == 1)?;
        only("the kernel", &kernel, |dim| dim == dims.kernel_output_feature && dims.feature_groups == 1)?;
        let batch = input.first().map(|&(_, size)| (dims.output_batch, size));
        let feature = kernel.first().map(|&(_, size)| (dims.output_feature, size));
        self.set(op.results[0], batch.into_iter().chain(feature).collect());
        Ok(())
    }

    /// In the reversed array the padding comes first, so the elements are moved back to the beginning.
    fn reverse(&mut self, op: &Op, dims: &[usize]) -> Result<(), Error> {
        let operand = op.operands[0];
        let (sizes, ty) =
            (self.sizes(operand), TensorType::new(self.tensor(operand).element, self.tensor(operand).dims));
        let moved: Vec<_> = sizes.iter().copied().filter(|(dim, _)| dims.contains(dim)).collect();
        let mut value = self.emit(OpKind::Reverse { dims: dims.to_vec() }, &[operand], ty.clone());
        for (dim, size) in moved {
            let bound = self.number(ty.dims[dim])?;
            let start = self.binary(BinaryOp::Subtract, bound, size);
            let mut twice = ty.clone();
            twice.dims[dim] *= 2;
            let both = self.emit(OpKind::Concatenate { dim }, &[value, value], twice);
            let zero = self.signed(0);
            let starts = (0..ty.rank()).map(|each| if each == dim { start } else { zero });
            let operands: Vec<ValueId> = std::iter::once(both).chain(starts).collect();
            value = self.emit(OpKind::DynamicSlice { sizes: ty.dims.to_vec() }, &operands, ty.clone());
        }
        self.emit_into(OpKind::Reshape, &[value], op.results[0]);
        self.set(op.results[0], sizes);
        Ok(())
    }

    /// Along a dynamic dimension, writes each operand over the padding of the one before.
    fn concatenate(&mut self, op: &Op, dim: usize) -> Result<(), Error> {
        let mut sizes = self.merged(&op.operands);
        sizes.retain(|(each, _)| *each != dim);
        if op.operands.iter().all(|&operand| self.size(operand, dim).is_none()) {
            self.ops.push(op.clone());
            self.set(op.results[0], sizes);
            return Ok(());
        }
        let result = self.tensor(op.results[0]);
        fits(result.dims[dim])?;
        let ty = TensorType::new(result.element, result.dims);
        let plain = self.emit(OpKind::Concatenate { dim }, &op.operands, ty.clone());
        let zero = self.signed(0);
        let (mut value, mut end) = (plain, zero);
        for (place, &operand) in op.operands.iter().enumerate() {
            if place > 0 {
                let starts = (0..ty.rank()).map(|each| if each == dim { end } else { zero });
                let operands: Vec<ValueId> = [value, operand].into_iter().chain(starts).collect();
                value = self.emit(OpKind::DynamicUpdateSlice, &operands, ty.clone());
            }
            let size = self.any_size(operand, dim)?;
            end = self.binary(BinaryOp::Add, end, size);
        }
        sizes.push((dim, end));
        self.emit_into(OpKind::Reshape, &[value], op.results[0]);
        self.set(op.results[0], sizes);
        Ok(())
    }

    /// The sizes of dimensions that windows leave unchanged, and the sizes that result from the windows for others.
    fn reduce_window(&mut self, op: &mut Op, window: &[oxcall_hlo::WindowDim]) -> Result<(), Error> {
        let inputs = op.operands.len() / 2;
        let own = self.merged(&op.operands[..inputs]);
        let slid: Sizes = own.iter().copied().filter(|&(dim, _)| !reduction::is_trivial(&window[dim])).collect();
        // Beyond the elements windows see the initial value, as in the op's own padding.
        for input in 0..inputs {
            op.operands[input] = self.fill(op.operands[input], &slid, op.operands[inputs + input]);
        }
        let mut sizes = Sizes::new();
        for (dim, mut size) in own {
            if !reduction::is_trivial(&window[dim]) {
                let bound = self.bound(op.operands[0], dim);
                size = self.windows((size, bound), dim, &window[dim])?;
            }
            sizes.push((dim, size));
        }
        op.results.iter().for_each(|&result| self.set(result, sizes.clone()));
        Ok(())
    }
}
