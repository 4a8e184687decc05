//! Buffers that call for care.

use oxcall::prelude::*;

/// `z = x + y`, which declares no alias.
#[custom_call]
pub fn add(#[dims(..s)] x: Array<f32>, #[dims(..s)] y: Array<f32>, #[dims(..s)] mut z: Out<f32>) {
    for ((z, x), y) in z.iter_mut().zip(x.iter()).zip(y.iter()) {
        *z = x + y;
    }
}

/// `!x`.
#[custom_call]
pub fn not(#[dims(..s)] x: Array<bool>, #[dims(..s)] mut y: Out<bool>) {
    for (i, x) in x.iter().enumerate() {
        y.set(i, !x);
    }
}

/// The size in bytes of a buffer of any dtype.
#[custom_call]
pub fn bytes_of(x: AnyArray<'_>, mut y: ScalarOut<i32>) -> Result<()> {
    y.set(i32::try_from(x.size_in_bytes())?);
    Ok(())
}

/// Sums of one to three arrays; the number of given ones is a result that a caller may leave out.
#[custom_call]
pub fn optional_sum(
    #[dims(..s)] x: Array<f32>,
    #[dims(..s)] y: Option<Array<f32>>,
    #[dims(..s)] z: Option<Array<f32>>,
    #[dims(..s)] mut sum: Out<f32>,
    #[dims()] count: Option<Out<i32>>,
) {
    sum.copy_from_slice(&x);
    for term in y.iter().chain(&z) {
        for (sum, term) in sum.iter_mut().zip(term.iter()) {
            *sum += term;
        }
    }
    if let Some(mut count) = count {
        count.fill(1 + i32::from(y.is_some()) + i32::from(z.is_some()));
    }
}

/// An operation for a platform that this machine lacks.
#[custom_call(platform = "CUDA")]
pub fn cuda_only(#[dims(..s)] x: DeviceArray<f32>, #[dims(..s)] y: DeviceOut<f32>) -> Result<()> {
    let (given, made) = (x.len(), y.len());
    Err(Error::unimplemented(format!("{given} and {made} elements on a device that tests do not have")))
}

/// Numbers from 0 on, in a shape and of a dtype that the caller chooses.
#[custom_call(T = [f32, f64])]
fn ramp<T: Float>(#[dims(..)] mut y: Out<T>) {
    for (i, y) in y.iter_mut().enumerate() {
        *y = T::from_f64(i as f64);
    }
}
