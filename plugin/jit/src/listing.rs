//! Listings: machine code with a label for each operation, for tools that show assembly.
//!
//! Programs whose builder [is listed](crate::Builder::listed) have labels; others have none, and cost nothing.

use crate::ir::{Op, Program, Shift, Store, Value};
use crate::region::Place;
use crate::wide::Wide;

/// A label: what the instructions from here on do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The distance from the start of the code, in bytes.
    pub offset: usize,
    /// The text.
    pub name: String,
}

/// Code as it is mapped. Its constants follow the instructions.
#[derive(Debug, Clone, Copy)]
pub struct Listing<'a> {
    /// The address of the first byte.
    pub address: usize,
    /// The instructions and constants.
    pub bytes: &'a [u8],
    /// The labels by ascending offset; none unless the program is listed.
    pub marks: &'a [Mark],
}

/// The sources of a program's operations, such as functions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sources {
    names: Vec<String>,
    /// The number of names before each operation.
    of: Vec<u32>,
}

impl Sources {
    /// Names the source of the operations that follow.
    pub(crate) fn enter(&mut self, name: String) {
        self.names.push(name);
    }

    /// Adds an operation.
    pub(crate) fn add(&mut self) {
        self.of.push(self.names.len() as u32);
    }

    /// Leaves out the operations that are not used.
    pub(crate) fn retain(&mut self, is_used: &[bool]) {
        let mut used = is_used.iter();
        self.of.retain(|_| used.next().is_none_or(|&used| used));
    }

    /// The sources of the operations in another order.
    pub(crate) fn in_order(&self, order: &[usize]) -> Sources {
        Sources { names: self.names.clone(), of: order.iter().map(|&op| self.of[op]).collect() }
    }

    /// The source of an operation.
    pub(crate) fn name(&self, index: usize) -> Option<&str> {
        let last = self.of[index].checked_sub(1)?;
        Some(&self.names[last as usize])
    }
}

/// The label of an operation: `tanh: %5 = multiply %3, %4`.
pub(crate) fn label(program: &Program, value: Value) -> String {
    let index = value.index();
    let op = &program.ops[index];
    let text = text(program, op);
    let text = if op.is_effect() { text } else { format!("%{index} = {text}") };
    match program.sources.as_ref().and_then(|sources| sources.name(index)) {
        Some(source) => format!("{source}: {text}"),
        None => text,
    }
}

/// The label of a store.
pub(crate) fn label_of_store(store: &Store) -> String {
    format!("array {} = {}", store.array, list(&[store.value]))
}

fn text(program: &Program, op: &Op) -> String {
    let args = list(op.args());
    match op {
        Op::Load { array, .. } => format!("load array {array}"),
        Op::Splat { array, .. } => format!("splat array {array}"),
        Op::LoadPart { array, part } => format!("load {} part of array {array}", words(part)),
        Op::SplatPart { array, part } => format!("splat {} part of array {array}", words(part)),
        Op::Join(_) => format!("join {args}"),
        Op::Pick(array, _) => format!("pick of array {array} at {args}"),
        Op::Constant(bits) => format!("constant 0x{bits:x}"),
        Op::Pair(bits) => format!("pair 0x{bits:x}"),
        Op::Unary(kind, _) => format!("{} {args}", words(kind)),
        Op::Shift(Shift::Rotate, _, amount) => format!("rotate left {args}, {amount}"),
        Op::Shift(kind, _, amount) => format!("shift {} {args}, {amount}", words(kind)),
        Op::Binary(kind, _) => format!("{} {args}", words(kind)),
        Op::Fused(_) => format!("multiply add {args}"),
        Op::Compare(kind, _) => format!("compare {} {args}", words(kind)),
        Op::Select(_) => format!("select {args}"),
        Op::PackedShift(kind, _, amount) => format!("shift {} {args}, {amount} of halves", words(kind)),
        Op::PackedBinary(packing, kind, _) => format!("{} {args} of {}", words(kind), words(packing)),
        Op::PackedCompare(packing, kind, _) => format!("compare {} {args} of {}", words(kind), words(packing)),
        Op::Wide(wide, _) => format!("{} {args}", of_pairs(wide)),
        Op::Broadcast(_) => format!("broadcast {args}"),
        Op::Extract(_, lane) => format!("extract {args}, lane {lane}"),
        Op::Insert(_, lane) => format!("insert {args}, lane {lane}"),
        Op::Read(place, _) => format!("read {}", of_place(*place)),
        Op::ReadAt(place, ..) => format!("read {} + {args}", of_place(*place)),
        Op::PickAt(slot, ..) => format!("pick of slot {slot} at {args}"),
        Op::Write(place, [value]) => format!("{} = {}", of_place(*place), list(&[*value])),
        Op::WriteAt(place, [value, index]) => {
            format!("{} + {} = {}", of_place(*place), list(&[*index]), list(&[*value]))
        }
        Op::Rotate(slots) => format!("rotate slots {:?}", program.rotations[*slots as usize]),
        Op::Decide(_) => format!("decide by {args}"),
        Op::Call(..) => format!("call {args}"),
        Op::Guarded(..) => format!("call where needed {args}"),
        Op::Invoke(_) => "call a kernel".to_owned(),
    }
}

fn of_pairs(wide: &Wide) -> String {
    let name = match wide {
        Wide::Shift(Shift::Rotate, amount) => format!("rotate left by {amount}"),
        Wide::Shift(kind, amount) => format!("shift {} by {amount}", words(kind)),
        Wide::Binary(kind) => words(kind),
        Wide::Compare(kind) => format!("compare {}", words(kind)),
        Wide::Convert(kind) => format!("convert {}", words(kind)),
        Wide::Words(kind) => format!("{} of lanes", words(kind)),
        Wide::FusedWords => "multiply add of lanes".to_owned(),
        Wide::Shuffle(kind) => format!("shuffle {}", words(kind)),
        Wide::Fused => "multiply add".to_owned(),
        Wide::Sqrt | Wide::Round(_) | Wide::Select | Wide::Broadcast => words(wide),
    };
    format!("{name} of pairs")
}

fn of_place(place: Place) -> String {
    format!("slot {} [{}]", place.slot, place.offset)
}

/// The name of a variant in lower case: `shift left`.
fn words(variant: &impl std::fmt::Debug) -> String {
    let mut words = String::new();
    for c in format!("{variant:?}").chars() {
        if c.is_uppercase() && words.ends_with(char::is_alphanumeric) {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}

fn list(values: &[Value]) -> String {
    let values: Vec<String> = values.iter().map(|value| format!("%{}", value.index())).collect();
    values.join(", ")
}
