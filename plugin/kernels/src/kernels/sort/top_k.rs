//! Top-k.

use oxcall::Error;
use oxcall_hlo::{ElementType, Func, Op};

use super::key::{Bits, Sortable, by_sortable};
use crate::element::Element;
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::kernels::tensors;
use crate::math::level::vectorised;
use crate::pool::Cost;

/// Evaluates `$body` with `$T` as the stored type of a float of 8 bits or fewer, and wraps it in `Some`; `None` for
/// other types.
macro_rules! by_narrow_float {
    ($element:expr, $T:ident => $body:expr) => {
        by_sortable!(@ $element, $T => $body;
            F4E2M1FN crate::element::F4E2M1FN, F8E3M4 crate::element::F8E3M4, F8E4M3 crate::element::F8E4M3,
            F8E4M3FN crate::element::F8E4M3FN, F8E4M3FNUZ crate::element::F8E4M3FNUZ,
            F8E4M3B11FNUZ crate::element::F8E4M3B11FNUZ, F8E5M2 crate::element::F8E5M2,
            F8E5M2FNUZ crate::element::F8E5M2FNUZ, F8E8M0FNU crate::element::F8E8M0FNU)
    };
}

/// The largest number of elements for which it takes less time to keep the best known in order than to sort them.
const FEW: usize = 16;

/// The first `k` elements of each row in total order, with their indices; of equal ones, those with lower indices.
#[derive(Debug)]
struct TopK {
    element: ElementType,
    /// The size of the last dimension.
    len: usize,
    rows: usize,
    k: usize,
    largest: bool,
}

pub(super) fn make(op: &Op, func: &Func, k: usize, largest: bool) -> Result<Box<dyn Kernel>, Error> {
    let [operand, values, indices] = tensors(op, func)?;
    let element = operand.element;
    let len = operand.dims.last().copied().unwrap_or(1);
    let supported =
        by_sortable!(element, T => size_of::<T>()).or_else(|| by_narrow_float!(element, T => size_of::<T>())).is_some();
    if !supported || indices.element != ElementType::S32 || i32::try_from(len).is_err() {
        let message = format!("operand {operand} with indices of element type {} is not supported", indices.element);
        return Err(Error::unimplemented(message));
    }
    Ok(Box::new(TopK { element, len, rows: values.count() / k.max(1), k, largest }))
}

/// A key in the requested order, above its position.
type Item<K> = <K as Bits>::WithPosition;

/// The elements that are looked at together: first whether one is a candidate, then whether one of each line is.
const BLOCK: usize = 256;
const LINE: usize = 16;

vectorised! {
/// Whether any element's key comes before `bound` in the requested order.
fn some_precede<T: Copy, K: Bits, F: Fn(T) -> K>(block: &[T], bound: K, largest: bool, key: F) -> bool {
    if largest {
        block.iter().fold(false, |found, &x| found | (key(x).inverted() < bound))
    } else {
        block.iter().fold(false, |found, &x| found | (key(x) < bound))
    }
}
}

/// Calls `visit` with the positions, from `first` on, and keys of the elements whose keys come before the bound that
/// the last call returned, in their order; with all while there is none.
fn scan<T: Copy, K: Bits>(
    (row, first): (&[T], u32),
    largest: bool,
    key: impl Fn(T) -> K + Copy,
    mut visit: impl FnMut(u32, K) -> Option<K>,
) {
    // Short rows have candidates everywhere.
    let is_long = row.len() >= BLOCK;
    let mut bound = None;
    for (block, start) in row.chunks(BLOCK).zip((first..).step_by(BLOCK)) {
        if is_long && bound.is_some_and(|bound| !some_precede(block, bound, largest, key)) {
            continue;
        }
        for (line, start) in block.chunks(LINE).zip((start..).step_by(LINE)) {
            if is_long && bound.is_some_and(|bound| !some_precede(line, bound, largest, key)) {
                continue;
            }
            for (&x, position) in line.iter().zip(start..) {
                let key = if largest { key(x).inverted() } else { key(x) };
                if bound.is_none_or(|bound| key < bound) {
                    bound = visit(position, key);
                }
            }
        }
    }
}

impl TopK {
    /// The number of items of a part of a row that are collected before they are reduced to the best.
    fn capacity(&self) -> usize {
        if self.k <= FEW { 0 } else { (4 * self.k).max(256) }
    }

    /// The number of parts of each row, which several threads look at.
    fn parts(&self, threads: usize) -> usize {
        const SHORTEST: usize = 1 << 14;
        let most = self.len / SHORTEST.max(16 * self.capacity());
        threads.div_ceil(self.rows).min(most).max(1)
    }

    /// The first items of a part of a row, in order, for at most [`FEW`] of them: keeps the best so far in order.
    fn select_few<T: Copy, K: Bits>(&self, part: (&[T], u32), key: impl Fn(T) -> K + Copy, best: &mut [Item<K>]) {
        let mut count = 0;
        scan(part, self.largest, key, |position, key| {
            count = best.len().min(count + 1);
            let (item, mut place) = (key.with_position(position), count - 1);
            while place > 0 && item < best[place - 1] {
                best[place] = best[place - 1];
                place -= 1;
            }
            best[place] = item;
            // Of equal keys, the first is the best.
            (count == best.len()).then(|| K::above_position(best[count - 1]))
        });
    }

    /// The first items of a part of a row, in order. `items` has space for [`capacity`](TopK::capacity) items.
    fn select<T: Copy, K: Bits>(
        &self,
        part: (&[T], u32),
        key: impl Fn(T) -> K + Copy,
        items: &mut [Item<K>],
        best: &mut [Item<K>],
    ) {
        // Items are collected if they precede the last of the best known, and are reduced to the best now and then.
        let (mut bound, mut count) = (None, 0);
        scan(part, self.largest, key, |position, key| {
            items[count] = key.with_position(position);
            count += 1;
            if count == items.len() {
                let (_, &mut last, _) = items.select_nth_unstable(self.k - 1);
                count = self.k;
                bound = Some(K::above_position(last));
            }
            bound
        });
        let items = &mut items[..count];
        items.sort_unstable();
        best.copy_from_slice(&items[..self.k]);
    }

    fn run_typed<T: Copy + Sync, K: Bits>(
        &self,
        cx: Context<'_>,
        key: impl Fn(T) -> K + Copy + Sync,
        operand: &[T],
        (values, indices): (&mut [T], &mut [i32]),
    ) -> Result<(), Error> {
        let parts = self.parts(cx.pool.threads_for(self.cost()));
        let len = self.len.div_ceil(parts);
        let mut best = cx.scratch::<Item<K>>(self.rows * parts * self.k)?;
        cx.pool.for_chunks(self.cost(), &mut best, self.k, |first, chunk| {
            let mut items = cx.scratch(self.capacity())?;
            for (best, index) in chunk.chunks_exact_mut(self.k).zip(first / self.k..) {
                let (row, start) = (index / parts, index % parts * len);
                let row = &operand[row * self.len..][..self.len];
                let part = (&row[start..self.len.min(start + len)], start as u32);
                if self.k <= FEW {
                    self.select_few(part, key, best);
                } else {
                    self.select(part, key, &mut items, best);
                }
            }
            Ok::<(), Error>(())
        })?;
        let results = values.chunks_exact_mut(self.k).zip(indices.chunks_exact_mut(self.k));
        let rows = best.chunks_exact_mut(parts * self.k).zip(operand.chunks_exact(self.len));
        for ((values, indices), (best, row)) in results.zip(rows) {
            if parts > 1 {
                best.sort_unstable();
            }
            for ((value, index), item) in values.iter_mut().zip(indices).zip(best) {
                (*value, *index) = (row[item.low() as usize], item.low() as i32);
            }
        }
        Ok(())
    }
}

impl Kernel for TopK {
    fn name(&self) -> String {
        "top_k".into()
    }

    fn cost(&self) -> Cost {
        let (count, kept) = ((self.rows * self.len) as f64, (self.rows * self.k) as f64);
        Cost { flops: 8.0 * count + 40.0 * kept, bytes: count * self.element.byte_width() as f64 }
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        if self.rows * self.k == 0 {
            return Ok(());
        }
        by_sortable!(self.element, T => {
            self.run_typed(cx, |x: T| x.key(), inputs.get(0), (outputs.take(0), outputs.take(1)))?;
        });
        by_narrow_float!(self.element, T => {
            self.run_typed(cx, |x: T| x.widen().key(), inputs.get(0), (outputs.take(0), outputs.take(1)))?;
        });
        Ok(())
    }
}
