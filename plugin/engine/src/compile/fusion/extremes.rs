//! Fusion of `argmax` and `argmin` with the `iota` of their indices: positions are counted, not read.

use oxcall::Error;
use oxcall_hlo::OpKind;
use oxcall_kernels::kernels::fill::WORTH_FILLING;
use oxcall_kernels::kernels::reduce::extreme_of_positions;

use super::graph::Graph;
use super::groups::Groups;
use super::{FusedKernel, Fusion};

/// The reductions of the region that are fused with the `iota` of their indices.
///
/// # Errors
/// INTERNAL if the region is not verified.
pub(super) fn fuse(graph: &Graph<'_>, groups: &Groups<'_>) -> Result<Vec<Fusion>, Error> {
    let mut found = Vec::new();
    for (index, op) in graph.region.ops.iter().enumerate() {
        let (OpKind::Reduce { .. }, &[values, indices, init, init_index]) = (&op.kind, &op.operands[..]) else {
            continue;
        };
        let Some(source) = graph.producer(indices) else { continue };
        let OpKind::Iota { dim } = graph.region.ops[source].kind else { continue };
        // What only fusions use may be in no memory.
        let is_there = groups.of(source).next().is_none();
        if !is_there || graph.tensor(indices).is_none_or(|ty| ty.byte_size() < WORTH_FILLING) {
            continue;
        }
        if let Some(kernel) = extreme_of_positions(op, graph.func, dim)? {
            let (inputs, outputs) = (vec![values, init, init_index], op.results.clone());
            found.push(Fusion { ops: vec![source, index], inputs, outputs, kernel: FusedKernel::Other(kernel) });
        }
    }
    Ok(found)
}
