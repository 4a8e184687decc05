//! `ApproxTopK`: the largest or smallest elements along a dimension, here always exact.

use std::cmp::Ordering;

use oxcall::prelude::*;

use super::expect;
use crate::memory::{self, matrices};

/// The largest elements along `reduction_dim` in descending order, or the smallest in ascending order, and the matching
/// elements of `indices`; as many as the results have, or all in their own order if these are as large as the operands.
///
/// Which of both is wanted, only the comparator says, which handlers do not see; but the initial value is then the one
/// that every element beats: the lowest for the largest. The recall that is asked for is always reached.
#[custom_call(name = "ApproxTopK", T = [f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64])]
#[expect(clippy::too_many_arguments, reason = "the interface of XLA")]
pub fn approx_top_k<T: Sortable>(
    #[attr] reduction_dim: usize,
    #[attr(default = 0)] top_k: i64,
    #[attr(default = 1.0)] recall_target: f32,
    #[attr(default = true)] aggregate_to_topk: bool,
    #[attr(default = -1)] reduction_input_size_override: i64,
    #[attr(default = false)] is_fallback: bool,
    #[dims(..s)] values: Array<T>,
    #[dims(..s)] indices: Array<i32>,
    initial: oxcall::prelude::Scalar<T>,
    _initial_index: oxcall::prelude::Scalar<i32>,
    #[dims(..)] mut top_values: Out<T>,
    #[dims(..)] mut top_indices: Out<i32>,
) -> Result<()> {
    let _ = (top_k, recall_target, aggregate_to_topk, reduction_input_size_override, is_fallback);
    let shape = values.shape();
    let (Some(&count), Some(&kept)) = (shape.get(reduction_dim), top_values.shape().get(reduction_dim)) else {
        return Err(Error::invalid_argument(format!(
            "attribute `reduction_dim` is {reduction_dim}, but an array has rank {}",
            shape.len().min(top_values.shape().len())
        )));
    };
    expect("elements of both results", top_indices.len(), top_values.len())?;
    let inner: usize = shape[reduction_dim + 1..].iter().product();
    expect("elements of the results", top_values.len() * count, values.len() * kept)?;
    if kept > count {
        return Err(Error::invalid_argument(format!("{kept} elements were requested from a dimension of {count}")));
    }
    memory::check(matrices::<Item>([count, 1], 1))?;
    let largest =
        initial.partial_cmp(&T::zero()) == Some(Ordering::Less) || (*initial == T::zero() && !is_signed::<T>());
    for line in 0..top_values.len() / kept.max(1) {
        let (outer, within) = (line / inner, line % inner);
        let from = |i: usize| (outer * count + i) * inner + within;
        let key = |i: usize| if largest { !values[from(i)].key() } else { values[from(i)].key() };
        let mut best: Vec<Item> = (0..count).map(|i| (key(i), i)).collect();
        if kept < count || aggregate_to_topk {
            keep_first(&mut best, kept);
        }
        for (i, &(_, at)) in best.iter().enumerate() {
            let to = (outer * kept + i) * inner + within;
            (top_values[to], top_indices[to]) = (values[from(at)], indices[from(at)]);
        }
    }
    Ok(())
}

/// Whether the type has numbers below zero.
fn is_signed<T: Number>() -> bool {
    !matches!(T::DTYPE, DType::U8 | DType::U16 | DType::U32 | DType::U64)
}

/// The key of an element, above its position.
type Item = (u64, usize);

/// Keeps the first items, in order. Compiled for keys, and not for each type of elements.
fn keep_first(items: &mut Vec<Item>, kept: usize) {
    if kept > 0 && kept < items.len() {
        items.select_nth_unstable(kept - 1);
    }
    items.truncate(kept);
    items.sort_unstable();
}

/// A number with a key.
pub trait Sortable: Number + PartialOrd {
    /// An integer in the order of numbers. Zeros are equal, and NaN is beaten by nothing from above, as in XLA's total
    /// order.
    fn key(self) -> u64;
}

macro_rules! sortable {
    ($($unsigned:ty, $signed:ty, $($float:ty),+;)*) => {$(
        impl Sortable for $unsigned {
            fn key(self) -> u64 {
                self.into()
            }
        }

        impl Sortable for $signed {
            fn key(self) -> u64 {
                (self.cast_unsigned() ^ (1 << (<$signed>::BITS - 1))).into()
            }
        }

        $(impl Sortable for $float {
            fn key(self) -> u64 {
                let (bits, sign) = (self.to_bits(), 1 << (<$unsigned>::BITS - 1));
                match self {
                    x if x.is_nan() => u64::MAX,
                    x if x == Self::default() => sign.into(),
                    _ if bits & sign == 0 => (bits | sign).into(),
                    _ => (!bits).into(),
                }
            }
        })+
    )*};
}

sortable! {
    u16, i16, f16, bf16;
    u32, i32, f32;
    u64, i64, f64;
}

macro_rules! bytes {
    ($($ty:ty as $wide:ty),*) => {$(
        impl Sortable for $ty {
            fn key(self) -> u64 {
                <$wide>::from(self).key()
            }
        }
    )*};
}

bytes!(u8 as u16, i8 as i16);
