//! Numbers that record what is computed from them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use super::expression::{Expression, Opcode, Operation};
use super::operators::operators;
use super::scalar::log_add_exp;
use super::{Mask, Real};

/// A value of an expression that is being recorded: the number of an operand, or behind these that of an operation.
#[derive(Debug, Clone, Copy)]
pub struct Traced(u32);

/// The outcome of a comparison, as [`Traced`].
#[derive(Debug, Clone, Copy)]
pub struct TracedMask(u32);

/// The most operations that are recorded.
const MOST_OPERATIONS: usize = 1 << 12;

/// An expression that is being recorded.
struct Tracer {
    operands: u32,
    operations: Vec<Operation>,
    /// The value of each operation: equal ones are recorded once.
    known: HashMap<(u32, [u32; 3], u64), u32>,
    overflows: bool,
}

thread_local! {
    static TRACER: RefCell<Option<Tracer>> = const { RefCell::new(None) };
}

/// Records a function. `None` if it takes too many operations.
///
/// # Panics
/// With the panic of `function`.
pub(super) fn trace<const I: usize, const O: usize>(
    function: impl FnOnce([Traced; I]) -> [Traced; O],
) -> Option<Expression> {
    /// Ends the recording, also after a panic.
    struct End(Option<Tracer>);
    impl Drop for End {
        fn drop(&mut self) {
            TRACER.set(self.0.take());
        }
    }
    let tracer = Tracer { operands: I as u32, operations: Vec::new(), known: HashMap::new(), overflows: false };
    let outer = End(TRACER.replace(Some(tracer)));
    let results = function(std::array::from_fn(|index| Traced(index as u32)));
    let tracer = TRACER.take()?;
    drop(outer);
    if tracer.overflows {
        return None;
    }
    let results = results.iter().map(|value| value.0).collect();
    Expression::new(I, tracer.operations, results).map(Expression::without_unused)
}

/// The value of an operation.
fn record(opcode: Opcode, args: &[u32], constant: f64) -> u32 {
    TRACER.with_borrow_mut(|tracer| {
        // A value that outlives its recording belongs to none.
        let Some(tracer) = tracer else { return u32::MAX };
        let mut operation = Operation { opcode: opcode as u32, args: [0; 3], constant };
        operation.args[..args.len()].copy_from_slice(args);
        let next = tracer.operands + tracer.operations.len() as u32;
        let key = (operation.opcode, operation.args, constant.to_bits());
        if let Some(&known) = tracer.known.get(&key) {
            return known;
        }
        if tracer.operations.len() >= MOST_OPERATIONS {
            tracer.overflows = true;
            return 0;
        }
        tracer.known.insert(key, next);
        tracer.operations.push(operation);
        next
    })
}

impl Traced {
    fn unary(self, opcode: Opcode) -> Traced {
        Traced(record(opcode, &[self.0], 0.0))
    }

    fn binary(self, opcode: Opcode, other: Traced) -> Traced {
        Traced(record(opcode, &[self.0, other.0], 0.0))
    }

    fn compare(self, opcode: Opcode, other: Traced) -> TracedMask {
        TracedMask(record(opcode, &[self.0, other.0], 0.0))
    }
}

impl From<f64> for Traced {
    fn from(x: f64) -> Traced {
        Traced(record(Opcode::Constant, &[], x))
    }
}

impl Neg for Traced {
    type Output = Traced;

    fn neg(self) -> Traced {
        self.unary(Opcode::Negate)
    }
}

macro_rules! binary {
    ($($ty:ident $op:ident $method:ident $opcode:ident;)*) => {$(
        impl $op for $ty {
            type Output = $ty;

            fn $method(self, other: $ty) -> $ty {
                $ty(record(Opcode::$opcode, &[self.0, other.0], 0.0))
            }
        }
    )*};
}
binary! {
    Traced Add add Add;
    Traced Sub sub Subtract;
    Traced Mul mul Multiply;
    Traced Div div Divide;
    TracedMask BitAnd bitand And;
    TracedMask BitOr bitor Or;
}
operators!([] Traced);

impl Not for TracedMask {
    type Output = TracedMask;

    fn not(self) -> TracedMask {
        TracedMask(record(Opcode::Not, &[self.0], 0.0))
    }
}

impl Mask for TracedMask {
    fn select<T: Real<Mask = TracedMask>>(self, yes: T, no: T) -> T {
        T::choose(self, yes, no)
    }
}

/// Functions of one number.
macro_rules! unary {
    ($($name:ident $opcode:ident),*) => {$(
        fn $name(self) -> Traced {
            self.unary(Opcode::$opcode)
        }
    )*};
}

impl Real for Traced {
    type Mask = TracedMask;

    fn less(self, other: impl Into<Self>) -> TracedMask {
        self.compare(Opcode::Less, other.into())
    }
    fn less_equal(self, other: impl Into<Self>) -> TracedMask {
        self.compare(Opcode::LessEqual, other.into())
    }
    fn equal(self, other: impl Into<Self>) -> TracedMask {
        self.compare(Opcode::Equal, other.into())
    }
    fn choose(mask: TracedMask, yes: Self, no: Self) -> Self {
        Traced(record(Opcode::Select, &[mask.0, yes.0, no.0], 0.0))
    }
    fn mul_add(self, b: impl Into<Self>, c: impl Into<Self>) -> Self {
        self * b.into() + c.into()
    }
    fn maximum(self, other: impl Into<Self>) -> Self {
        self.binary(Opcode::Maximum, other.into())
    }
    fn minimum(self, other: impl Into<Self>) -> Self {
        self.binary(Opcode::Minimum, other.into())
    }
    fn log_add_exp(self, other: impl Into<Self>) -> Self {
        log_add_exp(self, other.into())
    }
    fn polygamma(self, order: u32) -> Self {
        Traced::from(f64::from(order)).binary(Opcode::Polygamma, self)
    }
    fn atan2(self, x: impl Into<Self>) -> Self {
        self.binary(Opcode::Atan2, x.into())
    }
    fn powf(self, exponent: f64) -> Self {
        self.pow(exponent)
    }
    fn pow(self, exponent: impl Into<Self>) -> Self {
        self.binary(Opcode::Power, exponent.into())
    }

    unary! {
        abs Abs, signum Sign, floor Floor, ceil Ceil, round Round, sqrt Sqrt, exp Exp, exp_m1 ExpM1, ln Ln, ln_1p Ln1p,
        logistic Logistic, tanh Tanh, erf Erf, erfc Erfc, sin Sin, cos Cos, tan Tan, lgamma Lgamma, digamma Digamma
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real::{Dual, Scalar};

    /// A function of all operations, with its derivative.
    fn all<T: Real>([x, y]: [T; 2]) -> [T; 2] {
        let functions = [
            x.exp(),
            x.exp_m1(),
            x.ln(),
            x.ln_1p(),
            x.logistic(),
            x.tanh(),
            x.erf(),
            x.erfc(),
            x.sin(),
            x.cos(),
            x.tan(),
            x.sqrt(),
            x.abs(),
            -x.signum(),
            (x * 3.0).floor(),
            (x * 3.0).ceil(),
            (x * 3.0).round(),
            x.recip(),
            x.powi(3),
            x.mul_add(y, 2.0),
            x.maximum(y),
            x.minimum(y),
            x.log_add_exp(y),
            x.clamp(0.25, 0.75),
            x.lgamma(),
            x.digamma(),
            x.atan2(y),
            x.hypot(y),
            x.powf(1.5),
            x.pow(y),
            x.sinh(),
            x.cosh(),
            x.asinh(),
            (x + 1.0).acosh(),
            (x * 0.25).atanh(),
            (x * 0.25).asin(),
            (x * 0.25).acos(),
            x.atan(),
            x.cbrt(),
            x.log2(),
            x.log10(),
            x / y,
            x - y,
        ];
        let mut sum = T::from(0.0);
        for (index, function) in functions.into_iter().enumerate() {
            sum += function * (1.0 + index as f64 / 8.0);
        }
        let is_inside = x.less(y) & !x.equal(0.5) | x.less_equal(0.0) | x.greater(10.0) | y.is_nan();
        [sum, is_inside.select(x, y * 2.0)]
    }

    fn derivative<T: Real>([x, y]: [T; 2]) -> [T; 2] {
        all([Dual::<T, 1>::variable(x, 0), Dual::constant(y)]).map(|result| result.tangents()[0])
    }

    #[test]
    fn expressions_compute_what_functions_do() {
        for function in
            [(trace(all::<Traced>), all::<Scalar<f64>> as fn(_) -> _), (trace(derivative::<Traced>), derivative)]
        {
            let (expression, function) = (function.0.unwrap(), function.1);
            for (x, y) in [(0.3, 0.9), (0.9, 0.3), (0.5, 0.7), (0.75, 0.75), (0.2, f64::NAN), (2.0, 1.5)] {
                let found = expression.evaluate(&[x, y].map(Scalar));
                let expected: [Scalar<f64>; 2] = function([x, y].map(Scalar));
                for (found, expected) in found.iter().zip(expected) {
                    let (found, expected) = (found.0, expected.0);
                    let near = (found - expected).abs() <= 1e-12 * expected.abs();
                    assert!(near || found.is_nan() && expected.is_nan(), "{x} {y}: {found}, expected {expected}");
                }
            }
        }
    }

    #[test]
    fn equal_operations_are_recorded_once() {
        let expression = trace(|[x]: [Traced; 1]| [(x * 2.0).exp() + (x * 2.0).exp()]).unwrap();
        assert_eq!(expression.operations().len(), 4);
        assert!(trace(|[x]: [Traced; 1]| [(x * 0.0) / (x * -0.0)]).unwrap().operations().len() == 5);
    }

    /// What is not used is not part of the expression, and a constant's derivative is not even recorded.
    #[test]
    fn derivatives_have_the_operations_that_they_need() {
        let gradient = |[x, y]: [Traced; 2]| {
            let dual = (Dual::<_, 2>::variable(x, 0) * Dual::variable(y, 1)).exp();
            dual.tangents()
        };
        let names = |expression: &Expression| {
            expression.operations().iter().map(|operation| operation.opcode().unwrap()).collect::<Vec<_>>()
        };
        // y exp(x y) and x exp(x y), with the tangents of the variables, 1.
        let expression = trace(gradient).unwrap();
        use Opcode::{Constant, Exp, Multiply};
        let expected = [Constant, Multiply, Multiply, Multiply, Exp, Multiply, Multiply];
        let mut found = names(&expression);
        found.sort_by_key(|opcode| *opcode as u32);
        let mut expected = expected.to_vec();
        expected.sort_by_key(|opcode| *opcode as u32);
        assert_eq!(found, expected);
        let unused = trace(|[x]: [Traced; 1]| {
            let _ = (x.exp() * 2.0).ln();
            [x * x, x]
        });
        assert_eq!(names(&unused.unwrap()), [Multiply]);
    }

    #[test]
    fn long_functions_are_not_recorded() {
        let long = |[x]: [Traced; 1]| [(0..MOST_OPERATIONS).fold(x, |sum, index| sum * (index as f64))];
        assert!(trace(long).is_none());
    }

    #[test]
    fn a_panic_ends_the_recording() {
        let panicked = std::panic::catch_unwind(|| trace(|[x]: [Traced; 1]| if true { panic!("no") } else { [x] }));
        assert!(panicked.is_err());
        assert_eq!(Traced::from(1.0).0, u32::MAX);
        assert_eq!(trace(|[x]: [Traced; 1]| [-x]).unwrap().operations().len(), 1);
    }
}
