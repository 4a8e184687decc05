//! Made-up HLO protos that are small and mean much: what is read of them, or refused, takes memory in proportion to
//! their size. In a program of its own, since its allocator counts.

#[path = "common/hlo.rs"]
mod hlo;
#[path = "common/memory.rs"]
mod memory;

use hlo::{F32, S32, array, computation, instruction, module, parameter, tuple};
use oxcall_hlo::{Error, ErrorKind, Module, read_hlo_proto, verify};
use oxcall_proto::Writer;

/// Reads and verifies, and checks how much memory that takes.
fn read(bytes: &[u8]) -> Result<Module, Error> {
    memory::bounded(bytes.len(), || {
        let module = read_hlo_proto(bytes)?;
        verify(&module)?;
        Ok(module)
    })
}

#[test]
fn many_of_the_smallest_instructions() {
    let count = 100_000;
    let mut token = Writer::default();
    token.int(2, 17);
    let mut instructions = Vec::new();
    for id in 0..count {
        let mut instruction = Writer::default();
        instruction.bytes(2, "after-all").message(3, &token).int(35, id);
        instructions.push(instruction);
    }
    let module = read(&module(1, &[computation(1, 0, &instructions)])).unwrap();
    assert_eq!(module.main().body.ops.len(), count as usize);
}

#[test]
fn tuples_of_many_elements_that_are_used_often() {
    let wide = || tuple(&vec![array(S32, &[]); 2000]);
    let body = computation(1, 1, &[parameter(0, 1, wide())]);
    let mut cond = vec![parameter(0, 1, wide())];
    cond.push(instruction("constant", 2, array(1, &[]), &[], |message| {
        message.nested(8, |literal| _ = literal.nested(1, |shape| _ = shape.int(2, 1)).ints(2, [0]));
    }));
    let cond = computation(2, 2, &cond);
    let mut entry = vec![parameter(0, 1, wide())];
    for id in 2..200 {
        entry.push(instruction("while", id, wide(), &[id - 1], |message| _ = message.ints(38, [1, 2])));
    }
    // A call of the same computation, whose own bytes say little.
    for id in 200..20_000 {
        entry.push(instruction("call", id, array(F32, &[]), &[1], |message| _ = message.ints(38, [1])));
    }
    let error = read(&module(3, &[body, cond, computation(3, 199, &entry)])).unwrap_err();
    assert!(error.to_string().contains("the computation must return"), "{}", error.message.len());
}

#[test]
fn operands_that_are_many() {
    let sum = [parameter(0, 1, array(F32, &[])), parameter(1, 2, array(F32, &[]))];
    let add = instruction("add", 3, array(F32, &[]), &[1, 2], |_| {});
    let sum = computation(1, 3, &[&sum[..], &[add]].concat());
    let mut entry = vec![parameter(0, 1, array(F32, &[]))];
    entry.push(instruction("sort", 2, array(F32, &[]), &vec![1; 1_000_000], |message| {
        message.ints(38, [1]).ints(14, [0]);
    }));
    let error = read(&module(2, &[sum, computation(2, 2, &entry)])).unwrap_err();
    assert!(error.to_string().contains("must take 2000000 operands, got 2"), "{error}");
}

#[test]
fn shapes_and_literals_that_claim_much() {
    let of = |shape: Writer| {
        read(&module(
            1,
            &[computation(1, 2, &[instruction("iota", 2, shape, &[], |message| _ = message.ints(14, [0]))])],
        ))
    };
    of(array(F32, &[1 << 40])).unwrap();
    assert!(of(array(F32, &vec![1; 100_000])).is_err());
    let deep = (0..2000).fold(array(F32, &[]), |shape, _| tuple(&[shape]));
    assert!(of(deep).is_err());
    let constant = instruction("constant", 2, array(F32, &[1 << 40]), &[], |message| {
        message.nested(8, |literal| _ = literal.message(1, &array(F32, &[1 << 40])).ints(8, [0; 4]));
    });
    assert!(read(&module(1, &[computation(1, 2, &[constant])])).is_err());
}

#[test]
fn tuples_of_the_entry_as_deep_as_they_may_be() {
    let leaves = || vec![array(F32, &[]); 5000];
    let deep = || (0..7).fold(tuple(&leaves()), |shape, _| tuple(&[shape]));
    let module = read(&module(1, &[computation(1, 1, &[parameter(0, 1, deep())])])).unwrap();
    assert_eq!((module.main().body.params.len(), module.main().body.results.len()), (5000, 5000));
}

/// A branch is a byte or two, and has a value of the type that the instruction says once.
#[test]
fn branches_that_are_many() {
    let wide = || tuple(&vec![array(S32, &[]); 2000]);
    let branch = computation(1, 1, &[parameter(0, 1, wide())]);
    let program = |count: usize| {
        let (operands, called) = ([&[2][..], &vec![1; count]].concat(), vec![1; count]);
        let conditional = instruction("conditional", 3, wide(), &operands, |message| _ = message.ints(38, called));
        let entry = computation(2, 3, &[parameter(0, 1, wide()), parameter(1, 2, array(S32, &[])), conditional]);
        module(2, &[branch.clone(), entry])
    };
    // What a small program may take does not hang on its size alone.
    read(&program(40)).unwrap();
    too_large(&program(10_000));
}

/// Each operand of an exchange becomes several arrays of the rank that the result says once.
#[test]
fn exchanges_of_many_arrays() {
    let flat = || array(F32, &vec![1; 2000]);
    let exchange = instruction("all-to-all", 2, flat(), &vec![1; 5000], |_| {});
    too_large(&module(1, &[computation(1, 2, &[parameter(0, 1, flat()), exchange])]));
    // The bounds of the slices are most of what a few take.
    let exchange = |rank: usize| {
        let shape = || array(F32, &vec![1; rank]);
        let exchange = instruction("all-to-all", 2, shape(), &[1; 60], |_| {});
        read(&module(1, &[computation(1, 2, &[parameter(0, 1, shape()), exchange])]))
    };
    assert_eq!(exchange(2000).unwrap_err().kind, ErrorKind::TooLarge);
    assert!(exchange(200).map_or_else(|error| error.kind != ErrorKind::TooLarge, |_| true));
    // The ops count, too.
    let scalar = || array(F32, &[]);
    let exchange = instruction("all-to-all", 2, scalar(), &vec![1; 500_000], |_| {});
    too_large(&module(1, &[computation(1, 2, &[parameter(0, 1, scalar()), exchange])]));
}

#[track_caller]
fn too_large(bytes: &[u8]) {
    let error = read(bytes).unwrap_err();
    assert_eq!(error.kind, ErrorKind::TooLarge, "{error}");
}
