//! `HloInstructionProto`: what all instructions have.

use oxcall_proto::Message;

use super::super::fields::instruction as field;
use super::computation::FuncReader;
use super::module::ModuleReader;
use super::shape;
use crate::{Error, FuncId, LocationId, TensorType, Type, ValueId};

/// An instruction that is being read.
pub(crate) struct Instruction<'a> {
    /// All of it.
    pub(crate) message: Message<'a>,
    /// What it does.
    pub(crate) opcode: &'a str,
    /// The type of its value.
    pub(crate) ty: Type,
    /// The operands.
    pub(crate) operands: Vec<ValueId>,
    /// Where it comes from.
    pub(crate) location: LocationId,
}

impl<'a> Instruction<'a> {
    /// Reads what all instructions have.
    pub(super) fn new(
        func: &FuncReader<'_>,
        message: Message<'a>,
        opcode: &'a str,
        location: LocationId,
    ) -> Result<Instruction<'a>, Error> {
        let shape = message.message(field::SHAPE)?.ok_or_else(|| Error::invalid("the shape is missing"))?;
        let operands = message.ints(field::OPERANDS)?;
        let operands = operands.into_iter().map(|id| func.value(id)).collect::<Result<_, _>>()?;
        Ok(Instruction { message, opcode, ty: shape::read(shape)?, operands, location })
    }

    /// The computations that it applies, of which there have to be `count`.
    pub(super) fn called(&self, module: &ModuleReader, count: usize) -> Result<Vec<FuncId>, Error> {
        let called = self.all_called(module)?;
        if called.len() != count {
            return Err(Error::invalid(format!("expected {count} computations, got {}", called.len())));
        }
        Ok(called)
    }

    /// The computations that it applies.
    pub(super) fn all_called(&self, module: &ModuleReader) -> Result<Vec<FuncId>, Error> {
        self.message.ints(field::CALLED)?.into_iter().map(|id| module.computation(id)).collect()
    }

    /// The operand at `index`.
    pub(crate) fn operand(&self, index: usize) -> Result<ValueId, Error> {
        let operand = self.operands.get(index).copied();
        operand
            .ok_or_else(|| Error::invalid(format!("operand {index} is missing, got {} operands", self.operands.len())))
    }

    /// The type of its value, which has to be an array.
    pub(crate) fn tensor(&self) -> Result<&TensorType, Error> {
        self.ty.tensor().ok_or_else(|| Error::invalid(format!("the result must be an array, got {}", self.ty)))
    }

    /// The only one of its dimensions.
    pub(crate) fn dimension(&self) -> Result<usize, Error> {
        match self.dimensions()?[..] {
            [dim] => Ok(dim),
            ref dims => Err(Error::invalid(format!("expected one dimension, got {dims:?}"))),
        }
    }

    /// The epsilon of a batch norm.
    pub(crate) fn epsilon(&self) -> Result<f32, Error> {
        Ok(self.message.float(field::EPSILON)?)
    }

    /// The feature dimension of a batch norm.
    pub(crate) fn feature(&self) -> Result<usize, Error> {
        super::size(self.message, field::FEATURE, "the feature dimension")
    }

    /// Its dimensions.
    pub(crate) fn dimensions(&self) -> Result<Vec<usize>, Error> {
        super::sizes(self.message, field::DIMENSIONS, "the dimensions")
    }
}
