//! Functions of rows as their parts, which others share.
//!
//! erfc x is computed from [`gauss`](oxcall_math::single::gauss), which is e^-x^2 and a power of two. The derivative of
//! erfc is that exponential, of the same x: there it is a product with a constant.

use std::collections::HashMap;

use oxcall_math::real::Opcode;
use oxcall_math::single::GAUSS_SCALE;

use super::ops::{OPERANDS, Op};
use super::program::{Id, Kind, Make, Node, Program};

impl Program {
    /// With parts instead of the functions of rows that have some.
    pub(super) fn with_parts(self) -> Program {
        let shared = self.nodes.iter().filter_map(|node| match *node {
            Node { make: Make::Op(op, [x, ..]), kind: Kind::Row } => op.parts().map(|[gauss, _]| (x, (gauss, None))),
            _ => None,
        });
        let mut parts = Parts {
            old: &self.nodes,
            renamed: Vec::new(),
            nodes: Vec::new(),
            shared: shared.collect(),
            scaled: HashMap::new(),
        };
        if parts.shared.is_empty() {
            return self;
        }
        for node in &self.nodes {
            let id = parts.value(*node);
            parts.renamed.push(id);
        }
        let results = self.results.iter().map(|&(id, kind)| (parts.renamed[id], kind)).collect();
        Program { nodes: parts.nodes, inputs: self.inputs.clone(), results }
    }
}

struct Parts<'a> {
    old: &'a [Node],
    /// The values of the new program, by those of the old one.
    renamed: Vec<Id>,
    nodes: Vec<Node>,
    /// The exponential of each operand, by that in the old program: the operation, and the value once there is one.
    shared: HashMap<Id, (Op, Option<Id>)>,
    /// The products of such exponentials and constants, by the new values: which exponential, and the constant without
    /// the exponential's scale.
    scaled: HashMap<Id, (Id, f64)>,
}

impl Parts<'_> {
    /// The new value of an old one.
    fn value(&mut self, Node { make, kind }: Node) -> Id {
        let name = |id: Id| self.renamed[id];
        let make = match make {
            Make::Op(op, ids) if kind == Kind::Row => return self.operation(op, ids),
            Make::Op(op, ids) => Make::Op(op, ids.map(name)),
            Make::Sum(id) => Make::Sum(name(id)),
            Make::Max(id) => Make::Max(name(id)),
            Make::Fixed(id) => Make::Fixed(name(id)),
            make @ (Make::Input(_) | Make::Const(_) | Make::Count) => make,
        };
        self.push(make, kind)
    }

    fn operation(&mut self, op: Op, ids: [Id; OPERANDS]) -> Id {
        if let Some([_, rest]) = op.parts() {
            let (x, gauss) = (self.renamed[ids[0]], self.gauss(ids[0]));
            return self.push(Make::Op(rest, [x, gauss, x]), Kind::Row);
        }
        if let Some(x) = self.squared(op, ids) {
            let gauss = self.gauss(x);
            return self.scaled(gauss, 1.0);
        }
        let ids = ids.map(|id| self.renamed[id]);
        match self.scaled_by(op, ids) {
            Some((None, gauss, factor)) => self.scaled(gauss, factor),
            Some((Some(rest), gauss, factor)) => {
                let scaled = self.scaled(gauss, factor);
                self.push(Make::Op(op, [rest, scaled, rest]), Kind::Row)
            }
            None => self.push(Make::Op(op, ids), Kind::Row),
        }
    }

    /// The operand of e^-x^2, if this is one that is shared.
    fn squared(&self, op: Op, [of, ..]: [Id; OPERANDS]) -> Option<Id> {
        let operation = |id: Id, opcode| match self.old[id].make {
            Make::Op(op, ids) if op.opcode() == opcode => Some(ids),
            _ => None,
        };
        let [square, ..] = (op == Op::Exp).then(|| operation(of, Opcode::Negate)).flatten()?;
        let [x, other, _] = operation(square, Opcode::Multiply)?;
        (x == other && self.shared.contains_key(&x)).then_some(x)
    }

    /// The part that operands have in common.
    fn gauss(&mut self, x: Id) -> Id {
        let (op, known) = self.shared[&x];
        known.unwrap_or_else(|| {
            let gauss = self.push(Make::Op(op, [self.renamed[x]; OPERANDS]), Kind::Row);
            self.shared.insert(x, (op, Some(gauss)));
            gauss
        })
    }

    /// The factors of a product of a shared exponential: another value, if there is one, the exponential, a constant.
    fn scaled_by(&self, op: Op, [a, b, _]: [Id; OPERANDS]) -> Option<(Option<Id>, Id, f64)> {
        if op != Op::Multiply {
            return None;
        }
        [(a, b), (b, a)].into_iter().find_map(|(scaled, other)| {
            let &(gauss, before) = self.scaled.get(&scaled)?;
            let (rest, factor) = match (self.constant(other), self.halved(other)) {
                (Some(factor), _) => (None, factor),
                (_, Some((rest, power))) => (Some(rest), power),
                _ => return None,
            };
            // With a smaller one the constant might lose digits, with a larger one not all that is 0 would remain so.
            let factor = before * factor;
            (1e-15..=2.0).contains(&factor.abs()).then_some((rest, gauss, factor))
        })
    }

    /// The factors of a product with a power of two up to 1, such as a half, which rounds nothing.
    fn halved(&self, id: Id) -> Option<(Id, f64)> {
        let Node { make: Make::Op(op, [a, b, _]), kind: Kind::Row } = self.nodes[id] else { return None };
        let power = |id| self.constant(id).filter(|of| (0.001..=1.0).contains(of) && of.log2().fract() == 0.0);
        let factors = power(b).map(|power| (a, power)).or_else(|| power(a).map(|power| (b, power)));
        if op == Op::Multiply && op.arity() == 2 { factors } else { None }
    }

    fn constant(&self, id: Id) -> Option<f64> {
        match self.nodes[id].make {
            Make::Const(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// The product of a constant and the exponential, whose scale becomes a part of the constant.
    fn scaled(&mut self, gauss: Id, factor: f64) -> Id {
        let scale = self.push(Make::Const((factor / f64::from(GAUSS_SCALE)).to_bits()), Kind::PerRow);
        let product = self.push(Make::Op(Op::Multiply, [gauss, scale, gauss]), Kind::Row);
        self.scaled.insert(product, (gauss, factor));
        product
    }

    fn push(&mut self, make: Make, kind: Kind) -> Id {
        self.nodes.push(Node { make, kind });
        self.nodes.len() - 1
    }
}
