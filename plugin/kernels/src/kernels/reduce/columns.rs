//! Reductions of elements below each other, for columns side by side.
//!
//! Rows are read from left to right, several at a time, so that each page of memory is read as a whole. The sums of the
//! columns stay in a cache near the processor.

use oxcall::Error;
use smallvec::SmallVec;

use super::fold::Fold;
use super::layout::Layout;
use super::narrow;
use super::pairwise::PairwiseRows;
use crate::element::Element;
use crate::kernel::{Context, Kernel};
use crate::kernels::nest::{Loop, Walk};

/// The number of columns whose sums are kept close at a time.
const COLUMNS: usize = 1024;

/// The number of the operand's elements in one piece of work, where several threads compute one result.
const PIECE: usize = 1 << 16;

/// The number of rows that are summed one after another.
pub(super) const ROWS: usize = 16;

/// The most rows in a block.
pub(super) const LONGEST_BLOCK: usize = 1024;

/// The number of rows in a block: blocks are summed, and the sums are then joined.
fn block_rows(columns: usize) -> usize {
    (PIECE / columns).clamp(ROWS, LONGEST_BLOCK)
}

/// The rows of a matrix, and the blocks that they form.
#[derive(Clone, Copy)]
struct Blocks {
    rows: usize,
    block: usize,
    count: usize,
}

impl Blocks {
    fn new(layout: &Layout) -> Blocks {
        let (rows, block) = (layout.elements(), block_rows(layout.columns()));
        Blocks { rows, block, count: rows.div_ceil(block) }
    }

    /// The number of rows in block `index`.
    fn rows(&self, index: usize) -> usize {
        self.block.min(self.rows - index * self.block)
    }

    /// The number of rows in memory while a block is summed.
    fn levels<T: Element>(&self) -> usize {
        PairwiseRows::<T>::levels(self.block.min(self.rows).div_ceil(ROWS))
    }
}

/// Computes all results.
pub(super) fn run<T: Element>(
    fold: &Fold<T>,
    cx: Context<'_>,
    operand: &[T],
    init: T::Wide,
    results: &mut [T],
) -> Result<(), Error> {
    let (layout, loops) = (&fold.layout, &fold.loops);
    let (columns, blocks) = (layout.columns(), Blocks::new(layout));
    let (matrices, width) = (results.len() / columns, columns.min(COLUMNS));
    let is_split = blocks.count > 1 && cx.pool.splits(fold.cost());
    if is_split && matrices * columns.div_ceil(COLUMNS) < 2 * cx.pool.threads() {
        let share = fold.share(matrices);
        let mut parts = cx.scratch(blocks.count * columns)?;
        let mut joined = cx.scratch(PairwiseRows::<T>::levels(blocks.count) * columns)?;
        for (matrix, results) in results.chunks_exact_mut(columns).enumerate() {
            let start = layout.start(matrix * columns) as usize;
            cx.pool.for_chunks(share, &mut parts, columns, |first, parts| {
                let mut levels = cx.scratch(blocks.levels::<T>() * width)?;
                for (index, sums) in parts.chunks_exact_mut(columns).enumerate() {
                    for (i, sums) in sums.chunks_mut(COLUMNS).enumerate() {
                        let (place, block) = (start + i * COLUMNS, (blocks, first / columns + index));
                        sums.copy_from_slice(sum_block(fold, operand, place, block, sums.len(), &mut levels));
                    }
                }
                Ok::<(), Error>(())
            })?;
            let mut joined = PairwiseRows::new(loops, columns, &mut joined);
            for part in parts.chunks_exact(columns) {
                joined.next().copy_from_slice(part);
                joined.push();
            }
            (loops.finish)(init, joined.finish(), results);
        }
        return Ok(());
    }
    let unit = if matrices < 2 * cx.pool.threads() { COLUMNS } else { columns };
    cx.pool.for_chunks(fold.cost(), results, unit, |first, results| {
        let mut levels = cx.scratch(levels(fold))?;
        some(fold, operand, init, (first, results), &mut levels);
        Ok(())
    })
}

/// Computes all results of a small reduction.
pub(super) fn run_small<T: Element>(fold: &Fold<T>, operand: &[T], init: T::Wide, results: &mut [T]) {
    let mut levels: SmallVec<[T::Wide; 256]> = SmallVec::from_elem(fold.loops.identity, levels(fold));
    some(fold, operand, init, (0, results), &mut levels);
}

/// The numbers in memory while columns are summed.
fn levels<T: Element>(fold: &Fold<T>) -> usize {
    let blocks = Blocks::new(&fold.layout);
    let joined = if blocks.count == 1 { 0 } else { PairwiseRows::<T>::levels(blocks.count) };
    (blocks.levels::<T>() + joined) * fold.layout.columns().min(COLUMNS)
}

/// Computes the results from number `first` on.
fn some<T: Element>(
    fold: &Fold<T>,
    operand: &[T],
    init: T::Wide,
    (first, results): (usize, &mut [T]),
    levels: &mut [T::Wide],
) {
    let (layout, loops) = (&fold.layout, &fold.loops);
    let (columns, blocks) = (layout.columns(), Blocks::new(layout));
    let (levels, joined) = levels.split_at_mut(blocks.levels::<T>() * columns.min(COLUMNS));
    // The last loop is over columns.
    let mut matrices = Walk::new(&layout.kept[..layout.kept.len() - 1], [0], first / columns);
    let (mut column, mut rest) = (first % columns, results);
    while !rest.is_empty() {
        let start = matrices.step()[0] as usize + column;
        let (matrix, after) = rest.split_at_mut((columns - column).min(rest.len()));
        for (i, strip) in matrix.chunks_mut(COLUMNS).enumerate() {
            let (place, width) = (start + i * COLUMNS, strip.len());
            if blocks.count == 1 {
                (loops.finish)(init, sum_block(fold, operand, place, (blocks, 0), width, levels), strip);
                continue;
            }
            let mut joined = PairwiseRows::new(loops, width, joined);
            for index in 0..blocks.count {
                joined.next().copy_from_slice(sum_block(fold, operand, place, (blocks, index), width, levels));
                joined.push();
            }
            (loops.finish)(init, joined.finish(), strip);
        }
        (column, rest) = (0, after);
    }
}

/// The sums of `width` columns of block `index`, where those of the first block begin at `place`.
fn sum_block<'a, T: Element>(
    fold: &'a Fold<T>,
    operand: &[T],
    place: usize,
    (blocks, index): (Blocks, usize),
    width: usize,
    levels: &'a mut [T::Wide],
) -> &'a [T::Wide] {
    let (layout, loops) = (&fold.layout, &fold.loops);
    let rows = blocks.rows(index);
    let stride = match layout.reduced[..] {
        [Loop { strides: [stride], .. }] => Some(stride as usize),
        _ => None,
    };
    if let (true, Some(fold_narrow), Some(stride)) = (width <= narrow::WIDEST, loops.narrow, stride) {
        let sums = &mut levels[..width];
        let block = &operand[place + index * blocks.block * stride..];
        for (i, sums) in sums.chunks_mut(narrow::LANES).enumerate() {
            fold_narrow(&block[i * narrow::LANES..], (stride, rows), sums);
        }
        return sums;
    }
    let mut walk = Walk::new(&layout.reduced, [place as isize], index * blocks.block);
    let (mut places, mut joined) = ([0; ROWS], PairwiseRows::new(loops, width, levels));
    for group in (0..rows).step_by(ROWS) {
        let places = &mut places[..ROWS.min(rows - group)];
        match stride {
            Some(stride) => {
                let first = place + (index * blocks.block + group) * stride;
                places.iter_mut().enumerate().for_each(|(row, place)| *place = first + row * stride);
            }
            None => places.iter_mut().for_each(|place| *place = walk.step()[0] as usize),
        }
        let sums = joined.next();
        sums.fill(loops.identity);
        (loops.rows)(operand, places, 0, sums);
        joined.push();
    }
    joined.finish()
}
