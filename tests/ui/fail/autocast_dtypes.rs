use oxcall::prelude::*;

#[custom_call(T = [bf16, f32], autocast = lowest)]
fn narrow<T: Float>(#[dims(n)] x: Array<T>, #[dims(n)] y: Out<T>) {
    let _ = (x, y);
}

#[custom_call(autocast = lowest)]
fn fixed(#[dims(n)] x: Array<f32>, #[dims(n)] y: Out<f32>) {
    let _ = (x, y);
}

#[custom_call(T = floats, autocast = f32)]
fn updated<T: Float>(#[dims(n)] x: Array<T>, #[dims(n)] y: InOut<T>) {
    let _ = (x, y);
}

fn main() {}
