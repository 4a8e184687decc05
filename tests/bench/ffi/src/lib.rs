//! The ops of `tests/cpp/peers.cc` in Rust, with every check on: dtype dispatch, dimension relations, overlap, panics.

mod pointwise;
mod rowwise;
mod torch;

use oxcall::prelude::*;

/// Decoding alone: one argument, one result; the first element shows that the buffers arrived.
#[custom_call(T = floats)]
fn identity<T: Float>(#[dims(..b, n)] x: Array<T>, #[dims(..b, n)] mut y: Out<T>) -> Result<()> {
    y.as_mut_slice()[0] = x.as_slice()[0];
    Ok(())
}

/// Decoding alone: four arguments, one result, four attributes, all of which reach the first element.
#[custom_call(T = floats)]
fn four<T: Float>(
    #[attr] axes: &[i64],
    #[attr] count: i64,
    #[attr] mode: &str,
    #[attr] scale: f32,
    #[dims(..b, n)] a: Array<T>,
    #[dims(..b, n)] b: Array<T>,
    #[dims(..b, n)] c: Array<T>,
    #[dims(..b, n)] d: Array<T>,
    #[dims(..b, n)] mut y: Out<T>,
) -> Result<()> {
    let sum = a.as_slice()[0] + b.as_slice()[0] + c.as_slice()[0] + d.as_slice()[0];
    let offset = count + axes[2] + mode.len() as i64;
    y.as_mut_slice()[0] = T::from_f64(f64::from(scale) * sum.as_f64() + offset as f64);
    Ok(())
}

/// `y = x / sqrt(mean(x^2) + eps)` over the last axis.
#[custom_call(T = floats)]
fn rms_norm<T: Float>(
    #[attr(default = 1e-5)] eps: f32,
    #[dims(..b, n)] x: Array<T>,
    #[dims(..b, n)] mut y: Out<T>,
) -> Result<()> {
    let (eps, n) = (T::from_f64(f64::from(eps)), T::from_f64(x.shape().last().copied().unwrap_or(1) as f64));
    for (x, y) in x.rows().zip(y.rows_mut()) {
        let sum = x.iter().fold(T::zero(), |sum, &x| sum + x * x);
        let factor = (sum / n + eps).sqrt().recip();
        for (x, y) in x.iter().zip(y) {
            *y = *x * factor;
        }
    }
    Ok(())
}
