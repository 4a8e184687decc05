//! The codes of the table of element types, against the constants that bindgen reads from the headers.

use std::collections::BTreeMap;

use oxcall::DType;
use oxcall_element::pjrt;

const XLA_FFI: &str = include_str!("../../ffi-sys/src/xla_ffi.rs");
/// The header of a released wheel, and what later ones have added.
const PJRT: &str = concat!(include_str!("../../ffi-sys/src/pjrt.rs"), include_str!("../../ffi-sys/src/pjrt_later.rs"));

/// The constants of an enum, by the last part of their names in lower case.
fn constants(source: &str, prefix: &str) -> BTreeMap<String, u32> {
    let constants: BTreeMap<String, u32> = source
        .lines()
        .filter_map(|line| line.strip_prefix("pub const ")?.strip_prefix(prefix)?.strip_suffix(';'))
        .map(|line| {
            let (name, rest) = line.split_once(": ").expect("a type");
            let (_, value) = rest.split_once(" = ").expect("a value");
            (name.to_lowercase(), value.parse().expect("a number"))
        })
        .collect();
    assert_eq!(constants.get("invalid"), Some(&0), "{prefix}");
    constants
}

#[test]
fn codes_are_those_of_the_headers() {
    let table = |code: fn(DType) -> u32| {
        let rows = DType::ALL.iter().map(|&dtype| (dtype.name().to_owned(), code(dtype)));
        rows.chain([("invalid".to_owned(), 0)]).collect::<BTreeMap<_, _>>()
    };
    assert_eq!(table(DType::code), constants(XLA_FFI, "XLA_FFI_DataType_"));
    assert_eq!(table(pjrt::code), constants(PJRT, "PJRT_Buffer_Type_"));
}

#[test]
fn lookups_go_both_ways() {
    for &dtype in DType::ALL {
        assert_eq!(DType::from_code(dtype.code()), Some(dtype));
        assert_eq!(pjrt::dtype(pjrt::code(dtype)), Some(dtype));
    }
    assert_eq!((DType::from_code(0), pjrt::dtype(0)), (None, None));
    assert_eq!((DType::from_code(34), pjrt::dtype(32)), (None, None));
}
