//! Manual computations: a region that each device of some axes of a mesh runs on its parts of arrays, as a program of
//! its own.

use std::sync::Arc;

use oxcall_hlo::TensorType;

use super::Plan;
use crate::collective::Pieces;
use crate::pool::Cost;

/// A manual computation as a program has it.
pub(crate) struct ManualSite {
    /// The plan of the region, which each participant runs.
    pub(crate) plan: Arc<Plan>,
    /// For each argument of the program, what its participants get.
    pub(crate) operands: Vec<Shards>,
    /// For each result, how it is put together.
    pub(crate) results: Vec<Whole>,
}

/// The parts of an array that participants get.
pub(crate) struct Shards {
    /// The bytes of a part.
    pub(crate) bytes: usize,
    pub(crate) pieces: Pieces,
    /// For each participant.
    pub(crate) shards: Vec<Shard>,
}

/// A part of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shard {
    /// Where it starts in the array.
    pub(crate) offset: usize,
}

/// An array that is made of the participants' parts.
pub(crate) struct Whole {
    pub(crate) pieces: Pieces,
    /// The participants that have the parts, by their places in the array.
    pub(crate) sources: Vec<usize>,
}

impl ManualSite {
    /// An estimate for all participants, with what is copied.
    pub(crate) fn cost(&self) -> Cost {
        let participants = self.operands.first().map_or(1, |operand| operand.shards.len()) as f64;
        let bytes: usize = self.operands.iter().map(|operand| operand.bytes).sum();
        let each = self.plan.cost;
        Cost { flops: participants * each.flops, bytes: participants * (each.bytes + 2.0 * bytes as f64) }
    }
}

impl Shards {
    /// Every participant gets the array as it is.
    pub(crate) fn copies(ty: Option<&TensorType>, participants: usize) -> Shards {
        let bytes = ty.map_or(0, TensorType::byte_size);
        Shards { bytes, pieces: Pieces::new([], bytes), shards: vec![Shard { offset: 0 }; participants] }
    }
}
