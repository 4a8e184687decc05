//! Element-wise functions, with what the formats say of them.

use super::def::{Hlo, NONE, OpDef, PLAIN, Read, Version, v1, v2};
use super::form::{ARROW, Form, SAME};

/// A class of functions: their versions in bytecode, their pretty form, and how they are instructions of HLO.
type Class = (&'static [Version], Form, InHlo);

/// Whether functions are instructions of HLO.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InHlo {
    No,
    /// They are read, and written as custom calls.
    Read,
    Yes,
}

const STABLEHLO: Class = (PLAIN, SAME, InHlo::Yes);
/// The second version adds an accuracy, which no kernel needs: all are as accurate as the type.
const ACCURATE: Class = (&[v1(NONE, &[]), v2(NONE, &["result_accuracy"])], SAME, InHlo::Yes);
const CHLO: Class = (&[], ARROW, InHlo::No);
const CHLO_FROM_HLO: Class = (&[], ARROW, InHlo::Read);
const CHLO_IN_HLO: Class = (&[], ARROW, InHlo::Yes);

/// Defines an enum of functions: the name in MLIR, the class, and the documentation of each. `ignored` are attributes
/// in text that change nothing.
macro_rules! functions {
    ($(#[$doc:meta])* $enum:ident: $read:ident, ignored: $ignored:expr, {
        $($variant:ident $name:literal $class:ident $text:literal,)*
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $enum {
            $(#[doc = $text] $variant,)*
        }

        impl $enum {
            /// Every one.
            pub const ALL: &[$enum] = &[$($enum::$variant),*];

            /// All as ops, in order.
            pub(super) const TABLE: &[OpDef] = &[$(OpDef {
                name: $name,
                bytecode: $class.0,
                text: $class.1,
                ignored: $ignored,
                hlo: if matches!($class.2, InHlo::No) { None } else { Some(Hlo { opcode: None, read: None }) },
                read: Read::$read($enum::$variant),
            },)*];

            /// The function as an op.
            pub(crate) fn def(self) -> &'static OpDef {
                &$enum::TABLE[self as usize]
            }

            /// Whether it is written as an instruction of HLO.
            pub(super) fn is_written_to_hlo(self) -> bool {
                match self {
                    $($enum::$variant => $class.2 == InHlo::Yes,)*
                }
            }

            /// The name in MLIR.
            pub fn name(self) -> &'static str {
                self.def().name
            }

            /// The one of this name.
            pub fn from_name(name: &str) -> Option<$enum> {
                $enum::ALL.iter().copied().find(|each| each.name() == name)
            }
        }
    };
}

functions! {
    /// An element-wise function of one operand.
    UnaryOp: Unary, ignored: &["result_accuracy"], {
        Abs "stablehlo.abs" STABLEHLO "Absolute value; of a complex operand, real.",
        Cbrt "stablehlo.cbrt" ACCURATE "Cube root.",
        Ceil "stablehlo.ceil" STABLEHLO "Up to an integer.",
        CountLeadingZeros "stablehlo.count_leading_zeros" STABLEHLO "Number of leading zero bits.",
        Cosine "stablehlo.cosine" ACCURATE "Cosine.",
        Exponential "stablehlo.exponential" ACCURATE "e^x.",
        ExponentialMinusOne "stablehlo.exponential_minus_one" ACCURATE "e^x - 1.",
        Floor "stablehlo.floor" STABLEHLO "Down to an integer.",
        Imag "stablehlo.imag" STABLEHLO "Imaginary part; of a real operand, 0.",
        IsFinite "stablehlo.is_finite" STABLEHLO "Whether finite; `Pred`.",
        Log "stablehlo.log" ACCURATE "Natural logarithm.",
        LogPlusOne "stablehlo.log_plus_one" ACCURATE "log(x + 1).",
        Logistic "stablehlo.logistic" ACCURATE "1 / (1 + e^-x).",
        Negate "stablehlo.negate" STABLEHLO "-x.",
        Not "stablehlo.not" STABLEHLO "Logical or bitwise not.",
        Popcnt "stablehlo.popcnt" STABLEHLO "Number of bits that are set.",
        Real "stablehlo.real" STABLEHLO "Real part.",
        RoundNearestAfz "stablehlo.round_nearest_afz" STABLEHLO "To the nearest integer, halves away from zero.",
        RoundNearestEven "stablehlo.round_nearest_even" STABLEHLO "To the nearest integer, halves to even.",
        Rsqrt "stablehlo.rsqrt" ACCURATE "1 / sqrt(x).",
        Sign "stablehlo.sign" STABLEHLO "-1, 0 or 1; of a complex operand, x / |x|.",
        Sine "stablehlo.sine" ACCURATE "Sine.",
        Sqrt "stablehlo.sqrt" ACCURATE "Square root.",
        Tan "stablehlo.tan" ACCURATE "Tangent.",
        Tanh "stablehlo.tanh" ACCURATE "Hyperbolic tangent.",
        Acos "chlo.acos" CHLO_FROM_HLO "CHLO: arc cosine.",
        Acosh "chlo.acosh" CHLO_FROM_HLO "CHLO: inverse hyperbolic cosine.",
        Asin "chlo.asin" CHLO_FROM_HLO "CHLO: arc sine.",
        Asinh "chlo.asinh" CHLO_FROM_HLO "CHLO: inverse hyperbolic sine.",
        Atan "chlo.atan" CHLO_FROM_HLO "CHLO: arc tangent.",
        Atanh "chlo.atanh" CHLO_FROM_HLO "CHLO: inverse hyperbolic tangent.",
        BesselI0e "chlo.bessel_i0e" CHLO
            "A composite of JAX: exponentially scaled modified Bessel function of order 0.",
        BesselI1e "chlo.bessel_i1e" CHLO "CHLO: exponentially scaled modified Bessel function of order 1.",
        Conj "chlo.conj" CHLO "CHLO: complex conjugate.",
        Cosh "chlo.cosh" CHLO_FROM_HLO "CHLO: hyperbolic cosine.",
        Digamma "chlo.digamma" CHLO "CHLO: digamma.",
        Erf "chlo.erf" CHLO_IN_HLO "CHLO: error function.",
        ErfInv "chlo.erf_inv" CHLO "CHLO: inverse error function.",
        Erfc "chlo.erfc" CHLO "CHLO: complementary error function.",
        IsInf "chlo.is_inf" CHLO "CHLO: whether infinite; `Pred`.",
        IsNegInf "chlo.is_neg_inf" CHLO "CHLO: whether -infinity; `Pred`.",
        IsPosInf "chlo.is_pos_inf" CHLO "CHLO: whether +infinity; `Pred`.",
        Lgamma "chlo.lgamma" CHLO "CHLO: logarithm of |gamma|.",
        Sinh "chlo.sinh" CHLO_FROM_HLO "CHLO: hyperbolic sine.",
        Square "chlo.square" CHLO "CHLO: x * x.",
    }
}

functions! {
    /// An element-wise function of two operands.
    BinaryOp: Binary, ignored: &[], {
        Add "stablehlo.add" STABLEHLO "Sum; of `Pred`, or.",
        And "stablehlo.and" STABLEHLO "Logical or bitwise and.",
        Atan2 "stablehlo.atan2" STABLEHLO "Angle of the point (y, x).",
        Divide "stablehlo.divide" STABLEHLO "Quotient; of integers, truncated.",
        Maximum "stablehlo.maximum" STABLEHLO "The larger; NaN if one is; of `Pred`, or; of complex, lexicographic.",
        Minimum "stablehlo.minimum" STABLEHLO "The smaller; NaN if one is; of `Pred`, and.",
        Multiply "stablehlo.multiply" STABLEHLO "Product; of `Pred`, and.",
        Or "stablehlo.or" STABLEHLO "Logical or bitwise or.",
        Power "stablehlo.power" STABLEHLO "x^y.",
        Remainder "stablehlo.remainder" STABLEHLO "Remainder with the sign of the dividend.",
        ShiftLeft "stablehlo.shift_left" STABLEHLO "Left shift; 0 if by the width or more.",
        ShiftRightArithmetic "stablehlo.shift_right_arithmetic" STABLEHLO "Right shift that copies the sign.",
        ShiftRightLogical "stablehlo.shift_right_logical" STABLEHLO "Right shift that fills zeros.",
        Subtract "stablehlo.subtract" STABLEHLO "Difference.",
        Xor "stablehlo.xor" STABLEHLO "Logical or bitwise exclusive or.",
        NextAfter "chlo.next_after" CHLO "CHLO: the next float towards the second operand.",
        Polygamma "chlo.polygamma" CHLO "CHLO: derivative of digamma of order n.",
        Zeta "chlo.zeta" CHLO "CHLO: Hurwitz zeta function.",
    }
}
