//! Literals and shapes.

use oxcall_hlo::{parse_text, read_hlo_proto_with_config, write_hlo_proto};
use oxcall_proto::Message;

use super::{instruction, outline, program, shape, write};

/// A program of one constant.
fn constant(value: &str) -> Vec<u8> {
    let ty = value.rsplit_once(" : ").unwrap().1;
    write(&program(&format!("() -> {ty}"), &format!("    %0 = stablehlo.constant {value}\n    return %0 : {ty}")))
}

/// The literal of the only constant.
fn literal(file: &[u8]) -> Message<'_> {
    instruction(file, "constant").message(8).unwrap().unwrap()
}

#[test]
fn integers_keep_their_sign() {
    for (value, element, field, expected) in [
        ("dense<[true, false]> : tensor<2xi1>", 1, 2, [1, 0]),
        ("dense<[-2, 2147483647]> : tensor<2xi32>", 4, 4, [-2, i64::from(i32::MAX)]),
        ("dense<[-2, 4294967296]> : tensor<2xi64>", 5, 5, [-2, 1 << 32]),
        ("dense<[4294967294, 7]> : tensor<2xui32>", 8, 6, [0xffff_fffe, 7]),
        ("dense<[18446744073709551614, 7]> : tensor<2xui64>", 9, 7, [-2, 7]),
    ] {
        let file = constant(value);
        let literal = literal(&file);
        assert_eq!(literal.ints(field).unwrap(), expected, "{value}");
        assert_eq!(shape(literal.message(1).unwrap().unwrap()), format!("{element}[2]{{0}}"), "{value}");
    }
}

#[test]
fn other_elements_are_bytes() {
    for (value, field, expected) in [
        ("dense<[-2, 3]> : tensor<2xi8>", 15, &[0xfe, 3][..]),
        ("dense<[254, 3]> : tensor<2xui8>", 3, &[0xfe, 3]),
        ("dense<[-2, 3]> : tensor<2xi16>", 17, &[0xfe, 0xff, 3, 0]),
        ("dense<[1.0, -2.0]> : tensor<2xbf16>", 13, &[0x80, 0x3f, 0, 0xc0]),
        ("dense<[1.0, -2.0]> : tensor<2xf32>", 8, &[0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]),
        ("dense<(1.0, -2.0)> : tensor<complex<f32>>", 12, &[0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]),
    ] {
        assert_eq!(literal(&constant(value)).bytes(field).unwrap(), expected, "{value}");
    }
}

/// Every element type that has literals is read as it was written.
#[test]
fn literals_are_read_again() {
    for value in [
        "dense<[true, false]> : tensor<2xi1>",
        "dense<[-2, 1]> : tensor<2xi4>",
        "dense<[14, 1]> : tensor<2xui4>",
        "dense<[-2, 1]> : tensor<2xi8>",
        "dense<[-2, 1]> : tensor<2xi16>",
        "dense<[-2, 1]> : tensor<2xi32>",
        "dense<[-2, 1]> : tensor<2xi64>",
        "dense<[254, 1]> : tensor<2xui8>",
        "dense<[65534, 1]> : tensor<2xui16>",
        "dense<[4294967294, 1]> : tensor<2xui32>",
        "dense<[18446744073709551614, 1]> : tensor<2xui64>",
        "dense<[-2.0, 1.5]> : tensor<2xf8E4M3FN>",
        "dense<[-2.0, 1.5]> : tensor<2xf16>",
        "dense<[-2.0, 1.5]> : tensor<2xbf16>",
        "dense<[-2.0, 1.5]> : tensor<2xf32>",
        "dense<[-2.0, 1.5]> : tensor<2xf64>",
        "dense<[(-2.0, 1.5), (1.5, -2.0)]> : tensor<2xcomplex<f32>>",
        "dense<[(-2.0, 1.5), (1.5, -2.0)]> : tensor<2xcomplex<f64>>",
        "dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>",
        "dense<7> : tensor<i32>",
    ] {
        let read = read_hlo_proto_with_config(&constant(value)).unwrap();
        assert!(read.to_string().contains(&format!("stablehlo.constant {value}\n")), "{value}\n{read}");
    }
}

/// Sixteen elements are written; of more, one that all are equal to, or none.
#[test]
fn constants_of_many_elements() {
    let count = |many: usize| format!("dense<{:?}> : tensor<{many}xi32>", (0..many).collect::<Vec<_>>());
    for many in [1, 15, 16] {
        assert_eq!(literal(&constant(&count(many))).ints(4).unwrap(), (0..many as i64).collect::<Vec<_>>());
    }
    assert_eq!(literal(&constant("dense<7> : tensor<4x4xi32>")).ints(4).unwrap(), [7; 16]);
    let equal = constant("dense<7> : tensor<17xi32>");
    assert_eq!(literal(&equal).ints(4).unwrap(), [7]);
    assert_eq!(outline(&equal)[1..], ["constant.1 = 4[]{} of ", "broadcast.2 = 4[17]{0} of 1"]);
    let different = constant(&count(17));
    assert_eq!(outline(&different)[1..], ["custom-call.1 = 4[17]{0} of "]);
    let call = instruction(&different, "custom-call");
    assert_eq!((call.text(28).unwrap(), call.bytes(43).unwrap()), ("stablehlo.constant", &b""[..]));
}

#[test]
fn shapes_are_row_major() {
    let text =
        "(%arg0: tensor<2x3x4xf32>, %arg1: !stablehlo.token, %arg2: tensor<i1>) -> (!stablehlo.token, tensor<i1>)";
    let file = write(&program(text, "    return %arg1, %arg2 : !stablehlo.token, tensor<i1>"));
    assert_eq!(
        outline(&file),
        [
            "5 main: 11[2,3,4]{2,1,0} 17 1[]{} -> (17, 1[]{}), root 4",
            "parameter.1 = 11[2,3,4]{2,1,0} of #0",
            "parameter.2 = 17 of #1",
            "parameter.3 = 1[]{} of #2",
            "tuple.4 = (17, 1[]{}) of 2,3",
        ]
    );
}

/// XLA's protos have no code for some element types.
#[test]
fn element_types_that_xla_lacks() {
    let ty = "tensor<2xf6E2M3FN>";
    let text = program(&format!("(%arg0: {ty}) -> {ty}"), &format!("    return %arg0 : {ty}"));
    assert_eq!(write_hlo_proto(&parse_text(&text).unwrap()), None);
}
