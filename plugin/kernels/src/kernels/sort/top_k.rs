//! Top-k.

use oxcall::Error;
use oxcall_hlo::{ElementType, Func, Op};

use super::key::{Bits, Sortable, by_sortable};
use crate::element::Element;
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::kernels::tensors;
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

impl TopK {
    /// The largest number of a row's items that are kept: more are reduced to the best.
    fn capacity(&self) -> usize {
        if self.k <= FEW { self.k } else { (4 * self.k).max(1024) }
    }

    /// The positions of the first keys of a row, for at most [`FEW`] of them: keeps the best so far in order.
    fn select_few<K: Bits>(&self, row: impl Iterator<Item = K>, best: &mut [Item<K>], positions: &mut [u32]) {
        let mut count = 0;
        for (position, key) in (0..).zip(row) {
            let key = if self.largest { key.inverted() } else { key };
            let item = key.with_position(position);
            if count < best.len() {
                count += 1;
            } else if item > best[count - 1] {
                continue;
            }
            let mut place = count - 1;
            while place > 0 && item < best[place - 1] {
                best[place] = best[place - 1];
                place -= 1;
            }
            best[place] = item;
        }
        positions.iter_mut().zip(best).for_each(|(position, item)| *position = item.low());
    }

    /// The positions of the first keys of a row. `items` has space for [`capacity`](TopK::capacity) items.
    fn select<K: Bits>(&self, row: impl Iterator<Item = K>, items: &mut [Item<K>], positions: &mut [u32]) {
        // Items are collected if they precede the last of the best known, and are reduced to the best now and then.
        let mut last: Option<Item<K>> = None;
        let mut count = 0;
        for (position, key) in (0..).zip(row) {
            let key = if self.largest { key.inverted() } else { key };
            let item = key.with_position(position);
            if last.is_some_and(|last| item > last) {
                continue;
            }
            items[count] = item;
            count += 1;
            if count == items.len() {
                let (_, &mut kth, _) = items.select_nth_unstable(self.k - 1);
                count = self.k;
                last = Some(kth);
            }
        }
        let items = &mut items[..count];
        items.sort_unstable();
        positions.iter_mut().zip(items).for_each(|(position, item)| *position = item.low());
    }

    fn run_typed<T: Copy + Sync, K: Bits>(
        &self,
        cx: Context<'_>,
        key: impl Fn(T) -> K + Sync,
        operand: &[T],
        (values, indices): (&mut [T], &mut [i32]),
    ) -> Result<(), Error> {
        let mut positions = cx.scratch(self.rows * self.k)?;
        cx.pool.for_chunks(self.cost(), &mut positions, self.k, |first, chunk| {
            let mut items = cx.scratch(self.capacity())?;
            for (index, positions) in chunk.chunks_exact_mut(self.k).enumerate() {
                let row = first / self.k + index;
                let row = operand[row * self.len..][..self.len].iter().map(|&x| key(x));
                if self.k <= FEW {
                    self.select_few(row, &mut items, positions);
                } else {
                    self.select(row, &mut items, positions);
                }
            }
            Ok::<(), Error>(())
        })?;
        let rows = values.chunks_exact_mut(self.k).zip(positions.chunks_exact(self.k));
        for ((values, positions), row) in rows.zip(operand.chunks_exact(self.len)) {
            values.iter_mut().zip(positions).for_each(|(value, &position)| *value = row[position as usize]);
        }
        indices.iter_mut().zip(positions.iter()).for_each(|(index, &position)| *index = position as i32);
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
