//! Steps of loops as machine code.
//!
//! A kernel on small arrays takes longer to start than to run, so a loop over such kernels becomes one
//! [`Routine`](oxcall_jit::Routine). The plan keeps its steps: the routine returns at those without machine code, and
//! is entered again after them.
//!
//! * `block`: the code of one step after another, on a table of slots; kernels add themselves to it
//!   (`Kernel::generate`).
//! * `calls`: calls of functions and small kernels in Rust.
//! * `slots`: what is known about each slot.
//!
//! The engine finds the loops and runs them.

mod block;
#[allow(unsafe_code, reason = "machine code calls functions with pointers")]
mod calls;
mod slots;
pub use block::{Block, Copy};
pub(crate) use block::{Start, Window};
pub(crate) use calls::Small;
pub use calls::{Kept, resume_panic};
pub use slots::{Known, Slot, Slots, repeated_pair};
