//! Every bit of a constant survives printing and reading.

use oxcall_hlo::{ElementType, Literal, Module, OpKind, TensorType, parse_text};

use super::parse;

/// The program whose only op is this constant.
fn module_of(literal: &Literal) -> Module {
    let text =
        format!("func.func @main() {{ %0 = stablehlo.constant dense<> : tensor<0x{}> return }}", literal.ty().element);
    let mut module = parse("template", &text);
    let main = &mut module.funcs[0];
    main.values[0] = literal.ty().clone().into();
    main.body.ops[0].kind = OpKind::Constant(literal.clone());
    module
}

/// The constant after printing and reading.
fn round_trip(literal: &Literal) -> Literal {
    let text = module_of(literal).to_string();
    match &parse(&text, &text).main().body.ops[0].kind {
        OpKind::Constant(literal) => literal.clone(),
        other => panic!("{other:?}"),
    }
}

/// Constants of at most this many elements are printed as numbers, larger ones as bytes.
const LISTED: usize = 100;

#[track_caller]
fn check(element: ElementType, bytes: &[u8]) {
    for chunk in bytes.chunks(LISTED * element.byte_width()) {
        let literal = Literal::dense(TensorType::new(element, [chunk.len() / element.byte_width()]), chunk);
        assert_eq!(round_trip(&literal).to_bytes(), literal.to_bytes(), "{element}");
    }
    let literal = Literal::dense(TensorType::new(element, [bytes.len() / element.byte_width()]), bytes);
    assert_eq!(round_trip(&literal).to_bytes(), literal.to_bytes(), "{element}");
}

#[test]
fn every_code_of_narrow_types() {
    for &element in ElementType::ALL {
        match element.bits() {
            bits @ ..=8 => {
                let codes = (0..1u32 << bits).map(|code| {
                    if element.is_signed() { ((code << (32 - bits)) as i32 >> (32 - bits)) as u8 } else { code as u8 }
                });
                check(element, &codes.collect::<Vec<_>>());
            }
            16 => check(element, &(0..=u16::MAX).step_by(7).flat_map(u16::to_le_bytes).collect::<Vec<_>>()),
            _ => {}
        }
    }
}

#[test]
fn wide_types() {
    // Extremes, then bits of all kinds.
    let extremes =
        [0, 1, u64::MAX, 1 << 63, 0x7ff0 << 48, 0xfff0 << 48, 0x7ff8 << 48, 0x3ff0 << 48, 0x3fb9_9999_9999_999a];
    let spread = (1..1000u64).map(|index| index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let narrow = [0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x7fa0_0001, 0x3f80_0000, 0x3dcc_cccd, 1, 0x0080_0000];
    let bytes: Vec<u8> = extremes.into_iter().chain(spread).flat_map(u64::to_le_bytes).collect();
    let narrow_bytes: Vec<u8> = narrow.into_iter().flat_map(u32::to_le_bytes).collect();
    for &element in ElementType::ALL.iter().filter(|element| element.bits() > 16) {
        check(element, &narrow_bytes);
        check(element, &bytes[..bytes.len() / 16 * 16]);
    }
}

#[test]
fn numbers_round_to_nearest_even() {
    // Each value with the bits that it has to give; ties and values next to them.
    for (element, number, bits) in [
        ("f32", "0.1", 0x3dcc_cccd_u64),
        ("f32", "16777217.0", 0x4b80_0000),
        ("f32", "16777219.0", 0x4b80_0002),
        ("f16", "65519.999", 0x7bff),
        ("f16", "65520.0", 0x7c00),
        ("f16", "2049.0", 0x6800),
        // Rounding to f32 on the way would make a tie of it.
        ("f16", "2049.00000001", 0x6801),
        ("bf16", "1.00390625", 0x3f80),
        ("bf16", "1.003906250001", 0x3f81),
        ("f8E4M3FN", "1.0625", 0x38),
        ("f8E4M3FN", "1.06250000001", 0x39),
        ("f64", "0.1", 0x3fb9_9999_9999_999a),
    ] {
        let text =
            format!("func.func @main() {{ %0 = stablehlo.constant dense<{number}> : tensor<{element}> return }}");
        let module = parse(&text, &text);
        let OpKind::Constant(literal) = &module.main().body.ops[0].kind else { panic!() };
        let width = literal.ty().element.byte_width();
        assert_eq!(&literal.data()[..], &bits.to_le_bytes()[..width], "{number} : {element}");
    }
}

#[test]
fn hexadecimal_booleans_are_bits_or_bytes() {
    let elements = |hex: &str, count: usize| {
        let text =
            format!("func.func @main() {{ %0 = stablehlo.constant dense<\"{hex}\"> : tensor<{count}xi1> return }}");
        let module = parse_text(&text).unwrap();
        let OpKind::Constant(literal) = &module.main().body.ops[0].kind else { panic!() };
        literal.to_bytes().to_vec()
    };
    assert_eq!(elements("0x8502", 10), [1, 0, 1, 0, 0, 0, 0, 1, 0, 1]);
    assert_eq!(elements("0x01000100", 4), [1, 0, 1, 0]);
    assert_eq!(elements("0xFF", 20), [1; 20]);
}

/// An element of fewer than eight bits is the low bits of a byte.
#[test]
fn hexadecimal_narrow_numbers_are_bytes() {
    for (hex, ty, expected) in [
        ("0x0FF8", "2xi4", &[-1, -8][..]),
        ("0x0FF8", "2xui4", &[15, 8]),
        ("0x0D", "3xi2", &[1, 1, 1]),
        ("0x0E", "i2", &[-2]),
        ("0x0E", "ui2", &[2]),
        ("0x80FF", "2xi8", &[-128, -1]),
        ("0x01000200", "2xi16", &[1, 2]),
        ("0x0100", "2xi16", &[1, 1]),
    ] {
        let text = format!("func.func @main() {{ %0 = stablehlo.constant dense<\"{hex}\"> : tensor<{ty}> return }}");
        let module = parse(&text, &text);
        let OpKind::Constant(literal) = &module.main().body.ops[0].kind else { panic!() };
        assert_eq!(literal.integers().unwrap().collect::<Vec<_>>(), expected, "{hex} {ty}");
    }
}

/// The constant that is written so, as integers, or why it is none.
fn integers_of(value: &str, ty: &str) -> Result<Vec<i64>, String> {
    let text = format!("func.func @main() {{ %0 = stablehlo.constant dense<{value}> : tensor<{ty}> return }}");
    let module = parse_text(&text).map_err(|error| error.message)?;
    let OpKind::Constant(literal) = &module.main().body.ops[0].kind else { panic!() };
    Ok(literal.integers().unwrap().collect())
}

/// The numbers at both ends of a type, and the first that is beyond.
#[test]
fn ends_of_integer_types() {
    for (ty, value, expected) in [
        ("i8", "-128", -128),
        ("i8", "127", 127),
        ("i8", "255", -1),
        ("ui8", "255", 255),
        ("ui8", "-0", 0),
        ("i2", "-2", -2),
        ("i1", "1", 1),
        ("i1", "true", 1),
        ("i1", "false", 0),
        ("i64", "-9223372036854775808", i64::MIN),
        ("i64", "18446744073709551615", -1),
    ] {
        assert_eq!(integers_of(value, ty), Ok(vec![expected]), "{value} : {ty}");
    }
    for (ty, value, message) in [
        ("i8", "-129", "129 does not fit type i8"),
        ("i8", "256", "256 does not fit type i8"),
        ("ui8", "-1", "1 does not fit type ui8"),
        ("ui8", "256", "256 does not fit type ui8"),
        ("i1", "2", "2 does not fit type i1"),
        ("i64", "-9223372036854775809", "9223372036854775809 does not fit type i64"),
        ("i64", "18446744073709551616", "18446744073709551616 does not fit type i64"),
        ("i32", "true", "`true` is not a number of type i32"),
        ("i1", "-true", "expected a number, but found `true`"),
        ("f32", "-0x1", "a number of type f32 needs a decimal point, got `0x1`"),
        ("f32", "0x100000000", "0x100000000 does not fit type f32"),
    ] {
        let error = integers_of(value, ty).unwrap_err();
        assert!(error.ends_with(message), "{value} : {ty}: {error}");
    }
}

/// Equal elements are one, however they are written.
#[test]
fn equal_elements_are_a_splat() {
    for (value, ty, splat) in
        [("[7, 7, 7]", "3xi32", true), ("[7, 7, 8]", "3xi32", false), ("[[7], [7]]", "2x1xi32", true)]
    {
        let text = format!("func.func @main() {{ %0 = stablehlo.constant dense<{value}> : tensor<{ty}> return }}");
        let module = parse(&text, &text);
        let OpKind::Constant(literal) = &module.main().body.ops[0].kind else { panic!() };
        assert_eq!(literal.splat_element().is_some(), splat, "{value}");
    }
}
