//! Ops that are read as others: legacy ones, those of dynamic shapes, and those of CHLO that may broadcast.

use super::def::{NONE, OpDef, PLAIN, v1, v2};
use super::form::{FULL, Form, SAME, pieces};
use super::{chlo, constants, contraction, dynamic, indexing, shape};
use crate::OpKind;

/// Other names of ops.
pub(super) const SYNONYMS: &[(&str, &str)] =
    &[("call", "func.call"), ("chlo.tan", "stablehlo.tan"), ("sdy.reshard", "sdy.sharding_constraint")];

/// Makes the table: a name, how the op is read, and columns of [`OpDef`].
macro_rules! legacy {
    ($($name:literal $read:expr, { $($column:ident: $value:expr,)* })*) => {
        /// The entries.
        pub(super) static TABLE: &[OpDef] = &[$(OpDef { $($column: $value,)* ..OpDef::new($name, $read) },)*];
    };
}

/// Makes a list of attributes that an op of VHLO and a legacy one share.
macro_rules! attributes {
    ($($list:ident: $($name:literal)*;)*) => {
        $(pub(super) const $list: &[&str] = &[$($name),*];)*
    };
}

attributes! {
    CONVOLUTION: "batch_group_count" "feature_group_count" "input_batch_dimension" "input_feature_dimension"
        "input_spatial_dimensions" "kernel_input_feature_dimension" "kernel_output_feature_dimension"
        "kernel_spatial_dimensions" "lhs_dilation" "output_batch_dimension" "output_feature_dimension"
        "output_spatial_dimensions" "precision_config" "rhs_dilation" "window_reversal" "window_strides";
    CONVOLUTION_WITH_PADDING: "batch_group_count" "feature_group_count" "input_batch_dimension"
        "input_feature_dimension" "input_spatial_dimensions" "kernel_input_feature_dimension"
        "kernel_output_feature_dimension" "kernel_spatial_dimensions" "lhs_dilation" "output_batch_dimension"
        "output_feature_dimension" "output_spatial_dimensions" "padding" "precision_config" "rhs_dilation"
        "window_reversal" "window_strides";
}

/// Where functions that broadcast put dimensions: only operands of one shape are supported.
const BROADCAST: &[&str] = &["broadcast_dimensions"];

legacy! {
    "chlo.broadcast_add" chlo::broadcasting, { text: FULL, ignored: BROADCAST, }
    "chlo.broadcast_and" chlo::broadcasting, { text: FULL, ignored: BROADCAST, }
    "chlo.broadcast_atan2" chlo::broadcasting, { text: FULL, ignored: BROADCAST, }
    "chlo.broadcast_divide" chlo::broadcasting, { text: FULL, ignored: BROADCAST, }
    "chlo.broadcast_maximum" chlo::broadcasting, { text: FULL, ignored: BROADCAST, }
    "chlo.broadcast_minimum" chlo::broadcasting, { text: FULL, ignored: BROADCAST, }
    "chlo.broadcast_multiply" chlo::broadcasting, { text: FULL, ignored: BROADCAST, }
    "chlo.broadcast_next_after" chlo::broadcasting, { text: FULL, ignored: BROADCAST, }
    "chlo.broadcast_or" chlo::broadcasting, { text: FULL, ignored: BROADCAST, }
    "chlo.broadcast_polygamma" chlo::broadcasting, { text: FULL, ignored: BROADCAST, }
    "chlo.broadcast_power" chlo::broadcasting, { text: FULL, ignored: BROADCAST, }
    "chlo.broadcast_remainder" chlo::broadcasting, { text: FULL, ignored: BROADCAST, }
    "chlo.broadcast_shift_left" chlo::broadcasting, { text: FULL, ignored: BROADCAST, }
    "chlo.broadcast_shift_right_arithmetic" chlo::broadcasting, { text: FULL, ignored: BROADCAST, }
    "chlo.broadcast_shift_right_logical" chlo::broadcasting, { text: FULL, ignored: BROADCAST, }
    "chlo.broadcast_subtract" chlo::broadcasting, { text: FULL, ignored: BROADCAST, }
    "chlo.broadcast_xor" chlo::broadcasting, { text: FULL, ignored: BROADCAST, }
    "chlo.broadcast_zeta" chlo::broadcasting, { text: FULL, ignored: BROADCAST, }
    "chlo.broadcast_compare" chlo::broadcast_compare, { text: FULL, ignored: BROADCAST, }
    "chlo.broadcast_complex" chlo::broadcast_complex, { text: FULL, ignored: BROADCAST, }
    "chlo.broadcast_select" chlo::broadcast_select, { text: FULL, ignored: BROADCAST, }
    "chlo.constant" constants::constant, { text: Form::Constant, }
    "chlo.constant_like" chlo::constant_like, {}
    "stablehlo.broadcast" shape::broadcast, {
        bytecode: &[v1(NONE, &["broadcast_sizes"])],
        text: pieces!(Full: Operands, Text(", sizes ="), Ints("broadcast_sizes")),
    }
    "stablehlo.create_token" |_| Ok(OpKind::AfterAll), { bytecode: PLAIN, text: SAME, }
    "stablehlo.dot" contraction::dot, {
        bytecode: &[v1(NONE, &["precision_config"])],
        text: pieces!(
            Full: Operands,
            Optional("precision_config", &[Text(", precision ="), Enums("precision_config", "precision")])
        ),
    }
    "stablehlo.einsum" contraction::einsum, {
        bytecode: &[v1(NONE, &["einsum_config"])],
        text: pieces!(Full: Operands, Text(", config ="), Quoted("einsum_config")),
    }
    "stablehlo.torch_index_select" indexing::torch_index_select, {
        bytecode: &[v1(NONE, &["batch_dims", "dim"])],
    }
    "stablehlo.unary_einsum" contraction::unary_einsum, {
        bytecode: &[v1(NONE, &["einsum_config"])],
        text: pieces!(Full: Operands, Text(", config ="), Quoted("einsum_config")),
    }
    "stablehlo.dynamic_broadcast_in_dim" dynamic::broadcast_in_dim, {
        bytecode: &[v1(NONE, &[
            "broadcast_dimensions", "known_expanding_dimensions", "known_nonexpanding_dimensions",
        ])],
        text: pieces!(Full: Operands, Text(", dims ="), Ints("broadcast_dimensions")),
        ignored: &["known_expanding_dimensions", "known_nonexpanding_dimensions"],
    }
    "stablehlo.dynamic_conv" dynamic::convolution, {
        bytecode: &[v1(NONE, CONVOLUTION_WITH_PADDING), v2(NONE, CONVOLUTION)],
        ignored: &["padding"],
    }
    "stablehlo.dynamic_gather" dynamic::gather, {
        bytecode: &[
            v1(NONE, &[
                "collapsed_slice_dims", "index_vector_dim", "indices_are_sorted", "offset_dims", "start_index_map",
            ]),
            v2(NONE, &[
                "collapsed_slice_dims", "index_vector_dim", "indices_are_sorted", "offset_dims",
                "operand_batching_dims", "start_index_map", "start_indices_batching_dims",
            ]),
        ],
    }
    "stablehlo.dynamic_iota" dynamic::iota, {
        bytecode: &[v1(NONE, &["iota_dimension"])],
        text: pieces!(Full: Operands, Text(", dim ="), Int("iota_dimension")),
    }
    "stablehlo.dynamic_pad" dynamic::pad, { bytecode: PLAIN, text: FULL, }
    "stablehlo.dynamic_reshape" dynamic::reshape, { bytecode: PLAIN, text: FULL, }
    "stablehlo.real_dynamic_slice" dynamic::slice, { bytecode: PLAIN, text: FULL, }
}
