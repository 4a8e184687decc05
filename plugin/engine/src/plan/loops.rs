//! Loops as machine code.

use oxcall_jit::Routine;
use oxcall_kernels::machine::Kept;

/// The machine code of a plan's loops, beside their steps.
pub(crate) struct Loops {
    pub(crate) routine: Routine,
    /// The block of machine code that begins at each step.
    pub(crate) block_at: Vec<Option<u32>>,
    /// The step at which each block begins.
    pub(crate) starts: Vec<u32>,
    /// Whether each step is a part of a block.
    pub(crate) covers: Vec<bool>,
    /// The data that the code refers to.
    #[expect(dead_code, reason = "it is only kept")]
    pub(crate) kept: Vec<Kept>,
}
