//! Row-wise functions as programs: what is computed from the operands, in order.

use std::collections::HashMap;

use oxcall_math::real::{Expression, Opcode, Operation};

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
    /// A value that is a constant for derivatives.
    Fixed(Id),
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
            Make::Fixed(id) | Make::Sum(id) | Make::Max(id) => ([id; OPERANDS], 1),
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

impl Program {
    /// Without the marks that only derivatives see.
    pub(super) fn without_marks(&self) -> Program {
        let (mut nodes, mut renamed) = (Vec::new(), Vec::new());
        for Node { make, kind } in &self.nodes {
            let name = |id: Id| renamed[id];
            let make = match *make {
                Make::Fixed(id) => {
                    renamed.push(name(id));
                    continue;
                }
                Make::Op(op, ids) => Make::Op(op, ids.map(name)),
                Make::Sum(id) => Make::Sum(name(id)),
                Make::Max(id) => Make::Max(name(id)),
                other => other,
            };
            renamed.push(nodes.len());
            nodes.push(Node { make, kind: *kind });
        }
        let results = self.results.iter().map(|(id, kind)| (renamed[*id], *kind)).collect();
        Program { nodes, inputs: self.inputs.clone(), results }
    }

    /// The result that each operation on elements is, if it is that one and nothing else: no operation that is computed
    /// reads it.
    pub(super) fn only_results(&self, is_computed: impl Fn(Id) -> bool) -> Vec<Option<usize>> {
        let mut only = vec![None; self.nodes.len()];
        for (index, (id, _)) in self.results.iter().enumerate() {
            let Node { make, kind } = self.nodes[*id];
            let is_operation = matches!(make, Make::Op(..)) && kind == Kind::Row;
            let is_once = self.results.iter().filter(|(other, _)| other == id).count() == 1;
            only[*id] = (is_operation && is_once).then_some(index);
        }
        let computed = self.nodes.iter().enumerate().filter(|(id, _)| is_computed(*id));
        computed.flat_map(|(_, node)| node.operands()).for_each(|id| only[id] = None);
        only
    }

    /// The program as hosts get it: operations on the operands, which are the first values. `None` where a result that
    /// is to be one number is a row.
    pub(super) fn expression(&self) -> Option<Expression> {
        let operands = self.inputs.len();
        let values = |ids: [Id; OPERANDS]| ids.map(|id| id as u32);
        let operations = self.nodes[operands..].iter().map(|node| {
            let (opcode, args, constant) = match node.make {
                Make::Const(bits) => (Opcode::Constant, [0; OPERANDS], f64::from_bits(bits)),
                Make::Count => (Opcode::Count, [0; OPERANDS], 0.0),
                Make::Sum(id) => (Opcode::Sum, [id, 0, 0], 0.0),
                Make::Max(id) => (Opcode::Max, [id, 0, 0], 0.0),
                Make::Op(op, ids) => (op.opcode(), ids, 0.0),
                Make::Input(_) | Make::Fixed(_) => return None,
            };
            Some(Operation { opcode: opcode as u32, args: values(args), constant })
        });
        let results = self.results.iter().map(|(id, _)| *id as u32).collect();
        Expression::new(operands, operations.collect::<Option<_>>()?, results).map(Expression::without_unused)
    }
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

    pub(super) fn fixed(&mut self, x: Id) -> Id {
        self.node(Make::Fixed(x), self.kind(x))
    }

    pub(super) fn sum(&mut self, x: Id) -> Id {
        if self.kind(x) == Kind::Row {
            return self.node(Make::Sum(x), Kind::PerRow);
        }
        let count = self.count();
        self.op(Op::Multiply, &[x, count])
    }

    pub(super) fn max(&mut self, x: Id) -> Id {
        if self.kind(x) == Kind::Row {
            return self.node(Make::Max(x), Kind::PerRow);
        }
        let (count, zero, none) = (self.count(), self.constant(0.0), self.constant(f64::NEG_INFINITY));
        let is_any = self.op(Op::Less, &[zero, count]);
        self.op(Op::Select, &[is_any, x, none])
    }

    pub(super) fn kind(&self, id: Id) -> Kind {
        self.nodes[id].kind
    }

    /// The value, if it is a constant.
    pub(super) fn value(&self, id: Id) -> Option<f64> {
        match self.nodes[id].make {
            Make::Const(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    pub(super) fn node(&mut self, make: Make, kind: Kind) -> Id {
        let node = Node { make, kind };
        *self.known.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            self.nodes.len() - 1
        })
    }

    /// The value of an operation that needs no new one, up to the sign of a zero.
    fn simplified(&mut self, op: Op, operands: &[Id]) -> Option<Id> {
        let values: Vec<Option<f64>> = operands.iter().map(|id| self.value(*id)).collect();
        match (op.opcode(), operands, &values[..]) {
            (Opcode::Add, [_, x], [Some(0.0), _]) | (Opcode::Add | Opcode::Subtract, [x, _], [_, Some(0.0)]) => {
                Some(*x)
            }
            (Opcode::Multiply, [_, x], [Some(1.0), _])
            | (Opcode::Multiply | Opcode::Divide, [x, _], [_, Some(1.0)]) => Some(*x),
            (Opcode::Subtract, [_, x], [Some(0.0), _]) => Some(self.op(Op::Negate, &[*x])),
            (Opcode::Multiply, _, [Some(0.0), _] | [_, Some(0.0)]) | (Opcode::Divide, _, [Some(0.0), _]) => {
                Some(self.constant(0.0))
            }
            (Opcode::Negate, _, [Some(x)]) => Some(self.constant(-*x)),
            (Opcode::Add, _, [Some(a), Some(b)]) => Some(self.constant(a + b)),
            (Opcode::Multiply, _, [Some(a), Some(b)]) => Some(self.constant(a * b)),
            (Opcode::Negate, [x], _) => match self.nodes[*x].make {
                Make::Op(op, [inner, ..]) if op.opcode() == Opcode::Negate => Some(inner),
                _ => None,
            },
            (Opcode::Select, [_, yes, no], _) if yes == no => Some(*yes),
            _ => None,
        }
    }
}
