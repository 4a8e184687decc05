//! Named values: options, attributes and properties.

/// A value with a name: `PJRT_NamedValue`.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text.
    String(String),
    /// A 64-bit integer.
    Int64(i64),
    /// A list of 64-bit integers.
    Int64List(Vec<i64>),
    /// A 32-bit float.
    Float(f32),
    /// True or false.
    Bool(bool),
}

/// Named values in the order in which they are given.
pub type Attributes = Vec<(String, Value)>;

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::String(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Int64(number)
    }
}

impl From<Vec<i64>> for Value {
    fn from(numbers: Vec<i64>) -> Value {
        Value::Int64List(numbers)
    }
}

impl From<f32> for Value {
    fn from(number: f32) -> Value {
        Value::Float(number)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Value {
        Value::Bool(flag)
    }
}
