//! Operations of single elements: what each computes, of numbers, of blocks of them and of duals.

use oxcall_math::level::Level;
use oxcall_math::real::Float;

use crate::pointwise::block::{Block, block};
use crate::pointwise::{Map, Mask, Real};

/// The most operands of an operation.
pub(super) const OPERANDS: usize = 3;

/// Masks are numbers in programs: 1 where they hold, 0 elsewhere.
#[inline(always)]
fn number<T: Real>(mask: T::Mask) -> T {
    mask.select(T::from(1.0), T::from(0.0))
}

macro_rules! ops {
    ($($name:ident($($arg:ident),+) $value:expr;)*) => {
        /// An operation of single elements.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(super) enum Op {
            $($name),*
        }

        /// The operations as types, each with a loop of its own.
        mod maps {
            use super::*;

            $(
                #[derive(Clone, Copy)]
                pub(super) struct $name;

                impl Map<{ [$(stringify!($arg)),+].len() }, 1> for $name {
                    #[inline(always)]
                    fn call<T: Real>(self, [$($arg),+]: [T; [$(stringify!($arg)),+].len()]) -> [T; 1] {
                        [$value]
                    }
                }
            )*
        }

        impl Op {
            /// The number of operands.
            pub(super) fn arity(self) -> usize {
                match self {
                    $(Op::$name => [$(stringify!($arg)),+].len(),)*
                }
            }

            /// The result for numbers; operands beyond the arity may be any.
            pub(super) fn call<T: Real>(self, operands: [T; OPERANDS]) -> T {
                match self {
                    $(Op::$name => {
                        let [$($arg,)+ ..] = operands;
                        let [result] = maps::$name.call([$($arg),+]);
                        result
                    })*
                }
            }

            /// The results for the first `count` elements of blocks.
            pub(super) fn run<F: Float, L: Level>(
                self,
                operands: [&Block<F>; OPERANDS],
                result: &mut Block<F>,
                count: usize,
            ) {
                let result = std::array::from_mut(result);
                match self {
                    $(Op::$name => {
                        let [$($arg,)+ ..] = operands;
                        block::<F, maps::$name, L, _, 1>(maps::$name, &[$($arg),+], result, count);
                    })*
                }
            }
        }
    };
}
ops! {
    Add(a, b) a + b;
    Sub(a, b) a - b;
    Mul(a, b) a * b;
    Div(a, b) a / b;
    MulAdd(a, b, c) a.mul_add(b, c);
    Neg(x) -x;
    Maximum(a, b) a.maximum(b);
    Minimum(a, b) a.minimum(b);
    Abs(x) x.abs();
    Sqrt(x) x.sqrt();
    Exp(x) x.exp();
    ExpM1(x) x.exp_m1();
    Ln(x) x.ln();
    Ln1p(x) x.ln_1p();
    LogAddExp(a, b) a.log_add_exp(b);
    Logistic(x) x.logistic();
    Tanh(x) x.tanh();
    Erf(x) x.erf();
    Erfc(x) x.erfc();
    Sin(x) x.sin();
    Cos(x) x.cos();
    Tan(x) x.tan();
    Atan2(y, x) y.atan2(x);
    Pow(a, b) a.pow(b);
    Lgamma(x) x.lgamma();
    Digamma(x) x.digamma();
    Trigamma(x) x.polygamma(1);
    Tetragamma(x) x.polygamma(2);
    Select(mask, yes, no) mask.equal(0.0).select(no, yes);
    // Those whose derivatives are 0.
    Constant(x) x;
    Signum(x) x.signum();
    Floor(x) x.floor();
    Round(x) x.round();
    Less(a, b) number(a.less(b));
    LessEqual(a, b) number(a.less_equal(b));
    Equal(a, b) number(a.equal(b));
    And(a, b) a * b;
    Or(a, b) a.maximum(b);
    Not(mask) -mask + 1.0;
}

impl Op {
    /// Whether the derivatives of all operands are 0.
    pub(super) fn is_flat(self) -> bool {
        use Op::*;
        matches!(self, Constant | Signum | Floor | Round | Less | LessEqual | Equal | And | Or | Not)
    }
}
