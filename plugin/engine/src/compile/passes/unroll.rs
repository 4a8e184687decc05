//! Unrolling of short loops over large arrays: an iteration of a loop reads and writes its carried values, while
//! straight-line element-wise ops become one kernel. JAX's Threefry is five iterations over all random numbers.

use oxcall::Error;
use oxcall_hlo::{Module, Op, OpKind, TensorType, ValueId};

use super::ir::{Mapping, Rewrite, Rewriter, clone_op, count_ops, is_elementwise, rewrite};
use super::trips;

/// The largest number of iterations that are unrolled.
const MOST_ITERATIONS: i64 = 8;
/// The largest number of ops in all iterations together.
const MOST_OPS: usize = 512;
/// The smallest number of carried bytes for which unrolling pays: smaller values stay in the caches.
const WORTH_UNROLLING: usize = 64 << 10;

/// Unrolls loops of element-wise ops on large arrays that run for a small constant number of iterations. Returns
/// whether there are any.
///
/// # Errors
/// None; the type is that of rewrites.
pub(super) fn unroll(module: &mut Module) -> Result<bool, Error> {
    rewrite(module, |rewriter, op| {
        let iterations = if op.kind == OpKind::While { iterations(rewriter, &op) } else { None };
        Ok(match iterations {
            Some(count) => Rewrite::With(repeat(rewriter, &op, count).into()),
            None => Rewrite::Keep(op),
        })
    })
}

/// The number of iterations of a loop, if it is worth unrolling.
fn iterations(rewriter: &Rewriter<'_>, op: &Op) -> Option<i64> {
    let [_, body] = &op.regions[..] else { return None };
    let tensors = op.operands.iter().map(|&operand| rewriter.ty(operand).tensor());
    let bytes = tensors.map(|ty| ty.map(TensorType::byte_size)).sum::<Option<usize>>()?;
    let is_fusable = |op: &Op| {
        let moves = matches!(
            op.kind,
            OpKind::Constant(_)
                | OpKind::BroadcastInDim { .. }
                | OpKind::Reshape
                | OpKind::Slice { .. }
                | OpKind::Iota { .. }
        );
        is_elementwise(&op.kind) || moves
    };
    if bytes < WORTH_UNROLLING || !body.ops.iter().all(is_fusable) {
        return None;
    }
    let count = trips::count(rewriter, op)?;
    let is_short = count <= MOST_ITERATIONS && count_ops(body) * count as usize <= MOST_OPS;
    is_short.then_some(count)
}

/// Puts the iterations of a loop before it. Returns the values that replace its results.
fn repeat(rewriter: &mut Rewriter<'_>, op: &Op, count: i64) -> Vec<ValueId> {
    let body = &op.regions[1];
    let mut carried = op.operands.clone();
    for _ in 0..count {
        let mut names = Mapping::default();
        names.extend(&body.params, &carried);
        for op in &body.ops {
            let copy = clone_op(op, rewriter.values(), &mut names);
            rewriter.push(copy);
        }
        carried = names.all(&body.results);
    }
    carried
}
