//! HLO protos as programs.
//!
//! Each computation becomes a function. Instructions that apply computations have regions, which call these functions,
//! so that what is read is no larger than a multiple of the input, however computations use each other. Tuples stay as
//! they are but for the program's own parameters and results, which are their leaves: so clients pass them.
//!
//! Shardings of parameters and results become their attributes `mhlo.sharding`, those of other instructions custom
//! calls of the target `Sharding`, as in StableHLO that XLA writes.
//!
//! Layouts say how XLA would place an array in memory. Here all arrays are row-major, so they only matter where bytes
//! are seen: in literals, and in custom calls that ask for them.

pub(crate) mod call;
pub(crate) mod collective;
pub(crate) mod computation;
pub(crate) mod contraction;
mod entry;
pub(crate) mod instruction;
mod literal;
mod module;
pub(crate) mod ops;
mod shape;
mod sharding;
pub(crate) mod simple;
mod window;

use oxcall_proto::{Malformed, Message};

use self::computation::FuncReader;
use self::instruction::Instruction;
use super::fields;
use crate::{Error, Module, OpKind, ValueId};

/// Reads a serialised `HloModuleProto`, which is what an `XlaComputation` is, too.
///
/// The memory taken is bounded by a multiple of the input's length. What is read should be verified.
///
/// # Errors
/// What is wrong or not supported, with the instruction's opcode, name and source location.
pub fn read_hlo_proto(bytes: &[u8]) -> Result<Module, Error> {
    module::read(Message::new(bytes), bytes.len())
}

/// Reads a serialised `HloModuleProtoWithConfig`, of which the configuration is left aside.
///
/// # Errors
/// As for [`read_hlo_proto`].
pub fn read_hlo_proto_with_config(bytes: &[u8]) -> Result<Module, Error> {
    let module = Message::new(bytes).message(fields::with_config::MODULE)?;
    module::read(module.ok_or_else(|| Error::invalid("the proto has no module"))?, bytes.len())
}

impl From<Malformed> for Error {
    fn from(malformed: Malformed) -> Error {
        Error::invalid(malformed.to_string())
    }
}

/// How an instruction is read.
#[derive(Clone, Copy)]
pub(crate) enum Reader {
    /// As an op of one result.
    One(fn(&Instruction<'_>) -> Result<OpKind, Error>),
    /// As an op whose results are the elements of the instruction's tuple.
    Several(fn(&Instruction<'_>) -> Result<OpKind, Error>),
    /// As the ops that this adds; it gives the value.
    Ops(fn(&mut FuncReader<'_>, Instruction<'_>) -> Result<ValueId, Error>),
}

/// Dimensions, sizes or indices.
pub(crate) fn sizes(message: Message<'_>, number: u32, what: &str) -> Result<Vec<usize>, Error> {
    crate::ops::sizes(|| what.to_owned(), message.ints(number)?)
}

/// A dimension, size or index.
pub(crate) fn size(message: Message<'_>, number: u32, what: &str) -> Result<usize, Error> {
    let value = message.int(number)?;
    usize::try_from(value).map_err(|_| Error::invalid(format!("{what} must not be negative, got {value}")))
}

/// The message that an instruction of its opcode must have.
fn required<'a>(message: Message<'a>, number: u32, what: &str) -> Result<Message<'a>, Error> {
    message.message(number)?.ok_or_else(|| Error::invalid(format!("{what} are missing")))
}
