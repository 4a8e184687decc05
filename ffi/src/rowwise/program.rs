//! Row-wise functions as programs: what is computed from the operands, in order.

use std::collections::HashMap;

use super::ops::{OPERANDS, Op};

/// The shape of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A number for each element of a row.
    Row,
    /// One number for the row.
    PerRow,
}

/// The index of a value in its program.
pub(super) type Id = usize;

/// What makes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Make {
    /// An operand of the function.
    Input(usize),
    /// A constant, by its bits.
    Const(u64),
    /// The number of elements of the row.
    Count,
    /// An operation of single elements; of numbers for the row, it is one too. Operands beyond its arity are the first.
    Op(Op, [Id; OPERANDS]),
    /// The sum of a row.
    Sum(Id),
    /// The largest element of a row; NaN if one is, and negative infinity if there is none.
    Max(Id),
}

/// A value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Node {
    pub(super) make: Make,
    pub(super) kind: Kind,
}

impl Node {
    /// The values that it is made of.
    pub(super) fn operands(&self) -> impl Iterator<Item = Id> {
        let (ids, count) = match self.make {
            Make::Op(op, ids) => (ids, op.arity()),
            Make::Sum(id) | Make::Max(id) => ([id; OPERANDS], 1),
            _ => ([0; OPERANDS], 0),
        };
        ids.into_iter().take(count)
    }
}

/// A function of rows. Each value is made of those before it, and no two are alike.
#[derive(Debug, Clone, Default)]
pub(super) struct Program {
    pub(super) nodes: Vec<Node>,
    /// The kinds of the operands.
    pub(super) inputs: Vec<Kind>,
    /// The results; one of the kind [`Kind::Row`] may be a value that is the same for all elements.
    pub(super) results: Vec<(Id, Kind)>,
}

/// A program in the making.
#[derive(Debug, Default)]
pub(super) struct Builder {
    pub(super) nodes: Vec<Node>,
    known: HashMap<Node, Id>,
    /// Whether constants of 0 and 1 are computed with: in derivatives, where 0 stands for what does not depend on an
    /// operand. In the function itself 0 times infinity is NaN.
    pub(super) simplifies: bool,
}

impl Builder {
    pub(super) fn input(&mut self, index: usize, kind: Kind) -> Id {
        self.node(Make::Input(index), kind)
    }

    pub(super) fn constant(&mut self, value: f64) -> Id {
        self.node(Make::Const(value.to_bits()), Kind::PerRow)
    }

    pub(super) fn count(&mut self) -> Id {
        self.node(Make::Count, Kind::PerRow)
    }

    pub(super) fn op(&mut self, op: Op, operands: &[Id]) -> Id {
        if let Some(id) = self.simplifies.then(|| self.simplified(op, operands)).flatten() {
            return id;
        }
        let is_row = operands.iter().any(|id| self.kind(*id) == Kind::Row);
        let mut ids = [operands[0]; OPERANDS];
        ids[..operands.len()].copy_from_slice(operands);
        self.node(Make::Op(op, ids), if is_row { Kind::Row } else { Kind::PerRow })
    }

    pub(super) fn sum(&mut self, x: Id) -> Id {
        if self.kind(x) == Kind::Row {
            return self.node(Make::Sum(x), Kind::PerRow);
        }
        let count = self.count();
        self.op(Op::Mul, &[x, count])
    }

    pub(super) fn max(&mut self, x: Id) -> Id {
        if self.kind(x) == Kind::Row {
            return self.node(Make::Max(x), Kind::PerRow);
        }
        let (count, none) = (self.count(), self.constant(f64::NEG_INFINITY));
        self.op(Op::Select, &[count, x, none])
    }

    pub(super) fn kind(&self, id: Id) -> Kind {
        self.nodes[id].kind
    }

    /// The value, if it is a constant.
    fn value(&self, id: Id) -> Option<f64> {
        match self.nodes[id].make {
            Make::Const(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    fn node(&mut self, make: Make, kind: Kind) -> Id {
        let node = Node { make, kind };
        *self.known.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            self.nodes.len() - 1
        })
    }

    /// The value of an operation that needs no new one, up to the sign of a zero.
    fn simplified(&mut self, op: Op, operands: &[Id]) -> Option<Id> {
        let values: Vec<Option<f64>> = operands.iter().map(|id| self.value(*id)).collect();
        match (op, operands, &values[..]) {
            (Op::Add, [_, x], [Some(0.0), _]) | (Op::Add | Op::Sub, [x, _], [_, Some(0.0)]) => Some(*x),
            (Op::Mul, [_, x], [Some(1.0), _]) | (Op::Mul | Op::Div, [x, _], [_, Some(1.0)]) => Some(*x),
            (Op::Sub, [_, x], [Some(0.0), _]) => Some(self.op(Op::Neg, &[*x])),
            (Op::Mul, _, [Some(0.0), _] | [_, Some(0.0)]) | (Op::Div, _, [Some(0.0), _]) => Some(self.constant(0.0)),
            (Op::Neg, _, [Some(x)]) => Some(self.constant(-*x)),
            (Op::Add, _, [Some(a), Some(b)]) => Some(self.constant(a + b)),
            (Op::Mul, _, [Some(a), Some(b)]) => Some(self.constant(a * b)),
            (Op::Neg, [x], _) => match self.nodes[*x].make {
                Make::Op(Op::Neg, [inner, ..]) => Some(inner),
                _ => None,
            },
            (Op::Select, [_, yes, no], _) if yes == no => Some(*yes),
            _ => None,
        }
    }
}
