//! Allocations: where slots point.

/// Where a slot points when an execution begins.
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

/// An id of the process that an execution is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessId {
    Replica,
    Partition,
}
