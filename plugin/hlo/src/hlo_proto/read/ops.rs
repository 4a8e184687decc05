//! Instructions, read by their opcodes.

use super::super::fields::instruction as field;
use super::computation::FuncReader;
use super::instruction::Instruction;
use super::{Reader, call, contraction, simple, window};
use crate::ops::{self, Read};
use crate::{ElementType, Error, Literal, Op, OpKind, RngDistribution, TensorType, Type, ValueId};

/// Adds what an instruction does, and gives its value.
pub(super) fn read(func: &mut FuncReader<'_>, instruction: Instruction<'_>) -> Result<ValueId, Error> {
    let def = ops::find_opcode(instruction.opcode);
    let reader = match def.map(|def| (def.read, def.hlo)) {
        Some((Read::Unary(op), _)) => return func.one(instruction, OpKind::Unary(op), Vec::new()),
        Some((Read::Binary(op), _)) => {
            return func.one(instruction, OpKind::Binary(op), Vec::new());
        }
        Some((_, Some(hlo))) => hlo.read,
        _ => beside_ops(instruction.opcode),
    };
    match reader.ok_or_else(|| unsupported(instruction.opcode))? {
        Reader::One(kind) => {
            let kind = kind(&instruction)?;
            func.one(instruction, kind, Vec::new())
        }
        Reader::Several(kind) => {
            let kind = kind(&instruction)?;
            func.several(instruction, kind, Vec::new())
        }
        Reader::Ops(read) => read(func, instruction),
    }
}

/// The reader of an instruction that is not one of the table's ops.
fn beside_ops(opcode: &str) -> Option<Reader> {
    Some(match opcode {
        "add-dependency" | "copy" | "domain" => Reader::Ops(|func, instruction| forward(func, &instruction)),
        "bitcast" => Reader::Ops(|func, instruction| {
            let kind = simple::bitcast(func, &instruction)?;
            func.one(instruction, kind, Vec::new())
        }),
        "conditional" => Reader::Ops(call::conditional),
        "dynamic-reshape" => Reader::Ops(dynamic_reshape),
        "fusion" => Reader::Ops(call::call),
        "rng-get-and-update-state" => Reader::Ops(fresh_state),
        _ => return None,
    })
}

/// The error for an opcode that is not known or not supported.
fn unsupported(opcode: &str) -> Error {
    let name = opcode.replace('-', "_");
    let why = ops::why_unsupported(&name).or_else(|| ops::why_unsupported(name.trim_end_matches("_done")));
    match why {
        Some(why) => Error::unsupported(why),
        None => Error::unsupported("this opcode is not supported"),
    }
}

/// An error unless an instruction has operands enough: they say how many dimensions windows and the like have. The
/// verifier checks the rest.
fn needs(instruction: &Instruction<'_>, least: usize) -> Result<(), Error> {
    let operands = instruction.operands.len();
    if operands < least {
        return Err(Error::invalid(format!("expected at least {least} operands, got {operands}")));
    }
    Ok(())
}

pub(crate) fn convolution(func: &mut FuncReader<'_>, instruction: Instruction<'_>) -> Result<ValueId, Error> {
    let kernel = func.ty(instruction.operand(1)?).tensor();
    let kernel = kernel.ok_or_else(|| Error::invalid("the kernel must be an array"))?;
    let kind = OpKind::Convolution(window::convolution(instruction.message, kernel)?);
    func.one(instruction, kind, Vec::new())
}

pub(crate) fn dynamic_slice(func: &mut FuncReader<'_>, mut instruction: Instruction<'_>) -> Result<ValueId, Error> {
    split_indices(func, &mut instruction, 1)?;
    let sizes = super::sizes(instruction.message, field::DYNAMIC_SLICE_SIZES, "the sizes of the slice")?;
    func.one(instruction, OpKind::DynamicSlice { sizes }, Vec::new())
}

pub(crate) fn dynamic_update_slice(
    func: &mut FuncReader<'_>,
    mut instruction: Instruction<'_>,
) -> Result<ValueId, Error> {
    split_indices(func, &mut instruction, 2)?;
    func.one(instruction, OpKind::DynamicUpdateSlice, Vec::new())
}

fn dynamic_reshape(func: &mut FuncReader<'_>, mut instruction: Instruction<'_>) -> Result<ValueId, Error> {
    let sizes = instruction.operands.split_off(1.min(instruction.operands.len()));
    let (mut ty, location) = (instruction.tensor()?.clone(), instruction.location);
    let dynamic = std::mem::take(&mut ty.dynamic);
    if func.ty(instruction.operand(0)?).tensor().is_some_and(|operand| !operand.dynamic.is_empty()) {
        // Then the elements go where the sizes say.
        ty.dynamic = dynamic;
    }
    instruction.ty = ty.clone().into();
    let mut value = func.one(instruction, OpKind::Reshape, Vec::new())?;
    for dim in dynamic.iter() {
        let size = *sizes.get(dim).ok_or_else(|| Error::invalid(format!("the size of dimension {dim} is missing")))?;
        ty.dynamic.insert(dim);
        let result = func.add_value(ty.clone().into())?;
        let (kind, operands) = (OpKind::SetDimensionSize { dim }, vec![value, size]);
        func.add(Op { kind, operands, results: vec![result], regions: Vec::new(), location });
        value = result;
    }
    Ok(value)
}

pub(crate) fn set_dimension_size(func: &mut FuncReader<'_>, instruction: Instruction<'_>) -> Result<ValueId, Error> {
    if simple::is_static_size(func, &instruction)? {
        return forward(func, &instruction);
    }
    let kind = OpKind::SetDimensionSize { dim: instruction.dimension()? };
    func.one(instruction, kind, Vec::new())
}

pub(crate) fn map(func: &mut FuncReader<'_>, instruction: Instruction<'_>) -> Result<ValueId, Error> {
    let dims = (0..instruction.tensor()?.rank()).collect();
    let regions = func.scalar_regions(&instruction, 1, instruction.operands.len())?;
    func.one(instruction, OpKind::Map { dims }, regions)
}

pub(crate) fn reduce(func: &mut FuncReader<'_>, instruction: Instruction<'_>) -> Result<ValueId, Error> {
    let kind = OpKind::Reduce { dims: instruction.dimensions()? };
    let regions = func.scalar_regions(&instruction, 1, instruction.operands.len())?;
    func.several(instruction, kind, regions)
}

pub(crate) fn reduce_window(func: &mut FuncReader<'_>, instruction: Instruction<'_>) -> Result<ValueId, Error> {
    let kind = OpKind::ReduceWindow { window: window::forward(instruction.message)? };
    let regions = func.scalar_regions(&instruction, 1, instruction.operands.len())?;
    func.several(instruction, kind, regions)
}

pub(crate) fn select_and_scatter(func: &mut FuncReader<'_>, instruction: Instruction<'_>) -> Result<ValueId, Error> {
    needs(&instruction, 3)?;
    let kind = OpKind::SelectAndScatter { window: window::undilated(instruction.message)? };
    let regions = func.scalar_regions(&instruction, 2, 2)?;
    func.one(instruction, kind, regions)
}

pub(crate) fn scatter(func: &mut FuncReader<'_>, instruction: Instruction<'_>) -> Result<ValueId, Error> {
    let kind = contraction::scatter(instruction.message)?;
    let regions = func.scalar_regions(&instruction, 1, instruction.operands.len().saturating_sub(1))?;
    func.several(instruction, kind, regions)
}

pub(crate) fn sort(func: &mut FuncReader<'_>, instruction: Instruction<'_>) -> Result<ValueId, Error> {
    needs(&instruction, 1)?;
    let kind = OpKind::Sort { dim: instruction.dimension()?, stable: instruction.message.bool(field::STABLE)? };
    let regions = func.scalar_regions(&instruction, 1, 2 * instruction.operands.len())?;
    func.several(instruction, kind, regions)
}

pub(crate) fn get_tuple_element(func: &mut FuncReader<'_>, instruction: Instruction<'_>) -> Result<ValueId, Error> {
    let index = super::size(instruction.message, field::TUPLE_INDEX, "the index")?;
    let element = func.element(instruction.operand(0)?, index, instruction.location)?;
    expect_type(func, element, &instruction)
}

pub(crate) fn tuple(func: &mut FuncReader<'_>, instruction: Instruction<'_>) -> Result<ValueId, Error> {
    let is_of = |types: &[Type]| types.iter().eq(instruction.operands.iter().map(|&value| func.ty(value)));
    if !matches!(&instruction.ty, Type::Tuple(types) if is_of(types)) {
        return Err(Error::invalid(format!("the result must be a tuple of the operands, got {}", instruction.ty)));
    }
    let tuple = func.add_value(instruction.ty)?;
    func.add_tuple(instruction.operands, tuple, instruction.location);
    Ok(tuple)
}

/// An instruction whose value is that of its first operand.
fn forward(func: &FuncReader<'_>, instruction: &Instruction<'_>) -> Result<ValueId, Error> {
    expect_type(func, instruction.operand(0)?, instruction)
}

/// The value, if it has the instruction's type.
fn expect_type(func: &FuncReader<'_>, value: ValueId, instruction: &Instruction<'_>) -> Result<ValueId, Error> {
    let ty = func.ty(value);
    if *ty != instruction.ty {
        return Err(Error::invalid(format!("the value must have type {}, got {ty}", instruction.ty)));
    }
    Ok(value)
}

/// Makes scalars of the indices where they are one vector, after so many other operands.
fn split_indices(func: &mut FuncReader<'_>, instruction: &mut Instruction<'_>, before: usize) -> Result<(), Error> {
    let rank = func.ty(instruction.operand(0)?).tensor().map(TensorType::rank);
    let vector = func.ty(instruction.operand(before).or(instruction.operand(0))?).tensor().cloned();
    let Some(vector) = vector.filter(|ty| instruction.operands.len() == before + 1 && ty.rank() == 1) else {
        return Ok(());
    };
    if Some(vector.dims[0]) != rank {
        return Err(Error::invalid(format!(
            "the indices must have an entry for each dimension of the operand, got {vector}"
        )));
    }
    let indices = instruction.operand(before)?;
    instruction.operands.truncate(before);
    let location = instruction.location;
    let mut add = |kind: OpKind, operand: ValueId, ty: TensorType| {
        let result = func.add_value(ty.into())?;
        func.add(Op { kind, operands: vec![operand], results: vec![result], regions: Vec::new(), location });
        Ok::<ValueId, Error>(result)
    };
    for index in 0..vector.dims[0] {
        let slice = OpKind::Slice { start: vec![index], limit: vec![index + 1], strides: vec![1] };
        let one = add(slice, indices, TensorType::new(vector.element, [1]))?;
        instruction.operands.push(add(OpKind::Reshape, one, TensorType::scalar(vector.element))?);
    }
    Ok(())
}

/// Random numbers: the shape, which an instruction of HLO has in its type, is an operand.
pub(crate) fn rng(func: &mut FuncReader<'_>, mut instruction: Instruction<'_>) -> Result<ValueId, Error> {
    let distribution = match instruction.message.int(field::DISTRIBUTION)? {
        1 => RngDistribution::Uniform,
        2 => RngDistribution::Normal,
        number => return Err(Error::invalid(format!("unknown distribution number {number}"))),
    };
    let dims = integers(func, &instruction, instruction.tensor()?.dims.iter().map(|&dim| dim as i64).collect())?;
    instruction.operands.push(dims);
    func.one(instruction, OpKind::Rng(distribution), Vec::new())
}

/// The state of the generator that a program's instructions share, advanced by each. No program sees where it begins,
/// and each draw must differ from those before: so it is random bits.
fn fresh_state(func: &mut FuncReader<'_>, mut instruction: Instruction<'_>) -> Result<ValueId, Error> {
    let ty = instruction.tensor()?.clone();
    if ty.element != ElementType::U64 {
        return Err(Error::invalid(format!("the state must be of ui64, got {ty}")));
    }
    let bound = |func: &mut FuncReader<'_>, value: u64| {
        let literal = Literal::splat(TensorType::scalar(ElementType::U64), value.to_le_bytes());
        constant(func, &instruction, literal)
    };
    let (low, high) = (bound(func, 0)?, bound(func, u64::MAX)?);
    let dims = integers(func, &instruction, ty.dims.iter().map(|&dim| dim as i64).collect())?;
    instruction.operands = vec![low, high, dims];
    func.one(instruction, OpKind::Rng(RngDistribution::Uniform), Vec::new())
}

/// A vector of integers.
fn integers(func: &mut FuncReader<'_>, instruction: &Instruction<'_>, values: Vec<i64>) -> Result<ValueId, Error> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let literal = Literal::dense(TensorType::new(ElementType::S64, [values.len()]), bytes);
    constant(func, instruction, literal)
}

fn constant(func: &mut FuncReader<'_>, instruction: &Instruction<'_>, literal: Literal) -> Result<ValueId, Error> {
    let value = func.add_value(literal.ty().clone().into())?;
    let (kind, location) = (OpKind::Constant(literal), instruction.location);
    func.add(Op { kind, operands: Vec::new(), results: vec![value], regions: Vec::new(), location });
    Ok(value)
}
