//! An attribute that a pattern uses is used.

#![deny(warnings)]

use oxcall::prelude::*;

#[custom_call]
fn pad(#[attr] width: i64, #[dims(n)] x: &[f32], #[dims(n + width)] y: &mut [f32]) {
    y[..x.len()].copy_from_slice(x);
}

/// Strings of the call may be read before the work starts.
#[custom_call]
fn named_later<'f>(#[attr] name: &str, mut y: ScalarOut<'f, u64>, later: Async<'f>) -> Result<Future<'f>> {
    let length = name.len() as u64;
    later.spawn(move || {
        y.set(length);
        Ok(())
    })
}

/// Owned ones belong to the work.
#[custom_call]
fn owned_later<'f>(#[attr] name: String, mut y: ScalarOut<'f, u64>, later: Async<'f>) -> Result<Future<'f>> {
    later.spawn(move || {
        y.set(name.len() as u64);
        Ok(())
    })
}

fn main() {}
