//! Helpers for the tests of several operations.

use oxcall::prelude::*;

/// `count` numbers between -2 and 2, the same in every run: the fractional parts of multiples of the golden ratio.
pub(crate) fn numbers<T: Float>(count: usize) -> Vec<T> {
    (0..count).map(|i| T::from_f64(4.0 * (i as f64 * 0.618_033_988_749_895).fract() - 2.0)).collect()
}

/// Asserts that each value is within `tolerance` of what is expected, relative to it or to 1, whichever is larger.
#[track_caller]
pub(crate) fn assert_close<T: Float>(values: &[T], expected: &[f64], tolerance: f64) {
    assert_eq!(values.len(), expected.len());
    for (i, (value, expected)) in values.iter().zip(expected).enumerate() {
        let error = (Float::as_f64(*value) - expected).abs();
        assert!(error <= tolerance * expected.abs().max(1.0), "element {i}: {value:?}, expected {expected}");
    }
}
