//! Names that functions of the C library have: handlers must not be found under them, nor bind to those.

use oxcall::prelude::*;

/// The cosine, by the C library's `cosf` or whatever Rust uses.
#[custom_call]
pub fn cos(#[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y = x.cos();
    }
}

/// Reads a file, of which `y` gets the first bytes; those past its end are 0.
///
/// # Errors
/// As the system reports.
#[custom_call(side_effect)]
pub fn read(#[attr] path: &str, #[attr] n: i64, #[dims(n)] mut y: Out<u8, Rank<1>>) -> Result<()> {
    let bytes = std::fs::read(path)?;
    debug_assert!(n >= 0);
    let count = bytes.len().min(y.len());
    y.fill(0);
    y[..count].copy_from_slice(&bytes[..count]);
    Ok(())
}

/// Sorts in place.
#[custom_call]
pub fn sort(#[dims(n)] mut x: InOut<i32, Rank<1>>) {
    x.sort_unstable();
}

/// Names that Rust has and Python has not, and one that an argument and an attribute share.
#[custom_call(name = "test_ops.odd-names")]
pub fn odd_names(
    #[attr(name = "in")] input: i64,
    #[attr(name = "x")] factor: i64,
    r#type: Scalar<i32>,
    lambda: Scalar<i32>,
    x: Scalar<i32>,
    mut y: ScalarOut<i64>,
) {
    y.set(input + factor * i64::from(*r#type + *lambda + *x));
}

/// The bits of an attribute.
#[custom_call]
pub fn bits(#[attr] value: f32, mut y: ScalarOut<u32>) {
    y.set(value.to_bits());
}

/// The dtype of an attribute of any type, by its code.
#[custom_call]
pub fn type_code(#[attr] value: oxcall::attr::AttrValue<'_>, mut y: ScalarOut<i32>) {
    y.set(match value {
        oxcall::attr::AttrValue::Scalar(scalar) => scalar.dtype().map_or(-1, |dtype| dtype.code() as i32),
        _ => -2,
    });
}

/// A device's index, -1 without one, and the length of another's type, 0 without it.
#[custom_call]
pub fn device_numbers(
    #[attr] device: Device<'_>,
    #[attr] other: Option<Device<'_>>,
    #[dims(..s)] _x: Array<f32>,
    #[dims(2)] mut y: Out<i64, Rank<1>>,
) {
    y[0] = device.index().map_or(-1, i64::from);
    y[1] = other.map_or(0, |other| other.kind().len() as i64);
}
