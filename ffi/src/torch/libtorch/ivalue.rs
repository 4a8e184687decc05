//! Values of a kernel's stack, as Rust values that own their contents.

use std::ptr;

use super::device::Device;
use super::dtype;
use super::handles::{List, Str, optional};
use super::shim::Shim;
use super::tensor::Tensor;
use crate::host::AttrValue;
use crate::torch::schema::{Base, Type};
use crate::{DType, Error, Result};

/// The handle in a value of the stack.
#[inline]
pub(crate) fn handle<T>(value: u64) -> *mut T {
    ptr::with_exposed_provenance_mut(value as usize)
}

/// A value that was taken from the stack.
pub(crate) enum IValue {
    /// An optional value that is absent.
    None,
    Tensor(Tensor),
    Tensors(Vec<Tensor>),
    /// A number, with its dtype as an attribute.
    Scalar(DType, u64),
    Scalars(DType, Vec<u64>),
    Str(Str),
    DType(DType),
    Device(Device),
}

impl IValue {
    /// # Errors
    /// If torch cannot read one of its own values, or operations do not support a dtype.
    ///
    /// # Safety
    /// `value` is the value that a kernel gets for an argument of this type, taken for the first time.
    pub(crate) unsafe fn take(shim: &'static Shim, ty: Type, value: u64) -> Result<IValue> {
        // SAFETY: as the caller guarantees.
        unsafe {
            let value = if ty.optional {
                match optional(shim, value) {
                    Some(value) => value,
                    None => return Ok(IValue::None),
                }
            } else {
                value
            };
            if ty.list {
                return IValue::list(shim, ty.base, &List::own(shim, value));
            }
            Ok(match ty.base {
                Base::Tensor => IValue::Tensor(Tensor::own(shim, handle(value))),
                Base::Str => IValue::Str(Str::own(shim, value)),
                Base::ScalarType => {
                    let code = value as i32;
                    IValue::DType(shim.dtypes.known(code).ok_or_else(|| dtype::unknown(code))?)
                }
                Base::Device => IValue::Device(Device::from_value(value)),
                Base::Int | Base::SymInt | Base::Float | Base::Bool | Base::Scalar => {
                    IValue::Scalar(ty.base.dtype().unwrap_or(DType::S64), value)
                }
            })
        }
    }

    /// # Safety
    /// The list has elements of this type, none of which has been taken.
    unsafe fn list(shim: &'static Shim, base: Base, list: &List) -> Result<IValue> {
        let len = list.len()?;
        if base == Base::Tensor {
            // The tensors taken so far are freed if a later one cannot be taken.
            let mut tensors = Vec::with_capacity(len);
            for i in 0..len {
                // SAFETY: each handle is taken once.
                tensors.push(unsafe { Tensor::own(shim, handle(list.take(i)?)) });
            }
            return Ok(IValue::Tensors(tensors));
        }
        let Some(dtype) = base.dtype() else { return Err(Error::internal("a list of an unknown type")) };
        let mut bits = Vec::with_capacity(len);
        for i in 0..len {
            bits.push(list.take(i)?);
        }
        Ok(IValue::Scalars(dtype, bits))
    }

    /// The value of the attribute `name`.
    pub(crate) fn attribute(self, name: &str) -> Result<Attribute> {
        let value = match self {
            IValue::Scalar(dtype, bits) => return Ok(Attribute::Scalar(dtype, bits)),
            IValue::Scalars(DType::F64, bits) => bits.into_iter().map(f64::from_bits).collect::<Vec<_>>().into(),
            IValue::Scalars(DType::Pred, bits) => bits.into_iter().map(boolean).collect::<Vec<_>>().into(),
            IValue::Scalars(_, bits) => bits.into_iter().map(u64::cast_signed).collect::<Vec<_>>().into(),
            IValue::Str(text) => {
                let text = std::str::from_utf8(text.bytes()?).map_err(|_| {
                    Error::invalid_argument(format!("attribute `{name}` is a string that is not UTF-8"))
                })?;
                AttrValue::from(text)
            }
            IValue::Device(device) => AttrValue::from(device.to_string()),
            IValue::None | IValue::Tensor(_) | IValue::Tensors(_) | IValue::DType(_) => {
                return Err(Error::internal(format!("attribute `{name}` has an unsupported value type")));
            }
        };
        Ok(Attribute::Other(value))
    }
}

/// The value of an attribute.
pub(crate) enum Attribute {
    /// A scalar: its dtype and bits.
    Scalar(DType, u64),
    Other(AttrValue),
}

impl Attribute {
    /// The value for the field of a struct.
    pub(crate) fn into_value(self) -> AttrValue {
        match self {
            Attribute::Scalar(DType::F64, bits) => f64::from_bits(bits).into(),
            Attribute::Scalar(DType::Pred, bits) => boolean(bits).into(),
            Attribute::Scalar(_, bits) => bits.cast_signed().into(),
            Attribute::Other(value) => value,
        }
    }
}

/// A boolean is in the lowest byte.
fn boolean(bits: u64) -> bool {
    bits & 0xff != 0
}
