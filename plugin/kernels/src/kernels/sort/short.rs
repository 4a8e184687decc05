//! Sort of short rows, many side by side.

use oxcall::Error;
use oxcall_hlo::ElementType;

use super::comparator::Key;
use super::key::{Bits, Sortable, by_sortable};
use super::sorter::{read_key, restore_equal};
use crate::kernel::{Context, Inputs, Outputs};
use crate::math::level::vectorised;
use crate::pool::Cost;

/// The most elements of a short row.
pub(super) const LONGEST: usize = 32;

/// The number of rows that are sorted together.
const LANES: usize = 64;

/// Rows of elements, one below the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows {
    /// The number of elements of a row.
    pub(super) len: usize,
    /// The number of rows side by side, which is also the distance of neighbours in a row.
    pub(super) inner: usize,
}

impl Rows {
    /// The distance of neighbours, and of the first elements of rows side by side.
    fn strides(self) -> (usize, usize) {
        if self.inner == 1 { (1, self.len) } else { (self.inner, 1) }
    }

    /// Sorts the rows of the only operand by a key that determines elements completely; `None` for types of which few
    /// arrays are sorted, for the size of the library.
    pub(super) fn sort(
        self,
        cx: Context<'_>,
        cost: Cost,
        key: &Key,
        element: ElementType,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Option<Result<(), Error>> {
        by_sortable!(@ element, T => self.sort_typed::<T>(cx, cost, key, inputs.get(0), outputs.take(0));
            S32 i32, U32 u32, S64 i64, F16 crate::element::f16, BF16 crate::element::bf16, F32 f32, F64 f64)
    }

    fn sort_typed<T: Sortable>(
        self,
        cx: Context<'_>,
        cost: Cost,
        key: &Key,
        operand: &[T],
        result: &mut [T],
    ) -> Result<(), Error> {
        let slab = self.len * self.inner;
        cx.pool.for_chunks(cost, result, if self.inner == 1 { LANES * slab } else { slab }, |first, result| {
            let mut keys = cx.scratch::<T::Key>(self.len * LANES)?;
            let slab = if self.inner == 1 { result.len() } else { slab };
            for (index, result) in result.chunks_mut(slab).enumerate() {
                let operand = &operand[first + index * slab..][..slab];
                let (_, next) = self.strides();
                let rows = slab / self.len;
                for row in (0..rows).step_by(LANES) {
                    let (start, count) = (row * next, LANES.min(rows - row));
                    self.block(key, &operand[start..], &mut result[start..], &mut keys, count);
                }
            }
            Ok(())
        })
    }

    /// Sorts the first `count` rows.
    fn block<T: Sortable>(self, key: &Key, from: &[T], to: &mut [T], keys: &mut [T::Key], count: usize) {
        let (stride, next) = self.strides();
        let is_canonical = T::IS_FLOAT && key.canonical;
        let has_odd = read(from, keys, (stride, next), count, (is_canonical, key.descending));
        network(keys);
        write(keys, to, (stride, next), count, key.descending);
        if !has_odd {
            return;
        }
        for row in 0..count {
            let place = |index: usize| row * next + index * stride;
            let (mut before, mut after) = ([T::zeroed(); LONGEST], [T::zeroed(); LONGEST]);
            let mut own = [T::Key::default(); LONGEST];
            for index in 0..self.len {
                (before[index], after[index]) = (from[place(index)], to[place(index)]);
                own[index] = keys[index * LANES + row];
            }
            restore_equal(&before[..self.len], &mut after[..self.len], key, &own[..self.len]);
            (0..self.len).for_each(|index| to[place(index)] = after[index]);
        }
    }
}

vectorised! {
/// Reads the keys of `count` rows, smaller ones first: each [`LANES`] of `keys` are those of one index. Returns whether
/// some elements are not the ones that their keys stand for.
fn read<T: Sortable>(
    from: &[T],
    keys: &mut [T::Key],
    (stride, next): (usize, usize),
    count: usize,
    order: (bool, bool),
) -> bool {
    let mut has_odd = false;
    for (index, keys) in keys.chunks_exact_mut(LANES).enumerate() {
        let rows = from[index * stride..].iter().step_by(next);
        for (to, &x) in keys[..count].iter_mut().zip(rows) {
            has_odd |= read_key(x, order, to);
        }
    }
    has_odd
}
}

vectorised! {
/// Writes the elements of keys.
fn write<T: Sortable>(
    keys: &[T::Key],
    to: &mut [T],
    (stride, next): (usize, usize),
    count: usize,
    is_descending: bool,
) {
    for (index, keys) in keys.chunks_exact(LANES).enumerate() {
        let rows = to[index * stride..].iter_mut().step_by(next);
        for (to, &key) in rows.zip(&keys[..count]) {
            *to = T::from_key(if is_descending { key.inverted() } else { key });
        }
    }
}
}

vectorised! {
/// Sorts [`LANES`] rows of keys: Knuth's merge exchange, algorithm 5.2.2 M.
fn network<K: Bits>(keys: &mut [K]) {
    let len = keys.len() / LANES;
    let mut p = len.next_power_of_two() / 2;
    let first = p;
    while p > 0 {
        let (mut q, mut r, mut d) = (first, 0, p);
        loop {
            for i in (0..len - d).filter(|i| i & p == r) {
                let (low, high) = keys.split_at_mut((i + d) * LANES);
                for (a, b) in low[i * LANES..][..LANES].iter_mut().zip(&mut high[..LANES]) {
                    (*a, *b) = ((*a).min(*b), (*a).max(*b));
                }
            }
            if q == p {
                break;
            }
            (d, r) = (q - p, p);
            q /= 2;
        }
        p /= 2;
    }
}
}
