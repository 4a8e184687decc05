//! Errors of all lengths beside sums of twice the precision.

use rustfft::FftDirection;

use super::{LARGEST, largest_factor, plan};
use crate::kernels::fft::stockham::tests::error;

fn check(len: usize, bound: f64) {
    for direction in [FftDirection::Forward, FftDirection::Inverse] {
        let Some(plan) = plan(len, direction) else { continue };
        let error = error(&*plan);
        assert!(error < bound, "{len} {direction:?}: {error} eps");
    }
}

/// Roots that are rounded once add about 0.3 eps for each factor, and sums the rest. A convolution is three transforms.
#[test]
fn errors_are_those_of_exact_roots() {
    for len in 1..=300 {
        check(len, if largest_factor(len) > LARGEST { 2.2 } else { 1.25 });
    }
    // Debug builds do not fuse multiplications and additions.
    for len in [361, 509, 529, 961, 1009, 1021, 17 * 128, 2 * 1009, 5003, 113 * 64] {
        check(len, if largest_factor(len) > LARGEST { 2.7 } else { 1.5 });
    }
}
