//! Wrong derivatives. Each fault is one percent, a sign, or something that does not belong to the operation.

use oxcall::prelude::*;

use crate::{map, zip};

/// `x²`; the vjp op is off by one percent.
#[custom_call(vjp = square_vjp)]
fn square(#[dims(..s)] x: Array<f64>, #[dims(..s)] mut y: Out<f64>) {
    map(&x, &mut y, |x| x * x);
}

#[custom_call]
fn square_vjp(#[dims(..s)] x: Array<f64>, #[dims(..s)] dy: Array<f64>, #[dims(..s)] mut dx: Out<f64>) {
    zip(&x, &dy, &mut dx, |x, dy| 2.02 * x * dy);
}

/// `x³` of single precision; the vjp op is off by one percent.
#[custom_call(vjp = single_cube_vjp)]
fn single_cube(#[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y = x * x * x;
    }
}

#[custom_call]
fn single_cube_vjp(#[dims(..s)] x: Array<f32>, #[dims(..s)] dy: Array<f32>, #[dims(..s)] mut dx: Out<f32>) {
    for (dx, (x, dy)) in dx.iter_mut().zip(x.iter().zip(dy.iter())) {
        *dx = 3.03 * x * x * dy;
    }
}

/// `cos x`; the vjp op has the wrong sign.
#[custom_call(vjp = cosine_vjp)]
fn cosine(#[dims(..s)] x: Array<f64>, #[dims(..s)] mut y: Out<f64>) {
    map(&x, &mut y, f64::cos);
}

#[custom_call]
fn cosine_vjp(#[dims(..s)] x: Array<f64>, #[dims(..s)] dy: Array<f64>, #[dims(..s)] mut dx: Out<f64>) {
    zip(&x, &dy, &mut dx, |x, dy| x.sin() * dy);
}

/// `x w`; only `dw` is wrong.
#[custom_call(vjp = product_vjp)]
fn product(#[dims(..s)] x: Array<f64>, #[dims(..s)] w: Array<f64>, #[dims(..s)] mut y: Out<f64>) {
    zip(&x, &w, &mut y, |x, w| x * w);
}

#[custom_call]
fn product_vjp(
    #[dims(..s)] w: Array<f64>,
    #[dims(..s)] dy: Array<f64>,
    #[dims(..s)] mut dx: Out<f64>,
    #[dims(..s)] mut dw: Out<f64>,
) {
    zip(&w, &dy, &mut dx, |w, dy| w * dy);
    zip(&w, &dy, &mut dw, |w, dy| w * dy);
}

/// `sin x`; the vjp op is right and the jvp op is off by one percent.
#[custom_call(vjp = sine_vjp, jvp = sine_jvp)]
fn sine(#[dims(..s)] x: Array<f64>, #[dims(..s)] mut y: Out<f64>) {
    map(&x, &mut y, f64::sin);
}

#[custom_call]
fn sine_vjp(#[dims(..s)] x: Array<f64>, #[dims(..s)] dy: Array<f64>, #[dims(..s)] mut dx: Out<f64>) {
    zip(&x, &dy, &mut dx, |x, dy| x.cos() * dy);
}

#[custom_call]
fn sine_jvp(#[dims(..s)] x: Array<f64>, #[dims(..s)] tx: Array<f64>, #[dims(..s)] mut ty: Out<f64>) {
    zip(&x, &tx, &mut ty, |x, tx| 1.01 * x.cos() * tx);
}

/// `exp x`; the residual of the forward op is off by one percent.
#[custom_call(fwd = growth_fwd, vjp = growth_vjp, jvp = growth_jvp)]
fn growth(#[dims(..s)] x: Array<f64>, #[dims(..s)] mut y: Out<f64>) {
    map(&x, &mut y, f64::exp);
}

#[custom_call]
fn growth_fwd(#[dims(..s)] x: Array<f64>, #[dims(..s)] mut y: Out<f64>, #[dims(..s)] mut rate: Out<f64>) {
    map(&x, &mut y, f64::exp);
    map(&x, &mut rate, |x| 1.01 * x.exp());
}

#[custom_call]
fn growth_vjp(#[dims(..s)] rate: Array<f64>, #[dims(..s)] dy: Array<f64>, #[dims(..s)] mut dx: Out<f64>) {
    zip(&rate, &dy, &mut dx, |rate, dy| rate * dy);
}

#[custom_call]
fn growth_jvp(#[dims(..s)] rate: Array<f64>, #[dims(..s)] tx: Array<f64>, #[dims(..s)] mut ty: Out<f64>) {
    zip(&rate, &tx, &mut ty, |rate, tx| rate * tx);
}

/// `exp x`; the forward op gives another result.
#[custom_call(fwd = decay_fwd, vjp = decay_vjp)]
fn decay(#[dims(..s)] x: Array<f64>, #[dims(..s)] mut y: Out<f64>) {
    map(&x, &mut y, |x| (-x).exp());
}

#[custom_call]
fn decay_fwd(#[dims(..s)] x: Array<f64>, #[dims(..s)] mut y: Out<f64>, #[dims(..s)] mut rate: Out<f64>) {
    map(&x, &mut y, |x| 1.01 * (-x).exp());
    map(&x, &mut rate, |x| -(-x).exp());
}

#[custom_call]
fn decay_vjp(#[dims(..s)] rate: Array<f64>, #[dims(..s)] dy: Array<f64>, #[dims(..s)] mut dx: Out<f64>) {
    zip(&rate, &dy, &mut dx, |rate, dy| rate * dy);
}

/// The cumulative sum; what it names as its transpose is itself.
#[custom_call(transpose = cumulate_transpose)]
fn cumulate(#[dims(n)] x: Array<f64>, #[dims(n)] mut y: Out<f64>) {
    let mut sum = 0.0;
    for (y, x) in y.iter_mut().zip(x.iter()) {
        sum += x;
        *y = sum;
    }
}

#[custom_call]
fn cumulate_transpose(#[dims(n)] dy: Array<f64>, #[dims(n)] mut dx: Out<f64>) {
    let mut sum = 0.0;
    for (dx, dy) in dx.iter_mut().zip(dy.iter()) {
        sum += dy;
        *dx = sum;
    }
}

/// `2 x + 1`, which is not linear.
#[custom_call(transpose = shift_transpose)]
fn shift(#[dims(n)] x: Array<f64>, #[dims(n)] mut y: Out<f64>) {
    map(&x, &mut y, |x| 2.0 * x + 1.0);
}

#[custom_call]
fn shift_transpose(#[dims(n)] dy: Array<f64>, #[dims(n)] mut dx: Out<f64>) {
    map(&dy, &mut dx, |dy| 2.0 * dy);
}

/// `x w`, where `w` is said to have no derivative.
#[custom_call(vjp = weighted_vjp, nondiff = [w])]
fn weighted(#[dims(..s)] x: Array<f64>, #[dims(..s)] w: Array<f64>, #[dims(..s)] mut y: Out<f64>) {
    zip(&x, &w, &mut y, |x, w| x * w);
}

#[custom_call]
fn weighted_vjp(#[dims(..s)] w: Array<f64>, #[dims(..s)] dy: Array<f64>, #[dims(..s)] mut dx: Out<f64>) {
    zip(&w, &dy, &mut dx, |w, dy| w * dy);
}
