//! Transforms of `f64` with exact roots, of every length.
//!
//! Passes have lengths of small prime factors ([`stockham`](super::stockham)). Short lengths and prime factors up to
//! [`LARGEST`] are transformed by definition ([`direct`]), which [`mixed`] combines with other factors, and lengths
//! with larger ones become convolutions ([`bluestein`]).

mod bluestein;
mod direct;
mod mixed;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use rustfft::{Fft, FftDirection};

use self::bluestein::Bluestein;
use self::direct::Direct;
use self::mixed::Mixed;
use super::by_line::ByLine;
use super::stockham::Stockham;

/// The largest prime factor that is transformed by definition: with a larger one, a length becomes a convolution.
const LARGEST: usize = 139;

/// The plan of a length; `None` for lengths in which rustfft's roots are exact, and without the vectors of the passes.
pub(super) fn plan(len: usize, direction: FftDirection) -> Option<Arc<dyn Fft<f64>>> {
    if matches!(len, 0..=2 | 4 | 8 | 16) || !Stockham::is_supported() {
        return None;
    }
    if let Some(passes) = Stockham::new(len, direction) {
        return Some(Arc::new(ByLine(passes)));
    }
    if len <= LARGEST {
        return Some(Arc::new(ByLine(Direct::new(len, direction))));
    }
    let factor = largest_factor(len);
    Some(if factor <= LARGEST {
        Arc::new(ByLine(Mixed::new(factor, len / factor, direction)))
    } else {
        Arc::new(ByLine(Bluestein::new(len, direction)?))
    })
}

/// The largest prime factor of a number above 1.
fn largest_factor(mut number: usize) -> usize {
    let mut largest = 1;
    let mut factor = 2;
    while factor * factor <= number {
        while number.is_multiple_of(factor) {
            (largest, number) = (factor, number / factor);
        }
        factor += 1;
    }
    largest.max(number)
}
