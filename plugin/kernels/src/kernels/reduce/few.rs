//! Reductions of a few elements inside the machine code of loops, with the bits of the kernels.

use oxcall_hlo::{BinaryOp, ElementType};
use oxcall_jit::Value;
use smallvec::SmallVec;

use super::columns::ROWS;
use super::layout::Layout;
use crate::kernels::nest::Walk;
use crate::machine::{Block, Slot};
use crate::math;
use crate::math::generated::{self, Record, constant_of, is_wide};

/// The most elements of a row.
const LONGEST: usize = 16;

/// The most elements of all rows: each is read on its own.
const MOST: usize = 128;

/// The most vectors that are read.
const MOST_VECTORS: usize = 64;

/// Whether the rows are so few, and so short, that machine code of loops reduces them element by element.
pub fn are_few(rows: usize, row: usize) -> bool {
    (1..=LONGEST).contains(&row) && (1..=MOST / row).contains(&rows)
}

/// A reduction by a recognised function.
#[derive(Clone, Copy)]
pub(super) struct Fold<'a> {
    pub(super) function: BinaryOp,
    pub(super) element: ElementType,
    pub(super) layout: &'a Layout,
}

/// Reduces neighbours to a few results, or a few rows to one. `None`, and no write, for other reductions.
pub(super) fn generate(fold: Fold<'_>, block: &mut Block<'_>, [operand, init]: [Slot; 2], out: Slot) -> Option<()> {
    let function = Function::of(fold, block, init)?;
    if fold.layout.is_of_rows() {
        rows(fold, &function, block, operand, out)
    } else {
        columns(fold, &function, block, operand, out)
    }
}

/// The function and its initial value in a block.
struct Function {
    combine: Record,
    init: Value,
    /// The identity, unless combining with the initial value does the same: it makes a negative zero positive.
    identity: Option<Value>,
    /// The number of lanes that an element takes.
    lanes: u8,
}

impl Function {
    fn of(fold: Fold<'_>, block: &mut Block<'_>, init: Slot) -> Option<Function> {
        let (ty, wide) = (fold.element, math::wide(fold.element));
        let is_bitwise = matches!(fold.function, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor);
        // Sums of booleans, and of integers narrower than their bytes, are cut to what the type holds.
        let is_integer = ty.is_integer() && ty.bits() == 8 * ty.byte_width();
        let is_stored = is_bitwise || is_integer || matches!(ty, ElementType::F32 | ElementType::F64);
        let combine = is_stored.then(|| generated::binary(fold.function, wide))??;
        let lanes = generated::lanes_of(ty)?;
        let init = block.read(init, 0, lanes, generated::width(ty))?;
        let zero = constant_of(&block.lanes, ty, 0);
        let is_sum = ty.is_float() && fold.function == BinaryOp::Add;
        Some(Function { combine, init, identity: (is_sum && init != zero).then_some(zero), lanes })
    }

    fn combine(&self, block: &Block<'_>, a: Value, b: Value) -> Value {
        (self.combine)(&block.lanes, [a, b, b])
    }
}

/// Rows in the order of [`fold_slice`](super::rows::fold_slice): the first half with the second, and so on, as if
/// identities followed them.
fn rows(fold: Fold<'_>, function: &Function, block: &mut Block<'_>, operand: Slot, out: Slot) -> Option<()> {
    let (layout, width) = (fold.layout, generated::width(fold.element));
    let (results, row) = (layout.results(), layout.elements());
    if !layout.has_rows() || !are_few(results, row) {
        return None;
    }
    let size = fold.element.byte_width();
    let mut found: SmallVec<[Value; MOST]> = SmallVec::new();
    for result in 0..results {
        let start = layout.start(result) as usize;
        let mut read = |index: usize| block.read(operand, (start + index) * size, function.lanes, width);
        let mut values = (0..row).map(&mut read).collect::<Option<SmallVec<[Value; LONGEST]>>>()?;
        block.lanes.set_lanes(1);
        if let Some(identity) = function.identity {
            values.iter_mut().for_each(|value| *value = function.combine(block, identity, *value));
        }
        while values.len() > 1 {
            let half = values.len().next_power_of_two() / 2;
            for index in half..values.len() {
                values[index - half] = function.combine(block, values[index - half], values[index]);
            }
            values.truncate(half);
        }
        found.push(function.combine(block, function.init, values[0]));
    }
    block.write_each(out, (function.lanes, width), &found)
}

/// A vector of columns at a time, in the order of [`fold_rows`](super::loops::fold_rows).
fn columns(fold: Fold<'_>, function: &Function, block: &mut Block<'_>, operand: Slot, out: Slot) -> Option<()> {
    let (layout, width, lanes) = (fold.layout, generated::width(fold.element), function.lanes);
    let (rows, columns) = (layout.elements(), layout.columns());
    let matrices = layout.results() / columns.max(1);
    let vectors: SmallVec<[(usize, u8); 8]> = block.vectors_of(columns, lanes).take(MOST_VECTORS).collect();
    if !(1..=ROWS).contains(&rows) || !(1..=MOST_VECTORS).contains(&(rows * matrices * vectors.len())) {
        return None;
    }
    let size = fold.element.byte_width();
    let mut starts = Walk::new(&layout.kept[..layout.kept.len() - 1], [0], 0);
    let starts: SmallVec<[usize; 8]> = (0..matrices).map(|_| starts.step()[0] as usize).collect();
    let mut places = Walk::new(&layout.reduced, [0], 0);
    let places: SmallVec<[usize; ROWS]> = (0..rows).map(|_| places.step()[0] as usize).collect();
    let mut found: SmallVec<[(usize, u8, Value); MOST_VECTORS]> = SmallVec::new();
    for (matrix, start) in starts.into_iter().enumerate() {
        for &(first, count) in &vectors {
            let mut read = |&place: &usize| block.read(operand, (start + place + first) * size, count * lanes, width);
            let values = places.iter().map(&mut read).collect::<Option<SmallVec<[Value; ROWS]>>>()?;
            block.lanes.set_lanes(count);
            let mut sum = function.identity;
            let mut add = |value: Value| sum = Some(sum.map_or(value, |sum| function.combine(block, sum, value)));
            let fours = values.chunks_exact(4);
            let rest = fours.remainder();
            for four in fours {
                let [ab, cd] = [[four[0], four[1]], [four[2], four[3]]].map(|[a, b]| function.combine(block, a, b));
                add(function.combine(block, ab, cd));
            }
            rest.iter().for_each(|&value| add(value));
            let init = if is_wide(fold.element) {
                block.lanes.wide().broadcast(function.init)
            } else {
                block.lanes.broadcast(function.init)
            };
            let sum = function.combine(block, init, sum?);
            let place = (matrix * columns + first) * size;
            if !block.can_access(out, place, count * lanes, width, true) {
                return None;
            }
            found.push((place, count * lanes, sum));
        }
    }
    found.into_iter().try_for_each(|(place, lanes, sum)| block.write(out, place, lanes, width, sum))
}
