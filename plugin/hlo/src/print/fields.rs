//! From what an op does to its attributes: the inverse of what the parser reads.

use crate::text::syntax::{Field, Fields, Value};
use crate::{
    Alias, Attribute, CollectiveGroups, ComparisonType, ConvolutionDims, CustomCall, CustomCallApiVersion,
    DotAlgorithm, DotDims, ElementType, FuncId, Module, OpKind, Precision, WindowDim,
};

/// The attributes of an op, by name.
pub(super) type Attributes<'m> = Vec<(&'m str, Value<'m>)>;

fn int(value: usize) -> Value<'static> {
    Value::Attribute(Attribute::Integer(value as i64, ElementType::S64))
}

fn int32(value: i64) -> Value<'static> {
    Value::Attribute(Attribute::Integer(value, ElementType::S32))
}

fn bool(value: bool) -> Value<'static> {
    Value::Attribute(Attribute::Bool(value))
}

fn text(text: &str) -> Value<'static> {
    Value::Attribute(Attribute::String(text.into()))
}

fn signed(dims: &[usize]) -> Vec<i64> {
    dims.iter().map(|&dim| dim as i64).collect()
}

fn ints(dims: &[usize]) -> Value<'static> {
    Value::Ints(signed(dims))
}

fn callee(module: &Module, func: FuncId) -> Attribute {
    Attribute::Symbol(module.func(func).name.clone())
}

/// The attributes of an op. Those that have their default are left out where the pretty form leaves them out.
pub(super) fn attributes<'m>(kind: &'m OpKind, module: &'m Module) -> Attributes<'m> {
    match kind {
        OpKind::Constant(literal) => vec![("value", Value::Attribute(Attribute::Dense(literal.clone())))],
        OpKind::Iota { dim } => vec![("iota_dimension", int(*dim))],
        OpKind::Compare(direction, order) => {
            let mut all = vec![("comparison_direction", Value::Enum("comparison_direction", direction.name()))];
            if *order != ComparisonType::NoType {
                all.push(("compare_type", Value::Enum("comparison_type", order.name())));
            }
            all
        }
        OpKind::ReducePrecision { exponent_bits, mantissa_bits } => {
            vec![("exponent_bits", int32((*exponent_bits).into())), ("mantissa_bits", int32((*mantissa_bits).into()))]
        }
        OpKind::BroadcastInDim { dims } => vec![("broadcast_dimensions", ints(dims))],
        OpKind::Transpose { permutation } => vec![("permutation", ints(permutation))],
        OpKind::Slice { start, limit, strides } => {
            vec![("start_indices", ints(start)), ("limit_indices", ints(limit)), ("strides", ints(strides))]
        }
        OpKind::DynamicSlice { sizes } => vec![("slice_sizes", ints(sizes))],
        OpKind::Pad { low, high, interior } => vec![
            ("edge_padding_low", Value::Ints(low.clone())),
            ("edge_padding_high", Value::Ints(high.clone())),
            ("interior_padding", Value::Ints(interior.clone())),
        ],
        OpKind::Concatenate { dim } | OpKind::GetDimensionSize { dim } | OpKind::SetDimensionSize { dim } => {
            vec![("dimension", int(*dim))]
        }
        OpKind::Reverse { dims } | OpKind::Reduce { dims } | OpKind::Map { dims } => vec![("dimensions", ints(dims))],
        OpKind::Gather { dims, slice_sizes, indices_are_sorted } => vec![
            (
                "dimension_numbers",
                structure(
                    "gather",
                    &[
                        ("offset_dims", &dims.offset_dims),
                        ("collapsed_slice_dims", &dims.collapsed_slice_dims),
                        ("operand_batching_dims", &dims.operand_batching_dims),
                        ("start_indices_batching_dims", &dims.start_indices_batching_dims),
                        ("start_index_map", &dims.start_index_map),
                    ],
                    Some(("index_vector_dim", dims.index_vector_dim)),
                ),
            ),
            ("slice_sizes", ints(slice_sizes)),
            ("indices_are_sorted", bool(*indices_are_sorted)),
        ],
        OpKind::Scatter { dims, indices_are_sorted, unique_indices } => vec![
            (
                "scatter_dimension_numbers",
                structure(
                    "scatter",
                    &[
                        ("update_window_dims", &dims.update_window_dims),
                        ("inserted_window_dims", &dims.inserted_window_dims),
                        ("input_batching_dims", &dims.input_batching_dims),
                        ("scatter_indices_batching_dims", &dims.scatter_indices_batching_dims),
                        ("scatter_dims_to_operand_dims", &dims.scatter_dims_to_operand_dims),
                    ],
                    Some(("index_vector_dim", dims.index_vector_dim)),
                ),
            ),
            ("indices_are_sorted", bool(*indices_are_sorted)),
            ("unique_indices", bool(*unique_indices)),
        ],
        OpKind::ReduceWindow { window } => reduce_window(window, true),
        OpKind::SelectAndScatter { window } => reduce_window(window, false),
        OpKind::Sort { dim, stable } => vec![("dimension", int(*dim)), ("is_stable", bool(*stable))],
        OpKind::TopK { k, largest: true } => vec![("k", int(*k))],
        OpKind::TopK { k, largest: false } => vec![("k", int(*k)), ("largest", bool(false))],
        OpKind::DotGeneral(dims) => dot_general(dims),
        OpKind::Convolution(dims) => convolution(dims),
        OpKind::Fft { fft_type, lengths } => {
            vec![("fft_type", Value::Enum("fft_type", fft_type.name())), ("fft_length", ints(lengths))]
        }
        OpKind::Cholesky { lower: false } => Vec::new(),
        OpKind::Cholesky { lower: true } => vec![("lower", bool(true))],
        OpKind::TriangularSolve { left_side, lower, unit_diagonal, transpose } => vec![
            ("left_side", bool(*left_side)),
            ("lower", bool(*lower)),
            ("unit_diagonal", bool(*unit_diagonal)),
            ("transpose_a", Value::Enum("transpose", transpose.name())),
        ],
        OpKind::Rng(distribution) => {
            vec![("rng_distribution", Value::Enum("rng_distribution", distribution.name()))]
        }
        OpKind::RngBitGenerator(algorithm) => vec![("rng_algorithm", Value::Enum("rng_algorithm", algorithm.name()))],
        OpKind::BatchNormInference { epsilon, feature }
        | OpKind::BatchNormTraining { epsilon, feature }
        | OpKind::BatchNormGrad { epsilon, feature } => vec![
            ("epsilon", Value::Attribute(Attribute::Float((*epsilon).into(), ElementType::F32))),
            ("feature_index", int(*feature)),
        ],
        OpKind::AllReduce(groups) => collective(groups, "replica_groups", Vec::new()),
        OpKind::AllGather { dim, groups } => collective(groups, "replica_groups", vec![("all_gather_dim", int(*dim))]),
        OpKind::ReduceScatter { dim, groups } => {
            collective(groups, "replica_groups", vec![("scatter_dimension", int(*dim))])
        }
        OpKind::AllToAll { split_dim, concat_dim, split_count, groups } => collective(
            groups,
            "replica_groups",
            vec![
                ("split_dimension", int(*split_dim)),
                ("concat_dimension", int(*concat_dim)),
                ("split_count", int(*split_count)),
            ],
        ),
        OpKind::CollectiveBroadcast(rooted) | OpKind::CollectiveReduce(rooted) => {
            let root = rooted.dynamic_root.then_some(("has_dynamic_root", Value::Attribute(Attribute::Unit)));
            collective(&rooted.groups, "replica_groups", root.into_iter().collect())
        }
        OpKind::CollectivePermute(groups) => collective(groups, "source_target_pairs", Vec::new()),
        OpKind::Call(func) => vec![("callee", Value::Attribute(callee(module, *func)))],
        OpKind::Composite { name, attributes, decomposition, version } => {
            let mut all = vec![("name", text(name))];
            if !attributes.is_empty() {
                let dictionary = Attribute::Dictionary(attributes.clone());
                all.push(("composite_attributes", Value::Attribute(dictionary)));
            }
            all.push(("decomposition", Value::Attribute(callee(module, *decomposition))));
            all.push(("version", int32(*version)));
            all
        }
        OpKind::CustomCall(call) => custom_call(call, module),
        OpKind::ShardingConstraint(sharding) => {
            vec![("sharding", Value::Attribute(Attribute::Sharding(sharding.as_ref().clone())))]
        }
        OpKind::ShardingGroup { id } => vec![("group_id", Value::Attribute(Attribute::Integer(*id, ElementType::S64)))],
        OpKind::ManualComputation(manual) => vec![
            ("in_shardings", Value::Attribute(Attribute::ShardingPerValue(manual.in_shardings.clone()))),
            ("manual_axes", Value::Attribute(Attribute::ManualAxes(manual.manual_axes.clone()))),
            ("out_shardings", Value::Attribute(Attribute::ShardingPerValue(manual.out_shardings.clone()))),
        ],
        OpKind::GetTupleElement { index } => vec![("index", int32(*index as i64))],
        OpKind::Unary(_)
        | OpKind::Binary(_)
        | OpKind::Select
        | OpKind::Clamp
        | OpKind::Convert
        | OpKind::BitcastConvert
        | OpKind::Complex
        | OpKind::Reshape
        | OpKind::DynamicUpdateSlice
        | OpKind::While
        | OpKind::If
        | OpKind::Case
        | OpKind::OptimizationBarrier
        | OpKind::Tuple
        | OpKind::AfterAll
        | OpKind::AsyncStart
        | OpKind::AsyncDone
        | OpKind::PartitionId
        | OpKind::ReplicaId => Vec::new(),
    }
}

/// An attribute of lists, of which empty ones are left out, and perhaps an integer.
fn structure<'m>(kind: &'static str, lists: &[(&'m str, &Vec<usize>)], number: Option<(&'m str, usize)>) -> Value<'m> {
    let lists = lists.iter().filter(|(_, dims)| !dims.is_empty());
    let lists = lists.map(|(name, dims)| (*name, Field::Ints(signed(dims))));
    Value::Struct(kind, lists.chain(number.map(|(name, value)| (name, Field::Int(value as i64)))).collect())
}

fn sizes(window: &[WindowDim], size: fn(&WindowDim) -> usize) -> Value<'static> {
    Value::Ints(window.iter().map(|dim| size(dim) as i64).collect())
}

fn padding(window: &[WindowDim]) -> Value<'static> {
    Value::Pairs(window.iter().map(|dim| [dim.padding_low, dim.padding_high]).collect())
}

fn reduce_window(window: &[WindowDim], dilated: bool) -> Attributes<'static> {
    let mut all = vec![
        ("window_dimensions", sizes(window, |dim| dim.size)),
        ("window_strides", sizes(window, |dim| dim.stride)),
        ("padding", padding(window)),
    ];
    if dilated {
        all.push(("base_dilations", sizes(window, |dim| dim.base_dilation)));
        all.push(("window_dilations", sizes(window, |dim| dim.window_dilation)));
    }
    all
}

fn precision(precision: &[Precision]) -> Option<(&'static str, Value<'static>)> {
    let words = precision.iter().map(|precision| precision.name()).collect();
    (!precision.is_empty()).then_some(("precision_config", Value::Enums("precision", words)))
}

fn dot_general(dims: &DotDims) -> Attributes<'_> {
    let numbers = structure(
        "dot",
        &[
            ("lhs_batching_dimensions", &dims.lhs_batching),
            ("rhs_batching_dimensions", &dims.rhs_batching),
            ("lhs_contracting_dimensions", &dims.lhs_contracting),
            ("rhs_contracting_dimensions", &dims.rhs_contracting),
        ],
        None,
    );
    let mut all = vec![("dot_dimension_numbers", numbers)];
    all.extend(precision(&dims.precision));
    if let Some(algorithm) = &dims.algorithm {
        all.push(("algorithm", Value::Struct("dot_algorithm", dot_algorithm(algorithm))));
    }
    all
}

fn dot_algorithm(algorithm: &DotAlgorithm) -> Fields<'static> {
    let precision = |ty: Option<ElementType>| Field::Word(ty.map_or("tf32", ElementType::name));
    vec![
        ("lhs_precision_type", precision(algorithm.lhs_precision)),
        ("rhs_precision_type", precision(algorithm.rhs_precision)),
        ("accumulation_type", precision(algorithm.accumulation)),
        ("lhs_component_count", Field::Int(algorithm.lhs_components)),
        ("rhs_component_count", Field::Int(algorithm.rhs_components)),
        ("num_primitive_operations", Field::Int(algorithm.primitive_operations)),
        (
            "allow_imprecise_accumulation",
            Field::Word(if algorithm.allow_imprecise_accumulation { "true" } else { "false" }),
        ),
    ]
}

fn convolution(dims: &ConvolutionDims) -> Attributes<'_> {
    let number = |value: usize| Field::Int(value as i64);
    let numbers = vec![
        ("input_batch_dimension", number(dims.input_batch)),
        ("input_feature_dimension", number(dims.input_feature)),
        ("input_spatial_dimensions", Field::Ints(signed(&dims.input_spatial))),
        ("kernel_input_feature_dimension", number(dims.kernel_input_feature)),
        ("kernel_output_feature_dimension", number(dims.kernel_output_feature)),
        ("kernel_spatial_dimensions", Field::Ints(signed(&dims.kernel_spatial))),
        ("output_batch_dimension", number(dims.output_batch)),
        ("output_feature_dimension", number(dims.output_feature)),
        ("output_spatial_dimensions", Field::Ints(signed(&dims.output_spatial))),
    ];
    let window = &dims.window;
    let mut all = vec![
        ("dimension_numbers", Value::Struct("conv", numbers)),
        ("window_strides", sizes(window, |dim| dim.stride)),
        ("padding", padding(window)),
        ("lhs_dilation", sizes(window, |dim| dim.base_dilation)),
        ("rhs_dilation", sizes(window, |dim| dim.window_dilation)),
        ("window_reversal", Value::Bools(window.iter().map(|dim| dim.reversal).collect())),
        ("feature_group_count", int(dims.feature_groups)),
        ("batch_group_count", int(dims.batch_groups)),
    ];
    all.extend(precision(&dims.precision));
    all
}

/// The attributes of a collective: its own, and its groups under the name `list`.
fn collective<'m>(groups: &CollectiveGroups, list: &'static str, mut all: Attributes<'m>) -> Attributes<'m> {
    if let Some(channel) = groups.channel {
        let fields = vec![("handle", Field::Int(channel.handle)), ("type", Field::Int(channel.ty))];
        all.push(("channel_handle", Value::Struct("channel_handle", fields)));
    }
    all.push((list, Value::Rows(groups.groups.clone())));
    if groups.use_global_device_ids {
        all.push(("use_global_device_ids", Value::Attribute(Attribute::Unit)));
    }
    all
}

fn custom_call<'m>(call: &'m CustomCall, module: &Module) -> Attributes<'m> {
    let mut all = vec![("call_target_name", text(&call.target))];
    if call.has_side_effect {
        all.push(("has_side_effect", bool(true)));
    }
    if call.backend_config != Attribute::String(Vec::new()) {
        all.push(("backend_config", Value::Attribute(call.backend_config.clone())));
    }
    if call.api_version != CustomCallApiVersion::Original {
        let number = CustomCallApiVersion::ALL.iter().position(|&version| version == call.api_version);
        all.push(("api_version", int32(number.unwrap_or_default() as i64)));
    }
    let layouts = [("operand_layouts", &call.operand_layouts), ("result_layouts", &call.result_layouts)];
    for (name, layouts) in layouts {
        if let Some(layouts) = layouts {
            let layouts = layouts.iter().map(|dims| layout(dims)).collect();
            all.push((name, Value::Attribute(Attribute::Array(layouts))));
        }
    }
    if !call.aliases.is_empty() {
        all.push((
            "output_operand_aliases",
            Value::Structs("output_operand_alias", call.aliases.iter().map(alias).collect()),
        ));
    }
    if !call.called_computations.is_empty() {
        let called = call.called_computations.iter().map(|&func| callee(module, func)).collect();
        all.push(("called_computations", Value::Attribute(Attribute::Array(called))));
    }
    all.extend(call.attributes.iter().map(|(name, value)| (name.as_str(), Value::Attribute(value.clone()))));
    all
}

/// A layout as text: MLIR wants elements of type `index`, which this crate does not tell from `i64`.
fn layout(dims: &[usize]) -> Attribute {
    let elements = super::attributes::join(dims);
    let elements = if dims.is_empty() { elements } else { format!("[{elements}]") };
    Attribute::Other(format!("dense<{elements}> : tensor<{}xindex>", dims.len()))
}

fn alias(alias: &Alias) -> Fields<'static> {
    vec![
        ("output_tuple_indices", Field::Ints(signed(&alias.output))),
        ("operand_index", Field::Int(alias.operand as i64)),
        ("operand_tuple_indices", Field::Ints(signed(&alias.operand_path))),
    ]
}
