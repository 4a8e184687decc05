//! Ops: their results, the generic form, and the forms that need code of their own.

use super::attributes::op_dictionary;
use super::{Entries, Name, Printer, op_attributes, put, string, symbol};
use crate::ops::{Form, Value};
use crate::{BinaryOp, Op, OpKind, Region, Type, ValueId};

impl<'m> Printer<'m> {
    /// An op, without the line break before it.
    pub(super) fn op(&mut self, op: &'m Op) {
        // Results get their names after the regions have theirs: the number is kept for them.
        let number = self.results;
        if !op.results.is_empty() {
            self.results += 1;
            let count = op.results.len();
            put!(self, "%{number}");
            if count > 1 {
                put!(self, ":{count}");
            }
            self.out.push_str(" = ");
        }
        let attributes = op_attributes(&op.kind, self.module).entries;
        let name = op.kind.name();
        let done = match op.kind.def().text {
            Form::Pieces(pieces) => self.pieces(op, name, pieces, &attributes),
            Form::Constant => self.constant(op),
            Form::Reduce => self.reduce(op, &attributes),
            Form::While => self.while_loop(op),
            Form::CustomCall => self.call(op, "stablehlo.custom_call", "call_target_name", &attributes),
            Form::Call => self.call(op, "func.call", "callee", &attributes),
            Form::Composite => self.composite(op, &attributes),
            Form::ManualComputation => self.manual_computation(op),
            Form::Generic => false,
        };
        if !done {
            self.generic(op, name, &attributes);
        }
        if let Some(locations) = &mut self.locations {
            self.out.push_str(&locations.reference(op.location));
        }
        match op.results.as_slice() {
            [result] => self.set_name(*result, Name::Result(number)),
            results => {
                for (index, &result) in results.iter().enumerate() {
                    self.set_name(result, Name::ResultOf(number, index));
                }
            }
        }
    }

    /// `"stablehlo.sort"(%0) <{...}> ({...}) : (types) -> types`.
    fn generic(&mut self, op: &'m Op, name: &str, attributes: &Entries) {
        put!(self, "\"{name}\"(");
        self.values(&op.operands);
        self.out.push(')');
        if !attributes.is_empty() {
            self.out.push_str(" <");
            self.dictionary(attributes.iter());
            self.out.push('>');
        }
        self.regions(op);
        self.out.push_str(" : ");
        self.function_type(op);
    }

    /// ` ({...}, {...})`, if the op has regions.
    fn regions(&mut self, op: &'m Op) {
        if op.regions.is_empty() {
            return;
        }
        self.out.push_str(" (");
        for (index, region) in op.regions.iter().enumerate() {
            self.separate(index);
            let terminator = match op.kind {
                OpKind::ManualComputation(_) => "sdy.return",
                _ => "stablehlo.return",
            };
            self.block(region, terminator, true);
        }
        self.out.push(')');
    }

    /// `{name = value}`, sorted by name.
    pub(super) fn dictionary<'v>(&mut self, entries: impl Iterator<Item = &'v (&'v str, Value<'v>)>) {
        self.out.push_str(&op_dictionary(entries));
    }

    /// ` {name = value}` of the attributes that are not among `said`, if there are any.
    pub(super) fn other_attributes(&mut self, attributes: &Entries, said: &[&str]) {
        let mut others = attributes.iter().filter(|(name, _)| !said.contains(name)).peekable();
        if others.peek().is_some() {
            self.out.push(' ');
            self.dictionary(others);
        }
    }

    fn constant(&mut self, op: &Op) -> bool {
        let OpKind::Constant(literal) = &op.kind else { return false };
        put!(self, "stablehlo.constant {}", super::literals::dense(literal));
        true
    }

    /// `func.call @f(%0) {...} : (types) -> types`, where the attribute `callee` has the name.
    fn call(&mut self, op: &Op, name: &str, callee: &str, attributes: &Entries) -> bool {
        let callee_name = match &op.kind {
            OpKind::Call(func) => &self.module.func(*func).name,
            OpKind::CustomCall(call) => &call.target,
            _ => return false,
        };
        put!(self, "{name} {}(", symbol(callee_name));
        self.values(&op.operands);
        self.out.push(')');
        self.other_attributes(attributes, &[callee]);
        self.out.push_str(" : ");
        self.function_type(op);
        true
    }

    /// `stablehlo.composite "name" %0 ({...}) {...} : (types) -> types`.
    fn composite(&mut self, op: &'m Op, attributes: &Entries) -> bool {
        let OpKind::Composite { name, .. } = &op.kind else { return false };
        put!(self, "stablehlo.composite {}", string(name.as_bytes()));
        if !op.operands.is_empty() {
            self.out.push(' ');
        }
        self.values(&op.operands);
        self.regions(op);
        self.other_attributes(attributes, &["name"]);
        self.out.push_str(" : ");
        self.function_type(op);
        true
    }

    /// `stablehlo.while(%arg0 = %0) : types cond {...} do {...}`.
    fn while_loop(&mut self, op: &'m Op) -> bool {
        let [condition, body] = op.regions.as_slice() else { return false };
        let types = self.operand_types(op);
        let same = |values: &[ValueId]| {
            Type::are_identical(values.iter().map(|&value| self.func.ty(value)), types.iter().copied())
        };
        if op.operands.is_empty() || !(same(&condition.params) && same(&body.params) && same(&op.results)) {
            return false;
        }
        self.out.push_str("stablehlo.while(");
        for (index, &operand) in op.operands.iter().enumerate() {
            self.separate(index);
            let shared = Name::Param(self.params);
            let initial = self.name(operand);
            let name = self.name_param(condition.params[index]);
            self.set_name(body.params[index], shared);
            put!(self, "{name} = {initial}");
        }
        self.out.push_str(") : ");
        self.types(&op.operands);
        self.line();
        self.out.push_str("cond ");
        self.block(condition, "stablehlo.return", false);
        self.out.push_str(" do ");
        self.block(body, "stablehlo.return", false);
        true
    }

    /// `stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0] : types`, or with a `reducer`.
    fn reduce(&mut self, op: &'m Op, attributes: &Entries) -> bool {
        let [body] = op.regions.as_slice() else { return false };
        let OpKind::Reduce { dims } = &op.kind else { return false };
        let count = op.operands.len() / 2;
        if count == 0 || !op.operands.len().is_multiple_of(2) || body.params.len() != op.operands.len() {
            return false;
        }
        self.out.push_str("stablehlo.reduce");
        for index in 0..count {
            self.separate(index);
            let (input, initial) = (self.name(op.operands[index]), self.name(op.operands[count + index]));
            put!(self, "({input} init: {initial})");
        }
        let applied = self.applied_op(op, body);
        if let Some(applied) = applied {
            put!(self, " applies {}", applied.name());
        }
        put!(self, " across dimensions = [{}]", super::attributes::join(dims));
        self.other_attributes(attributes, &["dimensions"]);
        self.out.push_str(" : ");
        self.function_type(op);
        if applied.is_some() {
            return true;
        }
        self.line();
        self.out.push_str(" reducer");
        for index in 0..count {
            let (left, right) = (body.params[index], body.params[count + index]);
            let (a, b) = (self.name_param(left), self.name_param(right));
            put!(self, "({a}: {}, {b}: {}) ", self.func.ty(left), self.func.ty(right));
        }
        self.block(body, "stablehlo.return", false);
        true
    }

    /// The op that the body applies to its two parameters, if that is all it does, with the types of the result.
    fn applied_op(&self, op: &Op, body: &Region) -> Option<BinaryOp> {
        let ([inner], [result]) = (body.ops.as_slice(), op.results.as_slice()) else { return None };
        let OpKind::Binary(kind) = inner.kind else { return None };
        let scalar = Type::Tensor(crate::TensorType::scalar(self.func.ty(*result).tensor()?.element));
        let plain = inner.operands == body.params
            && inner.results == body.results
            && [&*inner.operands, &*inner.results].concat().iter().all(|&value| *self.func.ty(value) == scalar);
        let located = self.locations.is_some() && inner.location != op.location;
        (plain && body.params.len() == 2 && !located).then_some(kind)
    }
}
