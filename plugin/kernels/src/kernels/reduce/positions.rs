//! `argmax` and `argmin` whose indices are positions along the reduced dimension, which are counted, not read.
//!
//! Each element has a key, an integer that is the larger, the better the element is. Loops of known lengths, or with
//! one function of integers, become vectors: keys are written out, the largest of a row is found, and then the first
//! element that has it. Short rows have keys and positions in one number, of which the largest has both.

#![allow(clippy::needless_range_loop, reason = "several arrays have the same lanes")]

use std::marker::PhantomData;

use bytemuck::Pod;
use oxcall::Error;
use oxcall_hlo::ElementType;

use super::keys::{Key, MOST_LANES};
use crate::element::{Element, bf16, f16};
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::math::level::vectorised;
use crate::pool::Cost;

/// An element of a type with an order.
trait Ordered: Element {
    /// A signed integer with as many bits.
    type Key: Key;

    /// The key, which is larger for what `argmax` prefers: NaN, then larger elements. `argmin` flips all bits of those
    /// of numbers.
    fn key(self, flip: Self::Key) -> Self::Key;

    /// The element that no other is worse than.
    fn worst(largest: bool) -> Self;
}

macro_rules! integers {
    ($($ty:ty as $key:ty, $from:expr;)*) => {$(
        impl Ordered for $ty {
            type Key = $key;

            #[inline(always)]
            fn key(self, flip: $key) -> $key {
                (self as $key).wrapping_sub($from) ^ flip
            }

            fn worst(largest: bool) -> $ty {
                if largest { <$ty>::MIN } else { <$ty>::MAX }
            }
        }
    )*};
}

integers! {
    i8 as i8, 0;
    i16 as i16, 0;
    i32 as i32, 0;
    i64 as i64, 0;
    u8 as i8, i8::MIN;
    u16 as i16, i16::MIN;
    u32 as i32, i32::MIN;
    u64 as i64, i64::MIN;
}

macro_rules! floats {
    ($($ty:ty as $key:ty),*) => {$(
        impl Ordered for $ty {
            type Key = $key;

            #[inline(always)]
            fn key(self, flip: $key) -> $key {
                let bits = self.to_bits().cast_signed();
                let (size, sign) = (bits & <$key>::MAX, bits >> (<$key>::BITS - 1));
                // Both zeros have one key.
                let number = (size ^ sign).wrapping_sub(sign) ^ flip;
                if size > <$ty>::INFINITY.to_bits().cast_signed() { <$key>::MAX } else { number }
            }

            fn worst(largest: bool) -> $ty {
                if largest { <$ty>::NEG_INFINITY } else { <$ty>::INFINITY }
            }
        }
    )*};
}

floats!(f16 as i16, bf16 as i16, f32 as i32, f64 as i64);

/// An operand whose elements are reduced along one dimension.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// The elements of the dimensions before it.
    pub(super) outer: usize,
    /// Its elements.
    pub(super) row: usize,
    /// The elements of the dimensions behind it.
    pub(super) inner: usize,
}

#[derive(Debug)]
struct Positions<V> {
    largest: bool,
    shape: Shape,
    /// The bytes of an index.
    index: usize,
    element: PhantomData<V>,
}

/// The kernel. Its operands are values, the initial value and the initial index.
pub(super) fn make(largest: bool, value: ElementType, index: ElementType, shape: Shape) -> Option<Box<dyn Kernel>> {
    if !matches!(index, ElementType::S32 | ElementType::S64) || shape.row == 0 || i32::try_from(shape.row).is_err() {
        return None;
    }
    macro_rules! instance {
        ($($element:ident $ty:ty),*) => {
            match value {
                $(ElementType::$element => {
                    let kernel = Positions::<$ty> { largest, shape, index: index.byte_width(), element: PhantomData };
                    Some(Box::new(kernel) as Box<dyn Kernel>)
                })*
                _ => None,
            }
        };
    }
    instance!(F32 f32, F64 f64, F16 f16, BF16 bf16, S8 i8, S16 i16, S32 i32, S64 i64, U8 u8, U16 u16, U32 u32, U64 u64)
}

/// The number of keys that are written out at a time: they are in the L1 cache when they are read.
const BLOCK: usize = 2048;

/// The number of keys that are looked at together when one is looked for.
const LOOK: usize = 64;

/// The number of columns whose keys and positions are kept close at a time.
const COLUMNS: usize = 1024;

/// The fewest bytes of a part of a row, where several threads search one.
const PART: usize = 256 << 10;

/// The fewest columns of a piece of work, where there are more.
const NARROWEST: usize = 256;

/// The pieces of work for each thread.
const PIECES: usize = 4;

vectorised! {
/// Writes the keys of elements.
fn keys_of<V: Ordered>(flip: V::Key, values: &[V], keys: &mut [V::Key]) {
    values.iter().zip(keys).for_each(|(value, key)| *key = value.key(flip));
}
}

/// The position of the first of the best elements of each row; the rows, of `row` elements, follow each other.
fn best_of_rows<V: Ordered>(flip: V::Key, values: &[V], row: usize, positions: &mut [u32]) {
    let mut buffer = [V::Key::LEAST; BLOCK];
    if let Some(best_of_short) = V::Key::best_of_short(row) {
        // Keys behind the last row are loaded, but do not count.
        let rows = (BLOCK - MOST_LANES) / row;
        for (values, positions) in values.chunks(rows * row).zip(positions.chunks_mut(rows)) {
            keys_of(flip, values, &mut buffer);
            best_of_short(&buffer, row, positions);
        }
        return;
    }
    for (values, position) in values.chunks_exact(row).zip(positions) {
        let (mut best, mut first) = (V::Key::LEAST, 0);
        for (index, values) in values.chunks(BLOCK).enumerate() {
            let keys = &mut buffer[..values.len()];
            keys_of(flip, values, keys);
            let most = largest(keys);
            if most > best || index == 0 {
                (best, first) = (most, index * BLOCK + first_with(keys, most));
            }
        }
        *position = first as u32;
    }
}

vectorised! {
/// The largest of keys.
fn largest<K: Copy + Ord>(keys: &[K]) -> K {
    keys.iter().fold(keys[0], |most, &key| most.max(key))
}
}

vectorised! {
/// The number of keys before the first that is equal to one of them.
fn first_with<K: Copy + Ord>(keys: &[K], sought: K) -> usize {
    let mut before = 0;
    for keys in keys.chunks_exact(LOOK) {
        let places = (0..LOOK as u32).zip(keys);
        let place = places.fold(u32::MAX, |first, (place, &key)| first.min(if key == sought { place } else { u32::MAX }));
        if place != u32::MAX {
            return before + place as usize;
        }
        before += LOOK;
    }
    before + keys[before..].iter().take_while(|&&key| key != sought).count()
}
}

vectorised! {
/// Makes each key and position those of an element of a row, if that is better.
fn better_of_row<V: Ordered>(flip: V::Key, values: &[V], row: u32, (keys, positions): (&mut [V::Key], &mut [u32])) {
    for ((value, best), position) in values.iter().zip(keys).zip(positions) {
        let key = value.key(flip);
        *position = if key > *best { row } else { *position };
        // A selection would become a store of some lanes, for which the next row would wait.
        *best = key.max(*best);
    }
}
}

/// What a kernel reads.
struct Operands<'a, V> {
    values: &'a [V],
    init: (V, i64),
}

impl<V: Ordered> Positions<V> {
    fn operands<'a>(&self, inputs: Inputs<'a>) -> Operands<'a, V> {
        let index = match self.index {
            4 => inputs.get::<i32>(2)[0].into(),
            _ => inputs.get::<i64>(2)[0],
        };
        Operands { values: inputs.get(0), init: (inputs.get::<V>(1)[0], index) }
    }

    /// The first element of result `index`.
    fn start(&self, index: usize) -> usize {
        let Shape { row, inner, .. } = self.shape;
        // Divisions take as long as the search of a short row.
        if inner == 1 { index * row } else { index / inner * row * inner + index % inner }
    }

    /// The position of the first of the best elements, for each result from `first` on.
    fn find(&self, values: &[V], first: usize, positions: &mut [u32]) {
        let (flip, Shape { row, inner, .. }) = (V::Key::flip(self.largest), self.shape);
        if inner == 1 {
            return best_of_rows(flip, &values[first * row..], row, positions);
        }
        let mut keys = [V::Key::LEAST; COLUMNS];
        let mut done = 0;
        while done < positions.len() {
            let start = self.start(first + done);
            let width = (inner - start % inner).min(COLUMNS).min(positions.len() - done);
            let (keys, positions) = (&mut keys[..width], &mut positions[done..][..width]);
            keys_of(flip, &values[start..][..width], keys);
            positions.fill(0);
            for row in 1..row {
                better_of_row(flip, &values[start + row * inner..][..width], row as u32, (&mut *keys, &mut *positions));
            }
            done += width;
        }
    }

    /// The positions of few results, whose rows several threads search, each of them a part.
    fn find_in_parts(&self, cx: Context<'_>, values: &[V], positions: &mut [u32]) -> Result<(), Error> {
        let (flip, row) = (V::Key::flip(self.largest), self.shape.row);
        let part = row.div_ceil(PIECES * cx.pool.threads()).max(PART / size_of::<V>());
        let mut parts = cx.filled(row.div_ceil(part), 0_u32)?;
        for (values, position) in values.chunks_exact(row).zip(positions) {
            cx.pool.for_chunks(self.cost(), &mut parts, 1, |first, parts| {
                for (place, (values, best)) in (first..).zip(values.chunks(part).skip(first).zip(parts)) {
                    best_of_rows(flip, values, values.len(), std::slice::from_mut(best));
                    *best += (place * part) as u32;
                }
            });
            let key = |position: u32| values[position as usize].key(flip);
            *position = parts.iter().copied().reduce(|a, b| if key(b) > key(a) { b } else { a }).unwrap_or(0);
        }
        Ok(())
    }

    /// Writes the results from `first` on: the elements at positions, or the initial pair where that comes first.
    fn write<I: Pod>(
        &self,
        operands: &Operands<'_, V>,
        (first, positions): (usize, &[u32]),
        (values, indices): (&mut [V], &mut [I]),
        index_of: impl Fn(i64) -> I,
    ) {
        let (flip, init) = (V::Key::flip(self.largest), operands.init);
        let init_key = init.0.key(flip);
        if self.shape.inner == 1 && init_key == V::worst(self.largest).key(flip) && init.1 == 0 {
            // Where all elements are the worst, the first of them has the same position.
            indices.iter_mut().zip(positions).for_each(|(index, &position)| *index = index_of(position.into()));
            let rows = operands.values[first * self.shape.row..].chunks_exact(self.shape.row);
            values
                .iter_mut()
                .zip(positions)
                .zip(rows)
                .for_each(|((value, &position), row)| *value = row[position as usize]);
            return;
        }
        let results = values.iter_mut().zip(indices);
        for (result, (&position, (value, index))) in (first..).zip(positions.iter().zip(results)) {
            let found = operands.values[self.start(result) + position as usize * self.shape.inner];
            let key = found.key(flip);
            let is_first = key > init_key || key == init_key && i64::from(position) < init.1;
            let pair = if is_first { (found, i64::from(position)) } else { init };
            (*value, *index) = (pair.0, index_of(pair.1));
        }
    }

    /// The same for results in bytes.
    fn write_bytes(
        &self,
        operands: &Operands<'_, V>,
        found: (usize, &[u32]),
        (values, indices): (&mut [u8], &mut [u8]),
    ) {
        let values = bytemuck::cast_slice_mut(values);
        match self.index {
            4 => self.write(operands, found, (values, bytemuck::cast_slice_mut(indices)), |index| index as i32),
            _ => self.write(operands, found, (values, bytemuck::cast_slice_mut(indices)), |index| index),
        }
    }
}

impl<V: Ordered> Kernel for Positions<V> {
    fn name(&self) -> String {
        if self.largest { "reduce[argmax,iota]".into() } else { "reduce[argmin,iota]".into() }
    }

    fn cost(&self) -> Cost {
        let Shape { outer, row, inner } = self.shape;
        let elements = (outer * row * inner) as f64;
        Cost { flops: 8.0 * elements, bytes: elements * size_of::<V>() as f64 }
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        let Shape { outer, row, inner } = self.shape;
        let (results, operands) = (outer * inner, self.operands(inputs));
        if results == 0 {
            return Ok(());
        }
        let [values, indices] = [0, 1].map(|index| outputs.take::<u8>(index));
        let is_long = inner == 1 && row * size_of::<V>() >= 2 * PART;
        if is_long && results < 2 * cx.pool.threads() && cx.pool.splits(self.cost()) {
            let mut positions = cx.filled(results, 0_u32)?;
            self.find_in_parts(cx, operands.values, &mut positions)?;
            self.write_bytes(&operands, (0, &positions), (values, indices));
            return Ok(());
        }
        let unit = if inner == 1 { 1 } else { inner.min(NARROWEST) };
        let piece = results.div_ceil(PIECES * cx.pool.threads()).next_multiple_of(unit);
        let tasks = values.chunks_mut(piece * size_of::<V>()).zip(indices.chunks_mut(piece * self.index));
        cx.pool.for_each(self.cost(), tasks.enumerate().collect(), |(index, results)| {
            let (values, indices) = results;
            let mut positions = [0; COLUMNS];
            let parts = values.chunks_mut(COLUMNS * size_of::<V>()).zip(indices.chunks_mut(COLUMNS * self.index));
            for (part, results) in parts.enumerate() {
                let (first, positions) =
                    (index * piece + part * COLUMNS, &mut positions[..results.0.len() / size_of::<V>()]);
                self.find(operands.values, first, positions);
                self.write_bytes(&operands, (first, positions), results);
            }
        });
        Ok(())
    }
}
