//! Which values of a program are computed together, as a [`Chain`](super::chain::Chain), and its instructions.
//!
//! A run is what simple functions compute one after another. Comparisons that are only selected by, and both shifts of
//! a rotation, are no instructions of their own but parts of those that use them.

use oxcall_hlo::{BinaryOp, ComparisonDirection, ComparisonType, ElementType, OpKind, UnaryOp};
use smallvec::{SmallVec, smallvec};

use super::build::{Builder, Definition, Value};
use super::chain::{Code, Instruction};
use super::memory::Slot;

/// A function that a chain can compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Simple {
    /// Of one operand, or two, the first of which is the accumulator.
    Code(Code),
    /// Of floats.
    Compare(ComparisonDirection),
    /// By a comparison.
    Select,
}

impl Simple {
    /// The simple function that an op is of elements of these types.
    pub(super) fn of(kind: &OpKind, operands: &[ElementType], result: ElementType) -> Option<Simple> {
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

impl Code {
    /// The same function with its operands exchanged.
    fn exchanged(self) -> Option<Code> {
        Some(match self {
            Code::Add | Code::Multiply | Code::Maximum | Code::Minimum => self,
            Code::AddBits | Code::And | Code::Or | Code::Xor => self,
            Code::Subtract => Code::SubtractFrom,
            Code::Divide => Code::DivideInto,
            Code::SubtractBits => Code::SubtractBitsFrom,
            _ => return None,
        })
    }

    fn is_unary(self) -> bool {
        matches!(self, Code::Negate | Code::Abs)
    }
}

/// The values that an instruction reads.
type Args = SmallVec<[Value; 4]>;

/// The runs of a program.
pub(super) struct Runs {
    /// The run of each value.
    of: Vec<Option<usize>>,
    /// Whether a value is computed as a part of others.
    lazy: Vec<bool>,
    /// What each value is computed from, where lazy values are replaced by what they are computed from.
    args: Vec<Args>,
    /// Whether nobody outside of its run uses the value.
    internal: Vec<bool>,
}

/// What is known of each value.
struct Facts<'a> {
    builder: &'a Builder,
    users: Vec<SmallVec<[Value; 2]>>,
    is_output: Vec<bool>,
}

impl<'a> Facts<'a> {
    fn new(builder: &'a Builder) -> Facts<'a> {
        let mut users = vec![SmallVec::new(); builder.values.len()];
        for (index, (definition, _)) in builder.values.iter().enumerate() {
            definition.args().iter().for_each(|&arg| users[arg].push(index));
        }
        let mut is_output = vec![false; builder.values.len()];
        builder.outputs.iter().for_each(|&(value, _)| is_output[value] = true);
        Facts { builder, users, is_output }
    }

    fn simple(&self, value: Value) -> Option<Simple> {
        match self.builder.values[value].0 {
            Definition::Apply { simple, .. } => simple,
            _ => None,
        }
    }

    fn args(&self, value: Value) -> &'a [Value] {
        self.builder.values[value].0.args()
    }

    fn is_dead(&self, value: Value) -> bool {
        self.users[value].is_empty() && !self.is_output[value]
    }

    /// Whether a comparison is used for nothing but selection.
    fn only_selects(&self, value: Value) -> bool {
        let is_choice = |&user: &Value| self.simple(user) == Some(Simple::Select) && self.args(user)[0] == value;
        !self.is_output[value] && self.users[value].iter().all(is_choice)
    }
}

impl Runs {
    /// Finds them.
    pub(super) fn new(builder: &Builder) -> Runs {
        let facts = Facts::new(builder);
        let count = builder.values.len();
        let mut fits: Vec<bool> = (0..count)
            .map(|value| match facts.simple(value) {
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
            let of = number(&facts, &fits);
            // A comparison and the selections by it that are apart are no parts of runs.
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
        let is_internal = |value: Value| {
            let here = |&user: &Value| of[user] == of[value];
            of[value].is_some() && !facts.is_output[value] && facts.users[value].iter().all(here)
        };
        let internal: Vec<bool> = (0..count).map(is_internal).collect();
        let mut runs =
            Runs { lazy: vec![false; count], args: vec![Args::new(); count], internal, of };
        for value in 0..count {
            runs.args[value] = facts.args(value).into();
            if runs.of[value].is_some() {
                runs.absorb(&facts, value);
            }
        }
        runs
    }

    /// Makes operands that need no instruction a part of `value`.
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

    /// Whether the value is an instruction of a chain, or a part of one.
    pub(super) fn run(&self, value: Value) -> Option<usize> {
        self.of[value]
    }

    /// Whether the value has no place outside of a chain.
    pub(super) fn is_internal(&self, value: Value) -> bool {
        self.internal[value]
    }

    /// The values that are read where `value` is computed: none if that is elsewhere.
    pub(super) fn reads(&self, value: Value) -> &[Value] {
        if self.lazy[value] { &[] } else { &self.args[value] }
    }

    /// The instructions of the run in which `last` is the last value.
    pub(super) fn code(&self, builder: &Builder, last: Value, slot: impl Fn(Value) -> Slot) -> Coded {
        let run = self.of[last];
        let members = (0..=last).filter(|&value| self.of[value] == run && !self.lazy[value]);
        let moves = self.moves(builder, members);
        Coder::new(self, builder, &moves, slot).code(&moves)
    }

    /// How each member is computed, given that its predecessor is in the accumulator.
    fn moves(&self, builder: &Builder, members: impl Iterator<Item = Value>) -> Vec<Move> {
        let mut moves: Vec<Move> = Vec::new();
        for value in members {
            let forms = self.forms(builder, value);
            let known = moves.last().map(|last| last.value);
            let usable = forms.iter().find(|form| Some(form.acc) == known);
            let (form, load) = match usable {
                Some(form) => (form, false),
                None => (&forms[0], true),
            };
            moves.push(Move { value, load, form: form.clone() });
        }
        moves
    }

    /// The ways to compute a value, by which of its operands is in the accumulator.
    fn forms(&self, builder: &Builder, value: Value) -> SmallVec<[Form; 2]> {
        let args = &self.args[value];
        let form = |acc: usize, code, rest: &[Value]| Form { acc: args[acc], code, rest: rest.into() };
        let Definition::Apply { simple: Some(simple), .. } = &builder.values[value].0 else {
            unreachable!("members of runs are simple");
        };
        match (simple, &args[..]) {
            (Simple::Code(code), [_]) if code.is_unary() => smallvec![form(0, *code, &[])],
            (Simple::Code(Code::Or), &[_, up, down]) => smallvec![form(0, Code::Funnel, &[up, down])],
            (Simple::Code(code), &[x, y]) => {
                let mut forms = smallvec![form(0, *code, &[y])];
                forms.extend(code.exchanged().map(|code| form(1, code, &[x])));
                forms
            }
            (Simple::Select, &[a, b, on_true, on_false]) => {
                use ComparisonDirection::{Eq, Ge, Gt, Le, Lt, Ne};
                let choice = builder.values[value].0.args()[0];
                let Definition::Apply { simple: Some(Simple::Compare(direction)), .. } = builder.values[choice].0
                else {
                    unreachable!("selections in runs are by comparisons");
                };
                let (a, b) = if matches!(direction, Gt | Ge) { (b, a) } else { (a, b) };
                let (on, unless) = match direction {
                    Lt | Gt => (Code::IfLess, Code::UnlessLess),
                    Le | Ge => (Code::IfLessOrEqual, Code::UnlessLessOrEqual),
                    Eq => (Code::IfEqual, Code::UnlessEqual),
                    Ne => (Code::UnlessEqual, Code::IfEqual),
                };
                smallvec![form(2, on, &[a, b, on_false]), form(3, unless, &[a, b, on_true])]
            }
            _ => unreachable!("simple functions have one to three operands"),
        }
    }
}

/// Numbers runs: of what fits, with nothing else to compute between.
fn number(facts: &Facts<'_>, fits: &[bool]) -> Vec<Option<usize>> {
    let mut of = vec![None; fits.len()];
    let (mut run, mut members) = (0, Vec::new());
    let mut close = |members: &mut Vec<Value>| {
        // One function alone is done as well by its own loop.
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

/// A way to compute a value.
#[derive(Debug, Clone)]
struct Form {
    /// What is in the accumulator.
    acc: Value,
    code: Code,
    /// The other operands.
    rest: SmallVec<[Value; 3]>,
}

/// A value of a run, and how it is computed.
struct Move {
    value: Value,
    /// Whether the accumulator has to be loaded.
    load: bool,
    form: Form,
}

/// A slot that a chain uses.
#[derive(Debug, Clone, Copy)]
pub(super) struct Used {
    pub(super) slot: Slot,
    /// Whether all its elements are one.
    pub(super) is_splat: bool,
    pub(super) is_written: bool,
}

/// The instructions of a run. Places are `slots`, and then blocks of its own.
pub(super) struct Coded {
    pub(super) code: Vec<Instruction>,
    pub(super) slots: Vec<Used>,
    pub(super) blocks: usize,
}

/// Writes instructions.
struct Coder<'a> {
    runs: &'a Runs,
    slots: Vec<Used>,
    /// The place of each value that is kept, and the last move that reads it.
    places: Vec<Option<u16>>,
    last_read: Vec<usize>,
    free: Vec<u16>,
    blocks: usize,
    code: Vec<Instruction>,
}

impl<'a> Coder<'a> {
    fn new(runs: &'a Runs, builder: &Builder, moves: &[Move], slot: impl Fn(Value) -> Slot) -> Coder<'a> {
        let count = builder.values.len();
        let mut coder = Coder {
            runs,
            slots: Vec::new(),
            places: vec![None; count],
            last_read: vec![0; count],
            free: Vec::new(),
            blocks: 0,
            code: Vec::new(),
        };
        for (at, each) in moves.iter().enumerate() {
            for &read in each.form.rest.iter().chain(each.load.then_some(&each.form.acc)) {
                coder.last_read[read] = at;
                let is_splat = matches!(builder.values[read].0, Definition::Splat(_));
                coder.use_slot(read, &slot, Used { slot: 0, is_splat, is_written: false });
            }
            coder.use_slot(each.value, &slot, Used { slot: 0, is_splat: false, is_written: true });
        }
        coder
    }

    /// Gives a value that others see the place of its slot.
    fn use_slot(&mut self, value: Value, slot: &impl Fn(Value) -> Slot, used: Used) {
        if self.runs.is_internal(value) {
            return;
        }
        let used = Used { slot: slot(value), ..used };
        let known = self.slots.iter_mut().position(|each| each.slot == used.slot);
        let place = known.unwrap_or_else(|| {
            self.slots.push(used);
            self.slots.len() - 1
        });
        self.slots[place].is_written |= used.is_written;
        self.places[value] = Some(place as u16);
    }

    fn push(&mut self, code: Code, args: &[u16]) {
        let mut all = [0; 3];
        all[..args.len()].copy_from_slice(args);
        // What is multiplied and then added to is one instruction.
        if let (Code::Add, Some(last)) = (code, self.code.last_mut())
            && last.code == Code::Multiply
        {
            *last = Instruction { code: Code::MultiplyAdd, args: [last.args[0], all[0], 0] };
            return;
        }
        self.code.push(Instruction { code, args: all });
    }

    fn place(&self, value: Value) -> u16 {
        self.places[value].expect("what is read was stored")
    }

    fn code(mut self, moves: &[Move]) -> Coded {
        for (at, each) in moves.iter().enumerate() {
            let Form { acc, code, rest } = &each.form;
            if each.load {
                self.push(Code::Load, &[self.place(*acc)]);
            }
            let args: SmallVec<[u16; 3]> = rest.iter().map(|&value| self.place(value)).collect();
            self.push(*code, &args);
            for &read in rest.iter().chain(each.load.then_some(acc)) {
                if self.runs.is_internal(read) && self.last_read[read] == at {
                    self.free.extend(self.places[read].take());
                }
            }
            let is_read = self.last_read[each.value] > at;
            if self.runs.is_internal(each.value) && is_read {
                let place = self.free.pop().unwrap_or_else(|| {
                    self.blocks += 1;
                    (self.slots.len() + self.blocks - 1) as u16
                });
                self.places[each.value] = Some(place);
            }
            if let Some(place) = self.places[each.value] {
                self.push(Code::Store, &[place]);
            }
        }
        Coded { code: self.code, slots: self.slots, blocks: self.blocks }
    }
}
