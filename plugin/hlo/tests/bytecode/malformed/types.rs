//! Types of VHLO.

use oxcall_hlo::{Error, ErrorKind, read_bytecode};

use super::code;
use crate::made::{BUILTIN, File, attr, list, ty, varint};

/// The only parameter's type.
fn read_type(file: File, ty: usize) -> Result<String, Error> {
    let module = read_bytecode(&file.finish(&[ty], attr::EMPTY_LIST, 1, 0, &[]))?;
    Ok(module.main().ty(module.main().body.params[0]).to_string())
}

#[test]
fn types_that_no_value_has() {
    for (data, words) in [
        (vec![code::F32], "expected the type of a value, got f32"),
        ([&[8][..], &list([]), &list([])].concat(), "expected the type of a value, got a function type"),
        (vec![33], "expected the type of a value, got `none`"),
        ([&[20][..], &list([]), &varint(ty::TOKEN)].concat(), "expected an element type, got !stablehlo.token"),
        ([&[23][..], &list([ty::S32])].concat(), "expected the type of a value, got i32"),
    ] {
        let mut file = File::new();
        let ty = file.add_type(&data);
        let error = read_type(file, ty).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    // Each also as an element of a tensor and of a tuple.
    for (code, name) in [
        (24, "a quantised type"),
        (25, "an unranked tensor"),
        (26, "a shape witness"),
        (30, "a quantised type"),
        (41, "a buffer"),
        (63, "the type of VHLO with code 63"),
    ] {
        for (wrap, words) in [
            (None, format!("{name} is not supported")),
            (Some(20), format!("a tensor of {name} is not supported")),
            (Some(23), format!("a tuple with {name} is not supported")),
            (Some(42), format!("a future with {name} is not supported")),
        ] {
            let mut file = File::new();
            let mut ty = file.add_type(&[code]);
            if let Some(wrap) = wrap {
                let parts = if wrap == 20 { [list([]), varint(ty)].concat() } else { list([ty]) };
                ty = file.add_type(&[&[wrap][..], &parts].concat());
            }
            let error = read_type(file, ty).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Unsupported, "{error}");
            assert!(error.to_string().contains(&words), "{error}");
        }
    }
}

#[test]
fn complex_types_have_parts() {
    for (part, expected) in [(code::F32, Some("tensor<complex<f32>>")), (5, Some("tensor<complex<f64>>")), (3, None)] {
        let mut file = File::new();
        let part = file.add_type(&[part]);
        let complex = file.add_type(&[&[1][..], &varint(part)].concat());
        let tensor = file.add_type(&[&[20][..], &list([]), &varint(complex)].concat());
        let ty = read_type(file, tensor);
        match expected {
            Some(expected) => assert_eq!(ty.unwrap(), expected),
            None => {
                let error = ty.unwrap_err().to_string();
                assert!(
                    error.contains("a complex type whose parts are neither f32 nor f64 is not supported"),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn types_nest_so_deep_and_no_deeper() {
    for (levels, fits) in [(32, true), (33, false)] {
        let mut file = File::new();
        let last = (0..levels).fold(ty::TOKEN, |last, _| file.add_type(&[&[23][..], &list([last])].concat()));
        let result = read_type(file, last);
        assert_eq!(result.is_ok(), fits);
        if let Err(error) = result {
            assert!(error.to_string().contains("types nest too deeply"), "{error}");
        }
    }
}

/// Shardy's ops and attributes have builtin types.
#[test]
fn types_of_other_dialects() {
    for (dialect, data, expected) in [
        ("builtin", [varint(13), list([]), varint(ty::S32)].concat(), Ok("tensor<i32>")),
        ("builtin", [varint(15), list([ty::TOKEN])].concat(), Ok("tuple<!stablehlo.token>")),
        ("stablehlo", varint(0), Ok("!stablehlo.token")),
        ("builtin", varint(12), Err("expected the type of a value, got `none`")),
        ("builtin", varint(1), Err("expected the type of a value, got i64")),
        ("builtin", [varint(0), varint(32 << 2)].concat(), Err("expected the type of a value, got i32")),
        ("builtin", [varint(0), varint(32 << 2 | 1)].concat(), Err("expected the type of a value, got i32")),
        ("builtin", [varint(0), varint(32 << 2 | 2)].concat(), Err("expected the type of a value, got ui32")),
        ("builtin", [varint(0), varint(7 << 2)].concat(), Err("type i7 is not supported")),
        ("builtin", varint(99), Err("the builtin type with code 99 is not supported")),
        ("stablehlo", varint(1), Err("the type of StableHLO with code 1 is not supported")),
        ("quant", varint(1), Err("a type of dialect `quant` is not supported")),
    ] {
        let mut file = File::new();
        let dialect = if dialect == "builtin" { BUILTIN } else { file.dialect(dialect) };
        let ty = file.add_type_of(dialect, &data);
        match (read_type(file, ty), expected) {
            (Ok(ty), Ok(expected)) => assert_eq!(ty, expected),
            (Err(error), Err(words)) => assert!(error.to_string().contains(words), "{error}"),
            (result, expected) => panic!("{result:?}, expected {expected:?}"),
        }
    }
}
