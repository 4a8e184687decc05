use oxcall::prelude::*;

#[custom_call(fwd = f_fwd)]
fn alone(#[dims(n)] x: Array<f32>, #[dims(n)] y: Out<f32>) {
    let _ = (x, y);
}

#[custom_call(transpose = f_transpose, vjp = f_vjp)]
fn linear(#[dims(n)] x: Array<f32>, #[dims(n)] y: Out<f32>) {
    let _ = (x, y);
}

#[custom_call(vjp = f_vjp, nondiff = [weights])]
fn misspelt(#[dims(n)] x: Array<f32>, #[dims(n)] weight: Array<f32>, #[dims(n)] y: Out<f32>) {
    let _ = (x, weight, y);
}

fn main() {}
