//! Inference, and what shape functions see.

use serde_json::{Map, json};

use super::*;
use crate::Error;

#[test]
fn results_follow_from_patterns() {
    const PRODUCT: DimExpr = op(DimOp::Mul, &N, &K);
    let op = Handler {
        attrs: &[ATTR_K],
        ..handler(params![X { dims: Some(&[B, dim(N)]) }, Y { dims: Some(&[dim(PRODUCT), B]) }])
    };
    assert_eq!(infer_dims(&op, &[&[4, 5, 8]], json!({"k": 3}), None).unwrap(), [[24, 4, 5]]);
    assert_eq!(
        message(infer_dims(&op, &[&[8]], json!({"k": 2.5}), None)),
        "op: attribute `k` must be an integer, but is 2.5"
    );
    assert!(message(infer_dims(&op, &[&[8]], json!({}), None)).contains("`k` is bound neither"));

    let with_default = Handler { attrs: &[AttrParam { presence: Presence::Default("2usize"), ..ATTR_K }], ..op };
    assert_eq!(infer_dims(&with_default, &[&[8]], json!({}), None).unwrap(), [[16]]);
    assert_eq!(infer_dims(&with_default, &[&[8]], json!({"k": null}), None).unwrap(), [[16]]);

    let free = handler(params![X {}, Y { dims: Some(&[ANY, dim(DimExpr::Const(2))]) }]);
    assert_eq!(
        message(infer_dims(&free, &[&[8]], json!({}), None)),
        "op: result `y` has a dimension `..` that cannot be inferred; give the shape explicitly"
    );
}

#[test]
fn results_without_patterns_have_the_shape_of_argument_0() {
    let op = handler(params![
        X {},
        Y {},
        Y { name: "norm", rank: Some(0) },
        Y { name: "done", dtype: DTypeRule::One(Token) }
    ]);
    assert_eq!(infer_dims(&op, &[&[2, 3]], json!({}), None).unwrap(), [vec![2, 3], vec![], vec![]]);
    let op = handler(params![X {}, Y { rank: Some(1) }]);
    assert!(message(infer_dims(&op, &[&[2, 3]], json!({}), None)).contains("result `y` has rank 1"));
    let op = handler(params![Y { dtype: DTypeRule::One(F32) }]);
    assert!(message(infer_dims(&op, &[], json!({}), None)).contains("give it explicitly"));
}

#[test]
fn optional_and_variadic_results_are_counted_by_the_caller() {
    let op = handler(params![
        X { dims: Some(&[dim(N)]) },
        Y {},
        Y { name: "aux", arity: Arity::Optional, dims: Some(&[dim(N), dim(N)]) }
    ]);
    assert_eq!(infer_dims(&op, &[&[2]], json!({}), None).unwrap(), [[2]]);
    assert_eq!(infer_dims(&op, &[&[2]], json!({}), Some(2)).unwrap(), [vec![2], vec![2, 2]]);
    assert!(message(infer_dims(&op, &[&[2]], json!({}), Some(3))).contains("expects 1 to 2 results"));
    let op = handler(params![X {}, Y { arity: Arity::Variadic }]);
    assert_eq!(infer_dims(&op, &[&[2]], json!({}), Some(3)).unwrap(), [[2], [2], [2]]);
    assert!(message(infer_dims(&op, &[&[2]], json!({}), None)).contains("give the number of results explicitly"));
}

#[test]
fn arguments_are_checked_before_results_are_inferred() {
    let op = handler(params![X { rank: Some(2) }, X { name: "i", dtype: DTypeRule::One(S32) }, Y {}]);
    let run = |args: &[Shape]| infer(&op, args, &Map::new(), &[], None);
    let (x, i) = (Shape::new(F64, [2, 3]), Shape::new(S32, []));
    assert_eq!(run(&[x.clone(), i.clone()]).unwrap()[0], x);
    let cases = [
        (Shape::new(F64, [2]), i.clone(), "argument `x` has shape [2], but rank 2 is expected"),
        (Shape::new(F64, [2, -1]), i.clone(), "argument `x` has shape [2, -1], but dimensions are non-negative"),
        (Shape::new(S8, [2, 3]), i, "argument `x` has dtype s8, but `T` is one of f32, f64"),
        (x, Shape::new(S64, []), "argument `i` has dtype s64, but s32 is expected"),
    ];
    for (x, i, expected) in cases {
        assert_eq!(message(run(&[x, i])), format!("op: {expected}"));
    }
}

#[test]
fn dtypes_follow_from_type_parameters() {
    let op = handler(params![X {}, X { name: "w" }, Y {}]);
    let (f32, f64) = (Shape::new(F32, [2]), Shape::new(F64, [2]));
    let run = |args: &[Shape], dtypes: &[(&str, DType)]| infer(&op, args, &Map::new(), dtypes, None);
    assert_eq!(run(&[f64.clone(), f64.clone()], &[]).unwrap()[0], f64);
    assert_eq!(
        message(run(&[f32.clone(), f64.clone()], &[])),
        "op: argument `w` has dtype f64, but `T` is f32 (from argument `x`)"
    );
    assert_eq!(
        message(run(&[f32.clone(), f32.clone()], &[("T", F64)])),
        "op: the dtype `T` is given as f64, but `T` is f32 (from argument `x`)"
    );

    let iota = handler(params![Y { dims: Some(&[dim(DimExpr::Const(2))]) }]);
    let run = |dtypes: &[(&str, DType)]| infer(&iota, &[], &Map::new(), dtypes, None);
    assert_eq!(run(&[("T", F64)]).unwrap(), [f64]);
    assert_eq!(message(run(&[("T", S8)])), "op: the dtype `T` is given as s8, but `T` is one of f32, f64");
    assert_eq!(
        message(run(&[])),
        "op: no argument determines the dtype `T` of result `y`; give it explicitly: one of f32, f64"
    );

    let any = handler(params![X { dtype: DTypeRule::Any }, Y { dtype: DTypeRule::Any }]);
    assert_eq!(infer(&any, &[Shape::new(S4, [3])], &Map::new(), &[], None).unwrap(), [Shape::new(S4, [3])]);
    let given = infer(&any, &[Shape::new(S4, [3])], &Map::new(), &[("y", BF16)], None).unwrap();
    assert_eq!(given, [Shape::new(BF16, [3])]);
}

/// Concatenates `xs` along the attribute `axis`.
fn concatenate(context: &ShapeContext<'_>) -> Result<Vec<Vec<i64>>> {
    let xs = context.variadic("xs")?;
    let axis: usize = context.attr("axis")?;
    let scale: Option<f64> = context.attr("scale")?;
    assert_eq!((context.attr::<&str>("mode")?, scale), ("fast", None));
    let mut dims = context.arg("x")?.dims.clone();
    let Some(dim) = dims.get_mut(axis) else {
        return Err(Error::invalid_argument(format!("attribute `axis` is {axis}, but rank is {}", dims.len())));
    };
    *dim += xs.iter().map(|x| x.dims[axis]).sum::<i64>();
    Ok(vec![dims])
}

#[test]
fn a_function_may_give_the_shapes() {
    const AXIS: AttrParam = AttrParam { name: "axis", ..ATTR_K };
    const MODE: AttrParam = AttrParam { name: "mode", ty: AttrType::String, presence: Presence::Default("\"fast\"") };
    let op = Handler {
        attrs: &[AXIS, MODE],
        shape: ShapeRule::Function(concatenate),
        ..handler(params![
            X { dims: Some(&[ANY, dim(N)]) },
            X { name: "xs", arity: Arity::Variadic },
            Y { dims: Some(&[ANY, dim(N)]) },
        ])
    };
    let args: &[&[i64]] = &[&[2, 3], &[4, 3], &[1, 3]];
    assert_eq!(infer_dims(&op, args, json!({"axis": 0}), None).unwrap(), [[7, 3]]);
    // The pattern of `y` still holds.
    assert!(message(infer_dims(&op, args, json!({"axis": 1}), None)).contains("expects [.., 3]"));
    let cases = [
        (json!({"axis": 2}), None, "op: attribute `axis` is 2, but rank is 2"),
        (json!({"axis": -1}), None, "op: attribute `axis` must be a non-negative integer, but is -1"),
        (json!({}), None, "op: attribute `axis` is missing; give it explicitly"),
        (json!({"axis": 0, "mode": 3}), None, "op: attribute `mode` must be a string, but is 3"),
        (json!({"axis": 0}), Some(2), "op: the shape function gives 1 results, but the call has 2"),
    ];
    for (given, num_results, expected) in cases {
        assert_eq!(message(infer_dims(&op, args, given, num_results)), expected);
    }
}

#[test]
fn the_context_finds_arguments_by_name() {
    let op = handler(params![
        X {},
        X { name: "bias", arity: Arity::Optional },
        X { name: "xs", arity: Arity::Variadic },
        Y {},
    ]);
    let (args, given) = (f32s(&[&[1], &[2], &[3], &[4]]), Map::new());
    let context = ShapeContext::new(&op, &args, &given, None);
    assert_eq!(context.arg("bias").unwrap().dims, [2]);
    assert_eq!(context.variadic("xs").unwrap(), &args[2..]);
    assert_eq!(message(context.arg("xs")), "argument `xs` has 2 members, not one");
    assert_eq!(message(context.variadic("x")), "parameter `x` is not variadic");
    assert_eq!(message(context.arg("z")), "there is no argument `z`");
    let context = ShapeContext::new(&op, &args[..1], &given, None);
    assert_eq!(context.optional("bias").unwrap(), None);
    assert_eq!(message(context.arg("bias")), "argument `bias` is absent");
    assert_eq!(message(context.attr::<bool>("flag")), "there is no attribute `flag`");
    assert_eq!(context.num_results(), None);
    for number in [0, 1, 2] {
        assert_eq!(ShapeContext::new(&op, &args, &given, Some(number)).num_results(), Some(number));
    }
    let context = ShapeContext::new(&op, &args[..2], &given, None);
    assert_eq!(context.optional("bias").unwrap(), Some(&args[1]));
}

#[test]
fn the_context_converts_attributes() {
    let op = handler(params![X {}, Y {}]);
    let given = attrs(json!({"axes": [2, 0], "some": 3, "words": ["a", "b"]}));
    let context = ShapeContext::new(&op, &[], &given, None);
    assert_eq!(context.attr::<Vec<usize>>("axes").unwrap(), [2, 0]);
    assert_eq!(context.attr::<Vec<&str>>("words").unwrap(), ["a", "b"]);
    assert_eq!(
        message(context.attr::<Vec<usize>>("words")),
        "attribute `words` must be an array, but is [\"a\",\"b\"]"
    );
    assert_eq!(message(context.attr::<Vec<usize>>("some")), "attribute `some` must be an array, but is 3");
    assert_eq!(context.attr::<Option<i64>>("some").unwrap(), Some(3));
    assert_eq!(context.attr::<Option<i64>>("none").unwrap(), None);
}

#[test]
fn attributes_of_a_type_parameter_are_names_of_patterns() {
    let op = Handler {
        attrs: &[AttrParam { ty: AttrType::Var(0), ..ATTR_K }],
        ..handler(params![X {}, Y { dims: Some(&[dim(K)]) }])
    };
    assert_eq!(infer_dims(&op, &[&[8]], json!({"k": 3}), None).unwrap(), [[3]]);
}

/// The shapes that the attribute `dims` lists.
fn listed(context: &ShapeContext<'_>) -> Result<Vec<Vec<i64>>> {
    let dims: &Value = context.attr("dims")?;
    Ok(serde_json::from_value(dims.clone()).expect("a list of lists"))
}

#[test]
fn what_a_function_gives_is_checked() {
    let op = Handler {
        extra_attrs: true,
        shape: ShapeRule::Function(listed),
        ..handler(params![
            X {},
            X { name: "xs", dims: Some(&[dim(N)]), arity: Arity::Variadic },
            Y { rank: Some(1) },
            Y { name: "more", dims: Some(&[dim(N)]), arity: Arity::Variadic },
        ])
    };
    let args: &[&[i64]] = &[&[9], &[2], &[2]];
    let run = |dims: Value| infer_dims(&op, args, json!({"dims": dims}), None);
    assert_eq!(run(json!([[0]])).unwrap(), [[0]]);
    assert_eq!(run(json!([[7], [2], [2]])).unwrap(), [[7], [2], [2]]);
    let gives = "op: the shape function gives result `y` the shape";
    assert_eq!(message(run(json!([[-1]]))), format!("{gives} [-1], but dimensions are non-negative"));
    assert_eq!(message(run(json!([[1, 2]]))), format!("{gives} [1, 2], but rank 1 is expected"));
    assert!(
        message(run(json!([[7], [2], [3]])))
            .starts_with("op: result `more[1]` has shape [3], but `#[dims(n)]` with n = 2")
    );
    let args: &[&[i64]] = &[&[9], &[2], &[3]];
    assert!(
        message(infer_dims(&op, args, json!({"dims": [[7]]}), None)).starts_with("op: argument `xs[1]` has shape [3]")
    );
}

#[test]
#[cfg_attr(miri, ignore = "65,536 results take minutes")]
fn a_call_has_a_bounded_number_of_results() {
    let op = handler(params![X {}, Y { arity: Arity::Variadic, rank: Some(0) }]);
    assert_eq!(infer_dims(&op, &[&[2]], json!({}), Some(1 << 16)).unwrap().len(), 1 << 16);
    assert_eq!(
        message(infer_dims(&op, &[&[2]], json!({}), Some((1 << 16) + 1))),
        "op: 65537 results are more than the 65536 that a call may have"
    );
}
