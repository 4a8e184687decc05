//! The types of elements, by the numbers of the PJRT C API.

use std::fmt;

use oxcall_element::{DType, pjrt};

/// An element type: a `PJRT_Buffer_Type`. A client may send a number that no dtype has.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ElementType(pub u32);

impl ElementType {
    /// No type.
    pub const INVALID: ElementType = ElementType(0);

    /// The element type of a dtype.
    pub const fn new(dtype: DType) -> ElementType {
        ElementType(pjrt::code(dtype))
    }

    /// The dtype of the XLA FFI; `None` for `INVALID` and unknown numbers.
    pub const fn dtype(self) -> Option<DType> {
        pjrt::dtype(self.0)
    }

    /// Bytes of one element in host memory: elements smaller than a byte take a whole one, a token none.
    pub const fn host_size(self) -> usize {
        match self.dtype() {
            Some(dtype) => dtype.bits().div_ceil(8),
            None => 0,
        }
    }
}

impl fmt::Debug for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dtype() {
            Some(dtype) => f.write_str(dtype.name()),
            None => write!(f, "PJRT_Buffer_Type {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_numbers_are_kept() {
        assert_eq!((ElementType::INVALID.dtype(), ElementType(99).dtype()), (None, None));
        assert_eq!(ElementType(99).to_string(), "PJRT_Buffer_Type 99");
        assert_eq!(ElementType::new(DType::F8E4M3FN).to_string(), "f8e4m3fn");
    }

    #[test]
    fn elements_take_whole_bytes_in_host_memory() {
        let size = |dtype| ElementType::new(dtype).host_size();
        assert_eq!((size(DType::S4), size(DType::C128), size(DType::Token)), (1, 16, 0));
    }
}
