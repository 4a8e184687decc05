//! Selections between an array and a partial update of it, which `vmap` makes from loops. Only the part is selected, so
//! that the update can work in place: `select(p, dynamic_update_slice(x, u, i), x)` becomes `dynamic_update_slice(x,
//! select(p, u, dynamic_slice(x, i)), i)`; a scatter gets out-of-bounds indices where nothing is to be updated.

use oxcall::Error;
use oxcall_hlo::{Literal, Module, Op, OpKind, Region, ScatterDims, TensorType, ValueId};

use super::ir::{Mapping, Rewrite, Rewriter, clone_op, rewrite};

/// The largest number of updates of one array that the pass looks through.
const MOST_UPDATES: usize = 64;

/// Moves selections into updates. Returns whether there were any.
///
/// # Errors
/// None; the type is that of rewrites.
pub(super) fn select_parts(module: &mut Module) -> Result<bool, Error> {
    if !has_update(&module.main().body) {
        return Ok(false);
    }
    let mut uses = vec![0; module.main().values.len()];
    count_uses(&module.main().body, &mut uses);
    rewrite(module, |rewriter, op| {
        if op.kind != OpKind::Select {
            return Ok(Rewrite::Keep(op));
        }
        let [predicate, on_true, on_false] = op.operands[..] else { return Ok(Rewrite::Keep(op)) };
        let predicate = Predicate::new(rewriter, predicate, rewriter.tensor(on_true));
        for (updated, array, is_updated) in [(on_true, on_false, true), (on_false, on_true, false)] {
            if let Some(updates) = updates(rewriter, updated, array, &uses, &predicate) {
                let selection = Selection { predicate: &predicate, is_updated };
                let value = updates.iter().rev().fold(array, |array, update| selection.apply(rewriter, update, array));
                return Ok(Rewrite::one(value));
            }
        }
        Ok(Rewrite::Keep(op))
    })
}

fn has_update(region: &Region) -> bool {
    let is_update = |op: &Op| {
        let own = matches!(op.kind, OpKind::DynamicUpdateSlice | OpKind::Scatter { .. });
        own || op.regions.iter().any(has_update)
    };
    region.ops.iter().any(is_update)
}

fn count_uses(region: &Region, uses: &mut [u32]) {
    for op in &region.ops {
        op.operands.iter().for_each(|operand| uses[operand.0 as usize] += 1);
        op.regions.iter().for_each(|region| count_uses(region, uses));
    }
    region.results.iter().for_each(|result| uses[result.0 as usize] += 1);
}

/// The updates that turn `array` into `updated`, the last one first, if nothing else uses the values in between and
/// each update can be skipped where the predicate says.
fn updates(
    rewriter: &Rewriter<'_>,
    updated: ValueId,
    array: ValueId,
    uses: &[u32],
    predicate: &Predicate,
) -> Option<Vec<Op>> {
    let mut found = Vec::new();
    let mut value = updated;
    while value != array {
        let op = rewriter.def(value)?;
        let is_used_once = uses.get(value.0 as usize) == Some(&1);
        if !is_used_once || found.len() == MOST_UPDATES || !predicate.can_leave_out(rewriter, op) {
            return None;
        }
        value = op.operands[0];
        found.push(op.clone());
    }
    (!found.is_empty()).then_some(found)
}

/// A predicate for each element of an array.
struct Predicate {
    /// The value that is broadcast over the array.
    value: ValueId,
    /// The dimension of the array for each of its dimensions.
    dims: Vec<usize>,
    /// Its sizes.
    sizes: Vec<usize>,
}

impl Predicate {
    fn new(rewriter: &Rewriter<'_>, value: ValueId, array: &TensorType) -> Predicate {
        let (value, dims) = match rewriter.def(value) {
            Some(Op { kind: OpKind::BroadcastInDim { dims }, operands, .. }) => (operands[0], dims.clone()),
            _ if rewriter.tensor(value).rank() == 0 => (value, Vec::new()),
            _ => (value, (0..array.rank()).collect()),
        };
        Predicate { value, dims, sizes: rewriter.tensor(value).dims.to_vec() }
    }

    /// Its dimensions along which it varies.
    fn varying(&self) -> impl Iterator<Item = usize> {
        (0..self.sizes.len()).filter(|&dim| self.sizes[dim] != 1)
    }

    fn can_leave_out(&self, rewriter: &Rewriter<'_>, update: &Op) -> bool {
        match &update.kind {
            OpKind::DynamicUpdateSlice => true,
            OpKind::Scatter { dims, .. } => {
                let indices = rewriter.tensor(update.operands[1]);
                update.results.len() == 1
                    && !dims.scatter_dims_to_operand_dims.is_empty()
                    && nowhere(indices, rewriter.tensor(update.operands[0])).is_some()
                    && self.varying().all(|dim| dims.input_batching_dims.contains(&self.dims[dim]))
            }
            _ => false,
        }
    }
}

/// An index of type `indices` that is out of bounds in every dimension of `array`.
fn nowhere(indices: &TensorType, array: &TensorType) -> Option<Literal> {
    let bits = indices.element.bits();
    let largest = u64::MAX >> 64u32.checked_sub(bits as u32)?;
    let is_outside = indices.element.is_signed() || array.dims.iter().all(|&size| (size as u64) < largest);
    let ty = TensorType::scalar(indices.element);
    (bits >= 8 && is_outside).then(|| Literal::splat(ty, vec![0xFF; indices.element.byte_width()]))
}

/// The choice where the predicate is true: the updated array, or the original one.
struct Selection<'p> {
    predicate: &'p Predicate,
    is_updated: bool,
}

impl Selection<'_> {
    /// `array` with `update` applied where it is chosen.
    fn apply(&self, rewriter: &mut Rewriter<'_>, update: &Op, array: ValueId) -> ValueId {
        match &update.kind {
            OpKind::Scatter { dims, unique_indices, .. } => {
                let indices = self.indices(rewriter, update, dims);
                let mut op = clone_op(update, rewriter.values(), &mut Mapping::default());
                op.kind =
                    OpKind::Scatter { dims: dims.clone(), indices_are_sorted: false, unique_indices: *unique_indices };
                (op.operands[0], op.operands[1]) = (array, indices);
                let result = op.results[0];
                rewriter.push(op);
                result
            }
            _ => {
                let (part, starts) = (update.operands[1], &update.operands[2..]);
                let ty = rewriter.tensor(part).clone();
                let operands: Vec<ValueId> = std::iter::once(array).chain(starts.iter().copied()).collect();
                let old = rewriter.emit(OpKind::DynamicSlice { sizes: ty.dims.to_vec() }, &operands, ty.clone());
                let predicate = self.part(rewriter, starts, &ty);
                let part = self.choose(rewriter, predicate, part, old);
                let operands: Vec<ValueId> = [array, part].into_iter().chain(starts.iter().copied()).collect();
                rewriter.emit_like(OpKind::DynamicUpdateSlice, &operands)
            }
        }
    }

    fn choose(&self, rewriter: &mut Rewriter<'_>, predicate: ValueId, updated: ValueId, old: ValueId) -> ValueId {
        let [on_true, on_false] = if self.is_updated { [updated, old] } else { [old, updated] };
        let ty = rewriter.tensor(updated).clone();
        rewriter.emit(OpKind::Select, &[predicate, on_true, on_false], ty)
    }

    /// The predicate for a part of type `ty` that begins at `starts`.
    fn part(&self, rewriter: &mut Rewriter<'_>, starts: &[ValueId], ty: &TensorType) -> ValueId {
        let Predicate { value, dims, sizes } = self.predicate;
        let mut value = *value;
        let part: Vec<usize> =
            sizes.iter().zip(dims).map(|(&size, &dim)| if size == 1 { 1 } else { ty.dims[dim] }).collect();
        if part != *sizes {
            let index = rewriter.tensor(starts[0]).clone();
            let zero = rewriter.constant(Literal::splat(index.clone(), vec![0; index.element.byte_width()]));
            let begin = sizes.iter().zip(dims).map(|(&size, &dim)| if size == 1 { zero } else { starts[dim] });
            let operands: Vec<ValueId> = std::iter::once(value).chain(begin).collect();
            let ty = TensorType::new(rewriter.tensor(value).element, part.iter().copied());
            value = rewriter.emit(OpKind::DynamicSlice { sizes: part }, &operands, ty);
        }
        rewriter.broadcast(value, dims, ty)
    }

    /// The indices of a scatter, out of bounds where nothing is to be updated.
    fn indices(&self, rewriter: &mut Rewriter<'_>, update: &Op, dims: &ScatterDims) -> ValueId {
        let (array, indices) = (rewriter.tensor(update.operands[0]).clone(), update.operands[1]);
        let ty = rewriter.tensor(indices).clone();
        let Predicate { value, dims: places, sizes } = self.predicate;
        let (mut kept, mut batch) = (Vec::new(), Vec::new());
        for dim in self.predicate.varying() {
            let place = dims.input_batching_dims.iter().position(|&batching| batching == places[dim]);
            kept.push(sizes[dim]);
            batch.push(dims.scatter_indices_batching_dims[place.expect("checked before")]);
        }
        let mut value = *value;
        if kept != *sizes {
            let ty = TensorType::new(rewriter.tensor(value).element, kept);
            value = rewriter.emit(OpKind::Reshape, &[value], ty);
        }
        let predicate = rewriter.broadcast(value, &batch, &ty);
        let nowhere = rewriter.constant(nowhere(&ty, &array).expect("checked before"));
        let nowhere = rewriter.broadcast(nowhere, &[], &ty);
        self.choose(rewriter, predicate, indices, nowhere)
    }
}
