//! Generation of the instructions of runs.

use oxcall_hlo::ComparisonDirection;
use smallvec::{SmallVec, smallvec};

use super::build::{Builder, Definition, Value};
use super::chain::{Code, Instruction};
use super::memory::Slot;
use super::runs::{Runs, Simple};

impl Code {
    /// The same function with its operands swapped.
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

impl Runs {
    /// The instructions of the run whose last value is `last`.
    pub(super) fn code(&self, builder: &Builder, last: Value, slot: impl Fn(Value) -> Slot) -> Coded {
        let run = self.of[last];
        let members = (0..=last).filter(|&value| self.of[value] == run && !self.lazy[value]);
        let moves = self.moves(builder, members);
        Coder::new(self, builder, &moves, slot).code(&moves)
    }

    /// The computation of each member, given that its predecessor is in the accumulator.
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

    /// The ways to compute a value, one for each operand that may be in the accumulator.
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

/// A way to compute a value.
#[derive(Debug, Clone)]
struct Form {
    /// The value in the accumulator.
    acc: Value,
    code: Code,
    /// The other operands.
    rest: SmallVec<[Value; 3]>,
}

/// A value of a run, with the way to compute it.
struct Move {
    value: Value,
    /// Whether the accumulator has to be loaded.
    load: bool,
    form: Form,
}

/// The part of a slot that a run uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The elements of the tile.
    Tile,
    /// One element, since all are equal.
    Splat,
    /// One element for each row of the tile.
    Row,
    /// The same elements for each row, from this one on.
    SameRow(usize),
    /// All elements, whatever the tile.
    Whole,
}

/// A slot that a run uses.
#[derive(Debug, Clone, Copy)]
pub(super) struct Used {
    pub(super) slot: Slot,
    pub(super) part: Part,
    pub(super) is_written: bool,
}

/// The instructions of a run. Places are first `slots`, then separate blocks.
pub(super) struct Coded {
    pub(super) code: Vec<Instruction>,
    pub(super) slots: Vec<Used>,
    pub(super) blocks: usize,
}

/// Writes instructions.
struct Coder<'a> {
    runs: &'a Runs,
    slots: Vec<Used>,
    /// The place of each stored value, and the last move that reads it.
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
                coder.use_slot(read, &slot, if is_splat { Part::Splat } else { Part::Tile }, false);
            }
            coder.use_slot(each.value, &slot, Part::Tile, true);
        }
        coder
    }

    /// Gives a value that other steps use the place of its slot.
    fn use_slot(&mut self, value: Value, slot: &impl Fn(Value) -> Slot, part: Part, is_written: bool) {
        if self.runs.is_internal(value) {
            return;
        }
        let slot = slot(value);
        let known = self.slots.iter_mut().position(|each| each.slot == slot);
        let place = known.unwrap_or_else(|| {
            self.slots.push(Used { slot, part, is_written });
            self.slots.len() - 1
        });
        self.slots[place].is_written |= is_written;
        self.places[value] = Some(place as u16);
    }

    fn push(&mut self, code: Code, args: &[u16]) {
        let mut all = [0; 3];
        all[..args.len()].copy_from_slice(args);
        // A multiplication followed by an addition is one instruction.
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
