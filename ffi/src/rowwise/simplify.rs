//! Programs with fewer operations on blocks, for the same results: signs move into other operations, and pairs of
//! cheap operations become one.
//!
//! All results keep their bits, but for the signs of NaN.

use std::collections::HashMap;

use super::ops::{OPERANDS, Op};
use super::program::{Builder, Id, Kind, Make, Node, Program};

impl Program {
    /// As it is computed: signs moved, functions as their parts, and pairs made. Marks are gone before.
    pub(super) fn computed(&self) -> Program {
        self.with_signs_moved().with_parts().with_pairs()
    }

    /// With signs as part of products, quotients, sums and constants, and without factors of 1.
    fn with_signs_moved(&self) -> Program {
        let mut signs = Signs {
            builder: Builder::default(),
            values: Vec::with_capacity(self.nodes.len()),
            negatives: HashMap::new(),
        };
        for node in &self.nodes {
            let value = signs.value(node);
            signs.values.push(value);
        }
        let results = self.results.iter().map(|&(id, kind)| (signs.plain(signs.as_computed(signs.values[id])), kind));
        let results = results.collect();
        Program { nodes: signs.builder.nodes, inputs: self.inputs.clone(), results }
    }

    /// With an operation whose result only one other reads as a part of that, where both are sums or products.
    fn with_pairs(mut self) -> Program {
        let mut uses = self.uses();
        for id in 0..self.nodes.len() {
            let Node { make: Make::Op(outer, ids), kind: Kind::Row } = self.nodes[id] else { continue };
            if uses[id] == 0 || !self.is_plain(outer, &ids) {
                continue;
            }
            let pair = (0..outer.arity()).find_map(|place| {
                let Node { make: Make::Op(inner, inner_ids), kind: Kind::Row } = self.nodes[ids[place]] else {
                    return None;
                };
                let is_only_read_here = uses[ids[place]] == 1 && self.is_plain(inner, &inner_ids);
                let op = is_only_read_here.then(|| inner.then(outer, place)).flatten()?;
                Some((op, place, inner_ids))
            });
            if let Some((op, place, [first, second, _])) = pair {
                uses[ids[place]] = 0;
                let other = if outer.arity() == 1 { None } else { Some(ids[1 - place]) };
                let other = other.unwrap_or(first);
                self.nodes[id].make = Make::Op(op, [first, second, other]);
            }
        }
        self
    }

    /// About how many sums on blocks take as long as what is computed.
    pub(super) fn cost(&self) -> usize {
        let program = self.with_signs_moved();
        let used = program.nodes.iter().zip(program.uses()).filter(|(node, uses)| *uses > 0 && node.kind == Kind::Row);
        used.map(|(node, _)| if let Make::Op(op, _) = node.make { op.cost() } else { 0 }).sum()
    }

    /// The factors of each product of rows that nothing but one sum reads: the sum multiplies them itself.
    pub(super) fn summed_products(&self) -> Vec<Option<[Id; 2]>> {
        let uses = self.uses();
        let mut factors = vec![None; self.nodes.len()];
        for node in &self.nodes {
            let Make::Sum(of) = node.make else { continue };
            let Make::Op(op, [a, b, _]) = self.nodes[of].make else { continue };
            let are_rows = [a, b].iter().all(|id| self.nodes[*id].kind == Kind::Row);
            // A pair that ends in a product has an operand more.
            if op == Op::Multiply && op.arity() == 2 && are_rows && uses[of] == 1 {
                factors[of] = Some([a, b]);
            }
        }
        factors
    }

    /// Whether an operation computes with rows and constants alone: numbers of rows come in two parts.
    fn is_plain(&self, op: Op, ids: &[Id; OPERANDS]) -> bool {
        ids.iter().take(op.arity()).all(|&id| {
            let Node { make, kind } = self.nodes[id];
            kind == Kind::Row || matches!(make, Make::Const(_))
        })
    }

    /// How often each value is read by what the results need, or is a result.
    fn uses(&self) -> Vec<usize> {
        let mut uses = vec![0; self.nodes.len()];
        self.results.iter().for_each(|(id, _)| uses[*id] += 2);
        for (id, node) in self.nodes.iter().enumerate().rev() {
            if uses[id] > 0 {
                node.operands().for_each(|of| uses[of] += 1);
            }
        }
        uses
    }
}

/// A value of the new program, or its negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Signed {
    id: Id,
    is_negative: bool,
}

impl Signed {
    fn times(self, is_negative: bool) -> Self {
        Signed { is_negative: self.is_negative ^ is_negative, ..self }
    }
}

struct Signs {
    builder: Builder,
    /// Those of the old one.
    values: Vec<Signed>,
    /// The negatives that have been computed instead of values, with the sign in a constant.
    negatives: HashMap<Id, Id>,
}

impl Signs {
    fn value(&mut self, node: &Node) -> Signed {
        let make = match node.make {
            Make::Op(op, ids) => return self.operation(op, ids.map(|id| self.as_computed(self.values[id]))),
            Make::Sum(id) => Make::Sum(self.plain(self.as_computed(self.values[id]))),
            Make::Max(id) => Make::Max(self.plain(self.as_computed(self.values[id]))),
            Make::Fixed(id) => Make::Fixed(self.plain(self.as_computed(self.values[id]))),
            make @ (Make::Input(_) | Make::Const(_) | Make::Count) => make,
        };
        Signed { id: self.builder.node(make, node.kind), is_negative: false }
    }

    /// The value by its negative, if that is what is computed.
    fn as_computed(&self, value: Signed) -> Signed {
        self.negatives.get(&value.id).map_or(value, |&id| Signed { id, is_negative: !value.is_negative })
    }

    fn operation(&mut self, op: Op, operands: [Signed; OPERANDS]) -> Signed {
        let [a, b, c] = operands;
        if op == Op::Negate {
            return a.times(true);
        }
        if op == Op::Abs {
            return self.plus(Op::Abs, &[a.id]);
        }
        if op == Op::Multiply || op == Op::Divide {
            return self.product(op, a, b);
        }
        // A number of the row and what rounding has taken from it are added to a row, or subtracted from it.
        let is_of_rows = |of: Signed| self.builder.kind(of.id) == Kind::Row || self.builder.value(of.id).is_some();
        if (op == Op::Add || op == Op::Subtract) && is_of_rows(a) && is_of_rows(b) {
            let b = b.times(op == Op::Subtract);
            return match (a.is_negative, b.is_negative) {
                (false, false) => self.plus(Op::Add, &[a.id, b.id]),
                (true, false) => self.plus(Op::Subtract, &[b.id, a.id]),
                (_, true) => {
                    // The negative of a sum that is 0 would have another sign.
                    let a = self.plain(a);
                    self.plus(Op::Subtract, &[a, b.id])
                }
            };
        }
        if op == Op::Select && b.is_negative == c.is_negative {
            let mask = self.plain(a);
            return self.plus(Op::Select, &[mask, b.id, c.id]).times(b.is_negative);
        }
        let ids = operands.map(|operand| self.plain(operand));
        self.plus(op, &ids[..op.arity()])
    }

    fn product(&mut self, op: Op, a: Signed, b: Signed) -> Signed {
        let is_negative = a.is_negative ^ b.is_negative;
        match (self.builder.value(a.id), self.builder.value(b.id)) {
            (_, Some(one)) if one.abs() == 1.0 => a.times(b.is_negative ^ (one < 0.0)),
            (Some(one), _) if one.abs() == 1.0 && op == Op::Multiply => b.times(a.is_negative ^ (one < 0.0)),
            _ => self.plus(op, &[a.id, b.id]).times(is_negative),
        }
    }

    fn plus(&mut self, op: Op, ids: &[Id]) -> Signed {
        Signed { id: self.builder.op(op, ids), is_negative: false }
    }

    /// The value with its sign.
    fn plain(&mut self, Signed { id, is_negative }: Signed) -> Id {
        if !is_negative {
            return id;
        }
        if let Some(value) = self.builder.value(id) {
            return self.builder.constant(-value);
        }
        if let Make::Op(op, [a, b, _]) = self.builder.nodes[id].make
            && (op == Op::Multiply || op == Op::Divide)
        {
            let negative = match (self.builder.value(a), self.builder.value(b)) {
                (_, Some(factor)) => Some([a, self.builder.constant(-factor)]),
                (Some(factor), _) => Some([self.builder.constant(-factor), b]),
                _ => None,
            };
            if let Some(operands) = negative {
                let negative = self.builder.op(op, &operands);
                self.negatives.insert(id, negative);
                return negative;
            }
        }
        self.builder.op(Op::Negate, &[id])
    }
}
