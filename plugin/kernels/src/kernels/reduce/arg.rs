//! `argmax` and `argmin`: the extreme value of two operands, values and indices, with its index.

#![allow(clippy::needless_range_loop, reason = "several arrays have the same lanes")]

use oxcall::Error;
use oxcall_hlo::ElementType;
use oxcall_jit::{Binary, Builder, Compare, Value, Width};
use smallvec::SmallVec;

use super::few::are_few;
use super::layout::Layout;
use crate::element::{Element, bf16, f16};
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::kernels::nest::Walk;
use crate::machine::{Block, Slot};
use crate::math::level::vectorised;
use crate::pool::Cost;

/// A reduction to the extreme value.
#[derive(Debug)]
struct ArgExtreme {
    largest: bool,
    layout: Layout,
    /// The bytes of a value and of an index.
    widths: [usize; 2],
    /// Whether values are `f32`, and indices `i32`.
    are_words: bool,
    /// Instances of [`rows`] and [`some_columns`].
    rows: Work,
    columns: Work,
}

/// Computes the results from some number on, of which it gets the bytes.
type Work = fn(&ArgExtreme, Inputs<'_>, usize, (&mut [u8], &mut [u8]));

pub(super) fn make(largest: bool, value: ElementType, index: ElementType, layout: &Layout) -> Option<Box<dyn Kernel>> {
    macro_rules! instance {
        ($($element:ident $ty:ty),*) => {
            match (value, index) {
                $(
                    (ElementType::$element, ElementType::S32) => (rows::<$ty, i32>, some_columns::<$ty, i32>),
                    (ElementType::$element, ElementType::S64) => (rows::<$ty, i64>, some_columns::<$ty, i64>),
                )*
                _ => return None,
            }
        };
    }
    let (rows, columns): (Work, Work) = instance!(F32 f32, F64 f64, F16 f16, BF16 bf16, S8 i8, S16 i16, S32 i32, S64 i64, U8 u8, U16 u16, U32 u32, U64 u64);
    let are_words = (value, index) == (ElementType::F32, ElementType::S32);
    let widths = [value.byte_width(), index.byte_width()];
    Some(Box::new(ArgExtreme { largest, layout: layout.clone(), widths, are_words, rows, columns }))
}

/// The operands, and the initial pair.
type Operands<'a, V, I> = ((&'a [V], &'a [I]), (<V as Element>::Wide, I));

fn operands<V: Element, I: Element>(inputs: Inputs<'_>) -> Operands<'_, V, I> {
    let init = (inputs.get::<V>(2)[0].widen(), inputs.get::<I>(3)[0]);
    ((inputs.get(0), inputs.get(1)), init)
}

/// Whether the first of two (value, index) pairs is the result: NaN comes first, then the extreme value, then the lower
/// index. It has no branches, so LLVM vectorises its loops.
#[inline(always)]
fn is_first<V: PartialOrd, I: Ord>(largest: bool, a: (V, I), b: (V, I)) -> bool {
    #[allow(clippy::eq_op, reason = "only NaN is not equal to itself")]
    let (a_nan, b_nan) = (a.0 != a.0, b.0 != b.0);
    let better = (a.0 > b.0) & largest | (a.0 < b.0) & !largest;
    let equal = (a.0 == b.0) | (a_nan & b_nan);
    better | (a_nan & !b_nan) | (equal & (a.1 < b.1))
}

/// The first of two pairs; the second if they are equal.
#[inline(always)]
fn first<V: Copy + PartialOrd, I: Copy + Ord>(largest: bool, a: (V, I), b: (V, I)) -> (V, I) {
    let is_first = is_first(largest, a, b);
    (if is_first { a.0 } else { b.0 }, if is_first { a.1 } else { b.1 })
}

/// The same for floats of 32 bits, and indices as wide, in machine code.
fn first_in_code(lanes: &Builder, largest: bool, a: (Value, Value), b: (Value, Value)) -> (Value, Value) {
    let [a_nan, b_nan] = [a.0, b.0].map(|x| lanes.compare(Compare::NotEqual, x, x));
    let [less, more] = if largest { [b.0, a.0] } else { [a.0, b.0] };
    let better = lanes.compare(Compare::Less, less, more);
    let and = |x: Value, y: Value| lanes.binary(Binary::And, x, y);
    let or = |x: Value, y: Value| lanes.binary(Binary::Or, x, y);
    let equal = or(lanes.compare(Compare::Equal, a.0, b.0), and(a_nan, b_nan));
    let lower = lanes.compare(Compare::Greater, b.1, a.1);
    let is_first = or(or(better, and(a_nan, lanes.not(b_nan))), and(equal, lower));
    (lanes.select(is_first, a.0, b.0), lanes.select(is_first, a.1, b.1))
}

/// The number of pairs side by side.
const LANES: usize = 16;

/// The number of columns whose pairs are kept close at a time.
const COLUMNS: usize = 256;

vectorised! {
/// The first of a pair and those of neighbours.
fn first_of_row<V: Element, I: Element + Ord>(
    largest: bool,
    (values, indices): (&[V], &[I]),
    init: (V::Wide, I),
) -> (V::Wide, I)
where
    V::Wide: PartialOrd,
{
    first_of_neighbours(largest, (values, indices), init)
}
}

vectorised! {
/// The same for rows of `row` elements each, which follow each other.
fn first_of_rows<V: Element, I: Element + Ord>(
    largest: bool,
    (values, indices): (&[V], &[I]),
    row: usize,
    init: (V::Wide, I),
    (value_results, index_results): (&mut [V], &mut [I]),
) where
    V::Wide: PartialOrd,
{
    let results = value_results.len();
    // Of short rows, as many as there are lanes at a time: a lane has a row.
    let in_lanes = if V::IS_COMMON && row <= LANES { results / LANES * LANES } else { 0 };
    for start in (0..in_lanes).step_by(LANES) {
        let rows = start * row..(start + LANES) * row;
        let (values, indices) = (&values[rows.clone()], &indices[rows]);
        let (mut best, mut best_indices) = ([init.0; LANES], [init.1; LANES]);
        for column in 0..row {
            let (mut next, mut next_indices) = ([init.0; LANES], [init.1; LANES]);
            for lane in 0..LANES {
                next[lane] = values[lane * row + column].widen();
                next_indices[lane] = indices[lane * row + column];
            }
            for lane in 0..LANES {
                let next = (next[lane], next_indices[lane]);
                (best[lane], best_indices[lane]) = first(largest, next, (best[lane], best_indices[lane]));
            }
        }
        for (result, best) in value_results[start..][..LANES].iter_mut().zip(best) {
            *result = V::narrow(best);
        }
        index_results[start..][..LANES].copy_from_slice(&best_indices);
    }
    for result in in_lanes..results {
        let own = (&values[result * row..][..row], &indices[result * row..][..row]);
        let found = first_of_neighbours(largest, own, init);
        (value_results[result], index_results[result]) = (V::narrow(found.0), found.1);
    }
}
}

/// [`first_of_row`] by the loop for so many.
#[inline(always)]
fn first_of_neighbours<V: Element, I: Element + Ord>(
    largest: bool,
    (values, indices): (&[V], &[I]),
    init: (V::Wide, I),
) -> (V::Wide, I)
where
    V::Wide: PartialOrd,
{
    if V::IS_COMMON && values.len() >= LANES {
        first_of_many(largest, (values, indices), init)
    } else {
        first_of_all(largest, (values, indices), init)
    }
}

/// [`first_of_row`] one after another.
#[inline(always)]
fn first_of_all<V: Element, I: Element + Ord>(
    largest: bool,
    (values, indices): (&[V], &[I]),
    init: (V::Wide, I),
) -> (V::Wide, I)
where
    V::Wide: PartialOrd,
{
    let pairs = values.iter().zip(indices);
    pairs.fold(init, |best, (value, &index)| first(largest, (value.widen(), index), best))
}

/// [`first_of_row`] for many elements.
#[inline(always)]
fn first_of_many<V: Element, I: Element + Ord>(
    largest: bool,
    (values, indices): (&[V], &[I]),
    init: (V::Wide, I),
) -> (V::Wide, I)
where
    V::Wide: PartialOrd,
{
    let (mut best, mut best_indices) = ([init.0; LANES], [init.1; LANES]);
    let whole = values.len() / LANES * LANES;
    for start in (0..whole).step_by(LANES) {
        let (values, indices) = (&values[start..][..LANES], &indices[start..][..LANES]);
        for lane in 0..LANES {
            let next = (values[lane].widen(), indices[lane]);
            (best[lane], best_indices[lane]) = first(largest, next, (best[lane], best_indices[lane]));
        }
    }
    for lane in 0..values.len() - whole {
        let next = (values[whole + lane].widen(), indices[whole + lane]);
        (best[lane], best_indices[lane]) = first(largest, next, (best[lane], best_indices[lane]));
    }
    first_of_lanes(largest, best, best_indices)
}

/// The first pair: of the first half and the second, and so on.
#[inline(always)]
fn first_of_lanes<V: Copy + PartialOrd, I: Copy + Ord>(
    largest: bool,
    mut values: [V; LANES],
    mut indices: [I; LANES],
) -> (V, I) {
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            let later = (values[lane + width], indices[lane + width]);
            (values[lane], indices[lane]) = first(largest, later, (values[lane], indices[lane]));
        }
        width /= 2;
    }
    (values[0], indices[0])
}

vectorised! {
/// Makes each pair of a row of `best` the first of itself and one of an operand's row.
fn first_of_columns<V: Element, I: Element + Ord>(
    largest: bool,
    (values, indices): (&[V], &[I]),
    (best, best_indices): (&mut [V::Wide], &mut [I]),
) where
    V::Wide: PartialOrd,
{
    let best = best.iter_mut().zip(best_indices);
    for ((value, &index), (best, best_index)) in values.iter().zip(indices).zip(best) {
        (*best, *best_index) = first(largest, (value.widen(), index), (*best, *best_index));
    }
}
}

/// The pieces of work for each thread.
const PIECES: usize = 4;

/// The results from `start` on, whose elements are in rows, or scattered.
fn rows<V: Element, I: Element + Ord>(
    op: &ArgExtreme,
    inputs: Inputs<'_>,
    start: usize,
    (values, indices): (&mut [u8], &mut [u8]),
) where
    V::Wide: PartialOrd,
{
    let results: (&mut [V], &mut [I]) = (bytemuck::cast_slice_mut(values), bytemuck::cast_slice_mut(indices));
    let ((values, indices), init) = operands::<V, I>(inputs);
    let ArgExtreme { largest, layout, .. } = op;
    if let Some(row) = layout.neighbouring_rows() {
        let operands = (&values[start * row..], &indices[start * row..]);
        return first_of_rows(*largest, operands, row, init, results);
    }
    let mut walk = Walk::new(&layout.kept, [0], start);
    for (value, index) in results.0.iter_mut().zip(results.1) {
        let mut best = init;
        layout.for_segments(walk.step()[0], 0..layout.segments(), |offset, len| {
            best = first_of_row(*largest, (&values[offset..][..len], &indices[offset..][..len]), best);
        });
        (*value, *index) = (V::narrow(best.0), best.1);
    }
}

/// The results from `start` on, whose elements are below each other.
fn some_columns<V: Element, I: Element + Ord>(
    op: &ArgExtreme,
    inputs: Inputs<'_>,
    start: usize,
    (values, indices): (&mut [u8], &mut [u8]),
) where
    V::Wide: PartialOrd,
{
    let (value_results, index_results): (&mut [V], &mut [I]) =
        (bytemuck::cast_slice_mut(values), bytemuck::cast_slice_mut(indices));
    let ((values, indices), init) = operands::<V, I>(inputs);
    let (layout, columns) = (&op.layout, op.layout.columns());
    let (mut best, mut best_indices) = ([init.0; COLUMNS], [init.1; COLUMNS]);
    let mut done = 0;
    while done < value_results.len() {
        let column = (start + done) % columns;
        let width = (columns - column).min(COLUMNS).min(value_results.len() - done);
        let (best, best_indices) = (&mut best[..width], &mut best_indices[..width]);
        best.fill(init.0);
        best_indices.fill(init.1);
        let mut walk = (layout.elements() > 0).then(|| Walk::new(&layout.reduced, [layout.start(start + done)], 0));
        for row in (0..layout.elements()).filter_map(|_| Some(walk.as_mut()?.step()[0] as usize)) {
            let operands = (&values[row..][..width], &indices[row..][..width]);
            first_of_columns(op.largest, operands, (&mut *best, &mut *best_indices));
        }
        value_results[done..].iter_mut().zip(&*best).for_each(|(result, &best)| *result = V::narrow(best));
        index_results[done..][..width].copy_from_slice(best_indices);
        done += width;
    }
}

impl Kernel for ArgExtreme {
    fn name(&self) -> String {
        if self.largest { "reduce[argmax]".into() } else { "reduce[argmin]".into() }
    }

    fn cost(&self) -> Cost {
        let elements = (self.layout.results() * self.layout.elements()) as f64;
        Cost { flops: 8.0 * elements, bytes: elements * (self.widths[0] + 4) as f64 }
    }

    fn generate(&self, block: &mut Block<'_>, inputs: &[Slot], outputs: &[Slot]) -> Option<()> {
        let (results, row) = (self.layout.results(), self.layout.elements());
        if !self.are_words || !self.layout.has_rows() || !are_few(results, row) {
            return None;
        }
        let pair = |block: &mut Block<'_>, slots: &[Slot], place: usize| {
            let word = |slot: Slot, block: &mut Block<'_>| block.read(slot, 4 * place, 1, Width::Word);
            Some((word(slots[0], block)?, word(slots[1], block)?))
        };
        let init = pair(block, &inputs[2..], 0)?;
        let (mut values, mut indices): (SmallVec<[Value; 8]>, SmallVec<[Value; 8]>) = Default::default();
        for result in 0..results {
            let start = self.layout.start(result) as usize;
            let mut best = init;
            for place in start..start + row {
                let next = pair(block, inputs, place)?;
                block.lanes.set_lanes(1);
                best = first_in_code(&block.lanes, self.largest, next, best);
            }
            values.push(best.0);
            indices.push(best.1);
        }
        block.write_each(outputs[0], (1, Width::Word), &values)?;
        block.write_each(outputs[1], (1, Width::Word), &indices)
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        // An empty result has no loops to walk.
        let (results, columns) = (self.layout.results(), self.layout.columns());
        if results == 0 {
            return Ok(());
        }
        let is_of_rows = self.layout.row() > 1 || columns == 1;
        let unit = match () {
            () if is_of_rows => 1,
            () if results / columns < 2 * cx.pool.threads() => COLUMNS,
            () => columns,
        };
        let piece = results.div_ceil(PIECES * cx.pool.threads()).next_multiple_of(unit);
        let [values, indices] = [0, 1].map(|index| outputs.take::<u8>(index).chunks_mut(piece * self.widths[index]));
        let work = if is_of_rows { self.rows } else { self.columns };
        cx.pool.for_each(self.cost(), values.zip(indices).enumerate().collect(), |(index, results)| {
            work(self, inputs, index * piece, results);
        });
        Ok(())
    }
}
