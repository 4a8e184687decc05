//! Machine code on rows of gathered elements, which it reads where they are.
//!
//! Elements of an operand that are gathered are often in runs: rows of a slice, or of a broadcast along columns. A row
//! of the program is as long as the shortest of the present runs of all operands. The code takes a table with the
//! addresses of many rows, so that a short one takes little more time than its elements do.

use std::ops::Range;
use std::sync::Arc;

use oxcall_hlo::ElementType;
use oxcall_jit::{Kernel, Rows};
use smallvec::SmallVec;

use super::access::{Access, Cursor, Place};
use super::assemble::{Part, Used};
use super::memory::{Memory, Slot};
use super::program::{LONGEST_GATHERED, Step};
use super::rings;
use super::run::Run;
use crate::by_width;

/// The most rows of a table.
const MOST_ROWS: usize = 128;

/// The machine code of a program that is nothing else but gathered elements and a run.
#[derive(Debug, Clone)]
pub(super) struct Table {
    kernel: Arc<Kernel>,
    gathers: Vec<Gather>,
    /// The registers whose elements repeat.
    rings: Vec<rings::Register>,
    /// The places of the code's arrays.
    arrays: Vec<Array>,
    /// The number of elements in a row, if boxes cut rows, so that many rows are cut at the same columns.
    row: Option<usize>,
    /// Whether a box of equal elements, such as padding, is filled in a part of one row. Ranges are whole rows then.
    fills: bool,
}

/// Gathered elements, or those of an update, which are written to one array.
#[derive(Debug, Clone)]
struct Gather {
    /// The operands, with the maps to their elements.
    parts: Box<[(Slot, Access)]>,
    element: ElementType,
    /// The slot that has them, if they are not read where they are.
    out: Slot,
    /// Whether all elements of a run are equal, and the first is read only.
    is_even: bool,
    /// Whether others read the slot.
    is_result: bool,
}

/// The place of an array of the code.
#[derive(Debug, Clone, Copy)]
enum Array {
    /// That of gathered elements.
    Gather(usize),
    /// That of a ring.
    Ring(usize),
    /// The row's part of a slot.
    Slot(Slot),
    /// The start of a slot.
    First(Slot),
    /// That of an accumulator.
    Accumulator(usize),
}

/// Accumulators of a table: the address of each and the size of its elements in bytes, and their number of elements.
#[derive(Debug, Clone, Copy)]
pub(super) struct Accumulators<'a> {
    pub(super) addresses: &'a [(*mut u8, usize)],
    pub(super) width: usize,
}

/// The addresses of an array in successive rows: the first one, and the distance of neighbours in bytes.
type Addresses = (*mut u8, usize);

impl Table {
    /// The table of a program with these steps, whose first `registers` slots are registers, some of them rings, and
    /// some other slots accumulators; `None` if there is anything but gathered elements and one run,
    /// or the run does not take rows. `is_whole` says that it will run on ranges of whole rows.
    pub(super) fn new(
        steps: &[Step],
        registers: usize,
        rings: Vec<rings::Register>,
        accumulators: &[[Slot; 2]],
        is_whole: bool,
    ) -> Option<Table> {
        let mut gathers = Vec::new();
        let mut run = None;
        for step in steps {
            match step {
                &Step::Gather { ref parts, element, out, is_even } => {
                    let is_result = out as usize >= registers;
                    gathers.push(Gather { parts: parts.clone(), element, out, is_even, is_result });
                }
                Step::Run(linked) if run.is_none() => run = Some(linked),
                // Written where they are, as others are read.
                &Step::Update { from, element, out, ref access } => {
                    let parts = Box::new([(out, access.clone())]);
                    gathers.push(Gather { parts, element, out: from, is_even: false, is_result: false });
                }
                _ => return None,
            }
        }
        let linked = run?;
        let Run::Generated(kernel) = &linked.run else { return None };
        let place = |used: &Used| {
            let gather = gathers.iter().position(|gather| gather.out == used.slot);
            let ring = rings.iter().position(|ring| ring.slot == used.slot);
            let accumulator = accumulators.iter().position(|slots| slots.contains(&used.slot));
            match (gather, ring, accumulator) {
                (Some(gather), ..) => Array::Gather(gather),
                (_, Some(ring), _) => Array::Ring(ring),
                (.., Some(accumulator)) => Array::Accumulator(accumulator),
                _ if used.part != Part::Tile => Array::First(used.slot),
                _ => Array::Slot(used.slot),
            }
        };
        let arrays = linked.slots.iter().map(place).collect();
        let row = if rings.is_empty() && accumulators.is_empty() { cut_row(&gathers) } else { None };
        let is_filled = |gather: &Gather| {
            let is_constant = |(_, access): &(Slot, Access)| access.stride() != 1 && access.is_constant();
            !gather.is_even && gather.parts.iter().any(is_constant)
        };
        let fills = is_whole && row.is_some_and(|row| row <= LONGEST_GATHERED) && gathers.iter().any(is_filled);
        kernel.takes_any_count().then(|| Table { kernel: Arc::clone(kernel), gathers, rings, arrays, row, fills })
    }

    /// Whether some registers are rings.
    pub(super) fn has_rings(&self) -> bool {
        !self.rings.is_empty()
    }

    /// Whether elements of an operand repeat in a ring.
    pub(super) fn repeats(&self, array: Slot) -> bool {
        self.rings.iter().any(|ring| ring.array == array)
    }

    /// Whether it copies no element before the code runs but one, which fills a part of a row.
    pub(super) fn copies_nothing(&self) -> bool {
        self.gathers.iter().all(|gather| {
            let is_read_there = |(_, access): &(Slot, Access)| {
                gather.is_even || access.stride() == 1 || self.fills && access.is_constant()
            };
            !gather.is_result && gather.parts.iter().all(is_read_there)
        })
    }

    /// The number of elements in a row, if ranges have to be whole rows.
    pub(super) fn whole_row(&self) -> Option<usize> {
        self.row.filter(|_| self.fills)
    }

    /// Computes a range of elements, tile by tile.
    pub(super) fn run(&self, memory: &mut Memory, range: Range<usize>, tile: usize) {
        // SAFETY: there are no accumulators.
        unsafe { self.accumulate(memory, range, tile, Accumulators { addresses: &[], width: usize::MAX }) };
    }

    /// Computes a range of elements, tile by tile. Element `i` of the range is combined with element `i % width` of the
    /// accumulators.
    ///
    /// # Safety
    /// Each accumulator has `width` initialised words that nothing else accesses.
    pub(super) unsafe fn accumulate(
        &self,
        memory: &mut Memory,
        range: Range<usize>,
        tile: usize,
        accumulators: Accumulators<'_>,
    ) {
        let addresses = accumulators.addresses;
        let is_whole = |row: usize| [range.start, range.len(), tile].iter().all(|count| count % row == 0);
        if let Some(row) = self.row.filter(|&row| is_whole(row)) {
            for start in range.clone().step_by(tile) {
                let len = tile.min(range.end - start);
                memory.set_tile(start, len);
                self.by_columns(memory, start..start + len, row);
            }
            return;
        }
        let mut part = range.clone();
        while part.start < range.end {
            let turns = self.rings.iter().map(|ring| ring.next_turn(part.start));
            part.end = turns.min().map_or(range.end, |turn| turn.min(range.end));
            self.rings.iter().for_each(|ring| ring.fill(memory, part.start));
            let column = |width: usize, first: usize| Column { width, index: first % width };
            let rings = self.rings.iter().map(|ring| column(ring.ring.width, part.start - ring.start(part.start)));
            let columns = rings.chain([column(accumulators.width, part.start - range.start)]).collect();
            let cursors = self.cursors(part.start);
            let mut walk =
                Walk { table: self, cursors, rows: Rows::new(&self.kernel), columns, accumulators: addresses };
            for start in part.clone().step_by(tile) {
                let len = tile.min(part.end - start);
                memory.set_tile(start, len);
                walk.tile(memory, len);
            }
            part.start = part.end;
        }
    }
}

/// The number of elements in a row, if all lines of gathered elements consist of whole rows, and some boxes cut them.
fn cut_row(gathers: &[Gather]) -> Option<usize> {
    let accesses = || gathers.iter().flat_map(|gather| gather.parts.iter().map(|(_, access)| access));
    let lines = || accesses().map(Access::line).filter(|&line| line > 1);
    let row = lines().min()?;
    let is_cut = accesses().any(|access| access.cuts_lines() && access.line() == row);
    (is_cut && lines().all(|line| line % row == 0)).then_some(row)
}

/// Some columns of a row, in which each gathered value is in one box.
#[derive(Debug, Clone, Copy)]
struct Columns {
    first: usize,
    count: usize,
}

impl Table {
    /// Computes a tile of whole rows: the same columns of as many rows as possible, then the next columns.
    fn by_columns(&self, memory: &mut Memory, tile: Range<usize>, row: usize) {
        let mut rows = Rows::new(&self.kernel);
        let mut arrays: SmallVec<[Addresses; 16]> = SmallVec::new();
        let mut start = tile.start;
        while start < tile.end {
            let (columns, alike) = self.columns(start, row);
            let alike = alike.min((tile.end - start) / row).min(MOST_ROWS);
            let mut cursors = self.cursors(start);
            for Columns { first, count } in columns {
                arrays.clear();
                let block = Block { first: start - tile.start + first, column: first, count, rows: alike, row };
                for &array in &self.arrays {
                    arrays.push(match array {
                        Array::Gather(gather) => self.gathers[gather].spaced(memory, &cursors[gather], block),
                        Array::First(slot) => (memory.first(slot), 0),
                        Array::Slot(slot) => memory.rows(slot, block.first, (alike, row), count),
                        Array::Ring(_) | Array::Accumulator(_) => unreachable!("rows with rings are not cut"),
                    });
                }
                cursors.iter_mut().flatten().for_each(|cursor| cursor.advance(count));
                rows.push_evenly(&arrays, alike, count);
            }
            // SAFETY: as in `Walk::tile`.
            unsafe { self.kernel.run_rows(&rows) };
            rows.clear();
            start += alike * row;
        }
    }

    /// The cursors of each gathered value's parts, at an element.
    fn cursors(&self, start: usize) -> Cursors<'_> {
        let parts = self.gathers.iter().map(|gather| &gather.parts);
        parts.map(|parts| parts.iter().map(|(_, access)| Cursor::new(access, start)).collect()).collect()
    }

    /// The columns of the row that begins at `start`, and the number of rows from it on that have the same.
    fn columns(&self, start: usize, row: usize) -> (SmallVec<[Columns; 8]>, usize) {
        let mut cursors = self.cursors(start);
        let (mut columns, mut alike, mut first) = (SmallVec::new(), usize::MAX, 0);
        while first < row {
            let left = cursors.iter().flatten().map(|cursor| cursor.run().count).min().unwrap_or(row);
            let count = left.min(row - first);
            let rows = cursors.iter().flatten().map(|cursor| cursor.rows_alike(count, row)).min();
            alike = alike.min(rows.unwrap_or(usize::MAX));
            columns.push(Columns { first, count });
            cursors.iter_mut().flatten().for_each(|cursor| cursor.advance(count));
            first += count;
        }
        (columns, alike)
    }
}

/// The cursors of each gathered value's parts.
type Cursors<'a> = SmallVec<[SmallVec<[Cursor<'a>; 1]>; 4]>;

/// Some columns of several rows.
#[derive(Debug, Clone, Copy)]
struct Block {
    /// The first element, in the tile.
    first: usize,
    /// Its column.
    column: usize,
    /// The number of columns.
    count: usize,
    /// The number of rows.
    rows: usize,
    /// The number of elements in a row.
    row: usize,
}

/// A place in the domain, from which one goes on row by row.
struct Walk<'a> {
    table: &'a Table,
    /// The cursors of each gathered value's parts.
    cursors: Cursors<'a>,
    rows: Rows,
    /// The places in each ring, and at last in the accumulators.
    columns: SmallVec<[Column; 4]>,
    accumulators: &'a [(*mut u8, usize)],
}

/// A place in elements that repeat.
#[derive(Debug, Clone, Copy)]
struct Column {
    /// The number of elements.
    width: usize,
    index: usize,
}

impl Column {
    /// The number of elements up to the end.
    fn left(self) -> usize {
        self.width - self.index
    }

    /// The number of rows of `count` elements from here on that are evenly spaced.
    fn alike(self, count: usize) -> usize {
        if count == self.width { usize::MAX } else { self.left() / count }
    }

    /// The distance of these rows.
    fn step(self, count: usize) -> usize {
        if count == self.width { 0 } else { count }
    }

    fn advance(&mut self, count: usize) {
        self.index = (self.index + count) % self.width;
    }
}

impl Walk<'_> {
    /// Computes a tile.
    fn tile(&mut self, memory: &mut Memory, len: usize) {
        let mut done = 0;
        let mut gathered: SmallVec<[Addresses; 8]> = SmallVec::new();
        let mut arrays: SmallVec<[Addresses; 16]> = SmallVec::new();
        while done < len {
            let left = self.columns.iter().map(|column| column.left()).min().unwrap_or(len);
            let cursors = || self.cursors.iter().flatten();
            let count = cursors().map(|cursor| cursor.run().count).min().unwrap_or(len).min(len - done).min(left);
            let alike = cursors().map(|cursor| cursor.alike(count)).min().unwrap_or(usize::MAX);
            let columns = self.columns.iter().map(|column| column.alike(count)).min().unwrap_or(usize::MAX);
            let alike = alike.min(columns).min((len - done) / count).min(MOST_ROWS);
            gathered.clear();
            for (gather, cursors) in self.table.gathers.iter().zip(&mut self.cursors) {
                gathered.push(gather.addresses(memory, cursors, (done, count), alike));
            }
            arrays.clear();
            for &array in &self.table.arrays {
                arrays.push(match array {
                    Array::Gather(gather) => gathered[gather],
                    Array::First(slot) => (memory.first(slot), 0),
                    Array::Slot(slot) => memory.rows(slot, done, (alike, count), count),
                    Array::Ring(index) => {
                        let (slot, column) = (self.table.rings[index].slot, self.columns[index]);
                        memory.elements(slot, (column.index, column.step(count)), (alike, count))
                    }
                    Array::Accumulator(index) => {
                        let column = self.columns[self.table.rings.len()];
                        let (address, bytes) = self.accumulators[index];
                        (address.wrapping_add(column.index * bytes), column.step(count) * bytes)
                    }
                });
            }
            self.rows.push_evenly(&arrays, alike, count);
            done += alike * count;
            self.columns.iter_mut().for_each(|column| column.advance(alike * count));
            if self.rows.count() >= MOST_ROWS || done == len {
                // SAFETY: each address has a row's elements, one that stands for all, or all of an operand: `Memory`
                // and `addresses` have checked that they are in their arrays, accumulators are as the caller promises.
                // No other thread has the elements of the results. An accumulator is loaded before it is stored.
                unsafe { self.table.kernel.run_rows(&self.rows) };
                self.rows.clear();
            }
        }
    }
}

impl Gather {
    /// The addresses of a block's elements; `cursors` are at the first of them. Copies the elements if they cannot be
    /// read where they are.
    fn spaced(&self, memory: &mut Memory, cursors: &[Cursor<'_>], block: Block) -> Addresses {
        let Block { first, column, count, rows, row } = block;
        let parts = cursors.iter().zip(&self.parts);
        let mut found =
            parts.filter_map(|(cursor, &(input, _))| Some((input, cursor.run().place?, cursor.row_step(row))));
        let Some((input, place, step)) = found.next_back() else {
            return memory.rows(self.out, first, (rows, row), count);
        };
        if !self.is_result && (place.stride == 1 || self.is_even || count == 1) {
            let count = if self.is_even { 1 } else { count };
            return memory.elements(input, (place.first, step), (rows, count));
        }
        if !self.is_result && place.stride == 0 && (step == 0 || rows == 1) {
            return (memory.repeat((self.out, column), (input, place.first), count), 0);
        }
        self.copy(memory, (input, place, step), first, (rows, row), count)
    }

    /// Copies `count` elements of each of `rows` rows, which are `apart` elements apart in the tile, from its element
    /// `first` on, and `step` in the operand; returns their addresses.
    fn copy(
        &self,
        memory: &mut Memory,
        (input, place, step): (Slot, Place, usize),
        first: usize,
        (rows, apart): (usize, usize),
        count: usize,
    ) -> Addresses {
        for index in 0..rows {
            let place = Place { first: place.first + index * step, ..place };
            memory.with_array(self.out, input, |out, array| {
                by_width!(self.element, T => {
                    let out: &mut [T] = &mut bytemuck::cast_slice_mut(out)[first + index * apart..][..count];
                    place.copy::<T>(bytemuck::cast_slice(array), out);
                });
            });
        }
        memory.rows(self.out, first, (rows, apart), count)
    }

    /// The addresses of `alike` rows of `count` elements, from the tile's element `first` on, after which the cursors
    /// are then. Copies the elements if they cannot be read where they are.
    fn addresses(
        &self,
        memory: &mut Memory,
        cursors: &mut [Cursor<'_>],
        (first, count): (usize, usize),
        alike: usize,
    ) -> Addresses {
        let mut found = None;
        for (cursor, &(input, _)) in cursors.iter_mut().zip(&self.parts) {
            if let Some(place) = cursor.run().place {
                found = Some((input, place, cursor.step(count)));
            }
            cursor.advance_alike(count, alike);
        }
        let Some((input, place, step)) = found else { return memory.rows(self.out, first, (alike, count), count) };
        if !self.is_result && (place.stride == 1 || self.is_even) {
            let count = if self.is_even { 1 } else { count };
            return memory.elements(input, (place.first, step), (alike, count));
        }
        self.copy(memory, (input, place, step), first, (alike, count), count)
    }
}
