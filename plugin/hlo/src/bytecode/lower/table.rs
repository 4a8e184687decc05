//! The table of ops that are not element-wise, and of those that are not supported.

use super::{
    Lower, Make, OpSpec, Regions,
    Regions::{AtLeastOne, Exactly},
    call, contraction, dynamic, elementwise, indexing, math, shape, window,
};
use crate::{OpKind, UnaryOp};

/// Makes the table: name, sorted attributes, regions, and what the op becomes.
macro_rules! ops {
    ($($name:literal [$($attribute:literal)*] $regions:expr, $lower:expr;)*) => {
        const OPS: &[(&str, OpSpec)] = &[$((
            $name,
            OpSpec { attributes: &[$($attribute),*], regions: $regions, lower: $lower },
        ),)*];
    };
}

/// No regions.
const NONE: Regions = Exactly(0);
const ONE: Regions = Exactly(1);
const TWO: Regions = Exactly(2);

/// An op without attributes that matter.
macro_rules! plain {
    ($kind:expr) => {
        Lower::Kind(Make::Read(|_| Ok($kind)))
    };
}

/// An op that a function makes.
macro_rules! read {
    ($function:expr) => {
        Lower::Kind(Make::Read($function))
    };
}

// Sorted by name.
ops! {
    "after_all_v1" [] NONE, plain!(OpKind::AfterAll);
    "batch_norm_grad_v1" ["epsilon" "feature_index"] NONE, read!(math::batch_norm_grad);
    "batch_norm_inference_v1" ["epsilon" "feature_index"] NONE, read!(math::batch_norm_inference);
    "batch_norm_training_v1" ["epsilon" "feature_index"] NONE, read!(math::batch_norm_training);
    "bitcast_convert_v1" [] NONE, plain!(OpKind::BitcastConvert);
    "broadcast_in_dim_v1" ["broadcast_dimensions"] NONE, read!(shape::broadcast_in_dim);
    "broadcast_v1" ["broadcast_sizes"] NONE, read!(shape::broadcast);
    "call_v1" ["callee"] NONE, read!(call::call);
    "case_v1" [] AtLeastOne, plain!(OpKind::Case);
    "cholesky_v1" ["lower"] NONE, read!(math::cholesky);
    "clamp_v1" [] NONE, plain!(OpKind::Clamp);
    "compare_v1" ["compare_type" "comparison_direction"] NONE, read!(elementwise::compare);
    "complex_v1" [] NONE, plain!(OpKind::Complex);
    "composite_v1" ["composite_attributes" "decomposition" "name" "version"] NONE, read!(call::composite);
    "composite_v2" ["composite_attributes" "decomposition" "name" "version"] NONE, read!(call::composite);
    "concatenate_v1" ["dimension"] NONE, read!(shape::concatenate);
    "constant_v1" ["value"] NONE, read!(elementwise::constant);
    "convert_v1" [] NONE, plain!(OpKind::Convert);
    "convolution_v1" [
        "batch_group_count" "feature_group_count" "input_batch_dimension" "input_feature_dimension"
        "input_spatial_dimensions" "kernel_input_feature_dimension" "kernel_output_feature_dimension"
        "kernel_spatial_dimensions" "lhs_dilation" "output_batch_dimension" "output_feature_dimension"
        "output_spatial_dimensions" "padding" "precision_config" "rhs_dilation" "window_reversal" "window_strides"
    ] NONE, read!(window::convolution);
    "create_token_v1" [] NONE, plain!(OpKind::AfterAll);
    "custom_call_v1" [
        "api_version" "backend_config" "call_target_name" "called_computations" "has_side_effect" "operand_layouts"
        "output_operand_aliases" "result_layouts"
    ] NONE, read!(call::custom_call);
    "dot_general_v1" [
        "lhs_batching_dimensions" "lhs_contracting_dimensions" "precision_config" "rhs_batching_dimensions"
        "rhs_contracting_dimensions"
    ] NONE, read!(contraction::dot_general);
    "dot_general_v2" [
        "accumulation_type" "allow_imprecise_accumulation" "lhs_batching_dimensions" "lhs_component_count"
        "lhs_contracting_dimensions" "lhs_precision_type" "num_primitive_operations" "precision_config"
        "rhs_batching_dimensions" "rhs_component_count" "rhs_contracting_dimensions" "rhs_precision_type"
    ] NONE, read!(contraction::dot_general);
    "dot_v1" ["precision_config"] NONE, read!(contraction::dot);
    "dynamic_broadcast_in_dim_v1" [
        "broadcast_dimensions" "known_expanding_dimensions" "known_nonexpanding_dimensions"
    ] NONE, read!(dynamic::broadcast_in_dim);
    "dynamic_conv_v1" [
        "batch_group_count" "feature_group_count" "input_batch_dimension" "input_feature_dimension"
        "input_spatial_dimensions" "kernel_input_feature_dimension" "kernel_output_feature_dimension"
        "kernel_spatial_dimensions" "lhs_dilation" "output_batch_dimension" "output_feature_dimension"
        "output_spatial_dimensions" "padding" "precision_config" "rhs_dilation" "window_reversal" "window_strides"
    ] NONE, read!(dynamic::convolution);
    "dynamic_conv_v2" [
        "batch_group_count" "feature_group_count" "input_batch_dimension" "input_feature_dimension"
        "input_spatial_dimensions" "kernel_input_feature_dimension" "kernel_output_feature_dimension"
        "kernel_spatial_dimensions" "lhs_dilation" "output_batch_dimension" "output_feature_dimension"
        "output_spatial_dimensions" "precision_config" "rhs_dilation" "window_reversal" "window_strides"
    ] NONE, read!(dynamic::convolution);
    "dynamic_gather_v1" [
        "collapsed_slice_dims" "index_vector_dim" "indices_are_sorted" "offset_dims" "start_index_map"
    ] NONE, read!(dynamic::gather);
    "dynamic_gather_v2" [
        "collapsed_slice_dims" "index_vector_dim" "indices_are_sorted" "offset_dims" "operand_batching_dims"
        "start_index_map" "start_indices_batching_dims"
    ] NONE, read!(dynamic::gather);
    "dynamic_iota_v1" ["iota_dimension"] NONE, read!(dynamic::iota);
    "dynamic_pad_v1" [] NONE, read!(dynamic::pad);
    "dynamic_reshape_v1" [] NONE, read!(dynamic::reshape);
    "dynamic_slice_v1" ["slice_sizes"] NONE, read!(shape::dynamic_slice);
    "dynamic_update_slice_v1" [] NONE, plain!(OpKind::DynamicUpdateSlice);
    "einsum_v1" ["einsum_config"] NONE, read!(contraction::einsum);
    "fft_v1" ["fft_length" "fft_type"] NONE, read!(math::fft);
    "gather_v1" [
        "collapsed_slice_dims" "index_vector_dim" "indices_are_sorted" "offset_dims" "slice_sizes" "start_index_map"
    ] NONE, read!(indexing::gather);
    "gather_v2" [
        "collapsed_slice_dims" "index_vector_dim" "indices_are_sorted" "offset_dims" "operand_batching_dims"
        "slice_sizes" "start_index_map" "start_indices_batching_dims"
    ] NONE, read!(indexing::gather);
    "get_dimension_size_v1" ["dimension"] NONE, read!(shape::get_dimension_size);
    "get_tuple_element_v1" ["index"] NONE, read!(call::get_tuple_element);
    "if_v1" [] TWO, plain!(OpKind::If);
    "iota_v1" ["iota_dimension"] NONE, read!(elementwise::iota);
    "map_v1" ["dimensions"] ONE, read!(elementwise::map);
    "optimization_barrier_v1" [] NONE, plain!(OpKind::OptimizationBarrier);
    "pad_v1" ["edge_padding_high" "edge_padding_low" "interior_padding"] NONE, read!(shape::pad);
    "partition_id_v1" [] NONE, plain!(OpKind::PartitionId);
    "real_dynamic_slice_v1" [] NONE, read!(dynamic::slice);
    "reduce_precision_v1" ["exponent_bits" "mantissa_bits"] NONE, read!(elementwise::reduce_precision);
    "reduce_v1" ["dimensions"] ONE, read!(window::reduce);
    "reduce_window_v1" [
        "base_dilations" "padding" "window_dilations" "window_dimensions" "window_strides"
    ] ONE, read!(window::reduce_window);
    "replica_id_v1" [] NONE, plain!(OpKind::ReplicaId);
    "reshape_v1" [] NONE, plain!(OpKind::Reshape);
    "return_v1" [] NONE, Lower::Return;
    "reverse_v1" ["dimensions"] NONE, read!(shape::reverse);
    "rng_bit_generator_v1" ["rng_algorithm"] NONE, read!(math::rng_bit_generator);
    "rng_v1" ["rng_distribution"] NONE, read!(math::rng);
    "scatter_v1" [
        "index_vector_dim" "indices_are_sorted" "inserted_window_dims" "scatter_dims_to_operand_dims"
        "unique_indices" "update_window_dims"
    ] ONE, read!(indexing::scatter);
    "scatter_v2" [
        "index_vector_dim" "indices_are_sorted" "input_batching_dims" "inserted_window_dims"
        "scatter_dims_to_operand_dims" "scatter_indices_batching_dims" "unique_indices" "update_window_dims"
    ] ONE, read!(indexing::scatter);
    "select_and_scatter_v1" [
        "padding" "window_dimensions" "window_strides"
    ] TWO, read!(window::select_and_scatter);
    "select_v1" [] NONE, plain!(OpKind::Select);
    "set_dimension_size_v1" ["dimension"] NONE, read!(dynamic::set_dimension_size);
    "slice_v1" ["limit_indices" "start_indices" "strides"] NONE, read!(shape::slice);
    "sort_v1" ["dimension" "is_stable"] ONE, read!(indexing::sort);
    "torch_index_select_v1" ["batch_dims" "dim"] NONE, read!(indexing::torch_index_select);
    "transpose_v1" ["permutation"] NONE, read!(shape::transpose);
    "triangular_solve_v1" [
        "left_side" "lower" "transpose_a" "unit_diagonal"
    ] NONE, read!(math::triangular_solve);
    "tuple_v1" [] NONE, plain!(OpKind::Tuple);
    "unary_einsum_v1" ["einsum_config"] NONE, read!(contraction::unary_einsum);
    "while_v1" [] TWO, plain!(OpKind::While);
}

/// The op called `name`.
pub(super) fn find(name: &str) -> Option<OpSpec> {
    let index = OPS.binary_search_by_key(&name, |(name, _)| name).ok()?;
    Some(OPS[index].1)
}

/// The unary ops whose second version adds an accuracy, which no kernel needs: all are as accurate as the type.
pub(super) const WITH_ACCURACY: &[UnaryOp] = &[
    UnaryOp::Cbrt,
    UnaryOp::Cosine,
    UnaryOp::Exponential,
    UnaryOp::ExponentialMinusOne,
    UnaryOp::Log,
    UnaryOp::LogPlusOne,
    UnaryOp::Logistic,
    UnaryOp::Rsqrt,
    UnaryOp::Sine,
    UnaryOp::Sqrt,
    UnaryOp::Tan,
    UnaryOp::Tanh,
];

/// Why an op is not supported, if it is known.
pub(super) fn why_unsupported(name: &str) -> Option<&'static str> {
    let (name, _) = name.rsplit_once("_v")?;
    Some(match name {
        "all_gather"
        | "all_reduce"
        | "all_to_all"
        | "collective_broadcast"
        | "collective_permute"
        | "cross-replica-sum"
        | "reduce_scatter" => "collectives between devices are not supported",
        "async_done" | "async_start" => "asynchronous ops are not supported",
        "infeed" | "outfeed" => "infeed and outfeed are not supported",
        "recv" | "send" => "sending to and receiving from the host or other devices is not supported",
        "uniform_dequantize" | "uniform_quantize" => "quantised types are not supported",
        "compute_reshape_shape" | "cstr_reshapable" => "dynamic shapes are not supported",
        "trace" => "tracing ops are not supported",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::{OPS, WITH_ACCURACY, find};
    use crate::{BinaryOp, UnaryOp};

    #[test]
    fn the_table_is_sorted() {
        assert!(OPS.is_sorted_by(|left, right| left.0 < right.0));
        for (name, spec) in OPS {
            assert!(spec.attributes.is_sorted_by(|left, right| left < right), "{name}");
        }
        assert!(find("sort_v1").is_some() && find("sort_v9").is_none());
    }

    /// Properties have to be as many as the table says, so that a corpus with every op proves the table.
    #[test]
    fn the_corpus_has_every_op() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bytecode/corpus");
        let mut bytes = Vec::new();
        for program in fs::read_dir(corpus).unwrap() {
            for file in fs::read_dir(program.unwrap().path()).unwrap() {
                bytes.push(fs::read(file.unwrap().path()).unwrap());
            }
        }
        let has = |name: &str| {
            let name = format!("\0{name}\0").into_bytes();
            bytes.iter().any(|bytes| bytes.windows(name.len()).any(|window| window == name))
        };
        let versioned = |name: &str, version: u32| Some(format!("{}_v{version}", name.strip_prefix("stablehlo.")?));
        let unary = UnaryOp::ALL.iter().filter_map(|op| versioned(op.name(), 1));
        let accurate = WITH_ACCURACY.iter().filter_map(|op| versioned(op.name(), 2));
        let binary = BinaryOp::ALL.iter().filter_map(|op| versioned(op.name(), 1));
        let others = OPS.iter().map(|(name, _)| (*name).to_owned());
        let missing: Vec<_> = unary.chain(accurate).chain(binary).chain(others).filter(|name| !has(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
