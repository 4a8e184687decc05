use oxcall::prelude::*;

#[custom_call(T = floats, autocast = lower)]
fn unknown<T: Float>(#[dims(n)] x: Array<T>, #[dims(n)] y: Out<T>) {
    let _ = (x, y);
}

#[custom_call(T = floats, autocast = lowset)]
fn misspelt<T: Float>(#[dims(n)] x: Array<T>, #[dims(n)] y: Out<T>) {
    let _ = (x, y);
}

#[custom_call(T = floats, autocast = "f32")]
fn with_quotes<T: Float>(#[dims(n)] x: Array<T>, #[dims(n)] y: Out<T>) {
    let _ = (x, y);
}

fn main() {}
