//! The ops of this crate.

use oxcall::prelude::*;

/// Smooth ramp: `ln(1 + exp(beta x)) / beta`.
#[pointwise]
fn softplus<T: Real>(x: T, #[attr(default = 1.0)] beta: f64) -> T {
    // As a sum of exponentials, which does not overflow.
    (x * beta).log_add_exp(0.0) / beta
}

#[cfg(test)]
mod tests {
    use oxcall::pointwise::{Dual, Scalar};
    use oxcall::testing::call;

    use super::*;

    #[test]
    fn large_elements_stay() {
        let outputs = call::<softplus>().arg([-1000f64, 1000.0]).run().unwrap();
        assert_eq!(outputs.get::<f64>(0).as_slice().unwrap(), [0.0, 1000.0]);
    }

    #[test]
    fn the_slope_at_zero_is_a_half() {
        let slope: Dual<_, 1> = softplus(Dual::variable(Scalar(0f64), 0), 2.0);
        assert_eq!(slope.tangents(), [Scalar(0.5)]);
    }
}
