//! Reductions of what a program computes, which no array holds.
//!
//! The domain is slabs of rows of columns; all elements of a column of a slab are reduced to one. Each element is
//! combined with an accumulator, by machine code if that is possible, and tile by tile otherwise. There are more
//! accumulators than columns where those are few, so that rows of accumulators are long. As in
//! [`reduce`](crate::kernels::reduce), many short chains are joined in pairs, in an order that depends on the shape
//! alone, or on whether the program reads short rows.

use std::ops::Range;

use oxcall::Error;
use oxcall_hlo::BinaryOp;
use oxcall_hlo::ElementType;
use oxcall_jit::Listing;

use super::accumulators::{Accumulator, Joined, Sums, Word};
use super::build::{Builder, Value};
use super::memory::Buffers;
use super::program::Program;
use crate::element::Scalar;
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::kernels::reduce::column_fold;
use crate::pool::Cost;

/// The dimensions of a reduction's operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slabs {
    /// The number of slabs.
    pub slabs: usize,
    /// The number of rows in a slab, which are reduced to one.
    pub rows: usize,
    /// The number of elements in a row.
    pub columns: usize,
}

impl Slabs {
    /// The slabs of an array whose dimensions `reduced` are reduced, if these are neighbours.
    pub fn new(dims: &[usize], reduced: &[usize]) -> Option<Slabs> {
        let (first, last) = (reduced.iter().copied().min()?, reduced.iter().copied().max()?);
        let are_neighbours = (first..=last).all(|dim| dims[dim] == 1 || reduced.contains(&dim));
        are_neighbours.then(|| Slabs {
            slabs: dims[..first].iter().product(),
            rows: dims[first..=last].iter().product(),
            columns: dims[last + 1..].iter().product(),
        })
    }
}

/// A value that is reduced.
#[derive(Debug)]
pub struct Reduced {
    /// The function.
    pub function: BinaryOp,
    /// The type of the elements, which are stored as they are computed.
    pub element: ElementType,
    /// The initial value.
    pub init: Scalar,
    /// The value.
    pub value: Value,
}

/// A program whose last results are reduced.
#[derive(Debug)]
pub struct Reduction {
    program: Program,
    accumulators: Vec<Accumulator>,
    slabs: Slabs,
    /// The number of other results.
    results: usize,
    split: Split,
}

/// The pieces of work: parts of each strip of columns of each slab.
#[derive(Debug, Clone, Copy)]
struct Split {
    /// The number of columns in a strip.
    strip: usize,
    /// The number of rows in a part.
    part: usize,
    /// The number of accumulators: a multiple of the columns in a strip.
    width: usize,
}

/// The most columns of a strip: accumulators stay in the L1 cache.
const WIDEST: usize = 4096;

/// The number of accumulators if there are few columns.
const WIDTH: usize = 512;

/// The number of columns from which on accumulators are not repeated for programs with short rows.
const SHORTEST_ROW: usize = 32;

/// The number of rows of accumulators that are combined one after another.
const CHAIN: usize = 32;

/// The number of elements in one piece of work, where several threads compute one result, and the most such pieces.
const PIECE: usize = 1 << 16;
const MOST_PIECES: usize = 16;

impl Split {
    /// The pieces for a program whose rows are long, or not longer than columns are.
    fn new(Slabs { slabs, rows, columns }: Slabs, has_long_rows: bool) -> Split {
        let strip = columns.min(WIDEST);
        let pieces = slabs * columns.div_ceil(strip);
        let parts = (rows * strip / PIECE).clamp(1, MOST_PIECES.div_ceil(pieces));
        let part = rows.div_ceil(parts);
        let repeats = if has_long_rows || strip < SHORTEST_ROW { WIDTH / strip } else { 1 };
        let width = strip * repeats.clamp(1, part);
        Split { strip, part, width }
    }
}

/// Where the columns of a piece are.
struct Piece {
    slab: usize,
    rows: Range<usize>,
    columns: Range<usize>,
}

impl Reduction {
    /// The reduction of values of a program over `slabs`. `name` gives the name for dumps from whether it is machine
    /// code.
    ///
    /// # Errors
    /// UNIMPLEMENTED if values cannot be reduced so.
    pub fn new(
        mut builder: Builder,
        slabs: Slabs,
        reduced: &[Reduced],
        name: impl Fn(bool) -> String,
    ) -> Result<Reduction, Error> {
        let results = builder.outputs.len();
        let split = Split::new(slabs, builder.has_long_rows());
        let accumulators = reduced.iter().map(Reduced::accumulator).collect::<Result<_, _>>()?;
        let mut table = builder.clone();
        for &Reduced { function, element, value, .. } in reduced {
            table.accumulate(function, element, value)?;
        }
        let program = match table.build_table(&name(true)) {
            Some(program) => program,
            None => {
                reduced.iter().for_each(|each| builder.reduce(each.value, each.element));
                let program = builder.build(name(false));
                if program.is_compiled() { program.named(name(true)) } else { program }
            }
        };
        Ok(Reduction { program, accumulators, slabs, results, split })
    }

    /// The number of parts of a strip, and of strips in a slab.
    fn parts(&self) -> [usize; 2] {
        [self.slabs.rows.div_ceil(self.split.part), self.slabs.columns.div_ceil(self.split.strip)]
    }

    fn piece(&self, index: usize) -> Piece {
        let ([parts, strips], Split { strip, part, .. }) = (self.parts(), self.split);
        let bounded = |start: usize, len: usize, end: usize| start..(start + len).min(end);
        Piece {
            slab: index / parts / strips,
            columns: bounded(index / parts % strips * strip, strip, self.slabs.columns),
            rows: bounded(index % parts * part, part, self.slabs.rows),
        }
    }

    /// The number of parts in which [`for_chains`](Reduction::for_chains) gives the elements of a piece.
    fn chains(&self, piece: &Piece) -> usize {
        let (rows, columns) = (piece.rows.len(), self.slabs.columns);
        let is_whole = piece.columns == (0..columns);
        if is_whole { (rows * columns).div_ceil(CHAIN * self.split.width) } else { rows.div_ceil(CHAIN) }
    }

    /// The elements of a piece: neighbours, in parts of at most [`CHAIN`] rows of accumulators.
    fn for_chains(&self, piece: &Piece, mut work: impl FnMut(&mut dyn Iterator<Item = Range<usize>>)) {
        let Slabs { rows, columns, .. } = self.slabs;
        let row = |index: usize| (piece.slab * rows + index) * columns;
        if piece.columns == (0..columns) {
            let (start, end) = (row(piece.rows.start), row(piece.rows.end));
            let chain = CHAIN * self.split.width;
            for first in (start..end).step_by(chain) {
                work(&mut std::iter::once(first..(first + chain).min(end)));
            }
        } else {
            for first in piece.rows.clone().step_by(CHAIN) {
                let rows = first..(first + CHAIN).min(piece.rows.end);
                let place = |index: usize| row(index) + piece.columns.start..row(index) + piece.columns.end;
                work(&mut rows.map(place));
            }
        }
    }

    /// Reduces a piece: to the numbers of each column, for one accumulator after another.
    fn run_piece(&self, cx: Context<'_>, piece: &Piece, buffers: Buffers<'_>, found: &mut [Word]) -> Result<(), Error> {
        let Split { strip, width, .. } = self.split;
        let count = self.accumulators.len();
        let chains = self.chains(piece);
        // One has nothing to join.
        let levels = if chains > 1 { chains.ilog2() as usize + 1 } else { 0 };
        let mut memory = cx.scratch::<Word>(width * count * (1 + levels))?;
        let (sums, joined) = memory.split_at_mut(width * count);
        let mut joined = Joined::new(&self.accumulators, width, joined);
        self.for_chains(piece, |ranges| {
            let each = sums.chunks_exact_mut(width).zip(&self.accumulators);
            let mut each: Vec<Sums<'_>> = // Bounded: results of an op.
                each.map(|(words, accumulator)| Sums { accumulator, bytes: accumulator.bytes(words) }).collect();
            each.iter_mut().for_each(|sums| sums.accumulator.fill(sums.bytes, sums.accumulator.fold.identity));
            self.program.accumulate(ranges, &mut each, width, buffers);
            if chains > 1 {
                joined.push(sums);
            }
        });
        if chains > 1 {
            joined.finish(sums);
        }
        let columns = piece.columns.len();
        let each = sums.chunks_exact_mut(width).zip(&self.accumulators).zip(found.chunks_exact_mut(strip));
        for ((sums, accumulator), found) in each {
            // In a strip that is a part of the columns, there is one row of accumulators.
            let sums = accumulator.bytes(if columns == strip { sums } else { &mut sums[..columns] });
            let row = columns * accumulator.bytes;
            accumulator.join_rows(sums, row);
            accumulator.bytes(&mut found[..columns]).copy_from_slice(&sums[..row]);
        }
        Ok(())
    }
}

impl Reduced {
    fn accumulator(&self) -> Result<Accumulator, Error> {
        let fold = column_fold(self.function, self.element)
            .ok_or_else(|| Error::unimplemented(format!("reducing by {} is not supported", self.function.name())))?;
        Ok(Accumulator { fold, init: self.init, bytes: self.element.byte_width() })
    }
}

impl Kernel for Reduction {
    fn name(&self) -> String {
        self.program.name()
    }

    fn cost(&self) -> Cost {
        self.program.cost()
    }

    fn in_place(&self) -> Vec<(usize, usize)> {
        self.program.in_place()
    }

    fn code(&self) -> Vec<Listing<'_>> {
        self.program.code()
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        let Slabs { slabs, columns, .. } = self.slabs;
        let [parts, strips] = self.parts();
        let (strip, count) = (self.split.strip, self.accumulators.len());
        let mut found = cx.scratch::<Word>(slabs * strips * parts * count * strip)?;
        let buffers = Buffers::new(inputs, &outputs);
        cx.pool.for_chunks(self.cost(), &mut found, count * strip, |first, found| {
            let pieces = found.chunks_exact_mut(count * strip).enumerate();
            for (index, found) in pieces {
                let piece = self.piece(first / (count * strip) + index);
                self.run_piece(cx, &piece, buffers, found)?;
            }
            Ok(())
        })?;
        for (index, accumulator) in self.accumulators.iter().enumerate() {
            let results = outputs.take::<u8>(self.results + index);
            accumulator.fill(results, accumulator.init);
            for piece in 0..slabs * strips * parts {
                let Piece { slab, columns: range, .. } = self.piece(piece);
                let found = accumulator.bytes(&mut found[(piece * count + index) * strip..][..range.len()]);
                let start = (slab * columns + range.start) * accumulator.bytes;
                (accumulator.fold.join)(found, &mut results[start..][..found.len()]);
            }
        }
        Ok(())
    }
}
