use super::*;
use crate::{BinaryOp, ComparisonDirection, ComparisonType, UnaryOp};

#[test]
fn unary_functions_by_element_type() {
    use UnaryOp::*;
    const FLOAT: &str = "f32 f16 f8E4M3FN";
    for (ops, takes_elements, refuses_elements) in [
        (&[Abs, Sign][..], "i32 f32 complex<f32>", "i1 ui8"),
        (&[Ceil, Floor, IsFinite, RoundNearestAfz, RoundNearestEven], FLOAT, "i1 i32 complex<f32>"),
        (&[BesselI0e, BesselI1e, Digamma, Erf, ErfInv, Erfc, Lgamma], FLOAT, "i1 i32 complex<f32>"),
        (&[IsInf, IsNegInf, IsPosInf], FLOAT, "i1 i32 complex<f32>"),
        (&[CountLeadingZeros, Popcnt], "i4 ui64", "i1 f32 complex<f64>"),
        (&[Negate, Square], "ui8 i32 f32 complex<f64>", "i1"),
        (&[Not], "i1 i32 ui2", "f32 complex<f32>"),
        (&[Cbrt, Cosine, Exponential, ExponentialMinusOne, Log, LogPlusOne, Logistic], "bf16 complex<f32>", "i1 i32"),
        (&[Imag, Real, Rsqrt, Sine, Sqrt, Tan, Tanh], "f64 complex<f64>", "i1 ui32"),
        (&[Acos, Acosh, Asin, Asinh, Atan, Atanh, Conj, Cosh, Sinh], "f32 complex<f32>", "i1 i8"),
    ] {
        for &op in ops {
            for element in takes_elements.split(' ') {
                let result = match op {
                    IsFinite | IsInf | IsNegInf | IsPosInf => "i1",
                    Abs | Imag | Real => element.trim_start_matches("complex<").trim_end_matches('>'),
                    _ => element,
                };
                takes(OpKind::Unary(op), &format!("2x3x{element} -> 2x3x{result}"), &[]);
            }
            for element in refuses_elements.split(' ') {
                let expected = format!("type, got tensor<2x{element}>");
                refuses(OpKind::Unary(op), &format!("2x{element} -> 2x{element}"), &[], &expected);
            }
            let first = takes_elements.split(' ').next().unwrap();
            gives_other(OpKind::Unary(op), &format!("2x{first} -> 3x{first}"), &[]);
        }
    }
    assert_eq!(UnaryOp::ALL.len(), 45);
}

#[test]
fn binary_functions_by_element_type() {
    use BinaryOp::*;
    for (ops, takes_elements, refuses_elements) in [
        (&[Add, Maximum, Minimum, Multiply][..], "i1 i4 ui8 f16 complex<f32>", ""),
        (&[And, Or, Xor], "i1 i32 ui8", "f32 complex<f32>"),
        (&[Atan2], "f32 complex<f64>", "i1 i32"),
        (&[Divide, Power, Remainder, Subtract], "i32 f32 complex<f32>", "i1"),
        (&[ShiftLeft, ShiftRightArithmetic, ShiftRightLogical], "i32 ui4", "i1 f32"),
        (&[NextAfter, Polygamma, Zeta], "f32 f64", "i1 i32 complex<f32>"),
    ] {
        for &op in ops {
            for element in takes_elements.split(' ') {
                takes(OpKind::Binary(op), &format!("2x{element}, 2x{element} -> 2x{element}"), &[]);
                let expected =
                    format!("lhs and rhs must have the same type, got tensor<2x{element}> and tensor<3x{element}>");
                refuses(OpKind::Binary(op), &format!("2x{element}, 3x{element} -> 2x{element}"), &[], &expected);
            }
            for element in refuses_elements.split_whitespace() {
                refuses(
                    OpKind::Binary(op),
                    &format!("{element}, {element} -> {element}"),
                    &[],
                    "lhs must be a tensor of",
                );
            }
            refuses(
                OpKind::Binary(op),
                &format!("{0} -> {0}", takes_elements.split(' ').next().unwrap()),
                &[],
                "expected 2 operands, got 1",
            );
        }
    }
}

#[test]
fn comparisons() {
    use ComparisonDirection::*;
    let compare = OpKind::Compare;
    for (direction, order, element) in [
        (Lt, ComparisonType::NoType, "i32"),
        (Lt, ComparisonType::Float, "f32"),
        (Eq, ComparisonType::Float, "complex<f32>"),
        (Ge, ComparisonType::TotalOrder, "bf16"),
        (Gt, ComparisonType::Signed, "i8"),
        (Gt, ComparisonType::Unsigned, "i1"),
    ] {
        takes(compare(direction, order), &format!("4x{element}, 4x{element} -> 4xi1"), &[]);
    }
    for (direction, order, text, expected) in [
        (Lt, ComparisonType::Float, "i32, i32 -> i1", "compare_type FLOAT does not apply to lhs, tensor<i32>"),
        (Lt, ComparisonType::Signed, "f32, f32 -> i1", "compare_type SIGNED does not apply"),
        (Lt, ComparisonType::TotalOrder, "complex<f32>, complex<f32> -> i1", "compare_type TOTALORDER does not apply"),
        (Lt, ComparisonType::Float, "complex<f32>, complex<f32> -> i1", "comparison_direction LT does not apply"),
        (
            Eq,
            ComparisonType::NoType,
            "f32, f64 -> i1",
            "lhs and rhs must have the same type, got tensor<f32> and tensor<f64>",
        ),
    ] {
        refuses(compare(direction, order), text, &[], expected);
    }
    gives_other(compare(Eq, ComparisonType::NoType), "f32, f32 -> f32", &[]);
}

#[test]
fn selections_and_bounds() {
    takes(OpKind::Select, "i1, 4xf32, 4xf32 -> 4xf32", &[]);
    takes(OpKind::Select, "4xi1, 4xf32, 4xf32 -> 4xf32", &[]);
    refuses(OpKind::Select, "i8, 4xf32, 4xf32 -> 4xf32", &[], "pred must be a tensor of boolean type, got tensor<i8>");
    refuses(
        OpKind::Select,
        "3xi1, 4xf32, 4xf32 -> 4xf32",
        &[],
        "pred must be a scalar or have the shape of on_true, tensor<4xf32>, got tensor<3xi1>",
    );
    refuses(OpKind::Select, "i1, 4xf32, 4xf64 -> 4xf32", &[], "on_true and on_false must have the same type");
    refuses(OpKind::Select, "i1, token, token -> token", &[], "on_true must be a tensor, got !stablehlo.token");
    takes(OpKind::Clamp, "f32, 4xf32, 4xf32 -> 4xf32", &[]);
    refuses(
        OpKind::Clamp,
        "f32, 4xf32, 3xf32 -> 4xf32",
        &[],
        "max must be a scalar of the element type of operand, or have its type, tensor<4xf32>; got tensor<3xf32>",
    );
    refuses(OpKind::Clamp, "f64, 4xf32, f32 -> 4xf32", &[], "min must be a scalar of the element type of operand");
    takes(OpKind::Clamp, "complex<f32>, complex<f32>, complex<f32> -> complex<f32>", &[]);
}

#[test]
fn conversions() {
    takes(OpKind::Convert, "4xf32 -> 4xi1", &[]);
    takes(OpKind::Convert, "4xi4 -> 4xcomplex<f64>", &[]);
    gives_other(OpKind::Convert, "4xf32 -> 5xf32", &[]);
    refuses(OpKind::Convert, "token -> f32", &[], "operand must be a tensor");
    takes(OpKind::BitcastConvert, "4xf32 -> 4xui32", &[]);
    takes(OpKind::BitcastConvert, "4xf64 -> 4x2xi32", &[]);
    takes(OpKind::BitcastConvert, "4x8xi4 -> 4xui32", &[]);
    takes(OpKind::BitcastConvert, "4xcomplex<f64> -> 4x2xcomplex<f32>", &[]);
    gives_other(OpKind::BitcastConvert, "4xf64 -> 4x3xi32", &[]);
    refuses(
        OpKind::BitcastConvert,
        "4x3xi4 -> 4xui32",
        &[],
        "the last dimension of operand, tensor<4x3xi4>, must be 8",
    );
    refuses(OpKind::BitcastConvert, "i4 -> ui32", &[], "the last dimension of operand");
    refuses(OpKind::BitcastConvert, "4x2xf32 -> 4xcomplex<f32>", &[], "must be both complex or neither");
    refuses(OpKind::BitcastConvert, "8xi1 -> ui8", &[], "must be both boolean or neither");
    refuses(OpKind::BitcastConvert, "8xf6E2M3FN -> 8xui8", &[], "must be a multiple or a divisor");
    let reduce = |exponent_bits, mantissa_bits| OpKind::ReducePrecision { exponent_bits, mantissa_bits };
    takes(reduce(5, 0), "4xf32 -> 4xf32", &[]);
    refuses(reduce(0, 2), "4xf32 -> 4xf32", &[], "exponent_bits must be at least 1, got 0");
    refuses(reduce(5, 2), "4xi32 -> 4xi32", &[], "operand must be a tensor of floating-point type");
    takes(OpKind::Complex, "4xf64, 4xf64 -> 4xcomplex<f64>", &[]);
    refuses(OpKind::Complex, "4xf16, 4xf16 -> 4xcomplex<f32>", &[], "lhs must be a tensor of f32 or f64 type");
    refuses(OpKind::Complex, "4xf32, 4xf64 -> 4xcomplex<f32>", &[], "lhs and rhs must have the same type");
}
