use oxcall::prelude::*;

#[custom_call(vjp = two_vjp)]
fn two(#[dims(n)] x: Array<f32>, #[dims(n)] mut y: Out<f32>, #[dims(n)] mut z: Out<f32>) {
    y.copy_from_slice(&x);
    z.copy_from_slice(&x);
}

#[custom_call]
fn two_vjp(#[dims(n)] dy: Array<f32>, #[dims(n)] mut dx: Out<f32>) {
    dx.copy_from_slice(&dy);
}

fn main() {}
