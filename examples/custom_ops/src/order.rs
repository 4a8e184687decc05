//! The largest elements of each row: two results of different dtypes, and a dimension that an attribute gives.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use oxcall::prelude::*;

/// An element with the order of `lax.top_k`: -NaN < -inf < ... < -0 < +0 < ... < inf < NaN.
///
/// A user's own trait bounds a type parameter as well as those of `oxcall` do.
pub trait Ordered: Number {
    /// An integer that orders as the elements do.
    type Key: Ord + Copy + Send + Sync;
    /// The smallest key.
    const MIN: Self::Key;

    /// The element's key.
    fn key(self) -> Self::Key;
}

macro_rules! ordered_floats {
    ($($float:ty as $key:ty),*) => {$(
        impl Ordered for $float {
            type Key = $key;
            const MIN: $key = <$key>::MIN;

            #[inline(always)]
            fn key(self) -> $key {
                let bits = self.to_bits() as $key;
                // Bits of negative floats grow as the floats fall: flip all but the sign.
                bits ^ ((bits >> (<$key>::BITS - 1)) & <$key>::MAX)
            }
        }
    )*};
}
ordered_floats!(f16 as i16, bf16 as i16, f32 as i32, f64 as i64);

macro_rules! ordered_integers {
    ($($int:ty),*) => {$(
        impl Ordered for $int {
            type Key = $int;
            const MIN: $int = <$int>::MIN;

            #[inline(always)]
            fn key(self) -> $int {
                self
            }
        }
    )*};
}
ordered_integers!(i8, i16, i32, i64, u8, u16, u32, u64);

/// The `k` largest elements of each row in descending order, and their indices. Of equal elements the one with the
/// lowest index comes first.
///
/// `k` is an attribute and a dimension: `#[dims(..b, k)]` is checked at each call, and tells JAX the results' shapes.
///
/// # Errors
/// `INVALID_ARGUMENT` if `k` exceeds the length of a row.
#[custom_call(T = [floats, ints], vmap = "broadcast_all")]
pub fn top_k<T: Ordered>(
    #[attr] k: usize,
    #[dims(..b, n)] x: Array<T>,
    #[dims(..b, k)] mut values: Out<T>,
    #[dims(..b, k)] mut indices: Out<i32>,
) -> Result<()> {
    let n = x.shape().last().copied().unwrap_or(0);
    if k > n {
        return Err(Error::invalid_argument(format!("attribute `k` is {k}, but rows of `x` have {n} elements")));
    }
    if k == 0 {
        return Ok(());
    }
    i32::try_from(n - 1).map_err(|_| Error::invalid_argument(format!("{n} elements do not fit indices of 32 bits")))?;
    for ((row, values), indices) in x.rows().zip(values.rows_mut()).zip(indices.rows_mut()) {
        for ((value, index), best) in values.iter_mut().zip(indices).zip(largest(row, k)) {
            (*value, *index) = (row[best], best as i32);
        }
    }
    Ok(())
}

/// The indices of the `k` largest elements, largest first; `k` is between 1 and the number of elements.
fn largest<T: Ordered>(row: &[T], k: usize) -> impl Iterator<Item = usize> {
    const BLOCK: usize = 32;
    // The worst of the best is on top: the smallest key, and of equal ones the highest index.
    let mut best = BinaryHeap::with_capacity(k + 1);
    let (first, rest) = row.split_at(k);
    best.extend(first.iter().enumerate().map(|(index, x)| Reverse((x.key(), Reverse(index)))));
    let mut worst = best.peek().map_or(T::MIN, |Reverse((key, _))| *key);
    for (block, elements) in rest.chunks(BLOCK).enumerate() {
        // Most blocks have nothing to offer, which a loop without branches finds out.
        if elements.iter().fold(T::MIN, |max, x| max.max(x.key())) <= worst {
            continue;
        }
        for (i, x) in elements.iter().enumerate() {
            if x.key() > worst {
                best.pop();
                best.push(Reverse((x.key(), Reverse(k + block * BLOCK + i))));
                worst = best.peek().map_or(T::MIN, |Reverse((key, _))| *key);
            }
        }
    }
    best.into_sorted_vec().into_iter().map(|Reverse((_, Reverse(index)))| index)
}

#[cfg(test)]
mod tests {
    use oxcall::ndarray::array;
    use oxcall::testing::call;

    use crate::testing::numbers;

    use super::*;

    /// A stable sort by descending total order.
    fn expected(row: &[f32], k: usize) -> Vec<i32> {
        let mut indices: Vec<i32> = (0..row.len() as i32).collect();
        indices.sort_by(|&a, &b| row[b as usize].total_cmp(&row[a as usize]));
        indices.truncate(k);
        indices
    }

    #[test]
    fn finds_what_sorting_finds() {
        for n in [1, 7, 32, 33, 200, 1000] {
            // Rounded, so that there are ties.
            let x: Vec<f32> = numbers::<f32>(n).iter().map(|x| (x * 50.0).round()).collect();
            for k in [0, 1, 2.min(n), n / 2, n] {
                let outputs = call::<top_k>().arg(x.as_slice()).attr("k", k as i64).run().unwrap();
                let indices = expected(&x, k);
                assert_eq!(outputs.get::<i32>(1).as_slice().unwrap(), indices, "{n} {k}");
                let values: Vec<f32> = indices.iter().map(|&i| x[i as usize]).collect();
                assert_eq!(outputs.get::<f32>(0).as_slice().unwrap(), values);
            }
        }
    }

    #[test]
    fn special_values_are_in_total_order() {
        let x = [0.0f32, f32::NAN, -0.0, f32::INFINITY, f32::NEG_INFINITY, -f32::NAN, f32::NAN, 1.0];
        let outputs = call::<top_k>().arg(x).attr("k", 8i64).run().unwrap();
        assert_eq!(outputs.get::<i32>(1).as_slice().unwrap(), [1, 6, 3, 7, 0, 2, 4, 5]);
        assert_eq!(outputs.get::<i32>(1).as_slice().unwrap(), expected(&x, 8));
    }

    #[test]
    fn rows_of_other_dtypes() {
        let outputs = call::<top_k>().arg(array![[3u8, 200, 5], [0, 0, 1]]).attr("k", 2i64).run().unwrap();
        assert_eq!(outputs.get::<u8>(0), array![[200u8, 5], [1, 0]].into_dyn());
        assert_eq!(outputs.get::<i32>(1), array![[1, 2], [2, 0]].into_dyn());
        let halves: Vec<bf16> = numbers(50);
        let outputs = call::<top_k>().arg(halves.as_slice()).attr("k", 3i64).run().unwrap();
        let wide: Vec<f32> = halves.iter().map(|x| x.to_f32()).collect();
        assert_eq!(outputs.get::<i32>(1).as_slice().unwrap(), expected(&wide, 3));
    }

    #[test]
    fn k_is_checked() {
        let run = |k: i64| call::<top_k>().arg([1f32, 2.0]).attr("k", k).run().unwrap_err();
        assert_eq!(run(3).message(), "top_k: attribute `k` is 3, but rows of `x` have 2 elements");
        assert_eq!(run(-1).code(), Code::InvalidArgument);
        let run = call::<top_k>().arg([1f32, 2.0]).attr("k", 1i64).ret_of::<f32>(&[2]).ret_of::<i32>(&[1]);
        assert!(run.run().unwrap_err().message().contains("result `values` has shape [2]"));
    }
}
