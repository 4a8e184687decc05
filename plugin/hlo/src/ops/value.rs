//! Values of attributes of ops, which the parser makes and the printer writes.

use crate::Attribute;

/// The value of an attribute of an op. Those that StableHLO defines have cases of their own.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value<'a> {
    /// Any other.
    Attribute(Attribute),
    /// `array<i64: 1, 2>`.
    Ints(Vec<i64>),
    /// `dense<[[1, 2]]> : tensor<1x2xi64>`.
    Pairs(Vec<[i64; 2]>),
    /// `dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>`: shorter rows are filled up.
    Rows(Vec<Vec<i64>>),
    /// `array<i1: true>`.
    Bools(Vec<bool>),
    /// `#stablehlo<precision HIGH>`.
    Enum(&'static str, &'a str),
    /// `[#stablehlo<precision HIGH>]`.
    Enums(&'static str, Vec<&'a str>),
    /// `#stablehlo.dot<lhs_contracting_dimensions = [1]>`.
    Struct(&'static str, Fields<'a>),
    /// `[#stablehlo.output_operand_alias<...>]`.
    Structs(&'static str, Vec<Fields<'a>>),
}

impl Value<'_> {
    /// The attribute, if it is not one that StableHLO defines.
    pub(crate) fn into_attribute(self) -> Option<Attribute> {
        match self {
            Value::Attribute(attribute) => Some(attribute),
            _ => None,
        }
    }
}

/// The parameters of a [`Value::Struct`].
pub(crate) type Fields<'a> = Vec<(&'a str, Field<'a>)>;

/// A parameter of a [`Value::Struct`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Field<'a> {
    /// `1`.
    Int(i64),
    /// `[1, 2]`.
    Ints(Vec<i64>),
    /// `true`, `bf16`, ...
    Word(&'a str),
}
