//! Elements as unsigned integers in the same order.

use crate::element::{bf16, f16};

/// An unsigned integer to sort: a key, or a key above a position.
pub(super) trait Bits: bytemuck::Pod + Ord + Default + Send + Sync {
    /// The integer with a position below it.
    type WithPosition: Bits;
    /// The bits that a key has.
    const BITS: u32;
    /// Joins both.
    fn with_position(self, position: u32) -> Self::WithPosition;
    /// The key of both.
    fn above_position(item: Self::WithPosition) -> Self;
    /// The low 32 bits.
    fn low(self) -> u32;
    /// Some bits from `shift` on.
    fn digit(self, shift: u32, mask: usize) -> usize;
    /// All bits inverted: the reverse order.
    fn inverted(self) -> Self;
}

macro_rules! bits {
    ($($ty:ty, $bits:literal => $wide:ty;)*) => {$(
        impl Bits for $ty {
            type WithPosition = $wide;
            const BITS: u32 = $bits;
            #[inline(always)]
            fn with_position(self, position: u32) -> $wide {
                (self as $wide) << 32 | position as $wide
            }
            #[inline(always)]
            fn above_position(item: $wide) -> $ty {
                (item >> 32) as $ty
            }
            #[inline(always)]
            fn low(self) -> u32 {
                self as u32
            }
            #[inline(always)]
            fn digit(self, shift: u32, mask: usize) -> usize {
                (self >> shift) as usize & mask
            }
            #[inline(always)]
            fn inverted(self) -> $ty {
                !self
            }
        }
    )*};
}

bits! {
    u32, 32 => u64;
    u64, 64 => u128;
    // A key of 64 bits above a position.
    u128, 96 => u128;
}

/// An element from which keys are made.
pub(super) trait Sortable: bytemuck::Pod + Send + Sync {
    /// The type of its key.
    type Key: Bits;
    /// Whether different elements can be equal in the canonical order.
    const IS_FLOAT: bool;
    /// The key in the order of numbers; floats: in total order.
    fn key(self) -> Self::Key;
    /// The element of a key.
    fn from_key(key: Self::Key) -> Self;
    /// The representative of all elements that are equal in the order in which zeros are equal and NaNs come last.
    fn canonical(self) -> Self;
}

macro_rules! integers {
    ($($ty:ty as $key:ty, $flip:expr;)*) => {$(
        impl Sortable for $ty {
            type Key = $key;
            const IS_FLOAT: bool = false;
            #[inline(always)]
            fn key(self) -> $key {
                self as $key ^ $flip
            }
            #[inline(always)]
            fn from_key(key: $key) -> $ty {
                (key ^ $flip) as $ty
            }
            #[inline(always)]
            fn canonical(self) -> $ty {
                self
            }
        }
    )*};
}

integers! {
    u8 as u32, 0;
    u16 as u32, 0;
    u32 as u32, 0;
    u64 as u64, 0;
    i8 as u32, 1 << 31;
    i16 as u32, 1 << 31;
    i32 as u32, 1 << 31;
    i64 as u64, 1 << 63;
}

macro_rules! floats {
    ($($ty:ty, $key:ty, $signed:ty, $nan:expr, $zero:expr;)*) => {$(
        impl Sortable for $ty {
            type Key = $key;
            const IS_FLOAT: bool = true;
            #[inline(always)]
            fn key(self) -> $key {
                // For negative numbers all bits are flipped, for others the sign.
                let bits = self.to_bits() as $signed;
                let sign = bits >> (size_of::<$ty>() * 8 - 1);
                (bits as $key) ^ (sign as $key | 1 << (size_of::<$ty>() * 8 - 1))
            }
            #[inline(always)]
            fn from_key(key: $key) -> $ty {
                let key = key as $signed;
                let sign = !key >> (size_of::<$ty>() * 8 - 1);
                <$ty>::from_bits((key ^ (sign | <$signed>::MIN)) as _)
            }
            #[inline(always)]
            fn canonical(self) -> $ty {
                match self {
                    x if x.is_nan() => $nan,
                    x if x == $zero => $zero,
                    x => x,
                }
            }
        }
    )*};
}

floats! {
    f32, u32, i32, f32::from_bits(0x7FC0_0000), 0.0;
    f64, u64, i64, f64::from_bits(0x7FF8_0000_0000_0000), 0.0;
}

macro_rules! half_floats {
    ($($ty:ty),*) => {$(
        impl Sortable for $ty {
            type Key = u32;
            const IS_FLOAT: bool = true;
            #[inline(always)]
            fn key(self) -> u32 {
                let bits = self.to_bits();
                u32::from(bits ^ ((bits as i16 >> 15) as u16 | 0x8000))
            }
            #[inline(always)]
            fn from_key(key: u32) -> $ty {
                let key = key as u16;
                <$ty>::from_bits(key ^ ((!key as i16 >> 15) as u16 | 0x8000))
            }
            #[inline(always)]
            fn canonical(self) -> $ty {
                match self {
                    x if x.is_nan() => <$ty>::NAN,
                    x if x == <$ty>::ZERO => <$ty>::ZERO,
                    x => x,
                }
            }
        }
    )*};
}

half_floats!(f16, bf16);

/// Evaluates `$body` with `$T` as the stored type of a real element type, and wraps it in `Some`; `None` for other
/// types.
macro_rules! by_sortable {
    ($element:expr, $T:ident => $body:expr) => {
        by_sortable!(@ $element, $T => $body;
            Pred u8, U2 u8, U4 u8, U8 u8, U16 u16, U32 u32, U64 u64, S2 i8, S4 i8, S8 i8, S16 i16, S32 i32, S64 i64,
            F16 crate::element::f16, BF16 crate::element::bf16, F32 f32, F64 f64)
    };
    (@ $element:expr, $T:ident => $body:expr; $($name:ident $ty:ty),*) => {
        match $element {
            $(::oxcall_hlo::ElementType::$name => { type $T = $ty; Some($body) })*
            _ => None,
        }
    };
}

pub(super) use by_sortable;
