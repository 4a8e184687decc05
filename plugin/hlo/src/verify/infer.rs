//! The types of results.

use super::signature::Signature;
use super::{collective, contract, control, elementwise, gather, numeric, reduce, shape};
use crate::{Error, OpKind, Type};

/// Checks the constraints of an op's operands, attributes and regions, and gives the types of its results.
///
/// ```
/// use oxcall_hlo::{ElementType, OpKind, Signature, TensorType, Type, infer_types};
///
/// let operand = Type::from(TensorType::new(ElementType::F32, [2, 3]));
/// let kind = OpKind::Transpose { permutation: vec![1, 0] };
/// let operands = [operand];
/// let signature = Signature { kind: &kind, operands: &operands, regions: &[], results: None };
/// assert_eq!(infer_types(signature)?, [Type::from(TensorType::new(ElementType::F32, [3, 2]))]);
/// # Ok::<(), oxcall_hlo::Error>(())
/// ```
///
/// # Errors
/// In the terms of the specification, with the op's name; also if the result's type is needed and not given.
pub fn infer_types(signature: Signature<'_>) -> Result<Vec<Type>, Error> {
    by_kind(signature).map_err(|error| error.in_op(signature.kind.name()))
}

fn by_kind(cx: Signature<'_>) -> Result<Vec<Type>, Error> {
    if !has_regions(cx.kind) {
        cx.region_count(0)?;
    }
    match cx.kind {
        OpKind::Constant(literal) => shape::constant(cx, literal),
        OpKind::Iota { dim } => shape::iota(cx, *dim),
        OpKind::Unary(op) => elementwise::unary(cx, *op),
        OpKind::Binary(op) => elementwise::binary(cx, *op),
        OpKind::Compare(direction, compare_type) => elementwise::compare(cx, *direction, *compare_type),
        OpKind::Select => elementwise::select(cx),
        OpKind::Clamp => elementwise::clamp(cx),
        OpKind::Convert => elementwise::convert(cx),
        OpKind::BitcastConvert => elementwise::bitcast_convert(cx),
        OpKind::ReducePrecision { exponent_bits, mantissa_bits } => {
            elementwise::reduce_precision(cx, *exponent_bits, *mantissa_bits)
        }
        OpKind::Complex => elementwise::complex(cx),
        OpKind::BroadcastInDim { dims } => shape::broadcast_in_dim(cx, dims),
        OpKind::Reshape => shape::reshape(cx),
        OpKind::Transpose { permutation } => shape::transpose(cx, permutation),
        OpKind::Slice { start, limit, strides } => shape::slice(cx, start, limit, strides),
        OpKind::DynamicSlice { sizes } => shape::dynamic_slice(cx, sizes),
        OpKind::DynamicUpdateSlice => shape::dynamic_update_slice(cx),
        OpKind::Pad { low, high, interior } => shape::pad(cx, low, high, interior),
        OpKind::Concatenate { dim } => shape::concatenate(cx, *dim),
        OpKind::Reverse { dims } => shape::reverse(cx, dims),
        OpKind::Gather { dims, slice_sizes, .. } => gather::gather(cx, dims, slice_sizes),
        OpKind::Scatter { dims, .. } => gather::scatter(cx, dims),
        OpKind::Reduce { dims } => reduce::reduce(cx, dims),
        OpKind::ReduceWindow { window } => reduce::reduce_window(cx, window),
        OpKind::SelectAndScatter { window } => reduce::select_and_scatter(cx, window),
        OpKind::Sort { dim, .. } => reduce::sort(cx, *dim),
        OpKind::TopK { k, .. } => reduce::top_k(cx, *k),
        OpKind::Map { dims } => reduce::map(cx, dims),
        OpKind::DotGeneral(dims) => contract::dot_general(cx, dims),
        OpKind::Convolution(dims) => contract::convolution(cx, dims),
        OpKind::Fft { fft_type, lengths } => numeric::fft(cx, *fft_type, lengths),
        OpKind::Cholesky { .. } => contract::cholesky(cx),
        OpKind::TriangularSolve { left_side, .. } => contract::triangular_solve(cx, *left_side),
        OpKind::Rng(distribution) => numeric::rng(cx, *distribution),
        OpKind::RngBitGenerator(algorithm) => numeric::rng_bit_generator(cx, *algorithm),
        OpKind::BatchNormInference { feature, .. } => numeric::batch_norm_inference(cx, *feature),
        OpKind::BatchNormTraining { feature, .. } => numeric::batch_norm_training(cx, *feature),
        OpKind::BatchNormGrad { feature, .. } => numeric::batch_norm_grad(cx, *feature),
        OpKind::While => control::while_loop(cx),
        OpKind::If => control::if_else(cx),
        OpKind::Case => control::case(cx),
        OpKind::Call(_) | OpKind::Composite { .. } => control::call(cx),
        OpKind::CustomCall(call) => control::custom_call(cx, call),
        OpKind::OptimizationBarrier => Ok(cx.operands.to_vec()),
        OpKind::Tuple => Ok(vec![Type::Tuple(cx.operands.to_vec())]),
        OpKind::GetTupleElement { index } => control::get_tuple_element(cx, *index),
        OpKind::AfterAll => control::after_all(cx),
        OpKind::GetDimensionSize { dim } => shape::get_dimension_size(cx, *dim),
        OpKind::SetDimensionSize { dim } => shape::set_dimension_size(cx, *dim),
        OpKind::ShardingConstraint(_) => control::sharding_constraint(cx),
        OpKind::ShardingGroup { .. } => control::sharding_constraint(cx).map(|_| Vec::new()),
        OpKind::ManualComputation(_) => control::given_results(cx),
        OpKind::AllReduce(groups) => collective::all_reduce(cx, groups),
        OpKind::AllGather { dim, groups } => collective::all_gather(cx, *dim, groups),
        OpKind::ReduceScatter { dim, groups } => collective::reduce_scatter(cx, *dim, groups),
        OpKind::AllToAll { split_dim, concat_dim, split_count, groups } => {
            collective::all_to_all(cx, *split_dim, *concat_dim, *split_count, groups)
        }
        OpKind::CollectiveBroadcast(rooted) => collective::broadcast(cx, rooted),
        OpKind::CollectiveReduce(rooted) => collective::reduce(cx, rooted),
        OpKind::AsyncStart => control::async_start(cx),
        OpKind::AsyncDone => control::async_done(cx),
        OpKind::CollectivePermute(groups) => collective::permute(cx, groups),
        OpKind::PartitionId | OpKind::ReplicaId => control::device_id(cx),
    }
}

/// Whether a rule looks at the regions itself.
fn has_regions(kind: &OpKind) -> bool {
    matches!(
        kind,
        OpKind::Scatter { .. }
            | OpKind::Reduce { .. }
            | OpKind::ReduceWindow { .. }
            | OpKind::SelectAndScatter { .. }
            | OpKind::Sort { .. }
            | OpKind::Map { .. }
            | OpKind::AllReduce(_)
            | OpKind::ReduceScatter { .. }
            | OpKind::CollectiveReduce(_)
            | OpKind::AsyncStart
            | OpKind::While
            | OpKind::If
            | OpKind::Case
            | OpKind::Call(_)
            | OpKind::Composite { .. }
            | OpKind::ManualComputation(_)
    )
}
