//! The table of ops. Names and meanings are those of the [StableHLO specification](https://openxla.org/stablehlo/spec);
//! ops that come from the CHLO dialect say so.

use super::attributes::Attributes;
use super::def::{Hlo, NONE, ONE, OpDef, PLAIN, Regions, TWO, adding, one, several, unversioned, v1, v2};
use super::define::{hlo_writer, ops, reader, writer};
use super::form::{FULL, Form, SAME, pieces};
use super::functions::{BinaryOp, UnaryOp};
use super::legacy::CONVOLUTION_WITH_PADDING;
use super::parameters::{
    CollectiveGroups, ComparisonDirection, ComparisonType, ConvolutionDims, CustomCall, DotDims, FftType, GatherDims,
    RngAlgorithm, RngDistribution, RootedGroups, ScatterDims, Transpose, WindowDim,
};
use super::{call, collective, constants, contraction, dynamic, indexing, shape, sharding, window};
use crate::hlo_proto::fields::instruction as field;
use crate::hlo_proto::{read as hlo, write};
use crate::sharding::{ManualComputation, TensorSharding};
use crate::{Attribute, ElementType, Error, FuncId, Literal, Type, verify};

ops! {
    // Constants, and element-wise ops beside those in `functions`.

    /// A constant.
    Constant(value: Literal) => "stablehlo.constant" {
        bytecode: &[v1(NONE, &["value"])],
        text: Form::Constant,
        read: constants::constant,
        write: |out| out.attribute("value", Attribute::Dense(value.clone())),
        hlo: one(hlo::simple::constant),
        write_hlo: |fields| fields.message(field::LITERAL, &write::shape::literal(value)?),
        rule: |cx| verify::shape::constant(cx, value),
    }

    /// Counts along a dimension.
    Iota {
        /// The dimension.
        dim: usize = size("iota_dimension"),
    } => "stablehlo.iota" {
        bytecode: &[v1(NONE, &["iota_dimension"])],
        text: pieces!(Same: Text("dim ="), Int("iota_dimension")),
        hlo: one(|i| Ok(OpKind::Iota { dim: i.dimension()? })),
        write_hlo: |fields| write::attributes::dimension(fields, *dim),
        rule: |cx| verify::shape::iota(cx, *dim),
    }

    /// Element-wise comparison of two operands.
    Compare(
        direction: ComparisonDirection = choice("comparison_direction"),
        order: ComparisonType = choice_or("compare_type", ComparisonType::NoType)
    ) => "stablehlo.compare" {
        bytecode: &[v1(NONE, &["compare_type", "comparison_direction"])],
        text: pieces!(
            Full: Enum("comparison_direction", "comparison_direction"), Text(","), Operands,
            Optional("compare_type", &[Text(","), Enum("compare_type", "comparison_type")])
        ),
        hlo: one(hlo::simple::compare),
        write_hlo: |fields| write::attributes::compare(fields, *direction, *order),
        rule: |cx| verify::elementwise::compare(cx, *direction, *order),
    }

    /// `pred ? on_true : on_false`; `pred` may be a scalar.
    Select => "stablehlo.select" {
        bytecode: PLAIN,
        text: pieces!(Select: Operands),
        hlo: one(|_| Ok(OpKind::Select)),
        write_hlo: |_fields| {},
        rule: |cx| verify::elementwise::select(cx),
    }

    /// `clamp(min, x, max)`; the bounds may be scalars.
    Clamp => "stablehlo.clamp" {
        bytecode: PLAIN,
        text: SAME,
        hlo: one(|_| Ok(OpKind::Clamp)),
        write_hlo: |_fields| {},
        rule: |cx| verify::elementwise::clamp(cx),
    }

    /// Conversion to the element type of the result.
    Convert => "stablehlo.convert" {
        bytecode: PLAIN,
        text: SAME,
        hlo: one(|_| Ok(OpKind::Convert)),
        write_hlo: |_fields| {},
        rule: |cx| verify::elementwise::convert(cx),
    }

    /// The bits as another element type; a last dimension joins or splits elements of different widths.
    BitcastConvert => "stablehlo.bitcast_convert" {
        bytecode: PLAIN,
        text: FULL,
        hlo: one(|_| Ok(OpKind::BitcastConvert)),
        write_hlo: |_fields| {},
        rule: |cx| verify::elementwise::bitcast_convert(cx),
    }

    /// Rounds to a format with so many bits.
    ReducePrecision {
        /// Bits of the exponent.
        exponent_bits: u32 = bits("exponent_bits"),
        /// Bits of the mantissa.
        mantissa_bits: u32 = bits("mantissa_bits"),
    } => "stablehlo.reduce_precision" {
        bytecode: &[v1(NONE, &["exponent_bits", "mantissa_bits"])],
        text: pieces!(Same: Operands, Text(", format ="), ExponentMantissa),
        hlo: one(hlo::simple::reduce_precision),
        write_hlo: |fields| {
            fields.int(field::EXPONENT_BITS, (*exponent_bits).into());
            fields.int(field::MANTISSA_BITS, (*mantissa_bits).into());
        },
        rule: |cx| verify::elementwise::reduce_precision(cx, *exponent_bits, *mantissa_bits),
    }

    /// A complex number of its parts.
    Complex => "stablehlo.complex" {
        bytecode: PLAIN,
        text: pieces!(Complex: Operands),
        hlo: one(|_| Ok(OpKind::Complex)),
        write_hlo: |_fields| {},
        rule: |cx| verify::elementwise::complex(cx),
    }

    /// Applies a region to each element.
    Map {
        /// All dimensions, in order.
        dims: Vec<usize> = sizes("dimensions"),
    } => "stablehlo.map" {
        bytecode: &[v1(ONE, &["dimensions"])],
        hlo: adding(hlo::ops::map),
        write_hlo: |fields| fields.sizes(field::DIMENSIONS, dims),
        rule: |cx| verify::reduce::map(cx, dims),
    }

    // Movement by position.

    /// Repeats along new dimensions: `dims[i]` is where dimension `i` of the operand goes.
    BroadcastInDim {
        /// One for each dimension of the operand.
        dims: Vec<usize> = sizes("broadcast_dimensions"),
    } => "stablehlo.broadcast_in_dim" {
        bytecode: &[v1(NONE, &["broadcast_dimensions"])],
        text: pieces!(Full: Operands, Text(", dims ="), Ints("broadcast_dimensions")),
        hlo: Hlo { opcode: Some("broadcast"), ..one(|i| Ok(OpKind::BroadcastInDim { dims: i.dimensions()? })) },
        write_hlo: |fields| fields.sizes(field::DIMENSIONS, dims),
        rule: |cx| verify::shape::broadcast_in_dim(cx, dims),
    }

    /// The same elements in another shape.
    Reshape => "stablehlo.reshape" {
        bytecode: PLAIN,
        text: FULL,
        hlo: one(|_| Ok(OpKind::Reshape)),
        write_hlo: |_fields| {},
        rule: |cx| verify::shape::reshape(cx),
    }

    /// Permutes dimensions: dimension `i` of the result is `permutation[i]` of the operand.
    Transpose {
        /// A permutation.
        permutation: Vec<usize> = sizes("permutation"),
    } => "stablehlo.transpose" {
        bytecode: &[v1(NONE, &["permutation"])],
        text: pieces!(Full: Operands, Text(", dims ="), Ints("permutation")),
        hlo: one(|i| Ok(OpKind::Transpose { permutation: i.dimensions()? })),
        write_hlo: |fields| fields.sizes(field::DIMENSIONS, permutation),
        rule: |cx| verify::shape::transpose(cx, permutation),
    }

    /// A part with static bounds.
    Slice {
        /// First index of each dimension.
        start: Vec<usize>,
        /// One past the last.
        limit: Vec<usize>,
        /// Step.
        strides: Vec<usize>,
    } => "stablehlo.slice" {
        bytecode: &[v1(NONE, &["limit_indices", "start_indices", "strides"])],
        text: pieces!(Full: Operands, SliceRanges),
        read: shape::slice,
        write: |out| shape::write_slice(out, start, limit, strides),
        hlo: one(hlo::simple::slice),
        write_hlo: |fields| write::attributes::slice(fields, start, limit, strides),
        rule: |cx| verify::shape::slice(cx, start, limit, strides),
    }

    /// A part from indices given as scalar operands, clamped.
    DynamicSlice {
        /// The size of each dimension.
        sizes: Vec<usize> = sizes("slice_sizes"),
    } => "stablehlo.dynamic_slice" {
        bytecode: &[v1(NONE, &["slice_sizes"])],
        text: pieces!(Full: Operands, Text(", sizes ="), Ints("slice_sizes")),
        hlo: adding(hlo::ops::dynamic_slice),
        write_hlo: |fields| fields.sizes(field::DYNAMIC_SLICE_SIZES, sizes),
        rule: |cx| verify::shape::dynamic_slice(cx, sizes),
    }

    /// Replaces a part from indices given as scalar operands, clamped: operand, update, indices.
    DynamicUpdateSlice => "stablehlo.dynamic_update_slice" {
        bytecode: PLAIN,
        text: FULL,
        hlo: adding(hlo::ops::dynamic_update_slice),
        write_hlo: |_fields| {},
        rule: |cx| verify::shape::dynamic_update_slice(cx),
    }

    /// Pads with operand 1.
    Pad {
        /// Added before; negative ones are dropped.
        low: Vec<i64> = signed("edge_padding_low"),
        /// Added after; negative ones are dropped.
        high: Vec<i64> = signed("edge_padding_high"),
        /// Added between elements.
        interior: Vec<i64> = signed("interior_padding"),
    } => "stablehlo.pad" {
        bytecode: &[v1(NONE, &["edge_padding_high", "edge_padding_low", "interior_padding"])],
        text: pieces!(
            Full: Operands, Text(", low ="), Ints("edge_padding_low"), Text(", high ="), Ints("edge_padding_high"),
            Text(", interior ="), Ints("interior_padding")
        ),
        hlo: one(hlo::simple::pad),
        write_hlo: |fields| write::attributes::pad(fields, low, high, interior),
        rule: |cx| verify::shape::pad(cx, low, high, interior),
    }

    /// Joins along a dimension.
    Concatenate {
        /// The dimension.
        dim: usize = size("dimension"),
    } => "stablehlo.concatenate" {
        bytecode: &[v1(NONE, &["dimension"])],
        text: pieces!(Full: Operands, Text(", dim ="), Int("dimension")),
        hlo: one(|i| Ok(OpKind::Concatenate { dim: i.dimension()? })),
        write_hlo: |fields| write::attributes::dimension(fields, *dim),
        rule: |cx| verify::shape::concatenate(cx, *dim),
    }

    /// Reverses along dimensions.
    Reverse {
        /// The dimensions.
        dims: Vec<usize> = sizes("dimensions"),
    } => "stablehlo.reverse" {
        bytecode: &[v1(NONE, &["dimensions"])],
        text: pieces!(Same: Operands, Text(", dims ="), Ints("dimensions")),
        hlo: one(|i| Ok(OpKind::Reverse { dims: i.dimensions()? })),
        write_hlo: |fields| fields.sizes(field::DIMENSIONS, dims),
        rule: |cx| verify::shape::reverse(cx, dims),
    }

    /// The size of a dimension, `S32`.
    GetDimensionSize {
        /// The dimension.
        dim: usize = size("dimension"),
    } => "stablehlo.get_dimension_size" {
        bytecode: &[v1(NONE, &["dimension"])],
        text: pieces!(Full: Operands, Text(", dim ="), Int("dimension")),
        hlo: one(|i| Ok(OpKind::GetDimensionSize { dim: i.dimension()? })),
        rule: |cx| verify::shape::get_dimension_size(cx, *dim),
    }

    /// The first operand, whose dimension has as many elements as the second says, `S32`: what is beyond them in memory
    /// is no part of it.
    SetDimensionSize {
        /// The dimension.
        dim: usize,
    } => "stablehlo.set_dimension_size" {
        bytecode: &[v1(NONE, &["dimension"])],
        text: pieces!(Full: Operands, Text(", dim ="), Int("dimension")),
        read: dynamic::set_dimension_size,
        write: |out| out.size("dimension", dim),
        hlo: adding(hlo::ops::set_dimension_size),
        rule: |cx| verify::shape::set_dimension_size(cx, *dim),
    }

    // Movement by indices, and sorts.

    /// Slices from indices: operand, start indices.
    Gather {
        /// Dimension numbers.
        dims: GatherDims,
        /// The size of a slice in each dimension of the operand.
        slice_sizes: Vec<usize>,
        /// Whether indices are sorted.
        indices_are_sorted: bool,
    } => "stablehlo.gather" {
        bytecode: &[
            v1(NONE, &[
                "collapsed_slice_dims", "index_vector_dim", "indices_are_sorted", "offset_dims", "slice_sizes",
                "start_index_map",
            ]),
            v2(NONE, &[
                "collapsed_slice_dims", "index_vector_dim", "indices_are_sorted", "offset_dims",
                "operand_batching_dims", "slice_sizes", "start_index_map", "start_indices_batching_dims",
            ]),
        ],
        read: indexing::gather,
        write: |out| indexing::write_gather(out, dims, slice_sizes, indices_are_sorted),
        hlo: one(hlo::contraction::gather),
        rule: |cx| verify::gather::gather(cx, dims, slice_sizes),
    }

    /// Combines updates into inputs: inputs, indices, updates; one region.
    Scatter {
        /// Dimension numbers.
        dims: ScatterDims,
        /// Whether indices are sorted.
        indices_are_sorted: bool,
        /// Whether no element is updated twice.
        unique_indices: bool,
    } => "stablehlo.scatter" {
        bytecode: &[
            v1(ONE, &[
                "index_vector_dim", "indices_are_sorted", "inserted_window_dims", "scatter_dims_to_operand_dims",
                "unique_indices", "update_window_dims",
            ]),
            v2(ONE, &[
                "index_vector_dim", "indices_are_sorted", "input_batching_dims", "inserted_window_dims",
                "scatter_dims_to_operand_dims", "scatter_indices_batching_dims", "unique_indices",
                "update_window_dims",
            ]),
        ],
        read: indexing::scatter,
        write: |out| indexing::write_scatter(out, dims, indices_are_sorted, unique_indices),
        hlo: adding(hlo::ops::scatter),
        rule: |cx| verify::gather::scatter(cx, dims),
    }

    /// Sorts operands together along a dimension; one region, the comparator.
    Sort {
        /// The dimension.
        dim: usize,
        /// Whether equal elements keep their order.
        stable: bool,
    } => "stablehlo.sort" {
        bytecode: &[v1(ONE, &["dimension", "is_stable"])],
        read: indexing::sort,
        write: |out| {
            out.size("dimension", dim);
            out.flag("is_stable", stable);
        },
        hlo: adding(hlo::ops::sort),
        write_hlo: |fields| {
            write::attributes::dimension(fields, *dim);
            fields.bool(field::STABLE, *stable);
        },
        rule: |cx| verify::reduce::sort(cx, *dim),
    }

    /// CHLO: the `k` largest along the last dimension: values, indices (`S32`).
    TopK {
        /// How many.
        k: usize = size("k"),
        /// Whether the largest rather than the smallest.
        largest: bool = flag_or("largest", true),
    } => "chlo.top_k" {
        text: pieces!(
            Arrow: Text("("), Operands, Text(", k ="), Int("k"),
            Optional("largest", &[Text(", largest ="), Bool("largest")]), Text(")")
        ),
        ignored: &["is_stable"],
        hlo: Hlo { opcode: Some("topk"), ..several(hlo::simple::top_k) },
        rule: |cx| verify::reduce::top_k(cx, *k),
    }

    // Reductions and windows.

    /// Reduces along dimensions: inputs, initial values; one region.
    Reduce {
        /// The dimensions.
        dims: Vec<usize> = sizes("dimensions"),
    } => "stablehlo.reduce" {
        bytecode: &[v1(ONE, &["dimensions"])],
        text: Form::Reduce,
        hlo: adding(hlo::ops::reduce),
        write_hlo: |fields| fields.sizes(field::DIMENSIONS, dims),
        rule: |cx| verify::reduce::reduce(cx, dims),
    }

    /// Reduces each window: inputs, initial values; one region.
    ReduceWindow {
        /// One for each dimension.
        window: Vec<WindowDim>,
    } => "stablehlo.reduce_window" {
        bytecode: &[v1(ONE, &["base_dilations", "padding", "window_dilations", "window_dimensions", "window_strides"])],
        read: window::reduce_window,
        write: |out| window::write_reduce_window(out, window),
        hlo: adding(hlo::ops::reduce_window),
        rule: |cx| verify::reduce::reduce_window(cx, window),
    }

    /// Scatters to the selected element of each window: operand, source, initial value; regions select and scatter.
    SelectAndScatter {
        /// One for each dimension, undilated.
        window: Vec<WindowDim>,
    } => "stablehlo.select_and_scatter" {
        bytecode: &[v1(TWO, &["padding", "window_dimensions", "window_strides"])],
        read: window::select_and_scatter,
        write: |out| window::write_window(out, window),
        hlo: adding(hlo::ops::select_and_scatter),
        rule: |cx| verify::reduce::select_and_scatter(cx, window),
    }

    // Contractions and linear algebra.

    /// Contraction of two operands.
    DotGeneral(dims: DotDims) => "stablehlo.dot_general" {
        bytecode: &[
            v1(NONE, &[
                "lhs_batching_dimensions", "lhs_contracting_dimensions", "precision_config",
                "rhs_batching_dimensions", "rhs_contracting_dimensions",
            ]),
            v2(NONE, &[
                "accumulation_type", "allow_imprecise_accumulation", "lhs_batching_dimensions",
                "lhs_component_count", "lhs_contracting_dimensions", "lhs_precision_type",
                "num_primitive_operations", "precision_config", "rhs_batching_dimensions", "rhs_component_count",
                "rhs_contracting_dimensions", "rhs_precision_type",
            ]),
        ],
        text: pieces!(
            Full: Operands,
            Optional(
                "lhs_batching_dimensions",
                &[Text(", batching_dims ="), DotDims("lhs_batching_dimensions", "rhs_batching_dimensions")]
            ),
            Text(", contracting_dims ="), DotDims("lhs_contracting_dimensions", "rhs_contracting_dimensions"),
            Optional("precision_config", &[Text(", precision ="), Enums("precision_config", "precision")]),
            Optional("algorithm", &[Text(", algorithm ="), DotAlgorithm])
        ),
        read: contraction::dot_general,
        write: |out| contraction::write_dot_general(out, dims),
        hlo: Hlo { opcode: Some("dot"), ..one(hlo::contraction::dot) },
        write_hlo: |fields| write::attributes::dot(fields, dims),
        rule: |cx| verify::contract::dot_general(cx, dims),
    }

    /// Convolution of an input with a kernel.
    Convolution(dims: ConvolutionDims) => "stablehlo.convolution" {
        bytecode: &[v1(NONE, CONVOLUTION_WITH_PADDING)],
        text: pieces!(Full: Arguments, Text("dim_numbers ="), ConvolutionDims, Text(", window ="), ConvolutionWindow),
        read: window::convolution,
        write: |out| window::write_convolution(out, dims),
        hlo: adding(hlo::ops::convolution),
        rule: |cx| verify::contract::convolution(cx, dims),
    }

    /// Fourier transform of the last dimensions.
    Fft {
        /// The kind.
        fft_type: FftType = choice("fft_type"),
        /// The lengths of the transformed dimensions.
        lengths: Vec<usize> = sizes("fft_length"),
    } => "stablehlo.fft" {
        bytecode: &[v1(NONE, &["fft_length", "fft_type"])],
        text: pieces!(
            Full: Operands, Text(", type ="), Enum("fft_type", "fft_type"), Text(", length ="), Ints("fft_length")
        ),
        hlo: one(hlo::simple::fft),
        rule: |cx| verify::numeric::fft(cx, *fft_type, lengths),
    }

    /// Cholesky factor of each matrix.
    Cholesky {
        /// Whether the lower one.
        lower: bool = flag_or("lower", false),
    } => "stablehlo.cholesky" {
        bytecode: &[v1(NONE, &["lower"])],
        text: pieces!(Same: Operands, Optional("lower", &[Text(", lower ="), Bool("lower")])),
        hlo: one(hlo::simple::cholesky),
        rule: |cx| verify::contract::cholesky(cx),
    }

    /// Solves with a triangular matrix: a, b.
    TriangularSolve {
        /// Whether `a x = b` rather than `x a = b`.
        left_side: bool = flag("left_side"),
        /// Whether `a` is lower triangular.
        lower: bool = flag("lower"),
        /// Whether its diagonal counts as ones.
        unit_diagonal: bool = flag("unit_diagonal"),
        /// What is done with `a`.
        transpose: Transpose = choice("transpose_a"),
    } => "stablehlo.triangular_solve" {
        bytecode: &[v1(NONE, &["left_side", "lower", "transpose_a", "unit_diagonal"])],
        hlo: one(hlo::simple::triangular_solve),
        rule: |cx| verify::contract::triangular_solve(cx, *left_side),
    }

    // Random numbers and normalisation.

    /// Random numbers of unspecified state: a, b, shape.
    Rng(distribution: RngDistribution = choice("rng_distribution")) => "stablehlo.rng" {
        bytecode: &[v1(NONE, &["rng_distribution"])],
        text: pieces!(Full: Operands, Text(", distribution ="), Enum("rng_distribution", "rng_distribution")),
        hlo: adding(hlo::ops::rng),
        rule: |cx| verify::numeric::rng(cx, *distribution),
    }

    /// Random bits of a given state: state; new state, bits.
    RngBitGenerator(algorithm: RngAlgorithm = choice("rng_algorithm")) => "stablehlo.rng_bit_generator" {
        bytecode: &[v1(NONE, &["rng_algorithm"])],
        text: pieces!(Full: Operands, Text(", algorithm ="), Enum("rng_algorithm", "rng_algorithm")),
        hlo: several(hlo::simple::rng_bit_generator),
        rule: |cx| verify::numeric::rng_bit_generator(cx, *algorithm),
    }

    /// Batch norm, inference: operand, scale, offset, mean, variance.
    BatchNormInference {
        /// Added to the variance.
        epsilon: f32 = float32("epsilon"),
        /// Feature dimension.
        feature: usize = size("feature_index"),
    } => "stablehlo.batch_norm_inference" {
        bytecode: &[v1(NONE, &["epsilon", "feature_index"])],
        hlo: one(|i| Ok(OpKind::BatchNormInference { epsilon: i.epsilon()?, feature: i.feature()? })),
        rule: |cx| verify::numeric::batch_norm_inference(cx, *feature),
    }

    /// Batch norm, training: operand, scale, offset; output, mean, variance.
    BatchNormTraining {
        /// Added to the variance.
        epsilon: f32 = float32("epsilon"),
        /// Feature dimension.
        feature: usize = size("feature_index"),
    } => "stablehlo.batch_norm_training" {
        bytecode: &[v1(NONE, &["epsilon", "feature_index"])],
        hlo: several(|i| Ok(OpKind::BatchNormTraining { epsilon: i.epsilon()?, feature: i.feature()? })),
        rule: |cx| verify::numeric::batch_norm_training(cx, *feature),
    }

    /// Batch norm, gradient: operand, scale, mean, variance, output gradient; gradients of operand, scale, offset.
    BatchNormGrad {
        /// Added to the variance.
        epsilon: f32 = float32("epsilon"),
        /// Feature dimension.
        feature: usize = size("feature_index"),
    } => "stablehlo.batch_norm_grad" {
        bytecode: &[v1(NONE, &["epsilon", "feature_index"])],
        hlo: several(|i| Ok(OpKind::BatchNormGrad { epsilon: i.epsilon()?, feature: i.feature()? })),
        rule: |cx| verify::numeric::batch_norm_grad(cx, *feature),
    }

    // Control flow, calls, tuples and tokens.

    /// Loop; regions condition and body.
    While => "stablehlo.while" {
        bytecode: &[v1(TWO, &[])],
        text: Form::While,
        hlo: adding(hlo::call::repeat),
        rule: |cx| verify::control::while_loop(cx),
    }

    /// Branch on a `Pred` scalar; regions then and else, without parameters.
    If => "stablehlo.if" {
        bytecode: &[v1(TWO, &[])],
        rule: |cx| verify::control::if_else(cx),
    }

    /// Branch on an `S32` scalar; regions without parameters, the last for indices out of range.
    Case => "stablehlo.case" {
        bytecode: &[v1(Regions::AtLeastOne, &[])],
        rule: |cx| verify::control::case(cx),
    }

    /// Call of a function of the module.
    Call(callee: FuncId = callee("callee")) => "func.call" {
        bytecode: &[v1(NONE, &["callee"])],
        text: Form::Call,
        ignored: &["arg_attrs", "res_attrs", "no_inline"],
        hlo: adding(hlo::call::call),
        rule: |cx| verify::control::call(cx),
    }

    /// A named op with a function that says what it does.
    Composite {
        /// The name: `chlo.erf`.
        name: String,
        /// Its attributes, sorted by name.
        attributes: Vec<(String, Attribute)>,
        /// What it does.
        decomposition: FuncId,
        /// The version.
        version: i64,
    } => "stablehlo.composite" {
        bytecode: &[
            v1(NONE, &["composite_attributes", "decomposition", "name", "version"]),
            v2(Regions::Any, &["composite_attributes", "decomposition", "name", "version"]),
        ],
        text: Form::Composite,
        read: call::composite,
        write: |out| call::write_composite(out, name, attributes, decomposition, *version),
        rule: |cx| verify::control::call(cx),
    }

    /// Call of a function outside the program.
    CustomCall(call: Box<CustomCall>) => "stablehlo.custom_call" {
        bytecode: &[
            v1(NONE, &[
                "api_version", "backend_config", "call_target_name", "called_computations", "has_side_effect",
                "operand_layouts", "output_operand_aliases", "result_layouts",
            ]),
            v2(NONE, &[
                "api_version", "backend_config", "call_target_name", "called_computations", "has_side_effect",
                "operand_layouts", "output_operand_aliases", "result_layouts", "result_tilings",
            ]),
        ],
        text: Form::CustomCall,
        read: call::custom_call,
        write: |out| call::write_custom_call(out, call),
        hlo: adding(hlo::call::custom_call),
        rule: |cx| verify::control::custom_call(cx, call),
    }

    /// The operands; keeps other ops from moving across.
    OptimizationBarrier => "stablehlo.optimization_barrier" {
        bytecode: PLAIN,
        text: pieces!(Pairwise: Operands),
        hlo: Hlo { opcode: Some("opt-barrier"), ..one(|_| Ok(OpKind::OptimizationBarrier)) },
        rule: |cx| Ok(cx.operands.to_vec()),
    }

    /// A tuple of the operands.
    Tuple => "stablehlo.tuple" {
        bytecode: PLAIN,
        text: pieces!(Tuple: Operands),
        hlo: adding(hlo::ops::tuple),
        write_hlo: |_fields| {},
        rule: |cx| Ok(vec![Type::Tuple(cx.operands.to_vec())]),
    }

    /// An element of a tuple.
    GetTupleElement {
        /// Its index.
        index: usize = index("index"),
    } => "stablehlo.get_tuple_element" {
        bytecode: &[v1(NONE, &["index"])],
        text: pieces!(Full: Operands, Text("["), Int("index"), Text("]")),
        hlo: adding(hlo::ops::get_tuple_element),
        write_hlo: |fields| fields.int(field::TUPLE_INDEX, *index as i64),
        rule: |cx| verify::control::get_tuple_element(cx, *index),
    }

    /// A token after those of the operands; with none, a new token.
    AfterAll => "stablehlo.after_all" {
        bytecode: PLAIN,
        text: SAME,
        hlo: one(|_| Ok(OpKind::AfterAll)),
        write_hlo: |_fields| {},
        rule: |cx| verify::control::after_all(cx),
    }

    /// Starts the op of its region, whose parameters are the operands; a future of its results.
    AsyncStart => "stablehlo.async_start" {
        bytecode: &[v1(ONE, &[])],
        rule: |cx| verify::control::async_start(cx),
    }

    /// Waits for a future.
    AsyncDone => "stablehlo.async_done" {
        bytecode: PLAIN,
        rule: |cx| verify::control::async_done(cx),
    }

    /// The number of the partition, `U32`.
    PartitionId => "stablehlo.partition_id" {
        bytecode: PLAIN,
        text: SAME,
        hlo: one(|_| Ok(OpKind::PartitionId)),
        write_hlo: |_fields| {},
        rule: |cx| verify::control::device_id(cx),
    }

    /// The number of the replica, `U32`.
    ReplicaId => "stablehlo.replica_id" {
        bytecode: PLAIN,
        text: SAME,
        hlo: one(|_| Ok(OpKind::ReplicaId)),
        write_hlo: |_fields| {},
        rule: |cx| verify::control::device_id(cx),
    }

    // Shardings.

    /// The operand, split as the sharding says.
    ShardingConstraint(sharding: Box<TensorSharding>) => "sdy.sharding_constraint" {
        bytecode: &[unversioned(NONE, &["sharding"])],
        text: pieces!(Same: Operands, Sharding("sharding")),
        read: sharding::constraint,
        write: |out| out.attribute("sharding", Attribute::Sharding(sharding.as_ref().clone())),
        rule: |cx| verify::control::sharding_constraint(cx),
    }

    /// The operand is split as all others of a group; no result.
    ShardingGroup {
        /// The group.
        id: i64,
    } => "sdy.sharding_group" {
        bytecode: &[unversioned(NONE, &["group_id"])],
        read: sharding::group,
        write: |out| out.integer("group_id", *id, ElementType::S64),
        rule: |cx| verify::control::sharding_constraint(cx).map(|_| Vec::new()),
    }

    /// A region that is written for one device of some axes of a mesh; it uses nothing from outside.
    ManualComputation(manual: Box<ManualComputation>) => "sdy.manual_computation" {
        bytecode: &[unversioned(ONE, &["in_shardings", "manual_axes", "out_shardings"])],
        text: Form::ManualComputation,
        read: sharding::manual_computation,
        write: |out| sharding::write_manual_computation(out, manual),
        rule: |cx| verify::control::given_results(cx),
    }

    // Collectives.

    /// Reduces each operand over the processes of each group; one region.
    AllReduce(groups: CollectiveGroups = global_groups()) => "stablehlo.all_reduce" {
        bytecode: &[
            v1(ONE, &["channel_id", "replica_groups", "use_global_device_ids"]),
            v2(ONE, &["channel_id", "replica_groups", "use_global_device_ids"]),
        ],
        hlo: adding(hlo::collective::all_reduce),
        write_hlo: |fields| write::attributes::groups(fields, groups),
        rule: |cx| verify::collective::all_reduce(cx, groups),
    }

    /// Joins the operands of the processes of each group.
    AllGather {
        /// The dimension that they are joined along.
        dim: usize = size("all_gather_dim"),
        /// The groups.
        groups: CollectiveGroups = global_groups(),
    } => "stablehlo.all_gather" {
        bytecode: &[
            v1(NONE, &["all_gather_dim", "channel_id", "replica_groups", "use_global_device_ids"]),
            v2(NONE, &["all_gather_dim", "channel_id", "replica_groups", "use_global_device_ids"]),
        ],
        hlo: several(|i| {
            let groups = hlo::collective::global_groups(i)?;
            Ok(OpKind::AllGather { dim: i.dimension()?, groups })
        }),
        write_hlo: |fields| {
            write::attributes::groups(fields, groups);
            write::attributes::dimension(fields, *dim);
        },
        rule: |cx| verify::collective::all_gather(cx, *dim, groups),
    }

    /// Reduces the operand over the processes of each group, each of which gets a part; one region.
    ReduceScatter {
        /// The dimension that is split.
        dim: usize = size("scatter_dimension"),
        /// The groups.
        groups: CollectiveGroups = global_groups(),
    } => "stablehlo.reduce_scatter" {
        bytecode: &[v1(ONE, &["channel_id", "replica_groups", "scatter_dimension", "use_global_device_ids"])],
        hlo: adding(hlo::collective::reduce_scatter),
        write_hlo: |fields| {
            write::attributes::groups(fields, groups);
            write::attributes::dimension(fields, *dim);
        },
        rule: |cx| verify::collective::reduce_scatter(cx, *dim, groups),
    }

    /// Splits the operands, and sends part `i` to the process `i` of the group, which joins what it gets.
    AllToAll {
        /// The dimension that is split.
        split_dim: usize = size("split_dimension"),
        /// The dimension that parts are joined along.
        concat_dim: usize = size("concat_dimension"),
        /// The number of parts: as many as processes in a group.
        split_count: usize = size("split_count"),
        /// The groups.
        groups: CollectiveGroups = groups("replica_groups"),
    } => "stablehlo.all_to_all" {
        bytecode: &[
            v1(NONE, &["channel_id", "concat_dimension", "replica_groups", "split_count", "split_dimension"]),
            v2(NONE, &["channel_id", "concat_dimension", "replica_groups", "split_count", "split_dimension"]),
        ],
        hlo: adding(hlo::collective::all_to_all),
        write_hlo: |fields| {
            // HLO has no other form with one result.
            (split_dim == concat_dim).then_some(())?;
            write::attributes::groups(fields, groups);
            write::attributes::dimension(fields, *split_dim);
        },
        rule: |cx| verify::collective::all_to_all(cx, *split_dim, *concat_dim, *split_count, groups),
    }

    /// Sends the operands of the root of each group to all of it; a process of no group gets zeros.
    CollectiveBroadcast(rooted: RootedGroups) => "stablehlo.collective_broadcast" {
        bytecode: &[
            v1(NONE, &["channel_id", "replica_groups"]),
            v2(NONE, &["channel_id", "has_dynamic_root", "replica_groups"]),
        ],
        read: collective::broadcast,
        write: |out| out.rooted_groups(rooted),
        hlo: several(|i| {
            let groups = hlo::collective::groups(i)?;
            Ok(OpKind::CollectiveBroadcast(RootedGroups { groups, dynamic_root: false }))
        }),
        write_hlo: |fields| write::attributes::groups(fields, &rooted.groups),
        rule: |cx| verify::collective::broadcast(cx, rooted),
    }

    /// Reduces the operands over the processes of each group; the root gets the results, the others zeros. One region.
    CollectiveReduce(rooted: RootedGroups) => "stablehlo.collective_reduce" {
        bytecode: &[v1(ONE, &["channel_id", "has_dynamic_root", "replica_groups", "use_global_device_ids"])],
        read: collective::reduce,
        write: |out| out.rooted_groups(rooted),
        hlo: Hlo { opcode: None, read: None },
        write_hlo: |fields| write::attributes::groups(fields, &rooted.groups),
        rule: |cx| verify::collective::reduce(cx, rooted),
    }

    /// Sends the operand of each source to its target; a process that is no target gets zeros.
    CollectivePermute(groups: CollectiveGroups = groups("source_target_pairs")) => "stablehlo.collective_permute" {
        bytecode: &[v1(NONE, &["channel_id", "source_target_pairs"])],
        hlo: several(|i| Ok(OpKind::CollectivePermute(hlo::collective::pairs(i)?))),
        write_hlo: |fields| write::attributes::pairs(fields, groups),
        rule: |cx| verify::collective::permute(cx, groups),
    }
}

impl OpKind {
    /// The groups of a collective.
    pub fn collective(&self) -> Option<&CollectiveGroups> {
        match self {
            OpKind::AllReduce(groups)
            | OpKind::AllGather { groups, .. }
            | OpKind::ReduceScatter { groups, .. }
            | OpKind::AllToAll { groups, .. }
            | OpKind::CollectivePermute(groups) => Some(groups),
            OpKind::CollectiveBroadcast(rooted) | OpKind::CollectiveReduce(rooted) => Some(&rooted.groups),
            _ => None,
        }
    }
}
