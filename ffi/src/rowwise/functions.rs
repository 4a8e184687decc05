//! Kernels of elementary functions, which take four elements at a time: see [`oxcall_math::pair`].

use oxcall_math::elementary;
use oxcall_math::level::Level;
use oxcall_math::real::{Float, Opcode};
use oxcall_math::with_level;

use super::ops::{Kernel, OPERANDS};
use crate::pointwise::block::{Block, fours};

/// A function of `N` numbers whose kernel is accurate for all of them.
trait Function<const N: usize> {
    fn call<F: Float, L: Level>(operands: [F::Four; N]) -> F::Four;
}

macro_rules! functions {
    ([$($part:ident($($of:ident),*) $result:expr;)*] $($opcode:ident($($arg:ident),*) $value:expr;)*) => {
        functions!(@kernels $($opcode($($arg),*) $value;)* $($part($($of),*) $result;)*);

        /// The code of a function's kernel for the processor; `other` for those that are not here.
        pub(super) const fn kernel<F: Float>(opcode: Opcode, other: fn() -> Kernel<F>) -> fn() -> Kernel<F> {
            match opcode {
                $(Opcode::$opcode => best::<F, $opcode, { [$(stringify!($arg)),*].len() }>,)*
                Opcode::Erfc => || unreachable!("computed by its parts"),
                _ => other,
            }
        }
    };
    (@kernels $($opcode:ident($($arg:ident),*) $value:expr;)*) => {
        $(
            struct $opcode;

            impl Function<{ [$(stringify!($arg)),*].len() }> for $opcode {
                #[inline(always)]
                fn call<F: Float, L: Level>([$($arg),*]: [F::Four; [$(stringify!($arg)),*].len()]) -> F::Four {
                    $value
                }
            }
        )*
    };
}
functions! {
    [
        Gauss(x) F::four_gauss::<L>(x);
        ErfcOfGauss(x, gauss) F::four_erfc_of_gauss::<L>(x, gauss);
    ]
    Exp(x) elementary::exp::<L, F::Four>(x);
    ExpM1(x) elementary::expm1::<L, F::Four>(x);
    Logistic(x) elementary::logistic::<L, F::Four>(x);
    Tanh(x) elementary::tanh::<L, F::Four>(x);
    LogAddExp(a, b) elementary::log_add_exp::<L, F::Four>(a, b);
}

/// [`oxcall_math::single::gauss`].
pub(super) fn gauss<F: Float>() -> Kernel<F> {
    best::<F, Gauss, 1>()
}

/// [`oxcall_math::single::erfc_of_gauss`].
pub(super) fn erfc_of_gauss<F: Float>() -> Kernel<F> {
    best::<F, ErfcOfGauss, 2>()
}

fn best<F: Float, M: Function<N>, const N: usize>() -> Kernel<F> {
    fn run<F: Float, M: Function<N>, L: Level, const N: usize>(
        operands: &[&Block<F>; OPERANDS],
        result: &mut Block<F>,
        count: usize,
    ) {
        fours::<F, L, N, OPERANDS>(operands, result, count, M::call::<F, L>);
    }
    with_level!(L => run::<F, M, L, N>)
}
