//! Programs as nodes over values, each of which is a buffer: without tuples, views, and regions other than those of
//! loops and branches.

use oxcall_hlo::{Literal, ValueId};
use oxcall_kernels::kernel::Kernel;
use oxcall_kernels::pool::Cost;

use crate::plan::ProcessId;

/// A value: the contents of a buffer from its definition to its last use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Value(pub(crate) u32);

impl Value {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A point in program order. Each node has its own position; a loop or branch has one at its start, and one after
/// everything inside.
pub(crate) type Position = u32;

#[derive(Debug, Clone, Copy)]
pub(crate) struct ValueInfo {
    pub(crate) bytes: usize,
    pub(crate) source: Source,
    /// The number of loops around the definition.
    pub(crate) depth: u32,
    /// The IR value to which it belongs; for display.
    pub(crate) of: Option<ValueId>,
}

/// The origin of a value.
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
    /// Pairs of input and output that may share a buffer, or must if `must_alias`.
    pub(crate) aliases: Vec<(usize, usize)>,
    pub(crate) must_alias: bool,
}

pub(crate) enum Work {
    Kernel {
        kernel: Box<dyn Kernel>,
        /// The arithmetic operations of one run; for display.
        flops: f64,
    },
    /// A custom call, by its index.
    Call(u32),
    /// A collective, by its index.
    Collective(u32),
    /// A manual computation, by its index.
    Manual(u32),
}

/// A loop. It does not carry values that no iteration changes.
pub(crate) struct While {
    pub(crate) start: Position,
    /// The position after the condition.
    pub(crate) decided: Position,
    pub(crate) end: Position,
    pub(crate) carried: Vec<Carried>,
    pub(crate) cond: Block,
    pub(crate) predicate: Value,
    pub(crate) body: Block,
}

/// A value that a loop carries from one iteration to the next: one buffer under several names.
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
    /// The first value that is defined in the branch or after it.
    pub(crate) first: Value,
    /// The position after the branch's nodes.
    pub(crate) end: Position,
    pub(crate) results: Vec<Value>,
}

/// A program.
pub(crate) struct Graph {
    pub(crate) values: Vec<ValueInfo>,
    pub(crate) constants: Vec<Literal>,
    pub(crate) body: Block,
    pub(crate) results: Vec<Value>,
    /// The position after everything.
    pub(crate) end: Position,
    pub(crate) cost: Cost,
}

impl Graph {
    pub(crate) fn info(&self, value: Value) -> ValueInfo {
        self.values[value.index()]
    }
}
