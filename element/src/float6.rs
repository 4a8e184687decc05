//! 6-bit floating-point elements, which exist in programs only: the FFI has no such dtypes.

use crate::minifloat::{Format, minifloat};

minifloat! {
    /// 6-bit float of 2 exponent bits and 3 mantissa bits, finite only. `from_f32` saturates; a NaN becomes a zero of
    /// the other sign.
    F6E2M3FN, codes: 64, Format::F6E2M3FN
}

minifloat! {
    /// 6-bit float of 3 exponent bits and 2 mantissa bits, finite only. `from_f32` saturates; a NaN becomes a zero of
    /// the other sign.
    F6E3M2FN, codes: 64, Format::F6E3M2FN
}
