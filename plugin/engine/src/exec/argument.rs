//! Arguments of executions.

use std::sync::Arc;

use oxcall_kernels::memory::Buffer;

/// An argument of a program.
#[derive(Debug)]
pub enum Argument {
    /// A buffer that others may also read.
    Shared(Arc<Buffer>),
    /// A buffer that the execution may write, and return as a result.
    Donated(Buffer),
}

impl Argument {
    /// The buffer.
    pub fn buffer(&self) -> &Buffer {
        match self {
            Argument::Shared(buffer) => buffer,
            Argument::Donated(buffer) => buffer,
        }
    }
}

impl From<Arc<Buffer>> for Argument {
    fn from(buffer: Arc<Buffer>) -> Argument {
        Argument::Shared(buffer)
    }
}

impl From<Buffer> for Argument {
    fn from(buffer: Buffer) -> Argument {
        Argument::Donated(buffer)
    }
}
