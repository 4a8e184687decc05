//! Execution of tile programs.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bytemuck::Pod;
use num_traits::AsPrimitive;
use oxcall::Error;
use oxcall_hlo::ElementType;
use oxcall_jit::Listing;
use smallvec::SmallVec;

use super::access::Access;
use super::accumulators::Sums;
use super::assemble::{Part, Used};
use super::chain::BLOCK_BYTES;
use super::elements::Elements;
use super::memory::{Buffers, Cell, Memory, Sizes, Slot};
use super::rings::LONGEST_RING;
use super::run::Run;
use super::spread::spread;
use super::table::{Accumulators, Table};
use super::update::Update;
use crate::by_width;
use crate::element::Scalar;
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::kernels::movement::interleave::{interleave_few, place};
use crate::kernels::reduce::RowFold;
use crate::machine::{self, Block};
use crate::math::function::TileFn;
use crate::math::level::vectorised;
use crate::pool::Cost;

/// A step, which runs on each tile.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// `out = function(args)`; only the first `arity` args are read.
    Apply {
        /// The function.
        function: TileFn,
        /// The number of operands.
        arity: u8,
        /// The operands.
        args: [Slot; 3],
        /// The result.
        out: Slot,
    },
    /// Loads elements of operands that are not contiguous.
    Gather {
        /// The operands, with the maps to their elements.
        parts: Box<[(Slot, Access)]>,
        /// The type of the elements, in their stored form.
        element: ElementType,
        /// The slot of the loaded elements.
        out: Slot,
        /// Whether all elements of a run are equal, and the first is read only.
        is_even: bool,
    },
    /// The index along a dimension.
    Iota {
        /// The number of successive elements with the same index.
        repeat: usize,
        /// The size of the dimension.
        size: usize,
        /// The type of the indices: `S32` or `S64`.
        element: ElementType,
        /// The slot of the indices.
        out: Slot,
    },
    /// Words of an operand at signed indices, which are moved into its bounds.
    Pick {
        /// The operand.
        array: Slot,
        /// The slot of the indices.
        index: Slot,
        /// The slot of the words.
        out: Slot,
    },
    /// Several functions in one pass.
    Run(Box<Linked>),
    /// Each row reduced to one element.
    Fold {
        /// The reduction.
        fold: RowFold,
        /// The slot to reduce.
        from: Slot,
        /// The slot of the results.
        out: Slot,
    },
    /// Each element repeated for its row.
    Spread {
        /// The slot with one element per row.
        from: Slot,
        /// The type of its elements.
        element: ElementType,
        /// The slot of the result.
        out: Slot,
    },
    /// Rows of one element of each of several slots.
    Stack {
        /// The slots, in order.
        parts: Box<[Slot]>,
        /// The type of their elements.
        element: ElementType,
        /// The slot of the rows.
        out: Slot,
    },
    /// Elements written to a part of a result.
    Update {
        /// The slot to read.
        from: Slot,
        /// The type of its elements, in their stored form.
        element: ElementType,
        /// The result.
        out: Slot,
        /// The map to its elements.
        access: Access,
    },
    /// `out = from`.
    Copy {
        /// The slot to read.
        from: Slot,
        /// The slot to write.
        out: Slot,
    },
}

/// The code of a run, with the slots that are its first places; its separate blocks follow.
#[derive(Debug, Clone)]
pub(super) struct Linked {
    /// The code.
    pub(super) run: Run,
    /// Whether it reads each element before it writes one.
    pub(super) reads_first: bool,
    /// The slots.
    pub(super) slots: Vec<Used>,
    /// Blocks for values that no other step uses.
    pub(super) blocks: usize,
}

/// The contents of a register before the first tile.
#[derive(Debug, Clone)]
pub(super) enum Splat {
    /// An element in its computed form.
    Constant(Scalar),
    /// The first element of an operand, converted by a function if its stored form differs from the computed one.
    Input {
        /// The operand.
        slot: Slot,
        /// Its stored type.
        element: ElementType,
        /// The function that converts it.
        load: Option<crate::math::Function>,
    },
}

/// A tile program: element-wise functions of operands, evaluated tile by tile.
#[derive(Debug)]
pub struct Program {
    /// The name, for dumps.
    pub(super) name: String,
    /// The number of elements.
    pub(super) count: usize,
    /// The number of elements in a row; 1 without rows. Tiles consist of whole rows.
    pub(super) row: usize,
    /// The registers.
    pub(super) registers: Vec<Cell>,
    /// The operands, in their stored form.
    pub(super) inputs: Vec<Cell>,
    /// The results, in their stored form.
    pub(super) outputs: Vec<Cell>,
    /// Registers that are filled before the first tile.
    pub(super) splats: Vec<(Slot, Splat)>,
    /// The steps, which run on each tile.
    pub(super) steps: Vec<Step>,
    /// The same as machine code that reads gathered elements where they are.
    pub(super) table: Option<Table>,
    /// Whether the only step reads each element of an operand before it writes one of a result.
    pub(super) reads_first: bool,
    /// The number of the last results that are reduced, tile by tile.
    pub(super) reduced: usize,
    /// Whether the table combines them with accumulators.
    pub(super) has_accumulators: bool,
    /// Operands and results that may share memory.
    pub(super) in_place: Vec<(usize, usize)>,
    /// The results that are parts of larger arrays.
    pub(super) updates: Vec<Update>,
    /// An estimate of the cost.
    pub(super) cost: Cost,
    /// The same program for blocks of machine code, if it has such a form.
    pub(super) elements: Option<Elements>,
    /// What follows from the rest, computed by the first run.
    pub(super) geometry: OnceLock<Geometry>,
}

/// The sizes of tiles and registers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Geometry {
    /// The number of elements in a tile.
    tile: usize,
    /// The number of elements that tiles have a multiple of.
    unit: usize,
    /// The number of elements in a register.
    register: usize,
    /// The number of blocks for runs.
    blocks: usize,
}

/// The size of a tile in all registers and arrays together, in bytes: half of a typical L1 cache.
const TILE_BYTES: usize = 24 << 10;

/// The number of elements in a tile of a program with a single step, so that the step's setup costs nothing beside it.
const LONG_TILE: usize = 8192;

/// The most elements in a block of a run.
const LONGEST_BLOCK: usize = BLOCK_BYTES / size_of::<u32>();
const _: () = assert!(oxcall_jit::LONGEST_BLOCK <= LONGEST_BLOCK, "a block of a splat is filled");

/// The longest row of gathered elements that decides on the size of tiles.
pub(super) const LONGEST_GATHERED: usize = 4096;

impl Program {
    /// Whether a part of it is machine code.
    pub fn is_compiled(&self) -> bool {
        self.generated().next().is_some()
    }

    /// The machine code of runs.
    fn generated(&self) -> impl Iterator<Item = &Arc<oxcall_jit::Kernel>> {
        self.steps.iter().filter_map(|step| match step {
            Step::Run(linked) => match &linked.run {
                Run::Generated(kernel) => Some(kernel),
                Run::Chain(_) => None,
            },
            _ => None,
        })
    }

    /// The same program under another name.
    pub fn named(self, name: String) -> Program {
        Program { name, ..self }
    }

    /// Whether it is nothing else but a run, which reads elements where they are, and registers block by block.
    fn is_one_run(&self) -> bool {
        matches!(self.steps[..], [Step::Run(_)]) || self.table.as_ref().is_some_and(Table::copies_nothing)
    }

    /// The sizes of tiles and registers.
    fn geometry(&self) -> Geometry {
        *self.geometry.get_or_init(|| {
            let unit = self.unit();
            let tile = self.tile(unit);
            let has_rings = self.table.as_ref().is_some_and(Table::has_rings);
            let row = self.table.as_ref().and_then(Table::whole_row).unwrap_or(0);
            let register = match () {
                () if !self.is_one_run() => tile,
                () if has_rings => LONGEST_RING,
                () => tile.min(LONGEST_BLOCK.max(row)),
            };
            Geometry { tile, unit, register, blocks: self.blocks() }
        })
    }

    /// The number of elements in a tile.
    fn tile(&self, unit: usize) -> usize {
        // One pass over memory: there is nothing to keep in the cache.
        if self.is_one_run() {
            return LONG_TILE.next_multiple_of(unit).min(self.count);
        }
        let cells = self.registers.iter().chain(&self.inputs).chain(&self.outputs).filter(|cell| !cell.per_row);
        let width: usize = cells.map(Cell::width).sum();
        let tile = (TILE_BYTES / width.max(1)).clamp(512, 2048) / 64 * 64;
        ((tile / unit).max(1) * unit).min(self.count)
    }

    /// The number of elements that tiles have a multiple of: a row, or a row of what is gathered, which is read in
    /// place then, or copied as one.
    fn unit(&self) -> usize {
        let row = |step: &Step| match step {
            Step::Gather { parts, .. } => parts.iter().map(|(_, access)| access.row()).find(|row| *row < self.count),
            Step::Update { access, .. } => Some(access.row()).filter(|row| *row < self.count),
            _ => None,
        };
        let rows = self.steps.iter().filter_map(row).filter(|row| *row <= LONGEST_GATHERED);
        let unit = if self.row > 1 { self.row } else { rows.max().unwrap_or(1) };
        match self.table.as_ref().and_then(Table::whole_row) {
            Some(row) if unit % row != 0 => row,
            _ => unit,
        }
    }

    /// Whether it computes `count` elements, any range of them, and reduces nothing.
    pub fn is_element_wise(&self, count: usize) -> bool {
        let takes_any_range = self.table.as_ref().is_none_or(|table| table.whole_row().is_none());
        let has_stacks = self.outputs.iter().any(|cell| cell.stacked > 1);
        let is_whole = self.count == count && self.updates.is_empty();
        is_whole && self.row == 1 && self.reduced == 0 && takes_any_range && !has_stacks
    }

    /// Whether it reads an operand's elements only at the places for which it computes results.
    pub fn reads_in_place(&self, input: usize) -> bool {
        let slot = (self.registers.len() + input) as Slot;
        let is_elsewhere = |step: &Step| match step {
            Step::Gather { parts, .. } => parts.iter().any(|(part, _)| *part == slot),
            Step::Pick { array, .. } => *array == slot,
            Step::Run(linked) => {
                linked.slots.iter().any(|used| used.slot == slot && !matches!(used.part, Part::Tile | Part::Row))
            }
            _ => false,
        };
        let is_splat = |(_, splat): &(Slot, Splat)| matches!(splat, Splat::Input { slot: whole, .. } if *whole == slot);
        let is_ring = self.table.as_ref().is_some_and(|table| table.repeats(slot));
        !self.steps.iter().any(is_elsewhere) && !self.splats.iter().any(is_splat) && !is_ring
    }

    /// The size of each operand's elements, in bytes.
    pub(super) fn operand_widths(&self) -> impl Iterator<Item = usize> {
        self.inputs.iter().map(Cell::width)
    }

    /// The size of each result's elements, in bytes.
    pub(super) fn result_widths(&self) -> impl ExactSizeIterator<Item = usize> {
        self.outputs.iter().map(Cell::width)
    }

    /// The slot of operand `index`, or of a result, which follow the operands.
    pub(super) fn slot(&self, index: usize) -> Slot {
        (self.registers.len() + index) as Slot
    }

    /// Fills the registers that stay constant.
    fn fill(&self, memory: &mut Memory) {
        self.fill_some(memory, |_| true);
    }

    /// Fills the registers that repeat one element of an operand again.
    pub(super) fn refill(&self, memory: &mut Memory) {
        self.fill_some(memory, |splat| matches!(splat, Splat::Input { .. }));
    }

    fn fill_some(&self, memory: &mut Memory, is_due: impl Fn(&Splat) -> bool) {
        memory.set_registers(self.geometry().register);
        for (out, splat) in self.splats.iter().filter(|(_, splat)| is_due(splat)) {
            let element = self.registers[*out as usize].element;
            match splat {
                Splat::Constant(value) => {
                    by_width!(element, T => memory.with(*out, [], |out, []| {
                        bytemuck::cast_slice_mut::<u8, T>(out).fill(value.to_pod::<T>());
                    }));
                }
                Splat::Input { slot, element: stored, load } => memory.with_array(*out, *slot, |out, array| {
                    let value = Scalar::from_bytes(&array[..stored.byte_width()]);
                    let value = load.map_or(value, |load| load.call([value; 3]));
                    by_width!(element, T => bytemuck::cast_slice_mut::<u8, T>(out).fill(value.to_pod::<T>()));
                }),
            }
        }
    }

    /// The number of blocks that a run needs: its separate ones, and one for each slot if a tile ends within a block.
    fn blocks(&self) -> usize {
        let blocks = |step: &Step| match step {
            Step::Run(linked) => linked.blocks + linked.slots.len(),
            _ => 0,
        };
        self.steps.iter().map(blocks).max().unwrap_or(0)
    }

    /// Computes ranges of elements, and combines element `i` of each with element `i % width` of the accumulators of
    /// the reduced results.
    pub(super) fn accumulate(
        &self,
        ranges: impl Iterator<Item = Range<usize>>,
        accumulators: &mut [Sums<'_>],
        width: usize,
        buffers: Buffers<'_>,
    ) {
        let tile = self.geometry().tile;
        let mut memory = self.memory(buffers);
        if let (Some(table), true) = (&self.table, self.has_accumulators) {
            let address = |sums: &mut Sums<'_>| {
                assert_eq!(sums.bytes.len(), width * sums.accumulator.bytes, "there is an element for each column");
                (sums.bytes.as_mut_ptr(), sums.accumulator.bytes)
            };
            let addresses: SmallVec<[(*mut u8, usize); 2]> = accumulators.iter_mut().map(address).collect();
            for range in ranges {
                let accumulators = Accumulators { addresses: &addresses, width };
                // SAFETY: the addresses are those of so many elements, which are borrowed here.
                unsafe { table.accumulate(&mut memory, range, tile, accumulators) };
            }
            return;
        }
        let first = self.registers.len() + self.inputs.len() + self.outputs.len() - self.reduced;
        for range in ranges {
            for start in range.clone().step_by(tile.max(1)) {
                self.run_tile(&mut memory, start..(start + tile).min(range.end));
                for (slot, sums) in (first as Slot..).zip(&mut *accumulators) {
                    sums.add(memory.tile(slot), start - range.start);
                }
            }
        }
    }

    fn run_range(&self, range: Range<usize>, buffers: Buffers<'_>) {
        let mut memory = self.memory(buffers);
        self.run_tiles(&mut memory, range);
    }

    /// Computes a range of elements, tile by tile.
    pub(super) fn run_tiles(&self, memory: &mut Memory, range: Range<usize>) {
        let tile = self.geometry().tile;
        if let Some(table) = &self.table {
            return table.run(memory, range, tile);
        }
        for start in range.clone().step_by(tile.max(1)) {
            self.run_tile(memory, start..(start + tile).min(range.end));
        }
    }

    /// Computes one tile.
    fn run_tile(&self, memory: &mut Memory, tile: Range<usize>) {
        if let Some(table) = &self.table {
            let len = tile.len();
            return table.run(memory, tile, len);
        }
        memory.set_tile(tile.start, tile.len());
        self.steps.iter().for_each(|step| step.run(memory));
    }

    /// The memory for tiles, with the registers that stay constant.
    pub(super) fn memory(&self, buffers: Buffers<'_>) -> Memory {
        let cells = [&self.registers[..], &self.inputs, &self.outputs];
        let Geometry { tile, register, blocks, .. } = self.geometry();
        let tiles = if self.has_accumulators { 0 } else { self.reduced };
        let results = self.outputs.len() - tiles;
        let sizes = Sizes { tile, register, row: self.row, blocks, results };
        let is_moved = |input: usize| !self.reads_first && self.updates.iter().all(|update| update.operand != input);
        // SAFETY: each thread has its own range, which contains its tiles; `in_place` has only operands that no step
        // reads as arrays; `reads_first` is what it says. Operands of updates are in place if no step reads them, or
        // if it is set.
        let mut memory = unsafe { Memory::new(cells, sizes, is_moved, buffers) };
        if !self.splats.is_empty() {
            self.fill(&mut memory);
        }
        memory
    }
}

impl Step {
    #[inline]
    fn run(&self, memory: &mut Memory) {
        match self {
            Step::Apply { function, arity: 1, args: [a, ..], out } => {
                memory.with(*out, [*a], |out, [a]| function(out, [a, &[], &[]]));
            }
            Step::Apply { function, arity: 2, args: [a, b, _], out } => {
                memory.with(*out, [*a, *b], |out, [a, b]| function(out, [a, b, &[]]));
            }
            Step::Apply { function, args, out, .. } => memory.with(*out, *args, function),
            Step::Gather { parts, element, out, .. } => {
                let start = memory.start(*out);
                for (input, access) in parts {
                    memory.with_array(*out, *input, |out, array| {
                        by_width!(element, T => access.load::<T>(bytemuck::cast_slice(array), start, bytemuck::cast_slice_mut(out)));
                    });
                }
            }
            Step::Iota { repeat, size, element, out } => {
                let start = memory.start(*out);
                memory.with(*out, [], |out, []| match element {
                    ElementType::S32 => iota::<i32>(*repeat, *size, start, bytemuck::cast_slice_mut(out)),
                    _ => iota::<i64>(*repeat, *size, start, bytemuck::cast_slice_mut(out)),
                });
            }
            Step::Pick { array, index, out } => memory.with_array_and(*out, *array, [*index], |out, array, [index]| {
                pick(bytemuck::cast_slice(index), bytemuck::cast_slice(array), bytemuck::cast_slice_mut(out));
            }),
            Step::Run(linked) => memory.run(&linked.run, &linked.slots, linked.blocks),
            Step::Fold { fold, from, out } => {
                let row = memory.row();
                memory.with(*out, [*from], |out, [from]| fold(from, row, out));
            }
            Step::Spread { from, element, out } => {
                let row = memory.row();
                memory.with(*out, [*from], |out, [from]| {
                    by_width!(*element, T => spread::<T>(bytemuck::cast_slice(from), row, bytemuck::cast_slice_mut(out)));
                });
            }
            Step::Stack { parts, element, out } => by_width!(*element, T => stack_parts::<T>(memory, parts, *out)),
            Step::Update { from, out, access, .. } => memory.update(*from, *out, access),
            Step::Copy { from, out } => memory.with(*out, [*from], |out, [from]| out.copy_from_slice(from)),
        }
    }
}

/// Writes rows of one element of each part.
fn stack_parts<T: Pod>(memory: &mut Memory, parts: &[Slot], out: Slot) {
    fn few<T: Pod, const N: usize>(memory: &mut Memory, parts: [Slot; N], out: Slot) {
        memory.with(out, parts, |out, parts| {
            let mut arrays: [&[T]; N] = [&[]; N];
            arrays.iter_mut().zip(parts).for_each(|(array, part)| *array = bytemuck::cast_slice(part));
            interleave_few(&arrays, bytemuck::cast_slice_mut(out));
        });
    }
    match *parts {
        [a, b] => few::<T, 2>(memory, [a, b], out),
        [a, b, c] => few::<T, 3>(memory, [a, b, c], out),
        [a, b, c, d] => few::<T, 4>(memory, [a, b, c, d], out),
        _ => {
            for (column, &part) in parts.iter().enumerate() {
                memory.with(out, [part], |out, [part]| {
                    let (part, out) = (bytemuck::cast_slice::<u8, T>(part), bytemuck::cast_slice_mut(out));
                    place(part, column, parts.len(), out);
                });
            }
        }
    }
}

/// The words at indices, which are moved inside.
fn pick(indices: &[i32], array: &[u32], out: &mut [u32]) {
    let last = array.len() - 1;
    for (out, &index) in out.iter_mut().zip(indices) {
        *out = array[usize::try_from(index).unwrap_or(0).min(last)];
    }
}

vectorised! {
/// The indices of the elements from `start` on.
fn iota<T: Pod>(repeat: usize, size: usize, start: usize, out: &mut [T])
where
    usize: AsPrimitive<T>,
{
    let (mut value, mut left) = (start / repeat % size, repeat - start % repeat);
    if repeat == 1 {
        let mut rest = out;
        while !rest.is_empty() {
            let (run, others) = rest.split_at_mut((size - value).min(rest.len()));
            run.iter_mut().enumerate().for_each(|(index, out)| *out = (value + index).as_());
            (rest, value) = (others, 0);
        }
        return;
    }
    let mut rest = out;
    while !rest.is_empty() {
        let (run, others) = rest.split_at_mut(left.min(rest.len()));
        run.fill(value.as_());
        (rest, left, value) = (others, repeat, (value + 1) % size);
    }
}
}

impl Kernel for Program {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn in_place(&self) -> Vec<(usize, usize)> {
        self.in_place.clone()
    }

    fn generate(&self, block: &mut Block<'_>, inputs: &[machine::Slot], outputs: &[machine::Slot]) -> Option<()> {
        self.elements.as_ref()?.generate(block, inputs, outputs)
    }

    fn code(&self) -> Vec<Listing<'_>> {
        self.generated().map(|kernel| kernel.listing()).collect()
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        if self.count == 0 {
            return Ok(());
        }
        self.updates.iter().for_each(|update| update.copy_outside(cx, inputs, &mut outputs));
        let buffers = Buffers::new(inputs, &outputs);
        // Ranges start at rows, and short ones at cache lines for any element width.
        let unit = self.geometry().unit;
        let unit = if unit < 64 { 64 * unit } else { unit };
        cx.pool.for_ranges(self.cost, self.count, unit, |range| self.run_range(range, buffers));
        Ok(())
    }
}
