//! Transposes against derivatives along the direction of each operand.

use std::array::from_fn;

use super::super::value::{Row, result};
use super::*;
use crate::pointwise::{Active, Map, Mask, Real, Scalar, jvp, vjp};
use crate::rowwise::value::Operand as _;

/// The transpose of a function's Jacobian-vector product.
fn transpose<M: Map<I, O>, const I: usize, const O: usize>(map: M) -> Option<Program> {
    let forwards = record(&vec![Kind::Row; 2 * I], |operands| {
        let [numbers, tangents] = [0, I].map(|first| from_fn(|index| Row::of(operands[first + index])));
        jvp(|duals| map.call(duals), numbers, tangents, Active::ALL).map(result).into()
    });
    forwards.transposed(Active::ALL)
}

/// Compares the transpose with duals, where these are finite: to a part of the terms that are summed.
fn check<M: Map<3, 2>>(map: M, points: impl Iterator<Item = [f64; 5]>, about: &str) -> usize {
    let expression = transpose(map).unwrap().expression().unwrap();
    let mut compared = 0;
    for point in points {
        let [x, y, z, da, db] = point.map(Scalar);
        let expected = vjp(|numbers| map.call(numbers), [x, y, z], [da, db], Active::ALL);
        let found = expression.evaluate(&point.map(Scalar));
        for (Scalar(found), Scalar(expected)) in found.into_iter().zip(expected) {
            if expected.abs() < 1e12 {
                let is_near = (found - expected).abs() <= 1e-10 * expected.abs().max(1.0);
                assert!(is_near, "{about} of {point:?}: {found}, expected {expected}");
                compared += 1;
            }
        }
    }
    compared
}

fn points(values: &[f64]) -> impl Iterator<Item = [f64; 5]> {
    let count = values.len();
    (0..count * count * count).map(move |index| {
        let [x, y, z] = [index, index / count, index / count / count].map(|index| values[index % count]);
        [x, y, z, 1.5, -0.5]
    })
}

/// All functions and operators, of one operand or of several.
#[derive(Clone, Copy)]
struct All;

impl Map<3, 2> for All {
    fn call<T: Real>(self, [x, y, z]: [T; 3]) -> [T; 2] {
        let of_one = [
            x.abs(),
            x.sqrt(),
            x.exp(),
            x.exp_m1(),
            y.ln(),
            y.ln_1p(),
            x.logistic(),
            x.tanh(),
            y.erf(),
            y.erfc(),
            x.sin(),
            x.cos(),
            (x * 0.2).tan(),
            x.sinh(),
            x.cosh(),
            z.asinh(),
            (y + 1.5).acosh(),
            (x * 0.2).atanh(),
            (x * 0.2).asin(),
            (x * 0.2).acos(),
            z.atan(),
            y.cbrt(),
            y.log2(),
            y.lgamma(),
            y.digamma(),
            z.floor() * x,
            z.signum() * y,
            z.powi(-3),
            y.powf(1.5),
        ];
        let of_several = [
            x * y - z / y,
            x.mul_add(y, z),
            x.maximum(y).minimum(z),
            x.log_add_exp(z),
            y.atan2(z),
            x.hypot(y),
            y.pow(z),
            -(x - y) / (z + 3.0),
            x.less(y).select(x * z, z.greater(1.0).select(y * y, -z)),
        ];
        let sum = |terms: &[T]| {
            terms
                .iter()
                .copied()
                .enumerate()
                .fold(T::from(0.0), |sum, (index, term)| sum + term * (1.0 + index as f64 / 8.0))
        };
        [sum(&of_one), sum(&of_several)]
    }
}

#[test]
fn all_functions_have_their_derivatives() {
    assert_eq!(check(All, points(&[0.3, 0.9, 1.7, 2.6]), "a sum"), 3 * 64);
}

/// A random function with choices, roots and logarithms: many numbers that are not chosen are NaN or infinite, and so
/// are their derivatives.
#[derive(Clone, Copy)]
struct Random(u32);

impl Map<3, 2> for Random {
    fn call<T: Real>(self, operands: [T; 3]) -> [T; 2] {
        let mut state = self.0;
        let mut below = |count: usize| {
            state = state.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f);
            (state >> 16) as usize % count
        };
        let mut values = operands.to_vec();
        for _ in 0..20 {
            let (a, b) = (values[values.len() - 1 - below(values.len().min(4))], values[below(values.len())]);
            values.push(match below(12) {
                0 => a + b,
                1 => a - b,
                2 => a * b,
                3 => -a,
                4 => a / b,
                5 => a.maximum(b),
                6 => a.minimum(b),
                7 => a.greater(0.0).select(a.sqrt(), b),
                8 => a.less_equal(0.0).select(b * 0.5, a.ln()),
                9 => a.less(b).select(a, b * 2.0),
                10 => a.tanh(),
                _ => a.equal(b).select(a * 0.25, a / (a - b)),
            });
        }
        [values[values.len() - 1], values[values.len() - 4]]
    }
}

#[test]
fn what_is_not_chosen_has_no_influence() {
    let compared = (0..150u32).map(|seed| {
        let map = Random(seed.wrapping_mul(0x9e37_79b9));
        check(map, points(&[-1.0, 0.0, 0.5, 2.0]), &format!("function {seed}"))
    });
    let compared: usize = compared.sum();
    assert!(compared > 150 * 3 * 64 / 2, "{compared}");
}

#[derive(Clone, Copy)]
struct Maxima(usize);

impl Map<2, 1> for Maxima {
    fn call<T: Real>(self, [x, y]: [T; 2]) -> [T; 1] {
        [(0..self.0).fold(x, |sum, index| (sum + y).maximum(y * index as f64))]
    }
}

/// The sides of choices are remembered for each value, so there may not be too many within each other.
#[test]
fn long_chains_of_choices_are_not_transposed() {
    // Each maximum is two of them, and the first one three.
    assert!(transpose(Maxima(MOST_CHOICES / 2)).is_some());
    assert!(transpose(Maxima(MOST_CHOICES / 2 + 1)).is_none());
}

/// Slopes are multiplied once, not for each operand, and both operands of a quotient share one.
#[test]
fn transposes_are_shorter() {
    #[derive(Clone, Copy)]
    struct Wave;
    impl Map<2, 1> for Wave {
        fn call<T: Real>(self, [x, y]: [T; 2]) -> [T; 1] {
            [((x + y).sin() / (x * y).exp()).tanh()]
        }
    }
    let forwards = record(&[Kind::Row; 3], |operands| {
        let [x, y, cotangent] = from_fn(|index| Row::of(operands[index]));
        vjp(|numbers| Wave.call(numbers), [x, y], [cotangent], Active::ALL).map(result).into()
    });
    let backwards = transpose(Wave).unwrap();
    assert!(backwards.cost() < forwards.cost(), "{} {}", backwards.cost(), forwards.cost());
    let count = |program: &Program, opcode| {
        let expression = program.expression().unwrap();
        expression.operations().iter().filter(|operation| operation.opcode() == Some(opcode)).count()
    };
    assert_eq!(count(&forwards, Opcode::Divide) - count(&backwards, Opcode::Divide), 1);
    assert!(count(&forwards, Opcode::Multiply) > count(&backwards, Opcode::Multiply));
}

#[test]
fn what_is_not_linear_is_not_transposed() {
    let program = record(&[Kind::Row; 2], |operands| {
        let [x, tangent] = from_fn(|index| Row::of(operands[index]));
        vec![result(x * tangent + 1.0)]
    });
    assert!(program.transposed(Active::ALL).is_none());
    let program = record(&[Kind::Row; 2], |operands| {
        let [x, tangent] = from_fn(|index| Row::of(operands[index]));
        vec![result(x * tangent * tangent)]
    });
    assert!(program.transposed(Active::ALL).is_none());
}
