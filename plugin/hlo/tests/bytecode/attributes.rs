//! The attributes of ops, against the text in `programs`.

use oxcall_hlo::{
    Alias, Attribute, ConvolutionDims, CustomCallApiVersion, DotAlgorithm, ElementType, FuncId, GatherDims, Literal,
    Location, Module, Op, OpKind, Precision, ScatterDims, TensorType, Type, WindowDim, read_bytecode,
};

use crate::{artifact, newest};

/// The ops of the main function.
fn ops(module: &Module) -> &[Op] {
    &module.main().body.ops
}

/// The `index`th op of the main function that `select` selects.
fn nth<T>(module: &Module, index: usize, select: impl Fn(&OpKind) -> Option<T>) -> T {
    ops(module).iter().filter_map(|op| select(&op.kind)).nth(index).unwrap()
}

fn literal(module: &Module, index: usize) -> Literal {
    nth(module, index, |kind| if let OpKind::Constant(literal) = kind { Some(literal.clone()) } else { None })
}

/// The bytes of numbers.
macro_rules! bytes {
    ($($number:expr),*) => {
        [$(&$number.to_le_bytes()[..]),*].concat()
    };
}

#[test]
fn constants_of_every_type() {
    let module = newest("constants");
    let expected: &[(&[usize], ElementType, Vec<u8>)] = &[
        (&[], ElementType::Pred, vec![1]),
        (&[10], ElementType::Pred, vec![1, 0, 1, 1, 0, 0, 0, 0, 1, 1]),
        (&[100], ElementType::Pred, vec![1; 100]),
        (&[3], ElementType::Pred, vec![0, 1, 1]),
        (&[3], ElementType::S4, bytes![-8i8, 7i8, -1i8]),
        (&[3], ElementType::U4, vec![15, 0, 9]),
        (&[2], ElementType::S8, bytes![-128i8, 127i8]),
        (&[2], ElementType::U8, vec![255, 1]),
        (&[2], ElementType::S16, bytes![-300i16, 300i16]),
        (&[2], ElementType::U16, bytes![65535u16, 2u16]),
        (&[2, 2], ElementType::S32, bytes![1i32, 2i32, 3i32, -4i32]),
        (&[], ElementType::U32, bytes![u32::MAX]),
        (&[], ElementType::S64, bytes![i64::MIN]),
        (&[], ElementType::U64, bytes![u64::MAX]),
        (&[2], ElementType::F16, bytes![0x3e00u16, 0x7c00u16]),
        (&[], ElementType::BF16, bytes![0xc000u16]),
        (&[4], ElementType::F32, bytes![1f32, f32::from_bits(0x7fc0_0000), f32::NEG_INFINITY, -0f32]),
        (&[], ElementType::F64, bytes![0.1f64]),
        (&[2], ElementType::C64, bytes![1f32, -2f32, 0.5f32, 0.25f32]),
        (&[], ElementType::C128, bytes![1f64, -2f64]),
        (&[1000, 1000], ElementType::F32, bytes![2.5f32].repeat(1_000_000)),
        (&[64], ElementType::C64, bytes![3f32, 4f32].repeat(64)),
        (&[0, 3], ElementType::F32, Vec::new()),
    ];
    assert_eq!(ops(&module).len(), expected.len());
    for (index, (dims, element, data)) in expected.iter().enumerate() {
        let literal = literal(&module, index);
        assert_eq!(*literal.ty(), TensorType::new(*element, dims.iter().copied()));
        assert!(literal.to_bytes()[..] == data[..], "{}", literal.ty());
    }
    assert!(literal(&module, 20).splat_element().is_some(), "a splat stays one");
}

#[test]
fn constants_of_the_newest_types() {
    let module = newest("newest_types");
    assert_eq!(literal(&module, 0).to_bytes()[..], bytes![-2i8, 1i8, -1i8]);
    assert_eq!(literal(&module, 1).to_bytes()[..], [3, 0, 2]);
    assert_eq!(literal(&module, 2).to_bytes()[..], [0x3, 0xf, 0x1]);
}

#[test]
fn windows() {
    let module = newest("windows");
    let plain = WindowDim {
        size: 1,
        stride: 1,
        padding_low: 0,
        padding_high: 0,
        base_dilation: 1,
        window_dilation: 1,
        reversal: false,
    };
    let convolution =
        nth(&module, 0, |kind| if let OpKind::Convolution(dims) = kind { Some(dims.clone()) } else { None });
    let window = vec![
        WindowDim { size: 3, stride: 2, padding_low: 1, padding_high: -1, window_dilation: 2, reversal: true, ..plain },
        WindowDim { size: 2, padding_high: 2, base_dilation: 2, ..plain },
    ];
    let expected = ConvolutionDims {
        window,
        input_batch: 0,
        input_feature: 3,
        input_spatial: vec![1, 2],
        kernel_input_feature: 2,
        kernel_output_feature: 3,
        kernel_spatial: vec![0, 1],
        output_batch: 2,
        output_feature: 0,
        output_spatial: vec![1, 3],
        feature_groups: 2,
        batch_groups: 1,
        precision: vec![Precision::High, Precision::Default],
    };
    assert_eq!(convolution, expected);

    let reduction =
        nth(&module, 0, |kind| if let OpKind::ReduceWindow { window } = kind { Some(window.clone()) } else { None });
    let dilated = WindowDim { size: 3, padding_low: -1, base_dilation: 2, ..plain };
    let strided = WindowDim { size: 2, stride: 2, padding_low: 1, padding_high: 2, window_dilation: 3, ..plain };
    assert_eq!(reduction, [plain, strided, dilated, plain]);

    let scatter = nth(&module, 0, |kind| match kind {
        OpKind::SelectAndScatter { window } => Some(window.clone()),
        _ => None,
    });
    let strided = WindowDim { size: 2, stride: 2, ..plain };
    let padded = WindowDim { size: 3, padding_low: 2, padding_high: 2, ..plain };
    assert_eq!(scatter, [plain, strided, padded, plain]);
}

#[test]
fn indexing() {
    let module = newest("batched_indexing");
    let gather = OpKind::Gather {
        dims: GatherDims {
            offset_dims: vec![2],
            collapsed_slice_dims: vec![1],
            operand_batching_dims: vec![0],
            start_indices_batching_dims: vec![1],
            start_index_map: vec![1],
            index_vector_dim: 2,
        },
        slice_sizes: vec![1, 1, 4],
        indices_are_sorted: false,
    };
    let scatter = OpKind::Scatter {
        dims: ScatterDims {
            update_window_dims: vec![2],
            inserted_window_dims: vec![1],
            input_batching_dims: vec![0],
            scatter_indices_batching_dims: vec![1],
            scatter_dims_to_operand_dims: vec![1],
            index_vector_dim: 2,
        },
        indices_are_sorted: false,
        unique_indices: false,
    };
    assert_eq!([&ops(&module)[0].kind, &ops(&module)[1].kind], [&gather, &scatter]);

    let module = newest("indexing");
    let sorts: Vec<_> = ops(&module).iter().filter(|op| matches!(op.kind, OpKind::Sort { .. })).collect();
    assert_eq!(sorts[0].kind, OpKind::Sort { dim: 0, stable: true });
    assert_eq!(sorts[1].kind, OpKind::Sort { dim: 1, stable: false }, "-1 is the last dimension");
}

#[test]
fn dot_algorithms() {
    let module = newest("dot_algorithms");
    let algorithm = |index| {
        nth(&module, index, |kind| if let OpKind::DotGeneral(dims) = kind { Some(dims.algorithm) } else { None })
    };
    let tf32 = DotAlgorithm {
        lhs_precision: None,
        rhs_precision: None,
        accumulation: Some(ElementType::F32),
        lhs_components: 1,
        rhs_components: 1,
        primitive_operations: 1,
        allow_imprecise_accumulation: false,
    };
    let narrow = Some(ElementType::F8E5M2);
    let f8 = DotAlgorithm { lhs_precision: narrow, rhs_precision: narrow, allow_imprecise_accumulation: true, ..tf32 };
    assert_eq!([algorithm(0), algorithm(1)], [Some(tf32), Some(f8)]);
}

fn string(text: &str) -> Attribute {
    Attribute::String(text.into())
}

/// A dictionary; entries come sorted.
fn dictionary(entries: impl IntoIterator<Item = (&'static str, Attribute)>) -> Vec<(String, Attribute)> {
    entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[test]
fn custom_calls() {
    let module = newest("custom_calls");
    let call =
        |index| nth(&module, index, |kind| if let OpKind::CustomCall(call) = kind { Some(call.clone()) } else { None });
    let typed = call(0);
    // VHLO has one kind of tensor: arrays come as dense ones.
    let array = Literal::dense(TensorType::new(ElementType::S64, [2]), bytes![1i64, -2i64]);
    let dense = Literal::dense(TensorType::new(ElementType::S32, [2]), bytes![1i32, 2i32]);
    let config = dictionary([
        ("array", Attribute::Dense(array)),
        ("dense", Attribute::Dense(dense)),
        ("flag", Attribute::Bool(true)),
        ("float", Attribute::Float(1.5, ElementType::F16)),
        ("int", Attribute::Integer(200, ElementType::U8)),
        (
            "list",
            Attribute::Array(vec![
                Attribute::Integer(1, ElementType::S8),
                Attribute::Dictionary(dictionary([("k", string("v"))])),
            ]),
        ),
        ("name", string("text")),
        ("type", Attribute::Type(Type::Tensor(TensorType::new(ElementType::F32, [2])))),
    ]);
    let config = Attribute::Dictionary(config);
    assert_eq!(typed.target, "typed");
    assert_eq!(typed.typed_attributes(), Some(&config));
    let frontend = Attribute::Dictionary(dictionary([("a", string("b"))]));
    assert_eq!(typed.attributes, dictionary([("mhlo.backend_config", config), ("mhlo.frontend_attributes", frontend)]));
    assert_eq!((typed.operand_layouts, typed.result_layouts), (Some(vec![vec![0, 1]]), Some(vec![vec![1, 0]])));

    let legacy = call(1);
    assert_eq!(legacy.backend_config, string("opaque \0 bytes"));
    assert_eq!(legacy.api_version, CustomCallApiVersion::StatusReturning);
    assert_eq!(legacy.called_computations, [FuncId(1), FuncId(0)]);
    assert_eq!(legacy.aliases, [Alias { output: vec![0], operand: 0, operand_path: Vec::new() }]);
    assert!(legacy.has_side_effect && legacy.typed_attributes().is_none() && legacy.operand_layouts.is_none());

    let module = newest("typed_ffi");
    let typed = nth(&module, 0, |kind| if let OpKind::CustomCall(call) = kind { Some(call.clone()) } else { None });
    let config = [("alpha", Attribute::Float(0.5, ElementType::F32)), ("n", Attribute::Integer(3, ElementType::S64))];
    assert_eq!(typed.typed_attributes(), Some(&Attribute::Dictionary(dictionary(config))));
}

#[test]
fn functions_and_their_arguments() {
    let module = newest("custom_calls");
    let main = module.main();
    assert!(main.public && !module.funcs[1].public);
    let sharding = ("mhlo.sharding", string("{replicated}"));
    let aliasing = ("tf.aliasing_output", Attribute::Integer(0, ElementType::S32));
    assert_eq!(main.param_attributes[0], dictionary([sharding, aliasing]));
    assert_eq!(main.param_attributes[1], dictionary([("jax.buffer_donor", Attribute::Bool(true))]));
    assert_eq!(main.result_attributes, [dictionary([("jax.result_info", string("result[0]"))]), Vec::new()]);

    let module = newest("elementwise");
    assert_eq!(module.name, "elementwise");
    let one = Attribute::Integer(1, ElementType::S32);
    assert_eq!(module.attributes, dictionary([("mhlo.num_partitions", one.clone()), ("mhlo.num_replicas", one)]));
    assert_eq!(newest("tuples").main().name, "only", "the only public function is the entry");
}

#[test]
fn calls_find_functions_that_come_later() {
    let module = newest("control");
    assert_eq!(module.funcs.iter().map(|func| &func.name[..]).collect::<Vec<_>>(), ["main", "other", "helper"]);
    let body = &ops(&module)[1].regions[1];
    let branches = &body.ops[1].regions;
    let callee = |region: &oxcall_hlo::Region| region.ops[0].kind.clone();
    assert_eq!([callee(&branches[0]), callee(&branches[1])], [OpKind::Call(FuncId(2)), OpKind::Call(FuncId(1))]);

    let module = newest("composites");
    let values = Literal::dense(TensorType::new(ElementType::F32, [2]), bytes![0.5f32, 1.5f32]);
    let expected = OpKind::Composite {
        name: "my.op".into(),
        attributes: dictionary([("k", Attribute::Integer(2, ElementType::S64)), ("values", Attribute::Dense(values))]),
        decomposition: FuncId(1),
        version: 0,
    };
    assert_eq!(ops(&module)[1].kind, expected);
}

#[test]
fn locations() {
    let module = newest("locations");
    let text = |index: usize| module.location(ops(&module)[index].location).to_string();
    assert_eq!(text(0), "model.py:12:3");
    assert_eq!(text(1), "jit(f)/mul, model.py:12:3, called at train.py:7:1");
    assert_eq!(text(2), "jit(f)/mul, model.py:12:3, called at train.py:7:1; other");
    assert_eq!(module.location(ops(&module)[3].location), &Location::Unknown);
}

#[test]
fn legacy_ops_become_others() {
    let module = newest("legacy");
    let kinds: Vec<_> =
        ops(&module).iter().map(|op| &op.kind).filter(|kind| !matches!(kind, OpKind::Constant(_))).collect();
    assert_eq!(*kinds[1], OpKind::BroadcastInDim { dims: vec![2, 3] });
    let select = GatherDims {
        offset_dims: vec![2],
        collapsed_slice_dims: vec![1],
        operand_batching_dims: vec![0],
        start_indices_batching_dims: vec![0],
        start_index_map: vec![1],
        index_vector_dim: 2,
    };
    assert_eq!(*kinds[3], OpKind::Gather { dims: select, slice_sizes: vec![1, 1, 4], indices_are_sorted: false });
    assert_eq!(*kinds[7], OpKind::Pad { low: vec![1, 0], high: vec![2, -1], interior: vec![0, 0] });
    assert_eq!(*kinds[8], OpKind::Slice { start: vec![1, 0], limit: vec![2, 3], strides: vec![1, 2] });

    let module = newest("dynamic_convolution");
    let paddings: Vec<_> = nth(&module, 0, |kind| match kind {
        OpKind::Convolution(dims) => Some(dims.window.iter().map(|dim| (dim.padding_low, dim.padding_high)).collect()),
        _ => None,
    });
    assert_eq!(paddings, vec![(1, 1), (0, 1)]);
}

#[test]
fn einsums_become_dot_products_sums_and_transpositions() {
    let module = newest("einsums");
    let main = module.main();
    let text: Vec<_> =
        main.body.ops.iter().map(|op| format!("{} {}", op.kind.name(), main.ty(op.results[0]))).collect();
    let expected = [
        "stablehlo.dot_general tensor<2x4xf32>",
        "stablehlo.dot_general tensor<5x2x2xf32>",
        "stablehlo.dot_general tensor<2x4xf32>",
        "stablehlo.transpose tensor<4x2xf32>",
        "stablehlo.transpose tensor<3x5x2xf32>",
        "stablehlo.constant tensor<f32>",
        "stablehlo.reduce tensor<5x3xf32>",
        "stablehlo.transpose tensor<3x5xf32>",
    ];
    assert_eq!(text, expected);
    assert_eq!(ops(&module)[4].kind, OpKind::Transpose { permutation: vec![2, 0, 1] });
    assert_eq!(ops(&module)[6].kind, OpKind::Reduce { dims: vec![1] });
}

/// The type of the result says how many elements there are.
#[test]
fn slices_with_computed_bounds_are_dynamic_slices() {
    let module = newest("computed_slices");
    let slices = ops(&module).iter().filter_map(|op| match &op.kind {
        OpKind::DynamicSlice { sizes } => Some(sizes.clone()),
        _ => None,
    });
    assert_eq!(slices.collect::<Vec<_>>(), [[1, 2], [2, 9]]);
    let last = &ops(&module).last().unwrap().kind;
    assert_eq!(*last, OpKind::Slice { start: vec![0, 0], limit: vec![2, 9], strides: vec![1, 4] });
}

#[test]
fn bounds_of_dynamic_dimensions_are_kept() {
    let module = newest("bounded_shapes");
    let types: Vec<String> = module.main().values.iter().map(ToString::to_string).collect();
    assert_eq!(types[0], "tensor<?x3xf32, #stablehlo.bounds<8, ?>>");
    let param = module.main().ty(module.main().body.params[0]).tensor().unwrap();
    assert_eq!((&param.dims[..], param.dynamic.iter().collect::<Vec<_>>()), (&[8, 3][..], vec![0]));
}

#[test]
fn what_is_not_supported_is_named() {
    for (program, message) in [
        ("dynamic", "func.func: the dynamic shape tensor<?xf32> without bounds is not supported (at -:2:3)"),
        (
            "dynamic_operand",
            "stablehlo.dynamic_pad: operand 2 must be a constant: dynamic shapes are not supported here (at model.py:3:1)",
        ),
        ("infeed", "stablehlo.infeed: infeed and outfeed are not supported (at model.py:3:1)"),
        ("quantised", "stablehlo.uniform_quantize: quantised types are not supported (at model.py:3:1)"),
    ] {
        let error = read_bytecode(&artifact(&format!("unsupported_{program}"))).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn groups_that_are_axes_of_meshes() {
    let module = newest("mesh_groups");
    let groups = |index: usize| ops(&module)[index].kind.collective().unwrap().groups.clone();
    assert_eq!(groups(0), [[0, 2], [1, 3]]);
    assert_eq!(groups(1), [[3, 1], [2, 0]]);
    assert_eq!(groups(2), [[0, 1, 2, 3]]);
}

#[test]
fn roots_that_are_operands() {
    let module = newest("rooted_collectives");
    let rooted = |index: usize| match &ops(&module)[index].kind {
        OpKind::CollectiveBroadcast(rooted) | OpKind::CollectiveReduce(rooted) => rooted.clone(),
        kind => panic!("{}", kind.name()),
    };
    assert_eq!([rooted(0).dynamic_root, rooted(1).dynamic_root, rooted(2).dynamic_root], [true, false, true]);
    assert_eq!(rooted(0).groups.groups, [[1, 0]]);
    assert!(rooted(1).groups.use_global_device_ids && rooted(1).groups.has_channel());
}

#[test]
fn composites_keep_their_regions() {
    let module = newest("composite_regions");
    let regions: Vec<usize> = ops(&module).iter().map(|op| op.regions.len()).collect();
    assert_eq!(regions, [0, 1, 2]);
}
