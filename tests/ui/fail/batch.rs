use oxcall::prelude::*;

#[custom_call(batch = c)]
fn unknown(#[dims(..b, n)] x: Array<f32>, #[dims(..b, n)] mut y: Out<f32>) {
    y.copy_from_slice(&x);
}

#[custom_call(batch = b)]
fn not_marked(#[dims(..b, n)] x: Array<f32>, #[dims(n)] y: Out<f32>) {
    let _ = (x, y);
}

#[custom_call(batch = b, vmap = "broadcast_all")]
fn both(
    #[dims(..b, n)] x: Array<f32>,
    #[dims(..b, n)]
    #[sum(b)]
    y: Out<f32>,
) {
    let _ = (x, y);
}

#[custom_call(vmap = "broadcast_all")]
fn fixed(#[dims(..b, n)] x: Array<f32>, #[dims(n)] w: Array<f32>, #[dims(..b, n)] y: Out<f32>) {
    let _ = (x, w, y);
}

#[custom_call(batch_partitionable)]
fn old(#[dims(..b, n)] x: Array<f32>, #[dims(..b, n)] y: Out<f32>) {
    let _ = (x, y);
}

fn main() {}
