//! What ops mean: from their attributes to [`OpKind`]s.

mod attributes;
mod calls;
mod contraction;
mod element_wise;
mod names;
mod shape;
mod window;

use std::{collections::HashMap, sync::LazyLock};

use self::attributes::Reader;
use super::{Error, Parser, given::Given};
use crate::{BinaryOp, OpKind, Region, UnaryOp};

pub(super) use self::names::canonical_name;

/// Reads the attributes of an op.
type Read = fn(&mut Reader) -> Result<OpKind, Error>;

/// How the attributes of each op are read, by its canonical name.
static OPS: LazyLock<HashMap<&'static str, Read>> = LazyLock::new(|| {
    let unary = UnaryOp::ALL.iter().map(|op| (op.name(), element_wise::unary as Read));
    let binary = BinaryOp::ALL.iter().map(|op| (op.name(), element_wise::binary as Read));
    let tables = [element_wise::OPS, shape::OPS, window::OPS, contraction::OPS, calls::OPS];
    unary.chain(binary).chain(tables.into_iter().flatten().copied()).collect()
});

/// What an op does, and its regions.
pub(super) fn op_kind<'a>(parser: &mut Parser<'a>, op: Given<'a>) -> Result<(OpKind, Vec<Region>), Error> {
    let name = canonical_name(op.name)?;
    let read = OPS.get(name).ok_or_else(|| Error::unsupported("the op is not supported"))?;
    let mut reader = Reader { parser, op, name };
    let kind = read(&mut reader)?;
    reader.check_unused()?;
    Ok((kind, reader.op.regions))
}

/// The element-wise function of two operands of this canonical name.
pub(super) fn binary_op(name: &str) -> Option<BinaryOp> {
    BinaryOp::from_name(name)
}
