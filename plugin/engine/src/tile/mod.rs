//! Fused element-wise programs: kernels that work on tiles of a thousand elements or two, which stay in the first-level
//! cache between one step and the next.
//!
//! * `access`: how the elements of a tile lie in an operand.
//! * `build`: from values to a program with few registers.
//! * `chain`: several simple ops at once, in vector registers; `runs`: which ones; `assemble`: their
//!   instructions.
//! * `fuse`: which ops of a region become one program; `emit`: that program.
//! * `graph`: who makes and who uses values; `groups`: what may run as one, in the order that `line` keeps.
//! * `memory`: registers and buffers of a run; all unsafe code.
//! * `program`: running it.
//! * `rows`: reductions of rows together with the ops around them.
//! * `single`: kernels of one op.

mod access;
mod assemble;
mod build;
#[allow(unsafe_code, reason = "reads and writes registers of a tile")]
mod chain;
mod emit;
mod fuse;
mod graph;
mod groups;
mod line;
#[allow(unsafe_code, reason = "registers and operands are bytes of several types")]
mod memory;
#[allow(unsafe_code, reason = "gives each thread its part of the results")]
mod program;
mod rows;
mod runs;
mod single;

pub(crate) use fuse::{Cluster, fuse};
pub(crate) use single::{is_tiled, single};

#[cfg(test)]
mod fuse_tests;
#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod tests;
