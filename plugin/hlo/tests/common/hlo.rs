//! HLO protos made by hand. Numbers of fields are those of `hlo.proto` and `xla_data.proto`.
#![allow(dead_code, reason = "each program of tests uses a part")]

use oxcall_proto::Writer;

/// `PrimitiveType`.
pub(crate) const F32: i64 = 11;
pub(crate) const S32: i64 = 4;

/// The shape of an array.
pub(crate) fn array(element: i64, dims: &[i64]) -> Writer {
    let mut shape = Writer::default();
    shape.int(2, element).ints(3, dims.iter().copied());
    shape
}

/// The shape of a tuple.
pub(crate) fn tuple(elements: &[Writer]) -> Writer {
    let mut shape = Writer::default();
    shape.int(2, 13);
    elements.iter().for_each(|element| _ = shape.message(4, element));
    shape
}

/// An instruction, whose name is its opcode and id, with what `more` adds.
pub(crate) fn instruction(
    opcode: &str,
    id: i64,
    shape: Writer,
    operands: &[i64],
    more: impl FnOnce(&mut Writer),
) -> Writer {
    let mut instruction = Writer::default();
    instruction.bytes(1, format!("{opcode}.{id}")).bytes(2, opcode).message(3, &shape);
    instruction.int(35, id).ints(36, operands.iter().copied());
    more(&mut instruction);
    instruction
}

/// A parameter.
pub(crate) fn parameter(number: i64, id: i64, shape: Writer) -> Writer {
    instruction("parameter", id, shape, &[], |message| _ = message.int(9, number))
}

/// A computation, whose root is its last instruction.
pub(crate) fn computation(id: i64, root: i64, instructions: &[Writer]) -> Writer {
    let mut computation = Writer::default();
    computation.bytes(1, format!("computation{id}")).int(5, id).int(6, root);
    instructions.iter().for_each(|instruction| _ = computation.message(2, instruction));
    computation
}

/// A module, whose entry is the last computation.
pub(crate) fn module(entry: i64, computations: &[Writer]) -> Vec<u8> {
    let mut module = Writer::default();
    module.bytes(1, "made_up").int(6, entry);
    computations.iter().for_each(|computation| _ = module.message(3, computation));
    module.finish()
}
