//! The data types of the XLA FFI, by their ABI codes.

use std::fmt;

use xla_ffi_sys::xla_ffi as sys;

macro_rules! dtypes {
    ($($variant:ident = $code:ident, $name:literal, $bits:literal, $doc:literal;)*) => {
        /// The element type of a buffer, or the type of an attribute's value.
        ///
        /// Names (in messages, in the manifest, and from [`DType::name`]) are XLA's lower-case primitive type names:
        /// `f32`, `s32`, `pred`, `bf16`, `f8e4m3fn`, ...
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum DType {
            $(#[doc = $doc] $variant = sys::$code as u8,)*
        }

        impl DType {
            /// Every data type, in the order of the ABI header.
            pub const ALL: &'static [DType] = &[$(DType::$variant),*];

            /// The data type of an ABI code; `None` for `INVALID` and for codes this version does not know.
            #[inline]
            pub const fn from_code(code: sys::XLA_FFI_DataType) -> Option<DType> {
                match code {
                    $(sys::$code => Some(DType::$variant),)*
                    _ => None,
                }
            }

            /// The data type of XLA's lower-case name.
            pub fn from_name(name: &str) -> Option<DType> {
                match name {
                    $($name => Some(DType::$variant),)*
                    _ => None,
                }
            }

            /// XLA's lower-case name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(DType::$variant => $name,)*
                }
            }

            /// Bits of one element: below 8 for the packed types, 0 for a token.
            #[inline]
            pub const fn bits(self) -> usize {
                match self {
                    $(DType::$variant => $bits,)*
                }
            }
        }
    };
}

dtypes! {
    Pred = XLA_FFI_DataType_PRED, "pred", 8, "Boolean, one byte, 0 or 1.";
    S1 = XLA_FFI_DataType_S1, "s1", 1, "Signed 1-bit integer, packed eight to a byte.";
    S2 = XLA_FFI_DataType_S2, "s2", 2, "Signed 2-bit integer, packed four to a byte.";
    S4 = XLA_FFI_DataType_S4, "s4", 4, "Signed 4-bit integer, packed two to a byte.";
    S8 = XLA_FFI_DataType_S8, "s8", 8, "Signed 8-bit integer.";
    S16 = XLA_FFI_DataType_S16, "s16", 16, "Signed 16-bit integer.";
    S32 = XLA_FFI_DataType_S32, "s32", 32, "Signed 32-bit integer.";
    S64 = XLA_FFI_DataType_S64, "s64", 64, "Signed 64-bit integer.";
    U1 = XLA_FFI_DataType_U1, "u1", 1, "Unsigned 1-bit integer, packed eight to a byte.";
    U2 = XLA_FFI_DataType_U2, "u2", 2, "Unsigned 2-bit integer, packed four to a byte.";
    U4 = XLA_FFI_DataType_U4, "u4", 4, "Unsigned 4-bit integer, packed two to a byte.";
    U8 = XLA_FFI_DataType_U8, "u8", 8, "Unsigned 8-bit integer.";
    U16 = XLA_FFI_DataType_U16, "u16", 16, "Unsigned 16-bit integer.";
    U32 = XLA_FFI_DataType_U32, "u32", 32, "Unsigned 32-bit integer.";
    U64 = XLA_FFI_DataType_U64, "u64", 64, "Unsigned 64-bit integer.";
    F16 = XLA_FFI_DataType_F16, "f16", 16, "IEEE 754 binary16.";
    F32 = XLA_FFI_DataType_F32, "f32", 32, "IEEE 754 binary32.";
    F64 = XLA_FFI_DataType_F64, "f64", 64, "IEEE 754 binary64.";
    BF16 = XLA_FFI_DataType_BF16, "bf16", 16, "bfloat16: the upper half of a binary32.";
    C64 = XLA_FFI_DataType_C64, "c64", 64, "Complex number of two `f32`.";
    C128 = XLA_FFI_DataType_C128, "c128", 128, "Complex number of two `f64`.";
    Token = XLA_FFI_DataType_TOKEN, "token", 0, "A token: orders side effects, holds no data.";
    F8E5M2 = XLA_FFI_DataType_F8E5M2, "f8e5m2", 8, "8-bit float, 5 exponent bits, IEEE-like.";
    F8E3M4 = XLA_FFI_DataType_F8E3M4, "f8e3m4", 8, "8-bit float, 3 exponent bits, IEEE-like.";
    F8E4M3 = XLA_FFI_DataType_F8E4M3, "f8e4m3", 8, "8-bit float, 4 exponent bits, IEEE-like.";
    F8E4M3FN = XLA_FFI_DataType_F8E4M3FN, "f8e4m3fn", 8, "8-bit float, 4 exponent bits, no infinities.";
    F8E4M3B11FNUZ = XLA_FFI_DataType_F8E4M3B11FNUZ, "f8e4m3b11fnuz", 8,
        "8-bit float, 4 exponent bits, bias 11, no infinities, no negative zero.";
    F8E5M2FNUZ = XLA_FFI_DataType_F8E5M2FNUZ, "f8e5m2fnuz", 8,
        "8-bit float, 5 exponent bits, no infinities, no negative zero.";
    F8E4M3FNUZ = XLA_FFI_DataType_F8E4M3FNUZ, "f8e4m3fnuz", 8,
        "8-bit float, 4 exponent bits, no infinities, no negative zero.";
    F4E2M1FN = XLA_FFI_DataType_F4E2M1FN, "f4e2m1fn", 4,
        "4-bit float, 2 exponent bits, finite only, packed two to a byte.";
    F8E8M0FNU = XLA_FFI_DataType_F8E8M0FNU, "f8e8m0fnu", 8, "8-bit exponent only: a power of two, or NaN.";
}

impl DType {
    /// The ABI code.
    #[inline]
    pub const fn code(self) -> sys::XLA_FFI_DataType {
        self as sys::XLA_FFI_DataType
    }

    /// Whether elements are floating-point or complex numbers, which have derivatives.
    #[inline]
    pub const fn is_inexact(self) -> bool {
        use DType::*;
        !matches!(self, Pred | S1 | S2 | S4 | S8 | S16 | S32 | S64 | U1 | U2 | U4 | U8 | U16 | U32 | U64 | Token)
    }

    /// Whether several elements share a byte.
    #[inline]
    pub const fn is_packed(self) -> bool {
        matches!(self.bits(), 1 | 2 | 4)
    }

    /// Bytes that `count` elements take, packed types rounded up to whole bytes; `None` on overflow.
    ///
    /// ```
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

    /// The name of an ABI code for messages: the data type's name, or the number.
    pub(crate) fn describe_code(code: sys::XLA_FFI_DataType) -> String {
        match DType::from_code(code) {
            Some(dtype) => dtype.name().to_owned(),
            None => format!("data type code {code}, which this version does not know"),
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
