//! Keys, and the positions of the largest ones of short rows: a key and its position are one number, whose largest has
//! both.

#![allow(clippy::needless_range_loop, reason = "several arrays have the same lanes")]

use bytemuck::Pod;

use crate::math::level::vectorised;

/// Finds the positions of the first of the largest keys of rows, of so many elements each. [`MOST_LANES`] keys follow
/// the last row.
pub(super) type BestOfShort<K> = fn(&[K], usize, &mut [u32]);

/// A signed integer.
pub(super) trait Key: Pod + Ord + Send + Sync {
    /// The least one.
    const LEAST: Self;

    /// The bits that differ between the keys of `argmax` and of `argmin`.
    fn flip(largest: bool) -> Self;

    /// The function for rows of so many elements, if they are short.
    fn best_of_short(row: usize) -> Option<BestOfShort<Self>>;
}

/// The longest row that is short.
const LONGEST: usize = 128;

/// The most lanes of a loop over short rows.
pub(super) const MOST_LANES: usize = 16;

macro_rules! pairs {
    ($function:ident: $key:ident in $pair:ident with $lanes:literal lanes) => {
        vectorised! {
        /// The positions of the first of the largest keys of rows. As many keys as there are lanes follow the last row.
        fn $function(keys: &[$key], row: usize, positions: &mut [u32]) {
            const LANES: usize = $lanes;
            /// The bits of a position.
            const LOW: $pair = (1 << ($pair::BITS / 2)) - 1;
            // What lanes without an element have does not count.
            let mut most = [$pair::MAX; LANES];
            for lane in row.min(LANES)..LANES {
                most[lane] = $pair::MIN;
            }
            for (index, position) in positions.iter_mut().enumerate() {
                let keys = &keys[index * row..][..row.max(LANES)];
                let mut pairs = [$pair::MIN; LANES];
                let mut start = 0;
                loop {
                    let next = &keys[start..][..LANES];
                    for lane in 0..LANES {
                        let pair = $pair::from(next[lane]) << ($pair::BITS / 2) | (LOW - (start + lane) as $pair);
                        pairs[lane] = pairs[lane].max(pair);
                    }
                    if start + LANES >= row {
                        break;
                    }
                    // Keys at the end are compared twice rather than one by one.
                    start = (start + LANES).min(row - LANES);
                }
                for lane in 0..LANES {
                    pairs[lane] = pairs[lane].min(most[lane]);
                }
                let best = pairs.iter().fold($pair::MIN, |best, &pair| best.max(pair));
                *position = (LOW - (best & LOW)) as u32;
            }
        }
        }
    };
}

pairs!(best_of_bytes: i8 in i32 with 16 lanes);
pairs!(best_of_halves: i16 in i32 with 16 lanes);
pairs!(best_of_words: i32 in i64 with 8 lanes);

macro_rules! keys {
    ($($key:ident by $best_of_short:expr),*) => {$(
        impl Key for $key {
            const LEAST: $key = $key::MIN;

            fn flip(largest: bool) -> $key {
                if largest { 0 } else { !0 }
            }

            fn best_of_short(row: usize) -> Option<BestOfShort<$key>> {
                if row <= LONGEST { $best_of_short } else { None }
            }
        }
    )*};
}

keys!(i8 by Some(best_of_bytes), i16 by Some(best_of_halves), i32 by Some(best_of_words), i64 by None);
