//! Programs as nodes over values that are buffers: no tuples, no views, no regions but those of loops and branches.

use oxcall_hlo::{Literal, ValueId};

use crate::kernel::Kernel;
use crate::plan::ProcessId;
use crate::pool::Cost;

/// A value: the contents of some buffer from its definition to its last use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Value(pub(crate) u32);

impl Value {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A point in program order. Nodes have positions of their own; a loop or branch has one where it starts, and one
/// after all that is inside.
pub(crate) type Position = u32;

#[derive(Debug, Clone, Copy)]
pub(crate) struct ValueInfo {
    pub(crate) bytes: usize,
    pub(crate) source: Source,
    /// The number of loops around the definition.
    pub(crate) depth: u32,
    /// The value of the IR that it is, or is a part of; for people.
    pub(crate) of: Option<ValueId>,
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// A node, or a loop.
    Computed,
    /// An argument of the program.
    Parameter(u32),
    /// A constant, by its index.
    Constant(u32),
    /// An id of the process.
    Id(ProcessId),
}

#[derive(Default)]
pub(crate) struct Block {
    pub(crate) nodes: Vec<Node>,
}

pub(crate) enum Node {
    Compute(Compute),
    While(Box<While>),
    Switch(Box<Switch>),
}

pub(crate) struct Compute {
    pub(crate) at: Position,
    pub(crate) work: Work,
    pub(crate) inputs: Vec<Value>,
    pub(crate) outputs: Vec<Value>,
    /// Pairs of input and output that may be one buffer, or must be if `must_alias`.
    pub(crate) aliases: Vec<(usize, usize)>,
    pub(crate) must_alias: bool,
}

pub(crate) enum Work {
    Kernel(Box<dyn Kernel>),
    /// A custom call, by its index.
    Call(u32),
    /// A collective, by its index.
    Collective(u32),
    /// A manual computation, by its index.
    Manual(u32),
}

/// A loop. Values that no iteration changes are not carried.
pub(crate) struct While {
    pub(crate) start: Position,
    /// After the condition.
    pub(crate) decided: Position,
    pub(crate) end: Position,
    pub(crate) carried: Vec<Carried>,
    pub(crate) cond: Block,
    pub(crate) predicate: Value,
    pub(crate) body: Block,
}

/// What a loop carries from one iteration to the next: one buffer under several names.
#[derive(Clone, Copy)]
pub(crate) struct Carried {
    pub(crate) init: Value,
    pub(crate) in_cond: Value,
    pub(crate) in_body: Value,
    pub(crate) next: Value,
    pub(crate) result: Value,
}

/// A branch.
pub(crate) struct Switch {
    pub(crate) start: Position,
    pub(crate) end: Position,
    pub(crate) selector: Value,
    /// Whether the selector is a `Pred`, true for the first branch; otherwise it is an `S32`.
    pub(crate) by_predicate: bool,
    pub(crate) branches: Vec<Branch>,
    pub(crate) results: Vec<Value>,
}

pub(crate) struct Branch {
    pub(crate) block: Block,
    /// Values from this one on are defined in the branch or after it.
    pub(crate) first: Value,
    /// After the branch's nodes.
    pub(crate) end: Position,
    pub(crate) results: Vec<Value>,
}

/// A whole program.
pub(crate) struct Graph {
    pub(crate) values: Vec<ValueInfo>,
    pub(crate) constants: Vec<Literal>,
    pub(crate) body: Block,
    pub(crate) results: Vec<Value>,
    /// After everything.
    pub(crate) end: Position,
    pub(crate) cost: Cost,
}

impl Graph {
    pub(crate) fn info(&self, value: Value) -> ValueInfo {
        self.values[value.index()]
    }
}
