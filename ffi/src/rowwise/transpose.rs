//! Derivatives in reverse mode of functions of single elements, from those in forward mode.
//!
//! What dual numbers compute along one direction is linear in the tangents of the operands: sums, differences,
//! negatives and choices of tangents, and products and quotients with slopes. The same slopes carry the cotangents of
//! the results backwards, once, where duals carry tangents along the direction of each operand.

use oxcall_math::real::Opcode;

use super::ops::Op;
use super::program::{Id, Kind, Make, Program};
use super::value::{Value, building, record};
use crate::pointwise::Active;

/// The most choices of tangents that depend on each other.
const MOST_CHOICES: usize = 33;

/// An operation on tangents, which are numbered.
#[derive(Debug, Clone, Copy)]
enum Linear {
    Sum(Id, Id),
    Difference(Id, Id),
    Negative(Id),
    /// With a number.
    Product(Id, Id),
    /// By a number.
    Quotient(Id, Id),
    /// By a mask.
    Choice(Id, [Id; 2]),
}

/// A side of a choice: the mask, and whether it holds there.
type Side = (Value, bool);

/// A part of the cotangent of a value.
#[derive(Debug, Clone)]
struct Part {
    /// Where it counts, from the result inwards: inside of all of these. Elsewhere the part is 0, whatever `value` is
    /// there: slopes of what is not chosen may be infinite or NaN.
    sides: Vec<Side>,
    value: Value,
}

impl Program {
    /// The vector-Jacobian product, of a Jacobian-vector product: its operands are numbers and as many tangents, those
    /// of the transpose the numbers and the cotangents of the results. `None` if it is not linear in the tangents, or
    /// has very many choices. Results that are not active have no cotangents.
    pub(super) fn transposed(&self, active: Active) -> Option<Program> {
        let count = self.inputs.len() / 2;
        let operations = self.linear(count)?;
        Some(record(&vec![Kind::Row; count + self.results.len()], |operands| {
            let (numbers, cotangents) = operands.split_at(count);
            let zero = Value::constant(0.0);
            // What becomes of tangents here has no use.
            let known = self.replay(&[numbers, &vec![zero; count]].concat());
            building(|builder| builder.simplifies = true);
            let mut parts: Vec<Vec<Part>> = vec![Vec::new(); self.nodes.len()];
            for (index, ((id, _), cotangent)) in self.results.iter().zip(cotangents).enumerate() {
                let part = active.tangent(index, *cotangent).map(|value| Part { sides: Vec::new(), value });
                parts[*id].extend(part);
            }
            let mut results = vec![(zero, Kind::Row); count];
            for id in (0..self.nodes.len()).rev() {
                let found = std::mem::take(&mut parts[id]);
                match (self.nodes[id].make, operations[id]) {
                    _ if found.is_empty() => {}
                    (Make::Input(index), _) if index >= count => {
                        results[index - count].0 = joined(&found.iter().collect::<Vec<_>>(), 0);
                    }
                    (_, Some(operation)) => operation.pull(&together(&found), &known, &mut parts),
                    _ => {}
                }
            }
            results
        }))
    }

    /// The operations on tangents, of the operands from number `count` on.
    fn linear(&self, count: usize) -> Option<Vec<Option<Linear>>> {
        // Of tangents, the number of choices that they depend on.
        let mut choices: Vec<Option<usize>> = Vec::with_capacity(self.nodes.len());
        let mut operations = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let found = node.operands().filter_map(|of| choices[of]).max();
            let is_tangent = |of: Id| choices[of].is_some();
            let is_zero = |of: Id| matches!(self.nodes[of].make, Make::Const(0));
            let operation = match node.make {
                _ if found.is_none() => None,
                Make::Op(op, [a, b, c]) => Some(match (op.opcode(), is_tangent(a), is_tangent(b)) {
                    (Opcode::Negate, ..) => Linear::Negative(a),
                    (Opcode::Add, true, true) => Linear::Sum(a, b),
                    (Opcode::Subtract, true, true) => Linear::Difference(a, b),
                    (Opcode::Multiply, true, false) => Linear::Product(a, b),
                    (Opcode::Multiply, false, true) => Linear::Product(b, a),
                    (Opcode::Divide, true, false) => Linear::Quotient(a, b),
                    (Opcode::Select, false, _) if [b, c].iter().all(|&of| is_tangent(of) || is_zero(of)) => {
                        Linear::Choice(a, [b, c])
                    }
                    _ => return None,
                }),
                _ => return None,
            };
            let is_choice = matches!(operation, Some(Linear::Choice(..)));
            choices.push(match node.make {
                Make::Input(index) if index >= count => Some(0),
                _ => found.map(|choices| choices + usize::from(is_choice)),
            });
            operations.push(operation);
            if choices.last().is_some_and(|choices| *choices > Some(MOST_CHOICES)) {
                return None;
            }
        }
        Some(operations)
    }
}

impl Linear {
    /// Adds to the parts of what a tangent is made of, given its own cotangent.
    fn pull(self, Part { sides, value }: &Part, known: &[Value], parts: &mut [Vec<Part>]) {
        let mut add = |of: Id, value: Value| parts[of].push(Part { sides: sides.clone(), value });
        match self {
            Linear::Sum(a, b) => {
                add(a, *value);
                add(b, *value);
            }
            Linear::Difference(a, b) => {
                add(a, *value);
                add(b, Value::op(Op::Negate, &[*value]));
            }
            Linear::Negative(a) => add(a, Value::op(Op::Negate, &[*value])),
            Linear::Product(a, slope) => add(a, *value * known[slope]),
            Linear::Quotient(a, divisor) => add(a, Value::op(Op::Divide, &[*value, known[divisor]])),
            Linear::Choice(mask, of) => {
                for (of, holds) in of.into_iter().zip([true, false]) {
                    let sides = sides.iter().copied().chain([(known[mask], holds)]).collect();
                    parts[of].push(Part { sides, value: *value });
                }
            }
        }
    }
}

/// The sum of parts, for the sides that they have in common, and where one of them counts.
fn together(parts: &[Part]) -> Part {
    if let [part] = parts {
        return part.clone();
    }
    let mut sides = &parts[0].sides[..];
    for part in parts {
        let is_shared = |(a, b): &(&Side, &Side)| (a.0.id, a.1) == (b.0.id, b.1);
        sides = &sides[..sides.iter().zip(&part.sides).take_while(is_shared).count()];
    }
    let depth = sides.len();
    let all: Vec<&Part> = parts.iter().collect();
    let sides = sides.iter().copied().chain(cover(&all, depth).map(|mask| (mask, true))).collect();
    Part { sides, value: joined(&all, depth) }
}

/// The sum of parts that have the first `depth` sides in common, inside of these.
fn joined(parts: &[&Part], depth: usize) -> Value {
    let (plain, chosen): (Vec<&Part>, Vec<&Part>) = parts.iter().partition(|part| part.sides.len() == depth);
    let side = |parts: &[&Part]| if parts.is_empty() { Value::constant(0.0) } else { joined(parts, depth + 1) };
    let chosen = by_mask(chosen, depth).map(|(mask, [yes, no])| Value::op(Op::Select, &[mask, side(&yes), side(&no)]));
    let terms: Vec<Value> = plain.into_iter().map(|part| part.value).chain(chosen).collect();
    sum(Op::Add, terms).unwrap_or_else(|| Value::constant(0.0))
}

/// Where one of some parts counts, inside of the first `depth` sides; `None` for everywhere.
fn cover(parts: &[&Part], depth: usize) -> Option<Value> {
    if parts.iter().any(|part| part.sides.len() == depth) {
        return None;
    }
    let mut masks = Vec::new();
    for (mask, [yes, no]) in by_mask(parts.to_vec(), depth) {
        let not = || Value::op(Op::Not, &[mask]);
        let [inside, outside] = [&yes, &no].map(|side| if side.is_empty() { None } else { cover(side, depth + 1) });
        let [inside, outside] = match (yes.is_empty(), no.is_empty(), inside, outside) {
            (false, false, None, None) => return None,
            (_, true, None, _) => [Some(mask), None],
            (true, _, _, None) => [None, Some(not())],
            (_, true, Some(inside), _) => [Some(Value::op(Op::And, &[mask, inside])), None],
            (true, _, _, Some(outside)) => [None, Some(Value::op(Op::And, &[not(), outside]))],
            // What is everywhere on one side needs no mention of that side in the other.
            (_, _, None, outside) => [Some(mask), outside],
            (_, _, inside, None) => [inside, Some(not())],
            (_, _, Some(inside), Some(outside)) => {
                [Value::op(Op::And, &[mask, inside]), Value::op(Op::And, &[not(), outside])].map(Some)
            }
        };
        masks.extend([inside, outside].into_iter().flatten());
    }
    sum(Op::Or, masks)
}

/// The parts of each mask that is side number `depth` of some: those where it holds, and the others.
fn by_mask(parts: Vec<&Part>, depth: usize) -> impl Iterator<Item = (Value, [Vec<&Part>; 2])> {
    let mut groups: Vec<(Value, [Vec<&Part>; 2])> = Vec::new();
    for part in parts {
        let (mask, holds) = part.sides[depth];
        let index = groups.iter().position(|(of, _)| of.id == mask.id).unwrap_or_else(|| {
            groups.push((mask, Default::default()));
            groups.len() - 1
        });
        groups[index].1[usize::from(!holds)].push(part);
    }
    groups.into_iter()
}

fn sum(op: Op, terms: Vec<Value>) -> Option<Value> {
    terms.into_iter().reduce(|sum, term| Value::op(op, &[sum, term]))
}

#[cfg(test)]
mod tests;
