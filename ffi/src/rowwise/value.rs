//! Rows and numbers of rows, as row-wise functions see them: values of a program that is being recorded.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::{Add, AddAssign, BitAnd, BitOr, Div, DivAssign, Mul, MulAssign, Neg, Not, Sub, SubAssign};

use super::ops::Op;
use super::program::{Builder, Id, Kind, Program};
use crate::pointwise::{Mask, Real, Ring};

thread_local! {
    /// The program that this thread records.
    static RECORDING: RefCell<Option<Builder>> = const { RefCell::new(None) };
}

/// Works on the program that is being recorded.
pub(super) fn building<R>(f: impl FnOnce(&mut Builder) -> R) -> R {
    RECORDING.with_borrow_mut(|recording| {
        let outside = "rows exist only while a `#[rowwise]` function is called by its operation; to call it in a test, \
                       use `oxcall::testing::call`";
        f(recording.as_mut().expect(outside))
    })
}

/// Records a function of operands of the given kinds.
pub(super) fn record(inputs: &[Kind], function: impl FnOnce(&[Value]) -> Vec<(Value, Kind)>) -> Program {
    /// Puts back what was recorded before, also after a panic.
    struct Before(Option<Builder>);
    impl Drop for Before {
        fn drop(&mut self) {
            RECORDING.set(self.0.take());
        }
    }
    let _before = Before(RECORDING.replace(Some(Builder::default())));
    let operands: Vec<Value> = building(|builder| {
        let ids = inputs.iter().enumerate().map(|(index, kind)| builder.input(index, *kind));
        ids.map(Value::new).collect()
    });
    let results = function(&operands).into_iter().map(|(value, kind)| (value.id, kind)).collect();
    let nodes = building(|builder| std::mem::take(&mut builder.nodes));
    Program { nodes, inputs: inputs.to_vec(), results }
}

/// A value of the program that this thread records; it is of no use to other threads.
#[derive(Debug, Clone, Copy)]
pub struct Value {
    pub(super) id: Id,
    thread: PhantomData<*const ()>,
}

impl Value {
    pub(super) fn new(id: Id) -> Self {
        Value { id, thread: PhantomData }
    }

    pub(super) fn constant(value: f64) -> Self {
        Value::new(building(|builder| builder.constant(value)))
    }

    pub(super) fn op(op: Op, operands: &[Value]) -> Self {
        Value::new(building(|builder| {
            let ids: Vec<Id> = operands.iter().map(|operand| operand.id).collect();
            builder.op(op, &ids)
        }))
    }

    pub(super) fn sum(self) -> Self {
        Value::new(building(|builder| builder.sum(self.id)))
    }

    pub(super) fn max(self) -> Self {
        Value::new(building(|builder| builder.max(self.id)))
    }
}

/// An operand or a result of a row-wise function.
pub trait Operand: Copy {
    /// Its shape.
    const KIND: Kind;

    /// The operand of a value.
    fn of(value: Value) -> Self;
    /// The value.
    fn value(self) -> Value;
}

/// A result with its shape.
pub fn result<T: Operand>(result: T) -> (Value, Kind) {
    (result.value(), T::KIND)
}

/// A row of an operand of a [`#[rowwise]`](macro@crate::rowwise) function, or what is computed from its elements: a
/// number for each of them.
///
/// The operators and functions are those of [`Real`], of each element. They take rows of the same length, numbers
/// [of the row](PerRow), which are the same for all elements, and constants, `f64`.
///
/// ```
/// use oxcall::prelude::*;
///
/// /// Numbers between 0 and 1 whose sum is 1, in the ratios of `exp(x)`.
/// #[rowwise]
/// fn softmax(x: Row) -> Row {
///     let weights = (x - x.max()).exp();
///     weights / weights.sum()
/// }
/// # fn main() {
/// # let out = oxcall::testing::call::<softmax>().arg([0.0f32, 0.0]).run().unwrap();
/// # assert_eq!(out.get::<f32>(0).as_slice().unwrap(), [0.5, 0.5]);
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Row(Value);

/// One number for each row: a [`Row`] reduced, an operand without the last axis, or what is computed from these.
///
/// The operators and functions are those of [`Real`]; together with a [`Row`] they give a row.
#[derive(Debug, Clone, Copy)]
pub struct PerRow(Value);

/// The outcome of a comparison for each element of a row.
#[derive(Debug, Clone, Copy)]
pub struct RowMask(Value);

/// The outcome of a comparison of numbers of rows.
#[derive(Debug, Clone, Copy)]
pub struct PerRowMask(Value);

impl Row {
    /// The number, if it is a constant.
    pub(super) fn constant(self) -> Option<f64> {
        building(|builder| builder.value(self.0.id))
    }

    /// The sum of the elements; 0 if there are none. It is computed in doubles, in an order that depends neither on
    /// threads nor on the processor.
    #[must_use]
    pub fn sum(self) -> PerRow {
        PerRow(self.0.sum())
    }

    /// The largest element; NaN if one is, negative infinity if there are none. Elements that are equally large share
    /// its derivative.
    #[must_use]
    pub fn max(self) -> PerRow {
        PerRow(self.0.max())
    }

    /// The smallest element; NaN if one is, infinity if there are none. Elements that are equally small share its
    /// derivative.
    #[must_use]
    pub fn min(self) -> PerRow {
        -(-self).max()
    }

    /// The mean of the elements; NaN if there are none.
    #[must_use]
    pub fn mean(self) -> PerRow {
        self.sum() / self.count()
    }

    /// The number of elements.
    #[must_use]
    pub fn count(self) -> PerRow {
        PerRow(Value::new(building(Builder::count)))
    }
}

impl From<PerRow> for Row {
    fn from(number: PerRow) -> Self {
        Row(number.0)
    }
}

impl From<PerRowMask> for RowMask {
    fn from(mask: PerRowMask) -> Self {
        RowMask(mask.0)
    }
}

/// An operator between two types.
macro_rules! operator {
    ($($op:ident $opcode:ident $method:ident $assign:ident $assign_method:ident,)*) => {$(
        operator!(@ $op $opcode $method Row Row Row);
        operator!(@ $op $opcode $method PerRow PerRow PerRow);
        operator!(@ $op $opcode $method Row PerRow Row);
        operator!(@ $op $opcode $method PerRow Row Row);
        operator!(@ $op $opcode $method Row f64 Row);
        operator!(@ $op $opcode $method f64 Row Row);
        operator!(@ $op $opcode $method PerRow f64 PerRow);
        operator!(@ $op $opcode $method f64 PerRow PerRow);
        operator!(@assign $assign $assign_method $method Row Row);
        operator!(@assign $assign $assign_method $method Row PerRow);
        operator!(@assign $assign $assign_method $method Row f64);
        operator!(@assign $assign $assign_method $method PerRow PerRow);
        operator!(@assign $assign $assign_method $method PerRow f64);
    )*};
    (@assign $op:ident $assign:ident $method:ident $left:ident $right:ident) => {
        impl $op<$right> for $left {
            fn $assign(&mut self, other: $right) {
                *self = self.$method(other);
            }
        }
    };
    (@ $op:ident $opcode:ident $method:ident $left:ident $right:ident $out:ident) => {
        impl $op<$right> for $left {
            type Output = $out;

            fn $method(self, other: $right) -> $out {
                $out(Value::op(Op::$opcode, &[$out::from(self).0, $out::from(other).0]))
            }
        }
    };
}
operator! {
    Add Add add AddAssign add_assign,
    Sub Subtract sub SubAssign sub_assign,
    Mul Multiply mul MulAssign mul_assign,
    Div Divide div DivAssign div_assign,
}

/// What rows and numbers of rows have in common.
macro_rules! numbers {
    ($($number:ident $mask:ident;)*) => {$(
        impl Operand for $number {
            const KIND: Kind = Kind::$number;

            fn of(value: Value) -> Self {
                $number(value)
            }
            fn value(self) -> Value {
                self.0
            }
        }

        impl $number {
            /// The same number, as a constant in derivatives: `jax.lax.stop_gradient`.
            #[must_use]
            pub fn stop_gradient(self) -> Self {
                $number(Value::new(building(|builder| builder.fixed(self.0.id))))
            }
        }

        impl From<f64> for $number {
            fn from(x: f64) -> Self {
                $number(Value::constant(x))
            }
        }

        impl Ring for $number {
            fn int(value: i32) -> Self {
                Self::from(f64::from(value))
            }
        }

        impl Neg for $number {
            type Output = Self;

            fn neg(self) -> Self {
                $number(Value::op(Op::Negate, &[self.0]))
            }
        }

        impl BitAnd for $mask {
            type Output = Self;

            fn bitand(self, other: Self) -> Self {
                $mask(Value::op(Op::And, &[self.0, other.0]))
            }
        }

        impl BitOr for $mask {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                $mask(Value::op(Op::Or, &[self.0, other.0]))
            }
        }

        impl Not for $mask {
            type Output = Self;

            fn not(self) -> Self {
                $mask(Value::op(Op::Not, &[self.0]))
            }
        }

        impl Mask for $mask {
            fn select<T: Real<Mask = Self>>(self, yes: T, no: T) -> T {
                T::choose(self, yes, no)
            }
        }

        impl Real for $number {
            type Mask = $mask;

            fn less(self, other: impl Into<Self>) -> $mask {
                $mask(Value::op(Op::Less, &[self.0, other.into().0]))
            }
            fn less_equal(self, other: impl Into<Self>) -> $mask {
                $mask(Value::op(Op::LessEqual, &[self.0, other.into().0]))
            }
            fn equal(self, other: impl Into<Self>) -> $mask {
                $mask(Value::op(Op::Equal, &[self.0, other.into().0]))
            }
            fn choose(mask: $mask, yes: Self, no: Self) -> Self {
                $number(Value::op(Op::Select, &[mask.0, yes.0, no.0]))
            }
            fn mul_add(self, b: impl Into<Self>, c: impl Into<Self>) -> Self {
                $number(Value::op(Op::MulAdd, &[self.0, b.into().0, c.into().0]))
            }
            fn powf(self, exponent: f64) -> Self {
                self.pow(exponent)
            }
            fn polygamma(self, order: u32) -> Self {
                $number(Value::op(Op::Polygamma, &[Value::constant(f64::from(order)), self.0]))
            }
            functions! {
                $number;
                abs Abs, signum Sign, floor Floor, ceil Ceil, round Round, sqrt Sqrt, exp Exp, exp_m1 ExpM1, ln Ln,
                ln_1p Ln1p, logistic Logistic, tanh Tanh, erf Erf, erfc Erfc, sin Sin, cos Cos, tan Tan,
                lgamma Lgamma, digamma Digamma;
                maximum Maximum, minimum Minimum, log_add_exp LogAddExp, atan2 Atan2, pow Power
            }
        }
    )*};
}

/// Functions of one number, and of two.
macro_rules! functions {
    ($number:ident; $($one:ident $one_op:ident),*; $($two:ident $two_op:ident),*) => {
        $(fn $one(self) -> Self {
            $number(Value::op(Op::$one_op, &[self.0]))
        })*
        $(fn $two(self, other: impl Into<Self>) -> Self {
            $number(Value::op(Op::$two_op, &[self.0, other.into().0]))
        })*
    };
}

numbers! {
    Row RowMask;
    PerRow PerRowMask;
}
