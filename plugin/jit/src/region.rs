//! Regions: blocks of operations on a table of slots, with jumps among them.
//!
//! A slot holds the address of an array. Blocks read and write elements at places, which are a slot and an offset.

use crate::ir::{Builder, Op, Program, Value, Width};

/// Neighbouring elements of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    /// The slot with the address of the array.
    pub slot: u16,
    /// The distance of the first element from that address, in bytes.
    pub offset: u32,
    /// The number of elements: at most as many as a vector has lanes.
    pub lanes: u8,
    /// The size of an element.
    pub width: Width,
    /// Whether no byte beyond the elements may be accessed; otherwise those of a whole vector may.
    pub is_exact: bool,
}

/// A function that blocks call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Callee {
    pub(crate) function: usize,
    pub(crate) data: usize,
}

/// The vectors of a call: three operands and the result, each with room for 16 lanes, of which `lanes` count.
pub type VectorFunction = unsafe extern "C" fn(data: *const (), vectors: *mut [[u32; 16]; 4], lanes: usize);

/// A function of the table of slots.
pub type TableFunction = unsafe extern "C" fn(data: *const (), table: *mut u8);

impl Callee {
    /// A function for [`Builder::call`].
    ///
    /// # Safety
    /// While the code exists, the function may be called with `data` and vectors that it may read and write. It
    /// depends on nothing else, and does not unwind.
    pub unsafe fn of_vectors(function: VectorFunction, data: *const ()) -> Callee {
        Callee { function: function as usize, data: data.expose_provenance() }
    }

    /// A function for [`Builder::invoke`].
    ///
    /// # Safety
    /// While the code exists, the function may be called with `data` and the table of a region, and does not unwind.
    pub unsafe fn of_table(function: TableFunction, data: *const ()) -> Callee {
        Callee { function: function as usize, data: data.expose_provenance() }
    }
}

/// The continuation after a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Another block.
    Block(u32),
    /// The end of the region, which returns this number.
    Exit(u32),
}

/// The end of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// Goes on.
    Jump(Target),
    /// Goes on by the low byte of a value: the first if it is not 0.
    Choose(Value, [Target; 2]),
    /// Goes on by a value as signed index, or to the last if it is out of range.
    Table(Value, Vec<Target>),
}

impl End {
    /// The same with other targets.
    pub fn map(self, link: impl Fn(Target) -> Target) -> End {
        match self {
            End::Jump(target) => End::Jump(link(target)),
            End::Choose(value, targets) => End::Choose(value, targets.map(link)),
            End::Table(value, targets) => End::Table(value, targets.into_iter().map(link).collect()),
        }
    }

    /// Where it may lead.
    pub(crate) fn targets(&self) -> &[Target] {
        match self {
            End::Jump(target) => std::slice::from_ref(target),
            End::Choose(_, targets) => targets,
            End::Table(_, targets) => targets,
        }
    }

    fn decision(&self) -> Option<Value> {
        match self {
            End::Jump(_) => None,
            End::Choose(value, _) | End::Table(value, _) => Some(*value),
        }
    }
}

/// Operations in order, and what follows them.
#[derive(Debug, Clone)]
pub struct Block {
    pub(crate) program: Program,
    pub(crate) end: End,
}

impl Block {
    /// The block of the operations in `builder`.
    pub fn new(builder: Builder, end: End) -> Block {
        Block { program: builder.block(end.decision()), end }
    }

    /// The slots of which the block reads elements.
    fn slots_read(&self) -> impl Iterator<Item = u16> + '_ {
        self.program.ops.iter().filter_map(|op| match op {
            Op::Read(place, _) | Op::ReadAt(place, ..) => Some(place.slot),
            Op::PickAt(slot, ..) => Some(*slot),
            _ => None,
        })
    }
}

/// Blocks that jump to each other.
#[derive(Debug, Clone, Default)]
pub struct Region {
    /// The blocks. Each may be the first to run.
    pub blocks: Vec<Block>,
}

impl Region {
    /// Leaves out writes to slots that no block reads, unless `is_kept`.
    pub fn without_dead_writes(mut self, is_kept: impl Fn(u16) -> bool) -> Region {
        loop {
            let before = self.size();
            let read: std::collections::HashSet<u16> = self.blocks.iter().flat_map(Block::slots_read).collect();
            let is_kept = |place: Place| read.contains(&place.slot) || is_kept(place.slot);
            for block in &mut self.blocks {
                block.program = std::mem::take(&mut block.program).with_writes(is_kept);
            }
            if self.size() == before {
                return self;
            }
        }
    }

    /// The number of operations.
    fn size(&self) -> usize {
        self.blocks.iter().map(|block| block.program.len()).sum()
    }
}
