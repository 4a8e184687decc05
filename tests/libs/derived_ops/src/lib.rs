//! Operations with derivatives, some of which have derivatives of their own.

mod autocast;
mod declared;
mod slopes;
mod split;
mod written;

use oxcall::prelude::*;

/// `x * x * x`: all derivatives but the third are declared.
#[custom_call(T = floats, vjp = cube_vjp)]
fn cube<T: Float>(#[dims(..s)] x: Array<T>, #[dims(..s)] mut y: Out<T>) {
    for (y, &x) in y.iter_mut().zip(x.iter()) {
        *y = x * x * x;
    }
}

#[custom_call(T = floats, vjp = cube_vjp_vjp)]
fn cube_vjp<T: Float>(#[dims(..s)] x: Array<T>, #[dims(..s)] dy: Array<T>, #[dims(..s)] mut dx: Out<T>) {
    let three = T::from_f64(3.0);
    for ((dx, &x), &dy) in dx.iter_mut().zip(x.iter()).zip(dy.iter()) {
        *dx = three * x * x * dy;
    }
}

#[custom_call(T = floats)]
fn cube_vjp_vjp<T: Float>(
    #[dims(..s)] x: Array<T>,
    #[dims(..s)] dy: Array<T>,
    #[dims(..s)] ddx: Array<T>,
    #[dims(..s)] mut d_x: Out<T>,
    #[dims(..s)] mut ddy: Out<T>,
) {
    let (three, six) = (T::from_f64(3.0), T::from_f64(6.0));
    for i in 0..x.len() {
        d_x[i] = six * x[i] * dy[i] * ddx[i];
        ddy[i] = three * x[i] * x[i] * ddx[i];
    }
}

/// `x`, `3 x`, and which elements are negative, which has no derivative.
#[custom_call(vjp = fan_vjp)]
fn fan(
    #[dims(..s)] x: Array<f32>,
    #[dims(..s)] mut y: Out<f32>,
    #[dims(..s)] mut z: Out<f32>,
    #[dims(..s)] mut negative: Out<i32>,
) {
    for (i, &x) in x.iter().enumerate() {
        (y[i], z[i], negative[i]) = (x, 3.0 * x, i32::from(x < 0.0));
    }
}

#[custom_call]
fn fan_vjp(#[dims(..s)] dy: Array<f32>, #[dims(..s)] dz: Array<f32>, #[dims(..s)] mut dx: Out<f32>) {
    for (dx, (dy, dz)) in dx.iter_mut().zip(dy.iter().zip(dz.iter())) {
        *dx = dy + 3.0 * dz;
    }
}

/// An operation without a derivative.
#[custom_call]
fn double(#[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y = 2.0 * x;
    }
}
