//! An operation whose calls are split among devices, with all that its partitioner has to pass on.

use oxcall::prelude::*;

/// Adds `factors[0]`, once for each character of `label`, to `y` in place; `total` is the sum of `x` over the batch.
#[custom_call(batch = b)]
fn spread(
    #[attr] label: &str,
    #[attr] factors: &[f64],
    #[attr(default = 1)] count: u32,
    #[dims(n, ..b)] x: Array<f64>,
    #[dims(..b, m)] mut y: InOut<f64>,
    #[dims(n)]
    #[sum(b)]
    mut total: Out<f64>,
) {
    y.iter_mut().for_each(|y| *y += factors[0] * label.len() as f64 * f64::from(count));
    let width = x.len() / total.len().max(1);
    for (index, total) in total.iter_mut().enumerate() {
        *total = x[index * width..][..width].iter().sum();
    }
}

/// Adds any number of weights to rows; the number of arrays tells how many.
#[custom_call(batch = b)]
fn add_all(#[dims(..b, n)] x: Array<f64>, #[dims(n)] weights: Variadic<Array<f64>>, #[dims(..b, n)] mut y: Out<f64>) {
    for (y, x) in y.rows_mut().zip(x.rows()) {
        for (index, y) in y.iter_mut().enumerate() {
            *y = x[index] + weights.iter().map(|weight| weight[index]).sum::<f64>();
        }
    }
}

/// A number of optional weights.
#[custom_call(batch = b)]
fn scale_and_shift(
    #[dims(..b, n)] x: Array<f64>,
    #[dims(n)] scale: Option<Array<f64>>,
    #[dims(n)] shift: Option<Array<f64>>,
    #[dims(..b, n)] mut y: Out<f64>,
) {
    for (y, x) in y.rows_mut().zip(x.rows()) {
        for (index, y) in y.iter_mut().enumerate() {
            *y = x[index] * scale.as_ref().map_or(1.0, |scale| scale[index]);
            *y += shift.as_ref().map_or(0.0, |shift| shift[index]);
        }
    }
}
