//! The table of element types, and every lookup in it.
//!
//! Columns, each empty for types that an interface does not have:
//!
//! * the kind, and the bits of one element: below 8, elements share bytes in the buffers of custom calls;
//! * XLA's `PrimitiveType`, which `XLA_FFI_DataType` shares, with its lower-case name; and `PJRT_Buffer_Type`;
//! * the field of `LiteralProto` that holds the elements;
//! * the name in MLIR text, and the codes of the type in the bytecode of the VHLO and builtin dialects, where integers
//!   (builtin) and complex types are composed of others;
//! * the function of libtorch that returns torch's code: `aoti`, of the functions for AOTInductor, or `stable`.

/// The kind of an element.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
    Complex,
    Token,
}

/// The second of two tokens: the first one only says in which rows the macro expands.
macro_rules! second {
    ($row:tt, $value:expr) => {
        $value
    };
}

/// How elements of so many bits lie in a buffer of a custom call, for the documentation.
macro_rules! packing {
    (1) => {
        ", packed eight to a byte"
    };
    (2) => {
        ", packed four to a byte"
    };
    (4) => {
        ", packed two to a byte"
    };
    ($bits:tt) => {
        ""
    };
}

/// The name of a function of libtorch.
macro_rules! getter {
    (aoti $name:ident) => {
        concat!("aoti_torch_dtype_", stringify!($name))
    };
    (stable $name:ident) => {
        concat!("torch_dtype_", stringify!($name))
    };
}

macro_rules! table {
    ($(
        #[doc = $doc:literal]
        $variant:ident $kind:ident $bits:tt
        [$($code:literal $name:literal $pjrt:literal)?]
        [$($field:literal)?]
        [$($mlir:literal)?] [$($vhlo:literal)?] [$($builtin:literal)?]
        [$($torch:ident $getter:ident)?];
    )*) => {
        /// The element type of a buffer, or the type of an attribute's value.
        ///
        /// Names (in messages, in the manifest, and from [`DType::name`]) are XLA's lower-case primitive type names:
        /// `f32`, `s32`, `pred`, `bf16`, `f8e4m3fn`, ...
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum DType {
            $($(#[doc = concat!($doc, packing!($bits), ".")] $variant = $code,)?)*
        }

        impl DType {
            /// Every data type, in the order of the ABI header.
            pub const ALL: &'static [DType] = &[$($(second!($code, DType::$variant),)?)*];

            /// The data type of an ABI code; `None` for `INVALID` and for codes this version does not know.
            #[inline]
            pub const fn from_code(code: u32) -> Option<DType> {
                match code {
                    $($($code => Some(DType::$variant),)?)*
                    _ => None,
                }
            }

            /// The data type of XLA's lower-case name.
            pub fn from_name(name: &str) -> Option<DType> {
                match name {
                    $($($name => Some(DType::$variant),)?)*
                    _ => None,
                }
            }

            /// XLA's lower-case name.
            pub const fn name(self) -> &'static str {
                match self {
                    $($(DType::$variant => $name,)?)*
                }
            }

            /// Bits of one element: below 8 for the packed types, 0 for a token.
            #[inline]
            pub const fn bits(self) -> usize {
                match self {
                    $($(DType::$variant => second!($code, $bits),)?)*
                }
            }

            #[inline]
            pub(crate) const fn kind(self) -> Kind {
                match self {
                    $($(DType::$variant => second!($code, Kind::$kind),)?)*
                }
            }

            const fn row(self) -> Row {
                match self {
                    $($(DType::$variant => second!($code, Row::$variant),)?)*
                }
            }
        }

        /// The type of a tensor's elements in a StableHLO program.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ElementType {
            $($(#[doc = concat!($doc, ".")] #[doc = concat!("\n\nIn MLIR: `", $mlir, "`.")] $variant,)?)*
        }

        impl ElementType {
            /// Every element type.
            pub const ALL: &'static [ElementType] = &[$($(second!($mlir, ElementType::$variant),)?)*];

            /// The element type of a name in MLIR text.
            pub fn from_name(name: &str) -> Option<ElementType> {
                match name {
                    $($($mlir => Some(ElementType::$variant),)?)*
                    _ => None,
                }
            }

            /// The name in MLIR text: `f32`, `ui8`, `complex<f32>`.
            pub const fn name(self) -> &'static str {
                match self {
                    $($(ElementType::$variant => $mlir,)?)*
                }
            }

            /// The bits that the table has: 8 for `Pred`, which is stored in a byte.
            #[inline]
            pub(crate) const fn stored_bits(self) -> usize {
                match self {
                    $($(ElementType::$variant => second!($mlir, $bits),)?)*
                }
            }

            #[inline]
            pub(crate) const fn kind(self) -> Kind {
                match self {
                    $($(ElementType::$variant => second!($mlir, Kind::$kind),)?)*
                }
            }

            /// The dtype of custom calls and buffers; `None` for 6-bit floats, which exist in programs only.
            pub const fn dtype(self) -> Option<DType> {
                match self.row() {
                    $($(Row::$variant => Some(second!($code, DType::$variant)),)?)*
                    _ => None,
                }
            }

            /// The element type of a dtype; `None` for tokens and 1-bit integers, which programs do not have.
            pub const fn from_dtype(dtype: DType) -> Option<ElementType> {
                match dtype.row() {
                    $($(Row::$variant => Some(second!($mlir, ElementType::$variant)),)?)*
                    _ => None,
                }
            }

            const fn row(self) -> Row {
                match self {
                    $($(ElementType::$variant => second!($mlir, Row::$variant),)?)*
                }
            }
        }

        /// A row: what leads from one enum to the other.
        #[derive(Clone, Copy)]
        enum Row {
            $($variant,)*
        }

        /// The numbers of the PJRT C API: `PJRT_Buffer_Type`.
        pub mod pjrt {
            use super::DType;

            /// The number of a dtype.
            pub const fn code(dtype: DType) -> u32 {
                match dtype {
                    $($(DType::$variant => $pjrt,)?)*
                }
            }

            /// The dtype of a number; `None` for `INVALID` and unknown numbers.
            pub const fn dtype(code: u32) -> Option<DType> {
                match code {
                    $($($pjrt => Some(DType::$variant),)?)*
                    _ => None,
                }
            }
        }

        /// The numbers of HLO protos.
        pub mod hlo_proto {
            use super::{DType, ElementType};

            /// The `PrimitiveType` of an element type; `None` for types that XLA does not have.
            pub const fn primitive_type(element: ElementType) -> Option<u32> {
                match element.dtype() {
                    Some(dtype) => Some(dtype.code()),
                    None => None,
                }
            }

            /// The element type of a `PrimitiveType`.
            pub const fn element_type(primitive: u32) -> Option<ElementType> {
                match DType::from_code(primitive) {
                    Some(dtype) => ElementType::from_dtype(dtype),
                    None => None,
                }
            }

            /// The field of `LiteralProto` that holds the elements; `None` for types that XLA does not have.
            pub const fn literal_field(element: ElementType) -> Option<u32> {
                match element {
                    $($(ElementType::$variant => Some($field),)?)*
                    _ => None,
                }
            }
        }

        /// The codes of element types in MLIR bytecode.
        pub mod bytecode {
            use super::ElementType;

            /// The type of a code of the VHLO dialect.
            pub const fn vhlo(code: u64) -> Option<ElementType> {
                match code {
                    $($($vhlo => Some(ElementType::$variant),)?)*
                    _ => None,
                }
            }

            /// The type of a code of the builtin dialect.
            pub const fn builtin(code: u64) -> Option<ElementType> {
                match code {
                    $($($builtin => Some(ElementType::$variant),)?)*
                    _ => None,
                }
            }
        }

        /// PyTorch's scalar types, whose codes libtorch itself knows.
        pub mod torch {
            use super::DType;

            /// The function of libtorch that returns the code of a dtype; `None` for dtypes that torch does not have.
            pub const fn getter(dtype: DType) -> Option<&'static str> {
                match dtype {
                    $($(DType::$variant => Some(getter!($torch $getter)),)?)*
                    _ => None,
                }
            }

            /// The name of a dtype in torch, `float32`; `None` for dtypes that torch does not have.
            pub fn name(dtype: DType) -> Option<&'static str> {
                getter(dtype).and_then(|getter| getter.rsplit_once("dtype_")).map(|(_, name)| name)
            }
        }
    };
}

table! {
    // type       kind     bits XLA, name, PJRT         field   MLIR              VHLO  builtin torch
    /// Boolean, one byte, 0 or 1
    Pred          Bool     8    [1 "pred" 1]            [2]     ["i1"]            [0]   []      [aoti bool];
    /// Signed 1-bit integer
    S1            Signed   1    [30 "s1" 30]            []      []                []    []      [];
    /// Signed 2-bit integer
    S2            Signed   2    [26 "s2" 24]            [26]    ["i2"]            [31]  []      [];
    /// Signed 4-bit integer
    S4            Signed   4    [21 "s4" 21]            [21]    ["i4"]            [10]  []      [];
    /// Signed 8-bit integer
    S8            Signed   8    [2 "s8" 2]              [15]    ["i8"]            [11]  []      [aoti int8];
    /// Signed 16-bit integer
    S16           Signed   16   [3 "s16" 3]             [17]    ["i16"]           [12]  []      [aoti int16];
    /// Signed 32-bit integer
    S32           Signed   32   [4 "s32" 4]             [4]     ["i32"]           [13]  []      [aoti int32];
    /// Signed 64-bit integer
    S64           Signed   64   [5 "s64" 5]             [5]     ["i64"]           [14]  []      [aoti int64];
    /// Unsigned 1-bit integer
    U1            Unsigned 1    [31 "u1" 31]            []      []                []    []      [];
    /// Unsigned 2-bit integer
    U2            Unsigned 2    [27 "u2" 25]            [27]    ["ui2"]           [32]  []      [];
    /// Unsigned 4-bit integer
    U4            Unsigned 4    [22 "u4" 22]            [22]    ["ui4"]           [15]  []      [];
    /// Unsigned 8-bit integer
    U8            Unsigned 8    [6 "u8" 6]              [3]     ["ui8"]           [16]  []      [aoti uint8];
    /// Unsigned 16-bit integer
    U16           Unsigned 16   [7 "u16" 7]             [16]    ["ui16"]          [17]  []      [aoti uint16];
    /// Unsigned 32-bit integer
    U32           Unsigned 32   [8 "u32" 8]             [6]     ["ui32"]          [18]  []      [aoti uint32];
    /// Unsigned 64-bit integer
    U64           Unsigned 64   [9 "u64" 9]             [7]     ["ui64"]          [19]  []      [aoti uint64];
    /// IEEE 754 binary16
    F16           Float    16   [10 "f16" 10]           [11]    ["f16"]           [3]   [4]     [aoti float16];
    /// IEEE 754 binary32
    F32           Float    32   [11 "f32" 11]           [8]     ["f32"]           [4]   [5]     [aoti float32];
    /// IEEE 754 binary64
    F64           Float    64   [12 "f64" 12]           [9]     ["f64"]           [5]   [6]     [aoti float64];
    /// bfloat16: the upper half of a binary32
    BF16          Float    16   [16 "bf16" 13]          [13]    ["bf16"]          [2]   [3]     [aoti bfloat16];
    /// Complex number of two `f32`
    C64           Complex  64   [15 "c64" 14]           [12]    ["complex<f32>"]  []    []      [aoti complex64];
    /// Complex number of two `f64`
    C128          Complex  128  [18 "c128" 15]          [18]    ["complex<f64>"]  []    []      [aoti complex128];
    /// A token: orders side effects, holds no data
    Token         Token    0    [17 "token" 23]         []      []                []    []      [];
    /// 8-bit float, 5 exponent bits, IEEE-like
    F8E5M2        Float    8    [19 "f8e5m2" 16]        [19]    ["f8E5M2"]        [7]   [22]    [aoti float8_e5m2];
    /// 8-bit float, 3 exponent bits, IEEE-like
    F8E3M4        Float    8    [29 "f8e3m4" 27]        [29]    ["f8E3M4"]        [36]  [28]    [];
    /// 8-bit float, 4 exponent bits, IEEE-like
    F8E4M3        Float    8    [28 "f8e4m3" 26]        [28]    ["f8E4M3"]        [35]  [23]    [];
    /// 8-bit float, 4 exponent bits, no infinities
    F8E4M3FN      Float    8    [20 "f8e4m3fn" 17]      [20]    ["f8E4M3FN"]      [6]   [24]    [aoti float8_e4m3fn];
    /// 8-bit float, 4 exponent bits, bias 11, no infinities, no negative zero
    F8E4M3B11FNUZ Float    8    [23 "f8e4m3b11fnuz" 18] [23]    ["f8E4M3B11FNUZ"] [29]  [27]    [];
    /// 8-bit float, 5 exponent bits, no infinities, no negative zero
    F8E5M2FNUZ    Float    8    [24 "f8e5m2fnuz" 19]    [24]    ["f8E5M2FNUZ"]    [28]  [25]    [aoti float8_e5m2fnuz];
    /// 8-bit float, 4 exponent bits, no infinities, no negative zero
    F8E4M3FNUZ    Float    8    [25 "f8e4m3fnuz" 20]    [25]    ["f8E4M3FNUZ"]    [27]  [26]    [aoti float8_e4m3fnuz];
    /// 4-bit float, 2 exponent bits, finite only
    F4E2M1FN      Float    4    [32 "f4e2m1fn" 29]      [32]    ["f4E2M1FN"]      [37]  [29]    [];
    /// 6-bit float, 2 exponent bits, finite only
    F6E2M3FN      Float    6    []                      []      ["f6E2M3FN"]      [38]  [30]    [];
    /// 6-bit float, 3 exponent bits, finite only
    F6E3M2FN      Float    6    []                      []      ["f6E3M2FN"]      [39]  [31]    [];
    /// 8-bit exponent only: a power of two, or NaN
    F8E8M0FNU     Float    8    [33 "f8e8m0fnu" 28]     [33]    ["f8E8M0FNU"]     [40]  [32]    [stable float8_e8m0fnu];
}
