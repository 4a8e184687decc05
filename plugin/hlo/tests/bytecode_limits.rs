//! Made-up bytecode that is small and means much: what is read of it, or refused, takes memory in proportion to its
//! size. In a program of its own, since its allocator counts.

#[path = "common/memory.rs"]
mod memory;

use oxcall_hlo::{Error, ErrorKind, Module, read_bytecode};

/// Reads, and checks how much memory that takes.
fn read(bytes: &[u8]) -> Result<Module, Error> {
    memory::bounded(bytes.len(), || read_bytecode(bytes))
}

fn varint(value: usize) -> Vec<u8> {
    let bits = (usize::BITS - value.leading_zeros()).max(1) as usize;
    let length = bits.div_ceil(7);
    assert!(length < 9, "not needed here");
    let word = (value << 1 | 1) << (length - 1);
    word.to_le_bytes()[..length].to_vec()
}

fn list(items: impl IntoIterator<Item = usize>) -> Vec<u8> {
    let items: Vec<Vec<u8>> = items.into_iter().map(varint).collect();
    [varint(items.len()), items.concat()].concat()
}

fn section(number: u8, data: &[u8]) -> Vec<u8> {
    [&[number][..], &varint(data.len()), data].concat()
}

/// A file that is being made. Names are strings of `STRINGS`, by index.
struct File {
    attributes: Vec<Vec<u8>>,
    types: Vec<Vec<u8>>,
    properties: Vec<Vec<u8>>,
}

const STRINGS: &[&str] = &[
    "vhlo",
    "builtin",
    "module",
    "func_v1",
    "return_v1",
    "after_all_v1",
    "case_v1",
    "broadcast_in_dim_v1",
    "custom_call_v1",
    "main",
    "all_gather_v2",
];

/// Op names, by number.
mod op {
    pub(super) const MODULE: usize = 0;
    pub(super) const FUNC: usize = 1;
    pub(super) const RETURN: usize = 2;
    pub(super) const AFTER_ALL: usize = 3;
    pub(super) const CASE: usize = 4;
    pub(super) const BROADCAST: usize = 5;
    pub(super) const CUSTOM_CALL: usize = 6;
    pub(super) const ALL_GATHER: usize = 7;
}

/// Types that every file has.
mod ty {
    pub(super) const TOKEN: usize = 0;
    pub(super) const S32: usize = 1;
    pub(super) const SCALAR: usize = 2;
}

/// Attributes that every file has.
mod attr {
    pub(super) const MAIN: usize = 0;
    pub(super) const UNKNOWN_LOCATION: usize = 1;
    pub(super) const EMPTY_LIST: usize = 2;
}

/// The dialects: those of attributes and types from here on say which one they are of.
const VHLO: usize = 0;
const BUILTIN: usize = 1;

impl File {
    fn new() -> File {
        let mut file = File { attributes: Vec::new(), types: Vec::new(), properties: Vec::new() };
        file.add_type(&[22]);
        file.add_type(&[13]);
        file.add_type(&[&[20][..], &list([]), &varint(ty::S32)].concat());
        file.add(VHLO, &[varint(14), varint(9)].concat());
        file.add(BUILTIN, &varint(15));
        file.add(VHLO, &[varint(1), list([])].concat());
        file
    }

    /// Adds an attribute of a dialect.
    fn add(&mut self, dialect: usize, data: &[u8]) -> usize {
        self.attributes.push([varint(dialect), data.to_vec()].concat());
        self.attributes.len() - 1
    }

    /// Adds a list.
    fn add_list(&mut self, items: impl IntoIterator<Item = usize>) -> usize {
        self.add(VHLO, &[varint(1), list(items)].concat())
    }

    /// Adds a type of VHLO. The codes here are below 64, so a byte of a varint.
    fn add_type(&mut self, data: &[u8]) -> usize {
        self.types.push([&varint(usize::from(data[0]))[..], &data[1..]].concat());
        self.types.len() - 1
    }

    fn add_properties(&mut self, ids: impl IntoIterator<Item = usize>) -> usize {
        self.properties.push(ids.into_iter().flat_map(varint).collect());
        self.properties.len() - 1
    }

    /// The file whose function `main` has these parameters, attributes of parameters, and `ops` ops before the return.
    fn finish(mut self, parameters: &[usize], arg_attrs: usize, values: usize, ops: usize, body: &[u8]) -> Vec<u8> {
        let function = self.add_type(&[&[8][..], &list(parameters.iter().copied()), &list([])].concat());
        let function = self.add(VHLO, &[varint(17), varint(function)].concat());
        let none = attr::EMPTY_LIST;
        let properties = self.add_properties([arg_attrs, function, none, attr::MAIN, attr::MAIN]);
        let has_arguments = !parameters.is_empty();
        let mut region = [varint(1), varint(values), varint((ops + 1) << 1 | usize::from(has_arguments))].concat();
        if has_arguments {
            region.extend(list(parameters.iter().map(|ty| ty << 1)));
            region.push(0);
        }
        region.extend(body);
        region.extend(op_header(op::RETURN, 0, attr::UNKNOWN_LOCATION));
        let mut func = op_header(op::FUNC, 0x50, attr::UNKNOWN_LOCATION);
        func.extend([varint(properties), varint(1 << 1 | 1)].concat());
        func.extend(section(4, &region));
        let module_region = [varint(1), varint(0), varint(1 << 1), func].concat();
        let mut module = [varint(1 << 1), op_header(op::MODULE, 0x10, attr::UNKNOWN_LOCATION)].concat();
        module.extend(varint(1 << 1 | 1));
        module.extend(section(4, &module_region));
        self.container(&module)
    }

    fn container(&self, ir: &[u8]) -> Vec<u8> {
        let lengths = STRINGS.iter().rev().flat_map(|string| varint(string.len() + 1));
        let mut strings: Vec<u8> = varint(STRINGS.len()).into_iter().chain(lengths).collect();
        STRINGS.iter().for_each(|string| strings.extend([string.as_bytes(), &[0]].concat()));
        let names = [(BUILTIN, 2..3), (VHLO, 3..9), (VHLO, 10..11)];
        let mut dialects = [varint(2), varint(0), varint(1 << 1), varint(8)].concat();
        for (dialect, range) in names {
            dialects.extend([varint(dialect), varint(range.len())].concat());
            range.for_each(|name| dialects.extend(varint(name << 1 | 1)));
        }
        let mut offsets = [varint(self.attributes.len()), varint(self.types.len())].concat();
        let mut entries = Vec::new();
        for attribute in &self.attributes {
            // The first byte is the dialect.
            offsets.extend([&attribute[..1], &varint(1), &varint((attribute.len() - 1) << 1 | 1)].concat());
            entries.extend(&attribute[1..]);
        }
        for ty in &self.types {
            offsets.extend([varint(VHLO), varint(1), varint(ty.len() << 1 | 1)].concat());
            entries.extend(ty);
        }
        let mut properties = varint(self.properties.len());
        self.properties.iter().for_each(|data| properties.extend([&varint(data.len())[..], data].concat()));
        let sections = [(0, strings), (1, dialects), (2, entries), (3, offsets), (4, ir.to_vec()), (8, properties)];
        let sections = sections.iter().flat_map(|(number, data)| section(*number, data));
        [&b"ML\xefR\x0dmade up\0"[..], &sections.collect::<Vec<u8>>()].concat()
    }
}

fn op_header(name: usize, mask: u8, location: usize) -> Vec<u8> {
    [&varint(name)[..], &[mask], &varint(location)].concat()
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
