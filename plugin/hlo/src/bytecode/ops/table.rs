//! The table of ops that are not element-wise.

use super::Regions::{self, Any, AtLeastOne, Exactly};
use crate::UnaryOp;

/// Makes the table: name, sorted attributes and regions.
macro_rules! ops {
    ($($name:literal [$($attribute:literal)*] $regions:expr;)*) => {
        const OPS: &[(&str, (&[&str], Regions))] = &[$(($name, (&[$($attribute),*], $regions)),)*];
    };
}

/// No regions.
const NONE: Regions = Exactly(0);
const ONE: Regions = Exactly(1);
const TWO: Regions = Exactly(2);

// Sorted by name.
ops! {
    "after_all_v1" [] NONE;
    "all_gather_v1" ["all_gather_dim" "channel_id" "replica_groups" "use_global_device_ids"] NONE;
    "all_gather_v2" ["all_gather_dim" "channel_id" "replica_groups" "use_global_device_ids"] NONE;
    "all_reduce_v1" ["channel_id" "replica_groups" "use_global_device_ids"] ONE;
    "all_reduce_v2" ["channel_id" "replica_groups" "use_global_device_ids"] ONE;
    "all_to_all_v1" ["channel_id" "concat_dimension" "replica_groups" "split_count" "split_dimension"] NONE;
    "all_to_all_v2" ["channel_id" "concat_dimension" "replica_groups" "split_count" "split_dimension"] NONE;
    "async_done_v1" [] NONE;
    "async_start_v1" [] ONE;
    "batch_norm_grad_v1" ["epsilon" "feature_index"] NONE;
    "batch_norm_inference_v1" ["epsilon" "feature_index"] NONE;
    "batch_norm_training_v1" ["epsilon" "feature_index"] NONE;
    "bitcast_convert_v1" [] NONE;
    "broadcast_in_dim_v1" ["broadcast_dimensions"] NONE;
    "broadcast_v1" ["broadcast_sizes"] NONE;
    "call_v1" ["callee"] NONE;
    "case_v1" [] AtLeastOne;
    "cholesky_v1" ["lower"] NONE;
    "clamp_v1" [] NONE;
    "collective_broadcast_v1" ["channel_id" "replica_groups"] NONE;
    "collective_broadcast_v2" ["channel_id" "has_dynamic_root" "replica_groups"] NONE;
    "collective_permute_v1" ["channel_id" "source_target_pairs"] NONE;
    "collective_reduce_v1" ["channel_id" "has_dynamic_root" "replica_groups" "use_global_device_ids"] ONE;
    "compare_v1" ["compare_type" "comparison_direction"] NONE;
    "complex_v1" [] NONE;
    "composite_v1" ["composite_attributes" "decomposition" "name" "version"] NONE;
    "composite_v2" ["composite_attributes" "decomposition" "name" "version"] Any;
    "concatenate_v1" ["dimension"] NONE;
    "constant_v1" ["value"] NONE;
    "convert_v1" [] NONE;
    "convolution_v1" [
        "batch_group_count" "feature_group_count" "input_batch_dimension" "input_feature_dimension"
        "input_spatial_dimensions" "kernel_input_feature_dimension" "kernel_output_feature_dimension"
        "kernel_spatial_dimensions" "lhs_dilation" "output_batch_dimension" "output_feature_dimension"
        "output_spatial_dimensions" "padding" "precision_config" "rhs_dilation" "window_reversal" "window_strides"
    ] NONE;
    "create_token_v1" [] NONE;
    "custom_call_v1" [
        "api_version" "backend_config" "call_target_name" "called_computations" "has_side_effect" "operand_layouts"
        "output_operand_aliases" "result_layouts"
    ] NONE;
    "custom_call_v2" [
        "api_version" "backend_config" "call_target_name" "called_computations" "has_side_effect" "operand_layouts"
        "output_operand_aliases" "result_layouts" "result_tilings"
    ] NONE;
    "dot_general_v1" [
        "lhs_batching_dimensions" "lhs_contracting_dimensions" "precision_config" "rhs_batching_dimensions"
        "rhs_contracting_dimensions"
    ] NONE;
    "dot_general_v2" [
        "accumulation_type" "allow_imprecise_accumulation" "lhs_batching_dimensions" "lhs_component_count"
        "lhs_contracting_dimensions" "lhs_precision_type" "num_primitive_operations" "precision_config"
        "rhs_batching_dimensions" "rhs_component_count" "rhs_contracting_dimensions" "rhs_precision_type"
    ] NONE;
    "dot_v1" ["precision_config"] NONE;
    "dynamic_broadcast_in_dim_v1" [
        "broadcast_dimensions" "known_expanding_dimensions" "known_nonexpanding_dimensions"
    ] NONE;
    "dynamic_conv_v1" [
        "batch_group_count" "feature_group_count" "input_batch_dimension" "input_feature_dimension"
        "input_spatial_dimensions" "kernel_input_feature_dimension" "kernel_output_feature_dimension"
        "kernel_spatial_dimensions" "lhs_dilation" "output_batch_dimension" "output_feature_dimension"
        "output_spatial_dimensions" "padding" "precision_config" "rhs_dilation" "window_reversal" "window_strides"
    ] NONE;
    "dynamic_conv_v2" [
        "batch_group_count" "feature_group_count" "input_batch_dimension" "input_feature_dimension"
        "input_spatial_dimensions" "kernel_input_feature_dimension" "kernel_output_feature_dimension"
        "kernel_spatial_dimensions" "lhs_dilation" "output_batch_dimension" "output_feature_dimension"
        "output_spatial_dimensions" "precision_config" "rhs_dilation" "window_reversal" "window_strides"
    ] NONE;
    "dynamic_gather_v1" [
        "collapsed_slice_dims" "index_vector_dim" "indices_are_sorted" "offset_dims" "start_index_map"
    ] NONE;
    "dynamic_gather_v2" [
        "collapsed_slice_dims" "index_vector_dim" "indices_are_sorted" "offset_dims" "operand_batching_dims"
        "start_index_map" "start_indices_batching_dims"
    ] NONE;
    "dynamic_iota_v1" ["iota_dimension"] NONE;
    "dynamic_pad_v1" [] NONE;
    "dynamic_reshape_v1" [] NONE;
    "dynamic_slice_v1" ["slice_sizes"] NONE;
    "dynamic_update_slice_v1" [] NONE;
    "einsum_v1" ["einsum_config"] NONE;
    "fft_v1" ["fft_length" "fft_type"] NONE;
    "gather_v1" [
        "collapsed_slice_dims" "index_vector_dim" "indices_are_sorted" "offset_dims" "slice_sizes" "start_index_map"
    ] NONE;
    "gather_v2" [
        "collapsed_slice_dims" "index_vector_dim" "indices_are_sorted" "offset_dims" "operand_batching_dims"
        "slice_sizes" "start_index_map" "start_indices_batching_dims"
    ] NONE;
    "get_dimension_size_v1" ["dimension"] NONE;
    "get_tuple_element_v1" ["index"] NONE;
    "if_v1" [] TWO;
    "iota_v1" ["iota_dimension"] NONE;
    "map_v1" ["dimensions"] ONE;
    "optimization_barrier_v1" [] NONE;
    "pad_v1" ["edge_padding_high" "edge_padding_low" "interior_padding"] NONE;
    "partition_id_v1" [] NONE;
    "real_dynamic_slice_v1" [] NONE;
    "reduce_precision_v1" ["exponent_bits" "mantissa_bits"] NONE;
    "reduce_scatter_v1" ["channel_id" "replica_groups" "scatter_dimension" "use_global_device_ids"] ONE;
    "reduce_v1" ["dimensions"] ONE;
    "reduce_window_v1" [
        "base_dilations" "padding" "window_dilations" "window_dimensions" "window_strides"
    ] ONE;
    "replica_id_v1" [] NONE;
    "reshape_v1" [] NONE;
    "reverse_v1" ["dimensions"] NONE;
    "rng_bit_generator_v1" ["rng_algorithm"] NONE;
    "rng_v1" ["rng_distribution"] NONE;
    "scatter_v1" [
        "index_vector_dim" "indices_are_sorted" "inserted_window_dims" "scatter_dims_to_operand_dims"
        "unique_indices" "update_window_dims"
    ] ONE;
    "scatter_v2" [
        "index_vector_dim" "indices_are_sorted" "input_batching_dims" "inserted_window_dims"
        "scatter_dims_to_operand_dims" "scatter_indices_batching_dims" "unique_indices" "update_window_dims"
    ] ONE;
    "select_and_scatter_v1" [
        "padding" "window_dimensions" "window_strides"
    ] TWO;
    "select_v1" [] NONE;
    "set_dimension_size_v1" ["dimension"] NONE;
    "slice_v1" ["limit_indices" "start_indices" "strides"] NONE;
    "sort_v1" ["dimension" "is_stable"] ONE;
    "torch_index_select_v1" ["batch_dims" "dim"] NONE;
    "transpose_v1" ["permutation"] NONE;
    "triangular_solve_v1" [
        "left_side" "lower" "transpose_a" "unit_diagonal"
    ] NONE;
    "tuple_v1" [] NONE;
    "unary_einsum_v1" ["einsum_config"] NONE;
    "while_v1" [] TWO;
}

/// The attributes and regions of the op called `name`.
pub(super) fn find(name: &str) -> Option<(&'static [&'static str], Regions)> {
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{OPS, WITH_ACCURACY, find};
    use crate::{BinaryOp, UnaryOp};

    #[test]
    fn the_table_is_sorted() {
        assert!(OPS.is_sorted_by(|left, right| left.0 < right.0));
        for (name, (attributes, _)) in OPS {
            assert!(attributes.is_sorted_by(|left, right| left < right), "{name}");
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
