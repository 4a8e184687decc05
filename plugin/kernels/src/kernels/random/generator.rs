//! `rng_bit_generator`.

use oxcall::Error;
use oxcall_hlo::{Dims, ElementType, RngAlgorithm, TensorType};

use super::{Word, philox, threefry};
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::pool::{Cost, Pool};

/// Random bits of a state.
#[derive(Debug)]
pub(super) struct RngBitGenerator {
    threefry: bool,
    element: ElementType,
    dims: Dims,
    count: usize,
}

impl RngBitGenerator {
    pub(super) fn new(algorithm: RngAlgorithm, state: &TensorType, bits: &TensorType) -> Result<Self, Error> {
        let threefry = algorithm == RngAlgorithm::ThreeFry;
        let words = state.byte_size() / 8;
        if words * 8 != state.byte_size() || words < 2 || words > if threefry { 2 } else { 3 } {
            let expected = if threefry { "2" } else { "2 or 3" };
            let message = format!("{} takes a state of {expected} ui64, got {state}", algorithm.name());
            return Err(Error::invalid_argument(message));
        }
        if bits.element.is_complex() || bits.element == ElementType::Pred {
            return Err(Error::unimplemented(format!("results of element type {} are not supported", bits.element)));
        }
        Ok(RngBitGenerator { threefry, element: bits.element, dims: bits.dims.clone(), count: bits.count() })
    }

    /// Fills `out`, and returns the new state.
    fn philox<T: Word>(&self, pool: &Pool, state: &[u64], out: &mut [T]) -> Vec<u64> {
        let key = state[0];
        // With two words, the key is the high half of the counter; only its low half is kept.
        let (low, high) = if state.len() == 2 { (state[1], key) } else { (state[1], state[2]) };
        let counter = u128::from(low) | u128::from(high) << 64;
        let per_counter = philox::per_counter::<T>();
        let used = philox::counters::<T>(out.len());
        pool.for_chunks(self.cost(), out, per_counter, |start, chunk| {
            philox::fill(key, counter.wrapping_add((start / per_counter) as u128), chunk);
        });
        let next = counter.wrapping_add(used as u128);
        [key, next as u64, (next >> 64) as u64][..state.len()].to_vec() // Bounded: three words.
    }

    /// Fills `out`, and returns the new state.
    fn threefry<T: Word>(&self, pool: &Pool, state: &[u64], out: &mut [T]) -> Vec<u64> {
        let (key, counter) = (state[0], state[1]);
        let at = |used: usize| counter.wrapping_add(used as u64);
        if T::WIDE {
            pool.for_chunks(self.cost(), out, 1, |start, chunk| threefry::fill_wide(key, at(start), chunk));
            return vec![key, at(self.count)];
        }
        let layout = threefry::Layout::new(&self.dims);
        let rows = self.count / layout.row.max(1);
        if rows == 1 {
            pool.for_chunks(self.cost(), out, 2 * layout.inner, |start, chunk| {
                threefry::fill_lines(key, at(start / 2), layout.inner, chunk);
            });
        } else if rows > 1 {
            pool.for_chunks(self.cost(), out, layout.row, |start, chunk| {
                for (i, row) in chunk.chunks_exact_mut(layout.row).enumerate() {
                    let used = (start / layout.row + i) * layout.counters;
                    threefry::fill_lines(key, at(used), layout.inner, row);
                }
            });
        }
        vec![key, at(rows * layout.counters)]
    }

    fn generate<T: Word>(&self, pool: &Pool, state: &[u64], out: &mut [T]) -> Vec<u64> {
        if self.threefry { self.threefry(pool, state, out) } else { self.philox(pool, state, out) }
    }
}

impl Kernel for RngBitGenerator {
    fn name(&self) -> String {
        "rng_bit_generator".into()
    }

    fn cost(&self) -> Cost {
        let words = self.count as f64 * if self.element.bits() == 64 { 2.0 } else { 1.0 };
        Cost { flops: 20.0 * words, bytes: (self.count * self.element.byte_width()) as f64 }
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        let state = inputs.get::<u64>(0);
        let next = match self.element.byte_width() {
            1 => {
                let out = outputs.take::<u8>(1);
                let next = self.generate(cx.pool, state, out);
                cut(self.element, out);
                next
            }
            2 => self.generate(cx.pool, state, outputs.take::<u16>(1)),
            4 => self.generate(cx.pool, state, outputs.take::<u32>(1)),
            _ => self.generate(cx.pool, state, outputs.take::<u64>(1)),
        };
        outputs.take(0).copy_from_slice(&next);
        Ok(())
    }
}

/// Keeps of each byte the bits of an element narrower than a byte.
fn cut(element: ElementType, bytes: &mut [u8]) {
    let unused = 8 - element.bits();
    match (unused, element.is_signed()) {
        (0, _) => {}
        (_, true) => bytes.iter_mut().for_each(|byte| *byte = ((*byte << unused) as i8 >> unused) as u8),
        (_, false) => bytes.iter_mut().for_each(|byte| *byte = *byte << unused >> unused),
    }
}
