//! Runs: the values of a program that one [`Chain`](super::chain::Chain) computes, or that are generated code together.
//!
//! A run is a sequence of simple functions. Comparisons that are only used for selection, and both shifts of a
//! rotation, are not separate instructions but parts of their users.

use oxcall_hlo::{BinaryOp, ComparisonDirection, ComparisonType, ElementType, OpKind, UnaryOp};
use smallvec::{SmallVec, smallvec};

use super::build::{Builder, Definition, Value};
use super::chain::{BLOCK_BYTES, Code};
use super::generated;

/// The estimated operations from which on a single function is generated code.
const LONG: f32 = 10.0;

/// A function that a chain can compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Simple {
    /// A function of one or two operands, the first of which is the accumulator.
    Code(Code),
    /// A comparison of floats.
    Compare(ComparisonDirection),
    /// A selection by a comparison.
    Select,
}

impl Simple {
    /// The simple function for an op on elements of these types, if there is one.
    pub(super) fn new(kind: &OpKind, operands: &[ElementType], result: ElementType) -> Option<Simple> {
        use ElementType::{F32, S32, U32};
        let is_float = operands[0] == F32;
        let is_bits = matches!(operands[0], S32 | U32);
        Some(Simple::Code(match kind {
            OpKind::Unary(op) if is_float => match op {
                UnaryOp::Abs => Code::Abs,
                UnaryOp::Negate => Code::Negate,
                _ => return None,
            },
            OpKind::Binary(op) if is_float => match op {
                BinaryOp::Add => Code::Add,
                BinaryOp::Subtract => Code::Subtract,
                BinaryOp::Multiply => Code::Multiply,
                BinaryOp::Divide => Code::Divide,
                BinaryOp::Maximum => Code::Maximum,
                BinaryOp::Minimum => Code::Minimum,
                _ => return None,
            },
            OpKind::Binary(op) if is_bits => match op {
                BinaryOp::Add => Code::AddBits,
                BinaryOp::Subtract => Code::SubtractBits,
                BinaryOp::And => Code::And,
                BinaryOp::Or => Code::Or,
                BinaryOp::Xor => Code::Xor,
                BinaryOp::ShiftLeft => Code::ShiftLeft,
                BinaryOp::ShiftRightLogical => Code::ShiftRight,
                _ => return None,
            },
            OpKind::Compare(direction, order) if is_float && *order != ComparisonType::TotalOrder => {
                return Some(Simple::Compare(*direction));
            }
            OpKind::Select if matches!(result, F32 | S32 | U32) => return Some(Simple::Select),
            _ => return None,
        }))
    }
}

/// The values that an instruction reads.
pub(super) type Args = SmallVec<[Value; 4]>;

/// The runs of a program.
pub(super) struct Runs {
    /// The run of each value.
    pub(super) of: Vec<Option<usize>>,
    /// Whether each value is computed as a part of others.
    pub(super) lazy: Vec<bool>,
    /// The arguments of each value; lazy ones are replaced by their own arguments.
    pub(super) args: Vec<Args>,
    /// Whether each value is used only inside its run.
    internal: Vec<bool>,
    /// The last value of each run.
    ends: Vec<Value>,
}

/// The known facts about each value.
struct Facts<'a> {
    builder: &'a Builder,
    /// The users of each value whose own values are used.
    users: Vec<SmallVec<[Value; 2]>>,
    is_output: Vec<bool>,
    is_used: Vec<bool>,
}

impl<'a> Facts<'a> {
    fn new(builder: &'a Builder) -> Facts<'a> {
        let is_used = builder.used();
        let mut users = vec![SmallVec::new(); builder.values.len()];
        for (index, (definition, _)) in builder.values.iter().enumerate().filter(|(index, _)| is_used[*index]) {
            definition.args().iter().for_each(|&arg| users[arg].push(index));
        }
        let mut is_output = vec![false; builder.values.len()];
        builder.outputs.iter().for_each(|&(value, _)| is_output[value] = true);
        Facts { builder, users, is_output, is_used }
    }

    fn simple(&self, value: Value) -> Option<Simple> {
        match self.builder.values[value].0 {
            Definition::Apply { simple, .. } => simple,
            _ => None,
        }
    }

    /// Whether a function of many operations gives a value. Generated code computes several vectors while a loop over
    /// one of them waits.
    fn is_long(&self, value: Value) -> bool {
        matches!(self.builder.values[value].0, Definition::Apply { function, .. } if function.flops >= LONG)
    }

    /// Whether a value is elements of an operand by index.
    fn picks(&self, value: Value) -> bool {
        matches!(self.builder.values[value].0, Definition::Pick { .. })
    }

    /// Whether generated code reads what a value repeats where it is, row by row.
    fn is_of_rows(&self, value: Value) -> bool {
        self.builder.repeats_in_rows(value) && self.builder.generates_rows()
    }

    /// Whether a function takes such a value.
    fn repeats(&self, value: Value) -> bool {
        self.args(value).iter().any(|&arg| self.is_of_rows(arg))
    }

    fn args(&self, value: Value) -> &'a [Value] {
        self.builder.values[value].0.args()
    }

    /// Whether there are enough elements for runs: less than a block is not worth the setup.
    fn is_large(&self) -> bool {
        self.builder.count >= BLOCK_BYTES / size_of::<f32>()
    }

    fn is_dead(&self, value: Value) -> bool {
        !self.is_used[value]
    }

    /// Whether a comparison is only used for selection.
    fn only_selects(&self, value: Value) -> bool {
        let is_choice = |&user: &Value| self.simple(user) == Some(Simple::Select) && self.args(user)[0] == value;
        !self.is_output[value] && self.users[value].iter().all(is_choice)
    }
}

impl Runs {
    /// Finds the runs of a program.
    pub(super) fn new(builder: &Builder) -> Runs {
        let facts = Facts::new(builder);
        if builder.generate { Runs::generated(&facts) } else { Runs::of_chains(&facts) }
    }

    /// The runs of values that generated code can compute.
    fn generated(facts: &Facts<'_>) -> Runs {
        let builder = facts.builder;
        let count = builder.values.len();
        let mut of = vec![None; count];
        let (mut run, mut members): (usize, Vec<Value>) = (0, Vec::new());
        let mut close = |members: &mut Vec<Value>| {
            let is_alone = |value: &Value| !facts.picks(*value) && !facts.is_long(*value) && !facts.repeats(*value);
            // The loop of a single short function is as fast, if nothing is copied for it.
            if members.len() > 1 || builder.reads_runs || !members.iter().all(is_alone) {
                members.iter().for_each(|&value| of[value] = Some(run));
                run += 1;
            }
            members.clear();
        };
        for value in (0..count).filter(|&value| facts.is_large() && !facts.is_dead(value)) {
            if generated::fits(builder, value) {
                members.push(value);
            } else if facts.args(value).iter().any(|arg| members.contains(arg)) {
                // Computed after the run, and before others that may need it.
                close(&mut members);
            }
        }
        close(&mut members);
        let in_runs = |value: Value| facts.users[value].iter().all(|&user| of[user].is_some());
        let lazy: Vec<bool> =
            (0..count).map(|value| facts.is_of_rows(value) && !facts.is_output[value] && in_runs(value)).collect();
        let read = |&arg: &Value| if lazy[arg] { facts.args(arg).first().copied() } else { Some(arg) };
        let args = (0..count).map(|value| facts.args(value).iter().filter_map(read).collect()).collect();
        Runs { lazy, args, internal: internal(facts, &of), ends: ends(&of), of }
    }

    /// The runs of values that chains can compute.
    fn of_chains(facts: &Facts<'_>) -> Runs {
        let builder = facts.builder;
        let count = builder.values.len();
        let mut fits: Vec<bool> = (0..count)
            .map(|value| match facts.simple(value) {
                _ if !facts.is_large() => false,
                Some(Simple::Code(_)) => true,
                Some(Simple::Compare(_)) => facts.only_selects(value),
                Some(Simple::Select) => {
                    let choice = facts.args(value)[0];
                    matches!(facts.simple(choice), Some(Simple::Compare(_))) && facts.only_selects(choice)
                }
                None => false,
            })
            .collect();
        let of = loop {
            let of = number(facts, &fits);
            // A comparison and its selections cannot be parts of different runs.
            let mut apart = Vec::new();
            for value in (0..count).filter(|&value| fits[value]) {
                let together = facts.users[value].iter().all(|&user| of[user] == of[value]);
                if matches!(facts.simple(value), Some(Simple::Compare(_))) && !together {
                    apart.push(value);
                }
            }
            if apart.is_empty() {
                break of;
            }
            for value in apart {
                fits[value] = false;
                facts.users[value].iter().for_each(|&user| fits[user] = false);
            }
        };
        let internal = internal(facts, &of);
        let mut runs = Runs { lazy: vec![false; count], args: vec![Args::new(); count], internal, ends: ends(&of), of };
        for value in 0..count {
            runs.args[value] = facts.args(value).into();
            if runs.of[value].is_some() {
                runs.absorb(facts, value);
            }
        }
        runs
    }

    /// Makes operands that need no separate instruction part of `value`.
    fn absorb(&mut self, facts: &Facts<'_>, value: Value) {
        match facts.simple(value) {
            Some(Simple::Compare(_)) => self.lazy[value] = true,
            Some(Simple::Select) => {
                let &[choice, on_true, on_false] = facts.args(value) else { return };
                let &[a, b] = facts.args(choice) else { return };
                self.args[value] = smallvec![a, b, on_true, on_false];
            }
            Some(Simple::Code(Code::Or)) => {
                let &[left, right] = facts.args(value) else { return };
                let shifts = |value: Value, code: Code| {
                    let mine = self.internal[value] && facts.users[value].len() == 1;
                    mine && facts.simple(value) == Some(Simple::Code(code))
                };
                let pair = match () {
                    () if shifts(left, Code::ShiftLeft) && shifts(right, Code::ShiftRight) => (left, right),
                    () if shifts(right, Code::ShiftLeft) && shifts(left, Code::ShiftRight) => (right, left),
                    () => return,
                };
                let (&[x, up], &[y, down]) = (facts.args(pair.0), facts.args(pair.1)) else { return };
                if x == y {
                    (self.lazy[left], self.lazy[right]) = (true, true);
                    self.args[value] = smallvec![x, up, down];
                }
            }
            _ => {}
        }
    }

    /// The last value of the run that the value belongs to.
    pub(super) fn end(&self, value: Value) -> Option<Value> {
        self.of[value].map(|run| self.ends[run])
    }

    /// Whether the value has no place outside its run.
    pub(super) fn is_internal(&self, value: Value) -> bool {
        self.internal[value]
    }

    /// The values that the computation of `value` reads: none if another value computes it.
    pub(super) fn reads(&self, value: Value) -> &[Value] {
        if self.lazy[value] { &[] } else { &self.args[value] }
    }
}

/// Whether each value is used only inside its run.
fn internal(facts: &Facts<'_>, of: &[Option<usize>]) -> Vec<bool> {
    let is_internal = |value: Value| {
        let here = |&user: &Value| of[user] == of[value];
        of[value].is_some() && !facts.is_output[value] && facts.users[value].iter().all(here)
    };
    (0..of.len()).map(is_internal).collect()
}

/// The last value of each run.
fn ends(of: &[Option<usize>]) -> Vec<Value> {
    let mut ends = vec![0; of.iter().flatten().max().map_or(0, |last| last + 1)];
    for (value, run) in of.iter().enumerate() {
        if let &Some(run) = run {
            ends[run] = value;
        }
    }
    ends
}

/// Numbers the runs: sequences of values that fit, with no other computation in between.
fn number(facts: &Facts<'_>, fits: &[bool]) -> Vec<Option<usize>> {
    let mut of = vec![None; fits.len()];
    let (mut run, mut members) = (0, Vec::new());
    let mut close = |members: &mut Vec<Value>| {
        // A single function is as fast in its own loop.
        if members.len() > 1 {
            members.iter().for_each(|&value| of[value] = Some(run));
            run += 1;
        }
        members.clear();
    };
    for value in (0..fits.len()).filter(|&value| !facts.is_dead(value)) {
        match facts.builder.values[value].0 {
            _ if fits[value] => members.push(value),
            Definition::Input(_) | Definition::Splat(_) => {}
            _ => close(&mut members),
        }
    }
    close(&mut members);
    of
}
