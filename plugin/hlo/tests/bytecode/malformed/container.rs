//! Sections, versions, and the module with its functions.

use oxcall_hlo::read_bytecode;

use super::{op_with, refused, return_op, token, unsupported};
use crate::made::{BUILTIN, File, NEWEST, VHLO, attr, container, has, in_module, list, op, section, ty, varint};

#[test]
fn modules_and_their_members() {
    let module = |ir: &[u8]| read_bytecode(&container(NEWEST, &File::new().sections(ir)));
    refused(module(&varint(0)), "expected one module, got 0 ops");
    let func = op_with(op::FUNC, has::REGIONS, &[varint(1 << 1), varint(0)]);
    refused(module(&[varint(1 << 1), func].concat()), "expected a module, got `func.func`");
    let bare = op_with(op::MODULE, 0, &[]);
    refused(module(&[varint(1 << 1), bare].concat()), "expected a module, got `builtin.module`");
    refused(module(&in_module(&token())), "stablehlo.after_all: the op must be in a function");
    let none = [varint(1), varint(0), varint(0)].concat();
    let empty = op_with(op::MODULE, has::REGIONS, &[varint(1 << 1 | 1), section(4, &none)]);
    refused(module(&[varint(1 << 1), empty].concat()), "expected a function `main`, got no public function");
    let other = op_with(op::MODULE, has::REGIONS, &[varint(1 << 1 | 1), section(8, &none)]);
    refused(module(&[varint(1 << 1), other].concat()), "expected regions, got section 8");
}

#[test]
fn functions_match_their_types() {
    let with = |parameters: usize, arg_attrs: &[usize], body: &[u8]| {
        let mut file = File::new();
        let empty = file.add_dictionary(&[]);
        let arg_attrs = file.add_list(arg_attrs.iter().map(|_| empty));
        let func = file.func(&vec![ty::SCALAR; parameters], arg_attrs, parameters, 1, body);
        read_bytecode(&file.module(&func))
    };
    with(2, &[0, 0], &return_op()).unwrap();
    refused(
        with(2, &[0], &return_op()),
        "func.func: the attribute `arg_attrs` must have 2 entries, one for each value, got 1",
    );
    let with_operand = op_with(op::RETURN, has::OPERANDS, &[list([1])]);
    refused(with(2, &[], &with_operand), "the function has 2 parameters and 1 results, but its type has 2 and 0");
}

#[test]
fn sections() {
    let mut file = File::new();
    let func = file.func(&[ty::TOKEN], attr::EMPTY_LIST, 1, 1, &return_op());
    let all = file.sections(&in_module(&func));
    read_bytecode(&container(NEWEST, &all)).unwrap();
    for (index, name) in ["String", "Dialect", "AttrType", "AttrTypeOffset", "Ir"].iter().enumerate() {
        let mut rest = all.clone();
        rest.remove(index);
        let words = format!("malformed bytecode: the {name} section is missing");
        refused(read_bytecode(&container(NEWEST, &rest)), &words);
    }
    let with =
        |number: u8, data: &[u8]| read_bytecode(&container(NEWEST, &[&all[..], &[(number, data.to_vec())]].concat()));
    refused(with(4, &[]), "section 4 is there twice");
    refused(with(9, &[]), "unknown section 9");
    // Resources, which nothing needs.
    with(5, &[1, 2, 3]).unwrap();
}

/// Attributes come in groups of one dialect each, together as many as announced.
#[test]
fn groups_of_attributes() {
    let with = |announced: usize| {
        let one = varint(1 << 1 | 1);
        let group = [varint(VHLO), varint(2), one.repeat(2)].concat();
        let mut sections = File::new().sections(&[]);
        sections[3].1 = [varint(announced), varint(0), group.repeat(2)].concat();
        read_bytecode(&container(NEWEST, &sections))
    };
    refused(with(3), "the section has more attributes or types than it announces");
    // Then nothing is wrong before the ops.
    refused(with(4), "malformed bytecode at byte 196: unexpected end");
}

#[test]
fn sections_may_be_aligned() {
    const ALIGNED: u8 = 0x80;
    let plain = container(NEWEST, &[]);
    let mut file = File::new();
    let func = file.func(&[ty::TOKEN], attr::EMPTY_LIST, 1, 1, &return_op());
    let all = file.sections(&in_module(&func));
    let aligned = |alignment: usize, padding: u8| {
        let mut bytes = plain.clone();
        for (number, data) in &all {
            bytes.extend([&[number | ALIGNED][..], &varint(data.len()), &varint(alignment)].concat());
            while !bytes.len().is_multiple_of(alignment) {
                bytes.push(padding);
            }
            bytes.extend(data);
        }
        read_bytecode(&bytes)
    };
    for alignment in [1, 2, 8, 32] {
        assert_eq!(aligned(alignment, 0xcb).unwrap().main().name, "main");
    }
    refused(aligned(3, 0xcb), "expected a power of two as alignment, got 3");
    refused(aligned(32, 0), "expected padding");
}

#[test]
fn names() {
    let mut file = File::new();
    file.op(VHLO, b"\xff");
    refused(read_bytecode(&file.finish(&[], attr::EMPTY_LIST, 0, 0, &[])), "a name must be UTF-8");
    let mut sections = File::new().sections(&[]);
    let strings = &mut sections[0].1;
    *strings.last_mut().unwrap() = b'!';
    refused(read_bytecode(&container(NEWEST, &sections)), "unterminated string");
}

/// Version 6 changed only what no program here has.
#[test]
fn versions_of_bytecode() {
    let of = |version| {
        let mut file = File::new();
        file.version = version;
        read_bytecode(&file.finish(&[ty::TOKEN], attr::EMPTY_LIST, 1, 0, &[]))
    };
    assert_eq!(of(5).unwrap().to_string(), of(6).unwrap().to_string());
    refused(of(4), "func.func: malformed bytecode at byte 231: this version of bytecode cannot have properties");
}

/// What an op's header has, the number of its name, and the header's parts.
type Parts = (u8, usize, Vec<u8>);

/// The name is a property, an entry of a dictionary of properties, or an attribute.
#[test]
fn names_of_modules() {
    let name_of = |make: &dyn Fn(&mut File, (usize, usize)) -> Parts| {
        let mut file = File::new();
        let entry = (file.text("sym_name"), file.text("a name"));
        let (mask, name, parts) = make(&mut file, entry);
        let func = file.func(&[ty::TOKEN], attr::EMPTY_LIST, 1, 1, &return_op());
        let region = [&varint(1)[..], &varint(0), &varint(1 << 1), &func].concat();
        let module = op_with(name, has::REGIONS | mask, &[parts, varint(1 << 1 | 1), section(4, &region)]);
        let ir = [varint(1 << 1), module].concat();
        read_bytecode(&container(NEWEST, &file.sections(&ir))).unwrap().name
    };
    assert_eq!(name_of(&|_, _| (0, op::MODULE, Vec::new())), "");
    let native = |file: &mut File, (_, name): (usize, usize)| {
        let properties = file.add_properties([name << 1 | 1]);
        (has::PROPERTIES, op::MODULE, varint(properties))
    };
    assert_eq!(name_of(&native), "a name");
    let unnamed = |file: &mut File, (_, name): (usize, usize)| {
        let properties = file.add_properties([name << 1]);
        (has::PROPERTIES, op::MODULE, varint(properties))
    };
    assert_eq!(name_of(&unnamed), "");
    let dictionary = |file: &mut File, entry: (usize, usize)| {
        let module = file.unregistered_op(BUILTIN, "module");
        let properties = file.add_dictionary(&[entry]);
        (has::PROPERTIES, module, varint(properties))
    };
    assert_eq!(name_of(&dictionary), "a name");
    let attribute = |file: &mut File, entry: (usize, usize)| {
        let attributes = file.add_dictionary(&[entry]);
        (has::ATTRIBUTES, op::MODULE, varint(attributes))
    };
    assert_eq!(name_of(&attribute), "a name");
}

#[test]
fn meshes_have_no_regions() {
    let mut file = File::new();
    let sdy = file.dialect("sdy");
    let mesh = file.op(sdy, "mesh");
    let op = op_with(mesh, has::REGIONS, &[varint(1 << 1), varint(0)]);
    unsupported(read_bytecode(&file.module(&op)), "sdy.mesh: this op of Shardy is not supported");
}
