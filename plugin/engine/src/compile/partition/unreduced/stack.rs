//! Stacks of sums, by the ops that made them.

use oxcall::Error;
use oxcall_hlo::sharding::{AxisRef, Mesh, TensorSharding};
use oxcall_hlo::{BinaryOp, ComparisonDirection, ComparisonType, DotDims, ElementType, Op, OpKind, ValueId};

use super::Stacker;

/// The split of a dimension by an axis: the dimension, and the number of parts that the axes before it make.
struct Split {
    dim: usize,
    pre: usize,
    size: usize,
}

impl Stacker<'_> {
    /// The stack of the summands of `value` over `axes`.
    pub(super) fn stack_of(&mut self, value: ValueId, axes: &[AxisRef], mesh: Mesh) -> Result<ValueId, Error> {
        if let Some((known, stack)) = self.known.stacks.get(&value)
            && known == axes
        {
            return Ok(*stack);
        }
        if let Some(op) = self.known.defs.get(&value).cloned() {
            let stack = match &op.kind {
                OpKind::ShardingConstraint(sharding) if !sharding.unreduced.is_empty() => {
                    Some(self.stack_of(op.operands[0], axes, mesh.clone())?)
                }
                OpKind::DotGeneral(dims) => self.product(&op, dims, axes, &mesh),
                OpKind::Reduce { dims } => self.partial_sum(&op, dims, axes, &mesh),
                OpKind::Binary(_) | OpKind::Reshape => self.linear(&op, axes, &mesh)?,
                _ => None,
            };
            if let Some(stack) = stack {
                return Ok(stack);
            }
        }
        Ok(self.spread(value, axes, &mesh))
    }

    /// The dimension among `dims` of `value` that each of the axes splits; `None` if one of them splits none.
    fn splits(&self, value: ValueId, dims: &[usize], axes: &[AxisRef], mesh: &Mesh) -> Option<Vec<Split>> {
        let sharding = self.known.shardings.get(&value)?;
        axes.iter().map(|axis| dims.iter().find_map(|&dim| split_of(sharding, dim, axis, mesh))).collect()
    }

    /// `value` with the dimensions `dims` in parts: those of `splits`, and the rest before and after them. Returns the
    /// places of the axes, and for each of `dims` the places of the rest.
    fn in_parts(&mut self, value: ValueId, dims: &[usize], splits: &[Split]) -> (ValueId, Vec<usize>, Vec<usize>) {
        let sizes = self.emit.dims(value);
        let (mut new, mut at, mut rest) = (Vec::new(), vec![0; splits.len()], Vec::new());
        for (dim, &size) in sizes.iter().enumerate() {
            let mut own: Vec<usize> = (0..splits.len()).filter(|&index| splits[index].dim == dim).collect();
            own.sort_by_key(|&index| splits[index].pre);
            let mut done = 1;
            for index in own {
                let Split { pre, size, .. } = splits[index];
                rest.push(new.len());
                new.push(pre / done);
                at[index] = new.len();
                new.push(size);
                done = pre * size;
            }
            if dims.contains(&dim) {
                rest.push(new.len());
            }
            new.push(size / done);
        }
        (self.emit.reshape(value, new), at, rest)
    }

    /// A product whose contracted dimensions the axes split: the summands are the products of the parts.
    fn product(&mut self, op: &Op, dims: &DotDims, axes: &[AxisRef], mesh: &Mesh) -> Option<ValueId> {
        let [lhs, rhs] = [op.operands[0], op.operands[1]];
        let left = self.splits(lhs, &dims.lhs_contracting, axes, mesh)?;
        // The other operand's dimensions are split at the same places.
        let right: Vec<Split> = left
            .iter()
            .map(|split| {
                let place = dims.lhs_contracting.iter().position(|&dim| dim == split.dim)?;
                Some(Split { dim: dims.rhs_contracting[place], ..*split })
            })
            .collect::<Option<_>>()?;
        let (element, result) = (self.emit.element(op.results[0]), self.emit.dims(op.results[0]));
        // The places of unsplit dimensions, after others were split.
        let kept = |batching: &[usize], splits: &[Split]| -> Vec<usize> {
            batching.iter().map(|&dim| (0..dim).map(|each| 1 + 2 * count(splits, each)).sum()).collect()
        };
        let lhs_batching = kept(&dims.lhs_batching, &left);
        let rhs_batching = kept(&dims.rhs_batching, &right);
        let (lhs, left_at, left_rest) = self.in_parts(lhs, &dims.lhs_contracting, &left);
        let (rhs, right_at, right_rest) = self.in_parts(rhs, &dims.rhs_contracting, &right);
        let parts = DotDims {
            lhs_batching: left_at.into_iter().chain(lhs_batching).collect(),
            rhs_batching: right_at.into_iter().chain(rhs_batching).collect(),
            lhs_contracting: left_rest,
            rhs_contracting: matching(&right, dims, &right_rest),
            precision: dims.precision.clone(),
            algorithm: dims.algorithm,
        };
        let count: usize = left.iter().map(|split| split.size).product();
        let sizes = left.iter().map(|split| split.size).chain(result.iter().copied());
        let product = self.emit.op(OpKind::DotGeneral(parts), vec![lhs, rhs], element, sizes);
        Some(self.emit.reshape(product, [count].into_iter().chain(result).collect()))
    }

    /// A sum over dimensions that the axes split: the summands are the sums of the parts.
    fn partial_sum(&mut self, op: &Op, dims: &[usize], axes: &[AxisRef], mesh: &Mesh) -> Option<ValueId> {
        let adds = op.regions.first().is_some_and(|body| {
            matches!(&*body.ops, [Op { kind: OpKind::Binary(BinaryOp::Add), results, .. }] if *results == body.results)
        });
        let splits = self.splits(op.operands[0], dims, axes, mesh).filter(|_| adds && op.operands.len() == 2)?;
        let result = self.emit.dims(op.results[0]);
        let (value, at, rest) = self.in_parts(op.operands[0], dims, &splits);
        // The axes come first, in their order.
        let sizes = self.emit.dims(value);
        let others = (0..sizes.len()).filter(|place| !at.contains(place));
        let permutation: Vec<usize> = at.iter().copied().chain(others).collect();
        let moved = permutation.iter().map(|&place| sizes[place]).collect::<Vec<_>>();
        let reduced = rest.iter().filter_map(|place| permutation.iter().position(|each| each == place)).collect();
        let element = self.emit.element(value);
        let value = self.emit.op(OpKind::Transpose { permutation }, vec![value], element, moved);
        let counts: Vec<usize> = splits.iter().map(|split| split.size).collect();
        let parts = self.emit.value(element, counts.iter().copied().chain(result.iter().copied()));
        let reduction = self.emit.reduction(value, reduced, parts);
        self.emit.push(reduction);
        Some(self.emit.reshape(parts, [counts.iter().product()].into_iter().chain(result).collect()))
    }

    /// A sum, difference or reshape of unreduced values.
    fn linear(&mut self, op: &Op, axes: &[AxisRef], mesh: &Mesh) -> Result<Option<ValueId>, Error> {
        let summands =
            |value: &ValueId| self.known.shardings.get(value).is_some_and(|sharding| !sharding.unreduced.is_empty());
        if !op.operands.iter().all(summands) {
            return Ok(None);
        }
        let stacks = op.operands.iter().map(|&operand| self.stack_of(operand, axes, mesh.clone()));
        let stacks = stacks.collect::<Result<Vec<_>, _>>()?;
        let count = axes.iter().map(|axis| axis.size(mesh)).product();
        let dims: Vec<usize> = [count].into_iter().chain(self.emit.dims(op.results[0])).collect();
        let element = self.emit.element(op.results[0]);
        Ok(Some(self.emit.op(op.kind.clone(), stacks, element, dims)))
    }

    /// The stack of a value that is not unreduced. Where an axis splits the value, each device's part is in its
    /// own summand; a value that all devices hold is in the first summand.
    fn spread(&mut self, value: ValueId, axes: &[AxisRef], mesh: &Mesh) -> ValueId {
        let (element, whole) = (self.emit.element(value), self.emit.dims(value));
        let count: usize = axes.iter().map(|axis| axis.size(mesh)).product();
        let dims: Vec<usize> = [count].into_iter().chain(whole.iter().copied()).collect();
        let rank = whole.len();
        let array = self.emit.broadcast(value, (1..=rank).collect(), &dims);
        let zeros = self.emit.zeros(element, &dims);
        let sharding = self.known.shardings.get(&value).filter(|sharding| sharding.unreduced.is_empty()).cloned();
        let mut mask: Option<ValueId> = None;
        let mut after = count;
        for axis in axes {
            let size = axis.size(mesh);
            after /= size;
            let summand = self.coordinate(0, after, size, &dims);
            let split =
                sharding.as_ref().and_then(|sharding| (0..rank).find_map(|dim| split_of(sharding, dim, axis, mesh)));
            let part = match split {
                Some(Split { dim, pre, size }) => self.coordinate(dim + 1, whole[dim] / (pre * size), size, &dims),
                None => self.emit.index(0, &dims),
            };
            let kind = OpKind::Compare(ComparisonDirection::Eq, ComparisonType::Signed);
            let equal = self.emit.op(kind, vec![summand, part], ElementType::Pred, dims.iter().copied());
            mask = Some(match mask {
                None => equal,
                Some(mask) => {
                    let and = OpKind::Binary(BinaryOp::And);
                    self.emit.op(and, vec![mask, equal], ElementType::Pred, dims.iter().copied())
                }
            });
        }
        match mask {
            Some(mask) => self.emit.op(OpKind::Select, vec![mask, array, zeros], element, dims),
            None => array,
        }
    }

    /// `index / after % size` for the index along a dimension of an array of dimensions `dims`.
    fn coordinate(&mut self, dim: usize, after: usize, size: usize, dims: &[usize]) -> ValueId {
        let integers = |stacker: &mut Self, kind: OpKind, operands: Vec<ValueId>| {
            stacker.emit.op(kind, operands, ElementType::S32, dims.iter().copied())
        };
        let index = integers(self, OpKind::Iota { dim }, Vec::new());
        let after = self.emit.index(after.max(1), dims);
        let quotient = integers(self, OpKind::Binary(BinaryOp::Divide), vec![index, after]);
        let size = self.emit.index(size, dims);
        integers(self, OpKind::Binary(BinaryOp::Remainder), vec![quotient, size])
    }
}

/// The contracted places of the right operand, in the order of the left operand's dimensions. `rest` groups the places
/// of each dimension.
fn matching(right: &[Split], dims: &DotDims, rest: &[usize]) -> Vec<usize> {
    let start = |dim: usize| {
        let before = dims.rhs_contracting.iter().filter(|&&each| each < dim);
        before.map(|&each| 1 + count(right, each)).sum::<usize>()
    };
    let mut order: Vec<usize> = (0..dims.lhs_contracting.len()).collect();
    order.sort_by_key(|&place| dims.lhs_contracting[place]);
    let dims = order.into_iter().map(|place| dims.rhs_contracting[place]);
    dims.flat_map(|dim| &rest[start(dim)..][..1 + count(right, dim)]).copied().collect()
}

/// The number of axes that split a dimension.
fn count(splits: &[Split], dim: usize) -> usize {
    splits.iter().filter(|split| split.dim == dim).count()
}

/// The split of a dimension by `axis`, if there is one.
fn split_of(sharding: &TensorSharding, dim: usize, axis: &AxisRef, mesh: &Mesh) -> Option<Split> {
    let axes = &sharding.dims.get(dim)?.axes;
    let place = axes.iter().position(|each| each == axis)?;
    let pre = axes[..place].iter().map(|axis| axis.size(mesh)).product();
    Some(Split { dim, pre, size: axis.size(mesh) })
}
