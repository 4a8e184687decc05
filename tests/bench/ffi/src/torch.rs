//! The ops of `tests/cpp/torch_unboxed.cc` and `torch_stable.cc`.

use oxcall::prelude::*;

/// What a call costs that looks at its argument and does nothing.
#[custom_call]
fn look_(_x: InOut<f32>) {}

/// In place: nothing is allocated.
#[custom_call]
fn negate_(#[dims(..s)] mut x: InOut<f32>) {
    x.iter_mut().for_each(|x| *x = -*x);
}

/// An allocation and nothing else.
#[custom_call]
fn empty_like(#[dims(..s)] _x: Array<f32>, #[dims(..s)] _y: Out<f32>) {}

/// One argument, one result.
#[custom_call]
fn add_one(#[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y = x + 1.0;
    }
}

/// Ten arguments of as many types, all of which reach the first element.
#[custom_call]
#[expect(clippy::too_many_arguments, reason = "that is what is measured")]
fn mix(
    #[dims(..s)] a: Array<f32>,
    #[dims(..s)] b: Array<f32>,
    bias: Option<Array<f32>>,
    others: Variadic<Array<f32>>,
    #[attr] count: i64,
    #[attr] scale: f64,
    #[attr] negative: bool,
    #[attr] mode: &str,
    #[attr] axes: &[i64],
    #[attr] weights: &[f64],
    #[dims(..s)] mut y: Out<f32>,
) {
    let first = |array: &Array<f32>| f64::from(array.as_slice()[0]);
    let sum = first(&b) + bias.as_ref().map_or(0.0, first) + others.iter().map(first).sum::<f64>();
    let sum = scale * sum + (count + axes[0] + mode.len() as i64) as f64 + weights[0];
    y.as_mut_slice()[0] = a.as_slice()[0] + if negative { -sum } else { sum } as f32;
}

/// Two results, of different dtypes, with a dimension that an attribute gives.
#[custom_call]
fn topk(
    #[dims(..b, n)] x: Array<f32>,
    #[attr] k: usize,
    #[dims(..b, k)] mut values: Out<f32>,
    #[dims(..b, k)] mut indices: Out<i64>,
) -> Result<()> {
    let n = x.shape().last().copied().unwrap_or(0);
    if k > n {
        return Err(Error::invalid_argument(format!("`k` is {k}, but rows have {n} elements")));
    }
    let mut order = Vec::with_capacity(n);
    for ((x, values), indices) in x.rows().zip(values.rows_mut()).zip(indices.rows_mut()) {
        order.clear();
        order.extend(0..n);
        let descending = |&a: &usize, &b: &usize| x[b].total_cmp(&x[a]).then(a.cmp(&b));
        if 0 < k && k < n {
            order.select_nth_unstable_by(k - 1, descending);
        }
        order[..k].sort_unstable_by(descending);
        for ((value, index), &best) in values.iter_mut().zip(indices).zip(&order) {
            (*value, *index) = (x[best], best as i64);
        }
    }
    Ok(())
}
