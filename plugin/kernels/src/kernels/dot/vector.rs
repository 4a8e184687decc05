//! Products of a matrix and a vector. They are bound by memory, so the matrix is read once, in its own order.

use std::ops::Range;

use oxcall::Error;
use oxcall_hlo::ElementType;

use super::matmul::Mat;
use super::{Number, Widen};
use crate::element::bf16;
use crate::kernel::{Context, Inputs};
use crate::math::level::vectorised;
use crate::memory::Scratch;

/// The number of partial sums that are added side by side; one float sum would be as slow as its chain of additions.
const LANES: usize = 16;

/// Results with fewer elements than this are not split among threads.
const PIECE: usize = 64;

/// `out = matrix vector`, or `out += matrix vector`, on `threads` threads. The rows or the columns of `matrix` are
/// dense.
pub(super) fn multiply<C: Number>(
    cx: Context<'_>,
    threads: usize,
    matrix: Mat<'_, C>,
    vector: Mat<'_, C>,
    out: &mut [C],
    accumulate: bool,
) -> Result<(), Error> {
    if !accumulate {
        out.fill(C::ZERO);
    }
    let mut memory = Scratch::empty();
    let vector = vector.first_column(cx, &mut memory)?;
    if threads == 1 {
        add_part(matrix, vector, 0, 0..matrix.cols, out);
        return Ok(());
    }
    if out.len() >= PIECE * threads && !divides_sums::<C>(matrix.has_dense_columns(), [out.len(), matrix.cols]) {
        let piece = out.len().div_ceil(threads).next_multiple_of(16);
        cx.pool.split_chunks(out, piece, |first, out| add_part(matrix, vector, first, 0..matrix.cols, out));
        return Ok(());
    }
    add_sums(cx, threads, matrix.cols, out, |columns, sums| add_part(matrix, vector, 0, columns, sums))
}

/// The bytes of results that stay in the first cache, and of a matrix that no cache of a core holds.
const NEAR: usize = 32 << 10;
const FAR: usize = 1 << 20;

/// Whether threads divide the sums of so many terms, rather than the results: of dense columns in memory, each reads
/// whole ones.
pub(super) fn divides_sums<C>(by_column: bool, [results, terms]: [usize; 2]) -> bool {
    let bytes = results * size_of::<C>();
    by_column && bytes <= NEAR && bytes.saturating_mul(terms) >= FAR
}

/// Adds to `out` sums of `terms` terms, of which each thread adds a part by `work`, to zeros.
pub(super) fn add_sums<C: Number>(
    cx: Context<'_>,
    threads: usize,
    terms: usize,
    out: &mut [C],
    work: impl Fn(Range<usize>, &mut [C]) + Send + Sync,
) -> Result<(), Error> {
    let piece = terms.div_ceil(threads);
    let mut partial = cx.filled(threads * out.len(), C::ZERO)?;
    cx.pool.split_chunks(&mut partial, out.len(), |start, sums| {
        let first = start / sums.len() * piece;
        work(first.min(terms)..(first + piece).min(terms), sums);
    });
    for sums in partial.chunks_exact(out.len()) {
        out.iter_mut().zip(sums).for_each(|(out, &sum)| *out = out.plus(sum));
    }
    Ok(())
}

/// Adds the products of `columns` to `out`, which starts at row `first`.
fn add_part<C: Number>(matrix: Mat<'_, C>, vector: &[C], first: usize, columns: Range<usize>, out: &mut [C]) {
    if columns.is_empty() || out.is_empty() {
        return;
    }
    let (data, stride, transposed) = matrix.lines([first, columns.start]);
    if transposed {
        add_multiples(data, stride, &vector[columns], out);
    } else {
        add_dots(data, stride, &vector[columns], out);
    }
}

/// A stored element of a matrix that is summed as `C`.
pub(super) trait Stored<C>: Copy {
    /// The element as a `C`, without rounding.
    fn load(self) -> C;
}

impl<C: Number> Stored<C> for C {
    #[inline(always)]
    fn load(self) -> C {
        self
    }
}

impl Stored<f32> for bf16 {
    // `to_f32` also looks for signalling NaNs and quiets them; the multiplication does that anyway.
    #[inline(always)]
    fn load(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }
}

/// A matrix in an operand, with dense rows or columns.
pub(super) struct Operand<'a, C> {
    pub(super) inputs: Inputs<'a>,
    pub(super) index: usize,
    pub(super) widen: Widen<C>,
    /// The distance of rows, or of columns.
    pub(super) stride: usize,
    /// Whether columns are dense, rather than rows.
    pub(super) by_column: bool,
}

impl<C: Number> Operand<'_, C> {
    /// Computes `out = matrix vector` for the rows from the element at `offset` on. Rows of
    /// `bf16` are converted as they are loaded, other elements that need a conversion a few kilobytes at a time.
    pub(super) fn multiply(&self, offset: usize, vector: &[C], out: &mut [C]) {
        out.fill(C::ZERO);
        let add = if self.by_column { add_multiples } else { add_dots };
        if let Some(elements) = self.widen.whole(self.inputs, self.index) {
            return add(&elements[offset..], self.stride, vector, out);
        }
        if !self.by_column && self.widen.from() == ElementType::BF16 && C::holds(ElementType::F32) {
            let elements: &[bf16] = self.inputs.get(self.index);
            let (vector, out): (&[f32], _) = (bytemuck::cast_slice(vector), bytemuck::cast_slice_mut(out));
            return add_dots(&elements[offset..], self.stride, vector, out);
        }
        let mut block = [C::ZERO; LINES * LINE];
        let (lines, len) = if self.by_column { (vector.len(), out.len()) } else { (out.len(), vector.len()) };
        for start in (0..len).step_by(LINE) {
            let len = LINE.min(len - start);
            for first in (0..lines).step_by(LINES) {
                let count = LINES.min(lines - first);
                for (line, block) in (first..).zip(block.chunks_exact_mut(len).take(count)) {
                    self.widen.part(self.inputs, self.index, offset + line * self.stride + start, block);
                }
                if self.by_column {
                    add_multiples(&block, len, &vector[first..][..count], &mut out[start..][..len]);
                } else {
                    add_dots(&block, len, &vector[start..][..len], &mut out[first..][..count]);
                }
            }
        }
    }
}

/// The number of columns whose multiples are added at a time, so that the result is loaded and stored less often, and
/// of rows that are multiplied at a time, so that the vector is.
pub(super) const LINES: usize = 4;

/// The number of elements of a line that are converted at a time.
const LINE: usize = 1024;

vectorised! {
/// Adds to each element of `out` the product of a row of `data` and `vector`; rows are `stride` apart.
pub(super) fn add_dots<C: Number, S: Stored<C>>(data: &[S], stride: usize, vector: &[C], out: &mut [C]) {
    match vector.len() {
        2 => return add_short_dots::<C, S, 2>(data, stride, vector, out),
        3 => return add_short_dots::<C, S, 3>(data, stride, vector, out),
        4 => return add_short_dots::<C, S, 4>(data, stride, vector, out),
        5 => return add_short_dots::<C, S, 5>(data, stride, vector, out),
        6 => return add_short_dots::<C, S, 6>(data, stride, vector, out),
        7 => return add_short_dots::<C, S, 7>(data, stride, vector, out),
        8 => return add_short_dots::<C, S, 8>(data, stride, vector, out),
        9 if C::IN_LANES => return add_short_dots::<C, S, 9>(data, stride, vector, out),
        10 if C::IN_LANES => return add_short_dots::<C, S, 10>(data, stride, vector, out),
        11 if C::IN_LANES => return add_short_dots::<C, S, 11>(data, stride, vector, out),
        12 if C::IN_LANES => return add_short_dots::<C, S, 12>(data, stride, vector, out),
        13 if C::IN_LANES => return add_short_dots::<C, S, 13>(data, stride, vector, out),
        14 if C::IN_LANES => return add_short_dots::<C, S, 14>(data, stride, vector, out),
        15 if C::IN_LANES => return add_short_dots::<C, S, 15>(data, stride, vector, out),
        16 if C::IN_LANES => return add_short_dots::<C, S, 16>(data, stride, vector, out),
        _ => {}
    }
    // LLVM chooses the lanes of sums in any order: of ours, it would gather those of one sum.
    let in_lanes = if C::IS_EXACT { 0 } else { out.len() };
    let (in_lanes, one_by_one) = out.split_at_mut(in_lanes / LINES * LINES);
    let (eights, four) = in_lanes.as_chunks_mut::<{ 2 * LINES }>();
    let row = |i: usize| &data[i * stride..][..vector.len()];
    let tail = Tail::new(vector);
    // What follows a row is read with its last elements, but nothing follows the last row.
    let padded = vector.len().next_multiple_of(LANES);
    let tail_of = |last: usize| tail.as_ref().filter(|_| last * stride + padded <= data.len());
    let group = |i: usize, is_padded: bool| {
        let len = if is_padded { padded } else { vector.len() };
        let row = |i: usize| &data[i * stride..][..len];
        [row(i), row(i + 1), row(i + 2), row(i + 3)]
    };
    for (i, out) in eights.iter_mut().enumerate() {
        let first = i * 2 * LINES;
        let tail = tail_of(first + 2 * LINES - 1);
        let is_padded = tail.is_some();
        let groups = [group(first, is_padded), group(first + LINES, is_padded)];
        add_each(out, dots(groups, vector, tail).as_flattened());
    }
    let first = eights.len() * 2 * LINES;
    if !four.is_empty() {
        let tail = tail_of(first + LINES - 1);
        add_each(four, dots([group(first, tail.is_some())], vector, tail).as_flattened());
    }
    for (i, out) in one_by_one.iter_mut().enumerate() {
        *out = out.plus(dot(row(first + four.len() + i), vector));
    }
}
}

/// Adds each of `sums` to an element of `out`.
#[inline(always)]
fn add_each<C: Number>(out: &mut [C], sums: &[C]) {
    for (out, &sum) in out.iter_mut().zip(sums) {
        *out = out.plus(sum);
    }
}

/// The same for rows of `N` elements, which are fewer than lanes. If nothing lies between the rows, vectors have the
/// elements of several.
#[inline(always)]
fn add_short_dots<C: Number, S: Stored<C>, const N: usize>(data: &[S], stride: usize, vector: &[C], out: &mut [C]) {
    let vector: &[C; N] = vector.first_chunk().expect("the length was looked at");
    if stride == N {
        for (out, row) in out.iter_mut().zip(data.as_chunks::<N>().0) {
            *out = out.plus(short_dot(row, vector));
        }
        return;
    }
    for (index, out) in out.iter_mut().enumerate() {
        let row = data[index * stride..].first_chunk().expect("a row is in the matrix");
        *out = out.plus(short_dot(row, vector));
    }
}

/// The products of a few elements, added one after the other.
#[inline(always)]
fn short_dot<C: Number, S: Stored<C>, const N: usize>(a: &[S; N], b: &[C; N]) -> C {
    let mut sum = a[0].load().times(b[0]);
    for index in 1..N {
        sum = sum.plus_product(a[index].load(), b[index]);
    }
    sum
}

vectorised! {
/// Adds to `out` the lines of `data`, each multiplied with an element of `factors`; lines are `stride` apart.
pub(super) fn add_multiples<C: Number>(data: &[C], stride: usize, factors: &[C], out: &mut [C]) {
    let len = out.len();
    let line = |k: usize| &data[k * stride..][..len];
    let (fours, rest) = factors.as_chunks::<LINES>();
    for (k, factors) in fours.iter().enumerate() {
        let first = k * LINES;
        let (a, b, c, d) = (line(first), line(first + 1), line(first + 2), line(first + 3));
        for (i, out) in out.iter_mut().enumerate() {
            // A separate sum has a quarter of the errors of long sums.
            let sum = a[i].times(factors[0]).plus_product(b[i], factors[1]);
            *out = out.plus(sum.plus_product(c[i], factors[2]).plus_product(d[i], factors[3]));
        }
    }
    for (k, &factor) in rest.iter().enumerate() {
        for (out, &element) in out.iter_mut().zip(line(fours.len() * LINES + k)) {
            *out = out.plus_product(element, factor);
        }
    }
}
}

/// The number of chunks of [`LANES`] products that are summed one after another.
const CHAIN: usize = 8;

/// The last elements of a vector, which are fewer than lanes: these, with zeros behind them, and a mask of those.
struct Tail<C: Number> {
    factors: [C; LANES],
    mask: [C::Bits; LANES],
}

impl<C: Number> Tail<C> {
    /// Those of a vector, if there are any.
    fn new(vector: &[C]) -> Option<Tail<C>> {
        let rest = vector.as_chunks::<LANES>().1;
        let mut tail = Tail { factors: [C::ZERO; LANES], mask: [C::NONE; LANES] };
        tail.factors[..rest.len()].copy_from_slice(rest);
        tail.mask[..rest.len()].fill(C::ALL);
        (!rest.is_empty()).then_some(tail)
    }
}

/// The products of groups of four rows with a vector of equal length; with a `tail`, rows go on for as many elements as
/// it has lanes. Groups take turns, one chain of chunks each: the vector is loaded once for four rows, and the
/// processor loads ahead in all rows. Eight rows that no cache holds take 0.9 of the time that four take twice.
#[inline(always)]
fn dots<C: Number, S: Stored<C>, const GROUPS: usize>(
    rows: [[&[S]; LINES]; GROUPS],
    vector: &[C],
    tail: Option<&Tail<C>>,
) -> [[C; LINES]; GROUPS] {
    let mut sums = [[[C::ZERO; LANES]; LINES]; GROUPS];
    let whole = vector.len() / LANES * LANES;
    for start in (0..whole).step_by(CHAIN * LANES) {
        let chain = start..whole.min(start + CHAIN * LANES);
        for (sums, rows) in sums.iter_mut().zip(&rows) {
            let chunks = |index: usize| rows[index][chain.clone()].as_chunks::<LANES>().0;
            let (v, a, b, c, d) = (&vector[chain.clone()], chunks(0), chunks(1), chunks(2), chunks(3));
            // Sums in separate variables, as in `dot`.
            let [mut s0, mut s1, mut s2, mut s3] = [[C::ZERO; LANES]; LINES];
            for ((((v, a), b), c), d) in v.as_chunks::<LANES>().0.iter().zip(a).zip(b).zip(c).zip(d) {
                s0 = plus_products(s0, a, v);
                s1 = plus_products(s1, b, v);
                s2 = plus_products(s2, c, v);
                s3 = plus_products(s3, d, v);
            }
            for (sums, chain) in sums.iter_mut().zip([s0, s1, s2, s3]) {
                for lane in 0..LANES {
                    sums[lane] = sums[lane].plus(chain[lane]);
                }
            }
        }
    }
    let mut dots = [[C::ZERO; LINES]; GROUPS];
    for ((dots, sums), rows) in dots.iter_mut().zip(&mut sums).zip(&rows) {
        for (sums, row) in sums.iter_mut().zip(rows) {
            if let Some(tail) = tail {
                *sums = plus_kept(*sums, row[whole..].first_chunk().expect("the row goes on"), tail);
                continue;
            }
            for ((sum, &a), &v) in sums.iter_mut().zip(&row[whole..]).zip(&vector[whole..]) {
                *sum = sum.plus_product(a.load(), v);
            }
        }
        *dots = join_lines(sums);
    }
    dots
}

vectorised! {
/// The sum of all lanes of each line, in pairs like [`join_lanes`]. A function of its own: LLVM would take the vectors
/// of a loop before it apart.
#[inline(never)]
fn join_lines<C: Number>(sums: &mut [[C; LANES]; LINES]) -> [C; LINES] {
    for sums in &mut *sums {
        let (low, high) = sums.split_at_mut(LANES / 2);
        for lane in 0..LANES / 2 {
            low[lane] = low[lane].plus(high[lane]);
        }
    }
    for sums in &mut *sums {
        let (low, high) = sums.split_at_mut(LANES / 4);
        for lane in 0..LANES / 4 {
            low[lane] = low[lane].plus(high[lane]);
        }
    }
    let mut joined = [C::ZERO; LINES];
    for (joined, sums) in joined.iter_mut().zip(sums) {
        *joined = sums[0].plus(sums[2]).plus(sums[1].plus(sums[3]));
    }
    joined
}
}

/// The sum of all lanes, in pairs.
#[inline(always)]
fn join_lanes<C: Number>(mut sums: [C; LANES]) -> C {
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for lane in 0..width {
            sums[lane] = sums[lane].plus(sums[lane + width]);
        }
    }
    sums[0]
}

/// The product of two vectors of equal length.
#[inline(always)]
pub(super) fn dot<C: Number, S: Stored<C>>(a: &[S], b: &[C]) -> C {
    if C::IS_EXACT {
        return a.iter().zip(b).fold(C::ZERO, |sum, (a, &b)| sum.plus_product(a.load(), b));
    }
    // Sums in separate variables stay in vector registers; as an array of arrays they do not.
    let [mut s0, mut s1, mut s2, mut s3] = [[C::ZERO; LANES]; 4];
    let (a, a_rest) = a.as_chunks::<{ 4 * LANES }>();
    let (b, b_rest) = b.as_chunks::<{ 4 * LANES }>();
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (a.as_chunks::<LANES>().0, b.as_chunks::<LANES>().0);
        s0 = plus_products(s0, &a[0], &b[0]);
        s1 = plus_products(s1, &a[1], &b[1]);
        s2 = plus_products(s2, &a[2], &b[2]);
        s3 = plus_products(s3, &a[3], &b[3]);
    }
    let (a, a_rest) = a_rest.as_chunks::<LANES>();
    let (b, b_rest) = b_rest.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        s0 = plus_products(s0, a, b);
    }
    for ((sum, a), &b) in s1.iter_mut().zip(a_rest).zip(b_rest) {
        *sum = sum.plus_product(a.load(), b);
    }
    for lane in 0..LANES {
        s0[lane] = s0[lane].plus(s1[lane]).plus(s2[lane].plus(s3[lane]));
    }
    join_lanes(s0)
}

/// The sums and the products of a vector's last elements with the same ones of a row, which goes on behind them.
#[inline(always)]
fn plus_kept<C: Number, S: Stored<C>>(mut sums: [C; LANES], row: &[S; LANES], tail: &Tail<C>) -> [C; LANES] {
    for lane in 0..LANES {
        sums[lane] = sums[lane].plus_product(row[lane].load().kept(tail.mask[lane]), tail.factors[lane]);
    }
    sums
}

#[inline(always)]
fn plus_products<C: Number, S: Stored<C>>(mut sums: [C; LANES], a: &[S; LANES], b: &[C; LANES]) -> [C; LANES] {
    for lane in 0..LANES {
        sums[lane] = sums[lane].plus_product(a[lane].load(), b[lane]);
    }
    sums
}
