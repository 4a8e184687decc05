use oxcall::prelude::*;

#[custom_call(vjp = scale_vjp)]
fn scale(#[dims(n)] x: Array<f32>, #[dims(n)] weights: Array<f32>, #[dims(n)] mut y: Out<f32>) {
    y.iter_mut().zip(x.iter()).zip(weights.iter()).for_each(|((y, x), w)| *y = x * w);
}

#[custom_call]
fn scale_vjp(#[dims(n)] wieghts: Array<f32>, #[dims(n)] dy: Array<f32>, #[dims(n)] mut dx: Out<f32>) {
    dx.iter_mut().zip(wieghts.iter()).zip(dy.iter()).for_each(|((dx, w), dy)| *dx = w * dy);
}

#[custom_call(vjp = half_vjp)]
fn half(#[dims(n)] x: Array<f32>, #[dims(n)] mut y: Out<f32>) {
    y.copy_from_slice(&x);
}

#[custom_call]
fn half_vjp(#[dims(n)] dy: Array<f32>, #[dims(n)] mut gradient: Out<f32>) {
    gradient.copy_from_slice(&dy);
}

fn main() {}
