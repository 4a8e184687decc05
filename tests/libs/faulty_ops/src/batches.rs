//! Batches that are not what is declared.

use oxcall::prelude::*;

/// The cumulative sum over rows, which are said to be independent.
#[custom_call(batch = b)]
fn running_total(#[dims(..b, n)] x: Array<f64>, #[dims(..b, n)] mut y: Out<f64>) {
    let mut sum = 0.0;
    for (y, x) in y.rows_mut().zip(x.rows()) {
        for (y, x) in y.iter_mut().zip(x) {
            sum += x;
            *y = sum;
        }
    }
}

/// The mean over rows, said to be the sum.
#[custom_call(batch = b)]
fn mean_of_rows(
    #[dims(..b, n)] x: Array<f64>,
    #[dims(n)]
    #[sum(b)]
    mut y: Out<f64>,
) {
    y.fill(0.0);
    let count = x.rows().count().max(1) as f64;
    for x in x.rows() {
        for (y, x) in y.iter_mut().zip(x) {
            *y += x / count;
        }
    }
}

/// `2 x`; the operator of a batch reverses it.
#[custom_call(vmap = double_of_batch)]
fn double(#[dims(n)] x: Array<f64>, #[dims(n)] mut y: Out<f64>) {
    crate::map(&x, &mut y, |x| 2.0 * x);
}

#[custom_call]
fn double_of_batch(#[dims(m, n)] x: Array<f64>, #[dims(m, n)] mut y: Out<f64>) {
    let rows: Vec<_> = x.rows().collect();
    for (y, x) in y.rows_mut().zip(rows.into_iter().rev()) {
        for (y, x) in y.iter_mut().zip(x) {
            *y = 2.0 * x;
        }
    }
}

/// Each element by the sum of all, of the whole batch as well.
#[custom_call(vmap = "broadcast_all")]
fn share(#[dims(..s)] x: Array<f64>, #[dims(..s)] mut y: Out<f64>) {
    let sum: f64 = x.iter().sum();
    crate::map(&x, &mut y, |x| x / sum);
}
