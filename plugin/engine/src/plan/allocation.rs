//! Allocations: the memory that slots point to.

/// The memory that a slot points to when an execution begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Allocation {
    /// Nowhere: no bytes.
    Empty,
    Parameter(u32),
    Constant(u32),
    /// At this offset of the arena.
    Arena(usize),
    /// An allocation of its own, by index.
    Own(u32),
    /// An id of the process.
    Id(ProcessId),
}

/// An id of the process that runs an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessId {
    Replica,
    Partition,
}
