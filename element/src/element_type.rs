//! The element types of programs.

use std::fmt;

use crate::ElementType;
use crate::table::Kind;

impl ElementType {
    /// The width of one element in bits: 4 for `S4`, 64 for `C64`, 1 for `Pred`.
    #[inline]
    pub const fn bits(self) -> usize {
        match self.kind() {
            Kind::Bool => 1,
            _ => self.stored_bits(),
        }
    }

    /// The bytes that one element takes in a program's constants and in the engine's buffers: what is narrower than a
    /// byte takes a whole one.
    #[inline]
    pub const fn byte_width(self) -> usize {
        self.stored_bits().div_ceil(8)
    }

    /// Whether it is a signed or unsigned integer (not `Pred`).
    #[inline]
    pub const fn is_integer(self) -> bool {
        self.is_signed() || self.is_unsigned()
    }

    /// Whether it is a signed integer.
    #[inline]
    pub const fn is_signed(self) -> bool {
        matches!(self.kind(), Kind::Signed)
    }

    /// Whether it is an unsigned integer.
    #[inline]
    pub const fn is_unsigned(self) -> bool {
        matches!(self.kind(), Kind::Unsigned)
    }

    /// Whether it is a real floating-point type of any width.
    #[inline]
    pub const fn is_float(self) -> bool {
        matches!(self.kind(), Kind::Float)
    }

    /// Whether it is complex.
    #[inline]
    pub const fn is_complex(self) -> bool {
        matches!(self.kind(), Kind::Complex)
    }

    /// The type of the real and imaginary parts of a complex type; itself otherwise.
    pub const fn real(self) -> ElementType {
        match self {
            Self::C64 => Self::F32,
            Self::C128 => Self::F64,
            other => other,
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;

    #[test]
    fn names_round_trip() {
        for &element in ElementType::ALL {
            assert_eq!(ElementType::from_name(element.name()), Some(element));
        }
        assert_eq!(ElementType::from_name("i1"), Some(ElementType::Pred));
        assert_eq!(ElementType::from_name("index"), None);
        assert_eq!(ElementType::ALL.len(), 30);
    }

    #[test]
    fn programs_and_custom_calls_share_all_types_but_five() {
        let only_in_programs = ElementType::ALL.iter().copied().filter(|element| element.dtype().is_none());
        assert_eq!(only_in_programs.collect::<Vec<_>>(), [ElementType::F6E2M3FN, ElementType::F6E3M2FN]);
        let only_in_calls = DType::ALL.iter().copied().filter(|&dtype| ElementType::from_dtype(dtype).is_none());
        assert_eq!(only_in_calls.collect::<Vec<_>>(), [DType::S1, DType::U1, DType::Token]);
        for &element in ElementType::ALL {
            let Some(dtype) = element.dtype() else { continue };
            assert_eq!(ElementType::from_dtype(dtype), Some(element));
            assert_eq!(dtype.bits().div_ceil(8), element.byte_width(), "{element}");
            assert_eq!(dtype.is_inexact(), element.is_float() || element.is_complex(), "{element}");
        }
    }
}
