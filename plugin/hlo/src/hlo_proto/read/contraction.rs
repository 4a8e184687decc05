//! Dot products, gathers and scatters: ops of dimension numbers.

use oxcall_proto::Message;

use super::super::fields::{dot, gather, instruction as field, precision, scatter};
use super::instruction::Instruction;
use super::{required, size, sizes};
use crate::ElementType::{self, BF16, F8E5M2, F16, F32, F64};
use crate::{DotAlgorithm, DotDims, Error, GatherDims, OpKind, Precision, ScatterDims};

const DIMS: &str = "the dimension numbers";

pub(crate) fn dot(instruction: &Instruction<'_>) -> Result<OpKind, Error> {
    let message = instruction.message;
    let dims = message.message(field::DOT_DIMS)?.unwrap_or_default();
    Ok(OpKind::DotGeneral(DotDims {
        lhs_batching: sizes(dims, dot::LHS_BATCHING, DIMS)?,
        rhs_batching: sizes(dims, dot::RHS_BATCHING, DIMS)?,
        lhs_contracting: sizes(dims, dot::LHS_CONTRACTING, DIMS)?,
        rhs_contracting: sizes(dims, dot::RHS_CONTRACTING, DIMS)?,
        precision: precisions(message)?,
        algorithm: algorithm(message)?,
    }))
}

/// The precisions of the operands; none for the default.
pub(super) fn precisions(message: Message<'_>) -> Result<Vec<Precision>, Error> {
    let config = message.message(field::PRECISION)?.unwrap_or_default();
    let numbers = config.ints(precision::OPERANDS)?;
    if numbers.iter().all(|&number| number == 0) {
        return Ok(Vec::new());
    }
    let known = |number| match number {
        0 => Ok(Precision::Default),
        1 => Ok(Precision::High),
        2 => Ok(Precision::Highest),
        _ => Err(Error::invalid(format!("unknown precision number {number}"))),
    };
    numbers.into_iter().map(known).collect()
}

/// The algorithm of a dot product, if one is asked for: types of both operands and of sums, and in how many parts
/// operands are split and how many products of parts are summed.
fn algorithm(message: Message<'_>) -> Result<Option<DotAlgorithm>, Error> {
    let config = message.message(field::PRECISION)?.unwrap_or_default();
    let number = config.int(precision::ALGORITHM)?;
    let tf32 = None;
    let (operands, accumulation, components, products): (Option<ElementType>, _, _, _) = match number {
        0 => return Ok(None),
        // Any float of 8 bits; which one does not matter, since operands have one already.
        1 | 2 => (Some(F8E5M2), F32, 1, 1),
        3 => (Some(F16), F16, 1, 1),
        4 => (Some(F16), F32, 1, 1),
        5 => (Some(BF16), BF16, 1, 1),
        6 => (Some(BF16), F32, 1, 1),
        7 => (Some(BF16), F32, 1, 3),
        8 => (Some(BF16), F32, 1, 6),
        9 => (tf32, F32, 1, 1),
        10 => (tf32, F32, 1, 3),
        11 => (Some(F32), F32, 1, 1),
        12 => (Some(F64), F64, 1, 1),
        13 => (Some(BF16), F32, 1, 9),
        _ => {
            return Err(Error::unsupported(format!("the algorithm number {number} of a dot product is not supported")));
        }
    };
    Ok(Some(DotAlgorithm {
        lhs_precision: operands,
        rhs_precision: operands,
        accumulation: Some(accumulation),
        lhs_components: components,
        rhs_components: components,
        primitive_operations: products,
        allow_imprecise_accumulation: number == 2,
    }))
}

pub(crate) fn gather(instruction: &Instruction<'_>) -> Result<OpKind, Error> {
    let message = instruction.message;
    let dims = required(message, field::GATHER_DIMS, DIMS)?;
    Ok(OpKind::Gather {
        dims: GatherDims {
            offset_dims: sizes(dims, gather::OFFSET_DIMS, DIMS)?,
            collapsed_slice_dims: sizes(dims, gather::COLLAPSED_SLICE_DIMS, DIMS)?,
            operand_batching_dims: sizes(dims, gather::OPERAND_BATCHING, DIMS)?,
            start_indices_batching_dims: sizes(dims, gather::INDICES_BATCHING, DIMS)?,
            start_index_map: sizes(dims, gather::START_INDEX_MAP, DIMS)?,
            index_vector_dim: size(dims, gather::INDEX_VECTOR_DIM, DIMS)?,
        },
        slice_sizes: sizes(message, field::GATHER_SIZES, "the sizes of slices")?,
        indices_are_sorted: message.bool(field::INDICES_SORTED)?,
    })
}

pub(super) fn scatter(message: Message<'_>) -> Result<OpKind, Error> {
    let dims = required(message, field::SCATTER_DIMS, DIMS)?;
    Ok(OpKind::Scatter {
        dims: ScatterDims {
            update_window_dims: sizes(dims, scatter::UPDATE_WINDOW_DIMS, DIMS)?,
            inserted_window_dims: sizes(dims, scatter::INSERTED_WINDOW_DIMS, DIMS)?,
            input_batching_dims: sizes(dims, scatter::INPUT_BATCHING, DIMS)?,
            scatter_indices_batching_dims: sizes(dims, scatter::INDICES_BATCHING, DIMS)?,
            scatter_dims_to_operand_dims: sizes(dims, scatter::SCATTER_DIMS, DIMS)?,
            index_vector_dim: size(dims, scatter::INDEX_VECTOR_DIM, DIMS)?,
        },
        indices_are_sorted: message.bool(field::INDICES_SORTED)?,
        unique_indices: message.bool(field::UNIQUE_INDICES)?,
    })
}
