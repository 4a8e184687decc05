//! Made-up bytecode that is small and means much: what is read of it, or refused, takes memory in proportion to its
//! size. In a program of its own, since its allocator counts.

#[path = "common/bytecode.rs"]
mod bytecode;
#[path = "common/memory.rs"]
mod memory;

use bytecode::{BUILTIN, File, VHLO, attr, list, op, op_header, ty, varint};
use oxcall_hlo::{Error, ErrorKind, Module, read_bytecode};

/// Reads, and checks how much memory that takes.
fn read(bytes: &[u8]) -> Result<Module, Error> {
    memory::bounded(bytes.len(), || read_bytecode(bytes))
}

/// The kind of the error, and that it says `words`.
fn refused(result: Result<Module, Error>, kind: ErrorKind, words: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.kind, kind, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn a_plain_file_is_read() {
    let file = File::new();
    let module = read(&file.finish(&[ty::TOKEN, ty::SCALAR], attr::EMPTY_LIST, 2, 0, &[])).unwrap();
    assert_eq!(module.main().values.len(), 2);
}

#[test]
fn attributes_that_double() {
    for levels in [20, 40, 60] {
        let mut file = File::new();
        let mut last = attr::EMPTY_LIST;
        for _ in 0..levels {
            last = file.add_list([last, last]);
        }
        let dictionary = file.add(VHLO, &[varint(6), varint(1), varint(attr::MAIN), varint(last)].concat());
        let arg_attrs = file.add_list([dictionary]);
        refused(read(&file.finish(&[ty::TOKEN], arg_attrs, 1, 0, &[])), ErrorKind::TooLarge, "expand to more");
    }
}

#[test]
fn attributes_that_hold_themselves() {
    let mut file = File::new();
    let own = file.attributes.len();
    file.add_list([own]);
    let dictionary = file.add(VHLO, &[varint(6), varint(1), varint(attr::MAIN), varint(own)].concat());
    let arg_attrs = file.add_list([dictionary]);
    refused(read(&file.finish(&[ty::TOKEN], arg_attrs, 1, 0, &[])), ErrorKind::Invalid, "nest too deeply");
}

#[test]
fn types_that_double_or_hold_themselves() {
    let mut file = File::new();
    let mut last = ty::TOKEN;
    for _ in 0..30 {
        last = file.add_type(&[&[23][..], &list([last, last])].concat());
    }
    refused(read(&file.finish(&[last], attr::EMPTY_LIST, 1, 0, &[])), ErrorKind::TooLarge, "expand to more");

    for code in [1, 20, 23] {
        let mut file = File::new();
        let own = file.types.len();
        let tail = if code == 1 { varint(own) } else { [list([]), varint(own)].concat() };
        file.add_type(&[&[code][..], &if code == 23 { list([own]) } else { tail }].concat());
        refused(read(&file.finish(&[own], attr::EMPTY_LIST, 1, 0, &[])), ErrorKind::Invalid, "types nest too deeply");
    }
}

/// A type is written once, and each constant has a copy.
#[test]
fn constants_of_a_large_type() {
    let count = 4000;
    let constants = |file: &mut File, constants: usize| {
        let shape = [&[20][..], &varint(count), &varint(1 << 1).repeat(count), &varint(ty::S32)].concat();
        let ty = file.add_type(&shape);
        let constant = [varint(15), varint(ty), varint(4), vec![0; 4]].concat();
        (0..constants).map(|_| file.add(VHLO, &constant)).collect::<Vec<_>>()
    };
    let list_of = |file: &mut File, items: Vec<usize>| {
        let items = file.add_list(items);
        let dictionary = file.add_dictionary(&[(attr::MAIN, items)]);
        file.add_list([dictionary])
    };
    // As many as there are copies, or one that is copied.
    for (different, copies) in [(count, 1), (1, count)] {
        let mut file = File::new();
        let items = constants(&mut file, different).repeat(copies);
        let arg_attrs = list_of(&mut file, items);
        let result = read(&file.finish(&[ty::TOKEN], arg_attrs, 1, 0, &[]));
        refused(result, ErrorKind::TooLarge, "expand to more");
    }
    let mut file = File::new();
    let (value, large) = (constants(&mut file, 1)[0], file.types.len() - 1);
    let constant = file.op(VHLO, "constant_v1");
    let properties = file.add_properties([value]);
    let one = [op_header(constant, 0x42, attr::UNKNOWN_LOCATION), varint(properties), list([large])].concat();
    let result = read(&file.finish(&[], attr::EMPTY_LIST, count, count, &one.repeat(count)));
    refused(result, ErrorKind::TooLarge, "expand to more");
}

/// A type is written once, and each value has a copy.
#[test]
fn types_that_are_large_and_used_often() {
    let count = 3000;
    let shape = |sizes: Vec<u8>| [&[20][..], &varint(count), &sizes, &varint(ty::S32)].concat();
    for data in [
        [&[23][..], &list(vec![ty::TOKEN; count])].concat(),
        [&[23][..], &list(vec![ty::SCALAR; count])].concat(),
        [&[42][..], &list(vec![ty::TOKEN; count])].concat(),
        shape(varint(1 << 1).repeat(count)),
    ] {
        let mut file = File::new();
        let large = file.add_type(&data);
        let parameters = vec![large; count];
        let result = read(&file.finish(&parameters, attr::EMPTY_LIST, count, 0, &[]));
        refused(result, ErrorKind::TooLarge, "expand to more");
    }
}

#[test]
fn locations_that_double_are_cut_short() {
    let mut file = File::new();
    let mut last = attr::UNKNOWN_LOCATION;
    for _ in 0..60 {
        last = file.add(BUILTIN, &[varint(12), list([last, last])].concat());
    }
    let mut body = op_header(op::AFTER_ALL, 0x02, last);
    body.extend(list([ty::TOKEN]));
    assert!(read(&file.finish(&[], attr::EMPTY_LIST, 1, 1, &body)).is_ok());
}

#[test]
fn regions_nest_so_deep_and_no_deeper() {
    for (levels, fits) in [(50, true), (200, false), (100_000, false)] {
        // Each is a case without results whose only branch holds the next; the scalar is its index.
        let mut body = Vec::new();
        for _ in 0..levels {
            body.extend(op_header(op::CASE, 0x14, attr::UNKNOWN_LOCATION));
            body.extend([list([0]), varint(1 << 1), varint(1), varint(0), varint(2 << 1)].concat());
        }
        for _ in 0..levels {
            body.extend(op_header(op::RETURN, 0, attr::UNKNOWN_LOCATION));
        }
        // The innermost region has a return alone.
        let innermost = [list([0]), varint(1 << 1), varint(1), varint(0), varint(1 << 1)].concat();
        let header = op_header(op::CASE, 0x14, attr::UNKNOWN_LOCATION).len();
        let at = (levels - 1) * (header + innermost.len()) + header;
        body[at..][..innermost.len()].copy_from_slice(&innermost);
        let result = read(&File::new().finish(&[ty::SCALAR], attr::EMPTY_LIST, 1, 1, &body));
        if fits {
            result.unwrap();
        } else {
            refused(result, ErrorKind::Invalid, "regions nest deeper");
        }
    }
}

#[test]
fn lists_that_are_splats() {
    let mut file = File::new();
    let count = 1 << 30;
    let signed = varint(count << 1);
    let ty = file.add_type(&[&[20][..], &varint(1), &signed, &varint(ty::S32)].concat());
    let dims = file.add(VHLO, &[varint(15), varint(ty), varint(4), vec![0; 4]].concat());
    let properties = file.add_properties([dims]);
    let mut body = op_header(op::BROADCAST, 0x46, attr::UNKNOWN_LOCATION);
    body.extend([varint(properties), list([ty::SCALAR]), list([0])].concat());
    refused(read(&file.finish(&[ty::SCALAR], attr::EMPTY_LIST, 2, 1, &body)), ErrorKind::TooLarge, "expand to more");
}

#[test]
fn tensors_that_do_not_fit() {
    let mut file = File::new();
    let size = varint(1 << 40);
    let ty = file.add_type(&[&[20][..], &varint(2), &size, &size, &varint(ty::S32)].concat());
    refused(read(&file.finish(&[ty], attr::EMPTY_LIST, 1, 0, &[])), ErrorKind::TooLarge, "does not fit in memory");
}

#[test]
fn claims_of_many_things() {
    let plain = || File::new();
    for (values, ops) in [(1 << 40, 0), (0, 1 << 40)] {
        let bytes = plain().finish(&[], attr::EMPTY_LIST, values, ops, &[]);
        refused(read(&bytes), ErrorKind::Invalid, " items, got ");
    }
    // Nested regions that each claim as much as there is.
    let (levels, padding) = (60, 200_000);
    let mut body = Vec::new();
    for _ in 0..levels {
        body.extend(op_header(op::CASE, 0x14, attr::UNKNOWN_LOCATION));
        body.extend([list([0]), varint(1 << 1), varint(1), varint(padding), varint(padding << 1)].concat());
    }
    body.extend(vec![0; padding + 100]);
    refused(
        read(&plain().finish(&[ty::SCALAR], attr::EMPTY_LIST, 1, 1, &body)),
        ErrorKind::Invalid,
        "more values than there are bytes",
    );
}

#[test]
fn many_ops_take_memory_in_proportion() {
    let ops = 50_000;
    let mut body = Vec::new();
    for _ in 0..ops {
        body.extend(op_header(op::AFTER_ALL, 0x02, attr::UNKNOWN_LOCATION));
        body.extend(list([ty::TOKEN]));
    }
    let module = read(&File::new().finish(&[], attr::EMPTY_LIST, ops, ops, &body)).unwrap();
    assert_eq!(module.main().body.ops.len(), ops);
}

#[test]
fn the_smallest_ops_take_memory_in_proportion() {
    let mut file = File::new();
    let api_version = file.add(VHLO, &[varint(5), varint(1)].concat());
    let side_effect = file.add(VHLO, &[varint(2), varint(1)].concat());
    let none = attr::EMPTY_LIST;
    let call = [api_version, attr::MAIN, attr::MAIN, none, side_effect, none, none, none];
    let properties = file.add_properties(call);
    let ops = 200_000;
    let one = [op_header(op::CUSTOM_CALL, 0x40, attr::UNKNOWN_LOCATION), varint(properties)].concat();
    let module = read(&file.finish(&[], attr::EMPTY_LIST, 0, ops, &one.repeat(ops))).unwrap();
    assert_eq!(module.main().body.ops.len(), ops);
}

#[test]
fn groups_are_much_larger_than_the_axes_that_say_them() {
    for (devices, ops) in [(1 << 20, 1), (1 << 12, 1000)] {
        let mut file = File::new();
        let axis = file.add(VHLO, &[varint(24), varint(attr::MAIN), varint(devices << 1)].concat());
        let axes = file.add_list([axis]);
        let mesh = file.add(VHLO, &[varint(25), varint(axes), varint(0)].concat());
        let reference = file.add(VHLO, &[varint(22), varint(attr::MAIN), varint(0)].concat());
        let references = file.add_list([reference]);
        let groups = file.add(VHLO, &[varint(23), varint(mesh), varint(references)].concat());
        let zero = file.add(VHLO, &[varint(9), varint(ty::S32), varint(0)].concat());
        let no = file.add(VHLO, &[varint(2), varint(0)].concat());
        let properties = file.add_properties([zero, zero, groups, no]);
        let mut one = op_header(op::ALL_GATHER, 0x46, attr::UNKNOWN_LOCATION);
        one.extend([varint(properties), list([ty::SCALAR]), list([0])].concat());
        let bytes = file.finish(&[ty::SCALAR], attr::EMPTY_LIST, 1 + ops, ops, &one.repeat(ops));
        refused(read(&bytes), ErrorKind::TooLarge, "expand to more");
    }
}

#[test]
fn parts_of_meshes_that_are_something_else() {
    // A list where the mesh, an axis of it, or its device must be.
    let refused_with = |mesh: &dyn Fn(&mut File) -> usize| {
        let mut file = File::new();
        let mesh = mesh(&mut file);
        let groups = file.add(VHLO, &[varint(23), varint(mesh), varint(attr::EMPTY_LIST)].concat());
        let zero = file.add(VHLO, &[varint(9), varint(ty::S32), varint(0)].concat());
        let properties = file.add_properties([zero, zero, groups, zero]);
        let mut one = op_header(op::ALL_GATHER, 0x46, attr::UNKNOWN_LOCATION);
        one.extend([varint(properties), list([ty::SCALAR]), list([0])].concat());
        let error = read(&file.finish(&[ty::SCALAR], attr::EMPTY_LIST, 2, 1, &one)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid, "{error}");
    };
    refused_with(&|_| attr::EMPTY_LIST);
    refused_with(&|file| {
        let axes = file.add_list([attr::MAIN]);
        file.add(VHLO, &[varint(25), varint(axes), varint(0)].concat())
    });
    refused_with(&|file| file.add(VHLO, &[varint(25), varint(attr::EMPTY_LIST), varint(attr::MAIN << 1 | 1)].concat()));
    // A mesh that is itself its list of axes.
    refused_with(&|file| {
        let own = file.attributes.len();
        file.add(VHLO, &[varint(25), varint(own), varint(0)].concat())
    });
    // A name that no mesh has.
    refused_with(&|_| attr::MAIN);
}
