//! Functions of `f32` without branches, so that loops of them become vector code.
//!
//! Coefficients are Chebyshev fits (`chebyfit` of mpmath, 40 digits) of the functions given beside them, which are
//! within a few percent of the best; the errors of the fits are also given. Errors against the exact function are
//! tested: two or three units in the last place.
#![expect(clippy::excessive_precision, reason = "coefficients are written with the digits that the fit gave")]

mod angle;
mod bessel;
mod error;
mod format;
mod hyperbolic;
mod power;
mod trigonometric;

pub use angle::{acos_in_double, asin_in_double, atan2};
pub use bessel::{i0e_in_double, i1e_in_double};
pub use error::{GAUSS_SCALE, erf, erf_inv, erfc, erfc_of_exp, erfc_of_gauss, gauss};
pub use format::{atanh_series, exp_series, ln_parts};
pub use hyperbolic::{acosh_in_double, asinh_in_double, atanh_in_double, cosh_in_double, sinh_in_double};
pub use power::{is_power_easy, power, power_in_double};
pub use trigonometric::{cos_in_double, sin_in_double};

use super::elementary::{Format, horner};
use super::level::Level;

/// The polynomial with the given coefficients, lowest power first.
#[inline(always)]
fn polynomial<L: Level, T: Format, const N: usize>(x: T, coefficients: [f32; N]) -> T {
    horner::<L, T, N>(
        x,
        #[inline(always)]
        |index| T::of(coefficients[index]),
    )
}
