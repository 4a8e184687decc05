//! Element types: their numbers, and where literals have their elements.

use crate::ElementType;

/// Makes the table: element type, its number as `PrimitiveType`, and the field of `LiteralProto` with its elements.
macro_rules! table {
    ($($element:ident $primitive:literal $field:literal;)*) => {
        /// `PrimitiveType`; `None` for what XLA does not have.
        pub(super) fn primitive_type(element: ElementType) -> Option<i64> {
            match element {
                $(ElementType::$element => Some($primitive),)*
                _ => None,
            }
        }

        /// The element type of this number.
        pub(super) fn element_type(primitive: i64) -> Option<ElementType> {
            match primitive {
                $($primitive => Some(ElementType::$element),)*
                _ => None,
            }
        }

        /// The field of `LiteralProto` that has the elements.
        pub(super) fn literal_field(element: ElementType) -> Option<u32> {
            match element {
                $(ElementType::$element => Some($field),)*
                _ => None,
            }
        }
    };
}

table! {
    Pred 1 2;
    S8 2 15;
    S16 3 17;
    S32 4 4;
    S64 5 5;
    U8 6 3;
    U16 7 16;
    U32 8 6;
    U64 9 7;
    F16 10 11;
    F32 11 8;
    F64 12 9;
    C64 15 12;
    BF16 16 13;
    C128 18 18;
    F8E5M2 19 19;
    F8E4M3FN 20 20;
    S4 21 21;
    U4 22 22;
    F8E4M3B11FNUZ 23 23;
    F8E5M2FNUZ 24 24;
    F8E4M3FNUZ 25 25;
    S2 26 26;
    U2 27 27;
    F8E4M3 28 28;
    F8E3M4 29 29;
    F4E2M1FN 32 32;
    F8E8M0FNU 33 33;
}

/// `PrimitiveType` of tuples.
pub(super) const TUPLE: i64 = 13;

/// `PrimitiveType` of tokens.
pub(super) const TOKEN: i64 = 17;
