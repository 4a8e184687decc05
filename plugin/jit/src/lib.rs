//! Native code for element-wise programs and for loops.
//!
//! A [`Program`] is a list of operations on lanes of 32 bits: loads of successive elements, arithmetic without
//! branches, and stores. [`Kernel::compile`] turns it into a loop of vector instructions, AVX-512 or AVX2, whichever
//! the processor has, and [`interpret`](Program::interpret) computes the same bits one lane at a time. The arrays may
//! be rows of larger ones, of which the code computes one after another.
//!
//! A [`Region`] is a list of blocks that jump to each other, on a table of addresses. Each block is such a list of
//! operations on vectors of up to 16 lanes, which also reads and writes single elements, adds indices to addresses, and
//! calls functions in Rust. [`Routine::compile_for`] compiles it.
//!
//! * `ir`: programs and their construction; `wide`: operations on elements of 64 bits.
//! * `packed`: several elements in a lane, where integers are narrow.
//! * `region`: blocks, places and jumps.
//! * `interpret`: the meaning of each operation.
//! * `encode`: instructions as bytes.
//! * `registers`: the choice of registers; `emit`: the instructions of each operation, and the loop over elements;
//!   `emit::rows`: the loop over rows; `emit::tail`: elements that fill no vector; `emit::region`: blocks;
//!   `emit::carried`: values that blocks keep in registers while they repeat.
//! * `pages`: executable memory; `kernel`: compiled programs and regions; `listing`: their code with labels.
//!
//! No operation contracts, reorders or approximates: what a program computes is defined by IEEE 754 and the order of
//! its operations alone.

mod emit;
mod encode;
mod interpret;
mod ir;
#[allow(unsafe_code, reason = "calls generated code")]
mod kernel;
mod listing;
mod packed;
#[allow(unsafe_code, reason = "maps memory and changes its protection")]
mod pages;
mod parts;
mod region;
mod registers;
mod schedule;
#[cfg(test)]
mod tests;
mod wide;

pub use emit::LONGEST_BLOCK;
pub use encode::Isa;
pub use ir::{Binary, Builder, Compare, Counts, Program, Round, Shift, Unary, Value, Width};
pub use kernel::{Kernel, Routine, Rows, Stop};
pub use listing::{Listing, Mark};
pub use region::{Block, Callee, End, Place, Region, TableFunction, Target, VectorFunction};
pub use wide::{Conversion, Shuffle, WideBinary, WideBuilder};
