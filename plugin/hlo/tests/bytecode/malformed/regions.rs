//! Regions, and the headers of ops in them.

use super::{case, op_with, read_body, refused, return_op, token, unsupported};
use crate::made::{BUILTIN, File, VHLO, attr, has, list, op, ty, varint};

#[test]
fn regions_may_follow_each_other() {
    let ops = 100;
    let body = [case(0, 1, &return_op()).repeat(ops), return_op()].concat();
    let module = read_body(File::new(), 1, ops + 1, &body).unwrap();
    assert_eq!(module.main().body.ops.len(), ops);
    let body = [case(0, ops + 1, &body), return_op()].concat();
    let module = read_body(File::new(), 1, 2, &body).unwrap();
    assert_eq!(module.main().body.ops[0].regions[0].ops.len(), ops);
}

#[test]
fn regions_end_with_their_return() {
    let file = File::new;
    refused(read_body(file(), 1, 0, &[]), "a region must end with a return, got no op");
    refused(read_body(file(), 2, 1, &token()), "stablehlo.after_all: a region must end with a return");
    let early = [return_op(), return_op()].concat();
    refused(read_body(file(), 1, 2, &early), "func.return: a return must be the last op of a region");
    let with_results = op_with(op::RETURN, has::RESULTS, &[list([ty::TOKEN])]);
    refused(read_body(file(), 2, 1, &with_results), "func.return: a return must have no results");
}

#[test]
fn values_are_defined_in_their_region() {
    let file = File::new;
    let body = [token(), token(), return_op()].concat();
    refused(read_body(file(), 2, 3, &body), "the region defines more values than it announces");
    read_body(file(), 3, 3, &body).unwrap();
    let use_of = |number| op_with(op::AFTER_ALL, has::RESULTS | has::OPERANDS, &[list([ty::TOKEN]), list([number])]);
    refused(
        read_body(file(), 2, 2, &[use_of(1), return_op()].concat()),
        "stablehlo.after_all: operand 1 is not defined before it is used",
    );
    // A value of a region that has ended, and the result of the op that the region belongs to.
    let body = [case(1, 2, &[token(), return_op()].concat()), use_of(1), return_op()].concat();
    refused(read_body(file(), 2, 3, &body), "operand 1 is not defined before it is used");
    let inner = [use_of(1), return_op()].concat();
    let region = [varint(1), varint(1), varint(2 << 1), inner].concat();
    let parts = [list([ty::TOKEN]), list([0]), varint(1 << 1), region];
    let own = op_with(op::CASE, has::RESULTS | has::OPERANDS | has::REGIONS, &parts);
    refused(read_body(file(), 2, 2, &[own, return_op()].concat()), "operand 1 is not defined before it is used");
}

#[test]
fn casts_between_dialects_keep_types() {
    let of = |dialect: &str, name: &str, types: &[usize]| {
        let mut file = File::new();
        let dialect = if dialect == "builtin" { BUILTIN } else { file.dialect(dialect) };
        let name = file.op(dialect, name);
        let parts = [list(types.iter().copied()), list([0])];
        let cast = op_with(name, has::RESULTS | has::OPERANDS, &parts);
        read_body(file, 1 + types.len(), 2, &[cast, return_op()].concat())
    };
    let cast = |types: &[usize]| of("builtin", "unrealized_conversion_cast", types);
    assert_eq!(cast(&[ty::SCALAR]).unwrap().main().body.ops.len(), 0);
    // Where Shardy's propagation ends.
    let barrier = |types: &[usize]| of("sdy", "propagation_barrier", types);
    assert_eq!(barrier(&[ty::SCALAR]).unwrap().main().body.ops.len(), 0);
    refused(cast(&[]), "expected a result for each operand, got 0 results for 1 operands");
    refused(cast(&[ty::TOKEN]), "the result must have the type of the operand, tensor<i32>, got !stablehlo.token");
}

#[test]
fn ops_have_their_number_of_regions() {
    let none = op_with(op::CASE, has::OPERANDS, &[list([0])]);
    refused(
        read_body(File::new(), 1, 2, &[none, return_op()].concat()),
        "stablehlo.case: expected at least one regions, got 0",
    );
    let region = [varint(1), varint(0), varint(1 << 1), return_op()].concat();
    let one = op_with(op::AFTER_ALL, has::REGIONS, &[varint(1 << 1), region]);
    refused(
        read_body(File::new(), 1, 2, &[one, return_op()].concat()),
        "stablehlo.after_all: expected 0 regions, got 1",
    );
}

#[test]
fn ops_that_are_not_known() {
    for (dialect, name, words) in [
        ("vhlo", "nothing_v1", "stablehlo.nothing: no supported release of StableHLO has an op `nothing_v1`"),
        ("vhlo", "add_v2", "stablehlo.add: no supported release of StableHLO has an op `add_v2`"),
        ("vhlo", "infeed_v1", "stablehlo.infeed: infeed and outfeed are not supported"),
        ("sdy", "nothing", "sdy.nothing: this op of Shardy is not supported"),
        ("sdy", "infeed", "sdy.infeed: this op of Shardy is not supported"),
        ("stablehlo", "add", "stablehlo.add: this bytecode is not a portable artifact"),
        ("arith", "addi", "arith.addi: this dialect is not supported"),
    ] {
        let mut file = File::new();
        let dialect = if dialect == "vhlo" { VHLO } else { file.dialect(dialect) };
        let name = file.op(dialect, name);
        unsupported(read_body(file, 1, 2, &[op_with(name, 0, &[]), return_op()].concat()), words);
    }
}

#[test]
fn parts_of_headers() {
    unsupported(
        read_body(File::new(), 1, 1, &op_with(op::RETURN, has::SUCCESSORS, &[list([])])),
        "func.return: branches between blocks are not supported",
    );
    let parts = [varint(attr::MAIN), list([ty::TOKEN])];
    let with_attributes = op_with(op::AFTER_ALL, has::ATTRIBUTES | has::RESULTS, &parts);
    refused(
        read_body(File::new(), 2, 2, &[with_attributes, return_op()].concat()),
        "the attributes of an op must be a dictionary",
    );
    for (blocks, words) in
        [(0, "a function or region without a body is not supported"), (2, "a region of 2 blocks is not supported")]
    {
        let case =
            op_with(op::CASE, has::OPERANDS | has::REGIONS, &[list([0]), varint(1 << 1), varint(blocks), varint(0)]);
        unsupported(read_body(File::new(), 1, 2, &[case, return_op()].concat()), words);
    }
    let mut file = File::new();
    let too_many = file.add_properties([attr::MAIN]);
    let with_properties =
        op_with(op::AFTER_ALL, has::PROPERTIES | has::RESULTS, &[varint(too_many), list([ty::TOKEN])]);
    refused(read_body(file, 2, 2, &[with_properties, return_op()].concat()), "stablehlo.after_all: unknown properties");
}

/// Of one result there is one order of uses; of more, those that follow say which result they are of.
#[test]
fn orders_of_uses_are_skipped() {
    let mask = has::RESULTS | has::USE_LISTS;
    let one = op_with(op::AFTER_ALL, mask, &[list([ty::TOKEN]), varint(3 << 1), [2, 0, 1].map(varint).concat()]);
    let module = read_body(File::new(), 2, 2, &[one, return_op()].concat()).unwrap();
    assert_eq!(module.main().body.ops.len(), 1);
    let mut file = File::new();
    let name = file.op(BUILTIN, "unrealized_conversion_cast");
    let uses = [2, 1, 2 << 1, 1, 0, 0, 2 << 1 | 1, 0, 1].map(varint).concat();
    let parts = [list([ty::SCALAR; 2]), list([0, 0]), uses];
    let two = op_with(name, mask | has::OPERANDS, &parts);
    read_body(file, 3, 2, &[two, return_op()].concat()).unwrap();
}

#[test]
fn properties_may_be_a_dictionary() {
    let with = |make: &dyn Fn(&mut File) -> usize| {
        let mut file = File::new();
        let name = file.unregistered_op(VHLO, "after_all_v1");
        let properties = make(&mut file);
        let parts = [varint(properties), list([ty::TOKEN])];
        let op = op_with(name, has::PROPERTIES | has::RESULTS, &parts);
        read_body(file, 2, 2, &[op, return_op()].concat())
    };
    with(&|file| file.add_dictionary(&[])).unwrap();
    refused(with(&|_| attr::EMPTY_LIST), "stablehlo.after_all: the properties of an op must be a dictionary");
    // An op that needs some.
    let broadcast = |name: &str| {
        let mut file = File::new();
        let op = file.unregistered_op(VHLO, "broadcast_in_dim_v1");
        let scalars = file.add_type(&[&[20][..], &list([0]), &varint(ty::S32)].concat());
        let dims = file.add(VHLO, &[varint(15), varint(scalars), varint(0)].concat());
        let name = file.text(name);
        let properties = file.add_dictionary(&[(name, dims)]);
        let parts = [varint(properties), list([ty::SCALAR]), list([0])];
        let op = op_with(op, has::PROPERTIES | has::RESULTS | has::OPERANDS, &parts);
        read_body(file, 2, 2, &[op, return_op()].concat())
    };
    broadcast("broadcast_dimensions").unwrap();
    refused(broadcast("dims"), "stablehlo.broadcast_in_dim: the attribute `broadcast_dimensions` is missing");
}
