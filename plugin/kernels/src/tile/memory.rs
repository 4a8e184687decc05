//! The memory of a running program: registers, operands and results by number. All unsafe code of tiles is here, except
//! the loads and stores of chains.

use oxcall_hlo::ElementType;
use oxcall_jit::{Kernel, Rows};
use smallvec::SmallVec;

use super::access::{Access, Cursor};
use super::assemble::{Part, Used};
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
    /// The number of elements side by side for each of the domain: several in a stack.
    pub(super) stacked: usize,
}

impl Cell {
    /// The bytes for each element of the domain, or for each row.
    pub(super) fn width(&self) -> usize {
        self.element.byte_width() * self.stacked
    }
}

/// The start of a slot's tiles.
#[derive(Debug, Clone, Copy)]
struct Base {
    data: *mut u8,
    /// The bytes for each element of the domain, or for each row.
    width: usize,
    per_row: bool,
    /// Whether the slot holds a whole array, of which a tile is a part, instead of a single tile.
    is_array: bool,
    /// The index of the first element of an array that is there.
    first: usize,
    /// The number of bytes that may be accessed.
    len: usize,
}

/// A cache line, to which vectors are aligned.
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

const _: () = assert!(align_of::<Line>() == BUFFER_ALIGN);

/// The sizes of a program's memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// The number of elements in a tile.
    pub(super) tile: usize,
    /// The number of elements in a register.
    pub(super) register: usize,
    /// The number of elements in a row.
    pub(super) row: usize,
    /// The number of blocks for runs.
    pub(super) blocks: usize,
    /// The number of results that are arrays; of the others, there is a tile.
    pub(super) results: usize,
}

/// The slots of one thread that runs a program.
#[derive(Debug)]
pub(super) struct Memory {
    bases: SmallVec<[Base; 8]>,
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
    /// The table of the last run on rows.
    rows: Option<Rows>,
    /// Keeps the registers and the blocks alive.
    _registers: Vec<u8>,
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

    /// The buffer of operand `index`; an empty one for what is not an operand of the kernel.
    fn input(self, index: usize) -> RawBuffer {
        let empty = RawBuffer { data: std::ptr::null_mut(), len: 0 };
        if index < self.inputs.len() { self.inputs.raw(index) } else { empty }
    }
}

// SAFETY: both are addresses and sizes. Threads get disjoint ranges of elements, see `Memory::new`.
unsafe impl Send for Buffers<'_> {}
// SAFETY: as above.
unsafe impl Sync for Buffers<'_> {}

impl Memory {
    /// Registers and blocks of these sizes, and the buffers.
    ///
    /// # Safety
    /// While the value is used, no other thread accesses the elements of the results that
    /// [`set_tile`](Memory::set_tile) selects, and [`with_array`](Memory::with_array) does not read operands in place.
    /// Of those, `is_moved` says which are copied to registers first. Others are not read, or by the only step, which
    /// reads each element before it writes any that may be in place.
    pub(super) unsafe fn new(
        [registers, inputs, outputs]: [&[Cell]; 3],
        Sizes { tile, register, row, blocks, results }: Sizes,
        is_moved: impl Fn(usize) -> bool,
        buffers: Buffers<'_>,
    ) -> Memory {
        let lines = |cell: &Cell, count: usize| {
            let count = if cell.per_row { count / row } else { count };
            (count * cell.width()).div_ceil(size_of::<Line>())
        };
        let is_moved = |index: usize| buffers.inputs.is_in_place(index) && is_moved(index);
        let (block_count, block_lines) = (blocks, blocks * BLOCK_BYTES / size_of::<Line>());
        // Loops: chains of iterators take longer than all else here.
        let mut all_lines = block_lines;
        for cell in registers {
            all_lines += lines(cell, register);
        }
        for (index, cell) in inputs.iter().enumerate() {
            all_lines += if is_moved(index) { lines(cell, tile) } else { 0 };
        }
        for cell in &outputs[results..] {
            all_lines += lines(cell, tile);
        }
        // The system takes several times as long for more than its own alignment, or for zeros.
        let bytes = (all_lines + 1) * size_of::<Line>() - 1;
        let mut memory: Vec<u8> = std::iter::repeat_n(0, bytes).collect();
        let (_, aligned, _) = bytemuck::pod_align_to_mut::<u8, Line>(&mut memory);
        let (blocks, mut rest) = aligned.split_at_mut(block_lines);
        let blocks = blocks.as_mut_ptr().cast();
        let base = |data, cell: &Cell, is_array, len| Base {
            data,
            width: cell.width(),
            per_row: cell.per_row,
            is_array,
            first: 0,
            len,
        };
        let mut own = |cell: &Cell, count: usize| {
            let (own, others) = std::mem::take(&mut rest).split_at_mut(lines(cell, count));
            rest = others;
            let len = size_of_val(own);
            base(own.as_mut_ptr().cast(), cell, false, len)
        };
        let array = |RawBuffer { data, len }: RawBuffer, cell: &Cell| base(data, cell, true, len);
        let mut bases = SmallVec::with_capacity(registers.len() + inputs.len() + outputs.len());
        for cell in registers {
            bases.push(own(cell, register));
        }
        let mut in_place = Vec::new();
        for (index, cell) in inputs.iter().enumerate() {
            let operand = array(buffers.input(index), cell);
            if is_moved(index) {
                in_place.push(((registers.len() + index) as Slot, operand));
                bases.push(own(cell, tile));
            } else {
                bases.push(operand);
            }
        }
        for (index, cell) in outputs.iter().enumerate() {
            bases.push(if index < results { array(buffers.outputs.raw(index), cell) } else { own(cell, tile) });
        }
        Memory {
            bases,
            in_place,
            start: 0,
            len: 0,
            row,
            blocks,
            block_count,
            places: Vec::new(),
            rows: None,
            _registers: memory,
        }
    }

    /// Makes `slot`, an operand or result, the array whose elements from `first` on are in `buffer`.
    ///
    /// # Safety
    /// The same holds for the buffer as for those given to [`new`](Memory::new), and no step reads the slot as a whole
    /// unless `first` is 0.
    pub(super) unsafe fn place(&mut self, slot: Slot, buffer: RawBuffer, first: usize) {
        let base = &mut self.bases[slot as usize];
        assert!(base.is_array, "registers stay where they are");
        (base.data, base.len, base.first) = (buffer.data, buffer.len, first);
    }

    /// Selects the first `len` elements of registers.
    pub(super) fn set_registers(&mut self, len: usize) {
        (self.start, self.len) = (0, len);
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

    /// The index in `slot` of the tile's first element, or first row.
    pub(super) fn start(&self, slot: Slot) -> usize {
        if self.bases[slot as usize].per_row { self.start / self.row } else { self.start }
    }

    /// The bytes of the tile in a slot.
    fn range(&self, base: Base) -> (*mut u8, usize) {
        let unit = if base.per_row { self.row } else { 1 };
        let first = if base.is_array { (self.start - base.first) / unit * base.width } else { 0 };
        let len = self.len / unit * base.width;
        assert!(first + len <= base.len, "the tile is in the buffer");
        // SAFETY: asserted to be inside the allocation (or it is the address of an empty one, with nothing added).
        (unsafe { base.data.add(first) }, len)
    }

    /// The first address of a slot.
    pub(super) fn first(&self, slot: Slot) -> *mut u8 {
        self.bases[slot as usize].data
    }

    /// The address of rows of elements of an array, and their distance in bytes: `rows` of `count` elements, the first
    /// at element `first`, each `step` elements after the one before.
    ///
    /// # Panics
    /// If they are outside the array.
    #[inline]
    pub(super) fn elements(
        &self,
        array: Slot,
        (first, step): (usize, usize),
        (rows, count): (usize, usize),
    ) -> (*mut u8, usize) {
        let Base { data, len, width, .. } = self.bases[array as usize];
        let end = first + (rows - 1) * step + count;
        assert!(rows > 0 && end * width <= len, "the elements are in the array");
        (data.wrapping_add(first * width), step * width)
    }

    /// The address of `count` elements of each of `rows` rows, which are `apart` elements apart, from the tile's
    /// element `first` on, and that distance in bytes.
    ///
    /// # Panics
    /// If they are outside the tile, or the slot has one element for each row.
    #[inline]
    pub(super) fn rows(
        &self,
        slot: Slot,
        first: usize,
        (rows, apart): (usize, usize),
        count: usize,
    ) -> (*mut u8, usize) {
        let base = self.bases[slot as usize];
        assert!(first + (rows - 1) * apart + count <= self.len && !base.per_row, "the rows are in the tile");
        (self.range(base).0.wrapping_add(first * base.width), apart * base.width)
    }

    /// Writes the tile of a register to the places that a map has for its elements in an array.
    ///
    /// # Panics
    /// If they are outside the array, or are not runs of neighbours.
    pub(super) fn update(&mut self, from: Slot, array: Slot, access: &Access) {
        let (from, width) = (self.range(self.bases[from as usize]).0, self.bases[array as usize].width);
        let mut cursor = Cursor::new(access, self.start);
        let mut done = 0;
        while done < self.len {
            let run = cursor.run();
            let count = run.count.min(self.len - done);
            let place = run.place.filter(|place| place.stride == 1).expect("all elements are in the box, in runs");
            let (to, _) = self.elements(array, (place.first, 0), (1, count));
            // SAFETY: the tile is in the register, and the elements in the array, as asserted; these are different
            // memory. No other thread has the places of the tile's elements.
            unsafe { std::ptr::copy_nonoverlapping(from.wrapping_add(done * width), to, count * width) };
            cursor.advance(count);
            done += count;
        }
    }

    /// Fills `count` elements of a register, from `at` on, with an element of an array; returns their address.
    ///
    /// # Panics
    /// If they are outside the register, or the element is outside the array.
    pub(super) fn repeat(
        &mut self,
        (register, at): (Slot, usize),
        (array, element): (Slot, usize),
        count: usize,
    ) -> *mut u8 {
        let (to, from) = (self.bases[register as usize], self.bases[array as usize]);
        let width = to.width;
        assert!(!to.is_array && from.is_array && from.width == width, "one is a register, the other an array");
        assert!((at + count) * width <= to.len && (element + 1) * width <= from.len, "the elements are there");
        let data = to.data.wrapping_add(at * width);
        for index in 0..count {
            // SAFETY: both are inside their memory, as asserted, which is different memory.
            unsafe {
                let (from, to) = (from.data.add(element * width), data.wrapping_add(index * width));
                std::ptr::copy_nonoverlapping(from, to, width);
            }
        }
        data
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
            return self.run_rows(kernel, slots);
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
            let has_room = base.width * block <= BLOCK_BYTES && !base.per_row;
            match used.part {
                Part::Tile => assert!(has_room, "a block is large enough for any element"),
                Part::Splat => assert!(base.is_array || base.width * block <= base.len, "a block of it is filled"),
                Part::Row | Part::SameRow(_) => panic!("only generated code takes rows"),
                Part::Whole => assert!(base.is_array, "only operands are read as a whole"),
            }
            places.push(Place { data: self.array(used), advances: used.part == Part::Tile });
        }
        places.extend(own_places);
        if whole > 0 {
            // SAFETY: each slot has the tile's elements, at least `whole`; a separate block is as long as any. No slot
            // overlaps one that is written, and no other thread has these elements.
            unsafe { run.run(&places, whole) };
        }
        if rest > 0 {
            for (index, (place, used)) in
                places.iter_mut().zip(slots).enumerate().filter(|(_, (_, used))| used.part != Part::Whole)
            {
                let width = self.bases[used.slot as usize].width;
                let from = place.data.wrapping_add(if place.advances { whole * width } else { 0 });
                let copy = own_block(own + index);
                // SAFETY: the rest of the tile is in the slot, and shorter than a block, which is separate memory.
                unsafe { std::ptr::copy_nonoverlapping(from, copy, rest * width) };
                *place = Place { data: copy, advances: false };
            }
            // SAFETY: all places are blocks that this value owns, or whole operands.
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

    /// Computes a run on the rows of the tile.
    ///
    /// # Panics
    /// If the tile is outside the buffers.
    fn run_rows(&mut self, kernel: &Kernel, slots: &[Used]) {
        let mut arrays: SmallVec<[(*mut u8, usize); 16]> = SmallVec::new();
        for used in slots {
            let base = self.bases[used.slot as usize];
            let step = match used.part {
                Part::Tile => {
                    assert!(!base.per_row, "there is an element for each of the tile");
                    self.row * base.width
                }
                Part::Row => {
                    assert!(base.per_row, "there is an element for each row");
                    base.width
                }
                Part::SameRow(first) => {
                    assert!(base.is_array && (first + self.row) * base.width <= base.len, "the row is in the operand");
                    0
                }
                Part::Splat | Part::Whole => 0,
            };
            arrays.push((self.array(used), step));
        }
        let mut rows = match self.rows.take() {
            Some(rows) => rows.reused(kernel),
            None => Rows::new(kernel),
        };
        rows.push_evenly(&arrays, self.len / self.row, self.row);
        // SAFETY: each slot has the elements of the tile's rows, or an element for each row, or all that is read of it.
        // No slot overlaps one that is written, and no other thread has these elements.
        unsafe { kernel.run_rows(&rows) };
        self.rows = Some(rows);
    }

    /// The address of what a run uses of a slot. The elements of a splat are equal, and may be one.
    ///
    /// # Panics
    /// If the tile is outside the buffer.
    fn array(&self, used: &Used) -> *mut u8 {
        let base = self.bases[used.slot as usize];
        match used.part {
            Part::Splat | Part::Whole => base.data,
            Part::SameRow(first) => base.data.wrapping_add(first * base.width),
            Part::Tile | Part::Row => self.range(base).0,
        }
    }

    /// The tile in a slot.
    ///
    /// # Panics
    /// If the tile is outside the buffer.
    pub(super) fn tile(&self, slot: Slot) -> &[u8] {
        let (data, len) = self.range(self.bases[slot as usize]);
        // SAFETY: the range is inside the slot's memory, which is initialised, and which nothing writes meanwhile.
        unsafe { slice(data, len) }
    }

    /// Calls `f` with the tile in `out`, and a whole array.
    ///
    /// # Panics
    /// Like [`with`](Memory::with).
    pub(super) fn with_array<R>(&mut self, out: Slot, array: Slot, f: impl FnOnce(&mut [u8], &[u8]) -> R) -> R {
        self.with_array_and(out, array, [], |out, array, []| f(out, array))
    }

    /// Calls `f` with the tile in `out`, a whole array, and the tiles in `args`.
    ///
    /// # Panics
    /// Like [`with`](Memory::with).
    pub(super) fn with_array_and<const N: usize, R>(
        &mut self,
        out: Slot,
        array: Slot,
        args: [Slot; N],
        f: impl FnOnce(&mut [u8], &[u8], [&[u8]; N]) -> R,
    ) -> R {
        assert!(out != array, "a step does not write what it reads");
        let base = self.bases[array as usize];
        // SAFETY: as in `with`. Operands that are read as arrays are never in place.
        let array = unsafe { slice(base.data, base.len) };
        self.with(out, args, |out, args| f(out, array, args))
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
