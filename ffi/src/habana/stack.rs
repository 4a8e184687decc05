//! The arguments of a call, as a descriptor's functions see them.

use std::fmt;

use crate::shape::Shape;
use crate::{DType, Error, Result};

/// The arguments of a call, in the order of the schema.
///
/// Every accessor fails with `INVALID_ARGUMENT` where there is no such argument or it is of another type; the message
/// names the argument as the schema does.
#[derive(Clone, Debug)]
pub struct Stack<'a> {
    pub(super) names: &'a [String],
    pub(super) values: Vec<Value>,
}

/// One argument.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    None,
    Tensor(Shape),
    Tensors(Vec<Shape>),
    Int(i64),
    Float(f64),
    Bool(bool),
    Str(String),
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Bools(Vec<bool>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Value::None => "None",
            Value::Tensor(_) => "a tensor",
            Value::Tensors(_) => "a list of tensors",
            Value::Int(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Bool(_) => "a bool",
            Value::Str(_) => "a string",
            Value::Ints(_) => "a list of integers",
            Value::Floats(_) => "a list of floats",
            Value::Bools(_) => "a list of bools",
        })
    }
}

/// Accessors of one type of argument each.
macro_rules! accessors {
    ($($(#[$doc:meta])* $name:ident -> $ty:ty, $expected:literal, $pattern:pat => $value:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// If there is no such argument, or it is of another type.
        pub fn $name(&self, index: usize) -> Result<$ty> {
            match self.value(index)? {
                $pattern => Ok($value),
                other => Err(self.mismatch(index, $expected, other)),
            }
        }
    )*};
}

impl Stack<'_> {
    accessors! {
        /// Dtype and shape of a tensor.
        tensor -> &Shape, "a tensor", Value::Tensor(shape) => shape;
        /// Dtypes and shapes of a list of tensors.
        tensors -> &[Shape], "a list of tensors", Value::Tensors(shapes) => shapes;
        /// An integer.
        int -> i64, "an integer", Value::Int(value) => *value;
        /// A bool.
        bool -> bool, "a bool", Value::Bool(value) => *value;
        /// A string.
        str -> &str, "a string", Value::Str(value) => value;
        /// A list of integers.
        ints -> &[i64], "a list of integers", Value::Ints(values) => values;
        /// A list of floats.
        floats -> &[f64], "a list of floats", Value::Floats(values) => values;
        /// A list of bools.
        bools -> &[bool], "a list of bools", Value::Bools(values) => values;
    }

    /// A float; an integer becomes one.
    ///
    /// # Errors
    /// If there is no such argument, or it is of another type.
    pub fn float(&self, index: usize) -> Result<f64> {
        match self.value(index)? {
            Value::Float(value) => Ok(*value),
            Value::Int(value) => Ok(*value as f64),
            other => Err(self.mismatch(index, "a float", other)),
        }
    }

    /// Whether an optional argument is absent.
    ///
    /// # Errors
    /// If there is no such argument.
    pub fn is_none(&self, index: usize) -> Result<bool> {
        self.value(index).map(|value| *value == Value::None)
    }

    /// The number of arguments.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether the operator has no arguments.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    fn value(&self, index: usize) -> Result<&Value> {
        let count = self.values.len();
        self.values.get(index).ok_or_else(|| {
            Error::invalid_argument(format!("there is no argument {index} on the stack, which has {count}"))
        })
    }

    fn mismatch(&self, index: usize, expected: &str, value: &Value) -> Error {
        let name = self.names.get(index).map_or("", String::as_str);
        Error::invalid_argument(format!("argument `{name}` ({index} on the stack) is {value}, not {expected}"))
    }

    /// A number that the kernel's dtype does not take.
    pub(super) fn unfit(&self, index: usize, dtype: DType) -> Error {
        let name = self.names.get(index).map_or("", String::as_str);
        Error::invalid_argument(format!("argument `{name}` does not fit dtype {dtype}, in which the kernel takes it"))
    }
}
