//! Tile programs: kernels of element-wise ops and reductions of rows that work on tiles of one or two thousand
//! elements, which stay in the L1 cache between steps.
//!
//! * `access`: the map from the elements of a tile to those of an operand.
//! * `build`: from values to a program with few registers.
//! * `chain`: several simple ops at once, in vector registers; `runs`: the choice of those ops; `assemble`: their
//!   instructions.
//! * `copies`: arrays that are put together from boxes of others.
//! * `elements`: small programs as a part of a block of machine code.
//! * `exponentials`: exponentials that programs have in common with their error functions.
//! * `generated`: runs of functions as machine code; `run`: the code of a run, whichever it is.
//! * `memory`: registers and buffers of a run; all unsafe code except that of chains.
//! * `program`: the execution of programs; `table`: that of machine code on rows of gathered elements; `rings`: short
//!   rows that repeat.
//! * `reduction`: reductions of what a program computes; `accumulators`: the numbers that they add to.
//! * `recompute`: cheap values, computed again between reductions.
//! * `single`: kernels of one op.
//! * `update`: results that are a part of a larger array.
//! * `tiled_loop`: loops whose iterations all run on one piece of the arrays before the next; `frame`: one piece.
//!
//! The engine makes programs of several ops.

mod access;
mod accumulators;
mod assemble;
mod build;
#[allow(unsafe_code, reason = "reads and writes registers of a tile")]
mod chain;
mod copies;
mod elements;
mod exponentials;
#[allow(unsafe_code, reason = "gives programs the memory of a thread")]
mod frame;
pub mod generated;
#[allow(unsafe_code, reason = "registers and operands are bytes of several types")]
mod memory;
#[allow(unsafe_code, reason = "gives each thread its part of the results")]
mod program;
mod recompute;
mod reduction;
mod rings;
#[allow(unsafe_code, reason = "calls generated code")]
mod run;
mod runs;
mod single;
mod spread;
#[allow(unsafe_code, reason = "calls generated code")]
mod table;
#[cfg(test)]
pub(crate) mod tests;
#[allow(unsafe_code, reason = "gives each thread its part of the results")]
pub mod tiled_loop;
mod update;

pub use access::{Access, Dim};
pub use build::{Builder, Value};
pub use copies::Copies;
pub use elements::{MOST_ELEMENTS, is_generated};
pub use program::Program;
pub use reduction::{Reduced, Reduction, Slabs};
pub use single::tensor;
pub(crate) use single::{is_tiled, single};
pub use update::Region;
