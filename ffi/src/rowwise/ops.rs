//! Operations of single elements: the code of each, for blocks, for numbers of rows and for derivatives.
//!
//! An operation points at its code, so that a library has that of the operations which its functions use, and of those
//! in their derivatives.

#![allow(non_upper_case_globals, reason = "operations have the names of their opcodes")]

use std::fmt;
use std::hash::{Hash, Hasher};

use oxcall_math::level::Level;
use oxcall_math::real::{Float, Opcode, Scalar};
use oxcall_math::{for_each_operation, with_level};

use self::chains::{Difference, From, Negative, Product, Sum, Then};
use super::functions;
use super::value::Row;
use crate::pointwise::block::{Block, block};
use crate::pointwise::{Dual, Map, Mask, Real};

/// The most operands of an operation.
pub(super) const OPERANDS: usize = 3;

/// The results for the first elements of blocks; operands beyond the arity, and elements beyond the count, may be any.
pub(super) type Kernel<F> = fn(operands: &[&Block<F>; OPERANDS], result: &mut Block<F>, count: usize);

/// An operation of single elements. Masks are numbers: 1 where they hold, 0 elsewhere.
#[derive(Clone, Copy)]
pub(super) struct Op(&'static Code);

/// The code of an operation.
#[derive(Clone, Copy)]
struct Code {
    opcode: Opcode,
    arity: usize,
    /// The kernels for the processor.
    single: fn() -> Kernel<f32>,
    double: fn() -> Kernel<f64>,
    /// The result for numbers.
    number: fn([f64; OPERANDS]) -> f64,
    /// The derivatives along one direction, and along each operand.
    tangent: fn([Dual<Row, 1>; OPERANDS]) -> Dual<Row, 1>,
    slopes: fn([Dual<Row, OPERANDS>; OPERANDS]) -> Dual<Row, OPERANDS>,
    /// See [`Op::parts`].
    parts: Option<[Op; 2]>,
}

impl Op {
    pub(super) fn opcode(self) -> Opcode {
        self.0.opcode
    }

    /// The number of operands.
    pub(super) fn arity(self) -> usize {
        self.0.arity
    }

    /// Whether the derivatives of all operands are 0.
    pub(super) fn is_flat(self) -> bool {
        use Opcode::*;
        matches!(self.opcode(), Sign | Floor | Ceil | Round | Less | LessEqual | Equal | And | Or | Not)
    }

    /// About how many sums take as long.
    pub(super) fn cost(self) -> usize {
        use Opcode::*;
        match self.opcode() {
            Divide | Sqrt => 4,
            Add | Subtract | Multiply | MulAdd | Negate | Abs | Sign | Maximum | Minimum | Floor | Ceil | Round => 1,
            Less | LessEqual | Equal | And | Or | Not | Select => 1,
            _ => 16,
        }
    }

    /// The kernel for blocks of `f32`.
    pub(super) fn single(self) -> Kernel<f32> {
        (self.0.single)()
    }

    /// The kernel for blocks of `f64`.
    pub(super) fn double(self) -> Kernel<f64> {
        (self.0.double)()
    }

    /// The result for numbers; operands beyond the arity may be any.
    pub(super) fn number(self, operands: [f64; OPERANDS]) -> f64 {
        (self.0.number)(operands)
    }

    /// The result for operands that move along one direction.
    pub(super) fn tangent(self, operands: [Dual<Row, 1>; OPERANDS]) -> Dual<Row, 1> {
        (self.0.tangent)(operands)
    }

    /// The result for operands that move along a direction each.
    pub(super) fn slopes(self, operands: [Dual<Row, OPERANDS>; OPERANDS]) -> Dual<Row, OPERANDS> {
        (self.0.slopes)(operands)
    }
}

impl PartialEq for Op {
    fn eq(&self, other: &Op) -> bool {
        self.opcode() == other.opcode()
    }
}

impl Eq for Op {}

impl Hash for Op {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.opcode().hash(state);
    }
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.opcode().fmt(f)
    }
}

/// A formula of an operation.
trait Formula<const N: usize>: Map<N, 1> {
    const MAP: Self;
}

fn result<T: Real, M: Formula<N>, const N: usize>(operands: [T; OPERANDS]) -> T {
    let [result] = M::MAP.call(std::array::from_fn(|index| operands[index]));
    result
}

fn number<M: Formula<N>, const N: usize>(operands: [f64; OPERANDS]) -> f64 {
    result::<Scalar<f64>, M, N>(operands.map(Scalar)).0
}

/// The kernel for the processor.
fn kernel<F: Float, M: Formula<N>, const N: usize>() -> Kernel<F> {
    fn run<F: Float, M: Formula<N>, L: Level, const N: usize>(
        operands: &[&Block<F>; OPERANDS],
        result: &mut Block<F>,
        count: usize,
    ) {
        block::<F, M, L, N, OPERANDS>(M::MAP, operands, result, count);
    }
    with_level!(L => run::<F, M, L, N>)
}

/// An operand as the formula takes it, and a result as a number.
macro_rules! operand {
    (Number $x:expr) => {
        $x
    };
    (Mask $x:expr) => {
        !$x.equal(0.0)
    };
}
macro_rules! numeric {
    (Number $x:expr) => {
        $x
    };
    (Mask $x:expr) => {
        $x.select(T::from(1.0), T::from(0.0))
    };
}

macro_rules! ops {
    (
        [$($others:tt)*]
        $($name:ident = $code:literal ($($arg:ident: $of:ident),*) -> $kind:ident { $value:expr })*
    ) => {
        mod formulas {
            use super::*;

            $(
                #[derive(Clone, Copy)]
                pub(super) struct $name;

                impl Map<{ [$(stringify!($arg)),*].len() }, 1> for $name {
                    #[inline(always)]
                    fn call<T: Real>(self, [$($arg),*]: [T; [$(stringify!($arg)),*].len()]) -> [T; 1] {
                        $(let $arg = operand!($of $arg);)*
                        [numeric!($kind $value)]
                    }
                }

                impl Formula<{ [$(stringify!($arg)),*].len() }> for $name {
                    const MAP: Self = $name;
                }
            )*
        }

        impl Op {
            $(pub(super) const $name: Op = Op(&Code {
                opcode: Opcode::$name,
                arity: [$(stringify!($arg)),*].len(),
                single: const {
                    functions::kernel(Opcode::$name, kernel::<f32, formulas::$name, { [$(stringify!($arg)),*].len() }>)
                },
                double: const {
                    functions::kernel(Opcode::$name, kernel::<f64, formulas::$name, { [$(stringify!($arg)),*].len() }>)
                },
                number: number::<formulas::$name, { [$(stringify!($arg)),*].len() }>,
                tangent: result::<Dual<Row, 1>, formulas::$name, { [$(stringify!($arg)),*].len() }>,
                slopes: result::<Dual<Row, OPERANDS>, formulas::$name, { [$(stringify!($arg)),*].len() }>,
                parts: const { parts(Opcode::$name) },
            });)*
        }
    };
}
for_each_operation!(ops);

/// The fields that the parts of an operation share.
const PART: Code = Code {
    opcode: Opcode::Erfc,
    arity: 0,
    single: || unreachable!("of a part"),
    double: || unreachable!("of a part"),
    number: |_| unreachable!("of rows"),
    tangent: |_| unreachable!("made after derivatives"),
    slopes: |_| unreachable!("made after derivatives"),
    parts: None,
};

/// The parts of an operation. A library has them if it has the operation.
const fn parts(opcode: Opcode) -> Option<[Op; 2]> {
    match opcode {
        Opcode::Erfc => Some([Op::Gauss, Op::ErfcOfGauss]),
        _ => None,
    }
}

/// Two cheap operations, one after the other. Each is rounded by itself.
mod chains {
    use std::marker::PhantomData;

    use super::*;

    pub(super) trait Binary: Copy + Send + Sync + 'static {
        const OPCODE: Opcode;
        const ARITY: usize = 2;

        fn of<T: Real>(a: T, b: T) -> T;
    }

    macro_rules! binary {
        ($($name:ident = $opcode:ident |$a:ident, $b:ident| $value:expr;)*) => {$(
            #[derive(Clone, Copy)]
            pub(super) struct $name;

            impl Binary for $name {
                const OPCODE: Opcode = Opcode::$opcode;

                #[inline(always)]
                fn of<T: Real>($a: T, $b: T) -> T {
                    $value
                }
            }
        )*};
    }
    binary! {
        Sum = Add |a, b| a + b;
        Difference = Subtract |a, b| a - b;
        From = Subtract |a, b| b - a;
        Product = Multiply |a, b| a * b;
    }

    /// The negative of the first operand; the second may be any.
    #[derive(Clone, Copy)]
    pub(super) struct Negative;

    impl Binary for Negative {
        const OPCODE: Opcode = Opcode::Negate;
        const ARITY: usize = 1;

        #[inline(always)]
        fn of<T: Real>(a: T, _: T) -> T {
            -a
        }
    }

    /// `B` of what `A` gives and the third operand.
    #[derive(Clone, Copy)]
    pub(super) struct Then<A, B>(PhantomData<(A, B)>);

    impl<A: Binary, B: Binary> Map<3, 1> for Then<A, B> {
        #[inline(always)]
        fn call<T: Real>(self, [a, b, c]: [T; 3]) -> [T; 1] {
            [B::of(A::of(a, b), c)]
        }
    }

    impl<A: Binary, B: Binary> Formula<3> for Then<A, B> {
        const MAP: Self = Then(PhantomData);
    }

    impl<A: Binary, B: Binary> Then<A, B> {
        pub(super) const CODE: Code = Code {
            opcode: B::OPCODE,
            arity: 1 + B::ARITY,
            single: kernel::<f32, Self, 3>,
            double: kernel::<f64, Self, 3>,
            ..PART
        };
    }
}

impl Op {
    const AddPair: Op = Op(&Code { single: Then::<Sum, Sum>::CODE.single, ..*Op::Add.0 });
    const SubtractPair: Op = Op(&Code { single: Then::<Difference, Difference>::CODE.single, ..*Op::Subtract.0 });

    /// This operation of an element and of a number of the row, which comes with what rounding it to `f32` has taken:
    /// the difference from a mean has all digits, however far from 0 the elements are.
    pub(super) fn of_pair(self) -> Option<Op> {
        match (self.opcode(), self.arity()) {
            (Opcode::Add, 2) => Some(Op::AddPair),
            (Opcode::Subtract, 2) => Some(Op::SubtractPair),
            _ => None,
        }
    }

    /// This operation and then another, which has the result as its operand at `place`, in one loop over a block; the
    /// other's second operand, if it has one, is the third. `None` for all but sums, differences, products and
    /// negatives of them. Made last: it has no derivatives.
    pub(super) fn then(self, other: Op, place: usize) -> Option<Op> {
        if self.arity() != 2 || other.arity() > 2 {
            return None;
        }
        macro_rules! code {
            ($inner:ident) => {
                match (other.opcode(), place) {
                    (Opcode::Add, _) => const { &Then::<$inner, Sum>::CODE },
                    (Opcode::Subtract, 0) => const { &Then::<$inner, Difference>::CODE },
                    (Opcode::Subtract, _) => const { &Then::<$inner, From>::CODE },
                    (Opcode::Multiply, _) => const { &Then::<$inner, Product>::CODE },
                    (Opcode::Negate, _) => const { &Then::<$inner, Negative>::CODE },
                    _ => return None,
                }
            };
        }
        Some(Op(match self.opcode() {
            Opcode::Add => code!(Sum),
            Opcode::Subtract => code!(Difference),
            Opcode::Multiply => code!(Product),
            _ => return None,
        }))
    }

    /// The operations that this one of a row is computed by: one of the operand, and one of the operand and what that
    /// gives. Made after derivatives.
    pub(super) fn parts(self) -> Option<[Op; 2]> {
        self.0.parts
    }

    const Gauss: Op = Op(&Code { arity: 1, single: functions::gauss, double: functions::gauss, ..PART });
    const ErfcOfGauss: Op =
        Op(&Code { arity: 2, single: functions::erfc_of_gauss, double: functions::erfc_of_gauss, ..PART });

    /// The first operand is the order, a constant.
    pub(super) const Polygamma: Op = Op(&Code {
        opcode: Opcode::Polygamma,
        arity: 2,
        single: || polygammas::<f32>,
        double: || polygammas::<f64>,
        number: |[order, x, _]| Scalar(x).polygamma(order as u32).0,
        tangent: |[order, x, _]| x.polygamma(order.value.constant().unwrap_or_default() as u32),
        slopes: |[order, x, _]| x.polygamma(order.value.constant().unwrap_or_default() as u32),
        parts: None,
    });
}

fn polygammas<F: Float>([orders, x, _]: &[&Block<F>; OPERANDS], result: &mut Block<F>, count: usize) {
    for ((result, x), order) in result.iter_mut().zip(*x).zip(*orders).take(count) {
        *result = Scalar(*x).polygamma(order.as_f64() as u32).0;
    }
}
