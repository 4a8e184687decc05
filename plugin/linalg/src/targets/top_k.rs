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
pub fn approx_top_k<T: Number + PartialOrd>(
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
    memory::check(matrices::<usize>([count, 1], 1))?;
    let largest =
        initial.partial_cmp(&T::zero()) == Some(Ordering::Less) || (*initial == T::zero() && !is_signed::<T>());
    let better = |a: T, b: T| if largest { order(b, a) } else { order(a, b) };
    for line in 0..top_values.len() / kept.max(1) {
        let (outer, within) = (line / inner, line % inner);
        let from = |i: usize| (outer * count + i) * inner + within;
        let mut best: Vec<usize> = (0..count).collect();
        if kept < count || aggregate_to_topk {
            if kept > 0 && kept < count {
                best.select_nth_unstable_by(kept - 1, |&a, &b| {
                    better(values[from(a)], values[from(b)]).then(a.cmp(&b))
                });
            }
            best.truncate(kept);
            best.sort_unstable_by(|&a, &b| better(values[from(a)], values[from(b)]).then(a.cmp(&b)));
        }
        for (i, &at) in best.iter().enumerate() {
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

/// NaN is beaten by nothing from above, as in XLA's total order.
fn order<T: PartialOrd>(a: T, b: T) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| match (a.partial_cmp(&a).is_none(), b.partial_cmp(&b).is_none()) {
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        _ => Ordering::Equal,
    })
}
