//! Keys, and the positions of the largest ones of short rows: a key and its position are one number, whose largest has
//! both.

#![allow(clippy::needless_range_loop, reason = "several arrays have the same lanes")]

use bytemuck::Pod;

use crate::kernels::simd::vectorised;

/// A signed integer.
pub(super) trait Key: Pod + Ord + Send + Sync {
    /// The least one.
    const LEAST: Self;

    /// The bits that differ between the keys of `argmax` and of `argmin`.
    fn flip(largest: bool) -> Self;

    /// Finds the positions of the first of the largest keys of rows, of so many elements each; `None` for long rows.
    fn best_of_short(row: usize) -> Option<fn(&[Self], usize, &mut [u32])>;
}

/// The longest row that is short.
const LONGEST: usize = 128;

macro_rules! keys {
    ($($key:ident $(in $pair:ident with $lanes:literal lanes)?),*) => {$(
        impl Key for $key {
            const LEAST: $key = $key::MIN;

            fn flip(largest: bool) -> $key {
                if largest { 0 } else { !0 }
            }

            fn best_of_short(row: usize) -> Option<fn(&[$key], usize, &mut [u32])> {
                $(
                    const LANES: usize = $lanes;
                    /// The bits of a position.
                    const LOW: $pair = (1 << ($pair::BITS / 2)) - 1;
                    vectorised! {
                    fn best_of_rows(keys: &[$key], row: usize, positions: &mut [u32]) {
                        // Keys at the end are compared twice rather than one by one.
                        let last = row - LANES;
                        for (keys, position) in keys.chunks_exact(row).zip(positions) {
                            let mut pairs = [$pair::MIN; LANES];
                            let mut start = 0;
                            loop {
                                let next = &keys[start..][..LANES];
                                for lane in 0..LANES {
                                    let place = LOW - (start + lane) as $pair;
                                    pairs[lane] = pairs[lane].max($pair::from(next[lane]) << ($pair::BITS / 2) | place);
                                }
                                if start == last {
                                    break;
                                }
                                start = (start + LANES).min(last);
                            }
                            let best = pairs.iter().fold($pair::MIN, |best, &pair| best.max(pair));
                            *position = (LOW - (best & LOW)) as u32;
                        }
                    }
                    }
                    if (LANES..=LONGEST).contains(&row) {
                        return Some(best_of_rows);
                    }
                )?
                let _ = row;
                None
            }
        }
    )*};
}

keys!(i8 in i32 with 16 lanes, i16 in i32 with 16 lanes, i32 in i64 with 8 lanes, i64);
