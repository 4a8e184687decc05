//! `HloComputationProto`: a function of one result.

use std::collections::HashMap;

use oxcall_proto::Message;

use super::super::fields::{computation, instruction as field};
use super::instruction::Instruction;
use super::module::ModuleReader;
use super::sharding::Sharding;
use super::{call, ops, shape, size};
use crate::ops::Constants;
use crate::{Error, Func, LocationId, Op, OpKind, Region, Type, ValueId};

/// A computation that is being read.
pub(crate) struct FuncReader<'r> {
    /// The module.
    pub(super) module: &'r mut ModuleReader,
    /// The types of values.
    values: Vec<Type>,
    /// The values of instructions, by their ids.
    ids: HashMap<i64, ValueId>,
    /// Small constants, which may say sizes.
    constants: Constants,
    /// The shardings of values that have one.
    pub(super) shardings: HashMap<ValueId, Sharding>,
    /// The elements of tuples that were made here.
    tuples: HashMap<ValueId, Vec<ValueId>>,
    ops: Vec<Op>,
}

fn is_parameter(instruction: Message<'_>) -> Result<bool, Error> {
    Ok(instruction.text(field::OPCODE)? == "parameter")
}

impl<'r> FuncReader<'r> {
    /// Reads a computation of this module.
    pub(super) fn new(module: &'r mut ModuleReader) -> FuncReader<'r> {
        FuncReader {
            module,
            values: Vec::new(),
            ids: HashMap::new(),
            constants: Constants::default(),
            shardings: HashMap::new(),
            tuples: HashMap::new(),
            ops: Vec::new(),
        }
    }

    /// Reads a computation, as a function without a name.
    pub(super) fn read(mut self, message: Message<'_>) -> Result<Func, Error> {
        let (params, instructions) = self.parameters(message)?;
        let root = self.body(message, instructions)?;
        Ok(self.finish(params, vec![root]))
    }

    /// The function of what was read, without a name.
    pub(super) fn finish(self, params: Vec<ValueId>, results: Vec<ValueId>) -> Func {
        Func {
            name: String::new(),
            public: false,
            values: self.values,
            param_attributes: vec![Vec::new(); params.len()],
            result_attributes: vec![Vec::new(); results.len()],
            body: Region { params, ops: self.ops, results },
        }
    }

    /// Reads the parameters, in the order of their numbers. The other instructions are left.
    pub(super) fn parameters<'a>(&mut self, message: Message<'a>) -> Result<(Vec<ValueId>, Vec<Message<'a>>), Error> {
        let mut params = Vec::new();
        let mut others = message.messages(computation::INSTRUCTIONS)?;
        for &message in &others {
            if is_parameter(message)? {
                let ty = shape::read(message.message(field::SHAPE)?.unwrap_or_default())?;
                let value = self.add_value(ty)?;
                if let Some(sharding) = Sharding::of(message)? {
                    self.shardings.insert(value, sharding);
                }
                params.push((size(message, field::PARAMETER, "the number of a parameter")?, value));
                let id = message.int(field::ID)?;
                if self.ids.insert(id, value).is_some() {
                    return Err(Error::invalid(format!("two parameters have the id {id}")));
                }
            }
        }
        others.retain(|&message| !is_parameter(message).unwrap_or_default());
        params.sort_unstable();
        let count = params.len();
        if params.iter().enumerate().any(|(index, &(number, _))| number != index) {
            return Err(Error::invalid(format!("the {count} parameters must be numbered from 0")));
        }
        Ok((params.into_iter().map(|(_, value)| value).collect(), others))
    }

    /// Reads the instructions that are no parameters. The answer is the root's value.
    pub(super) fn body(&mut self, message: Message<'_>, instructions: Vec<Message<'_>>) -> Result<ValueId, Error> {
        for instruction in instructions {
            self.instruction(instruction)?;
        }
        let root = self.ids.get(&message.int(computation::ROOT)?).copied();
        root.ok_or_else(|| Error::invalid("the root must be an instruction of the computation"))
    }

    fn instruction(&mut self, message: Message<'_>) -> Result<(), Error> {
        let opcode = message.text(field::OPCODE)?;
        let location = self.module.location(message.text(field::NAME)?, message.message(field::METADATA)?)?;
        let id = message.int(field::ID)?;
        let value = Instruction::new(self, message, opcode, location)
            .and_then(|instruction| ops::read(self, instruction))
            .and_then(|value| self.split(value, message, location))
            .map_err(|error| error.in_op(opcode).at(self.module.place(location)))?;
        if self.ids.insert(id, value).is_some() {
            return Err(Error::invalid(format!("two instructions have the id {id}"))
                .in_op(opcode)
                .at(self.module.place(location)));
        }
        Ok(())
    }

    /// The value, split over devices as its instruction says. Custom calls say it themselves, and where a scalar is
    /// changes nothing.
    fn split(&mut self, value: ValueId, message: Message<'_>, location: LocationId) -> Result<ValueId, Error> {
        let Some(sharding) = Sharding::of(message)? else { return Ok(value) };
        let ty = self.ty(value).tensor().filter(|ty| ty.rank() > 0).cloned();
        let is_call = message.text(field::OPCODE)? == "custom-call";
        let value = match (sharding.constraint(), ty) {
            (Some(text), Some(ty)) if !is_call => {
                let result = self.add_value(ty.into())?;
                let kind = OpKind::CustomCall(Box::new(call::constraint(text)));
                self.add(Op { kind, operands: vec![value], results: vec![result], regions: Vec::new(), location });
                result
            }
            _ => value,
        };
        self.shardings.insert(value, sharding);
        Ok(value)
    }

    /// The value of the instruction of this id.
    pub(super) fn value(&self, id: i64) -> Result<ValueId, Error> {
        let value = self.ids.get(&id).copied();
        value.ok_or_else(|| Error::invalid(format!("operand {id} must be an instruction before this one")))
    }

    /// The type of a value.
    pub(super) fn ty(&self, value: ValueId) -> &Type {
        &self.values[value.0 as usize]
    }

    /// A new value.
    pub(super) fn add_value(&mut self, ty: Type) -> Result<ValueId, Error> {
        let id = u32::try_from(self.values.len()).map_err(|_| Error::invalid("more than 2^32 values"))?;
        self.module.spend(ty.heap_size())?;
        self.values.push(ty);
        Ok(ValueId(id))
    }

    /// The integer that a constant holds, if the value is one.
    pub(super) fn constant(&self, value: ValueId) -> Option<i64> {
        let mut integers = self.constants.get(value)?.integers()?;
        integers.next()
    }

    /// Adds an op.
    pub(super) fn add(&mut self, op: Op) {
        self.ops.push(op);
    }

    /// Adds the op that makes a tuple.
    pub(super) fn add_tuple(&mut self, elements: Vec<ValueId>, tuple: ValueId, location: LocationId) {
        self.tuples.insert(tuple, elements.clone());
        let results = vec![tuple];
        self.add(Op { kind: OpKind::Tuple, operands: elements, results, regions: Vec::new(), location });
    }

    /// The element at `index` of a tuple.
    pub(super) fn element(&mut self, tuple: ValueId, index: usize, location: LocationId) -> Result<ValueId, Error> {
        if let Some(elements) = self.tuples.get(&tuple) {
            let element = elements.get(index).copied();
            return element.ok_or_else(|| {
                Error::invalid(format!("the index {index} must be less than the size of the tuple, {}", elements.len()))
            });
        }
        let ty = match self.ty(tuple) {
            Type::Tuple(types) => types.get(index).cloned(),
            _ => None,
        };
        let ty =
            ty.ok_or_else(|| Error::invalid(format!("a value of type {} has no element {index}", self.ty(tuple))))?;
        let result = self.add_value(ty)?;
        let kind = OpKind::GetTupleElement { index };
        self.add(Op { kind, operands: vec![tuple], results: vec![result], regions: Vec::new(), location });
        Ok(result)
    }

    /// Adds an op of one result, which is the instruction's.
    pub(super) fn one(
        &mut self,
        instruction: Instruction<'_>,
        kind: OpKind,
        regions: Vec<Region>,
    ) -> Result<ValueId, Error> {
        let Instruction { ty, operands, location, .. } = instruction;
        let result = self.add_value(ty)?;
        if let OpKind::Constant(literal) = &kind {
            self.constants.note(result, literal);
        }
        self.add(Op { kind, operands, results: vec![result], regions, location });
        Ok(result)
    }

    /// Adds an op whose results are the elements of the instruction's tuple, or its only one.
    pub(super) fn several(
        &mut self,
        instruction: Instruction<'_>,
        kind: OpKind,
        regions: Vec<Region>,
    ) -> Result<ValueId, Error> {
        let Type::Tuple(types) = &instruction.ty else { return self.one(instruction, kind, regions) };
        let results = types.clone().into_iter().map(|ty| self.add_value(ty)).collect::<Result<Vec<_>, _>>()?;
        let Instruction { ty, operands, location, .. } = instruction;
        self.add(Op { kind, operands, results: results.clone(), regions, location });
        let tuple = self.add_value(ty)?;
        self.add_tuple(results, tuple, location);
        Ok(tuple)
    }

    /// The regions of an op that applies computations to `params` scalars.
    pub(super) fn scalar_regions(
        &mut self,
        instruction: &Instruction<'_>,
        computations: usize,
        params: usize,
    ) -> Result<Vec<Region>, Error> {
        let called = instruction.called(self.module, computations)?;
        called.into_iter().map(|func| call::scalar_region(self, instruction, func, params)).collect()
    }
}
