//! Conversion of programs' attributes to attributes of call frames.

use oxcall::Error;
use oxcall::element::Element;
use oxcall::half::{bf16, f16};
use oxcall::host::AttrValue;
use oxcall_hlo::{Attribute, ElementType, Literal};

/// The attributes of a typed call: the entries of a dictionary.
///
/// # Errors
/// INVALID_ARGUMENT for an attribute that call frames cannot carry, with its name.
pub(super) fn convert(attributes: &Attribute) -> Result<Vec<(String, AttrValue)>, Error> {
    match attributes {
        Attribute::Dictionary(entries) => dictionary(entries, ""),
        Attribute::String(text) if text.trim_ascii().is_empty() => Ok(Vec::new()),
        Attribute::Unit => Ok(Vec::new()),
        _ => Err(Error::invalid_argument(
            "Unsupported backend config: a typed FFI custom call takes its attributes from a dictionary; for an opaque \
             string, call a function of the legacy API by api_version 3",
        )),
    }
}

fn dictionary(entries: &[(String, Attribute)], outer: &str) -> Result<Vec<(String, AttrValue)>, Error> {
    let convert = |(name, attribute): &(String, Attribute)| {
        let path = if outer.is_empty() { name.clone() } else { format!("{outer}.{name}") };
        Ok((name.clone(), value(attribute, &path)?))
    };
    entries.iter().map(convert).collect()
}

fn value(attribute: &Attribute, name: &str) -> Result<AttrValue, Error> {
    let unsupported = |what: &str| {
        Error::invalid_argument(format!(
            "Unsupported attribute type for attribute: {name}: {what} cannot be passed to a typed FFI handler; it takes \
             numbers, strings, arrays of numbers, and dictionaries of these"
        ))
    };
    match attribute {
        Attribute::Bool(flag) => Ok((*flag).into()),
        Attribute::Integer(bits, element) => integer(*bits, *element).ok_or_else(|| unsupported(element.name())),
        Attribute::Float(number, element) => float(*number, *element).ok_or_else(|| unsupported(element.name())),
        Attribute::String(bytes) => match String::from_utf8(bytes.clone()) {
            Ok(text) => Ok(text.into()),
            Err(_) => Err(unsupported("a string that is not UTF-8")),
        },
        Attribute::DenseArray(literal) | Attribute::Dense(literal) => {
            array(literal).ok_or_else(|| unsupported(&format!("an array of {}", literal.ty().element)))
        }
        Attribute::Dictionary(entries) => Ok(dictionary(entries, name)?.into()),
        Attribute::Array(values) if values.is_empty() => Ok(Vec::<i64>::new().into()),
        Attribute::Array(_) => Err(unsupported("a list")),
        Attribute::Unit => Err(unsupported("an attribute without value")),
        Attribute::Symbol(_) => Err(unsupported("a symbol")),
        Attribute::Type(_) => Err(unsupported("a type")),
        Attribute::Mesh(_)
        | Attribute::Sharding(_)
        | Attribute::ShardingPerValue(_)
        | Attribute::ShardingRule(_)
        | Attribute::ManualAxes(_) => Err(unsupported("a sharding")),
        Attribute::Other(text) => Err(unsupported(text)),
    }
}

fn integer(bits: i64, element: ElementType) -> Option<AttrValue> {
    Some(match element {
        ElementType::Pred => (bits != 0).into(),
        ElementType::S8 => (bits as i8).into(),
        ElementType::S16 => (bits as i16).into(),
        ElementType::S32 => (bits as i32).into(),
        ElementType::S64 => bits.into(),
        ElementType::U8 => (bits as u8).into(),
        ElementType::U16 => (bits as u16).into(),
        ElementType::U32 => (bits as u32).into(),
        ElementType::U64 => (bits as u64).into(),
        _ => return None,
    })
}

fn float(number: f64, element: ElementType) -> Option<AttrValue> {
    Some(match element {
        ElementType::F16 => f16::from_f64(number).into(),
        ElementType::BF16 => bf16::from_f64(number).into(),
        ElementType::F32 => (number as f32).into(),
        ElementType::F64 => number.into(),
        _ => return None,
    })
}

/// The elements of a tensor, in row-major order.
fn array(literal: &Literal) -> Option<AttrValue> {
    fn elements<T: Element + Copy>(bytes: &[u8], read: impl Fn(&[u8]) -> T) -> AttrValue {
        bytes.chunks_exact(size_of::<T>()).map(read).collect::<Vec<T>>().into()
    }
    macro_rules! numbers {
        ($ty:ty, $bytes:expr) => {
            elements::<$ty>($bytes, |bytes| <$ty>::from_le_bytes(bytes.try_into().expect("as many bytes as it has")))
        };
    }
    let bytes = literal.to_bytes();
    Some(match literal.ty().element {
        ElementType::Pred => elements::<bool>(&bytes, |bytes| bytes[0] != 0),
        ElementType::S8 => numbers!(i8, &bytes),
        ElementType::S16 => numbers!(i16, &bytes),
        ElementType::S32 => numbers!(i32, &bytes),
        ElementType::S64 => numbers!(i64, &bytes),
        ElementType::U8 => numbers!(u8, &bytes),
        ElementType::U16 => numbers!(u16, &bytes),
        ElementType::U32 => numbers!(u32, &bytes),
        ElementType::U64 => numbers!(u64, &bytes),
        ElementType::F16 => numbers!(f16, &bytes),
        ElementType::BF16 => numbers!(bf16, &bytes),
        ElementType::F32 => numbers!(f32, &bytes),
        ElementType::F64 => numbers!(f64, &bytes),
        _ => return None,
    })
}
