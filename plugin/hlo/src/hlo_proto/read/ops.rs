//! Instructions, read by their opcodes.

use super::super::fields::instruction as field;
use super::computation::FuncReader;
use super::instruction::Instruction;
use super::{call, collective, contraction, literal, required, simple, window};
use crate::{BinaryOp, ElementType, Error, Literal, Op, OpKind, RngDistribution, TensorType, Type, UnaryOp, ValueId};

/// Functions that are ops of CHLO here, and instructions of HLO.
const OF_CHLO: &[&str] = &["acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "sinh"];

/// The element-wise function of an opcode: names differ in hyphens alone.
fn elementwise(opcode: &str) -> Option<OpKind> {
    let dialect = if OF_CHLO.contains(&opcode) { "chlo" } else { "stablehlo" };
    let name = format!("{dialect}.{}", opcode.replace('-', "_"));
    let binary = || BinaryOp::from_name(&name).map(OpKind::Binary);
    UnaryOp::from_name(&name).map(OpKind::Unary).or_else(binary)
}

/// Adds what an instruction does, and gives its value.
pub(super) fn read(func: &mut FuncReader<'_>, instruction: Instruction<'_>) -> Result<ValueId, Error> {
    if let Some(kind) = elementwise(instruction.opcode) {
        return func.one(instruction, kind, Vec::new());
    }
    let message = instruction.message;
    let operands = instruction.operands.len();
    // What says how many dimensions windows and the like have must be there; the verifier checks the rest.
    let least = match instruction.opcode {
        "select-and-scatter" => 3,
        "sort" => 1,
        _ => 0,
    };
    if operands < least {
        return Err(Error::invalid(format!("has {operands} operands, and needs {least} or more")));
    }
    match instruction.opcode {
        "add-dependency" | "copy" | "domain" => forward(func, &instruction),
        "all-gather"
        | "all-reduce"
        | "all-to-all"
        | "collective-broadcast"
        | "collective-permute"
        | "reduce-scatter" => collective::read(func, instruction),
        "bitcast" => {
            let kind = simple::bitcast(func, &instruction)?;
            func.one(instruction, kind, Vec::new())
        }
        "call" | "fusion" => call::call(func, instruction),
        "conditional" => call::conditional(func, instruction),
        "constant" => {
            let value = literal::read(required(message, field::LITERAL, "the elements of the constant")?)?;
            func.one(instruction, OpKind::Constant(value), Vec::new())
        }
        "convolution" => {
            let kernel = func.ty(instruction.operand(1)?).tensor();
            let kernel = kernel.ok_or_else(|| Error::invalid("the kernel is no array"))?;
            let kind = OpKind::Convolution(window::convolution(message, kernel)?);
            func.one(instruction, kind, Vec::new())
        }
        "custom-call" => call::custom_call(func, instruction),
        "dynamic-slice" | "dynamic-update-slice" => {
            let mut instruction = instruction;
            let before = if instruction.opcode == "dynamic-slice" { 1 } else { 2 };
            split_indices(func, &mut instruction, before)?;
            let kind = simple::kind(&instruction)?;
            func.one(instruction, kind, Vec::new())
        }
        "dynamic-reshape" => {
            let mut instruction = instruction;
            let sizes = instruction.operands.split_off(1.min(operands));
            let (mut ty, location) = (instruction.tensor()?.clone(), instruction.location);
            let dynamic = std::mem::take(&mut ty.dynamic);
            if func.ty(instruction.operand(0)?).tensor().is_some_and(|operand| !operand.dynamic.is_empty()) {
                // Then the elements go where the sizes say.
                ty.dynamic = dynamic;
            }
            instruction.ty = ty.clone().into();
            let mut value = func.one(instruction, OpKind::Reshape, Vec::new())?;
            for dim in dynamic.iter() {
                let size = *sizes.get(dim).ok_or_else(|| Error::invalid(format!("no size for dimension {dim}")))?;
                ty.dynamic.insert(dim);
                let result = func.add_value(ty.clone().into())?;
                let (kind, operands) = (OpKind::SetDimensionSize { dim }, vec![value, size]);
                func.add(Op { kind, operands, results: vec![result], regions: Vec::new(), location });
                value = result;
            }
            Ok(value)
        }
        "get-tuple-element" => {
            let index = super::size(message, field::TUPLE_INDEX, "the index")?;
            let element = func.element(instruction.operand(0)?, index, instruction.location)?;
            expect_type(func, element, &instruction)
        }
        "map" => {
            let dims = (0..instruction.tensor()?.rank()).collect();
            let regions = func.scalar_regions(&instruction, 1, operands)?;
            func.one(instruction, OpKind::Map { dims }, regions)
        }
        "reduce" => {
            let kind = OpKind::Reduce { dims: instruction.dimensions()? };
            let regions = func.scalar_regions(&instruction, 1, operands)?;
            func.several(instruction, kind, regions)
        }
        "reduce-window" => {
            let kind = OpKind::ReduceWindow { window: window::forward(message)? };
            let regions = func.scalar_regions(&instruction, 1, operands)?;
            func.several(instruction, kind, regions)
        }
        "rng" => rng(func, instruction),
        "rng-get-and-update-state" => fresh_state(func, instruction),
        "scatter" => {
            let kind = contraction::scatter(message)?;
            let regions = func.scalar_regions(&instruction, 1, operands.saturating_sub(1))?;
            func.several(instruction, kind, regions)
        }
        "select-and-scatter" => {
            let kind = OpKind::SelectAndScatter { window: window::undilated(message)? };
            let regions = func.scalar_regions(&instruction, 2, 2)?;
            func.one(instruction, kind, regions)
        }
        "set-dimension-size" => {
            if simple::is_static_size(func, &instruction)? {
                return forward(func, &instruction);
            }
            let kind = OpKind::SetDimensionSize { dim: instruction.dimension()? };
            func.one(instruction, kind, Vec::new())
        }
        "sort" => {
            let kind = OpKind::Sort { dim: instruction.dimension()?, stable: message.bool(field::STABLE)? };
            let regions = func.scalar_regions(&instruction, 1, 2 * operands)?;
            func.several(instruction, kind, regions)
        }
        "tuple" => {
            let is_of = |types: &[Type]| types.iter().eq(instruction.operands.iter().map(|&value| func.ty(value)));
            if !matches!(&instruction.ty, Type::Tuple(types) if is_of(types)) {
                return Err(Error::invalid(format!("the operands are no tuple of type {}", instruction.ty)));
            }
            let tuple = func.add_value(instruction.ty)?;
            func.add_tuple(instruction.operands, tuple, instruction.location);
            Ok(tuple)
        }
        "while" => call::repeat(func, instruction),
        _ => {
            let kind = simple::kind(&instruction)?;
            match kind {
                OpKind::BatchNormGrad { .. } | OpKind::BatchNormTraining { .. } => {
                    func.several(instruction, kind, Vec::new())
                }
                OpKind::RngBitGenerator(_) | OpKind::TopK { .. } => func.several(instruction, kind, Vec::new()),
                _ => func.one(instruction, kind, Vec::new()),
            }
        }
    }
}

/// An instruction whose value is that of its first operand.
fn forward(func: &FuncReader<'_>, instruction: &Instruction<'_>) -> Result<ValueId, Error> {
    expect_type(func, instruction.operand(0)?, instruction)
}

/// The value, if it has the instruction's type.
fn expect_type(func: &FuncReader<'_>, value: ValueId, instruction: &Instruction<'_>) -> Result<ValueId, Error> {
    let ty = func.ty(value);
    if *ty != instruction.ty {
        return Err(Error::invalid(format!("the value has type {ty}, not {}", instruction.ty)));
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
        return Err(Error::invalid(format!("the indices are {vector}, which does not fit the operand's rank")));
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
fn rng(func: &mut FuncReader<'_>, mut instruction: Instruction<'_>) -> Result<ValueId, Error> {
    let distribution = match instruction.message.int(field::DISTRIBUTION)? {
        1 => RngDistribution::Uniform,
        2 => RngDistribution::Normal,
        number => return Err(Error::invalid(format!("the distribution number {number} is not known"))),
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
        return Err(Error::invalid(format!("the state is {ty}, and must be of ui64")));
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
