//! Collectives: the joint computations of a clique's participants.
//!
//! [`groups`] determines which processes a collective joins. A [`CollectiveKernel`] works on the buffers of all
//! participants of one group at once, after all of them have stopped there (see [`exec`](crate::exec)).
//!
//! The kernels are in `reduction` and `movement`, over `pieces` of arrays; `roots` finds the roots of groups.

mod groups;
#[cfg(test)]
mod mode_tests;
mod movement;
mod pieces;
mod reduction;
mod roots;
#[cfg(test)]
mod tests;

use oxcall::Error;
use oxcall_hlo::{Func, Op, OpKind, TensorType, ValueId};
use oxcall_kernels::kernel::{Context, Inputs, Outputs};
use oxcall_kernels::pool::Cost;

pub use groups::ProcessGrid;
pub(crate) use groups::{Clique, Group, Groups};
pub(crate) use pieces::{Pieces, strides};
use roots::Roots;

/// The buffers of one participant of a group.
pub(crate) struct ParticipantBuffers<'a> {
    pub(crate) inputs: Inputs<'a>,
    pub(crate) outputs: Outputs<'a>,
}

/// The kernel of a collective.
pub(crate) trait CollectiveKernel: Send + Sync {
    /// An estimate for one participant.
    fn cost(&self) -> Cost;

    /// Pairs of operand and result that may share one buffer; see
    /// [`Kernel::in_place`](oxcall_kernels::kernel::Kernel::in_place).
    fn in_place(&self) -> Vec<(usize, usize)> {
        Vec::new()
    }

    /// Computes the results of all participants of `group`, given in the group's order.
    ///
    /// # Errors
    /// Failures that depend on the machine, such as exhausted memory.
    fn run(&self, cx: Context<'_>, group: &Group, participants: Vec<ParticipantBuffers<'_>>) -> Result<(), Error>;
}

/// The kernel of a collective. `groups` has the groups for each clique that may run it.
///
/// # Errors
/// INVALID_ARGUMENT if the types do not match the size of the groups, UNIMPLEMENTED for ops that the engine does not
/// support.
pub(crate) fn make(op: &Op, func: &Func, groups: &[Groups]) -> Result<Box<dyn CollectiveKernel>, Error> {
    let tensor = |value: &ValueId| -> Result<&TensorType, Error> {
        let ty = func.ty(*value);
        ty.tensor().ok_or_else(|| Error::invalid_argument(format!("operands and results must be tensors, got {ty}")))
    };
    let operands = op.operands.iter().map(tensor).collect::<Result<Vec<_>, _>>()?;
    let results = op.results.iter().map(tensor).collect::<Result<Vec<_>, _>>()?;
    // Where participants get parts of another's operand, all groups must have one size.
    let size = match op.kind {
        OpKind::AllGather { .. } | OpKind::ReduceScatter { .. } | OpKind::AllToAll { .. } => Groups::size(groups)?,
        _ => 1,
    };
    let kernel: Box<dyn CollectiveKernel> = match &op.kind {
        OpKind::AllReduce(_) => Box::new(reduction::AllReduce::new(func, &op.regions[0], &operands, None)?),
        OpKind::CollectiveReduce(rooted) => {
            let (roots, count) = Roots::new(rooted, operands.len());
            Box::new(reduction::AllReduce::new(func, &op.regions[0], &operands[..count], Some(roots))?)
        }
        OpKind::ReduceScatter { dim, .. } => {
            expect(operands[0].dims[*dim], results[0].dims[*dim], *dim, size)?;
            Box::new(reduction::ReduceScatter::new(func, &op.regions[0], operands[0], *dim, size)?)
        }
        OpKind::AllGather { dim, .. } => {
            for (operand, result) in operands.iter().zip(&results) {
                expect(result.dims[*dim], operand.dims[*dim], *dim, size)?;
            }
            Box::new(movement::Rearranged::all_gather(&operands, *dim, size))
        }
        OpKind::AllToAll { split_dim, concat_dim, split_count, .. } => {
            if *split_count != size {
                let message = format!("split_count is {split_count}, but each group has {size} processes");
                return Err(Error::invalid_argument(message));
            }
            Box::new(movement::Rearranged::all_to_all(&operands, *split_dim, *concat_dim, size))
        }
        OpKind::CollectiveBroadcast(rooted) => {
            let (roots, count) = Roots::new(rooted, operands.len());
            Box::new(movement::Sent::new(&operands[..count], roots))
        }
        OpKind::CollectivePermute(_) => Box::new(movement::Sent::new(&operands, Roots::First)),
        kind => return Err(Error::internal(format!("expected a collective, got {}", kind.name()))),
    };
    Ok(kernel)
}

/// Checks that a dimension for the whole group is as large as those of all its participants together.
fn expect(all: usize, each: usize, dim: usize, size: usize) -> Result<(), Error> {
    if each.checked_mul(size) != Some(all) {
        return Err(Error::invalid_argument(format!(
            "dimension {dim} has size {each} per process and {all} per group, but each group has {size} processes"
        )));
    }
    Ok(())
}
