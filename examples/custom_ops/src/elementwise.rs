//! Functions of single numbers, as operations over arrays with derivatives of first and second order.
//!
//! Each is the formula alone: broadcasting, promotion, vector code, threads, halves, `grad`, `jvp`, `vmap` and sharding
//! follow from `#[pointwise]`.

use oxcall::prelude::*;

/// Smooth ramp: `ln(1 + exp(beta x)) / beta`.
#[pointwise]
pub fn softplus<T: Real>(x: T, #[attr(default = 1.0)] beta: f64) -> T {
    // As a sum of exponentials, which does not overflow.
    (x * beta).log_add_exp(0.0) / beta
}

/// Gated linear unit with the swish function: `gate / (1 + exp(-gate)) * x`.
///
/// N. Shazeer, "GLU Variants Improve Transformer" (2020), equation 6, without the products of matrices.
#[pointwise]
pub fn swiglu<T: Real>(gate: T, x: T) -> T {
    gate * gate.logistic() * x
}

/// Huber's loss: a parabola up to `delta`, straight lines beyond.
#[pointwise]
pub fn huber<T: Real>(x: T, #[attr(default = 1.0)] delta: f64) -> T {
    let size = x.abs();
    size.less_equal(delta).select(x * x * 0.5, (size - delta * 0.5) * delta)
}

/// A pair of features, turned by an angle: one step of a rotary position embedding.
///
/// J. Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding" (2021), equation 13.
#[pointwise]
pub fn rope_pair<T: Real>(x: T, y: T, angle: T) -> (T, T) {
    let (sin, cos) = (angle.sin(), angle.cos());
    (x * cos - y * sin, x * sin + y * cos)
}

/// The density of the logit-normal distribution at `p`, 0 outside of the open interval from 0 to 1.
#[pointwise]
pub fn logit_normal_pdf<T: Real>(p: T, mean: T, deviation: T) -> T {
    let is_inside = p.greater(0.0) & p.less(1.0);
    // Derivatives of what is not chosen do not count, but would be computed from a logarithm of 0 to no end.
    let p = is_inside.select(p, T::from(0.5));
    let z = (p.ln() - (-p).ln_1p() - mean) / deviation;
    let scale = deviation * p * (-p + 1.0) * (2.0 * std::f64::consts::PI).sqrt();
    is_inside.select((z * z * -0.5).exp() / scale, T::from(0.0))
}

/// `a b + c`, of integers and complex numbers too. Integers wrap around.
#[pointwise]
pub fn multiply_add<T: Ring>(a: T, b: T, c: T) -> T {
    a * b + c
}

#[cfg(test)]
mod tests {
    use oxcall::pointwise::{Dual, Scalar, Stored};
    use oxcall::testing::call;

    use super::*;
    use crate::testing::numbers;

    /// Compares an operation with a formula of doubles, in units of the last place of `T`.
    fn check<T: Stored>(found: &[T], exact: impl Iterator<Item = f64>, bound: f64) {
        for (index, (found, exact)) in found.iter().zip(exact).enumerate() {
            let rounded = T::from_f64(exact).as_f64();
            let unit = (rounded.abs() * T::epsilon().as_f64()).max(T::min_positive_value().as_f64());
            let error = (found.as_f64() - exact).abs() / unit;
            assert!(error <= bound, "{index}: {found:?}, but exactly {exact:e}: {error} ULP");
        }
    }

    fn softplus_is_accurate<T: Stored>(bound: f64) {
        let x: Vec<T> = numbers::<T>(5000).into_iter().map(|x| x * T::from_f64(20.0)).collect();
        for beta in [1.0, 0.25] {
            let outputs = call::<softplus>().arg(x.clone()).attr("beta", beta).run().unwrap();
            let exact = x.iter().map(|x| (beta * x.as_f64()).exp().ln_1p() / beta);
            check(outputs.get::<T>(0).as_slice().unwrap(), exact, bound);
        }
    }

    #[test]
    fn softplus_is_accurate_in_all_formats() {
        // Rounded once: half a unit of each format, and the errors of `f32` beside.
        softplus_is_accurate::<f16>(0.51);
        softplus_is_accurate::<bf16>(0.51);
        softplus_is_accurate::<f32>(4.0);
        softplus_is_accurate::<f64>(4.0);
        let large = call::<softplus>().arg([1000f32, -1000.0, f32::INFINITY]).run().unwrap();
        assert_eq!(large.get::<f32>(0).as_slice().unwrap(), [1000.0, 0.0, f32::INFINITY]);
    }

    #[test]
    fn operations_of_several_operands_and_results() {
        let all = numbers::<f32>(3 * 70_000);
        let [x, y, angle] = [0, 1, 2].map(|part| all[part * 70_000..][..70_000].to_vec());
        let of = |index: usize| (f64::from(x[index]), f64::from(y[index]), f64::from(angle[index]));
        let outputs = call::<swiglu>().arg(x.clone()).arg(y.clone()).threads(2).run().unwrap();
        let exact = (0..x.len()).map(of).map(|(gate, x, _)| gate / (1.0 + (-gate).exp()) * x);
        check(outputs.get::<f32>(0).as_slice().unwrap(), exact, 4.0);
        let outputs = call::<rope_pair>().arg(x.clone()).arg(y.clone()).arg(angle.clone()).threads(2).run().unwrap();
        for (result, turn) in [(0, 0.0), (1, -std::f64::consts::FRAC_PI_2)] {
            let found = outputs.get::<f32>(result);
            for index in 0..x.len() {
                let (x, y, angle) = of(index);
                let exact = x * (angle + turn).cos() - y * (angle + turn).sin();
                assert!(
                    (f64::from(found[index]) - exact).abs() <= 3e-7 * x.hypot(y),
                    "{index}: {} {exact}",
                    found[index]
                );
            }
        }
    }

    #[test]
    fn both_sides_of_a_choice() {
        let outputs = call::<huber>().arg([0.5f32, -1.0, 3.0, f32::NAN]).attr("delta", 2.0).run().unwrap();
        let found = outputs.get::<f32>(0);
        assert_eq!(found.as_slice().unwrap()[..3], [0.125, 0.5, 4.0]);
        assert!(found[3].is_nan());
        let p = [-1.0f64, 0.0, 0.25, 1.0, 2.0];
        let outputs = call::<logit_normal_pdf>().arg(p).arg([0.5; 5]).arg([2.0; 5]).run().unwrap();
        let density = |p: f64| {
            let z = ((p / (1.0 - p)).ln() - 0.5) / 2.0;
            (-0.5 * z * z).exp() / (2.0 * p * (1.0 - p) * (2.0 * std::f64::consts::PI).sqrt())
        };
        check(outputs.get::<f64>(0).as_slice().unwrap(), [0.0, 0.0, density(0.25), 0.0, 0.0].into_iter(), 4.0);
        // No derivative comes from the side that is not chosen.
        let slope = logit_normal_pdf(Dual::<_, 1>::variable(Scalar(0.0), 0), 0.5.into(), 2.0.into());
        assert_eq!(slope.tangents(), [Scalar(0.0)]);
    }
}
