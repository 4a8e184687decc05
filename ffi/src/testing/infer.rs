//! The shapes of results that a test does not give.

use serde_json::{Map, Number, Value as Json};

use super::Value;
use crate::descriptor::Handler;
use crate::host::AttrValue;
use crate::shape::{self, Shape};
use crate::{DType, Result};

/// Dtype and shape of each result.
pub(super) type Results = Vec<(DType, Vec<i64>)>;

/// The known facts when results are inferred.
pub(super) struct Known<'a> {
    pub(super) handler: &'static Handler,
    pub(super) args: &'a [Value],
    pub(super) attrs: &'a [(String, AttrValue)],
    /// Type parameters that no argument binds.
    pub(super) dtypes: &'a [(String, DType)],
    /// Needed where results are optional or variadic.
    pub(super) num_results: Option<usize>,
}

/// The results of a call, by the operation's own rule.
pub(super) fn infer(known: &Known<'_>) -> Result<Results> {
    let args: Vec<Shape> = known.args.iter().map(|arg| Shape::new(arg.dtype(), arg.dims())).collect();
    let dtypes: Vec<_> = known.dtypes.iter().map(|(name, dtype)| (name.as_str(), *dtype)).collect();
    let shapes = shape::infer(known.handler, &args, &object(known.attrs), &dtypes, known.num_results)?;
    Ok(shapes.into_iter().map(|shape| (shape.dtype, shape.dims)).collect())
}

/// A dictionary as the JSON object that shape inference takes.
fn object(entries: &[(String, AttrValue)]) -> Map<String, Json> {
    entries.iter().map(|(name, value)| (name.clone(), json(value))).collect()
}

fn json(value: &AttrValue) -> Json {
    match value {
        AttrValue::Scalar(dtype, bytes) => element(*dtype, bytes),
        AttrValue::Array(dtype, count, bytes) => {
            // Attributes of packed dtypes do not occur on the wire, and have no JSON form.
            let size = dtype.size_in_bytes(1).unwrap_or(0);
            (0..*count)
                .map(|i| bytes.get(i * size..(i + 1) * size).map_or(Json::Null, |b| element(*dtype, b)))
                .collect()
        }
        AttrValue::String(text) => text.as_str().into(),
        AttrValue::Dict(entries) => Json::Object(object(entries)),
    }
}

/// One element; null where JSON has no form for it (NaN, infinities, 8-bit floats).
fn element(dtype: DType, bytes: &[u8]) -> Json {
    /// The bytes as an array, for `from_ne_bytes`; the caller knows the size.
    fn raw<const N: usize>(bytes: &[u8]) -> [u8; N] {
        bytes.try_into().expect("bytes of one element")
    }
    let float = |value: f64| Number::from_f64(value).map_or(Json::Null, Json::Number);
    match dtype {
        DType::Pred => (bytes != [0]).into(),
        DType::S8 => i8::from_ne_bytes(raw(bytes)).into(),
        DType::S16 => i16::from_ne_bytes(raw(bytes)).into(),
        DType::S32 => i32::from_ne_bytes(raw(bytes)).into(),
        DType::S64 => i64::from_ne_bytes(raw(bytes)).into(),
        DType::U8 => u8::from_ne_bytes(raw(bytes)).into(),
        DType::U16 => u16::from_ne_bytes(raw(bytes)).into(),
        DType::U32 => u32::from_ne_bytes(raw(bytes)).into(),
        DType::U64 => u64::from_ne_bytes(raw(bytes)).into(),
        DType::F16 => float(half::f16::from_ne_bytes(raw(bytes)).to_f64()),
        DType::BF16 => float(half::bf16::from_ne_bytes(raw(bytes)).to_f64()),
        DType::F32 => float(f64::from(f32::from_ne_bytes(raw(bytes)))),
        DType::F64 => float(f64::from_ne_bytes(raw(bytes))),
        DType::C64 => bytes.chunks(4).map(|part| element(DType::F32, part)).collect(),
        DType::C128 => bytes.chunks(8).map(|part| element(DType::F64, part)).collect(),
        _ => Json::Null,
    }
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;
    use serde_json::json;

    use super::*;

    #[test]
    fn attributes_have_a_json_form() {
        let attrs: [(&str, AttrValue); 8] = [
            ("flag", true.into()),
            ("k", (-3i16).into()),
            ("big", u64::MAX.into()),
            ("half", half::bf16::from_f32(1.5).into()),
            ("inf", f32::INFINITY.into()),
            ("z", Complex::new(1f64, -2.0).into()),
            ("w", [1i64, 2].into()),
            ("d", [("s", "x".into())].into()),
        ];
        let attrs: Vec<_> = attrs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let expected = json!({
            "flag": true, "k": -3, "big": u64::MAX, "half": 1.5, "inf": null, "z": [1.0, -2.0],
            "w": [1, 2], "d": {"s": "x"}
        });
        assert_eq!(Json::Object(object(&attrs)), expected);
    }
}
