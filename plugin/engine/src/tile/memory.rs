//! The memory of a running program: registers, operands and results by number. All unsafe code of tiles is here, except
//! the loads and stores of chains.

use oxcall_hlo::ElementType;
use smallvec::SmallVec;

use super::assemble::Used;
use super::chain::{BLOCK_BYTES, Place};
use super::run::Run;
use crate::kernel::{Inputs, Outputs};
use crate::memory::{BUFFER_ALIGN, RawBuffer};

/// The number of a slot: registers first, then operands, then results.
pub(super) type Slot = u32;

/// The form of a slot's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    /// The type of its elements.
    pub(super) element: ElementType,
    /// Whether it has one element for each row, rather than for each element.
    pub(super) per_row: bool,
}

/// The start of a slot's tiles.
#[derive(Debug, Clone, Copy)]
struct Base {
    data: *mut u8,
    /// The size of an element, in bytes.
    width: usize,
    per_row: bool,
    /// Whether the slot holds a whole array, of which a tile is a part, instead of a single tile.
    is_array: bool,
    /// The number of bytes that may be accessed.
    len: usize,
}

/// A cache line, to which vectors are aligned.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

const _: () = assert!(align_of::<Line>() == BUFFER_ALIGN);

/// The slots of one thread that runs a program.
#[derive(Debug)]
pub(super) struct Memory {
    bases: Vec<Base>,
    /// The memory of each register.
    own: SmallVec<[Base; 8]>,
    /// Operands in place: the slot, which is a register, and the array from which its tile is copied first.
    in_place: Vec<(Slot, Base)>,
    start: usize,
    len: usize,
    /// The number of elements in a row; tiles consist of whole rows.
    row: usize,
    /// Blocks of runs.
    blocks: *mut u8,
    block_count: usize,
    /// The places of the current run.
    places: Vec<Place>,
    /// Keeps the registers and the blocks alive.
    _registers: Vec<Line>,
}

/// The buffers of one run, shared by its threads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Buffers<'a> {
    inputs: Inputs<'a>,
    outputs: &'a Outputs<'a>,
}

impl<'a> Buffers<'a> {
    pub(super) fn new(inputs: Inputs<'a>, outputs: &'a Outputs<'a>) -> Buffers<'a> {
        Buffers { inputs, outputs }
    }
}

// SAFETY: both are addresses and sizes. Threads get disjoint ranges of elements, see `Memory::new`.
unsafe impl Send for Buffers<'_> {}
// SAFETY: as above.
unsafe impl Sync for Buffers<'_> {}

impl Memory {
    /// Registers for `tile` elements in rows of `row`, the blocks for runs, and the buffers.
    ///
    /// # Safety
    /// While the value is used, no other thread accesses the elements of the results that
    /// [`set_tile`](Memory::set_tile) selects, and [`with_array`](Memory::with_array) does not read operands in place.
    pub(super) unsafe fn new(
        [registers, inputs, outputs]: [&[Cell]; 3],
        (tile, row): (usize, usize),
        blocks: usize,
        buffers: Buffers<'_>,
    ) -> Memory {
        let count = |cell: &Cell| if cell.per_row { tile / row } else { tile };
        let lines = |cell: &Cell| (count(cell) * cell.element.byte_width()).div_ceil(size_of::<Line>());
        let moved = || inputs.iter().enumerate().filter(|(index, _)| buffers.inputs.is_in_place(*index));
        let all = registers.iter().chain(moved().map(|(_, cell)| cell));
        let (block_count, block_lines) = (blocks, blocks * BLOCK_BYTES / size_of::<Line>());
        let mut memory = vec![Line([0; 64]); all.map(lines).sum::<usize>() + block_lines];
        let (blocks, mut rest) = memory.split_at_mut(block_lines);
        let blocks = blocks.as_mut_ptr().cast();
        let base = |data, cell: &Cell, is_array, len| {
            let &Cell { element, per_row } = cell;
            Base { data, width: element.byte_width(), per_row, is_array, len }
        };
        let mut register = |cell: &Cell| {
            let (register, others) = std::mem::take(&mut rest).split_at_mut(lines(cell));
            rest = others;
            let len = size_of_val(register);
            base(register.as_mut_ptr().cast(), cell, false, len)
        };
        let array = |RawBuffer { data, len }: RawBuffer, cell: &Cell| base(data, cell, true, len);
        let mut bases = Vec::with_capacity(registers.len() + inputs.len() + outputs.len());
        bases.extend(registers.iter().map(&mut register));
        let own = SmallVec::from_slice(&bases);
        bases.extend(inputs.iter().enumerate().map(|(index, cell)| array(buffers.inputs.raw(index), cell)));
        let mut in_place = Vec::new();
        for (index, cell) in moved() {
            let slot = registers.len() + index;
            in_place.push((slot as Slot, bases[slot]));
            bases[slot] = register(cell);
        }
        bases.extend(outputs.iter().enumerate().map(|(index, cell)| array(buffers.outputs.raw(index), cell)));
        Memory {
            bases,
            own,
            in_place,
            start: 0,
            len: 0,
            row,
            blocks,
            block_count,
            places: Vec::new(),
            _registers: memory,
        }
    }

    /// Selects elements `start..start + len`, which are whole rows.
    ///
    /// # Panics
    /// If they are outside the buffers of operands in place.
    pub(super) fn set_tile(&mut self, start: usize, len: usize) {
        (self.start, self.len) = (start, len);
        for &(slot, array) in &self.in_place {
            let ((from, bytes), (to, _)) = (self.range(array), self.range(self.bases[slot as usize]));
            // SAFETY: the ranges are inside different memory: a buffer, and a register that this value owns.
            unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
        }
    }

    /// Makes the tile in the register `out`, which no step writes, elements of an array from `first` on: `count` of
    /// them, at least.
    ///
    /// # Panics
    /// If the elements are outside the array, or `out` is not a register.
    pub(super) fn read_in_place(&mut self, out: Slot, array: Slot, first: usize, count: usize) {
        let own = self.own[out as usize];
        let Base { data, len, .. } = self.bases[array as usize];
        let skipped = first * own.width;
        assert!(skipped + count * own.width <= len, "the elements are in the array");
        self.bases[out as usize] = Base { data: data.wrapping_add(skipped), len: len - skipped, ..own };
    }

    /// Gives the register `out` its own memory again.
    pub(super) fn own(&mut self, out: Slot) {
        if let Some(&own) = self.own.get(out as usize) {
            self.bases[out as usize] = own;
        }
    }

    /// Whether a slot is a register.
    pub(super) fn is_register(&self, slot: Slot) -> bool {
        (slot as usize) < self.own.len()
    }

    /// The index in `slot` of the tile's first element, or first row.
    pub(super) fn start(&self, slot: Slot) -> usize {
        if self.bases[slot as usize].per_row { self.start / self.row } else { self.start }
    }

    /// The bytes of the tile in a slot.
    fn range(&self, base: Base) -> (*mut u8, usize) {
        let unit = if base.per_row { self.row } else { 1 };
        let first = if base.is_array { self.start / unit * base.width } else { 0 };
        let len = self.len / unit * base.width;
        assert!(first + len <= base.len, "the tile is in the buffer");
        // SAFETY: asserted to be inside the allocation (or it is the address of an empty one, with nothing added).
        (unsafe { base.data.add(first) }, len)
    }

    /// The number of elements in a row.
    pub(super) fn row(&self) -> usize {
        self.row
    }

    /// Calls `f` with the tile in `out`, to be written, and the tiles in `args`.
    ///
    /// # Panics
    /// If `out` is among `args`, or the tile is outside the buffers.
    #[inline]
    pub(super) fn with<const N: usize, R>(
        &mut self,
        out: Slot,
        args: [Slot; N],
        f: impl FnOnce(&mut [u8], [&[u8]; N]) -> R,
    ) -> R {
        assert!(!args.contains(&out), "a step does not write what it reads");
        let (data, len) = self.range(self.bases[out as usize]);
        // SAFETY: the range is inside the slot's memory, which is initialised. No slot overlaps one that is written:
        // the slot of an operand in place is a register, and registers that are read elsewhere are not written. No
        // other thread has these elements.
        let out = unsafe { slice_mut(data, len) };
        let args = args.map(|arg| {
            let (data, len) = self.range(self.bases[arg as usize]);
            // SAFETY: as above; not written while `f` runs, because `out` is another slot.
            unsafe { slice(data, len) }
        });
        f(out, args)
    }

    /// Computes a run on the tile: on whole blocks in place, and on the rest in copies.
    ///
    /// # Panics
    /// If the tile is outside the buffers, or the run needs more blocks than were given to [`new`](Memory::new).
    pub(super) fn run(&mut self, run: &Run, slots: &[Used], own: usize) {
        if let Run::Generated(kernel) = run
            && kernel.takes_any_count()
        {
            let arrays: SmallVec<[*mut u8; 16]> = slots.iter().map(|used| self.array(used)).collect();
            // SAFETY: each slot has the tile's elements, or is a splat, of which the code reads one. No slot overlaps
            // one that is written, and no other thread has these elements.
            return unsafe { kernel.run(&arrays, self.len) };
        }
        assert!(own + slots.len() <= self.block_count, "the blocks of the run are there");
        let block = run.block();
        let rest = self.len % block;
        let whole = self.len - rest;
        let blocks = self.blocks;
        // Inside the allocation, as asserted.
        let own_block = |index: usize| blocks.wrapping_add(index * BLOCK_BYTES);
        let own_places = (0..own).map(|index| Place { data: own_block(index), advances: false });
        let mut places = std::mem::take(&mut self.places);
        places.clear();
        for used in slots {
            let base = self.bases[used.slot as usize];
            assert!(base.width * block <= BLOCK_BYTES && !base.per_row, "a block is large enough for any element");
            places.push(Place { data: self.range(base).0, advances: !used.is_splat });
        }
        places.extend(own_places);
        if whole > 0 {
            // SAFETY: each slot has the tile's elements, at least `whole`; a separate block is as long as any. No slot
            // overlaps one that is written, and no other thread has these elements.
            unsafe { run.run(&places, whole) };
        }
        if rest > 0 {
            for (index, (place, used)) in places.iter_mut().zip(slots).enumerate() {
                let width = self.bases[used.slot as usize].width;
                let from = place.data.wrapping_add(if place.advances { whole * width } else { 0 });
                let copy = own_block(own + index);
                // SAFETY: the rest of the tile is in the slot, and shorter than a block, which is separate memory.
                unsafe { std::ptr::copy_nonoverlapping(from, copy, rest * width) };
                *place = Place { data: copy, advances: false };
            }
            // SAFETY: all places are blocks that this value owns.
            unsafe { run.run(&places, block) };
            for (index, used) in slots.iter().enumerate().filter(|(_, used)| used.is_written) {
                let base = self.bases[used.slot as usize];
                let to = self.range(base).0.wrapping_add(whole * base.width);
                // SAFETY: as above, in the other direction.
                unsafe { std::ptr::copy_nonoverlapping(own_block(own + index), to, rest * base.width) };
            }
        }
        self.places = places;
    }

    /// The address of a slot's tile. The elements of a splat are equal, and may be one.
    ///
    /// # Panics
    /// If the tile is outside the buffer.
    fn array(&self, used: &Used) -> *mut u8 {
        let base = self.bases[used.slot as usize];
        if used.is_splat { base.data } else { self.range(base).0 }
    }

    /// Calls `f` with the tile in `out`, and a whole array.
    ///
    /// # Panics
    /// Like [`with`](Memory::with).
    pub(super) fn with_array<R>(&mut self, out: Slot, array: Slot, f: impl FnOnce(&mut [u8], &[u8]) -> R) -> R {
        assert!(out != array, "a step does not write what it reads");
        let (data, len) = self.range(self.bases[out as usize]);
        let base = self.bases[array as usize];
        // SAFETY: as in `with`. Operands that are read as arrays are never in place.
        f(unsafe { slice_mut(data, len) }, unsafe { slice(base.data, base.len) })
    }
}

/// # Safety
/// As `slice::from_raw_parts`, but the address of an empty slice may be null.
unsafe fn slice<'a>(data: *const u8, len: usize) -> &'a [u8] {
    if len == 0 {
        return &[];
    }
    // SAFETY: as the caller guarantees.
    unsafe { std::slice::from_raw_parts(data, len) }
}

/// # Safety
/// As `slice::from_raw_parts_mut`, but the address of an empty slice may be null.
unsafe fn slice_mut<'a>(data: *mut u8, len: usize) -> &'a mut [u8] {
    if len == 0 {
        return &mut [];
    }
    // SAFETY: as the caller guarantees.
    unsafe { std::slice::from_raw_parts_mut(data, len) }
}
