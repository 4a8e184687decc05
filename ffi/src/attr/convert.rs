//! Conversions between the scalar types of attributes.
//!
//! Float to narrower float rounds to nearest, and is an error if a finite value becomes infinite; integer to integer
//! is range-checked; integer to float must be exact; float to integer never happens.

use std::fmt;
use std::marker::PhantomData;

use half::{bf16, f16};
use num_complex::Complex;

use super::{Attr, AttrError, AttrScalar, FromAttr};
use crate::descriptor::AttrType;
use crate::frame::cold;
use crate::{Element, names};

/// The value of a scalar attribute, in the widest type of its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wide {
    Bool(bool),
    Int(i128),
    Float(f64),
    Complex(Complex<f64>),
}

fn widen(scalar: &AttrScalar<'_>) -> Option<Wide> {
    macro_rules! read {
        ($($ty:ty => |$v:ident| $wide:expr),* $(,)?) => {
            $(if let Some($v) = scalar.exact::<$ty>() { return Some($wide); })*
        };
    }
    read! {
        bool => |v| Wide::Bool(v),
        i8 => |v| Wide::Int(v.into()), i16 => |v| Wide::Int(v.into()),
        i32 => |v| Wide::Int(v.into()), i64 => |v| Wide::Int(v.into()),
        u8 => |v| Wide::Int(v.into()), u16 => |v| Wide::Int(v.into()),
        u32 => |v| Wide::Int(v.into()), u64 => |v| Wide::Int(v.into()),
        f16 => |v| Wide::Float(v.into()), bf16 => |v| Wide::Float(v.into()),
        f32 => |v| Wide::Float(v.into()), f64 => |v| Wide::Float(v),
        Complex<f32> => |v| Wide::Complex(Complex::new(v.re.into(), v.im.into())),
        Complex<f64> => |v| Wide::Complex(v),
    }
    None
}

/// A description of a scalar for messages.
impl fmt::Display for AttrScalar<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = names::describe_dtype(self.dtype_code());
        match widen(self) {
            Some(Wide::Bool(v)) => write!(f, "{v} ({name})"),
            Some(Wide::Int(v)) => write!(f, "{v} ({name})"),
            Some(Wide::Float(v)) => write!(f, "{v:?} ({name})"),
            Some(Wide::Complex(v)) => write!(f, "{v} ({name})"),
            None => write!(f, "a scalar of {name}"),
        }
    }
}

impl fmt::Debug for AttrScalar<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A scalar that converts from other scalars.
pub(super) trait Convert: Element {
    /// The value, or a hint on the failed conversion.
    fn convert(scalar: &AttrScalar<'_>) -> Result<Self, &'static str>;
}

impl Convert for bool {
    fn convert(scalar: &AttrScalar<'_>) -> Result<bool, &'static str> {
        match widen(scalar) {
            Some(Wide::Bool(v)) => Ok(v),
            // JAX cannot send arrays of bool, so they come as integers.
            Some(Wide::Int(v @ (0 | 1))) => Ok(v == 1),
            Some(Wide::Int(_)) => Err("give True or False"),
            _ => Err(""),
        }
    }
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl Convert for $ty {
            fn convert(scalar: &AttrScalar<'_>) -> Result<$ty, &'static str> {
                match widen(scalar) {
                    Some(Wide::Int(v)) => v.try_into().map_err(|_| "it is out of range"),
                    Some(Wide::Float(_)) => Err("floats are not converted to integers; give an int"),
                    Some(Wide::Bool(_)) => Err("give an int"),
                    _ => Err(""),
                }
            }
        }
    )*};
}
integers!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! floats {
    ($($ty:ty),*) => {$(
        impl Convert for $ty {
            fn convert(scalar: &AttrScalar<'_>) -> Result<$ty, &'static str> {
                use crate::element::Float;
                match widen(scalar) {
                    Some(Wide::Float(v)) => {
                        let rounded = <$ty as Float>::from_f64(v);
                        if v.is_finite() && !Float::as_f64(rounded).is_finite() {
                            Err("it is too large for this type")
                        } else {
                            Ok(rounded)
                        }
                    }
                    Some(Wide::Int(v)) => {
                        let converted = <$ty as Float>::from_f64(v as f64);
                        // `as i128` saturates, so an integer that no float holds compares unequal.
                        if v as f64 as i128 == v && Float::as_f64(converted) as i128 == v {
                            Ok(converted)
                        } else {
                            Err("this integer is not exact in this type; give a float")
                        }
                    }
                    Some(Wide::Bool(_)) => Err("give a float"),
                    _ => Err(""),
                }
            }
        }
    )*};
}
floats!(f16, bf16, f32, f64);

macro_rules! complexes {
    ($($part:ty),*) => {$(
        impl Convert for Complex<$part> {
            fn convert(scalar: &AttrScalar<'_>) -> Result<Self, &'static str> {
                match widen(scalar) {
                    Some(Wide::Complex(v)) => {
                        let rounded = Complex::new(v.re as $part, v.im as $part);
                        if v.is_finite() && !rounded.is_finite() {
                            Err("it is too large for this type")
                        } else {
                            Ok(rounded)
                        }
                    }
                    _ => <$part>::convert(scalar).map(|re| Complex::new(re, 0.0)),
                }
            }
        }
    )*};
}
complexes!(f32, f64);

/// Converts a scalar that is not exactly a `T`.
#[cold]
pub(super) fn convert_scalar<T: Convert>(scalar: AttrScalar<'_>) -> Result<T, AttrError> {
    T::convert(&scalar).map_err(|hint| {
        let separator = if hint.is_empty() { "" } else { ": " };
        AttrError::expected(T::DTYPE, format_args!("{scalar}{separator}{hint}"))
    })
}

macro_rules! scalars {
    ($($ty:ty),*) => {$(
        impl<'f> FromAttr<'f> for $ty {
            const TYPE: AttrType = AttrType::Scalar(<$ty as Element>::DTYPE);

            #[inline(always)]
            fn from_attr(attr: Attr<'f>) -> Result<Self, AttrError> {
                if let Some(scalar) = attr.scalar() {
                    return match scalar.exact::<$ty>() {
                        Some(value) => Ok(value),
                        None => {
                            cold();
                            convert_scalar(scalar)
                        }
                    };
                }
                cold();
                Err(not_scalar::<$ty>(attr))
            }
        }
    )*};
}
scalars!(bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64);

#[cold]
fn not_scalar<T: Element>(attr: Attr<'_>) -> AttrError {
    AttrError::expected(T::DTYPE, attr)
}

macro_rules! complex_attrs {
    ($($part:ty),*) => {$(
        impl<'f> FromAttr<'f> for Complex<$part> {
            const TYPE: AttrType = AttrType::Scalar(<Complex<$part> as Element>::DTYPE);

            fn from_attr(attr: Attr<'f>) -> Result<Self, AttrError> {
                if let Some(scalar) = attr.scalar() {
                    return scalar.exact::<Self>().map_or_else(|| convert_scalar(scalar), Ok);
                }
                // JAX cannot send complex numbers, so they come as `[re, im]`.
                match <[$part; 2]>::from_attr(attr) {
                    Ok([re, im]) => Ok(Complex::new(re, im)),
                    Err(_) => Err(AttrError::expected(
                        format_args!("{}, or an array [re, im]", <Self as Element>::DTYPE), attr)),
                }
            }
        }
    )*};
}
complex_attrs!(f32, f64);

macro_rules! sizes {
    ($($ty:ty as $wire:ty),*) => {$(
        impl<'f> FromAttr<'f> for $ty {
            const TYPE: AttrType = <$wire as FromAttr<'f>>::TYPE;

            #[inline(always)]
            fn from_attr(attr: Attr<'f>) -> Result<Self, AttrError> {
                let value = <$wire>::from_attr(attr)?;
                <$ty>::try_from(value).map_err(|_| AttrError::expected("an integer that is not negative", value))
            }
        }
    )*};
}
sizes!(usize as i64, isize as i64);

/// A number as the caller gave it: an integer or a float. In torch it makes two overloads of the operator, one for
/// each.
///
/// ```
/// use oxcall::prelude::*;
///
/// #[custom_call]
/// fn add_number(#[attr] number: IntOrFloat, #[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
///     for (y, x) in y.iter_mut().zip(x.iter()) {
///         *y = x + number.as_f64() as f32;
///     }
/// }
/// # let out = oxcall::testing::call::<add_number>().arg([1f32]).attr("number", 2i64).run().unwrap();
/// # assert_eq!(out.get::<f32>(0)[0], 3.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IntOrFloat {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
}

impl IntOrFloat {
    /// The number as a float, which is rounded if it is a large integer.
    pub fn as_f64(self) -> f64 {
        match self {
            IntOrFloat::Int(value) => value as f64,
            IntOrFloat::Float(value) => value,
        }
    }
}

impl<'f> FromAttr<'f> for IntOrFloat {
    const TYPE: AttrType = AttrType::Number;

    fn from_attr(attr: Attr<'f>) -> Result<Self, AttrError> {
        match attr.scalar().as_ref().and_then(widen) {
            Some(Wide::Int(_)) => i64::from_attr(attr).map(IntOrFloat::Int),
            Some(Wide::Float(value)) => Ok(IntOrFloat::Float(value)),
            _ => Err(AttrError::expected("an integer or a float", attr)),
        }
    }
}

/// An address that the caller passes as an attribute: an `s64` or `u64`.
///
/// What it points to, and for how long, is between the caller and the handler; following it is unsafe.
#[derive(Debug)]
pub struct Pointer<T> {
    address: usize,
    _type: PhantomData<fn() -> T>,
}

impl<T> Clone for Pointer<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Pointer<T> {}

impl<T> Pointer<T> {
    /// The pointer.
    pub fn as_ptr(&self) -> *mut T {
        std::ptr::with_exposed_provenance_mut(self.address)
    }

    /// The address.
    pub fn addr(&self) -> usize {
        self.address
    }
}

impl<'f, T> FromAttr<'f> for Pointer<T> {
    const TYPE: AttrType = AttrType::Pointer;

    fn from_attr(attr: Attr<'f>) -> Result<Self, AttrError> {
        let address = match attr.scalar() {
            Some(scalar) => scalar.exact::<i64>().map(|v| v as usize).or(scalar.exact::<u64>().map(|v| v as usize)),
            None => None,
        };
        match address {
            Some(address) => Ok(Pointer { address, _type: PhantomData }),
            None => Err(AttrError::expected("an address as s64", attr)),
        }
    }
}
