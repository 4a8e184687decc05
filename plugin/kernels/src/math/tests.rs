//! Tests of functions against tables and against double precision.

use num_complex::Complex;
use oxcall_hlo::{BinaryOp, ElementType, OpKind, UnaryOp};

use super::lower;
use crate::element::{Element, Scalar};

/// The value of an op on scalars of types that are stored as computed.
fn eval<R: Element>(kind: OpKind, args: &[(ElementType, Scalar)]) -> R {
    let types: Vec<_> = args.iter().map(|arg| arg.0).collect();
    let steps = lower(&kind, &types, R::TYPE).unwrap_or_else(|error| panic!("{error}"));
    let mut values: Vec<Scalar> = Vec::new();
    for step in &steps {
        let mut operands = [Scalar::default(); 3];
        for (operand, source) in operands.iter_mut().zip(&step.sources) {
            *operand = match *source {
                super::Source::Operand(index) => args[index].1,
                super::Source::Step(index) => values[index],
                super::Source::Constant(value) => value,
            };
        }
        values.push(step.function.call(operands));
    }
    let value = values.last().copied().unwrap_or(args[0].1);
    super::packed(R::TYPE).map_or(value, |packed| packed.store.call([value; 3])).get()
}

fn unary<T: Element, R: Element>(op: UnaryOp, x: T) -> R {
    eval(OpKind::Unary(op), &[(T::TYPE, Scalar::of(x))])
}

fn binary<T: Element>(op: BinaryOp, x: T, y: T) -> T {
    eval(OpKind::Binary(op), &[(T::TYPE, Scalar::of(x)), (T::TYPE, Scalar::of(y))])
}

fn convert<T: Element, R: Element>(x: T) -> R {
    eval(OpKind::Convert, &[(T::TYPE, Scalar::of(x))])
}

#[test]
fn quotients_are_exact() {
    fn check<T: Element + Copy + std::fmt::Debug + PartialEq>(numbers: &[T], exact: impl Fn(T, T) -> (T, T)) {
        for &x in numbers {
            for &y in numbers {
                let found = (binary(BinaryOp::Divide, x, y), binary(BinaryOp::Remainder, x, y));
                assert_eq!(found, exact(x, y), "{x:?} and {y:?}");
            }
        }
    }
    macro_rules! check {
        ($($ty:ident)*) => {$({
            let edges = [$ty::MIN, $ty::MAX, $ty::MAX / 2, $ty::MAX / 2 + 1, $ty::MIN / 3, 0, 1, 2, 3, 7, 10, 100];
            let near = edges.iter().flat_map(|&x| [x, x.wrapping_add(1), x.wrapping_sub(1)]);
            let mixed = (0..60u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(n as u32) as $ty);
            let numbers: Vec<$ty> = near.chain(mixed).collect();
            check(&numbers, |x, y| if y == 0 { (!0, x) } else { (x.wrapping_div(y), x.wrapping_rem(y)) });
        })*};
    }
    check!(i8 u8 i16 u16 i32 u32 i64 u64);
}

#[test]
fn integers_wrap_and_divide_by_zero() {
    use BinaryOp::*;
    for (op, x, y, expected) in [
        (Add, i32::MAX, 1, i32::MIN),
        (Divide, 7, 0, -1),
        (Divide, i32::MIN, -1, i32::MIN),
        (Divide, -7, 2, -3),
        (Remainder, 7, 0, 7),
        (Remainder, i32::MIN, -1, 0),
        (Remainder, -7, 2, -1),
        (ShiftLeft, 1, 31, i32::MIN),
        (ShiftLeft, 1, 32, 0),
        (ShiftLeft, 1, -1, 0),
        (ShiftRightArithmetic, -8, 1, -4),
        (ShiftRightArithmetic, -8, 99, -1),
        (ShiftRightLogical, -1, 28, 15),
        (ShiftRightLogical, -1, 32, 0),
        (Power, 3, 5, 243),
        (Power, 2, -1, 0),
        (Power, -1, -3, -1),
        (Power, 1, -3, 1),
        (Maximum, -1, 2, 2),
    ] {
        assert_eq!(binary(op, x, y), expected, "{} of {x} and {y}", op.name());
    }
    assert_eq!(binary(Divide, 7u8, 0), 255);
    assert_eq!(binary(Maximum, 200u8, 3), 200);
    assert_eq!(unary::<i32, i32>(UnaryOp::Abs, i32::MIN), i32::MIN);
    assert_eq!(unary::<i16, i16>(UnaryOp::CountLeadingZeros, 1), 15);
    assert_eq!(unary::<i64, i64>(UnaryOp::Popcnt, -1), 64);
    assert_eq!(unary::<i8, i8>(UnaryOp::Sign, -5), -1);
}

#[test]
fn narrow_integers_stay_in_range() {
    use crate::element::{S4, U2, U4};
    assert_eq!(binary(BinaryOp::Add, S4::wrapping(7), S4::wrapping(1)), S4::wrapping(-8));
    assert_eq!(binary(BinaryOp::ShiftRightLogical, S4::wrapping(-1), S4::wrapping(1)), S4::wrapping(7));
    assert_eq!(binary(BinaryOp::ShiftRightArithmetic, S4::wrapping(-8), S4::wrapping(1)), S4::wrapping(-4));
    assert_eq!(binary(BinaryOp::ShiftRightArithmetic, U4::wrapping(8), U4::wrapping(1)), U4::wrapping(12));
    assert_eq!(binary(BinaryOp::ShiftRightArithmetic, U4::wrapping(4), U4::wrapping(1)), U4::wrapping(2));
    assert_eq!(binary(BinaryOp::ShiftRightArithmetic, U4::wrapping(8), U4::wrapping(9)), U4::wrapping(15));
    assert_eq!(binary(BinaryOp::ShiftRightArithmetic, U2::wrapping(2), U2::wrapping(1)), U2::wrapping(3));
    assert_eq!(unary::<S4, S4>(UnaryOp::Popcnt, S4::wrapping(-1)), S4::wrapping(4));
    assert_eq!(unary::<S4, S4>(UnaryOp::CountLeadingZeros, S4::wrapping(1)), S4::wrapping(3));
    assert_eq!(unary::<U4, U4>(UnaryOp::Not, U4::wrapping(5)), U4::wrapping(10));
    assert_eq!(convert::<f32, S4>(100.0), S4::wrapping(7));
    assert_eq!(convert::<f32, U4>(-3.0), U4::wrapping(0));
}

#[test]
fn floats_have_the_specified_special_values() {
    let (infinity, nan) = (f32::INFINITY, f32::NAN);
    assert!(binary(BinaryOp::Maximum, nan, 1.0).is_nan() && binary(BinaryOp::Minimum, 1.0, nan).is_nan());
    assert!(binary(BinaryOp::Maximum, -0.0f32, 0.0).is_sign_positive());
    assert!(binary(BinaryOp::Minimum, 0.0f32, -0.0).is_sign_negative());
    assert!(unary::<f32, f32>(UnaryOp::Sign, -0.0).is_sign_negative());
    assert!(unary::<f32, f32>(UnaryOp::Sign, nan).is_nan());
    assert_eq!(unary::<f32, f32>(UnaryOp::RoundNearestEven, 2.5), 2.0);
    assert_eq!(unary::<f32, f32>(UnaryOp::RoundNearestAfz, 2.5), 3.0);
    assert_eq!(unary::<f32, f32>(UnaryOp::Rsqrt, 0.0), infinity);
    assert_eq!(binary(BinaryOp::Power, -2.0f32, 3.0), -8.0);
    assert_eq!(binary(BinaryOp::Power, nan, 0.0f32), 1.0);
    assert_eq!(binary(BinaryOp::Power, 0.0f32, -1.0), infinity);
    assert_eq!(binary(BinaryOp::Remainder, -5.5f32, 2.0), -1.5);
    assert_eq!(unary::<f32, f32>(UnaryOp::Sine, 1e30), (f64::from(1e30f32)).sin() as f32);
    assert_eq!([convert::<f32, i32>(nan), convert(infinity), convert(-infinity)], [0, i32::MAX, i32::MIN]);
    assert_eq!([convert::<f64, u8>(-1.0), convert(300.0), convert(3.9)], [0, 255, 3]);
    assert_eq!(convert::<f64, half::f16>(1.0 + 2f64.powi(-11) + 2f64.powi(-40)), half::f16::from_f32(1.000_976_6));
    let reduce = |exponent_bits, x: f32| {
        eval::<f32>(OpKind::ReducePrecision { exponent_bits, mantissa_bits: 10 }, &[(ElementType::F32, Scalar::of(x))])
    };
    assert_eq!([reduce(5, 65536.0), reduce(5, -1e-8), reduce(5, 1.0 + 2f32.powi(-11))], [infinity, -0.0, 1.0]);
    assert_eq!([reduce(8, 2f32.powi(-130)), reduce(5, f32::NEG_INFINITY)], [2f32.powi(-130), -infinity]);
}

#[test]
fn small_floats_are_reduced_as_halves() {
    let reduce = |element, x: f32, exponent_bits, mantissa_bits| {
        let kind = OpKind::ReducePrecision { exponent_bits, mantissa_bits };
        let steps = lower(&kind, &[element], element).unwrap();
        let mut value = Scalar::of(x);
        for step in &steps {
            let operand = |source: &super::Source| match *source {
                super::Source::Constant(constant) => constant,
                _ => value,
            };
            let operands: Vec<Scalar> = step.sources.iter().map(operand).collect();
            value = step.function.call(std::array::from_fn(|index| operands.get(index).copied().unwrap_or_default()));
        }
        value.get::<f32>()
    };
    use ElementType::{F8E4M3FN, F8E5M2, F8E5M2FNUZ};
    let power = |exponent| 2f32.powi(exponent);
    assert!(reduce(F8E4M3FN, 448.0, 4, 3).is_nan() && reduce(F8E4M3FN, f32::NAN, 4, 3).is_nan());
    assert_eq!([reduce(F8E4M3FN, -power(-9), 4, 3), reduce(F8E4M3FN, power(-9), 5, 3)], [-0.0, power(-9)]);
    // Multiples of 2^-16 are subnormal halves with two bits of mantissa, and of 2^-15 with one.
    assert_eq!([reduce(F8E5M2, power(-16), 5, 2), reduce(F8E5M2, 3.0 * power(-16), 5, 1)], [power(-16), power(-14)]);
    assert_eq!([reduce(F8E5M2FNUZ, power(-17), 5, 2), reduce(F8E5M2FNUZ, power(-17), 5, 3)], [0.0, power(-17)]);
    assert_eq!([power(-16), power(-17)].map(|x| reduce(F8E5M2FNUZ, x, 4, 3)), [0.0, 0.0]);
}

#[test]
fn complex_functions_invert_one_another() {
    use UnaryOp::*;
    let close = |a: Complex<f64>, b: Complex<f64>| (a - b).norm() <= 1e-12 * (1.0 + b.norm());
    for re in [-1.7, -0.3, 0.2, 0.4, 2.5] {
        for im in [-2.2, -0.6, 0.1, 1.0] {
            let z = Complex::new(re, im);
            let apply = |op, z: Complex<f64>| unary::<Complex<f64>, Complex<f64>>(op, z);
            for (inverse, function) in [
                (Log, Exponential),
                (LogPlusOne, ExponentialMinusOne),
                (Asin, Sine),
                (Acos, Cosine),
                (Atan, Tan),
                (Asinh, Sinh),
                (Acosh, Cosh),
                (Atanh, Tanh),
                (Sqrt, Square),
            ] {
                let back = apply(function, apply(inverse, z));
                assert!(close(back, z), "{} of {} of {z}: {back}", function.name(), inverse.name());
            }
            for (op, expected) in [
                (Exponential, z.exp()),
                (Log, z.ln()),
                (Sqrt, z.sqrt()),
                (Tanh, z.tanh()),
                (Asin, z.asin()),
                (Acos, z.acos()),
                (Atan, z.atan()),
                (Acosh, z.acosh()),
                (Atanh, z.atanh()),
            ] {
                assert!(close(apply(op, z), expected), "{} of {z}: {} {expected}", op.name(), apply(op, z));
            }
            let quotient = binary(BinaryOp::Divide, z, Complex::new(0.5, -3.0));
            assert!(close(quotient, z / Complex::new(0.5, -3.0)));
            let power = binary(BinaryOp::Power, z, Complex::new(0.5, -1.0));
            assert!(close(power, z.powc(Complex::new(0.5, -1.0))));
        }
    }
}

#[test]
fn complex_numbers_divided_by_themselves_are_one() {
    for (re, im) in [(0.1, 0.3), (-1e160, 1e160 / 3.0), (7e-310, -1e-320), (f64::MAX, f64::MAX / 3.0)] {
        let z = Complex::new(re, im);
        let found = binary(BinaryOp::Divide, z, z);
        assert!((found.re - 1.0).abs() <= f64::EPSILON && found.im == 0.0, "{z}: {found}");
    }
}

/// x 2^k, exact where that is a number; `k` is from -3000 to 3000.
fn times_power_of_two(x: f64, k: i32) -> f64 {
    (0..4).fold(x, |x, step| x * 2f64.powi((k + step) >> 2))
}

#[test]
fn complex_quotients_scale_with_their_operands() {
    let sizes = [-1073, -1030, -1022, -1000, -540, -1, 0, 3, 520, 1000, 1019, 1021, 1022];
    let parts = [0.0, 1.0, -1.0, 1.5];
    for (m, n) in sizes.into_iter().flat_map(|m| sizes.map(|n| (m, n))) {
        for (re, im) in parts.into_iter().flat_map(|re| parts.map(|im| (re, im))) {
            // Divisors whose squared modulus is a power of two, so that quotients are exact.
            for divisor in [(1.0, 0.0), (0.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                let at = |x: f64, k| times_power_of_two(x, k);
                let whole = if m < -1022 { (re * 2.0, im * 2.0) } else { (re, im) };
                let a = Complex::new(at(whole.0, m), at(whole.1, m));
                let b = Complex::new(at(divisor.0, n), at(divisor.1, n));
                let norm = divisor.0 * divisor.0 + divisor.1 * divisor.1;
                let exact = Complex::new(
                    at((whole.0 * divisor.0 + whole.1 * divisor.1) / norm, m - n),
                    at((whole.1 * divisor.0 - whole.0 * divisor.1) / norm, m - n),
                );
                let found = binary(BinaryOp::Divide, a, b);
                // Ties of subnormal numbers may be rounded twice.
                let near = |found: f64, exact: f64| found == exact || (found - exact).abs() <= 5e-324;
                assert!(near(found.re, exact.re) && near(found.im, exact.im), "{a} / {b} = {found}, not {exact}");
            }
        }
    }
}

#[test]
fn acosh_is_nan_below_one() {
    for x in [-212.0_f64, -1e9, -f64::MAX, f64::NEG_INFINITY, -1.0, 0.0, 0.999, f64::NAN] {
        let found = unary::<f64, f64>(UnaryOp::Acosh, x);
        assert!(found.is_nan(), "{x}: {found}");
    }
}
