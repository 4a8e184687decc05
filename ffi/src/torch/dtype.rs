//! The codes of dtypes in torch and in XLA.

use crate::{DType, Error};

/// One more than the largest code of torch that is looked at.
const CODES: usize = 64;

/// Dtypes that both sides have, with torch's getters of their codes.
const COMMON: &[(DType, &str)] = &[
    (DType::Pred, "aoti_torch_dtype_bool"),
    (DType::S8, "aoti_torch_dtype_int8"),
    (DType::S16, "aoti_torch_dtype_int16"),
    (DType::S32, "aoti_torch_dtype_int32"),
    (DType::S64, "aoti_torch_dtype_int64"),
    (DType::U8, "aoti_torch_dtype_uint8"),
    (DType::U16, "aoti_torch_dtype_uint16"),
    (DType::U32, "aoti_torch_dtype_uint32"),
    (DType::U64, "aoti_torch_dtype_uint64"),
    (DType::F16, "aoti_torch_dtype_float16"),
    (DType::F32, "aoti_torch_dtype_float32"),
    (DType::F64, "aoti_torch_dtype_float64"),
    (DType::BF16, "aoti_torch_dtype_bfloat16"),
    (DType::C64, "aoti_torch_dtype_complex64"),
    (DType::C128, "aoti_torch_dtype_complex128"),
    (DType::F8E5M2, "aoti_torch_dtype_float8_e5m2"),
    (DType::F8E4M3FN, "aoti_torch_dtype_float8_e4m3fn"),
    (DType::F8E5M2FNUZ, "aoti_torch_dtype_float8_e5m2fnuz"),
    (DType::F8E4M3FNUZ, "aoti_torch_dtype_float8_e4m3fnuz"),
    (DType::F8E8M0FNU, "torch_dtype_float8_e8m0fnu"),
];

/// Whether torch has tensors of this dtype, in some version.
pub(crate) fn exists(dtype: DType) -> bool {
    COMMON.iter().any(|(common, _)| *common == dtype)
}

/// The codes of one torch.
#[derive(Clone, Copy)]
pub(crate) struct DTypes {
    /// By torch's code; `None` for those that XLA does not have.
    from_torch: [Option<DType>; CODES],
}

impl DTypes {
    /// Asks torch; a getter that is missing belongs to a later version.
    pub(crate) fn new(getter: &dyn Fn(&str) -> Option<i32>) -> DTypes {
        let mut from_torch = [None; CODES];
        for (dtype, name) in COMMON {
            let code = getter(name).and_then(|code| usize::try_from(code).ok()).filter(|code| *code < CODES);
            if let Some(code) = code {
                from_torch[code] = Some(*dtype);
            }
        }
        DTypes { from_torch }
    }

    /// The dtype of a code of torch.
    #[inline]
    pub(crate) fn known(&self, code: i32) -> Option<DType> {
        *self.from_torch.get(usize::try_from(code).ok()?)?
    }

    /// The code of a dtype, if this torch has it.
    pub(crate) fn code(&self, dtype: DType) -> Option<i32> {
        self.from_torch.iter().position(|other| *other == Some(dtype)).map(|code| code as i32)
    }
}

/// A dtype that operations do not know.
#[cold]
pub(crate) fn unknown(code: i32) -> Error {
    Error::invalid_argument(format!("its dtype (number {code} of torch's) is none that operations can have"))
}
