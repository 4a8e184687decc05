//! One piece of the arrays of a [loop](super::tiled_loop): its memory, and all iterations on it.

use std::cell::Cell;
use std::ops::Range;
use std::ptr;

use oxcall::Error;
use smallvec::SmallVec;

use super::memory::{self, Buffers, Slot};
use super::tiled_loop::{Condition, Home, LoopParts, RowIndex, ScalarWork, Source, TakenScalar, TiledLoop, Work};
use crate::element::Scalar;
use crate::interrupt::Era;
use crate::kernel::{Context, Inputs, Outputs};
use crate::memory::{BUFFER_ALIGN, RawBuffer, Scratch};
use crate::scalar::Evaluator;

/// The scalars of an iteration: those that the loop carries, invariant ones, and those that the iteration computes.
///
/// Programs read them at their addresses while others change.
pub(super) struct Scalars(SmallVec<[Cell<Scalar>; 16]>);

impl Scalars {
    /// The scalars before the first iteration.
    pub(super) fn new(parts: &LoopParts, inputs: Inputs<'_>) -> Scalars {
        let carried = parts.scalars.iter().map(|scalar| scalar.init);
        let operands = carried.chain(parts.invariant.iter().copied());
        let known = operands.map(|operand| Cell::new(Scalar::from_bytes(inputs.get::<u8>(operand))));
        let LoopParts { scalar_work, taken, late_work, .. } = parts;
        let computed = scalar_work.program.results() + taken.len() + late_work.program.results();
        Scalars(known.chain(std::iter::repeat_n(Cell::default(), computed)).collect())
    }

    /// The row that is selected.
    fn row(&self, RowIndex { index, element, rows }: RowIndex) -> usize {
        self.0[index].get().integer(element).clamp(0, rows as i128 - 1) as usize
    }

    /// The values of the carried ones.
    pub(super) fn carried(&self, parts: &LoopParts) -> Vec<Scalar> {
        self.0[..parts.scalars.len()].iter().map(Cell::get).collect()
    }
}

/// A function of scalars, with room for its arguments and results.
struct Function<'a> {
    evaluator: Evaluator<'a>,
    work: &'a ScalarWork,
    args: SmallVec<[Scalar; 16]>,
    results: SmallVec<[Scalar; 16]>,
}

impl<'a> Function<'a> {
    fn new(work: &'a ScalarWork) -> Function<'a> {
        let results = SmallVec::from_elem(Scalar::default(), work.program.results());
        Function { evaluator: work.program.evaluator(), work, args: SmallVec::new(), results }
    }

    fn call(&mut self, scalars: &Scalars) -> &[Scalar] {
        self.args.clear();
        self.args.extend(self.work.args.iter().map(|&id| scalars.0[id].get()));
        self.evaluator.call(&self.args, &mut self.results);
        &self.results
    }
}

/// The distance of pieces in memory is a multiple of a page plus this, so that equal places in two of them are not in
/// the same lines of a cache.
const SKEW: usize = 5 * BUFFER_ALIGN;

/// The memory of pieces: two of each carried array, which take turns, then the separate ones.
pub(super) struct Memory {
    bytes: Scratch<u8>,
    /// The number of elements in a piece.
    len: usize,
    /// The start of each piece.
    starts: Vec<usize>,
}

impl Memory {
    /// Memory for pieces of `len` elements.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if memory runs out.
    pub(super) fn new(looped: &TiledLoop, cx: Context<'_>, len: usize) -> Result<Memory, Error> {
        let carried = looped.parts.arrays.iter().flat_map(|array| [array.width; 2]);
        let mut end = 0;
        let mut starts = Vec::with_capacity(2 * looped.parts.arrays.len() + looped.own.len()); // Bounded: pieces.
        for width in carried.chain(looped.own.iter().copied()) {
            starts.push(end);
            end += (width * len).next_multiple_of(4096) + SKEW;
        }
        Ok(Memory { bytes: cx.scratch(end)?, len, starts })
    }
}

/// The elements of an array from `first` on.
#[derive(Clone, Copy)]
struct Place {
    buffer: RawBuffer,
    first: usize,
}

impl Place {
    fn whole(buffer: RawBuffer) -> Place {
        Place { buffer, first: 0 }
    }

    /// A row of an array.
    fn row(array: RawBuffer, row: RowIndex, scalars: &Scalars) -> Place {
        Place::nth_row(array, scalars.row(row), row.rows)
    }

    fn nth_row(array: RawBuffer, index: usize, rows: usize) -> Place {
        let len = array.len / rows;
        Place::whole(RawBuffer { data: array.data.wrapping_add(index * len), len })
    }
}

/// A program with its memory, and its operands that are rows.
struct Bound<'a> {
    work: &'a Work,
    memory: memory::Memory,
    rows: SmallVec<[(Slot, Source); 2]>,
}

/// One piece of all arrays.
pub(super) struct Frame<'a> {
    looped: &'a TiledLoop,
    inputs: Inputs<'a>,
    outputs: &'a Outputs<'a>,
    scalars: &'a Scalars,
    /// The address of the memory of pieces, where each starts, and the number of elements in one.
    memory: *mut u8,
    starts: &'a [usize],
    len: usize,
    /// The elements.
    piece: Range<usize>,
}

impl<'a> Frame<'a> {
    /// # Safety
    /// While the frame is used, no other thread has the elements of the results that are in `piece`, which is at most
    /// as long as the memory's pieces.
    pub(super) unsafe fn new(
        looped: &'a TiledLoop,
        inputs: Inputs<'a>,
        outputs: &'a Outputs<'a>,
        scalars: &'a Scalars,
        memory: &'a mut Memory,
        piece: Range<usize>,
    ) -> Frame<'a> {
        assert!(piece.len() <= memory.len, "there is memory for the piece");
        let Memory { bytes, len, starts } = memory;
        Frame { looped, inputs, outputs, scalars, memory: bytes.as_mut_ptr(), starts, len: *len, piece }
    }

    /// Runs all iterations, or those before the end of `era`.
    pub(super) fn run(&self, era: Era) {
        let LoopParts { arrays, written, condition, scalar_work, taken, late_work, work, scalars: carried, .. } =
            &self.looped.parts;
        self.begin();
        let (conditions, mut decide) = match condition {
            Condition::Scalar(decide) => (&[][..], Some(Function::new(decide))),
            Condition::Any(work) => (&work[..], None),
        };
        let booleans: usize = conditions.iter().map(|work| work.program.result_widths().len()).sum();
        let bind = |parity: usize| (self.bind(conditions, 0, parity), self.bind(work, booleans, parity));
        let mut bound = [bind(0), bind(1)];
        let (mut scalar_work, mut late_work) = (Function::new(scalar_work), Function::new(late_work));
        let mut nexts: SmallVec<[Scalar; 8]> = SmallVec::new();
        let mut parity = 0;
        while !era.is_over() {
            let (conditions, work) = &mut bound[parity];
            let goes_on = match &mut decide {
                Some(decide) => decide.call(self.scalars)[0].0 != 0,
                None => {
                    self.compute(conditions);
                    self.is_any(self.place(Source::Computed(booleans - 1), parity))
                }
            };
            if !goes_on {
                break;
            }
            let mut next = self.scalars.0[carried.len() + self.looped.parts.invariant.len()..].iter();
            let values = scalar_work.call(self.scalars);
            values.iter().zip(&mut next).for_each(|(&value, scalar)| scalar.set(value));
            for TakenScalar { array, index } in taken {
                let element = self.scalars.row(*index);
                let bytes = self.inputs.get::<u8>(*array);
                let width = bytes.len() / index.rows;
                let value = Scalar::from_bytes(&bytes[element * width..][..width]);
                next.next().expect("there is a place for each").set(value);
            }
            let values = late_work.call(self.scalars);
            values.iter().zip(&mut next).for_each(|(&value, scalar)| scalar.set(value));
            self.compute(work);
            for rows in written {
                let row = Place::row(self.outputs.raw(rows.result), rows.index, self.scalars);
                self.copy(self.place(rows.row, parity), row, rows.width);
            }
            for &array in &self.looped.copied {
                self.copy(self.place(arrays[array].next, parity), self.carried(array, 1 - parity), arrays[array].width);
            }
            nexts.clear();
            nexts.extend(carried.iter().map(|scalar| self.scalars.0[scalar.next].get()));
            self.scalars.0.iter().zip(&nexts).for_each(|(scalar, &next)| scalar.set(next));
            parity = 1 - parity;
        }
        for (index, array) in arrays.iter().enumerate() {
            self.copy(self.carried(index, parity), Place::whole(self.outputs.raw(array.result)), array.width);
        }
    }

    /// Copies what the loop carries at first.
    fn begin(&self) {
        let LoopParts { arrays, written, .. } = &self.looped.parts;
        for (index, array) in arrays.iter().enumerate() {
            // In place, the operand's elements are in the result.
            let is_in_place = self.inputs.is_in_place(array.init);
            let from = if is_in_place { self.outputs.raw(array.result) } else { self.inputs.raw(array.init) };
            self.copy(Place::whole(from), self.carried(index, 0), array.width);
        }
        for rows in written.iter().filter(|rows| !self.inputs.is_in_place(rows.init)) {
            let (from, to, count) = (self.inputs.raw(rows.init), self.outputs.raw(rows.result), rows.index.rows);
            for row in 0..count {
                self.copy(Place::nth_row(from, row, count), Place::nth_row(to, row, count), rows.width);
            }
        }
    }

    /// The programs with memory for iterations of this parity; `first` is the number of their first result.
    fn bind<'w>(&self, work: &'w [Work], first: usize, parity: usize) -> Vec<Bound<'w>> {
        let mut results = first..;
        let mut bind = |work: &'w Work| {
            let sources = work.sources.iter().copied();
            let places: SmallVec<[Place; 8]> = sources.map(|source| self.place(source, parity)).collect();
            let computed = (&mut results).take(work.program.result_widths().len());
            let targets: SmallVec<[Place; 4]> = computed.map(|id| self.place(Source::Computed(id), parity)).collect();
            let buffers = |places: &[Place]| places.iter().map(|place| place.buffer).collect::<SmallVec<[_; 8]>>();
            let (inputs, outputs) = (buffers(&places), buffers(&targets));
            // SAFETY: they are operands, scalars and pieces, all initialised and alive as long as this value; programs
            // need no more alignment than that of elements. Nothing writes them while a program runs but that program,
            // and it writes pieces that it does not read.
            let outputs = unsafe { Outputs::new(&outputs) };
            // SAFETY: as above.
            let mut memory = work.program.memory(Buffers::new(unsafe { Inputs::new(&inputs, 0) }, &outputs));
            for (index, place) in places.iter().chain(&targets).enumerate().filter(|(_, place)| place.first > 0) {
                // SAFETY: as above; carried arrays and results are read in place only.
                unsafe { memory.place(work.program.slot(index), place.buffer, place.first) };
            }
            let is_row = |source: &Source| matches!(source, Source::Row { .. });
            let rows = work.sources.iter().enumerate().filter(|(_, source)| is_row(source));
            let rows = rows.map(|(index, &source)| (work.program.slot(index), source)).collect();
            Bound { work, memory, rows }
        };
        work.iter().map(&mut bind).collect() // Bounded: programs.
    }

    /// Runs programs on the piece.
    fn compute(&self, bound: &mut [Bound<'_>]) {
        for Bound { work, memory, rows } in bound {
            for &(slot, row) in rows.iter() {
                // SAFETY: as in `bind`; the parity is that of no row.
                unsafe { memory.place(slot, self.place(row, 0).buffer, 0) };
            }
            work.program.refill(memory);
            work.program.run_tiles(memory, self.piece.clone());
        }
    }

    /// The place of a source in iterations of this parity.
    fn place(&self, source: Source, parity: usize) -> Place {
        match source {
            Source::Operand(index) => Place::whole(self.inputs.raw(index)),
            Source::Scalar(id) => {
                Place::whole(RawBuffer { data: self.scalars.0[id].as_ptr().cast(), len: size_of::<Scalar>() })
            }
            Source::Carried(array) => self.carried(array, parity),
            Source::Computed(id) => match self.looped.homes[id] {
                Home::Next(array) => self.carried(array, 1 - parity),
                Home::Own(own) => self.nth_piece(2 * self.looped.parts.arrays.len() + own, self.looped.own[own]),
            },
            Source::Row { array, index } => Place::row(self.inputs.raw(array), index, self.scalars),
        }
    }

    /// The piece of a carried array that iterations of this parity read.
    fn carried(&self, array: usize, parity: usize) -> Place {
        self.nth_piece(2 * array + parity, self.looped.parts.arrays[array].width)
    }

    fn nth_piece(&self, index: usize, width: usize) -> Place {
        let data = self.memory.wrapping_add(self.starts[index]);
        Place { buffer: RawBuffer { data, len: width * self.len }, first: self.piece.start }
    }

    /// Copies the piece from one array to another.
    fn copy(&self, from: Place, to: Place, width: usize) {
        let bytes = self.piece.len() * width;
        let address = |Place { buffer, first }: Place| {
            let start = (self.piece.start - first) * width;
            assert!(start + bytes <= buffer.len, "the piece is in the array");
            buffer.data.wrapping_add(start)
        };
        // SAFETY: both are in their buffers. They are operands, results and pieces, or in place the same bytes, and no
        // other thread has these elements of results and pieces.
        unsafe { ptr::copy(address(from), address(to), bytes) };
    }

    /// Whether any of the piece's booleans is true.
    fn is_any(&self, Place { buffer, first }: Place) -> bool {
        assert!(self.piece.start - first + self.piece.len() <= buffer.len, "the piece is in the array");
        let data = buffer.data.wrapping_add(self.piece.start - first);
        // SAFETY: so many bytes are there, initialised, and nothing writes them meanwhile.
        unsafe { std::slice::from_raw_parts(data, self.piece.len()) }.contains(&1)
    }
}
