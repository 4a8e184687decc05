//! Runs as generated code.
//!
//! A run is then all that a program computes of full tiles between its loads, folds and stores, for elements that fit
//! the lanes of [`oxcall_jit`]. If the code cannot be generated, the program's steps run one by one.

use std::sync::Arc;

use oxcall_hlo::ElementType;
use oxcall_jit::{Builder as Lanes, Counts, Isa, Kernel, Value as Lane, Width};
use smallvec::SmallVec;

use super::assemble::{Part, Used};
use super::build::{Builder, Definition, SplatOf, Value};
use super::memory::Slot;
use super::program::Linked;
use super::run::Run;
use super::runs::Runs;
use crate::math;
use crate::math::generated::{array_width, constant_of, fits_lane, is_quad, is_wide};
use crate::math::level::{Level, with_level};

/// Whether generated code computes the same bits as functions in Rust: with fused multiply-add, or both without.
pub fn is_supported() -> bool {
    Kernel::is_supported() && with_level!(L => L::FUSED)
}

/// The instructions of generated code, if it [is supported](is_supported) and the system allows it.
pub fn generated_isa() -> Option<Isa> {
    if is_supported() && Kernel::is_allowed() { Isa::detect() } else { None }
}

/// Whether generated code can compute a value, given its arguments.
pub(super) fn fits(builder: &Builder, value: Value) -> bool {
    let (definition, _) = &builder.values[value];
    let function = match definition {
        Definition::Apply { function, .. } => function,
        Definition::Pick { .. } => return !builder.is_per_row(value),
        _ => return false,
    };
    let fits = |value: Value| has_lanes(builder.values[value].1);
    function.record.is_some()
        && !builder.is_per_row(value)
        && fits(value)
        && definition.args().iter().all(|&arg| fits(arg))
}

/// Whether an element fits one lane, a pair, or two pairs.
fn has_lanes(element: ElementType) -> bool {
    // Stored forms of narrow floats are integers of their width, booleans and narrow integers are stored as bytes.
    fits_lane(math::wide(element)) || math::packed(element).is_some() || is_wide(element) || is_quad(element)
}

/// The run whose last value is `last` as generated code, with the slots that are its arrays: `slot` gives those of
/// values, `operand` those of operands.
pub(super) fn compile(
    runs: &Runs,
    builder: &Builder,
    last: Value,
    slot: impl Fn(Value) -> Slot,
    operand: impl Fn(usize) -> Slot,
) -> Option<Linked> {
    let run = runs.of[last];
    let members = || (0..=last).filter(|&value| runs.of[value] == run);
    let lanes = if builder.listed { Lanes::listed() } else { Lanes::new() };
    let mut slots: Vec<Used> = Vec::new();
    let mut add = |used: Used| {
        // An operand may be read both as a whole and tile by tile.
        let is_same = |each: &Used| (each.slot, each.part) == (used.slot, used.part);
        let index = slots.iter().position(is_same).unwrap_or_else(|| {
            slots.push(used);
            slots.len() - 1
        });
        slots[index].is_written |= used.is_written;
        index as u16
    };
    let used = |value: Value, is_written: bool| {
        let part = match &builder.values[value].0 {
            Definition::Splat(_) => Part::Splat,
            Definition::Gather(parts) if builder.is_constant_in_runs(value, parts) => Part::Splat,
            _ => Part::Tile,
        };
        Used { slot: slot(value), part, is_written }
    };
    let element = |value: Value| builder.values[value].1;
    let splat = |value: Value, array: u16| {
        let width = array_width(element(value));
        // A register is full of narrow elements, and each word has some.
        lanes.splat(array, if width.bytes() < Width::Word.bytes() { Width::Word } else { width })
    };
    let mut values: Vec<Option<Lane>> = vec![None; last + 1];
    for value in members() {
        let definition = &builder.values[value].0;
        let mut operands: SmallVec<[Lane; 3]> = SmallVec::new();
        for &arg in definition.args() {
            let mut array = |value: Value, is_written: bool| add(used(value, is_written));
            let lane = match (values[arg], &builder.values[arg].0) {
                (Some(known), _) => known,
                (None, Definition::Splat(SplatOf::Constant(scalar))) => {
                    constant_of(&lanes, element(arg), scalar.to_pod())
                }
                (None, Definition::Splat(SplatOf::Input(_))) => splat(arg, array(arg, false)),
                (None, Definition::Gather(parts)) if builder.is_constant_in_runs(arg, parts) => {
                    splat(arg, array(arg, false))
                }
                (None, &Definition::Spread { arg: [row] }) if runs.lazy[arg] => {
                    splat(row, add(Used { slot: slot(row), part: Part::Row, is_written: false }))
                }
                (None, Definition::Gather(parts)) if runs.lazy[arg] => {
                    let (input, first) = builder.same_row(parts)?;
                    let used = Used { slot: operand(input), part: Part::SameRow(first), is_written: false };
                    lanes.load(add(used), array_width(element(arg)))
                }
                (None, _) => lanes.load(array(arg, false), array_width(element(arg))),
            };
            values[arg] = Some(lane);
            operands.push(lane);
        }
        let first = *operands.first()?;
        operands.resize(3, first);
        let lane = match *definition {
            Definition::Apply { function, .. } => {
                let record = function.record?;
                lanes.enter(|| function.name.to_owned());
                record(&lanes, [operands[0], operands[1], operands[2]])
            }
            Definition::Pick { input, .. } => {
                let slot = operand(input);
                let array = add(Used { slot, part: Part::Whole, is_written: false });
                lanes.enter(|| "gather".to_owned());
                lanes.pick(array, first, builder.last_of(input)?)
            }
            _ => return None,
        };
        values[value] = Some(lane);
        if !runs.is_internal(value) {
            lanes.store(add(used(value, true)), array_width(element(value)), lane);
        }
    }
    let has_rows = slots.iter().any(|used| matches!(used.part, Part::Row | Part::SameRow(_)));
    let counts = if builder.reads_runs || has_rows { Counts::Any } else { Counts::Blocks };
    let program = lanes.build();
    let kernel = Kernel::compile(&program, counts)?;
    let reads_first = program.loads_before_it_stores();
    Some(Linked { run: Run::Generated(Arc::new(kernel)), reads_first, slots, blocks: 0 })
}
