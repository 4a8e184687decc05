//! A shape function's view of a call.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::Shape;
use super::operands::assign;
use crate::descriptor::{Arity, AttrParam, AttrType, Handler, Param, Presence};
use crate::{DType, Error, Result};

/// The arguments and attributes of a call whose result shapes are to be inferred: what the function of
/// `#[custom_call(shape = ...)]` is given.
///
/// ```
/// use oxcall::{prelude::*, shape::ShapeContext};
///
/// /// Each element `times` times.
/// #[custom_call(shape = repeated)]
/// fn repeat(#[attr(default = 2)] times: usize, x: &[f32], mut y: Out<f32>) {
///     for (y, x) in y.chunks_mut(times.max(1)).zip(x) {
///         y.fill(*x);
///     }
/// }
///
/// fn repeated(call: &ShapeContext<'_>) -> Result<Vec<Vec<i64>>> {
///     let n: i64 = call.arg("x")?.dims.iter().product();
///     Ok(vec![vec![n * call.attr::<i64>("times")?]])
/// }
/// # let out = oxcall::testing::call::<repeat>().arg([1f32, 3.0]).run().unwrap();
/// # assert_eq!(out.get::<f32>(0).as_slice().unwrap(), [1.0, 1.0, 3.0, 3.0]);
/// ```
#[derive(Debug)]
pub struct ShapeContext<'a> {
    handler: &'a Handler,
    args: &'a [Shape],
    /// The given attributes, and the absent ones whose default is a literal.
    attrs: Cow<'a, Map<String, Value>>,
    num_results: Option<usize>,
}

impl<'a> ShapeContext<'a> {
    /// The context of a call with `attrs`, in which null stands for an absent attribute.
    pub(super) fn new(
        handler: &'a Handler,
        args: &'a [Shape],
        attrs: &'a Map<String, Value>,
        num_results: Option<usize>,
    ) -> ShapeContext<'a> {
        let mut attrs = Cow::Borrowed(attrs);
        for param in handler.attrs {
            if let Presence::Default(source) = param.presence
                && attrs.get(param.name).is_none_or(Value::is_null)
                && let Some(value) = literal(source)
            {
                attrs.to_mut().insert(param.name.to_owned(), value);
            }
        }
        ShapeContext { handler, args, attrs, num_results }
    }

    /// All arguments, in order; those of optional and variadic parameters included.
    pub fn args(&self) -> &'a [Shape] {
        self.args
    }

    /// The number of results that the caller wants, if it says so.
    pub fn num_results(&self) -> Option<usize> {
        self.num_results
    }

    /// The argument of the parameter `name`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if there is no such parameter, if it is absent, or if it is variadic and has not exactly one
    /// member.
    pub fn arg(&self, name: &str) -> Result<&'a Shape> {
        match self.param(name)?.1 {
            [shape] => Ok(shape),
            [] => Err(Error::invalid_argument(format!("argument `{name}` is absent"))),
            more => Err(Error::invalid_argument(format!("argument `{name}` has {} members, not one", more.len()))),
        }
    }

    /// The argument of the optional parameter `name`; `None` if it is absent.
    ///
    /// # Errors
    /// As for [`arg`](ShapeContext::arg), but for absence.
    pub fn optional(&self, name: &str) -> Result<Option<&'a Shape>> {
        if self.param(name)?.1.is_empty() { Ok(None) } else { self.arg(name).map(Some) }
    }

    /// The arguments of the variadic parameter `name`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if there is no such parameter or it is not variadic.
    pub fn variadic(&self, name: &str) -> Result<&'a [Shape]> {
        match self.param(name)? {
            (Param { arity: Arity::Variadic, .. }, shapes) => Ok(shapes),
            _ => Err(Error::invalid_argument(format!("parameter `{name}` is not variadic"))),
        }
    }

    fn param(&self, name: &str) -> Result<(&'static Param, &'a [Shape])> {
        assign(self.handler.params, self.args.len(), 0)
            .find(|assigned| assigned.param.name == name)
            .and_then(|assigned| Some((assigned.param, self.args.get(assigned.args)?)))
            .ok_or_else(|| Error::invalid_argument(format!("there is no argument `{name}`")))
    }

    /// The value of the attribute `name`, or its default.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if the attribute is absent and `T` is not an `Option`; if its value is not a `T`; and if the
    /// default, which applies, is not a literal of Rust.
    pub fn attr<'s, T: FromAttr<'s>>(&'s self, name: &str) -> Result<T> {
        if let Some(value) = self.attrs.get(name).filter(|value| !value.is_null()) {
            return T::from_attr(value).ok_or_else(|| {
                Error::invalid_argument(format!("attribute `{name}` must be {}, but is {value}", T::EXPECTED))
            });
        }
        let declared = self.handler.attrs.iter().find(|param| param.name == name);
        Err(Error::invalid_argument(match (declared, T::absent()) {
            (Some(AttrParam { presence: Presence::Default(source), .. }), _) => {
                format!("attribute `{name}` has the default `{source}`, which is not a literal; give it explicitly")
            }
            (_, Some(absent)) => return Ok(absent),
            (Some(_), None) => format!("attribute `{name}` is missing; give it explicitly"),
            (None, None) => format!("there is no attribute `{name}`"),
        }))
    }

    /// The integer attributes, which patterns may use.
    pub(super) fn integers(&self) -> Result<Vec<(&'static str, i64)>> {
        let mut integers = Vec::new();
        for param in self.handler.attrs {
            let value = self.attrs.get(param.name).filter(|value| !value.is_null());
            match (param.ty, value) {
                (AttrType::Scalar(dtype), Some(value)) if is_integer(dtype) => {
                    // What exceeds i64 is no size: as in a call, it becomes one that no memory has.
                    let large = value.as_u64().filter(|value| i64::try_from(*value).is_err()).map(|_| i64::MAX);
                    integers.push((param.name, large.map_or_else(|| self.attr(param.name), Ok)?));
                }
                (AttrType::Var(_), Some(value)) => integers.extend(value.as_i64().map(|value| (param.name, value))),
                _ => {}
            }
        }
        Ok(integers)
    }
}

/// Whether a scalar of this dtype is an integer.
fn is_integer(dtype: DType) -> bool {
    use DType::*;
    matches!(dtype, S1 | S2 | S4 | S8 | S16 | S32 | S64 | U1 | U2 | U4 | U8 | U16 | U32 | U64)
}

/// A type that attributes convert to in a shape function: integers, `f64`, `bool`, `&str`, `Vec` and `Option` of them,
/// and [`Value`] itself by reference.
pub trait FromAttr<'a>: Sized {
    /// The expected value, with an article: `an integer`.
    const EXPECTED: &'static str;

    /// The value of an attribute that is present; `None` if it is of another type or out of range.
    fn from_attr(value: &'a Value) -> Option<Self>;

    /// The value of an attribute that is absent, if there is one.
    fn absent() -> Option<Self> {
        None
    }
}

macro_rules! from_attr {
    ($($ty:ty, $expected:literal, |$value:ident| $convert:expr;)*) => {$(
        impl<'a> FromAttr<'a> for $ty {
            const EXPECTED: &'static str = $expected;

            fn from_attr($value: &'a Value) -> Option<Self> {
                $convert
            }
        }
    )*};
}

from_attr! {
    i64, "an integer", |value| value.as_i64();
    i32, "a 32-bit integer", |value| value.as_i64()?.try_into().ok();
    u32, "a non-negative 32-bit integer", |value| value.as_u64()?.try_into().ok();
    u64, "a non-negative integer", |value| value.as_u64();
    usize, "a non-negative integer", |value| value.as_u64()?.try_into().ok();
    f64, "a number", |value| value.as_f64();
    bool, "true or false", |value| value.as_bool();
    &'a str, "a string", |value| value.as_str();
    &'a Value, "any value", |value| Some(value);
}

impl<'a, T: FromAttr<'a>> FromAttr<'a> for Vec<T> {
    const EXPECTED: &'static str = "an array";

    fn from_attr(value: &'a Value) -> Option<Self> {
        value.as_array()?.iter().map(T::from_attr).collect()
    }
}

impl<'a, T: FromAttr<'a>> FromAttr<'a> for Option<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn from_attr(value: &'a Value) -> Option<Self> {
        T::from_attr(value).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

/// The value of a boolean, string, or decimal literal of Rust; `None` for other expressions.
pub(crate) fn literal(source: &str) -> Option<Value> {
    const SUFFIXES: [&str; 12] = ["i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize", "f32", "f64"];

    if let Ok(value) = source.parse::<bool>() {
        return Some(value.into());
    }
    if let Some(text) = source.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        return if text.contains(['\\', '"']) { None } else { Some(text.into()) };
    }
    // Tokens turned to text may have a space behind the sign.
    let number: String = source.chars().filter(|&c| c != ' ' && c != '_').collect();
    let digits = SUFFIXES.iter().find_map(|suffix| number.strip_suffix(suffix)).unwrap_or(&number);
    // `inf` and `nan`, which parse as floats, are names in Rust.
    if !digits.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let integer = digits.parse::<i64>().map(Value::from).or_else(|_| digits.parse::<u64>().map(Value::from));
    integer.ok().or_else(|| digits.parse::<f64>().ok().map(Value::from))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn literals_of_rust_are_read() {
        let cases = [
            ("3", json!(3)),
            ("- 3i32", json!(-3)),
            ("1_000usize", json!(1000)),
            ("18446744073709551615", json!(u64::MAX)),
            ("1e-5", json!(1e-5)),
            ("2.5f32", json!(2.5)),
            ("true", json!(true)),
            ("\"fast\"", json!("fast")),
        ];
        for (source, value) in cases {
            assert_eq!(literal(source), Some(value), "{source}");
        }
        for source in ["Mode::Fast", "f32::EPSILON", "1 + 2", "\"a\\n\"", "\"a\" \"b\"", "0x10", "inf", "", "-", "f32"]
        {
            assert_eq!(literal(source), None, "{source}");
        }
    }
}
