//! Running totals of a few elements inside the machine code of loops, with the bits of the kernel.

use oxcall_hlo::ElementType;
use oxcall_jit::Value;
use smallvec::SmallVec;

use super::scan::{BLOCK, Scan, Shape, levels};
use crate::machine::{Block, Slot};
use crate::math::generated::{self, Record, constant_of, is_wide, lanes_of, width};

/// The most vectors of elements.
const MOST_VECTORS: usize = 48;

/// The function and its conversions in a block.
struct Function {
    combine: Record,
    /// From an element to a sum and back, if sums have another type.
    convert: Option<[Record; 2]>,
    /// The type of a sum.
    sum: ElementType,
    identity: u64,
}

impl Function {
    fn of(scan: &Scan) -> Option<Function> {
        use ElementType::{F32, F64, S32, S64, U32, U64};
        let sum = match scan.element {
            F32 => F64,
            element @ (F64 | S32 | S64 | U32 | U64) => element,
            _ => return None,
        };
        let convert = match scan.element {
            F32 => Some([generated::convert(F32, F64)?, generated::convert(F64, F32)?]),
            _ => None,
        };
        let combine = generated::binary(scan.function, sum)?;
        Some(Function { combine, convert, sum, identity: scan.identity.to_pod() })
    }

    fn combine(&self, block: &Block<'_>, a: Value, b: Value) -> Value {
        (self.combine)(&block.lanes, [a, b, b])
    }

    fn converted(&self, block: &Block<'_>, which: usize, value: Value) -> Value {
        self.convert.map_or(value, |convert| convert[which](&block.lanes, [value; 3]))
    }
}

/// Adds a scan to a block; `None`, and no write, if it is long.
pub(super) fn generate(scan: &Scan, block: &mut Block<'_>, [operand, init]: [Slot; 2], out: Slot) -> Option<()> {
    let function = Function::of(scan)?;
    let Shape { outer, len, inner, .. } = scan.shape;
    let (element, size) = (scan.element, scan.element.byte_width());
    let lanes = lanes_of(element)?;
    let columns = block.vectors_of(inner, lanes_of(function.sum)?).take(MOST_VECTORS + 1);
    let columns: SmallVec<[(usize, u8); 8]> = columns.collect();
    if !(1..=MOST_VECTORS).contains(&(outer * len * columns.len())) {
        return None;
    }
    let init = block.read(init, 0, lanes, width(element))?;
    let mut found: SmallVec<[(usize, u8, Value); MOST_VECTORS]> = SmallVec::new();
    for slab in 0..outer {
        for &(first, count) in &columns {
            block.lanes.set_lanes(count);
            let init = function.converted(block, 0, repeated(block, init, element));
            let mut totals = Totals::new(&function, block, init, len);
            for row in scan.shape.rows() {
                let place = ((slab * len + row) * inner + first) * size;
                let x = block.read(operand, place, count * lanes, width(element))?;
                block.lanes.set_lanes(count);
                let x = function.converted(block, 0, x);
                let total = totals.next(block, x);
                found.push((place, count * lanes, function.converted(block, 1, total)));
            }
        }
    }
    if !found.iter().all(|&(place, lanes, _)| block.can_access(out, place, lanes, width(element), true)) {
        return None;
    }
    found.into_iter().try_for_each(|(place, lanes, total)| block.write(out, place, lanes, width(element), total))
}

/// An element in every place.
fn repeated(block: &Block<'_>, one: Value, element: ElementType) -> Value {
    if is_wide(element) { block.lanes.wide().broadcast(one) } else { block.lanes.broadcast(one) }
}

/// The totals of complete blocks, in the order of [the kernel's](super::scan).
struct Totals<'a> {
    function: &'a Function,
    identity: Value,
    init: Value,
    /// Of all complete blocks.
    before: Value,
    /// Of the block that is not complete, and its number of elements.
    block: (Value, usize),
    /// Of complete blocks of each size that no larger complete one has, the smallest first.
    levels: Vec<Value>,
    count: usize,
}

impl<'a> Totals<'a> {
    fn new(function: &'a Function, block: &Block<'_>, init: Value, rows: usize) -> Totals<'a> {
        let identity = constant_of(&block.lanes, function.sum, function.identity.into());
        let levels = vec![identity; levels(rows)]; // Bounded: sizes of blocks.
        Totals { function, identity, init, before: init, block: (identity, 0), levels, count: 0 }
    }

    /// The total up to the next element.
    fn next(&mut self, block: &Block<'_>, x: Value) -> Value {
        let (sum, count) = self.block;
        let sum = self.function.combine(block, sum, x);
        let total = self.function.combine(block, self.before, sum);
        self.block = (sum, count + 1);
        if count + 1 == BLOCK {
            self.close(block);
        }
        total
    }

    /// The block is complete.
    fn close(&mut self, block: &Block<'_>) {
        let combine = |a: Value, b: Value| self.function.combine(block, a, b);
        self.count += 1;
        let (mut count, mut level, mut complete) = (self.count, 0, self.block.0);
        loop {
            complete = combine(self.levels[level], complete);
            if !count.is_multiple_of(BLOCK) {
                self.levels[level] = complete;
                break;
            }
            self.levels[level] = self.identity;
            (count, level) = (count / BLOCK, level + 1);
        }
        self.before = self.levels.iter().rev().fold(self.init, |before, &level| combine(before, level));
        self.block = (self.identity, 0);
    }
}
