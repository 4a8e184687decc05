//! A dense result read from an operand by strides: the common part of transpose, slice and reverse.

use bytemuck::Pod;
use oxcall::Error;
use smallvec::SmallVec;

use super::places::Places;
use super::rows::copy_rows;
use super::thin::{Small, Way};
use super::tiles::{Matrix, Stores};
use super::{stream, thin};
use crate::by_width;
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::kernels::nest::{self, Loop, Nest, Walk};
use crate::machine::{Block, Copy, Slot};
use crate::math::level::{self, Best, vectorised};
use crate::pool::{Cost, Pool};

/// Copies `operand[offset + sum(index * stride)]` to each `index` of a row-major result.
#[derive(Debug)]
pub(crate) struct StridedCopy {
    name: &'static str,
    /// The bytes that are copied as a unit: an element, or several neighbours.
    width: usize,
    /// Outermost first, at least one; collapsed.
    loops: Nest<1>,
    offset: isize,
    count: usize,
    order: Order,
}

/// The order in which the result is written.
#[derive(Debug)]
enum Order {
    /// Row by row; the innermost loop has stride 1.
    Rows,
    /// In square tiles of the innermost loop and the one at this index, which has stride 1.
    Tiles(usize),
    /// In a few long lines, one for each step of the loop at this index, which has stride 1.
    Lines(usize),
    /// In small matrices.
    Small(Small),
    /// Element by element.
    Elements,
    /// By a table of offsets.
    Places(Places),
}

impl Order {
    fn new(loops: &[Loop<1>], width: usize) -> Order {
        let order = match loops.iter().rposition(|each| each.strides[0] == 1) {
            Some(inner) if inner + 1 == loops.len() => Order::Rows,
            Some(dim) => match Order::of_thin(loops, dim, width) {
                Some(order) => return order,
                None => Order::Tiles(dim),
            },
            None => Order::Elements,
        };
        if order.is_short(loops, width) { Places::new(loops).map_or(order, Order::Places) } else { order }
    }

    /// Whether its innermost loops, over elements of `width` bytes, are so short that what is around them takes longer
    /// than the copy.
    fn is_short(&self, loops: &[Loop<1>], width: usize) -> bool {
        let Some((inner, outer)) = loops.split_last() else { return false };
        match *self {
            Order::Rows => inner.size < SHORT && outer.len() > 1 && outer[outer.len() - 1].size < FEWEST_ROWS,
            Order::Elements => inner.size < LONG && !outer.is_empty(),
            Order::Tiles(dim) => {
                let [rows, columns] = [loops[dim].size, inner.size];
                let is_small = rows < LONG && columns < LONG && rows.min(columns) < 8;
                let is_thin = (5..16).contains(&rows.min(columns)) && !is_every(rows, inner.strides[0], width);
                is_small || is_thin
            }
            Order::Lines(_) | Order::Small(_) | Order::Places(_) => false,
        }
    }

    /// The order for matrices of loop `dim`, along which the operand is dense, and the innermost loop, if a side of
    /// them, or each of them, is one tile.
    fn of_thin(loops: &[Loop<1>], dim: usize, width: usize) -> Option<Order> {
        let (rows, inner) = (loops[dim].size, loops[loops.len() - 1]);
        if dim + 2 != loops.len() || inner.strides[0] <= 0 {
            return None;
        }
        if let [matrices, lines, points] = *loops
            && matrices.strides[0] > 0
        {
            let [stride, matrix] = [points, matrices].map(|each| each.strides[0].cast_unsigned());
            let small = Small { rows: lines.size, columns: points.size, stride, matrix };
            if small.is_tile(width) {
                return Some(Order::Small(small));
            }
        }
        if inner.size >= LONG && Way::Split.suits(rows, width) {
            return Some(Order::Lines(dim));
        }
        (rows >= LONG && Way::Join.suits(inner.size, width)).then_some(Order::Tiles(dim))
    }
}

/// Whether a few rows, of elements that are `stride` apart in the operand, are copied row by row, in vectors.
pub(super) fn is_every(rows: usize, stride: isize, width: usize) -> bool {
    rows < 16 && (2..=MOST_COMPILED).contains(&stride) && width <= 4
}

/// The pieces of work for each thread, where they are not pieces of the result.
const PIECES: usize = 4;

/// The elements of a row, or of a side of a matrix, from which on a loop of its own for each is as fast as a table.
pub(super) const LONG: usize = 64;

/// The elements from which on a row takes longer to copy than to find.
const SHORT: usize = 16;

/// The short rows one after another from which on a loop of its own for them is faster than a table.
const FEWEST_ROWS: usize = 16;

/// A number of bytes, in the form that `by_width!` takes.
#[derive(Debug, Clone, Copy)]
struct Width(usize);

impl Width {
    fn byte_width(self) -> usize {
        self.0
    }
}

/// A copy of a whole operand is split at multiples of this many elements.
const CONTIGUOUS_UNIT: usize = 4096;

impl StridedCopy {
    /// A copy of elements of `width` bytes to a result of shape `dims`, with a stride for each dimension.
    pub(crate) fn new(
        name: &'static str,
        width: usize,
        dims: &[usize],
        strides: impl IntoIterator<Item = isize>,
        offset: isize,
    ) -> StridedCopy {
        let mut copy = StridedCopy { offset, ..StridedCopy::unordered(name, width, dims, strides) };
        copy.join_neighbours();
        copy.ordered()
    }

    /// The same, with an offset that is known only at run time.
    pub(crate) fn from_anywhere(
        name: &'static str,
        width: usize,
        dims: &[usize],
        strides: impl IntoIterator<Item = isize>,
    ) -> StridedCopy {
        StridedCopy::unordered(name, width, dims, strides).ordered()
    }

    /// The same, row by row for now.
    fn unordered(
        name: &'static str,
        width: usize,
        dims: &[usize],
        strides: impl IntoIterator<Item = isize>,
    ) -> StridedCopy {
        let loops = collapse(dims.iter().zip(strides).map(|(&size, stride)| Loop { size, strides: [stride] }));
        StridedCopy { name, width, loops, offset: 0, count: dims.iter().product(), order: Order::Rows }
    }

    /// The same, in the order that suits its loops.
    fn ordered(self) -> StridedCopy {
        StridedCopy { order: Order::new(&self.loops, self.width), ..self }
    }

    /// A contiguous copy of `count` elements.
    pub(crate) fn contiguous(name: &'static str, width: usize, count: usize) -> StridedCopy {
        StridedCopy::new(name, width, &[count], [1], 0)
    }

    /// Treats neighbours that always stay together as one wider element.
    fn join_neighbours(&mut self) {
        loop {
            let (inner, outer) = self.loops.split_last_mut().expect("there is a loop");
            let even = |each: &Loop<1>| each.strides[0] % 2 == 0;
            let joins = inner.strides[0] == 1 && inner.size > 0 && inner.size % 2 == 0 && !outer.is_empty();
            if self.width >= 16 || !joins || self.offset % 2 != 0 || !outer.iter().all(even) {
                return;
            }
            inner.size /= 2;
            outer.iter_mut().for_each(|each| each.strides[0] /= 2);
            self.offset /= 2;
            self.count /= 2;
            self.width *= 2;
            self.loops = collapse(self.loops.iter().copied());
        }
    }

    /// The bytes that are copied as a unit.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Copies operand 0, from `offset` on, to the result.
    pub(crate) fn run_from(&self, offset: isize, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) {
        if self.count > 0 {
            by_width!(Width(self.width), T => {
                let src = whole_elements::<T>(inputs.get(0));
                self.copy::<T>(cx.pool, src, offset, outputs.take(0));
            });
        }
    }

    /// Adds the copy of operand 0, `start` bytes farther, to a block of machine code.
    pub(crate) fn generate_from(
        &self,
        start: Option<oxcall_jit::Value>,
        block: &mut Block<'_>,
        inputs: &[Slot],
        outputs: &[Slot],
    ) -> Option<()> {
        if !block.fits(self.count) {
            return None;
        }
        let (inner, outer) = self.loops.split_last()?;
        let (rows, row) = if inner.strides[0] == 1 { (outer, inner.size) } else { (&self.loops[..], 1) };
        let mut walk = Walk::new(rows, [self.offset], 0);
        let copies: Vec<Copy> = (0..nest::iterations(rows))
            .map(|index| Copy {
                from: walk.step()[0] as usize * self.width,
                to: index * row * self.width,
                bytes: row * self.width,
                width: self.width,
            })
            .collect();
        block.copy((inputs[0], start), (outputs[0], None), &copies)
    }

    /// Copies from `src` to `dst`.
    fn copy<T: Pod + Send + Sync>(&self, pool: &Pool, src: &[T], offset: isize, dst: &mut [T]) {
        let (inner, outer) = self.loops.split_last().expect("there is a loop");
        match &self.order {
            Order::Places(places) => places.copy((pool, self.cost()), src, offset, dst),
            Order::Rows if outer.is_empty() => pool.for_chunks(self.cost(), dst, CONTIGUOUS_UNIT, |start, chunk| {
                chunk.copy_from_slice(&src[offset as usize + start..][..chunk.len()]);
            }),
            Order::Rows => pool.for_chunks(self.cost(), dst, inner.size, |start, chunk| {
                let (&Loop { size, strides: [pitch] }, outer) = outer.split_last().expect("there are several rows");
                let first = start / inner.size;
                let (mut walk, mut row) = (Walk::new(outer, [offset], first / size), first % size);
                let mut rest = chunk;
                while !rest.is_empty() {
                    let (rows, others) = rest.split_at_mut(rest.len().min((size - row) * inner.size));
                    let first = walk.step()[0] + row as isize * pitch;
                    copy_rows(src, (0..).map(|row| (first + row * pitch) as usize), rows, inner.size);
                    (rest, row) = (others, 0);
                }
            }),
            Order::Elements if outer.is_empty() && inner.strides[0] > 0 => {
                pool.for_chunks(self.cost(), dst, CONTIGUOUS_UNIT, |start, chunk| {
                    copy_row(src, offset as usize + start * inner.strides[0] as usize, inner.strides[0], chunk);
                });
            }
            Order::Elements => pool.for_chunks(self.cost(), dst, inner.size, |start, chunk| {
                let mut walk = Walk::new(outer, [offset], start / inner.size);
                chunk
                    .chunks_exact_mut(inner.size)
                    .for_each(|row| copy_row(src, walk.step()[0] as usize, inner.strides[0], row));
            }),
            &Order::Tiles(dim) => self.copy_tiles(pool, src, offset, dst, dim),
            &Order::Lines(dim) => self.copy_lines(pool, src, offset, dst, dim),
            Order::Small(small) => {
                let size = small.rows * small.columns;
                pool.for_chunks(self.cost(), dst, size, |start, chunk| {
                    small.transpose(&src[offset as usize + start / size * small.matrix..], chunk);
                });
            }
        }
    }

    /// Copies matrices to lines: along loop `dim`, of a few steps, the operand is dense, and the result along the
    /// innermost loop.
    fn copy_lines<T: Pod + Send + Sync>(&self, pool: &Pool, src: &[T], offset: isize, dst: &mut [T], dim: usize) {
        let (outer, [lines, inner]) = (&self.loops[..dim], [self.loops[dim].size, self.loops[dim + 1].size]);
        let (stride, cost) = (self.loops[dim + 1].strides[0], self.cost());
        let matrix = |base: isize| Matrix { src, base, stride, pitch: inner, stores: Stores::Cached };
        let split = |base: isize, left: usize, mut lines: SmallVec<[&mut [T]; thin::MOST]>| {
            thin::split(&matrix(base), left, &mut lines);
        };
        if dst.len() / (lines * inner) >= PIECES * pool.threads() {
            return pool.for_chunks(cost, dst, lines * inner, |start, chunk| {
                let mut matrices = Walk::new(outer, [offset], start / (lines * inner));
                for matrix in chunk.chunks_exact_mut(lines * inner) {
                    split(matrices.step()[0], 0, matrix.chunks_exact_mut(inner).collect());
                }
            });
        }
        // All lines of a piece are written together, so that the operand is read once.
        let mut matrices = Walk::new(outer, [offset], 0);
        let piece = inner.div_ceil(PIECES * pool.threads()).next_multiple_of(thin::WIDEST).max(4 * thin::WIDEST);
        let mut tasks: Vec<(isize, usize, SmallVec<_>)> = Vec::new();
        for matrix in dst.chunks_exact_mut(lines * inner) {
            let base = matrices.step()[0];
            let mut rest: SmallVec<[&mut [T]; thin::MOST]> = matrix.chunks_exact_mut(inner).collect();
            let mut left = 0;
            while left < inner {
                // The last piece has as many columns as a tile.
                let width = if inner - left < piece + thin::WIDEST { inner - left } else { piece };
                let (pieces, others) = rest.into_iter().map(|line| line.split_at_mut(width)).unzip();
                tasks.push((base, left, pieces));
                (rest, left) = (others, left + width);
            }
        }
        pool.for_each(cost, tasks, |(base, left, lines)| split(base, left, lines));
    }

    /// Copies in tiles of loop `dim`, along which the operand is dense, and the innermost loop, along which the result
    /// is dense.
    fn copy_tiles<T: Pod + Send + Sync>(&self, pool: &Pool, src: &[T], offset: isize, dst: &mut [T], dim: usize) {
        let inner = *self.loops.last().expect("there is a loop");
        let (outer, middle) = (&self.loops[..dim], &self.loops[dim + 1..self.loops.len() - 1]);
        let tall = self.loops[dim].size;
        let middle_count = nest::iterations(middle);
        let pitch = middle_count * inner.size;
        let stores = stores::<T>(dst.len(), [tall, inner.size]);
        pool.for_chunks(self.cost(), dst, pitch * rows_together(tall, pitch * size_of::<T>()), |start, chunk| {
            let row = start / pitch;
            let mut matrices = Walk::new(outer, [offset], row / tall);
            let mut top = row % tall;
            let (mut rest, mut lines) = (chunk, None);
            while !rest.is_empty() {
                let rows = (tall - top).min(rest.len() / pitch);
                let (part, after) = rest.split_at_mut(rows * pitch);
                let base = matrices.step()[0] + top as isize;
                let mut walk = Walk::new(middle, [base], 0);
                for column in 0..middle_count {
                    let matrix = Matrix { src, base: walk.step()[0], stride: inner.strides[0], pitch, stores };
                    matrix.transpose(&mut part[column * inner.size..], rows, inner.size, &mut lines);
                }
                (rest, top) = (after, 0);
            }
            if stores != Stores::Cached {
                stream::finish();
            }
        });
    }
}

/// Results from this size on are gone from the caches before they are read. Tests have smaller ones.
const STREAMED: usize = if cfg!(test) { 256 << 10 } else { 32 << 20 };

/// With AVX2, results from this size on are transposed in blocks: they exceed the cache of a core, and are as fast to
/// read from memory as to store in pieces. With AVX-512 most are slower so. Tests have smaller ones.
const IN_BLOCKS: usize = if cfg!(test) { 16 << 10 } else { 2 << 20 };

/// Half of the distance of bytes that are in the same set of the first cache.
const SETS: usize = 2048;

/// How a result of `count` elements, in matrices of `rows` and `columns`, is stored.
fn stores<T>(count: usize, [rows, columns]: [usize; 2]) -> Stores {
    let (bytes, line) = (count * size_of::<T>(), columns * size_of::<T>());
    let fills_blocks = rows >= 64 && line >= 256 && size_of::<T>() <= 8;
    match level::best() {
        Best::Avx2 if bytes >= IN_BLOCKS && fills_blocks => Stores::Blocks,
        // The rows of a tile of bytes, each a quarter of a cache line, are in one set of the first cache.
        _ if size_of::<T>() == 1 && line.is_multiple_of(SETS) && fills_blocks => Stores::Blocks,
        _ if bytes >= STREAMED => Stores::Streamed,
        _ => Stores::Cached,
    }
}

/// The smallest number of rows that one thread copies, of matrices of `tall` rows of `pitch` bytes: whole matrices if
/// these are small, otherwise whole tiles, or single rows where there are fewer.
fn rows_together(tall: usize, pitch: usize) -> usize {
    match tall {
        _ if tall * pitch <= 32 << 10 => tall,
        _ if tall.is_multiple_of(16) => 16,
        ..16 => 1,
        _ => 8,
    }
}

impl Kernel for StridedCopy {
    fn name(&self) -> String {
        self.name.into()
    }

    fn cost(&self) -> Cost {
        // Measured: tiles take twice as long as rows; single elements are bound by their loop.
        let (flops, factor) = match &self.order {
            Order::Rows => (0, 2),
            Order::Tiles(_) | Order::Lines(_) | Order::Small(_) => (0, 4),
            Order::Elements | Order::Places(_) => (4, 4),
        };
        Cost { flops: (self.count * flops) as f64, bytes: (self.count * self.width * factor) as f64 }
    }

    fn generate(&self, block: &mut Block<'_>, inputs: &[Slot], outputs: &[Slot]) -> Option<()> {
        self.generate_from(None, block, inputs, outputs)
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, outputs: Outputs<'_>) -> Result<(), Error> {
        self.run_from(self.offset, cx, inputs, outputs);
        Ok(())
    }
}

/// The elements in `bytes`, without the bytes of an incomplete last one, which no copy of pairs reads.
fn whole_elements<T: Pod>(bytes: &[u8]) -> &[T] {
    bytemuck::cast_slice(&bytes[..bytes.len() / size_of::<T>() * size_of::<T>()])
}

/// Like [`nest::collapse`], but leaves at least one loop.
fn collapse(loops: impl IntoIterator<Item = Loop<1>>) -> Nest<1> {
    let mut loops = nest::collapse(loops);
    if loops.is_empty() {
        loops.push(Loop { size: 1, strides: [1] });
    }
    loops
}

/// The largest distance of elements for which copies of words, and less, are compiled for vectors.
const MOST_COMPILED: isize = 8;

/// The largest distance of elements that fusions read where they are: that of the columns of 3 x 3 matrices.
pub(crate) const LARGEST_STRIDE: usize = 9;

/// Copies elements that are `stride` apart, from `start` on.
pub(crate) fn copy_row<T: Pod>(src: &[T], start: usize, stride: isize, row: &mut [T]) {
    match stride {
        0 => row.fill(src[start]),
        -1 => copy_backwards(&src[start + 1 - row.len()..=start], row),
        2 => copy_every::<T, 2>(&src[start..], row),
        3 => copy_every::<T, 3>(&src[start..], row),
        4 => copy_every::<T, 4>(&src[start..], row),
        5 if size_of::<T>() <= 4 => copy_every::<T, 5>(&src[start..], row),
        6 if size_of::<T>() <= 4 => copy_every::<T, 6>(&src[start..], row),
        7 if size_of::<T>() <= 4 => copy_every::<T, 7>(&src[start..], row),
        8 if size_of::<T>() <= 4 => copy_every::<T, 8>(&src[start..], row),
        1.. => {
            let from = src[start..].iter().step_by(stride as usize);
            row.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        }
        _ => {
            for (i, to) in row.iter_mut().enumerate() {
                *to = src[(start as isize + i as isize * stride) as usize];
            }
        }
    }
}

vectorised! {
/// Copies elements in the opposite order.
fn copy_backwards<T: Pod>(from: &[T], to: &mut [T]) {
    to.iter_mut().zip(from.iter().rev()).for_each(|(to, from)| *to = *from);
}
}

vectorised! {
/// Copies every `N`th element. The last one may be the end of `src`.
fn copy_every<T: Pod, const N: usize>(src: &[T], row: &mut [T]) {
    let (chunks, rest) = src.as_chunks::<N>();
    let (whole, others) = row.split_at_mut(row.len().min(chunks.len()));
    for (to, from) in whole.iter_mut().zip(chunks) {
        *to = from[0];
    }
    if let ([to], [from, ..]) = (others, rest) {
        *to = *from;
    }
}
}
