//! Lists of `PJRT_NamedValue`.

use std::ptr::null_mut;

use xla_ffi_sys::pjrt::{
    PJRT_NamedValue, PJRT_NamedValue__bindgen_ty_1, PJRT_NamedValue_Type, PJRT_NamedValue_kBool,
    PJRT_NamedValue_kFloat, PJRT_NamedValue_kInt64, PJRT_NamedValue_kInt64List, PJRT_NamedValue_kString,
};

use super::limits;
use super::raw::{array, text};
use crate::{Attributes, Error, Result, Value};

/// Named values that a caller may read for as long as they live.
pub(super) struct NamedValues {
    raw: Vec<PJRT_NamedValue>,
    /// The values behind `raw`.
    _values: Attributes,
}

// SAFETY: nothing changes after construction.
unsafe impl Send for NamedValues {}
// SAFETY: as above.
unsafe impl Sync for NamedValues {}

impl NamedValues {
    pub(super) fn new(values: Attributes) -> NamedValues {
        NamedValues { raw: values.iter().map(|(name, value)| raw(name, value)).collect(), _values: values }
    }

    pub(super) fn as_ptr(&self) -> *const PJRT_NamedValue {
        self.raw.as_ptr()
    }

    pub(super) fn len(&self) -> usize {
        self.raw.len()
    }
}

fn raw(name: &str, value: &Value) -> PJRT_NamedValue {
    type Union = PJRT_NamedValue__bindgen_ty_1;
    let (type_, union, value_size): (PJRT_NamedValue_Type, Union, usize) = match value {
        Value::String(text) => (PJRT_NamedValue_kString, Union { string_value: text.as_ptr().cast() }, text.len()),
        Value::Int64(number) => (PJRT_NamedValue_kInt64, Union { int64_value: *number }, 1),
        Value::Int64List(list) => (PJRT_NamedValue_kInt64List, Union { int64_array_value: list.as_ptr() }, list.len()),
        Value::Float(number) => (PJRT_NamedValue_kFloat, Union { float_value: *number }, 1),
        Value::Bool(flag) => (PJRT_NamedValue_kBool, Union { bool_value: *flag }, 1),
    };
    PJRT_NamedValue {
        struct_size: xla_ffi_sys::pjrt::PJRT_NamedValue_STRUCT_SIZE as usize,
        extension_start: null_mut(),
        name: name.as_ptr().cast(),
        name_size: name.len(),
        type_,
        __bindgen_anon_1: union,
        value_size,
    }
}

/// The named values that a caller gives.
///
/// # Safety
/// The array has `len` values, if that is within the limit, whose types say which field of the union is there.
pub(super) unsafe fn read(data: *const PJRT_NamedValue, len: usize) -> Result<Attributes> {
    // SAFETY: by the contract above.
    unsafe {
        let read = |value: &PJRT_NamedValue| {
            let name = text("the name of an option", value.name, value.name_size, limits::NAME)?;
            let union = &value.__bindgen_anon_1;
            let read = match value.type_ {
                PJRT_NamedValue_kString => text(name, union.string_value, value.value_size, limits::VALUE)?.into(),
                PJRT_NamedValue_kInt64 => union.int64_value.into(),
                PJRT_NamedValue_kInt64List => {
                    array(name, union.int64_array_value, value.value_size, limits::VALUE)?.to_vec().into()
                }
                PJRT_NamedValue_kFloat => union.float_value.into(),
                PJRT_NamedValue_kBool => union.bool_value.into(),
                other => {
                    return Err(Error::invalid_argument(format!(
                        "option `{name}`: unknown PJRT_NamedValue_Type {other}"
                    )));
                }
            };
            Ok((name.to_owned(), read))
        };
        array("the list of options", data, len, limits::OPTIONS)?.iter().map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_reads_back() {
        let values: Attributes = vec![
            ("text".into(), "ü\0".into()),
            ("number".into(), (-5).into()),
            ("list".into(), vec![1, -2].into()),
            ("none".into(), vec![].into()),
            ("float".into(), 1.5.into()),
            ("flag".into(), true.into()),
        ];
        let mut c = NamedValues::new(values.clone());
        // SAFETY: the array is what it says.
        assert_eq!(unsafe { read(c.as_ptr(), c.len()) }.unwrap(), values);
        c.raw[1].type_ = 99;
        // SAFETY: as above; nothing is read of a type that is not known.
        let error = unsafe { read(c.as_ptr(), c.len()) }.unwrap_err();
        assert!(error.message().contains("number"), "{error}");
    }
}
