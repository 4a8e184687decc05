//! Attributes that the IR keeps as they are: of custom calls, composites, functions and their arguments.

use crate::sharding::{Mesh, ShardingRule, TensorSharding};
use crate::{ElementType, Literal, Type};

/// An attribute of a dictionary whose names are not known to StableHLO.
#[derive(Debug, Clone, PartialEq)]
pub enum Attribute {
    /// Present, with no value.
    Unit,
    /// A boolean.
    Bool(bool),
    /// An integer with its type; `index` is `S64`. Unsigned values have the bits of a `u64`.
    Integer(i64, ElementType),
    /// A floating-point number with its type, in the nearest `f64` (exact for all types).
    Float(f64, ElementType),
    /// A string of any bytes.
    String(Vec<u8>),
    /// The name of a function or mesh, without `@`.
    Symbol(String),
    /// A list of attributes.
    Array(Vec<Attribute>),
    /// `array<i32: 1, 2>` or `dense<...>`: a constant tensor.
    Dense(Literal),
    /// Whether the tensor was written as `array<...>` is kept apart, since the XLA FFI passes only those as arrays.
    DenseArray(Literal),
    /// A dictionary, sorted by name.
    Dictionary(Vec<(String, Attribute)>),
    /// A type.
    Type(Type),
    /// A mesh of devices.
    Mesh(Mesh),
    /// How a tensor is split over devices: `sdy.sharding` of parameters and results.
    Sharding(TensorSharding),
    /// The same for each result of an op, or for each operand.
    ShardingPerValue(Vec<TensorSharding>),
    /// How the shardings of operands and results of a custom call belong together.
    ShardingRule(Box<ShardingRule>),
    /// The names of the manual axes of a computation.
    ManualAxes(Vec<String>),
    /// Text of an attribute of another dialect.
    Other(String),
}

impl Attribute {
    /// The attribute named `name`, if this is a dictionary that has it.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        match self {
            Attribute::Dictionary(entries) => entries.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The string, if it is one and valid UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Attribute::String(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// The integer, if it is one.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Attribute::Integer(value, _) => Some(*value),
            _ => None,
        }
    }
}
