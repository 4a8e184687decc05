//! Lanes against the standard library, duals against differences and against each other.

use super::{Dual, Float, Mask, Real, Scalar, SimdLane};
use crate::level::{Baseline, Level};

/// The functions of one number, with ranges in which their slopes are usual.
macro_rules! functions {
    ($($name:ident [$low:literal $high:literal] $ulp:literal;)*) => {
        const NAMES: &[(&str, [f64; 2], f64)] = &[$((stringify!($name), [$low, $high], $ulp)),*];

        fn apply<T: Real>(name: &str, x: T) -> T {
            match name {
                $(stringify!($name) => x.$name(),)*
                _ => unreachable!(),
            }
        }
    };
}
functions! {
    abs [0.1 9.0] 0.0;
    signum [0.1 9.0] 0.0;
    floor [0.1 0.9] 0.0;
    ceil [0.1 0.9] 0.0;
    round [-0.4 0.4] 0.0;
    sqrt [0.1 100.0] 0.5;
    exp [-5.0 5.0] 2.0;
    exp_m1 [-5.0 5.0] 3.0;
    ln [0.1 100.0] 2.0;
    ln_1p [-0.9 100.0] 2.0;
    logistic [-20.0 20.0] 3.0;
    tanh [-9.0 9.0] 4.0;
    erf [-3.0 3.0] 2.0;
    erfc [-3.0 5.0] 5.0;
    sin [-20.0 20.0] 2.0;
    cos [-20.0 20.0] 2.0;
    tan [-1.4 1.4] 4.0;
    recip [0.1 100.0] 0.5;
    sinh [-9.0 9.0] 6.0;
    cosh [-9.0 9.0] 6.0;
    asinh [-30.0 30.0] 5.0;
    acosh [1.1 30.0] 5.0;
    atanh [-0.9 0.9] 5.0;
    asin [-0.9 0.9] 4.0;
    acos [-0.9 0.9] 4.0;
    atan [-9.0 9.0] 2.0;
    cbrt [0.1 100.0] 2.0;
    log2 [0.1 100.0] 3.0;
    log10 [0.1 100.0] 3.0;
    lgamma [2.02 40.0] 2.0;
    digamma [1.5 40.0] 4.0;
}

fn steps([low, high]: [f64; 2], count: usize) -> impl Iterator<Item = f64> {
    (0..count).map(move |index| low + (high - low) * (index as f64 + 0.37) / count as f64)
}

/// The error of a number of a format, in units of its last place.
fn ulps<F: Float>(found: F, exact: f64) -> f64 {
    let rounded = F::of_f64(exact).as_f64();
    if found.as_f64() == rounded || (found.is_nan() && exact.is_nan()) {
        return 0.0;
    }
    let unit = (rounded.abs() * 2f64.powi(-i32::from(F::MANTISSA))).max(f64::from(f32::MIN_POSITIVE) * 1e-7);
    (found.as_f64() - exact).abs() / unit
}

fn lanes_are_accurate<F: Float, L: Level>() {
    for &(name, range, bound) in NAMES {
        for x in steps(range, 3000).map(F::of_f64) {
            let found = apply(name, SimdLane::<F, L>::new(x));
            let exact = apply(name, Scalar(x.as_f64())).0;
            let error = ulps(found.value, exact);
            assert!(
                !found.is_unusual() && error <= bound.max(0.51),
                "{name}({:e}) of {}: {error} ULP",
                x.as_f64(),
                F::NAME
            );
        }
    }
}

#[test]
fn lanes_have_the_stated_errors() {
    lanes_are_accurate::<f32, Baseline>();
    lanes_are_accurate::<f64, Baseline>();
    #[cfg(target_arch = "x86_64")]
    if crate::level::Avx2::is_present() {
        lanes_are_accurate::<f32, crate::level::Avx2>();
        lanes_are_accurate::<f64, crate::level::Avx2>();
    }
}

/// First derivatives are slopes of differences of the function, second ones those of the first.
#[test]
fn duals_have_the_derivatives() {
    for &(name, range, _) in NAMES {
        let first = |x: f64| apply::<Dual<Scalar<f64>, 1>>(name, Dual::variable(Scalar(x), 0)).tangents()[0].0;
        let second = |x: f64| {
            let x = Dual::new(Dual::variable(Scalar(x), 0), [Dual::constant(Scalar(1.0))]);
            let y: Dual<Dual<Scalar<f64>, 1>, 1> = apply(name, x);
            y.tangents()[0].tangents()[0].0
        };
        for x in steps(range, 40) {
            let h = 1e-5 * x.abs().max(0.1);
            let slope = |f: &dyn Fn(f64) -> f64| (f(x + h) - f(x - h)) / (2.0 * h);
            let near = |found: f64, expected: f64| (found - expected).abs() <= 2e-6 * expected.abs().max(0.3);
            let differences = slope(&|x| apply(name, Scalar(x)).0);
            assert!(near(first(x), differences), "{name}'({x}) = {}, not {differences}", first(x));
            let differences = slope(&first);
            assert!(near(second(x), differences), "{name}''({x}) = {}, not {differences}", second(x));
        }
    }
}

/// Also where they are small, and 1 - y^2 has no digits.
fn slopes_of_sigmoids_are_accurate<F: Float>(end: f64) {
    for x in steps([-end, end], 20_000).map(F::of_f64) {
        let dual = Dual::<_, 1>::variable(SimdLane::<F, Baseline>::new(x), 0);
        let x = x.as_f64();
        let found = [dual.logistic(), dual.tanh()].map(|y| y.tangents()[0].value);
        let exact = |x: f64| (-x.abs()).exp() / (1.0 + (-x.abs()).exp()).powi(2);
        for (found, exact) in found.into_iter().zip([exact(x), 4.0 * exact(2.0 * x)]) {
            let error = ulps(found, exact);
            // One exponential, and four roundings.
            assert!(error <= 3.0, "{x}: {error} ULP of {}", F::NAME);
        }
    }
}

#[test]
fn slopes_of_small_numbers_keep_their_digits() {
    slopes_of_sigmoids_are_accurate::<f32>(40.0);
    slopes_of_sigmoids_are_accurate::<f64>(340.0);
}

#[test]
fn functions_of_two_numbers_have_the_derivatives() {
    fn all<T: Real>(x: T, y: T) -> [T; 13] {
        let kink = x.less(y).select(x * x, y * 3.0);
        let sums = [x + y, x - y, x * y, x / y, x.mul_add(y, x), x.maximum(y), x.log_add_exp(y), kink, x.powi(-3)];
        let powers = [x.atan2(y), x.hypot(y), x.abs().pow(y), x.abs().powf(-1.5)];
        std::array::from_fn(|index| sums.get(index).copied().unwrap_or_else(|| powers[index - sums.len()]))
    }
    for (x, y) in [(0.3, 1.7), (2.5, -0.4), (-1.2, 0.9)] {
        let duals = all::<Dual<Scalar<f64>, 2>>(Dual::variable(Scalar(x), 0), Dual::variable(Scalar(y), 1));
        for (index, dual) in duals.into_iter().enumerate() {
            let at = |x: f64, y: f64| all(Scalar(x), Scalar(y))[index].0;
            let h = 1e-6;
            let expected = [(at(x + h, y) - at(x - h, y)) / (2.0 * h), (at(x, y + h) - at(x, y - h)) / (2.0 * h)];
            for (Scalar(found), expected) in dual.tangents().into_iter().zip(expected) {
                assert!((found - expected).abs() <= 1e-7 * expected.abs().max(1.0), "{index}: {found} {expected}");
            }
            assert_eq!(dual.value.0, at(x, y));
        }
    }
}

/// Values and derivatives where formulas have something to cancel, overflow or choose.
#[test]
fn special_points_are_right() {
    let dual = |x: f64| Dual::variable(Scalar(x), 0);
    let slope = |y: Dual<Scalar<f64>, 1>| y.tangents()[0].0;
    assert_eq!(slope(dual(0.0).abs()), 0.0);
    assert_eq!(slope(dual(1.0).maximum(1.0)), 0.5);
    assert_eq!(slope(dual(0.0).log_add_exp(0.0)), 0.5);
    assert_eq!(dual(1000.0).log_add_exp(0.0), Dual::new(Scalar(1000.0), [Scalar(1.0)]));
    assert_eq!(dual(f64::INFINITY).log_add_exp(f64::INFINITY).value.0, f64::INFINITY);
    assert_eq!(dual(f64::NEG_INFINITY).log_add_exp(f64::NEG_INFINITY).value.0, f64::NEG_INFINITY);
    // 1 - tanh(20)^2 is 0 in doubles.
    assert!((slope(dual(20.0).tanh()) / (4.0 * (-40f64).exp()) - 1.0).abs() < 1e-12);
    for x in [-700.0, -30.0, 0.0, 1.0, 30.0, 700.0] {
        let exact = (-f64::abs(x)).exp() / (1.0 + (-f64::abs(x)).exp()).powi(2);
        assert!((slope(dual(x).logistic()) / exact - 1.0).abs() < 1e-15, "{x}");
    }
    assert_eq!([1e5, -1e5, f64::INFINITY, f64::NEG_INFINITY].map(|x| slope(dual(x).tanh())), [0.0; 4]);
    assert!(slope(dual(f64::NAN).tanh()).is_nan() && slope(dual(f64::NAN).logistic()).is_nan());
    // The third derivative of tanh at 0.
    let twice = Dual::<_, 1>::new(dual(0.0), [Dual::constant(Scalar(1.0))]);
    let thrice = Dual::<_, 1>::new(twice, [Dual::constant(Dual::constant(Scalar(1.0)))]);
    assert_eq!(thrice.tanh().tangents()[0].tangents()[0].tangents()[0].0, -2.0);
    assert!((slope(dual(-40.0).exp_m1()) / (-40f64).exp() - 1.0).abs() < 1e-12);
    // What is not chosen has no influence, although it is NaN.
    let root = |x: Dual<Scalar<f64>, 1>| x.greater(0.0).select(x.sqrt(), Dual::from(0.0));
    assert_eq!(slope(root(dual(-1.0))), 0.0);
    assert_eq!(slope(root(dual(4.0))), 0.25);
    // Along the direction of another operand nothing moves, however steep the function is.
    let [x, y] = [Dual::<_, 2>::variable(Scalar(0.0), 0), Dual::variable(Scalar(f64::INFINITY), 1)];
    assert_eq!((x * y).tangents(), [Scalar(f64::INFINITY), Scalar(0.0)]);
    assert_eq!((x.sqrt() + y).tangents(), [Scalar(f64::INFINITY), Scalar(1.0)]);
    // The second derivative of softplus at 0.
    let x = Dual::new(Dual::variable(Scalar(0.0), 0), [Dual::constant(Scalar(1.0))]);
    let y: Dual<Dual<Scalar<f64>, 1>, 1> = x.log_add_exp(0.0);
    assert_eq!(y.tangents()[0].tangents()[0].0, 0.25);
}

/// First and second derivatives where powers, quotients and differences of them would be NaN or lose all digits.
#[test]
fn derivatives_at_the_edges_are_right() {
    type Twice = Dual<Dual<Scalar<f64>, 1>, 1>;
    let both = |f: fn(Twice) -> Twice, x: f64| {
        let y = f(Dual::new(Dual::variable(Scalar(x), 0), [Dual::constant(Scalar(1.0))])).tangents()[0];
        [y.value.0, y.tangents()[0].0]
    };
    let infinite = f64::INFINITY;
    assert_eq!(both(|x| x.powi(-1), 0.0), [-infinite, infinite]);
    assert_eq!(both(|x| x.powi(-3), infinite), [0.0, 0.0]);
    assert_eq!(both(|x| x.powi(3), 1e-200), [0.0, 6e-200]);
    assert_eq!(both(|x| x.powi(1), infinite), [1.0, 0.0]);
    assert_eq!(both(|x| x.powi(0), 0.0), [0.0, 0.0]);
    assert_eq!(both(Real::cbrt, 0.0), [infinite, -infinite]);
    assert_eq!(both(Real::cbrt, infinite), [0.0, 0.0]);
    for (f, sign) in [(Real::asin as fn(Twice) -> Twice, 1.0), (Real::acos, -1.0)] {
        assert_eq!(both(f, 1e-10), [sign, sign * 1e-10]);
        let x = 0.999_999f64;
        let exact = [1.0 / (1.0 - x * x).sqrt(), x / (1.0 - x * x).powf(1.5)];
        let found = both(f, x);
        assert!(found.iter().zip(exact).all(|(found, exact)| (found / exact / sign - 1.0).abs() < 1e-9), "{found:?}");
    }
    assert_eq!(both(Real::atanh, 1e-10), [1.0, 2e-10]);
}

/// Derivatives of numbers that are NaN are NaN, where a choice does not make them 0 as in `jax.numpy`.
#[test]
fn derivatives_do_not_hide_nan() {
    type Plane = Dual<Scalar<f64>, 2>;
    let slopes = |f: fn(Plane, Plane) -> Plane, x: f64, y: f64| {
        f(Dual::variable(Scalar(x), 0), Dual::variable(Scalar(y), 1)).tangents().map(|Scalar(slope)| slope)
    };
    for (x, y) in [(f64::NAN, 1.0), (1.0, f64::NAN), (f64::NAN, f64::NAN)] {
        assert!(slopes(Real::log_add_exp, x, y).iter().all(|slope| slope.is_nan()));
        for f in [Real::maximum, Real::minimum, |x: Plane, y: Plane| x.clamp(y, 1.0)] as [fn(Plane, Plane) -> Plane; 3]
        {
            assert_eq!(slopes(f, x, y), [0.0, 0.0]);
        }
    }
    assert_eq!(slopes(Real::log_add_exp, f64::INFINITY, f64::INFINITY), [0.5, 0.5]);
    assert_eq!(slopes(Real::maximum, 2.0, 2.0), [0.5, 0.5]);
    assert_eq!(slopes(Real::maximum, 3.0, 2.0), [1.0, 0.0]);
}

#[test]
fn maxima_and_roundings_keep_nan_and_signs() {
    let lane = SimdLane::<f32, Baseline>::new;
    for (a, b) in [(f32::NAN, 1.0), (1.0, f32::NAN)] {
        assert!(lane(a).maximum(lane(b)).value.is_nan() && lane(a).minimum(lane(b)).value.is_nan());
    }
    assert!(lane(-0.0).maximum(lane(0.0)).value.is_sign_positive());
    assert!(lane(0.0).maximum(lane(-0.0)).value.is_sign_positive());
    assert!(lane(0.0).minimum(lane(-0.0)).value.is_sign_negative());
    assert!(lane(-0.0).maximum(lane(-0.0)).value.is_sign_negative());
    assert_eq!(lane(3.0).clamp(0.0, 2.0).value, 2.0);
    for x in [0.5, 1.5, 2.5, -0.5, -1.5, 1e10, -1e10, 0.0, -0.0, 7.9999995, f32::INFINITY, 8388607.5, -0.3] {
        let exact = [x.floor(), x.ceil(), x.round_ties_even()];
        let found = [lane(x).floor(), lane(x).ceil(), lane(x).round()];
        for (found, exact) in found.into_iter().zip(exact) {
            assert_eq!(found.value.to_bits(), exact.to_bits(), "{x}: {} {exact}", found.value);
        }
    }
    assert!(lane(f32::NAN).floor().value.is_nan() && lane(f32::NAN).signum().value.is_nan());
}

/// Angles beyond the range of the kernels are marked, and so is what follows from them.
#[test]
fn large_angles_are_marked() {
    let lane = SimdLane::<f32, Baseline>::new;
    assert!(!lane(5999.0).sin().is_unusual());
    assert!((lane(6001.0).sin() + lane(1.0)).is_unusual());
    assert!(lane(f32::NAN).cos().is_unusual());
}

/// Of an unusual number the loop computes the function again; of others, lanes have the results of the standard
/// library: signs, infinities, NaN, and numbers whose squares or powers are not finite.
fn lanes_have_usual_results_at_edges<F: Float>(huge: f64, tiny: f64) {
    const FUNCTIONS: [&str; 13] = [
        "sinh", "cosh", "asinh", "acosh", "atanh", "asin", "acos", "atan", "cbrt", "log2", "log10", "lgamma", "digamma",
    ];
    let numbers = [0.0, 0.3, 0.5, 1.0, 1.5, 2.0, 7.0, 50.0, 79.9, 80.1, 88.9, 700.0, 710.2, 1e9, 2e15, huge, tiny];
    let numbers = numbers.into_iter().flat_map(|x| [x, -x]).chain([f64::INFINITY, f64::NEG_INFINITY, f64::NAN]);
    for x in numbers.map(F::of_f64) {
        for &(name, _, bound) in NAMES.iter().filter(|(name, ..)| FUNCTIONS.contains(name)) {
            let found = apply(name, SimdLane::<F, Baseline>::new(x));
            let exact = apply(name, Scalar(x.as_f64())).0;
            // The zeros of these are no doubles, and below them a product has lost its last digits.
            let is_subnormal = exact != 0.0 && exact.abs() < 2.0 * tiny;
            if found.is_unusual() || is_subnormal {
                continue;
            }
            let (error, x) = (ulps(found.value, exact), x.as_f64());
            assert!(error <= bound.max(0.51), "{name}({x:e}) of {}: {}, {error} ULP", F::NAME, found.value.as_f64());
            assert!(
                exact.is_nan() || found.value.as_f64().is_sign_negative() == exact.is_sign_negative(),
                "{name}({x})"
            );
        }
    }
}

#[test]
fn edges_have_the_results_of_the_standard_library() {
    lanes_have_usual_results_at_edges::<f32>(3e38, 1.2e-38);
    lanes_have_usual_results_at_edges::<f64>(8e307, 2.3e-308);
}

fn pairs_are_accurate<F: Float>(huge: f64) {
    let sides = [0.0, 0.1, 0.7, 1.0, 3.0, 1e10, huge, f64::INFINITY].into_iter().flat_map(|x| [x, -x]);
    let sides: Vec<f64> = sides.map(|x| F::of_f64(x).as_f64()).chain([f64::NAN]).collect();
    for &x in &sides {
        for &y in &sides {
            let [a, b] = [x, y].map(|x| SimdLane::<F, Baseline>::new(F::of_f64(x)));
            let [c, d] = [x, y].map(Scalar);
            let checks = [
                ("atan2", a.atan2(b), c.atan2(d), 2.0),
                ("hypot", a.hypot(b), c.hypot(d), 3.0),
                ("pow", a.pow(b), c.pow(d), 1.0),
            ];
            for (name, found, Scalar(exact), bound) in checks {
                // Of infinity and NaN, C's hypot is infinite.
                let is_skipped = found.is_unusual() || name == "hypot" && (x + y).is_nan();
                let error = ulps(found.value, exact);
                let found = found.value.as_f64();
                assert!(is_skipped || error <= bound, "{name}({x:e}, {y:e}) of {}: {found:e}, not {exact:e}", F::NAME);
            }
        }
    }
}

#[test]
fn functions_of_two_numbers_are_accurate() {
    pairs_are_accurate::<f32>(1e38);
    pairs_are_accurate::<f64>(1e308);
}

/// As in JAX, whose rules say 0 where a formula would be NaN.
#[test]
fn powers_have_the_derivatives_of_jax() {
    let at = |x: f64, y: f64| {
        Dual::<_, 2>::variable(Scalar(x), 0).pow(Dual::variable(Scalar(y), 1)).tangents().map(|Scalar(slope)| slope)
    };
    assert_eq!(at(0.0, 2.0), [0.0, 0.0]);
    assert_eq!(at(0.0, 0.0), [0.0, 0.0]);
    assert_eq!(at(3.0, 0.0)[0], 0.0);
    assert_eq!(at(-2.0, 2.0)[0], -4.0);
    assert!(at(-2.0, 2.0)[1].is_nan());
    // A constant exponent does not move.
    assert_eq!(Dual::<_, 1>::variable(Scalar(-2.0), 0).powf(3.0).tangents(), [Scalar(12.0)]);
    assert_eq!(Dual::<_, 1>::variable(Scalar(0.0), 0).powf(0.0).tangents(), [Scalar(0.0)]);
    assert_eq!(Dual::<_, 1>::variable(Scalar(0.0), 0).hypot(0.0).tangents(), [Scalar(0.0)]);
}
