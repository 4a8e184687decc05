//! Manual computations: a region that each device along some mesh axes runs on its shards, as a program of its own.

use std::sync::Arc;

use oxcall_hlo::TensorType;
use oxcall_kernels::pool::Cost;

use super::Plan;
use crate::collective::Pieces;

/// A manual computation of a program.
pub(crate) struct ManualSite {
    /// The plan of the region, which each participant runs.
    pub(crate) plan: Arc<Plan>,
    /// The shards that participants get, for each argument of the program.
    pub(crate) operands: Vec<Shards>,
    /// The assembly of each result.
    pub(crate) results: Vec<Whole>,
}

/// The shards of an array that participants get.
pub(crate) struct Shards {
    /// The bytes of a shard.
    pub(crate) bytes: usize,
    pub(crate) pieces: Pieces,
    /// The shard of each participant.
    pub(crate) shards: Vec<Shard>,
}

/// A shard of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shard {
    /// Its offset in the array, in bytes.
    pub(crate) offset: usize,
}

/// An array that is assembled from the participants' shards.
pub(crate) struct Whole {
    pub(crate) pieces: Pieces,
    /// The participants that have the shards, by their places in the array.
    pub(crate) sources: Vec<usize>,
}

impl ManualSite {
    /// An estimate for all participants, including the copies.
    pub(crate) fn cost(&self) -> Cost {
        let participants = self.operands.first().map_or(1, |operand| operand.shards.len()) as f64;
        let bytes: usize = self.operands.iter().map(|operand| operand.bytes).sum();
        let each = self.plan.cost;
        Cost { flops: participants * each.flops, bytes: participants * (each.bytes + 2.0 * bytes as f64) }
    }
}

impl Shards {
    /// Gives every participant the whole array.
    pub(crate) fn copies(ty: Option<&TensorType>, participants: usize) -> Shards {
        let bytes = ty.map_or(0, TensorType::byte_size);
        Shards { bytes, pieces: Pieces::new([], bytes), shards: vec![Shard { offset: 0 }; participants] }
    }
}
