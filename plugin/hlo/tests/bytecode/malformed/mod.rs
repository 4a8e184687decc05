//! Made-up bytecode, each with one mistake or with what no writer of the corpus writes.

mod attributes;
mod container;
mod regions;
mod shardings;
mod types;

use oxcall_hlo::{Attribute, Error, ErrorKind, Module, read_bytecode};

use crate::made::{File, attr, has, list, op, op_header, ty, varint};

/// The kind of the error, and that it says `words`.
#[track_caller]
fn refused(result: Result<Module, Error>, words: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

#[track_caller]
fn unsupported(result: Result<Module, Error>, words: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

/// Reads a function of one parameter, a scalar, whose region has these ops and no return but one that is among them.
fn read_body(mut file: File, values: usize, ops: usize, body: &[u8]) -> Result<Module, Error> {
    let func = file.func(&[ty::SCALAR], attr::EMPTY_LIST, values, ops, body);
    read_bytecode(&file.module(&func))
}

/// Reads what a dictionary of a parameter has as its only entry.
fn read_attribute(mut file: File, value: usize) -> Result<Attribute, Error> {
    let dictionary = file.add_dictionary(&[(attr::MAIN, value)]);
    let arg_attrs = file.add_list([dictionary]);
    let mut module = read_bytecode(&file.finish(&[ty::TOKEN], arg_attrs, 1, 0, &[]))?;
    let func = &mut module.funcs[0];
    Ok(func.param_attributes[0].remove(0).1)
}

/// The header of an op without a source location, and what follows it.
fn op_with(name: usize, mask: u8, rest: &[Vec<u8>]) -> Vec<u8> {
    [op_header(name, mask, attr::UNKNOWN_LOCATION), rest.concat()].concat()
}

fn return_op() -> Vec<u8> {
    op_with(op::RETURN, 0, &[])
}

/// An op that makes a token.
fn token() -> Vec<u8> {
    op_with(op::AFTER_ALL, has::RESULTS, &[list([ty::TOKEN])])
}

/// A case of the first parameter with one branch, which announces so many values and ops.
fn case(values: usize, ops: usize, branch: &[u8]) -> Vec<u8> {
    let region = [varint(1), varint(values), varint(ops << 1), branch.to_vec()].concat();
    op_with(op::CASE, has::OPERANDS | has::REGIONS, &[list([0]), varint(1 << 1), region])
}

/// The codes of types of VHLO.
mod code {
    pub(super) const BOOL: u8 = 0;
    pub(super) const F32: u8 = 4;
    pub(super) const S4: u8 = 10;
    pub(super) const S8: u8 = 11;
    pub(super) const S16: u8 = 12;
    pub(super) const U4: u8 = 15;
    pub(super) const U8: u8 = 16;
    pub(super) const U16: u8 = 17;
    pub(super) const U64: u8 = 19;
}
