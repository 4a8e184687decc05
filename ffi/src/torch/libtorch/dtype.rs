//! The codes of dtypes in torch and in XLA.

use oxcall_element::torch;

use crate::{DType, Error};

/// One more than the largest torch code that is considered.
const CODES: usize = 64;

/// The codes of one torch version.
#[derive(Clone, Copy)]
pub(crate) struct DTypes {
    /// By torch's code; `None` for those that XLA does not have.
    from_torch: [Option<DType>; CODES],
}

impl DTypes {
    /// Asks torch; a missing getter belongs to a later version.
    pub(crate) fn new(getter: &dyn Fn(&str) -> Option<i32>) -> DTypes {
        let mut from_torch = [None; CODES];
        for &dtype in DType::ALL {
            let code = torch::getter(dtype).and_then(getter).and_then(|code| usize::try_from(code).ok());
            if let Some(code) = code.filter(|code| *code < CODES) {
                from_torch[code] = Some(dtype);
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

/// The error for a dtype that operations do not support.
#[cold]
pub(crate) fn unknown(code: i32) -> Error {
    Error::invalid_argument(format!("its dtype (number {code} in torch) is not supported"))
}
