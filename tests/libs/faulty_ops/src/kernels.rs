//! Kernels that are wrong whatever is declared, or for one dtype or size.

use std::sync::atomic::{AtomicU32, Ordering};

use oxcall::prelude::*;

/// `2 x`, but for the last element, which it does not write.
#[custom_call]
fn partly_written(#[dims(n)] x: Array<f64>, #[dims(n)] mut y: Out<f64>) {
    for (i, x) in x.iter().enumerate().take(x.len().saturating_sub(1)) {
        y[i] = 2.0 * x;
    }
}

/// `x` plus the number of calls.
#[custom_call]
fn counting(#[dims(n)] x: Array<f64>, #[dims(n)] mut y: Out<f64>) {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let calls = f64::from(CALLS.fetch_add(1, Ordering::Relaxed));
    crate::map(&x, &mut y, |x| x + calls);
}

/// `2 x`, or `2.5 x` in half precision.
#[custom_call(T = floats)]
fn wrong_in_half<T: Float>(#[dims(..s)] x: Array<T>, #[dims(..s)] mut y: Out<T>) {
    let factor = if size_of::<T>() == 2 { 2.5 } else { 2.0 };
    for (y, &x) in y.iter_mut().zip(x.iter()) {
        *y = T::from_f64(factor) * x;
    }
}

/// The largest element of each row, whose first one is not always there.
#[custom_call]
fn row_max(#[dims(m, n)] x: Array<f64>, #[dims(m)] mut y: Out<f64>) {
    for (y, x) in y.iter_mut().zip(x.rows()) {
        *y = x.iter().fold(x[0], |largest, x| largest.max(*x));
    }
}

/// The sum of rows, which is not written if there are none.
#[custom_call(batch = b)]
fn sum_of_some(
    #[dims(..b, n)] x: Array<f64>,
    #[dims(n)]
    #[sum(b)]
    mut y: Out<f64>,
) {
    for (i, x) in x.rows().enumerate() {
        for (y, x) in y.iter_mut().zip(x) {
            *y = if i == 0 { *x } else { *y + x };
        }
    }
}
