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

/// A message with the dtypes named as in torch: `f32` is `torch.float32`. Names in backticks and quotes, and parts of
/// paths, are others than those of dtypes.
#[cold]
pub(crate) fn with_names_of_torch(message: &str) -> String {
    let mut text = String::with_capacity(message.len());
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut quote = None;
    let mut rest = message;
    while let Some(first) = rest.chars().next() {
        let len = if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (piece, after) = rest.split_at(len);
        let in_path = text.ends_with(['.', '/', ':']) || after.starts_with("::") || after.starts_with('/');
        match (quote, DType::from_name(piece).and_then(torch::name)) {
            (None, Some(name)) if !in_path => {
                text.push_str("torch.");
                text.push_str(name);
            }
            _ => text.push_str(piece),
        }
        quote = match quote {
            None => Some(first).filter(|first| ['`', '"'].contains(first)),
            open => open.filter(|open| *open != first),
        };
        rest = after;
    }
    text
}

/// The error for a dtype that operations do not support.
#[cold]
pub(crate) fn unknown(code: i32) -> Error {
    Error::invalid_argument(format!("its dtype (number {code} in torch) is not supported"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_messages() {
        for (message, expected) in [
            (
                "argument `x`: expected dtype one of f16, bf16, f32, got s32",
                "argument `x`: expected dtype one of \
              torch.float16, torch.bfloat16, torch.float32, got torch.int32",
            ),
            ("(T is f64 in this call)", "(T is torch.float64 in this call)"),
            ("element 3 is the byte 2; a pred is 0 or 1", "element 3 is the byte 2; a torch.bool is 0 or 1"),
            ("an array of 3 c64, f8e4m3fn.", "an array of 3 torch.complex64, torch.float8_e4m3fn."),
            ("pred", "torch.bool"),
        ] {
            assert_eq!(with_names_of_torch(message), expected);
        }
        // What torch does not have, other words, and names of other things.
        for message in [
            "",
            "s4, token, f31, F32, xf32, f32_x, é32",
            "`f32` and \"s8\"",
            "core::f32::NAN",
            "src/f32/a.rs",
            "x.s8",
            "`f32",
        ] {
            assert_eq!(with_names_of_torch(message), message);
        }
    }
}
