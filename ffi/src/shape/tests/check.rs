//! Patterns and the check of calls.

use serde_json::{Map, json};

use super::*;

#[test]
fn patterns_display_as_source() {
    const SUM: DimExpr = op(DimOp::Add, &N, &K);
    const PRODUCT: DimExpr = op(DimOp::Mul, &H, &W);
    const DIFFERENCE: DimExpr = op(DimOp::Sub, &N, &K);
    let cases = [
        (PRODUCT, "h * w"),
        (op(DimOp::Mul, &SUM, &W), "(n + k) * w"),
        (op(DimOp::Add, &PRODUCT, &DimExpr::Const(4)), "h * w + 4"),
        (op(DimOp::Add, &DimExpr::Const(4), &PRODUCT), "4 + h * w"),
        (op(DimOp::Sub, &N, &DIFFERENCE), "n - (n - k)"),
        (op(DimOp::Sub, &DIFFERENCE, &N), "n - k - n"),
        (op(DimOp::Div, &PRODUCT, &PRODUCT), "h * w / (h * w)"),
        (op(DimOp::Rem, &N, &SUM), "n % (n + k)"),
    ];
    for (expr, text) in cases {
        assert_eq!(expr.to_string(), text);
    }
    let pattern = [B, dim(N), dim(PRODUCT), dim(DimExpr::Wildcard), dim(DimExpr::Const(4)), ANY];
    assert_eq!(Pattern(&pattern).to_string(), "..b, n, h * w, _, 4, ..");
    assert_eq!(Pattern(&[]).to_string(), "");
}

#[test]
fn equal_names_need_equal_dimensions() {
    let op = rowwise();
    check_dims(&op, &[&[4, 8]], &[&[4, 8]], &[]).unwrap();
    check_dims(&op, &[&[8]], &[&[8]], &[]).unwrap();
    check_dims(&op, &[&[2, 0, 8]], &[&[2, 0, 8]], &[]).unwrap();
    assert_eq!(
        message(check_dims(&op, &[&[4, 8]], &[&[4, 4]], &[])),
        "op: result `y` has shape [4, 4], but `#[dims(..b, n)]` with b = [4] and n = 8 (from argument `x`) expects \
         [4, 8]"
    );
    assert_eq!(
        message(check_dims(&op, &[&[4, 8]], &[&[8]], &[])),
        "op: result `y` has shape [8], but `#[dims(..b, n)]` with b = [4] and n = 8 (from argument `x`) expects [4, 8]"
    );
    assert_eq!(
        message(check_dims(&op, &[&[]], &[&[]], &[])),
        "op: argument `x` has shape [], but `#[dims(..b, n)]` expects [..b, n]"
    );
    let square = handler(params![X { dims: Some(&[dim(N), dim(N)]) }]);
    assert_eq!(
        message(check_dims(&square, &[&[3, 4]], &[], &[])),
        "op: argument `x` has shape [3, 4], but `#[dims(n, n)]` with n = 3 (from argument `x`) expects [3, 3]"
    );
}

#[test]
fn a_name_may_be_used_before_the_argument_that_binds_it() {
    const PRODUCT: DimExpr = op(DimOp::Mul, &H, &W);
    let op = handler(params![
        X { dims: Some(&[dim(PRODUCT)]) },
        X { name: "image", dims: Some(&[ANY, dim(H), dim(W)]) },
        X { name: "other", dims: Some(&[B, ANY]) },
        X { name: "batch", dims: Some(&[B]) },
    ]);
    check_dims(&op, &[&[6], &[9, 2, 3], &[5, 7], &[5]], &[], &[]).unwrap();
    assert_eq!(
        message(check_dims(&op, &[&[5], &[9, 2, 3], &[5, 7], &[5]], &[], &[])),
        "op: argument `x` has shape [5], but `#[dims(h * w)]` with h = 2 and w = 3 (from argument `image`) expects [6]"
    );
    assert_eq!(
        message(check_dims(&op, &[&[6], &[9, 2, 3], &[4, 7], &[5]], &[], &[])),
        "op: argument `other` has shape [4, 7], but `#[dims(..b, ..)]` with b = [5] (from argument `batch`) expects \
         [5, ..]"
    );
}

#[test]
fn attributes_bind_first() {
    let op = handler(params![X { dims: Some(&[B, dim(N)]) }, Y { dims: Some(&[B, dim(K)]) }]);
    check_dims(&op, &[&[4, 8]], &[&[4, 3]], &[("k", 3)]).unwrap();
    assert_eq!(
        message(check_dims(&op, &[&[4, 8]], &[&[4, 8]], &[("k", 3)])),
        "op: result `y` has shape [4, 8], but `#[dims(..b, k)]` with b = [4] (from argument `x`) and k = 3 (from \
         attribute `k`) expects [4, 3]"
    );
    assert_eq!(
        message(check_dims(&op, &[&[4, 8]], &[&[4, 8]], &[("n", 7), ("k", 8)])),
        "op: argument `x` has shape [4, 8], but `#[dims(..b, n)]` with b = [4] (from argument `x`) and n = 7 (from \
         attribute `n`) expects [4, 7]"
    );
    // More names than are kept inline.
    let many: Vec<String> = (0..40).map(|i| format!("a{i}")).collect();
    let mut ints: Vec<(&str, i64)> = many.iter().map(|name| (name.as_str(), 1)).collect();
    ints.push(("k", 3));
    check_dims(&op, &[&[4, 8]], &[&[4, 3]], &ints).unwrap();
    assert!(check_dims(&op, &[&[4, 8]], &[&[4, 4]], &ints).is_err());
}

#[test]
fn expressions_without_a_value_are_errors() {
    const DIFFERENCE: DimExpr = op(DimOp::Sub, &N, &K);
    const PADDED: DimExpr = op(DimOp::Add, &DIFFERENCE, &DimExpr::Const(5));
    const QUOTIENT: DimExpr = op(DimOp::Div, &N, &K);
    const REMAINDER: DimExpr = op(DimOp::Rem, &N, &K);
    const PRODUCT: DimExpr = op(DimOp::Mul, &N, &K);
    macro_rules! result {
        ($expr:ident) => {
            handler(params![X { dims: Some(&[dim(N)]) }, Y { dims: Some(&[dim($expr)]) }])
        };
    }
    check_dims(&result!(PADDED), &[&[7]], &[&[9]], &[("k", 3)]).unwrap();
    check_dims(&result!(QUOTIENT), &[&[7]], &[&[2]], &[("k", 3)]).unwrap();
    check_dims(&result!(REMAINDER), &[&[7]], &[&[1]], &[("k", 3)]).unwrap();
    let cases = [
        (result!(PADDED), 9, "n - k + 5", "`n - k` is negative: -2"),
        (result!(QUOTIENT), 0, "n / k", "`n / k` divides by zero"),
        (result!(REMAINDER), 0, "n % k", "`n % k` divides by zero"),
        (result!(PRODUCT), i64::MAX, "n * k", "`n * k` overflows"),
        (result!(PRODUCT), -1, "n * k", "`k` is negative: -1"),
    ];
    for (op, k, text, error) in cases {
        assert_eq!(
            message(check_dims(&op, &[&[7]], &[&[3]], &[("k", k)])),
            format!(
                "op: result `y` has no shape by `#[dims({text})]` with n = 7 (from argument `x`) and k = {k} (from \
                 attribute `k`): {error}"
            )
        );
    }
    assert!(message(check_dims(&result!(PRODUCT), &[&[7]], &[&[3]], &[])).ends_with(
        "with n = 7 (from argument `x`): `k` is bound neither by an argument nor by an integer attribute that is given"
    ));
}

#[test]
fn optional_and_variadic_parameters() {
    let op = handler(params![
        X { dims: Some(&[dim(N)]) },
        X { name: "bias", dims: Some(&[dim(N)]), arity: Arity::Optional },
        X { name: "xs", dims: Some(&[dim(DimExpr::Wildcard), dim(N)]), arity: Arity::Variadic },
        Y { dims: Some(&[dim(N)]), arity: Arity::Optional },
    ]);
    check_dims(&op, &[&[3]], &[], &[]).unwrap();
    check_dims(&op, &[&[3], &[3]], &[&[3]], &[]).unwrap();
    check_dims(&op, &[&[3], &[3], &[1, 3], &[2, 3]], &[&[3]], &[]).unwrap();
    assert_eq!(
        message(check_dims(&op, &[&[3], &[3], &[1, 3], &[2, 3], &[2, 4]], &[], &[])),
        "op: argument `xs[2]` has shape [2, 4], but `#[dims(_, n)]` with n = 3 (from argument `x`) expects [_, 3]"
    );
    assert_eq!(message(check_dims(&op, &[], &[], &[])), "op: expects at least 1 argument, but was given 0");
    assert_eq!(message(check_dims(&op, &[&[3]], &[&[3], &[3]], &[])), "op: expects 0 to 1 results, but was given 2");
    assert_eq!(message(check_dims(&rowwise(), &[&[3], &[3]], &[&[3]], &[])), "op: expects 1 argument, but was given 2");
}

#[test]
fn in_out_parameters_are_both() {
    let op = handler(params![
        X { dims: Some(&[dim(N)]) },
        X { name: "state", role: Role::InOut, dims: Some(&[dim(N), ANY]) },
        Y { dims: Some(&[dim(N)]) },
    ]);
    check_dims(&op, &[&[3], &[3, 5]], &[&[3, 5], &[3]], &[]).unwrap();
    assert_eq!(
        message(check_dims(&op, &[&[3], &[3, 5]], &[&[3, 4], &[3]], &[])),
        "op: result `state` has shape [3, 4], but is the same array as argument `state`, which has [3, 5]"
    );
    assert_eq!(infer_dims(&op, &[&[3], &[3, 5]], json!({}), None).unwrap(), [vec![3, 5], vec![3]]);
}

#[test]
fn variadic_in_out_parameters_are_pairs() {
    let op = handler(params![
        X {},
        X { name: "states", role: Role::InOut, dims: Some(&[dim(DimExpr::Wildcard)]), arity: Arity::Variadic },
    ]);
    let args: &[&[i64]] = &[&[9], &[3], &[4], &[5]];
    check_dims(&op, args, &[&[3], &[4], &[5]], &[]).unwrap();
    assert_eq!(
        message(check_dims(&op, args, &[&[3], &[4], &[6]], &[])),
        "op: result `states[2]` has shape [6], but is the same array as argument `states[2]`, which has [5]"
    );
    let results =
        infer(&op, &[Shape::new(F32, [9]), Shape::new(F32, [3]), Shape::new(F32, [4])], &Map::new(), &[], None);
    assert_eq!(results.unwrap(), f32s(&[&[3], &[4]]));
    let any =
        handler(params![X {}, X { name: "states", role: Role::InOut, dtype: DTypeRule::Any, arity: Arity::Variadic }]);
    let states = [Shape::new(S8, [3]), Shape::new(BF16, [4]), Shape::new(Pred, [5])];
    let args: Vec<Shape> = f32s(&[&[9]]).into_iter().chain(states.clone()).collect();
    assert_eq!(infer(&any, &args, &Map::new(), &[], None).unwrap(), states);
}

#[test]
fn messages_name_the_member_and_the_origin_of_each_name() {
    const NEXT: DimExpr = op(DimOp::Add, &N, &DimExpr::Const(1));
    let op = handler(params![
        X { dims: Some(&[dim(N)]) },
        X { name: "xs", dims: Some(&[dim(NEXT)]), arity: Arity::Variadic },
    ]);
    check_dims(&op, &[&[3], &[4], &[4]], &[], &[]).unwrap();
    assert_eq!(
        message(check_dims(&op, &[&[3], &[4], &[4], &[5]], &[], &[])),
        "op: argument `xs[2]` has shape [5], but `#[dims(n + 1)]` with n = 3 (from argument `x`) expects [4]"
    );
    let op = handler(params![X {}, X { name: "xs", dims: Some(&[dim(N)]), arity: Arity::Variadic }]);
    assert_eq!(
        message(check_dims(&op, &[&[9], &[3], &[4]], &[], &[])),
        "op: argument `xs[1]` has shape [4], but `#[dims(n)]` with n = 3 (from argument `xs[0]`) expects [3]"
    );
    let op = handler(params![X { dims: Some(&[dim(N), dim(H), dim(W)]) }, Y { dims: Some(&[dim(N), dim(H), dim(W)]) }]);
    assert_eq!(
        message(check_dims(&op, &[&[1, 2, 3]], &[&[3, 2, 1]], &[])),
        "op: result `y` has shape [3, 2, 1], but `#[dims(n, h, w)]` with n = 1, h = 2 and w = 3 (from argument `x`) \
         expects [1, 2, 3]"
    );
}
