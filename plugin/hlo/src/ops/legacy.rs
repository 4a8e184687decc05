//! Ops that are read as others: legacy ones, those of dynamic shapes, and those of CHLO that may broadcast.

use super::def::{NONE, OpDef, PLAIN, v1, v2};
use super::form::{FULL, Form, SAME, pieces};
use super::{chlo, constants, contraction, dynamic, indexing, shape};
use crate::OpKind;

/// Other names of ops.
pub(super) const SYNONYMS: &[(&str, &str)] =
    &[("call", "func.call"), ("chlo.tan", "stablehlo.tan"), ("sdy.reshard", "sdy.sharding_constraint")];

/// The attributes of convolutions without their padding, and with it.
const CONVOLUTION: &[&str] = &[
    "batch_group_count",
    "feature_group_count",
    "input_batch_dimension",
    "input_feature_dimension",
    "input_spatial_dimensions",
    "kernel_input_feature_dimension",
    "kernel_output_feature_dimension",
    "kernel_spatial_dimensions",
    "lhs_dilation",
    "output_batch_dimension",
    "output_feature_dimension",
    "output_spatial_dimensions",
    "precision_config",
    "rhs_dilation",
    "window_reversal",
    "window_strides",
];
pub(super) const CONVOLUTION_WITH_PADDING: &[&str] = &[
    "batch_group_count",
    "feature_group_count",
    "input_batch_dimension",
    "input_feature_dimension",
    "input_spatial_dimensions",
    "kernel_input_feature_dimension",
    "kernel_output_feature_dimension",
    "kernel_spatial_dimensions",
    "lhs_dilation",
    "output_batch_dimension",
    "output_feature_dimension",
    "output_spatial_dimensions",
    "padding",
    "precision_config",
    "rhs_dilation",
    "window_reversal",
    "window_strides",
];

/// A function of two operands that broadcasts them.
const fn broadcasting(name: &'static str) -> OpDef {
    OpDef { text: FULL, ignored: &["broadcast_dimensions"], ..OpDef::new(name, chlo::broadcasting) }
}

pub(super) static TABLE: &[OpDef] = &[
    broadcasting("chlo.broadcast_add"),
    broadcasting("chlo.broadcast_and"),
    broadcasting("chlo.broadcast_atan2"),
    broadcasting("chlo.broadcast_divide"),
    broadcasting("chlo.broadcast_maximum"),
    broadcasting("chlo.broadcast_minimum"),
    broadcasting("chlo.broadcast_multiply"),
    broadcasting("chlo.broadcast_next_after"),
    broadcasting("chlo.broadcast_or"),
    broadcasting("chlo.broadcast_polygamma"),
    broadcasting("chlo.broadcast_power"),
    broadcasting("chlo.broadcast_remainder"),
    broadcasting("chlo.broadcast_shift_left"),
    broadcasting("chlo.broadcast_shift_right_arithmetic"),
    broadcasting("chlo.broadcast_shift_right_logical"),
    broadcasting("chlo.broadcast_subtract"),
    broadcasting("chlo.broadcast_xor"),
    broadcasting("chlo.broadcast_zeta"),
    OpDef {
        text: FULL,
        ignored: &["broadcast_dimensions"],
        ..OpDef::new("chlo.broadcast_compare", chlo::broadcast_compare)
    },
    OpDef {
        text: FULL,
        ignored: &["broadcast_dimensions"],
        ..OpDef::new("chlo.broadcast_complex", chlo::broadcast_complex)
    },
    OpDef {
        text: FULL,
        ignored: &["broadcast_dimensions"],
        ..OpDef::new("chlo.broadcast_select", chlo::broadcast_select)
    },
    OpDef { text: Form::Constant, ..OpDef::new("chlo.constant", constants::constant) },
    OpDef::new("chlo.constant_like", chlo::constant_like),
    OpDef {
        bytecode: &[v1(NONE, &["broadcast_sizes"])],
        text: pieces!(Full: Operands, Text(", sizes ="), Ints("broadcast_sizes")),
        ..OpDef::new("stablehlo.broadcast", shape::broadcast)
    },
    OpDef { bytecode: PLAIN, text: SAME, ..OpDef::new("stablehlo.create_token", |_| Ok(OpKind::AfterAll)) },
    OpDef {
        bytecode: &[v1(NONE, &["precision_config"])],
        text: pieces!(
            Full: Operands,
            Optional("precision_config", &[Text(", precision ="), Enums("precision_config", "precision")])
        ),
        ..OpDef::new("stablehlo.dot", contraction::dot)
    },
    OpDef {
        bytecode: &[v1(NONE, &["einsum_config"])],
        text: pieces!(Full: Operands, Text(", config ="), Quoted("einsum_config")),
        ..OpDef::new("stablehlo.einsum", contraction::einsum)
    },
    OpDef {
        bytecode: &[v1(NONE, &["batch_dims", "dim"])],
        ..OpDef::new("stablehlo.torch_index_select", indexing::torch_index_select)
    },
    OpDef {
        bytecode: &[v1(NONE, &["einsum_config"])],
        text: pieces!(Full: Operands, Text(", config ="), Quoted("einsum_config")),
        ..OpDef::new("stablehlo.unary_einsum", contraction::unary_einsum)
    },
    OpDef {
        bytecode: &[v1(NONE, &["broadcast_dimensions", "known_expanding_dimensions", "known_nonexpanding_dimensions"])],
        text: pieces!(Full: Operands, Text(", dims ="), Ints("broadcast_dimensions")),
        ignored: &["known_expanding_dimensions", "known_nonexpanding_dimensions"],
        ..OpDef::new("stablehlo.dynamic_broadcast_in_dim", dynamic::broadcast_in_dim)
    },
    OpDef {
        bytecode: &[v1(NONE, CONVOLUTION_WITH_PADDING), v2(NONE, CONVOLUTION)],
        ignored: &["padding"],
        ..OpDef::new("stablehlo.dynamic_conv", dynamic::convolution)
    },
    OpDef {
        bytecode: &[
            v1(
                NONE,
                &["collapsed_slice_dims", "index_vector_dim", "indices_are_sorted", "offset_dims", "start_index_map"],
            ),
            v2(
                NONE,
                &[
                    "collapsed_slice_dims",
                    "index_vector_dim",
                    "indices_are_sorted",
                    "offset_dims",
                    "operand_batching_dims",
                    "start_index_map",
                    "start_indices_batching_dims",
                ],
            ),
        ],
        ..OpDef::new("stablehlo.dynamic_gather", dynamic::gather)
    },
    OpDef {
        bytecode: &[v1(NONE, &["iota_dimension"])],
        text: pieces!(Full: Operands, Text(", dim ="), Int("iota_dimension")),
        ..OpDef::new("stablehlo.dynamic_iota", dynamic::iota)
    },
    OpDef { bytecode: PLAIN, text: FULL, ..OpDef::new("stablehlo.dynamic_pad", dynamic::pad) },
    OpDef { bytecode: PLAIN, text: FULL, ..OpDef::new("stablehlo.dynamic_reshape", dynamic::reshape) },
    OpDef { bytecode: PLAIN, text: FULL, ..OpDef::new("stablehlo.real_dynamic_slice", dynamic::slice) },
];
