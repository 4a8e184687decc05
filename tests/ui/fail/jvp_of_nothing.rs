use oxcall::prelude::*;

#[custom_call(jvp = f_jvp)]
fn f(#[dims(n)] x: Array<f32>, #[dims(n)] w: Array<f32>, #[dims(n)] y: Out<f32>) {
    let _ = (x, w, y);
}

#[custom_call]
fn f_jvp(#[dims(n)] tx: Array<f32>, #[dims(n)] ty: Out<f32>) {
    let _ = (tx, ty);
}

fn main() {}
