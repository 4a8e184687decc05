//! Instructions that are no op of their own, or another one than their opcode says.

use oxcall_hlo::{Module, OpKind, read_hlo_proto, verify};
use oxcall_proto::Writer;

use super::hlo::{F32, S32, array, computation, instruction, module, parameter};

/// `PrimitiveType`.
const PRED: i64 = 1;

fn matrix() -> Writer {
    array(F32, &[2, 3])
}

/// The entry with these instructions, the last of which has the id 9.
fn read(computations: &[Writer], instructions: &[Writer]) -> Module {
    let entry = computation(8, 9, instructions);
    let module = read_hlo_proto(&module(8, &[computations, &[entry]].concat())).unwrap();
    verify(&module).unwrap_or_else(|error| panic!("{error}\n{module}"));
    module
}

fn kinds(module: &Module) -> Vec<&OpKind> {
    module.main().body.ops.iter().map(|op| &op.kind).collect()
}

#[test]
fn values_that_are_passed_on() {
    for opcode in ["copy", "domain", "add-dependency"] {
        let module = read(&[], &[parameter(0, 1, matrix()), instruction(opcode, 9, matrix(), &[1], |_| {})]);
        assert_eq!((kinds(&module), module.main().body.results[0]), (vec![], module.main().body.params[0]));
    }
    let body = computation(7, 2, &[parameter(0, 1, matrix()), instruction("negate", 2, matrix(), &[1], |_| {})]);
    let fusion = instruction("fusion", 9, matrix(), &[1], |message| _ = message.ints(38, [7]));
    let module = read(&[body], &[parameter(0, 1, matrix()), fusion]);
    assert!(matches!(kinds(&module)[..], [OpKind::Call(_)]));
}

/// A dimension is set to a constant size, or to that of a parameter.
fn set_size(operand: Writer, result: Writer, constant: Option<i64>, dim: i64) -> Vec<Writer> {
    let size = match constant {
        None => parameter(1, 2, array(S32, &[])),
        Some(size) => instruction("constant", 2, array(S32, &[]), &[], |message| {
            message.nested(8, |literal| _ = literal.message(1, &array(S32, &[])).ints(4, [size]));
        }),
    };
    let set = instruction("set-dimension-size", 9, result, &[1, 2], |message| _ = message.ints(14, [dim]));
    vec![parameter(0, 1, operand), size, set]
}

/// Only a static dimension that is set to its own size is left alone.
#[test]
fn sizes_that_are_set_already() {
    let bounded = || {
        let mut shape = matrix();
        shape.ints(6, [1, 0]);
        shape
    };
    let sets = |operand, result, constant| {
        let module = read(&[], &set_size(operand, result, constant, 0));
        kinds(&module).iter().any(|kind| matches!(kind, OpKind::SetDimensionSize { dim: 0 }))
    };
    assert!(!sets(matrix(), matrix(), Some(2)));
    assert!(sets(matrix(), bounded(), Some(1)));
    assert!(sets(matrix(), bounded(), None));
    assert!(sets(bounded(), bounded(), Some(2)));
    let beyond = computation(8, 9, &set_size(matrix(), matrix(), None, 5));
    assert!(read_hlo_proto(&module(8, &[beyond])).and_then(|module| verify(&module)).is_err());
}

/// One index of a vector is a scalar already.
#[test]
fn indices_of_vectors() {
    let slice = instruction("dynamic-slice", 9, array(F32, &[2]), &[1, 2], |message| _ = message.ints(20, [2]));
    let module = read(&[], &[parameter(0, 1, array(F32, &[4])), parameter(1, 2, array(S32, &[])), slice]);
    assert!(matches!(kinds(&module)[..], [OpKind::DynamicSlice { .. }]));
    let update = instruction("dynamic-update-slice", 9, matrix(), &[1, 1, 2], |_| {});
    let module = read(&[], &[parameter(0, 1, matrix()), parameter(1, 2, array(S32, &[2])), update]);
    assert_eq!(module.main().body.ops.last().unwrap().operands.len(), 4);
}

/// Where a scalar is changes nothing.
#[test]
fn shardings_of_scalars() {
    let of = |shape: fn() -> Writer| {
        let negate = instruction("negate", 9, shape(), &[1], |message| _ = message.nested(40, |all| _ = all.int(1, 0)));
        kinds(&read(&[], &[parameter(0, 1, shape()), negate])).len()
    };
    assert_eq!((of(|| array(F32, &[])), of(|| array(F32, &[1]))), (1, 2));
}

/// Each branch has an operand of its own; a boolean chooses one of two, an integer one of any.
#[test]
fn branches_have_their_operands() {
    let identity = |id| computation(id, 1, &[parameter(0, 1, matrix())]);
    let branch = |element, called: &[i64], operands: &[i64]| {
        let called = called.to_vec();
        let conditional = instruction("conditional", 9, matrix(), operands, |message| _ = message.ints(38, called));
        let entry = [
            parameter(0, 1, array(element, &[])),
            parameter(1, 2, matrix()),
            parameter(2, 3, matrix()),
            parameter(3, 4, matrix()),
            conditional,
        ];
        let module = read(&[identity(5), identity(6), identity(7)], &entry);
        let op = &module.main().body.ops[0];
        let operands: Vec<_> = op.regions.iter().map(|region| region.ops[0].operands[0].0).collect();
        (op.kind.clone(), operands)
    };
    assert_eq!(branch(PRED, &[5, 6], &[1, 3, 2]), (OpKind::If, vec![2, 1]));
    assert_eq!(branch(S32, &[5, 6, 7], &[1, 4, 2, 3]), (OpKind::Case, vec![3, 1, 2]));
}
