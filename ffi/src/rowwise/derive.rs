//! Derivatives of programs, which are programs again.
//!
//! The slopes of operations are those of [`Dual`] numbers, so that there is one table of rules.

use oxcall_math::real::Opcode;

use super::ops::Op;
use super::program::{Id, Kind, Make, Program};
use super::value::{Operand, Row, Value, building, record};
use crate::pointwise::{Active, Dual, Mask, Real};

/// A way to differentiate a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The Jacobian-vector product: from operands and their tangents to the results' tangents.
    Jvp,
    /// The vector-Jacobian product: from operands and the results' cotangents to the operands' cotangents.
    Vjp,
}

impl Program {
    /// A derivative, along the active operands, or of the active results.
    pub(super) fn derivative(&self, rule: Rule, active: Active) -> Program {
        match rule {
            Rule::Jvp => self.jvp(active),
            Rule::Vjp => self.vjp(active),
        }
    }

    fn jvp(&self, active: Active) -> Program {
        let kinds: Vec<Kind> = self.inputs.iter().chain(&self.inputs).copied().collect();
        record(&kinds, |operands| {
            let (primals, moved) = operands.split_at(self.inputs.len());
            let moved: Vec<Option<Value>> =
                moved.iter().enumerate().map(|(index, tangent)| active.tangent(index, *tangent)).collect();
            let values = self.replay(primals);
            building(|builder| builder.simplifies = true);
            // Of what does not depend on the operands, there is none.
            let mut tangents: Vec<Option<Value>> = vec![None; values.len()];
            for id in 0..values.len() {
                tangents[id] = self.tangent(id, &values, &tangents, &moved);
            }
            let zero = Value::constant(0.0);
            self.results.iter().map(|(id, kind)| (tangents[*id].unwrap_or(zero), *kind)).collect()
        })
    }

    fn vjp(&self, active: Active) -> Program {
        let kinds: Vec<Kind> = self.inputs.iter().copied().chain(self.results.iter().map(|(_, kind)| *kind)).collect();
        record(&kinds, |operands| {
            let (primals, cotangents) = operands.split_at(self.inputs.len());
            let values = self.replay(primals);
            building(|builder| builder.simplifies = true);
            let mut sums = Cotangents { program: self, sums: vec![None; values.len()] };
            for (index, ((id, kind), cotangent)) in self.results.iter().zip(cotangents).enumerate() {
                if let Some(cotangent) = active.tangent(index, *cotangent) {
                    sums.add(*kind, *id, cotangent);
                }
            }
            for id in (0..values.len()).rev() {
                sums.pull(id, &values);
            }
            let zero = Value::constant(0.0);
            let mut results: Vec<(Value, Kind)> = self.inputs.iter().map(|kind| (zero, *kind)).collect();
            for (node, sum) in self.nodes.iter().zip(sums.sums) {
                if let (Make::Input(index), Some(sum)) = (node.make, sum) {
                    results[index].0 = sum;
                }
            }
            results
        })
    }

    /// Records this program as a part of another.
    pub(super) fn replay(&self, inputs: &[Value]) -> Vec<Value> {
        let mut values: Vec<Value> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let id = building(|builder| {
                let known = |id: Id| values[id].id;
                match node.make {
                    Make::Input(index) => inputs[index].id,
                    Make::Const(bits) => builder.constant(f64::from_bits(bits)),
                    Make::Count => builder.count(),
                    Make::Fixed(id) => builder.fixed(known(id)),
                    Make::Op(op, ids) => builder.op(op, &ids.map(known)[..op.arity()]),
                    Make::Sum(id) => builder.sum(known(id)),
                    Make::Max(id) => builder.max(known(id)),
                }
            });
            values.push(Value::new(id));
        }
        values
    }

    fn tangent(&self, id: Id, values: &[Value], tangents: &[Option<Value>], moved: &[Option<Value>]) -> Option<Value> {
        match self.nodes[id].make {
            Make::Input(index) => moved[index],
            Make::Const(_) | Make::Count | Make::Fixed(_) => None,
            Make::Sum(of) => tangents[of].map(Value::sum),
            Make::Max(of) => {
                let (share, is_largest) = winners(values[of], values[id]);
                tangents[of].map(|tangent| (is_largest.select(Row::of(tangent), Row::from(0.0)).value().sum()) * share)
            }
            Make::Op(op, _) if op.is_flat() => None,
            Make::Op(op, ids) => {
                let operands = &ids[..op.arity()];
                if !operands.iter().any(|of| tangents[*of].is_some()) {
                    return None;
                }
                Some(match (op.opcode(), operands) {
                    (Opcode::Select, [mask, yes, no]) => {
                        let [yes, no] = [yes, no].map(|of| tangents[*of].unwrap_or(Value::constant(0.0)));
                        Value::op(op, &[values[*mask], yes, no])
                    }
                    _ => {
                        let duals = ids.map(|of| Dual::along(Row::of(values[of]), [tangents[of].map(Row::of)]));
                        let [tangent] = op.tangent(duals).tangents();
                        tangent.value()
                    }
                })
            }
        }
    }
}

/// The elements of a row that are its largest one, and the part of its derivative that each has.
fn winners(row: Value, largest: Value) -> (Value, <Row as Real>::Mask) {
    let is_largest = Row::of(row).equal(Row::of(largest));
    let count = is_largest.select(Row::from(1.0), Row::from(0.0)).value().sum();
    (Value::op(Op::Divide, &[Value::constant(1.0), count]), is_largest)
}

impl std::ops::Mul for Value {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Value::op(Op::Multiply, &[self, other])
    }
}

/// The cotangents of the values of a program, as far as they are known.
struct Cotangents<'a> {
    program: &'a Program,
    sums: Vec<Option<Value>>,
}

impl Cotangents<'_> {
    /// Adds a part of the cotangent of a value, which comes from one of kind `from`.
    fn add(&mut self, from: Kind, id: Id, part: Value) {
        // A number that is used for each element gets a part from each of them.
        let is_spread = from == Kind::Row && self.program.nodes[id].kind == Kind::PerRow;
        let part = if is_spread { part.sum() } else { part };
        let sum = &mut self.sums[id];
        *sum = Some(sum.map_or(part, |sum| Value::op(Op::Add, &[sum, part])));
    }

    /// Adds the parts of the operands of a value, whose own cotangent is complete.
    fn pull(&mut self, id: Id, values: &[Value]) {
        let Some(cotangent) = self.sums[id] else { return };
        let node = self.program.nodes[id];
        match node.make {
            Make::Input(_) | Make::Const(_) | Make::Count | Make::Fixed(_) => {}
            Make::Sum(of) => self.add(Kind::PerRow, of, cotangent),
            Make::Max(of) => {
                let (share, is_largest) = winners(values[of], values[id]);
                // Of a row with a NaN, no element is the largest.
                let largest = Row::of(values[id]);
                let other = largest.is_nan().select(largest, Row::from(0.0));
                let part = is_largest.select(Row::of(cotangent * share), other);
                self.add(Kind::Row, of, part.value());
            }
            Make::Op(op, _) if op.is_flat() => {}
            Make::Op(op, [mask, yes, no]) if op.opcode() == Opcode::Select => {
                let zero = Value::constant(0.0);
                self.add(node.kind, yes, Value::op(op, &[values[mask], cotangent, zero]));
                self.add(node.kind, no, Value::op(op, &[values[mask], zero, cotangent]));
            }
            Make::Op(op, ids) => {
                let mut index = 0;
                let duals = ids.map(|of| {
                    let dual = Dual::variable(Row::of(values[of]), index);
                    index += 1;
                    dual
                });
                let slopes = op.slopes(duals).tangents();
                for (of, slope) in ids.into_iter().zip(slopes).take(op.arity()) {
                    if self.program.is_variable(of) {
                        self.add(node.kind, of, cotangent * slope.value());
                    }
                }
            }
        }
    }
}

impl Program {
    /// Whether a value is none of the constants.
    fn is_variable(&self, id: Id) -> bool {
        !matches!(self.nodes[id].make, Make::Const(_) | Make::Count)
    }
}
