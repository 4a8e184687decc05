//! Dtypes: the data types of the XLA FFI.

use std::fmt;

use crate::DType;
use crate::table::Kind;

impl DType {
    /// The ABI code.
    #[inline]
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// Whether elements are floating-point or complex numbers, which have derivatives.
    #[inline]
    pub const fn is_inexact(self) -> bool {
        matches!(self.kind(), Kind::Float | Kind::Complex)
    }

    /// Whether several elements share a byte.
    #[inline]
    pub const fn is_packed(self) -> bool {
        matches!(self.bits(), 1 | 2 | 4)
    }

    /// Bytes that `count` elements take, packed types rounded up to whole bytes; `None` on overflow.
    ///
    /// ```
    /// # use oxcall_element as oxcall;
    /// use oxcall::DType;
    /// assert_eq!(DType::S4.size_in_bytes(3), Some(2));
    /// assert_eq!(DType::F64.size_in_bytes(3), Some(24));
    /// ```
    #[inline]
    pub const fn size_in_bytes(self, count: usize) -> Option<usize> {
        match self.bits() {
            0 => Some(0),
            bits @ 1..8 => Some(count.div_ceil(8 / bits)),
            bits => count.checked_mul(bits / 8),
        }
    }
}

impl fmt::Debug for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_round_trip() {
        for &dtype in DType::ALL {
            assert_eq!(DType::from_code(dtype.code()), Some(dtype));
            assert_eq!(DType::from_name(dtype.name()), Some(dtype));
        }
        assert_eq!(DType::from_code(0), None);
        assert_eq!(DType::from_code(14), None);
        assert_eq!(DType::from_code(u32::MAX), None);
        assert_eq!(DType::ALL.len(), 31);
    }

    #[test]
    fn packed_sizes_round_up() {
        assert_eq!(DType::S1.size_in_bytes(9), Some(2));
        assert_eq!(DType::U2.size_in_bytes(5), Some(2));
        assert_eq!(DType::F4E2M1FN.size_in_bytes(0), Some(0));
        assert_eq!(DType::Token.size_in_bytes(7), Some(0));
        assert_eq!(DType::F64.size_in_bytes(usize::MAX / 4), None);
    }
}
