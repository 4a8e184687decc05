//! The types of elements, by the numbers of the PJRT C API.

use std::fmt;

use oxcall::DType;

/// An element type: a `PJRT_Buffer_Type`. A client may send a number that is not listed here.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ElementType(pub u32);

macro_rules! element_types {
    ($($code:literal $name:ident $dtype:ident;)*) => {
        #[allow(missing_docs, reason = "the names say it")]
        impl ElementType {
            $(pub const $name: ElementType = ElementType($code);)*
        }

        impl ElementType {
            /// The dtype of the XLA FFI; `None` for `INVALID` and unknown numbers.
            pub const fn dtype(self) -> Option<DType> {
                match self.0 {
                    $($code => Some(DType::$dtype),)*
                    _ => None,
                }
            }

            /// The element type of a dtype.
            pub fn of(dtype: DType) -> Option<ElementType> {
                [$((DType::$dtype, $code)),*].into_iter().find(|known| known.0 == dtype).map(|known| ElementType(known.1))
            }
        }
    };
}

element_types! {
    1 PRED Pred;
    2 S8 S8;
    3 S16 S16;
    4 S32 S32;
    5 S64 S64;
    6 U8 U8;
    7 U16 U16;
    8 U32 U32;
    9 U64 U64;
    10 F16 F16;
    11 F32 F32;
    12 F64 F64;
    13 BF16 BF16;
    14 C64 C64;
    15 C128 C128;
    16 F8E5M2 F8E5M2;
    17 F8E4M3FN F8E4M3FN;
    18 F8E4M3B11FNUZ F8E4M3B11FNUZ;
    19 F8E5M2FNUZ F8E5M2FNUZ;
    20 F8E4M3FNUZ F8E4M3FNUZ;
    21 S4 S4;
    22 U4 U4;
    23 TOKEN Token;
    24 S2 S2;
    25 U2 U2;
    26 F8E4M3 F8E4M3;
    27 F8E3M4 F8E3M4;
    28 F8E8M0FNU F8E8M0FNU;
    29 F4E2M1FN F4E2M1FN;
    30 S1 S1;
    31 U1 U1;
}

impl ElementType {
    /// No type.
    pub const INVALID: ElementType = ElementType(0);

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
    fn types_and_dtypes_are_one_to_one() {
        for code in 1..=31 {
            let element = ElementType(code);
            assert_eq!(element.dtype().and_then(ElementType::of), Some(element), "{element}");
        }
        assert_eq!(ElementType(0).dtype(), None);
        assert_eq!(ElementType(99).to_string(), "PJRT_Buffer_Type 99");
        assert_eq!(
            (ElementType::S4.host_size(), ElementType::C128.host_size(), ElementType::TOKEN.host_size()),
            (1, 16, 0)
        );
    }
}
