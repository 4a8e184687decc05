//! Logical buffers, which hold values, and the unions among them.

use crate::compile::graph::Position;
use crate::plan::ProcessId;

/// The index of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BufferId(pub(super) u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// No bytes.
    Empty,
    Parameter(u32),
    Constant(u32),
    Id(ProcessId),
    /// Memory that the execution allocates.
    New,
}

#[derive(Debug, Clone)]
struct LogicalBuffer {
    bytes: usize,
    kind: Kind,
    /// The first and last position at which it holds a value.
    live: (Position, Position),
    /// The last use of the value that it holds now.
    busy_until: Position,
    /// Whether a step may write it.
    writable: bool,
    /// Whether a step writes it.
    written: bool,
    /// Whether it is a result of the program.
    is_result: bool,
    /// The buffer that it is part of; itself for a root.
    parent: u32,
    /// Another buffer with which it swaps places, or itself for the last of these.
    class: u32,
}

/// All buffers, with two kinds of union: buffers that are one, and classes of buffers that swap places.
#[derive(Debug, Default)]
pub(super) struct LogicalBuffers {
    all: Vec<LogicalBuffer>,
    /// The value of `busy_until` before each change, while branches are open.
    changes: Vec<(BufferId, Position)>,
    /// The number of open branches.
    branches: usize,
}

/// An open branch.
pub(super) struct Opened {
    /// The first buffer that was made in the branch.
    pub(super) inside: BufferId,
    changes: usize,
}

impl LogicalBuffers {
    pub(super) fn add(&mut self, kind: Kind, bytes: usize, at: Position, writable: bool) -> BufferId {
        let id = u32::try_from(self.all.len()).expect("fewer than 2^32 buffers");
        self.all.push(LogicalBuffer {
            bytes,
            kind,
            live: (at, at),
            busy_until: at,
            writable,
            written: false,
            is_result: false,
            parent: id,
            class: id,
        });
        BufferId(id)
    }

    /// The id that the next buffer will have.
    pub(super) fn next(&self) -> BufferId {
        BufferId(self.all.len() as u32)
    }

    /// The buffer that `id` is part of.
    pub(super) fn root(&self, mut id: BufferId) -> BufferId {
        while self.all[id.0 as usize].parent != id.0 {
            id = BufferId(self.all[id.0 as usize].parent);
        }
        id
    }

    /// The representative of the buffers with which `id` swaps places.
    pub(super) fn class(&self, id: BufferId) -> BufferId {
        let mut id = self.root(id);
        while self.all[id.0 as usize].class != id.0 {
            id = self.root(BufferId(self.all[id.0 as usize].class));
        }
        id
    }

    fn at(&self, id: BufferId) -> &LogicalBuffer {
        &self.all[self.root(id).0 as usize]
    }

    fn at_mut(&mut self, id: BufferId) -> &mut LogicalBuffer {
        let root = self.root(id);
        &mut self.all[root.0 as usize]
    }

    /// Makes `part` a part of the older buffer `whole`.
    pub(super) fn unite(&mut self, part: BufferId, whole: BufferId) {
        let (part, whole) = (self.root(part), self.root(whole));
        if part == whole {
            return;
        }
        debug_assert_eq!(self.at(part).kind, Kind::New);
        self.exchange(part, whole);
        let old = self.at(part).clone();
        let class = self.class(whole);
        let buffer = self.at_mut(whole);
        buffer.live = (buffer.live.0.min(old.live.0), buffer.live.1.max(old.live.1));
        let busy_until = buffer.busy_until.max(old.busy_until);
        buffer.written |= old.written;
        buffer.is_result |= old.is_result;
        self.set_busy_until(whole, busy_until);
        self.all[part.0 as usize].parent = whole.0;
        // If the part represented its class, it still does, through the buffer that it is now part of.
        if class == part {
            self.all[whole.0 as usize].class = whole.0;
        }
    }

    /// Records that two buffers swap places.
    pub(super) fn exchange(&mut self, a: BufferId, b: BufferId) {
        let (a, b) = (self.class(a), self.class(b));
        self.all[b.0 as usize].class = a.0;
    }

    pub(super) fn kind(&self, id: BufferId) -> Kind {
        self.at(id).kind
    }

    pub(super) fn bytes(&self, id: BufferId) -> usize {
        self.at(id).bytes
    }

    pub(super) fn live(&self, id: BufferId) -> (Position, Position) {
        self.at(id).live
    }

    pub(super) fn busy_until(&self, id: BufferId) -> Position {
        self.at(id).busy_until
    }

    pub(super) fn set_busy_until(&mut self, id: BufferId, last: Position) {
        let id = self.root(id);
        let before = std::mem::replace(&mut self.all[id.0 as usize].busy_until, last);
        if self.branches > 0 {
            self.changes.push((id, before));
        }
    }

    /// Begins a branch. Returns the state that ends it.
    pub(super) fn open_branch(&mut self) -> Opened {
        self.branches += 1;
        Opened { inside: self.next(), changes: self.changes.len() }
    }

    /// Ends a branch: another one then begins in the same state, with all earlier buffers as busy as they were.
    pub(super) fn close_branch(&mut self, opened: Opened) {
        self.branches -= 1;
        for (id, before) in self.changes.drain(opened.changes..).rev().collect::<Vec<_>>() {
            if id < opened.inside {
                self.all[id.0 as usize].busy_until = before;
            }
        }
    }

    pub(super) fn is_writable(&self, id: BufferId) -> bool {
        self.at(id).writable
    }

    pub(super) fn is_written(&self, id: BufferId) -> bool {
        self.at(id).written
    }

    pub(super) fn is_result(&self, id: BufferId) -> bool {
        self.at(id).is_result
    }

    pub(super) fn set_result(&mut self, id: BufferId) {
        self.at_mut(id).is_result = true;
    }

    /// Records that a value written at `first` is kept there up to `last`.
    pub(super) fn hold(&mut self, id: BufferId, first: Position, last: Position) {
        let buffer = self.at_mut(id);
        buffer.written = true;
        buffer.live = (buffer.live.0.min(first), buffer.live.1.max(last).max(first));
        self.set_busy_until(id, last.max(first));
    }

    /// The roots, oldest first.
    pub(super) fn roots(&self) -> impl Iterator<Item = BufferId> + '_ {
        (0..self.all.len() as u32).map(BufferId).filter(|&id| self.root(id) == id)
    }
}
