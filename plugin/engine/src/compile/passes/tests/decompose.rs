use oxcall::Code;
use oxcall_hlo::{Attribute, CustomCall, CustomCallApiVersion, DotDims, Literal, WindowDim};

use super::*;
use crate::compile::passes::decompose::decompose;

fn decomposed(f: FuncBuilder, results: impl AsRef<[ValueId]>) -> String {
    let mut module = module(vec![f.finish(results)]);
    decompose(&mut module, true, &|_, _, _| None).unwrap();
    text(&module)
}

#[test]
fn scalars_of_select_and_clamp_are_written_out() {
    let mut f = FuncBuilder::new("main");
    let (p, x, low) = (f.param(scalar(ElementType::Pred)), f.param(f32s(&[4])), f.param(f32s(&[])));
    let y = f.op(OpKind::Clamp, [low, x, x]).unwrap();
    let z = f.op(OpKind::Select, [p, x, y]).unwrap();
    let s = f.op(OpKind::Select, [p, low, low]).unwrap();
    let expected = "\
(%0 %1 %2) : i1[] f32[4] f32[]
%3 = broadcast_in_dim %2 : f32[4]
%4 = clamp %3 %1 %1 : f32[4]
%5 = broadcast_in_dim %0 : i1[4]
%6 = select %5 %1 %4 : f32[4]
%7 = select %0 %2 %2 : f32[]
return %6 %7
";
    assert_eq!(decomposed(f, [z, s]), expected);
}

#[test]
fn complex_numbers_are_clamped_by_their_order() {
    let mut f = FuncBuilder::new("main");
    let complex = TensorType::new(ElementType::C64, [4]);
    let (x, low) = (f.param(complex), f.param(TensorType::scalar(ElementType::C64)));
    let y = f.op(OpKind::Clamp, [low, x, x]).unwrap();
    let expected = "\
(%0 %1) : complex<f32>[4] complex<f32>[]
%2 = broadcast_in_dim %1 : complex<f32>[4]
%3 = maximum %0 %2 : complex<f32>[4]
%4 = minimum %3 %0 : complex<f32>[4]
return %4
";
    assert_eq!(decomposed(f, [y]), expected);
}

#[test]
fn products_of_integers_that_are_floats_are_converted_first() {
    let mut f = FuncBuilder::new("main");
    let (x, y) = (f.param(TensorType::new(ElementType::S8, [2, 3])), f.param(TensorType::new(ElementType::S8, [3, 4])));
    let dims = DotDims {
        lhs_batching: vec![],
        rhs_batching: vec![],
        lhs_contracting: vec![1],
        rhs_contracting: vec![0],
        precision: vec![],
        algorithm: None,
    };
    let z = f.typed(OpKind::DotGeneral(dims), [x, y], f32s(&[2, 4])).unwrap();
    let expected = "\
(%0 %1) : i8[2,3] i8[3,4]
%2 = convert %0 : f32[2,3]
%3 = convert %1 : f32[3,4]
%4 = dot_general %2 %3 : f32[2,4]
return %4
";
    assert_eq!(decomposed(f, [z]), expected);
}

#[test]
fn what_one_device_knows() {
    let mut f = FuncBuilder::new("main");
    let x = f.param(f32s(&[4, 7]));
    let size = f.op(OpKind::GetDimensionSize { dim: 1 }, [x]).unwrap();
    let replica = f.op(OpKind::ReplicaId, []).unwrap();
    let partition = f.op(OpKind::PartitionId, []).unwrap();
    let expected = "\
(%0) : f32[4,7]
%1 = constant [7, 0, 0, 0] : i32[]
%2 = constant [0, 0, 0, 0] : ui32[]
%3 = constant [0, 0, 0, 0] : ui32[]
return %1 %2 %3
";
    assert_eq!(decomposed(f, [size, replica, partition]), expected);
}

#[test]
fn maps_become_their_body_at_full_shape() {
    let mut f = FuncBuilder::new("main");
    let (x, c) = (f.param(f32s(&[2, 3])), f.param(f32s(&[])));
    let body = f.region([f32s(&[]), f32s(&[])], |f, params| {
        let one = f.constant(Literal::dense(f32s(&[]), 1f32.to_le_bytes()));
        let sum = f.op(OpKind::Binary(BinaryOp::Add), [params[0], one])?;
        let same = f.typed(OpKind::Reshape, [c], f32s(&[]))?;
        let product = f.op(OpKind::Binary(BinaryOp::Multiply), [sum, same])?;
        Ok(vec![f.op(
            OpKind::Compare(oxcall_hlo::ComparisonDirection::Lt, oxcall_hlo::ComparisonType::NoType),
            [product, params[1]],
        )?])
    });
    let y = f.with_regions(OpKind::Map { dims: vec![0, 1] }, [x, x], [body.unwrap()]).unwrap();
    let expected = "\
(%0 %1) : f32[2,3] f32[]
%2 = constant splat [0, 0, 128, 63] : f32[2,3]
%3 = add %0 %2 : f32[2,3]
%4 = broadcast_in_dim %1 : f32[2,3]
%5 = multiply %3 %4 : f32[2,3]
%6 = compare %5 %0 : i1[2,3]
return %6
";
    assert_eq!(decomposed(f, y), expected);
}

#[test]
fn maps_that_give_what_they_are_given() {
    let mut f = FuncBuilder::new("main");
    let (x, c) = (f.param(f32s(&[2])), f.param(f32s(&[])));
    let first = f.region([f32s(&[])], |_, params| Ok(params.to_vec())).unwrap();
    let outer = f.region([f32s(&[])], |_, _| Ok(vec![c])).unwrap();
    let map = OpKind::Map { dims: vec![0] };
    let y = f.with_regions(map.clone(), [x], [first]).unwrap()[0];
    let z = f.with_regions(map, [x], [outer]).unwrap()[0];
    let expected = "(%0 %1) : f32[2] f32[]\n%2 = broadcast_in_dim %1 : f32[2]\nreturn %0 %2\n";
    assert_eq!(decomposed(f, [y, z]), expected);
}

#[test]
fn maps_of_other_ops_are_refused() {
    let mut f = FuncBuilder::new("main");
    let x = f.param(f32s(&[2]));
    let body = f.region([f32s(&[])], |f, params| {
        let two = f.typed(OpKind::BroadcastInDim { dims: vec![] }, params, f32s(&[2]))?;
        let zero = f32_constant(f, 0.0);
        let add = combiner(f, BinaryOp::Add, ElementType::F32);
        f.with_regions(OpKind::Reduce { dims: vec![0] }, [two, zero], [add])
    });
    let y = f.with_regions(OpKind::Map { dims: vec![0] }, [x], [body.unwrap()]).unwrap();
    let error = decompose(&mut module(vec![f.finish(y)]), true, &|_, _, _| None).unwrap_err();
    assert_eq!(error.code(), Code::Unimplemented);
    assert!(error.message().starts_with("stablehlo.map: stablehlo.broadcast_in_dim: only element-wise"), "{error}");
}

#[test]
fn batch_norms_keep_their_types() {
    for element in [ElementType::F16, ElementType::F32, ElementType::F64] {
        let mut f = FuncBuilder::new("main");
        let x = f.param(TensorType::new(element, [2, 5, 3]));
        let [scale, offset, mean, variance] = std::array::from_fn(|_| f.param(TensorType::new(element, [5])));
        let (epsilon, feature) = (0.5, 1);
        let kind = OpKind::BatchNormInference { epsilon, feature };
        let y = f.op(kind, [x, scale, offset, mean, variance]).unwrap();
        let kind = OpKind::BatchNormTraining { epsilon, feature };
        let trained = f.with_regions(kind, [x, scale, offset], []).unwrap();
        let kind = OpKind::BatchNormGrad { epsilon, feature };
        let grads = f.with_regions(kind, [x, scale, mean, variance, y], []).unwrap();
        let text = decomposed(f, [vec![y], trained, grads].concat());
        assert!(!text.contains("batch_norm"));
        assert_eq!(text.matches("reduce").count(), 4);
        assert_eq!(text.contains("convert"), element == ElementType::F16, "{text}");
        assert_eq!(text.contains("f32[2,5,3]"), element != ElementType::F64, "{text}");
    }
}

#[test]
fn linear_algebra_of_xlas_builders_is_typed() {
    let call = |target: &str, config: &str| {
        let mut f = FuncBuilder::new("main");
        let a = f.param(f32s(&[3, 3]));
        let call = CustomCall {
            target: target.to_owned(),
            has_side_effect: false,
            backend_config: Attribute::String(config.into()),
            attributes: Vec::new(),
            api_version: CustomCallApiVersion::Unspecified,
            operand_layouts: None,
            result_layouts: None,
            aliases: Vec::new(),
            called_computations: Vec::new(),
        };
        let types = [f32s(&[3, 3]).into(), f32s(&[3]).into()];
        let results = f.with_types(OpKind::CustomCall(Box::new(call)), [a], &types).unwrap();
        let mut module = Module::with_main(f.finish(results));
        decompose(&mut module, true, &|_, _, _| None).unwrap();
        let OpKind::CustomCall(call) = &module.main().body.ops[0].kind else { panic!("{module}") };
        (call.target.clone(), call.typed_attributes().cloned())
    };
    let dictionary = |entries: &[(&str, bool)]| {
        let entries = entries.iter().map(|(name, value)| ((*name).to_owned(), Attribute::Bool(*value)));
        Some(Attribute::Dictionary(entries.collect()))
    };
    assert_eq!(call("Qr", ""), ("Qr".to_owned(), dictionary(&[])));
    assert_eq!(call("Eigh", "1,1,100,1e-6"), ("Eigh.f32".to_owned(), dictionary(&[("lower", true)])));
    assert_eq!(call("Eigh", "0,1,100,1e-6"), ("Eigh.f32".to_owned(), dictionary(&[("lower", false)])));
    assert_eq!(call("Eigh", "what"), ("Eigh".to_owned(), None));
    assert_eq!(call("other", ""), ("other".to_owned(), None));
}

#[test]
fn approximate_maxima_of_rows_are_exact_ones() {
    let call = |element: ElementType, initial: &[u8], dim: usize, attributes: &[(&str, Attribute)]| {
        let mut f = FuncBuilder::new("main");
        let (shape, first) = (TensorType::new(element, [9, 9]), Attribute::Integer(1, ElementType::S64));
        let values = f.param(shape.clone());
        let positions = f.typed(OpKind::Iota { dim }, [], shape.with_element(ElementType::S32)).unwrap();
        let initial = f.splat(TensorType::scalar(element), initial);
        let none = f.splat(scalar(ElementType::S32), [0xff; 4]);
        let entries = [("reduction_dim", first)].into_iter().chain(attributes.iter().cloned());
        let call = CustomCall {
            target: "ApproxTopK".to_owned(),
            has_side_effect: false,
            backend_config: Attribute::String(Vec::new()),
            attributes: vec![(
                "mhlo.backend_config".to_owned(),
                Attribute::Dictionary(entries.map(|(name, value)| (name.to_owned(), value)).collect()),
            )],
            api_version: CustomCallApiVersion::Unspecified,
            operand_layouts: None,
            result_layouts: None,
            aliases: Vec::new(),
            called_computations: Vec::new(),
        };
        let types = [TensorType::new(element, [9, 4]), TensorType::new(ElementType::S32, [9, 4])];
        let operands = [values, positions, initial, none];
        let results = f.with_types(OpKind::CustomCall(Box::new(call)), operands, &types.map(Type::from)).unwrap();
        let mut module = Module::with_main(f.finish(results));
        decompose(&mut module, true, &|_, _, _| None).unwrap();
        let op = module.main().body.ops.last().expect("an op");
        match op.kind {
            OpKind::TopK { k: 4, largest } if op.operands[..] == [values] => Some(largest),
            _ => None,
        }
    };
    let (lowest, highest) = (f32::NEG_INFINITY.to_le_bytes(), f32::INFINITY.to_le_bytes());
    assert_eq!(call(ElementType::F32, &lowest, 1, &[]), Some(true));
    assert_eq!(call(ElementType::F32, &highest, 1, &[("aggregate_to_topk", Attribute::Bool(true))]), Some(false));
    assert_eq!(call(ElementType::U8, &[0], 1, &[]), Some(true));
    assert_eq!(call(ElementType::U8, &[255], 1, &[]), Some(false));
    assert_eq!(call(ElementType::S16, &[0, 0x80], 1, &[]), Some(true));
    // Its own positions.
    assert_eq!(call(ElementType::F32, &lowest, 0, &[]), None);
}

/// Kernels have no loops for reductions of narrow numbers: every function of them, with its parameters in either order.
#[test]
fn narrow_numbers_are_reduced_in_32_bits() {
    use BinaryOp::{Add, And, Maximum, Minimum, Multiply, Or, Xor};
    use ElementType::{BF16, F16, F32, Pred, S2, S4, S8, S16, S32, U2, U4, U8, U16};
    let floats = [F16, BF16].map(|element| (element, F32, vec![Add, Maximum, Minimum, Multiply]));
    let all = || vec![Add, And, Maximum, Minimum, Multiply, Or, Xor];
    let integers = [S2, S4, S8, S16, U2, U4, U8, U16].map(|element| (element, S32, all()));
    for (element, wide, functions) in floats.into_iter().chain(integers).chain([(Pred, S32, vec![Xor])]) {
        let window = WindowDim {
            size: 3,
            stride: 3,
            padding_low: 0,
            padding_high: 0,
            base_dilation: 1,
            window_dilation: 1,
            reversal: false,
        };
        let kinds = [OpKind::Reduce { dims: vec![0] }, OpKind::ReduceWindow { window: vec![window] }];
        for (function, kind) in functions.into_iter().flat_map(|function| kinds.clone().map(|kind| (function, kind))) {
            for order in [[0, 1], [1, 0]] {
                let mut f = FuncBuilder::new("main");
                let (x, init) = (f.param(TensorType::new(element, [6])), f.param(scalar(element)));
                let body = f.region([scalar(element), scalar(element)], |f, params| {
                    Ok(vec![f.op(OpKind::Binary(function), [params[order[0]], params[order[1]]])?])
                });
                let results = f.with_regions(kind.clone(), [x, init], [body.unwrap()]).unwrap();
                let text = decomposed(f, results);
                let wide = format!(" {wide}[");
                assert!(text.lines().any(|line| line.contains("= reduce") && line.contains(&wide)), "{text}");
            }
        }
    }
}

/// The dots and transposes that are left of a product of `batches` vectors with `terms` elements, whose operands have
/// the batches first or last.
fn vectors(batches: usize, terms: usize, are_last: [bool; 2]) -> [usize; 2] {
    let mut f = FuncBuilder::new("main");
    let dims = |is_last: bool| if is_last { [terms, batches] } else { [batches, terms] };
    let [x, y] = are_last.map(|is_last| f.param(f32s(&dims(is_last))));
    let [lhs, rhs] = are_last.map(|is_last| if is_last { [1, 0] } else { [0, 1] });
    let dims = DotDims {
        lhs_batching: vec![lhs[0]],
        rhs_batching: vec![rhs[0]],
        lhs_contracting: vec![lhs[1]],
        rhs_contracting: vec![rhs[1]],
        precision: Vec::new(),
        algorithm: None,
    };
    let result = f.op(OpKind::DotGeneral(dims), [x, y]).unwrap();
    let text = all_passes(f, [result]);
    ["= dot", "= transpose"].map(|op| text.lines().filter(|line| line.contains(op)).count())
}

#[test]
fn columns_of_batches_become_rows() {
    assert_eq!(vectors(50, 40, [false, true]), [1, 1]);
    assert_eq!(vectors(50, 40, [true, true]), [1, 2]);
    assert_eq!(vectors(50, 40, [false, false]), [1, 0]);
    assert_eq!(vectors(50, 4, [false, true]), [1, 0]);
}
