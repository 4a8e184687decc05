//! Attributes: values that are constant in a program, read from the call frame.

mod convert;
mod device;
mod dict;
mod error;
mod fields;
mod list;
mod raw;
mod values;

pub use convert::{IntOrFloat, Pointer};
pub use device::Device;
pub use dict::Dict;
pub use error::AttrError;
pub(crate) use fields::sort;
pub use fields::{StructFields, enum_attr, struct_fields};
pub(crate) use list::AttrList;
pub use list::{AttrStorage, Attributes};
pub use raw::{Attr, AttrArray, AttrScalar, AttrValue};

use crate::descriptor::AttrType;

/// A type that an attribute can have.
///
/// | Rust type | what it takes |
/// |---|---|
/// | `bool` | a `pred` |
/// | integers | any integer in range |
/// | `f16`, `bf16`, `f32`, `f64` | a float, rounded to nearest (a finite value must stay finite); an integer that is exact |
/// | `Complex<f32>`, `Complex<f64>` | a complex number, a real one, or an array `[re, im]` |
/// | `&str`, `String` | a string |
/// | `&[T]` | an array of exactly `T` |
/// | `Vec<T>`, `[T; N]` | an array, each element converted; a scalar is not an array |
/// | [`Dict`] | a dictionary |
/// | [`IntOrFloat`] | an integer or a float, as it was given |
/// | [`Device`] | a string such as `cpu` or `cuda:1` |
/// | [`Pointer<T>`] | an address as an `s64` or `u64` |
/// | [`AttrValue`] | anything |
/// | `Option<A>` | as a parameter: the attribute may be absent |
/// | `#[derive(AttrEnum)]` | a variant's name, or its number |
/// | `#[derive(AttrStruct)]` | a dictionary with the struct's fields |
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an attribute of a custom call",
    label = "not an attribute type",
    note = "attribute types are bool, integers, floats, complex numbers, &str, String, &[T], Vec<T>, [T; N], Dict, Device, Pointer<T>, Option<..> of them, and types with #[derive(AttrEnum)] or #[derive(AttrStruct)]"
)]
pub trait FromAttr<'f>: Sized {
    /// The type as the manifest shows it.
    const TYPE: AttrType;

    /// Converts the attribute.
    ///
    /// # Errors
    /// The expected and the actual value; the caller adds the operation's and the attribute's name.
    fn from_attr(attr: Attr<'f>) -> Result<Self, AttrError>;
}
