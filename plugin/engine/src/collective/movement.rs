//! Collectives that only move elements.

use oxcall::Error;
use oxcall_hlo::TensorType;
use oxcall_kernels::kernel::Context;
use oxcall_kernels::kernels::nest::Loop;
use oxcall_kernels::pool::Cost;

use super::pieces::{Pieces, strides};
use super::roots::Roots;
use super::{CollectiveKernel, Group, ParticipantBuffers};

/// Results assembled from pieces of all participants' operands.
pub(super) struct Rearranged {
    /// For each operand, the assembly of its result, and the distance in bytes between the parts of it that successive
    /// participants get.
    results: Vec<(Pieces, usize)>,
    bytes: f64,
}

impl Rearranged {
    /// Joins operands along `dim`.
    pub(super) fn all_gather(operands: &[&TensorType], dim: usize, size: usize) -> Rearranged {
        let pieces = |operand: &&TensorType| {
            let len = strides(operand)[dim] * operand.dims[dim];
            let before: usize = operand.dims[..dim].iter().product();
            let loops = [Loop { size: before, strides: [0, len as isize] }, Loop { size, strides: [1, 0] }];
            (Pieces::new(loops, len), 0)
        };
        Rearranged { results: operands.iter().map(pieces).collect(), bytes: (2 * size * bytes(operands)) as f64 }
    }

    /// Splits operands along one dimension, and joins the parts along another.
    pub(super) fn all_to_all(operands: &[&TensorType], split: usize, concat: usize, size: usize) -> Rearranged {
        let pieces = |operand: &&TensorType| {
            let strides = strides(operand);
            let mut part = operand.dims.to_vec(); // Bounded: dimensions.
            part[split] /= size;
            // The pieces from one participant are contiguous from this dimension on.
            let last = split.max(concat);
            let mut loops = Vec::new();
            for dim in 0..=last {
                if dim == concat {
                    loops.push(Loop { size, strides: [1, 0] });
                }
                if dim < last {
                    loops.push(Loop { size: part[dim], strides: [0, strides[dim] as isize] });
                }
            }
            (Pieces::new(loops, part[last] * strides[last]), part[split] * strides[split])
        };
        Rearranged { results: operands.iter().map(pieces).collect(), bytes: 2.0 * bytes(operands) as f64 }
    }
}

fn bytes(operands: &[&TensorType]) -> usize {
    operands.iter().map(|operand| operand.byte_size()).sum()
}

impl CollectiveKernel for Rearranged {
    fn cost(&self) -> Cost {
        Cost { flops: 0.0, bytes: self.bytes }
    }

    fn run(&self, cx: Context<'_>, _: &Group, mut participants: Vec<ParticipantBuffers<'_>>) -> Result<(), Error> {
        for (index, (pieces, shift)) in self.results.iter().enumerate() {
            let sources: Vec<&[u8]> = participants.iter().map(|participant| participant.inputs.get(index)).collect();
            for (place, participant) in participants.iter_mut().enumerate() {
                pieces.copy(cx.pool, &sources, place * shift, participant.outputs.take(index));
            }
        }
        Ok(())
    }
}

/// Operands that are sent unchanged.
pub(super) struct Sent {
    operands: usize,
    bytes: usize,
    /// The senders, unless the group names them (`Group::sources`).
    roots: Roots,
}

impl Sent {
    pub(super) fn new(operands: &[&TensorType], roots: Roots) -> Sent {
        Sent { operands: operands.len(), bytes: bytes(operands), roots }
    }
}

impl CollectiveKernel for Sent {
    fn cost(&self) -> Cost {
        Cost { flops: 0.0, bytes: 2.0 * self.bytes as f64 }
    }

    fn run(&self, cx: Context<'_>, group: &Group, mut participants: Vec<ParticipantBuffers<'_>>) -> Result<(), Error> {
        for index in 0..self.operands {
            let operands: Vec<&[u8]> = participants.iter().map(|participant| participant.inputs.get(index)).collect();
            let root = match self.roots {
                Roots::Given(_) if group.sources.iter().any(Option::is_some) => {
                    Some(self.roots.of(&participants, index)?)
                }
                _ => None,
            };
            for (participant, &source) in participants.iter_mut().zip(&group.sources) {
                let result = participant.outputs.take::<u8>(index);
                let source = source.map(|source| root.unwrap_or(source as usize));
                cx.pool.for_chunks(self.cost(), result, 64, |first, result| match source {
                    Some(source) => result.copy_from_slice(&operands[source][first..][..result.len()]),
                    None => result.fill(0),
                });
            }
        }
        Ok(())
    }
}
