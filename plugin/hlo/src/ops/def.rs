//! The columns of the table.

use super::form::Form;
use super::source::Source;
use crate::hlo_proto::{FuncReader, Instruction, Reader};
use crate::{BinaryOp, Error, OpKind, UnaryOp, ValueId};

/// An op as the formats have it. Rules and writers are methods of [`OpKind`].
#[derive(Clone, Copy)]
pub(crate) struct OpDef {
    /// The name in MLIR: `stablehlo.add`.
    pub(crate) name: &'static str,
    /// Its forms in bytecode.
    pub(crate) bytecode: &'static [Version],
    /// Its pretty form.
    pub(crate) text: Form,
    /// Attributes in text that change nothing of its results here.
    pub(crate) ignored: &'static [&'static str],
    /// Its instruction of HLO, if there is one.
    pub(crate) hlo: Option<Hlo>,
    /// Its meaning.
    pub(crate) read: Read,
}

/// The instruction of HLO that is an op.
#[derive(Clone, Copy)]
pub(crate) struct Hlo {
    /// The opcode; `None` if it is the op's name with hyphens.
    pub(super) opcode: Option<&'static str>,
    /// How it is read, if it is. That of element-wise functions is their meaning.
    pub(crate) read: Option<Reader>,
}

/// An instruction of one result, of the op's name.
pub(super) const fn one(kind: fn(&Instruction<'_>) -> Result<OpKind, Error>) -> Hlo {
    Hlo { opcode: None, read: Some(Reader::One(kind)) }
}

/// An instruction of several results, of the op's name.
pub(super) const fn several(kind: fn(&Instruction<'_>) -> Result<OpKind, Error>) -> Hlo {
    Hlo { opcode: None, read: Some(Reader::Several(kind)) }
}

/// An instruction of the op's name that becomes the ops that a function adds.
pub(super) const fn adding(read: fn(&mut FuncReader<'_>, Instruction<'_>) -> Result<ValueId, Error>) -> Hlo {
    Hlo { opcode: None, read: Some(Reader::Ops(read)) }
}

impl OpDef {
    /// An op with a generic form only.
    pub(super) const fn new(name: &'static str, read: fn(&mut dyn Source) -> Result<OpKind, Error>) -> OpDef {
        OpDef { name, bytecode: &[], text: Form::Generic, ignored: &[], hlo: None, read: Read::Op(read) }
    }

    /// The opcode in HLO, if there is one.
    pub(crate) fn opcode(&self) -> Option<String> {
        let stem = self.name.split_once('.').map_or(self.name, |(_, stem)| stem);
        Some(self.hlo?.opcode.map_or_else(|| stem.replace('_', "-"), str::to_owned))
    }
}

/// A form of an op in bytecode.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Version {
    /// The version of VHLO: `1` for `add_v1`; empty in other dialects.
    pub(crate) number: &'static str,
    /// The names of its attributes, sorted: properties are written in this order.
    pub(crate) attributes: &'static [&'static str],
    /// How many regions it has.
    pub(crate) regions: Regions,
}

/// How many regions an op has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Regions {
    Exactly(usize),
    AtLeastOne,
    Any,
}

pub(super) const NONE: Regions = Regions::Exactly(0);
pub(super) const ONE: Regions = Regions::Exactly(1);
pub(super) const TWO: Regions = Regions::Exactly(2);

/// The first version of an op in VHLO.
pub(super) const fn v1(regions: Regions, attributes: &'static [&'static str]) -> Version {
    Version { number: "1", attributes, regions }
}

/// The second version. What it adds has a neutral value in older programs.
pub(super) const fn v2(regions: Regions, attributes: &'static [&'static str]) -> Version {
    Version { number: "2", attributes, regions }
}

/// An op of a dialect without versions.
pub(super) const fn unversioned(regions: Regions, attributes: &'static [&'static str]) -> Version {
    Version { number: "", attributes, regions }
}

/// An op of VHLO with neither attributes nor regions.
pub(super) const PLAIN: &[Version] = &[v1(NONE, &[])];

/// The meaning of an op.
#[derive(Clone, Copy)]
pub(crate) enum Read {
    /// An element-wise function of one operand.
    Unary(UnaryOp),
    /// An element-wise function of two operands.
    Binary(BinaryOp),
    /// What the function says.
    Op(fn(&mut dyn Source) -> Result<OpKind, Error>),
}

impl Read {
    /// The kind of the op, whose operands and regions may be changed, and before which others may be added.
    pub(crate) fn kind(self, op: &mut dyn Source) -> Result<OpKind, Error> {
        match self {
            Read::Unary(unary) => Ok(OpKind::Unary(unary)),
            Read::Binary(binary) => Ok(OpKind::Binary(binary)),
            Read::Op(read) => read(op),
        }
    }
}
