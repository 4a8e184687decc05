//! Errors name the instruction.

use oxcall_hlo::{Error, ErrorKind, read_hlo_proto, verify};
use oxcall_proto::Writer;

use super::hlo::{F32, S32, array, computation, instruction, module, parameter, tuple};

/// Why a module is refused, by the reader or the verifier.
fn refused(bytes: &[u8]) -> Error {
    read_hlo_proto(bytes).and_then(|module| verify(&module)).unwrap_err()
}

/// Why an entry computation of one parameter, `f32[2,3]`, and these instructions is refused. The last is the root.
fn entry(root: i64, instructions: Vec<Writer>) -> Error {
    let parameter = parameter(0, 1, matrix());
    refused(&module(1, &[computation(1, root, &[vec![parameter], instructions].concat())]))
}

fn matrix() -> Writer {
    array(F32, &[2, 3])
}

#[track_caller]
fn says(error: &Error, text: &str) {
    assert!(error.to_string().contains(text), "{error}");
}

#[test]
fn instructions_are_named_with_their_source() {
    let add = instruction("add", 7, matrix(), &[1, 5], |message| {
        message.nested(7, |metadata| _ = metadata.bytes(2, "aten::add").bytes(3, "model.py").int(4, 12));
    });
    let error = entry(7, vec![add]);
    assert_eq!(
        error.to_string(),
        "add: operand 5 must be an instruction before this one (at %add.7, aten::add, model.py:12:0)"
    );
    let wrong = instruction("add", 7, array(F32, &[2, 2]), &[1, 1], |_| {});
    says(&entry(7, vec![wrong]), "stablehlo.add: result 0 must have type tensor<2x3xf32>, got tensor<2x2xf32>");
    says(&entry(7, vec![instruction("add", 7, array(F32, &[2, 2]), &[1, 1], |_| {})]), "%add.7");
}

#[test]
fn ids_are_unique_and_known() {
    let pair = instruction("tuple", 2, tuple(&[matrix(), array(F32, &[2])]), &[1, 1], |_| {});
    says(&entry(2, vec![pair]), "tuple: the result must be a tuple of the operands, got tuple");
    let twice = || instruction("negate", 2, matrix(), &[1], |_| {});
    says(&entry(2, vec![twice(), twice()]), "two instructions have the id 2");
    says(&entry(9, vec![twice()]), "the root must be an instruction");
    says(
        &refused(&module(5, &[computation(1, 1, &[parameter(0, 1, matrix())])])),
        "entry computation 5 does not exist",
    );
    let one = || computation(1, 1, &[parameter(0, 1, matrix())]);
    says(&refused(&module(1, &[one(), one()])), "two computations have the id 1");
    let parameters = [parameter(0, 1, matrix()), parameter(1, 1, matrix())];
    says(&refused(&module(1, &[computation(1, 1, &parameters)])), "two parameters have the id 1");
    let parameters = [parameter(0, 1, matrix()), parameter(2, 2, matrix())];
    says(&refused(&module(1, &[computation(1, 1, &parameters)])), "must be numbered from 0");
}

#[test]
fn computations_come_before_their_callers_and_never_call_themselves() {
    let call = |callee| instruction("call", 2, matrix(), &[1], |message| _ = message.ints(38, [callee]));
    says(&entry(2, vec![call(1)]), "the entry computation must not be called");
    says(&entry(2, vec![call(3)]), "computation 3 must be defined before");
    let own = computation(2, 2, &[parameter(0, 1, matrix()), call(2)]);
    says(
        &refused(&module(1, &[own, computation(1, 1, &[parameter(0, 1, matrix())])])),
        "computation 2 must be defined before",
    );
}

#[test]
fn signatures_of_computations_are_checked() {
    let callee = || computation(5, 1, &[parameter(0, 1, array(S32, &[]))]);
    let with = |instruction: Writer| {
        refused(&module(1, &[callee(), computation(1, 2, &[parameter(0, 1, matrix()), instruction])]))
    };
    let calls = |opcode: &str, operands: &[i64], computations: &[i64]| {
        let called = computations.to_vec();
        instruction(opcode, 2, matrix(), operands, |message| _ = message.ints(38, called))
    };
    says(&with(calls("call", &[1], &[5])), "parameter 0 of the computation takes tensor<i32>, got tensor<2x3xf32>");
    says(&with(calls("call", &[1, 1], &[5])), "takes 1 operands, got 2");
    let identity = computation(5, 1, &[parameter(0, 1, matrix())]);
    let call = instruction("call", 2, array(F32, &[3, 2]), &[1], |message| _ = message.ints(38, [5]));
    says(
        &refused(&module(1, &[identity, computation(1, 2, &[parameter(0, 1, matrix()), call])])),
        "the computation must return tensor<3x2xf32>, got tensor<2x3xf32>",
    );
    says(&with(calls("call", &[1], &[])), "expected 1 computations, got 0");
    says(&with(calls("while", &[1], &[5, 5])), "body: parameter 0 of the computation");
    says(
        &with(calls("conditional", &[1], &[5, 5])),
        "expected an index and an operand for each of 2 computations, got 1 operands",
    );
    says(&with(calls("reduce", &[1, 1], &[5])), "must take 2 operands, got 1");
    says(&with(calls("select-and-scatter", &[1, 1, 1], &[5])), "expected 2 computations, got 1");
    let vector = computation(5, 1, &[parameter(0, 1, matrix()), parameter(1, 2, matrix())]);
    let reduce = calls("reduce", &[1, 1], &[5]);
    let module = module(1, &[vector, computation(1, 2, &[parameter(0, 1, matrix()), reduce])]);
    says(&refused(&module), "must take and return scalars");
}

#[test]
fn shapes_that_cannot_be() {
    let of = |shape: Writer| entry(2, vec![instruction("negate", 2, shape, &[1], |_| {})]);
    says(&of(array(99, &[])), "element type number 99 is not supported");
    says(&of(array(F32, &[-1])), "must be a list of non-negative integers");
    says(&of(array(F32, &[1 << 40, 1 << 40])), "does not fit in memory");
    let mut dynamic = array(F32, &[2, 3]);
    dynamic.ints(6, [0, 0, 1]);
    says(&of(dynamic), "dimension 2 of tensor<2x3xf32> cannot be dynamic");
    let deep = (0..100).fold(matrix(), |shape, _| tuple(&[shape]));
    says(&of(deep), "nested more than 8 deep");
    let bare = |opcode: &str| {
        let mut instruction = Writer::default();
        instruction.bytes(2, opcode).int(35, 2);
        instruction
    };
    says(&entry(2, vec![bare("negate")]), "negate: the shape is missing");
}

/// The shape of the program, if the module says it, is that of the entry computation but for bounds and layouts.
#[test]
fn shape_of_the_program() {
    let pair = || tuple(&[matrix(), array(S32, &[])]);
    let read = |params: &[Writer], result: &Writer| {
        let mut shape = Writer::default();
        params.iter().for_each(|param| _ = shape.message(1, param));
        let mut bytes = module(
            1,
            &[computation(
                1,
                3,
                &[
                    parameter(0, 1, matrix()),
                    parameter(1, 2, array(S32, &[])),
                    instruction("tuple", 3, pair(), &[1, 2], |_| {}),
                ],
            )],
        );
        let mut program = Writer::default();
        program.message(4, shape.message(2, result));
        bytes.extend(program.finish());
        read_hlo_proto(&bytes).map(|module| verify(&module).unwrap())
    };
    let params = || [matrix(), array(S32, &[])];
    let bounded = || {
        let mut shape = matrix();
        shape.ints(6, [1, 0]);
        shape
    };
    let column_major = || {
        let mut shape = matrix();
        shape.nested(5, |layout| _ = layout.ints(1, [0, 1]));
        shape
    };
    for matrix in [matrix, bounded, column_major] {
        read(&[matrix(), array(S32, &[])], &tuple(&[matrix(), array(S32, &[])])).unwrap();
    }
    for other in [array(S32, &[2, 3]), array(F32, &[3, 2]), array(F32, &[6]), array(F32, &[]), pair()] {
        let error = read(&[other, array(S32, &[])], &pair()).unwrap_err();
        says(&error, "the module's host_program_shape says parameter 0 to be t");
        says(&error, "but in its entry computation it is tensor<2x3xf32>");
    }
    let says_result = |result: &Writer| {
        says(&read(&params(), result).unwrap_err(), "host_program_shape says the result to be ");
    };
    says_result(&matrix());
    let nothing = read(&params(), &Writer::default()).unwrap_err();
    says(&nothing, "host_program_shape: the element type number 0 is not supported");
    says_result(&tuple(&[pair()]));
    says_result(&tuple(&[matrix()]));
    says_result(&tuple(&[array(S32, &[]), matrix()]));
    says_result(&tuple(&[array(F32, &[3, 2]), array(S32, &[])]));
    let few = read(&[matrix()], &pair()).unwrap_err();
    says(&few, "host_program_shape says 1 parameters, but its entry computation takes 2");
}

#[test]
fn what_is_not_supported_says_so() {
    for (opcode, text) in [
        ("infeed", "infeed"),
        ("send", "sending"),
        ("recv-done", "receiving"),
        ("async-start", "asynchronous"),
        ("no-such-opcode", "this opcode is not supported"),
    ] {
        let error = entry(2, vec![instruction(opcode, 2, matrix(), &[1], |_| {})]);
        assert_eq!((error.kind, error.op.as_deref()), (ErrorKind::Unsupported, Some(opcode)), "{error}");
        says(&error, text);
    }
}

#[test]
fn malformed_fields() {
    let constant = |literal: Writer| {
        entry(2, vec![instruction("constant", 2, matrix(), &[], |message| _ = message.message(8, &literal))])
    };
    let mut short = Writer::default();
    short.message(1, &matrix()).ints(8, [0; 4]);
    says(&constant(short), "a literal of type tensor<2x3xf32> cannot have 1 elements");
    says(&constant(Writer::default()), "shape of the literal are missing");
    let bounded = |rows: i64| {
        let mut shape = array(F32, &[rows, 3]);
        shape.ints(6, [1, 0]);
        shape
    };
    let filled = |shape: Writer| {
        let mut literal = Writer::default();
        literal.message(1, &shape).bytes(8, [0; 24]);
        literal
    };
    says(&constant(filled(array(F32, &[3, 2]))), "value must have the type of the result, tensor<2x3xf32>");
    says(&constant(filled(bounded(2))), "a constant must have a static shape, got tensor<?x3xf32, #stablehlo.bounds");
    let of_bounded = instruction("constant", 2, bounded(2), &[], |message| _ = message.message(8, &filled(matrix())));
    says(&entry(2, vec![of_bounded]), "a constant must have a static shape, got tensor<?x3xf32");
    let call = |config: &[u8]| {
        entry(
            2,
            vec![instruction("custom-call", 2, matrix(), &[1], |message| _ = message.bytes(43, config).int(77, 4))],
        )
    };
    says(&call(b"{a = "), "custom-call: backend_config:");
    says(&call(b"not a dictionary"), "backend_config:");
    says(&call(b"{a = 1 : i64} x"), "backend_config: expected the end of the dictionary");
    says(&call(b"\xff"), "backend_config must be UTF-8");
    let compare = instruction("compare", 2, matrix(), &[1, 1], |message| _ = message.bytes(63, "XX"));
    says(&entry(2, vec![compare]), "comparison direction `XX`");
    let bytes = module(1, &[computation(1, 1, &[parameter(0, 1, matrix())])]);
    let mut aliases = Writer::default();
    aliases.nested(8, |aliases| _ = aliases.nested(1, |entry| _ = entry.int(2, 3)));
    says(&refused(&[bytes.clone(), aliases.finish()].concat()), "parameter 3 [] is donated, but does not exist");
    says(&refused(&[bytes, vec![0x0b]].concat()), "malformed protocol buffer");
}

#[test]
fn elements_that_tuples_do_not_have() {
    let element = |of: i64, index: i64| {
        let pair = instruction("tuple", 2, tuple(&[matrix(), matrix()]), &[1, 1], |_| {});
        let element = instruction("get-tuple-element", 3, matrix(), &[of], |message| _ = message.int(13, index));
        entry(3, vec![pair, element])
    };
    says(&element(2, 2), "the index 2 must be less than the size of the tuple, 2");
    says(&element(1, 0), "a value of type tensor<2x3xf32> has no element 0");
    says(&element(2, -1), "the index must not be negative, got -1");
    let pair = || tuple(&[matrix(), matrix()]);
    let third = instruction("get-tuple-element", 2, matrix(), &[1], |message| _ = message.int(13, 2));
    let body = computation(5, 2, &[parameter(0, 1, pair()), third]);
    says(&refused(&module(1, &[body])), "has no element 2");
}

#[test]
fn operands_that_do_not_fit() {
    let indices = |rank: i64| {
        let constant = instruction("iota", 2, array(S32, &[rank]), &[], |message| _ = message.ints(14, [0]));
        let slice =
            instruction("dynamic-slice", 3, array(F32, &[1, 1]), &[1, 2], |message| _ = message.ints(20, [1, 1]));
        entry(3, vec![constant, slice])
    };
    says(&indices(3), "the indices must have an entry for each dimension of the operand, got tensor<3xi32>");
    let exchanged = |operand: Writer, shape: Writer| {
        let other = instruction("iota", 2, operand, &[], |message| _ = message.ints(14, [0]));
        entry(3, vec![other, instruction("all-to-all", 3, shape, &[1, 2], |_| {})])
    };
    let different = exchanged(array(F32, &[2]), tuple(&[matrix(), matrix()]));
    says(&different, "all operands must have type tensor<2x3xf32>");
    says(&exchanged(matrix(), tuple(&[])), "expected array operands and results");
    let nothing = entry(2, vec![instruction("all-to-all", 2, matrix(), &[], |_| {})]);
    says(&nothing, "expected array operands and results");
    says(&exchanged(matrix(), tuple(&[tuple(&[])])), "expected array operands and results");
}

/// What is applied to elements takes and gives scalars, at most as many as it takes.
#[test]
fn computations_of_scalars() {
    let scalar = || array(F32, &[]);
    let with = |callee: Writer, opcode: &str, operands: &[i64]| {
        let apply = instruction(opcode, 2, matrix(), operands, |message| _ = message.ints(38, [5]));
        module(1, &[callee, computation(1, 2, &[parameter(0, 1, matrix()), apply])])
    };
    let negate = instruction("negate", 2, scalar(), &[1], |_| {});
    let map = with(computation(5, 2, &[parameter(0, 1, scalar()), negate]), "map", &[1]);
    assert!(read_hlo_proto(&map).and_then(|module| verify(&module)).is_ok());
    let of = |results: Vec<Writer>, operands: Vec<i64>| {
        let pair = instruction("tuple", 3, tuple(&results), &operands, |_| {});
        computation(5, 3, &[parameter(0, 1, scalar()), parameter(1, 2, scalar()), pair])
    };
    let scalars = "the computation must take and return scalars";
    let three = with(of(vec![scalar(), scalar(), scalar()], vec![1, 1, 2]), "map", &[1, 1]);
    says(&refused(&three), scalars);
    let two = refused(&with(of(vec![scalar(), scalar()], vec![1, 2]), "map", &[1, 1]));
    assert!(!two.to_string().contains(scalars), "{two}");
    let vector = instruction("broadcast", 2, array(F32, &[1]), &[1], |_| {});
    says(&refused(&with(computation(5, 2, &[parameter(0, 1, scalar()), vector]), "map", &[1])), scalars);
    says(&refused(&with(computation(5, 1, &[parameter(0, 1, matrix())]), "map", &[1])), scalars);
    let first = computation(5, 2, &[parameter(1, 1, matrix()), parameter(0, 2, scalar())]);
    says(&refused(&with(first, "map", &[1, 1])), scalars);
}
