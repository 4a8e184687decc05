//! The sharding rules of ops: which dimensions of operands and results share factors.

use oxcall_hlo::sharding::{ShardingRule, TensorMapping};
use oxcall_hlo::{Attribute, ConvolutionDims, CustomCall, DotDims, GatherDims, Op, OpKind, ScatterDims, TensorType};

use crate::compile::passes::is_elementwise;

/// The effect of splitting a factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Each device has all that it needs.
    PassThrough,
    /// Devices hold summands.
    Reduction,
    /// Devices need all of it.
    NeedReplication,
    /// Devices need parts from their neighbours.
    Permutation,
}

/// A rule under construction.
struct Builder {
    rule: ShardingRule,
}

impl Builder {
    /// A rule without factors, for tensors of these ranks.
    fn new(operands: &[&TensorType], results: &[&TensorType]) -> Builder {
        let empty = |types: &[&TensorType]| types.iter().map(|ty| vec![Vec::new(); ty.rank()]).collect();
        let rule = ShardingRule { operands: empty(operands), results: empty(results), ..ShardingRule::default() };
        Builder { rule }
    }

    /// Adds a factor.
    fn factor(&mut self, size: usize, kind: Kind) -> usize {
        let factor = self.rule.factors.len();
        self.rule.factors.push(size);
        match kind {
            Kind::PassThrough => {}
            Kind::Reduction => self.rule.reduction.push(factor),
            Kind::NeedReplication => self.rule.need_replication.push(factor),
            Kind::Permutation => self.rule.permutation.push(factor),
        }
        factor
    }

    /// Adds a factor for a dimension of some operands and of some results.
    fn dims(&mut self, size: usize, kind: Kind, operands: &[(usize, usize)], results: &[(usize, usize)]) {
        let factor = self.factor(size, kind);
        for &(operand, dim) in operands {
            self.rule.operands[operand][dim].push(factor);
        }
        for &(result, dim) in results {
            self.rule.results[result][dim].push(factor);
        }
    }

    /// Adds a factor for each dimension of the first result, which all tensors of this rank share; `kind` gives its
    /// kind.
    fn pointwise(&mut self, dims: &[usize], kind: impl Fn(usize) -> Kind) {
        for (dim, &size) in dims.iter().enumerate() {
            let factor = self.factor(size, kind(dim));
            let tensors = self.rule.operands.iter_mut().chain(&mut self.rule.results);
            tensors.filter(|mapping| mapping.len() == dims.len()).for_each(|mapping| mapping[dim].push(factor));
        }
    }

    /// Gives each remaining dimension its own factor, so that the mapping of each tensor is complete.
    fn finish(mut self, operands: &[&TensorType], results: &[&TensorType]) -> ShardingRule {
        let mut sizes = std::mem::take(&mut self.rule.factors);
        let mut complete = |mappings: &mut Vec<TensorMapping>, types: &[&TensorType]| {
            for (mapping, ty) in mappings.iter_mut().zip(types) {
                for (factors, &size) in mapping.iter_mut().zip(&ty.dims) {
                    if factors.is_empty() {
                        factors.push(sizes.len());
                        sizes.push(size);
                    }
                }
            }
        };
        complete(&mut self.rule.operands, operands);
        complete(&mut self.rule.results, results);
        self.rule.factors = sizes;
        self.rule
    }
}

/// The rule of an op on tensors; `None` if nothing propagates through it.
pub(super) fn of(op: &Op, operands: &[&TensorType], results: &[&TensorType]) -> Option<ShardingRule> {
    let result = *results.first()?;
    let mut rule = Builder::new(operands, results);
    match &op.kind {
        kind if is_pointwise(kind) => rule.pointwise(&result.dims, |_| Kind::PassThrough),
        OpKind::BitcastConvert if operands[0].rank() == result.rank() => {
            rule.pointwise(&result.dims, |_| Kind::PassThrough);
        }
        OpKind::BroadcastInDim { dims } => {
            for (dim, &size) in result.dims.iter().enumerate() {
                let from = dims.iter().position(|&to| to == dim).filter(|&from| operands[0].dims[from] == size);
                rule.dims(size, Kind::PassThrough, from.map(|from| (0, from)).as_slice(), &[(0, dim)]);
            }
        }
        OpKind::Transpose { permutation } => {
            for (to, &from) in permutation.iter().enumerate() {
                rule.dims(result.dims[to], Kind::PassThrough, &[(0, from)], &[(0, to)]);
            }
        }
        OpKind::Reshape => reshape(&mut rule, &operands[0].dims, &result.dims),
        OpKind::Reverse { dims } => rule.pointwise(&result.dims, |dim| moves_if(dims.contains(&dim))),
        OpKind::Slice { .. } | OpKind::DynamicSlice { .. } | OpKind::Pad { .. } => {
            resized(&mut rule, &operands[0].dims, &result.dims);
        }
        OpKind::DynamicUpdateSlice => {
            for (dim, (&size, &part)) in result.dims.iter().zip(&operands[1].dims).enumerate() {
                let with_update = [(0, dim), (1, dim)];
                let whole = size == part;
                rule.dims(size, moves_if(!whole), &with_update[..if whole { 2 } else { 1 }], &[(0, dim)]);
            }
        }
        OpKind::Concatenate { dim: joined } => rule.pointwise(&result.dims, |dim| moves_if(dim == *joined)),
        OpKind::Reduce { dims } => reduce(&mut rule, dims, operands, results),
        OpKind::ReduceWindow { window } => {
            let inputs = results.len();
            for (dim, &size) in result.dims.iter().enumerate() {
                let whole = window[dim].size == 1 && operands[0].dims[dim] == size;
                let tensors: Vec<_> = (0..inputs).map(|index| (index, dim)).collect();
                rule.dims(size, moves_if(!whole), &tensors, &tensors);
            }
        }
        OpKind::Sort { dim: sorted, .. } => rule.pointwise(&result.dims, |dim| needs_if(dim == *sorted)),
        OpKind::TopK { .. } => {
            let last = result.rank().checked_sub(1)?;
            for dim in 0..last {
                rule.dims(result.dims[dim], Kind::PassThrough, &[(0, dim)], &[(0, dim), (1, dim)]);
            }
        }
        OpKind::DotGeneral(dims) => dot(&mut rule, dims, operands),
        OpKind::Convolution(dims) => convolution(&mut rule, dims, operands, result),
        OpKind::Fft { lengths, .. } => {
            let batch = result.rank().checked_sub(lengths.len())?;
            for dim in (0..result.rank()).filter(|&dim| operands[0].dims[dim] == result.dims[dim]) {
                rule.dims(result.dims[dim], needs_if(dim >= batch), &[(0, dim)], &[(0, dim)]);
            }
        }
        OpKind::Cholesky { .. } => rule.pointwise(&result.dims, |dim| needs_if(dim + 2 >= result.rank())),
        OpKind::TriangularSolve { .. } => {
            for dim in 0..result.rank().checked_sub(2)? {
                rule.dims(result.dims[dim], Kind::PassThrough, &[(0, dim), (1, dim)], &[(0, dim)]);
            }
        }
        OpKind::Gather { dims, slice_sizes, .. } => gather(&mut rule, dims, slice_sizes, operands, result),
        OpKind::Scatter { dims, .. } => scatter(&mut rule, dims, operands, results),
        OpKind::CustomCall(call) => {
            return custom(call).filter(|rule| fits(rule, operands, results)).cloned();
        }
        kind if kind.collective().is_some() => {
            // These dimensions may be split along axes other than those over which the collective exchanges.
            for (index, (from, to)) in operands.iter().zip(results).enumerate() {
                for (dim, (&size, _)) in from.dims.iter().zip(&to.dims).enumerate().filter(|(_, (from, to))| from == to)
                {
                    rule.dims(size, Kind::PassThrough, &[(index, dim)], &[(index, dim)]);
                }
            }
        }
        _ => return None,
    }
    Some(rule.finish(operands, results))
}

/// Whether each element of a result depends only on those at its place in the operands, some of which may be scalars.
pub(super) fn is_pointwise(kind: &OpKind) -> bool {
    is_elementwise(kind) || matches!(kind, OpKind::Map { .. } | OpKind::ShardingConstraint(_))
}

/// The rule that a custom call carries.
pub(super) fn custom(call: &CustomCall) -> Option<&ShardingRule> {
    call.attributes.iter().find_map(|(name, attribute)| match attribute {
        Attribute::ShardingRule(rule) if name == super::calls::RULE => Some(&**rule),
        _ => None,
    })
}

/// Whether a rule fits tensors of these shapes.
fn fits(rule: &ShardingRule, operands: &[&TensorType], results: &[&TensorType]) -> bool {
    let fits = |mappings: &[TensorMapping], types: &[&TensorType]| {
        let dim = |factors: &Vec<usize>, size: usize| {
            let product =
                factors.iter().try_fold(1usize, |product, &factor| product.checked_mul(*rule.factors.get(factor)?));
            product.is_some_and(|product| product == size || factors.len() == 1)
        };
        mappings.len() == types.len()
            && mappings.iter().zip(types).all(|(mapping, ty)| {
                mapping.len() == ty.rank() && mapping.iter().zip(&ty.dims).all(|(factors, &size)| dim(factors, size))
            })
    };
    fits(&rule.operands, operands) && fits(&rule.results, results)
}

fn moves_if(moves: bool) -> Kind {
    if moves { Kind::Permutation } else { Kind::PassThrough }
}

fn needs_if(needs: bool) -> Kind {
    if needs { Kind::NeedReplication } else { Kind::PassThrough }
}

/// Pairs of dimensions that are the same, or differ only in size.
fn resized(rule: &mut Builder, from: &[usize], to: &[usize]) {
    for (dim, (&before, &after)) in from.iter().zip(to).enumerate() {
        rule.dims(before, moves_if(before != after), &[(0, dim)], &[(0, dim)]);
    }
}

/// The common factors of both shapes, from the first dimension to the last.
fn reshape(rule: &mut Builder, from: &[usize], to: &[usize]) {
    if from.contains(&0) {
        return;
    }
    let (mut sources, mut targets) = (from.iter().enumerate(), to.iter().enumerate());
    let (mut source, mut target) = ((0, 1), (0, 1));
    loop {
        while source.1 == 1 {
            let Some((dim, &size)) = sources.next() else { return };
            source = (dim, size);
        }
        while target.1 == 1 {
            let Some((dim, &size)) = targets.next() else { return };
            target = (dim, size);
        }
        let common = gcd(source.1, target.1);
        // Parts without a common divisor become separate factors, and later dimensions are not compared.
        if common == 1 {
            let own = [rule.factor(source.1, Kind::PassThrough), rule.factor(target.1, Kind::PassThrough)];
            rule.rule.operands[0][source.0].push(own[0]);
            rule.rule.results[0][target.0].push(own[1]);
            return;
        }
        rule.dims(common, Kind::PassThrough, &[(0, source.0)], &[(0, target.0)]);
        source.1 /= common;
        target.1 /= common;
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn reduce(rule: &mut Builder, reduced: &[usize], operands: &[&TensorType], results: &[&TensorType]) {
    let mut to = 0;
    for (dim, &size) in operands[0].dims.iter().enumerate() {
        let inputs: Vec<_> = (0..results.len()).map(|input| (input, dim)).collect();
        if reduced.contains(&dim) {
            rule.dims(size, Kind::Reduction, &inputs, &[]);
        } else {
            let outputs: Vec<_> = (0..results.len()).map(|output| (output, to)).collect();
            rule.dims(size, Kind::PassThrough, &inputs, &outputs);
            to += 1;
        }
    }
}

fn dot(rule: &mut Builder, dims: &DotDims, operands: &[&TensorType]) {
    let (lhs, rhs) = (operands[0], operands[1]);
    let mut to = 0;
    for (&left, &right) in dims.lhs_batching.iter().zip(&dims.rhs_batching) {
        rule.dims(lhs.dims[left], Kind::PassThrough, &[(0, left), (1, right)], &[(0, to)]);
        to += 1;
    }
    for (operand, ty, batching, contracting) in
        [(0, lhs, &dims.lhs_batching, &dims.lhs_contracting), (1, rhs, &dims.rhs_batching, &dims.rhs_contracting)]
    {
        for dim in (0..ty.rank()).filter(|dim| !batching.contains(dim) && !contracting.contains(dim)) {
            rule.dims(ty.dims[dim], Kind::PassThrough, &[(operand, dim)], &[(0, to)]);
            to += 1;
        }
    }
    for (&left, &right) in dims.lhs_contracting.iter().zip(&dims.rhs_contracting) {
        rule.dims(lhs.dims[left], Kind::Reduction, &[(0, left), (1, right)], &[]);
    }
}

fn convolution(rule: &mut Builder, dims: &ConvolutionDims, operands: &[&TensorType], result: &TensorType) {
    let (input, kernel) = (operands[0], operands[1]);
    if dims.batch_groups == 1 {
        let size = input.dims[dims.input_batch];
        rule.dims(size, Kind::PassThrough, &[(0, dims.input_batch)], &[(0, dims.output_batch)]);
    }
    if dims.feature_groups == 1 && dims.batch_groups == 1 {
        let outputs = kernel.dims[dims.kernel_output_feature];
        rule.dims(outputs, Kind::PassThrough, &[(1, dims.kernel_output_feature)], &[(0, dims.output_feature)]);
        let inputs = input.dims[dims.input_feature];
        rule.dims(inputs, Kind::Reduction, &[(0, dims.input_feature), (1, dims.kernel_input_feature)], &[]);
    }
    for (&from, &to) in dims.input_spatial.iter().zip(&dims.output_spatial) {
        rule.dims(result.dims[to], Kind::Permutation, &[(0, from)], &[(0, to)]);
    }
}

/// The dimension of `indices` that is their batch dimension `number`.
fn index_dim(number: usize, vector_dim: usize) -> usize {
    if number < vector_dim { number } else { number + 1 }
}

fn gather(rule: &mut Builder, dims: &GatherDims, sizes: &[usize], operands: &[&TensorType], result: &TensorType) {
    let (operand, indices) = (operands[0], operands[1]);
    let batch = (0..result.rank()).filter(|dim| !dims.offset_dims.contains(dim));
    for (number, to) in batch.enumerate() {
        let from = index_dim(number, dims.index_vector_dim);
        let batching = dims.start_indices_batching_dims.iter().position(|&dim| dim == from);
        let mut tensors = vec![(1, from)];
        tensors.extend(batching.map(|place| (0, dims.operand_batching_dims[place])));
        rule.dims(indices.dims[from], Kind::PassThrough, &tensors, &[(0, to)]);
    }
    let kept = (0..operand.rank())
        .filter(|dim| !dims.collapsed_slice_dims.contains(dim) && !dims.operand_batching_dims.contains(dim));
    for (&to, from) in dims.offset_dims.iter().zip(kept) {
        if sizes[from] == operand.dims[from] {
            rule.dims(sizes[from], Kind::PassThrough, &[(0, from)], &[(0, to)]);
        }
    }
}

fn scatter(rule: &mut Builder, dims: &ScatterDims, operands: &[&TensorType], results: &[&TensorType]) {
    let count = results.len();
    let (input, indices, update) = (operands[0], operands[count], operands[count + 1]);
    let inputs = |dim: usize| (0..count).map(move |index| (index, dim));
    let updates = |dim: usize| (0..count).map(move |index| (count + 1 + index, dim));
    let batch = (0..update.rank()).filter(|dim| !dims.update_window_dims.contains(dim));
    for (number, dim) in batch.enumerate() {
        let from = index_dim(number, dims.index_vector_dim);
        let place = dims.scatter_indices_batching_dims.iter().position(|&each| each == from);
        let mut tensors: Vec<_> = updates(dim).collect();
        tensors.push((count, from));
        match place.map(|place| dims.input_batching_dims[place]) {
            Some(batching) => {
                tensors.extend(inputs(batching));
                rule.dims(indices.dims[from], Kind::PassThrough, &tensors, &inputs(batching).collect::<Vec<_>>());
            }
            // Each device scatters its own updates, and the results are summed.
            None => rule.dims(indices.dims[from], Kind::Reduction, &tensors, &[]),
        }
    }
    let kept = (0..input.rank())
        .filter(|dim| !dims.inserted_window_dims.contains(dim) && !dims.input_batching_dims.contains(dim));
    let mut indexed = dims.inserted_window_dims.clone();
    for (&from, to) in dims.update_window_dims.iter().zip(kept) {
        if update.dims[from] == input.dims[to] {
            let tensors: Vec<_> = inputs(to).chain(updates(from)).collect();
            rule.dims(input.dims[to], Kind::PassThrough, &tensors, &inputs(to).collect::<Vec<_>>());
        } else {
            indexed.push(to);
        }
    }
    // Dimensions that are indexed, or updated in part, stay in place.
    for dim in indexed {
        rule.dims(
            input.dims[dim],
            Kind::Permutation,
            &inputs(dim).collect::<Vec<_>>(),
            &inputs(dim).collect::<Vec<_>>(),
        );
    }
}
