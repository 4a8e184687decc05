//! Kinds of ops from the fields of an instruction.

use oxcall_proto::Message;

use super::super::fields::{CHOLESKY_LOWER, TRIPLE, WINDOW_DIMENSIONS, instruction as field, triangular_solve};
use super::computation::FuncReader;
use super::instruction::Instruction;
use super::{literal, required, size, sizes};
use crate::ops;
use crate::{ComparisonDirection, ComparisonType, Error, FftType, OpKind, RngAlgorithm, Transpose};

/// The value of an enum that starts at 0.
fn choice<T: Copy>(number: i64, what: &str, values: &[T]) -> Result<T, Error> {
    let value = usize::try_from(number).ok().and_then(|index| values.get(index));
    value.copied().ok_or_else(|| Error::invalid(format!("unknown number {number} of {what}")))
}

/// The message with an instruction's options, whose fields may all have their defaults.
fn options(message: Message<'_>, number: u32) -> Result<Message<'_>, Error> {
    Ok(message.message(number)?.unwrap_or_default())
}

fn bits(message: Message<'_>, number: u32) -> Result<u32, Error> {
    let bits = message.int(number)?;
    u32::try_from(bits).map_err(|_| Error::invalid(format!("a format must have from 0 to 2^32 - 1 bits, got {bits}")))
}

/// The elements of a constant.
pub(crate) fn constant(instruction: &Instruction<'_>) -> Result<OpKind, Error> {
    let elements = required(instruction.message, field::LITERAL, "the elements of the constant")?;
    ops::constant_of(instruction.tensor()?, literal::read(elements)?)
}

pub(crate) fn reduce_precision(instruction: &Instruction<'_>) -> Result<OpKind, Error> {
    Ok(OpKind::ReducePrecision {
        exponent_bits: bits(instruction.message, field::EXPONENT_BITS)?,
        mantissa_bits: bits(instruction.message, field::MANTISSA_BITS)?,
    })
}

pub(crate) fn top_k(instruction: &Instruction<'_>) -> Result<OpKind, Error> {
    let message = instruction.message;
    Ok(OpKind::TopK { k: size(message, field::K, "k")?, largest: message.bool(field::LARGEST)? })
}

pub(crate) fn cholesky(instruction: &Instruction<'_>) -> Result<OpKind, Error> {
    Ok(OpKind::Cholesky { lower: options(instruction.message, field::CHOLESKY)?.bool(CHOLESKY_LOWER)? })
}

pub(crate) fn rng_bit_generator(instruction: &Instruction<'_>) -> Result<OpKind, Error> {
    let algorithms = [RngAlgorithm::Default, RngAlgorithm::ThreeFry, RngAlgorithm::Philox];
    let number = instruction.message.int(field::RNG_ALGORITHM)?;
    Ok(OpKind::RngBitGenerator(choice(number, "the algorithm", &algorithms)?))
}

pub(crate) fn compare(instruction: &Instruction<'_>) -> Result<OpKind, Error> {
    let message = instruction.message;
    let (direction, order) = (message.text(field::DIRECTION)?, message.text(field::COMPARISON)?);
    let direction = ComparisonDirection::from_name(direction)
        .ok_or_else(|| Error::invalid(format!("unknown comparison direction `{direction}`")))?;
    let order = if order.is_empty() { Some(ComparisonType::NoType) } else { ComparisonType::from_name(order) };
    let order = order.ok_or_else(|| Error::invalid("unknown comparison type"))?;
    Ok(OpKind::Compare(direction, order))
}

pub(crate) fn fft(instruction: &Instruction<'_>) -> Result<OpKind, Error> {
    let message = instruction.message;
    let types = [FftType::Fft, FftType::Ifft, FftType::Rfft, FftType::Irfft];
    let fft_type = choice(message.int(field::FFT_TYPE)?, "the transform", &types)?;
    Ok(OpKind::Fft { fft_type, lengths: sizes(message, field::FFT_LENGTH, "the lengths of the transform")? })
}

/// The three integers of each dimension of padding.
pub(crate) fn pad(instruction: &Instruction<'_>) -> Result<OpKind, Error> {
    let message = instruction.message;
    let config = required(message, field::PADDING, "the paddings")?;
    let dims = config.messages(WINDOW_DIMENSIONS)?;
    let each = |number| dims.iter().map(|dim| Ok(dim.int(number)?)).collect::<Result<Vec<i64>, Error>>();
    let [low, high, interior] = TRIPLE;
    Ok(OpKind::Pad { low: each(low)?, high: each(high)?, interior: each(interior)? })
}

pub(crate) fn slice(instruction: &Instruction<'_>) -> Result<OpKind, Error> {
    let message = instruction.message;
    let dims = message.messages(field::SLICES)?;
    let each =
        |number| dims.iter().map(|&dim| size(dim, number, "a bound of the slice")).collect::<Result<Vec<_>, _>>();
    let [start, limit, strides] = TRIPLE;
    Ok(OpKind::Slice { start: each(start)?, limit: each(limit)?, strides: each(strides)? })
}

pub(crate) fn triangular_solve(instruction: &Instruction<'_>) -> Result<OpKind, Error> {
    let message = instruction.message;
    let options = options(message, field::TRIANGULAR_SOLVE)?;
    // Number 0 says nothing.
    let transposes = [Transpose::NoTranspose, Transpose::Transpose, Transpose::Adjoint];
    let transpose = options.int(triangular_solve::TRANSPOSE)?;
    Ok(OpKind::TriangularSolve {
        left_side: options.bool(triangular_solve::LEFT_SIDE)?,
        lower: options.bool(triangular_solve::LOWER)?,
        unit_diagonal: options.bool(triangular_solve::UNIT_DIAGONAL)?,
        transpose: choice(transpose.saturating_sub(1), "the transposition", &transposes)?,
    })
}

/// The bytes as another type. Arrays are row-major, so they change neither their order nor, unless the element type
/// changes, their meaning.
pub(super) fn bitcast(func: &FuncReader<'_>, instruction: &Instruction<'_>) -> Result<OpKind, Error> {
    let operand = func.ty(instruction.operand(0)?).tensor().map(|ty| ty.element);
    Ok(if operand == Some(instruction.tensor()?.element) { OpKind::Reshape } else { OpKind::BitcastConvert })
}

/// Whether the op sets a dimension to the size that it has already.
pub(super) fn is_static_size(func: &FuncReader<'_>, instruction: &Instruction<'_>) -> Result<bool, Error> {
    let size = func.constant(instruction.operand(1)?).and_then(|size| usize::try_from(size).ok());
    let (dim, operand) = (instruction.dimension()?, func.ty(instruction.operand(0)?).tensor());
    let is_dynamic = operand.is_none_or(|ty| ty.dynamic.contains(dim));
    Ok(!is_dynamic && size.is_some() && size == instruction.tensor()?.dims.get(dim).copied())
}
