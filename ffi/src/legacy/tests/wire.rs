//! The decoder, on good and on damaged bytes.

use num_complex::Complex;

use super::*;
use crate::host::AttrValue;
use crate::legacy::wire::{BufferType, CallDescriptor};

fn rich() -> Descriptor {
    Descriptor::default()
        .operand(DType::F32, &[2, 3])
        .operand(DType::Token, &[])
        .operand(DType::S4, &[5])
        .result(DType::BF16, &[0, 7])
        .result(DType::C128, &[])
        .attr("array", [1i16, -2, 3])
        .attr("deep", [("empty", AttrValue::Dict(Vec::new())), ("inner", [("x", AttrValue::from(1u8))].into())])
        .attr("empty", AttrValue::from(Vec::<f64>::new()))
        .attr("flag", true)
        .attr("text", "grüße")
        .attr("z", Complex::new(1f32, -1.0))
}

fn decode(bytes: &[u8]) -> Result<CallDescriptor> {
    CallDescriptor::decode(bytes)
}

fn message(bytes: &[u8]) -> String {
    decode(bytes).unwrap_err().message().to_owned()
}

/// The example of the specification, byte for byte.
#[test]
fn the_specification_s_example() {
    #[rustfmt::skip]
    let bytes = [
        0x4f, 0x58, 0x43, 0x31, 0x58, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0,
        1, 0, 0, 0, 0, 0, 0, 0,
        0x0b, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0,
        0x0b, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0,
        3, 0x0b, 0, 0, 6, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
        0x66, 0x61, 0x63, 0x74, 0x6f, 0x72, 0, 0, 0, 0, 0x80, 0x40, 0, 0, 0, 0,
    ];
    let ty = || BufferType { dtype: DType::F32, dims: vec![2], size_in_bytes: 8 };
    let expected = CallDescriptor {
        operands: vec![ty()],
        results: vec![ty()],
        attrs: vec![("factor".to_owned(), 4f32.into())],
        results_are_tuple: false,
        descriptor_is_operand: false,
    };
    assert_eq!(decode(&bytes).unwrap(), expected);
    assert_eq!(*scale(4.0, 2).encode(), bytes);
}

#[test]
fn descriptors_round_trip() {
    let call = decode(&rich().leading().encode()).unwrap();
    assert!(call.results_are_tuple && call.descriptor_is_operand);
    let types = |list: &[BufferType]| list.iter().map(|ty| (ty.dtype, ty.dims.clone())).collect::<Vec<_>>();
    assert_eq!(types(&call.operands), [(DType::F32, vec![2, 3]), (DType::Token, Vec::new()), (DType::S4, vec![5])]);
    assert_eq!(types(&call.results), [(DType::BF16, vec![0, 7]), (DType::C128, Vec::new())]);
    assert_eq!(call.operands.iter().map(|ty| ty.size_in_bytes).collect::<Vec<_>>(), [24, 0, 3]);
    let names: Vec<_> = call.attrs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["array", "deep", "empty", "flag", "text", "z"]);
    assert_eq!(call.attrs[0].1, [1i16, -2, 3].into());
    assert_eq!(call.attrs[3].1, true.into());
    assert_eq!(call.attrs[4].1, "grüße".into());
    let AttrValue::Dict(deep) = &call.attrs[1].1 else { panic!("{:?}", call.attrs[1]) };
    assert_eq!(deep[0].1, AttrValue::Dict(Vec::new()));
    assert_eq!(deep[1].1, [("x", 1u8.into())].into());
}

#[test]
fn truncation_is_noticed_everywhere() {
    let bytes = rich().encode();
    for len in (0..bytes.len()).step_by(if cfg!(miri) { 7 } else { 1 }) {
        let mut cut = bytes[..len].to_vec();
        assert!(decode(&cut).is_err(), "{len}");
        // With an honest length the missing part must still be noticed.
        if len >= 8 {
            cut[4..8].copy_from_slice(&(len as u32).to_le_bytes());
            assert!(message(&cut).contains("it ends inside"), "{len}: {}", message(&cut));
        }
    }
    let mut longer = bytes.to_vec();
    longer.extend([0; 8]);
    let len = longer.len() as u32;
    longer[4..8].copy_from_slice(&len.to_le_bytes());
    assert!(message(&longer).contains("bytes follow the last attribute"));
}

/// Whatever is accepted has no more in it than the bytes say.
#[test]
fn mutations_neither_panic_nor_grow() {
    let bytes = rich().encode().to_vec();
    let values: &[u8] = if cfg!(miri) { &[0xff] } else { &[0, 1, 2, 3, 4, 7, 8, 0x7f, 0x80, 0xff] };
    for at in (0..bytes.len()).step_by(if cfg!(miri) { 7 } else { 1 }) {
        for &value in values {
            let mut mutated = bytes.clone();
            mutated[at] = value;
            if let Ok(call) = decode(&mutated) {
                let buffers = call.operands.len() + call.results.len();
                assert!(buffers * 8 + call.attrs.len() * 16 <= bytes.len());
            }
        }
    }
}

#[test]
fn what_is_wrong_is_said() {
    let patched = |at: usize, new: &[u8]| {
        let mut bytes = scale(4.0, 2).encode().to_vec();
        bytes[at..at + new.len()].copy_from_slice(new);
        message(&bytes)
    };
    for (at, new, expected) in [
        (0, b"OXC2".as_slice(), "does not begin with `OXC1`"),
        (4, &[80], "states a length of 80 bytes, but has 88"),
        (8, &[0xff; 4], "the padding of a buffer's type"),
        (12, &[0], "padding"),
        (16, &[2], "it ends inside an attribute"),
        (16, &[0], "bytes follow"),
        (20, &[4], "unknown flags 0x4"),
        (24, &[14], "data type code 14"),
        (25, &[1], "padding"),
        (28, &[0xff; 4], "it ends inside a buffer's type"),
        (32, &[0xff; 8], "shape [-1]"),
        (39, &[0x7f], "shape [9151314442816847874]"),
        (56, &[9], "kind 9"),
        (56, &[4], "padding"),
        (57, &[17], "token"),
        (57, &[1], "padding"),
        (58, &[1], "padding"),
        (60, &[0xff; 4], "an attribute's name"),
        (64, &[2], "scalar \"factor\" has 2 elements"),
        (72, &[0xff], "not UTF-8"),
        (78, &[1], "padding"),
        (84, &[1], "padding"),
    ] {
        let said = patched(at, new);
        assert!(said.contains(expected), "byte {at}: {said}");
    }
    let mut flag = Descriptor::default().result(DType::F32, &[]).attr("flag", true).encode().to_vec();
    let at = flag.len() - 8;
    flag[at] = 2;
    assert!(message(&flag).contains("a pred is neither 0 nor 1"));
    let none = Descriptor::default().operand(DType::F32, &[]);
    let mut none = none.encode().to_vec();
    none[20] = 0;
    assert!(message(&none).contains("0 results are not flagged as a tuple"));
}

#[test]
fn names_are_sorted_and_unique() {
    for (first, second) in [("b", "a"), ("a", "a"), ("aa", "a")] {
        let twice = Descriptor::default().result(DType::F32, &[]).attr(first, 1i64).attr(second, 1i64);
        assert!(message(&twice.encode()).contains("does not sort after"), "{first} {second}");
        let nested = [(first, AttrValue::from(1i64)), (second, 1i64.into())];
        let nested = Descriptor::default().result(DType::F32, &[]).attr("d", nested);
        assert!(message(&nested.encode()).contains("does not sort after"), "{first} {second}");
    }
}

#[test]
fn dictionaries_nest_to_a_limit() {
    let nested = |depth: usize| {
        let value = (1..depth).fold(AttrValue::Dict(Vec::new()), |inner, _| [("d", inner)].into());
        Descriptor::default().result(DType::F32, &[]).attr("d", value).encode()
    };
    assert!(decode(&nested(32)).is_ok());
    assert!(message(&nested(33)).contains("nested deeper than 32"));
    // Deep enough to exhaust the stack, were it not for the limit.
    let mut bytes =
        Descriptor::default().result(DType::F32, &[]).attr("", AttrValue::Dict(Vec::new())).encode().to_vec();
    let entry = bytes[32..48].to_vec();
    bytes[40] = 1;
    for _ in 0..if cfg!(miri) { 100 } else { 100_000 } {
        let at = bytes.len();
        bytes.extend(&entry);
        bytes[at + 8] = 1;
    }
    let len = bytes.len() as u32;
    bytes[4..8].copy_from_slice(&len.to_le_bytes());
    assert!(message(&bytes).contains("nested deeper than 32"));
}
