//! Errors beside sums of twice the precision.

use rustfft::{Fft, FftDirection};

use super::Stockham;
use crate::element::Complex;
use crate::kernels::fft::by_line::ByLine;
use crate::kernels::fft::roots::root;
use crate::kernels::testing::Random;

/// A sum in twice the precision: the rounded sum, and what it lacks.
#[derive(Clone, Copy, Default)]
struct Double(f64, f64);

impl Double {
    /// Adds a b.
    fn add(&mut self, a: f64, b: f64) {
        let product = a * b;
        let sum = self.0 + product;
        let added = sum - self.0;
        let lost = (self.0 - (sum - added)) + (product - added);
        *self = Double(sum, self.1 + lost + a.mul_add(b, -product));
    }
}

/// The error of the transform of random numbers, in eps of their root mean square.
pub(in crate::kernels::fft) fn error(plan: &dyn Fft<f64>) -> f64 {
    let (len, sign) = (plan.len(), if plan.fft_direction() == FftDirection::Forward { 1.0 } else { -1.0 });
    let mut random = Random(len as u64);
    let x: Vec<Complex<f64>> = (0..len).map(|_| Complex::new(random.float(), random.float())).collect();
    let (mut y, mut scratch) = (x.clone(), vec![Complex::default(); plan.get_immutable_scratch_len()]);
    plan.process_immutable_with_scratch(&x, &mut y, &mut scratch);
    let mut in_place = x.clone();
    scratch.resize(plan.get_inplace_scratch_len(), Complex::default());
    plan.process_with_scratch(&mut in_place, &mut scratch);
    assert_eq!(in_place, y, "{len}");
    let roots: Vec<Complex<f64>> = (0..len).map(|k| root(k, len)).collect();
    let (mut squares, mut size) = (0.0, 0.0);
    // Steps that meet all rows of the last pass.
    for k in (0..len).step_by((len / 60).max(1)) {
        let (mut re, mut im) = (Double::default(), Double::default());
        for (j, x) in x.iter().enumerate() {
            let w = roots[j * k % len];
            re.add(x.re, w.re);
            re.add(-sign * x.im, w.im);
            im.add(x.im, w.re);
            im.add(sign * x.re, w.im);
        }
        squares += ((y[k].re - re.0) - re.1).powi(2) + ((y[k].im - im.0) - im.1).powi(2);
        size += re.0 * re.0 + im.0 * im.0;
    }
    f64::sqrt(squares / size) / f64::EPSILON
}

/// Roots that are rounded once add about 0.3 eps for each factor, and sums the rest: XLA:CPU has 0.5 to 1.3 eps. Angles
/// that are rounded before their sines add about 0.4 eps again, at length 729 1 eps.
#[test]
fn errors_are_those_of_exact_roots() {
    let lengths = [18, 20, 21, 22, 24, 25, 26, 27, 32, 36, 39, 45, 60, 64, 77, 90, 96, 98, 105, 117, 121, 128, 143];
    for len in lengths.into_iter().chain([200, 242, 256, 500, 512, 729, 1000, 1001, 1024, 1250, 2048, 4096, 6000]) {
        for direction in [FftDirection::Forward, FftDirection::Inverse] {
            let Some(plan) = Stockham::new(len, direction) else { return };
            let error = error(&ByLine(plan));
            assert!(error < 1.25, "{len} {direction:?}: {error} eps");
        }
    }
}

#[test]
fn other_lengths_have_no_plan() {
    for len in [16, 17, 997, 2 * 17 * 100, 0] {
        assert!(Stockham::new(len, FftDirection::Forward).is_none(), "{len}");
    }
}
