//! Pairs of operations that fit, and those that do not with the message that they get.

use super::*;
use crate::descriptor::{AttrType, DTypeRule, DimExpr, Traits, TypeParam};
use crate::{DType, panics};

const FORWARD: Handler = Handler {
    name: "f",
    type_params: &[TypeParam { name: "T", dtypes: &[DType::F32, DType::S32] }],
    ..Handler::UNCALLED
};
const BACKWARD: Handler = Handler { name: "f_vjp", ..FORWARD };

const F32: DTypeRule = DTypeRule::One(DType::F32);
const S32: DTypeRule = DTypeRule::One(DType::S32);
const VECTOR: Option<&[DimPattern]> = Some(&[DimPattern::Dim(DimExpr::Name("n"))]);
const ROWS: Option<&[DimPattern]> = Some(&[DimPattern::List("b"), DimPattern::Dim(DimExpr::Name("n"))]);
const MATRIX: Option<&[DimPattern]> = Some(&[DimPattern::Dim(DimExpr::Name("n")), DimPattern::Dim(DimExpr::Name("m"))]);

const fn arg(name: &'static str) -> Param {
    Param { name, role: Role::Arg, dtype: F32, rank: None, dims: None, arity: Arity::One, sum: false }
}

const fn ret(name: &'static str) -> Param {
    Param { role: Role::Ret, ..arg(name) }
}

const fn inout(name: &'static str) -> Param {
    Param { role: Role::InOut, ..arg(name) }
}

fn caught(check: impl FnOnce() + std::panic::UnwindSafe) -> Result<(), String> {
    std::panic::catch_unwind(check).map_err(panics::describe)
}

fn checked(forward: Handler, backward: Handler) -> Result<(), String> {
    caught(|| check_vjp(&forward, None, &backward))
}

/// Checks two operations with these parameters.
fn params<const N: usize, const M: usize>(forward: [Param; N], backward: [Param; M]) -> Result<(), String> {
    checked(
        Handler { params: Vec::from(forward).leak(), ..FORWARD },
        Handler { params: Vec::from(backward).leak(), ..BACKWARD },
    )
}

#[track_caller]
fn refused(outcome: Result<(), String>, parts: &[&str]) {
    let message = outcome.unwrap_err();
    for part in ["operation `f`: its vjp operation `f_vjp`"].iter().chain(parts) {
        assert!(message.contains(part), "{part:?} is not in {message:?}");
    }
}

#[test]
fn operations_that_fit() {
    let tokens = DTypeRule::One(DType::Token);
    let listed = |param: Param| Param { arity: Arity::Variadic, ..param };
    let maybe = |param: Param| Param { arity: Arity::Optional, ..param };
    params([arg("x"), ret("y")], [arg("dy"), ret("dx")]).unwrap();
    params([arg("x"), ret("y")], [arg("x"), arg("y"), arg("d_y"), ret("d_x")]).unwrap();
    // Integers and tokens have no cotangent.
    params([arg("x"), Param { dtype: S32, ..arg("w") }, ret("y")], [arg("dy"), ret("dx")]).unwrap();
    params([arg("x"), ret("y"), Param { dtype: S32, ..ret("i") }], [arg("dy"), ret("dx")]).unwrap();
    params([arg("x"), ret("y"), Param { dtype: tokens, ..ret("t") }], [arg("dy"), ret("dx")]).unwrap();
    params([arg("x"), inout("y")], [arg("dy"), ret("dx"), ret("d_y")]).unwrap();
    params([inout("y")], [inout("dy")]).unwrap();
    params([maybe(arg("b")), listed(arg("xs")), ret("y")], [arg("dy"), maybe(ret("db")), listed(ret("dxs"))]).unwrap();
    params([arg("x"), ret("y")], [arg("dy"), maybe(arg("x")), ret("dx")]).unwrap();
    let of = |dims, param: Param| Param { dims, ..param };
    params([of(VECTOR, arg("x")), of(VECTOR, ret("y"))], [of(ROWS, arg("dy")), of(VECTOR, ret("dx"))]).unwrap();
}

#[test]
fn every_result_with_a_derivative_needs_its_cotangent() {
    let outcome = params([arg("x"), ret("y"), ret("z")], [arg("dy"), ret("dx")]);
    refused(outcome, &["takes no cotangent of result `z`", "derivatives through it would be zero", "`dz` (or `d_z`)"]);
    refused(params([arg("x"), inout("y")], [ret("dx"), ret("dy")]), &["takes no cotangent of result `y`"]);
    let generic = |param: Param| Param { dtype: DTypeRule::Var(0), ..param };
    refused(params([arg("x"), generic(ret("y"))], [ret("dx")]), &["takes no cotangent of result `y`"]);
    let any = |param: Param| Param { dtype: DTypeRule::Any, ..param };
    refused(params([arg("x"), any(ret("y"))], [ret("dx")]), &["takes no cotangent of result `y`"]);
    // An input that has the name of the cotangent comes first.
    refused(params([arg("dy"), ret("y")], [arg("dy"), ret("d_dy")]), &["takes no cotangent of result `y`"]);
    params([arg("dy"), ret("y")], [arg("dy"), arg("d_y"), ret("d_dy")]).unwrap();
}

#[test]
fn names_that_match_nothing() {
    let outcome = params([arg("x"), arg("weights"), ret("y")], [arg("wieghts"), arg("dy"), ret("dx")]);
    refused(
        outcome,
        &[
            "argument `wieghts` matches nothing",
            "an argument of the operation (`x`, `weights`), a result (`y`), or the cotangent of a result (`dy`)",
            "did you mean `weights`?",
        ],
    );
    let outcome = params([arg("x"), ret("y")], [arg("dy"), ret("gradient")]);
    refused(outcome, &["result `gradient` matches nothing", "argument of the operation (`dx`)"]);
    let outcome = params([arg("x"), ret("y"), Param { dtype: S32, ..ret("i") }], [arg("dy"), arg("di"), ret("dx")]);
    refused(outcome, &["argument `di` for the cotangent of `i`, which has none"]);
}

#[test]
fn names_that_match_twice() {
    refused(params([arg("x"), ret("y")], [arg("dy"), ret("dx"), ret("d_x")]), &["two results", "`dx` and `d_x`"]);
    refused(params([arg("x"), ret("y"), ret("_y")], [arg("d_y"), ret("dx")]), &["the cotangent of `y` or of `_y`"]);
}

#[test]
fn parameters_that_cannot_have_the_values() {
    let listed = |param: Param| Param { arity: Arity::Variadic, ..param };
    let maybe = |param: Param| Param { arity: Arity::Optional, ..param };
    // What a call leaves out would have the next one's gradient.
    let outcome = params([arg("x"), maybe(arg("b")), ret("y")], [arg("dy"), ret("db"), ret("dx")]);
    refused(outcome, &["result `db` occurs once, but `b`, which it belongs to, is optional"]);
    refused(params([listed(arg("x")), ret("y")], [arg("dy"), ret("dx")]), &["`x`, which it belongs to, is variadic"]);
    let outcome = params([arg("x"), ret("y")], [Param { dtype: DTypeRule::One(DType::F64), ..arg("dy") }, ret("dx")]);
    refused(outcome, &["argument `dy` has no dtype in common with `y`"]);
    let of = |dims, param: Param| Param { dims, ..param };
    let outcome = params([arg("x"), of(VECTOR, ret("y"))], [of(MATRIX, arg("dy")), ret("dx")]);
    refused(outcome, &["argument `dy` has 2 dimensions, but `y`, which it belongs to, has 1"]);
}

#[test]
fn attributes_of_one_name_have_one_value() {
    const fn attr(presence: Presence) -> AttrParam {
        AttrParam { name: "k", ty: AttrType::Scalar(DType::S64), presence }
    }
    const REQUIRED: &[AttrParam] = &[attr(Presence::Required)];
    const OPTIONAL: &[AttrParam] = &[attr(Presence::Optional)];
    const ONE: &[AttrParam] = &[attr(Presence::Default("1"))];
    const TWO: &[AttrParam] = &[attr(Presence::Default("2"))];
    let pair = |forward: &'static [AttrParam], backward: &'static [AttrParam]| {
        let (params, back) = (const { &[arg("x"), ret("y")] }, const { &[arg("dy"), ret("dx")] });
        checked(Handler { params, attrs: forward, ..FORWARD }, Handler { params: back, attrs: backward, ..BACKWARD })
    };
    for (forward, backward) in [
        (REQUIRED, ONE),
        (REQUIRED, OPTIONAL),
        (REQUIRED, &[]),
        (ONE, ONE),
        (ONE, REQUIRED),
        (OPTIONAL, OPTIONAL),
        (&[], ONE),
    ] {
        pair(forward, backward).unwrap();
    }
    refused(pair(&[], REQUIRED), &["requires the attribute `k`, which the operation does not have"]);
    refused(pair(ONE, TWO), &["another value of the attribute `k`", "it has the default `2`, and the operation's has"]);
    refused(pair(OPTIONAL, ONE), &["it has the default `1`, and the operation's is optional"]);
    refused(pair(OPTIONAL, REQUIRED), &["it is required, and the operation's is optional"]);
    refused(pair(ONE, OPTIONAL), &["it is optional, and the operation's has the default `1`"]);
}

#[test]
fn every_argument_with_a_derivative_needs_one() {
    let forward = [arg("x"), arg("w"), ret("y")];
    let expected = [
        "gives no cotangent of argument `w`",
        "with respect to it would be zero",
        "`dw` (or `d_w`)",
        "`nondiff = [w]`",
    ];
    refused(params(forward, [arg("dy"), ret("dx")]), &expected);
    let params = const { &[arg("x"), arg("w"), ret("y")] };
    let forward = Handler { params, traits: Traits { nondiff: &["w"], ..Traits::NONE }, ..FORWARD };
    let back = |params: &'static [Param]| Handler { params, ..BACKWARD };
    checked(forward, back(const { &[arg("dy"), ret("dx")] })).unwrap();
    let outcome = caught(|| {
        let forward = Handler { params, traits: Traits { nondiff: &["w"], ..Traits::NONE }, ..FORWARD };
        check_vjp(&forward, None, &back(const { &[arg("dy"), ret("dx"), ret("dw")] }));
    });
    refused(outcome, &["result `dw` for the cotangent of `w`, which `nondiff` lists"]);
}

fn handler<const N: usize>(name: &'static str, params: [Param; N]) -> Handler {
    Handler { name, params: Vec::from(params).leak(), ..FORWARD }
}

#[track_caller]
fn refused_as(outcome: Result<(), String>, parts: &[&str]) {
    let message = outcome.unwrap_err();
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in {message:?}");
    }
}

#[test]
fn tangents() {
    let check = |other: Handler| {
        let op = handler("f", [arg("x"), arg("w"), Param { dtype: S32, ..arg("i") }, ret("y"), ret("z")]);
        caught(move || check_jvp(&op, None, &other))
    };
    check(handler("g", [arg("x"), arg("tx"), arg("t_w"), arg("y"), ret("ty"), ret("t_z")])).unwrap();
    let outcome = check(handler("g", [arg("tx"), ret("ty"), ret("tz")]));
    refused_as(outcome, &["its jvp operation `g` takes no tangent of argument `w`", "add an argument `tw` (or `t_w`)"]);
    let outcome = check(handler("g", [arg("tx"), arg("tw"), ret("ty")]));
    refused_as(outcome, &["gives no tangent of result `z`", "derivatives through it", "add a result `tz`"]);
    let outcome = check(handler("g", [arg("tx"), arg("tw"), arg("ti"), ret("ty"), ret("tz")]));
    refused_as(outcome, &["argument `ti` for the tangent of `i`, which has none"]);
    let outcome = check(handler("g", [arg("dx"), arg("tw"), ret("ty"), ret("tz")]));
    refused_as(outcome, &["argument `dx` matches nothing", "or the tangent of an argument of the operation (`tx`"]);
}

#[test]
fn residuals() {
    let op = || handler("f", [arg("x"), arg("w"), ret("y")]);
    let check = |fwd: Handler| caught(move || check_fwd(&op(), &fwd));
    let good = || handler("f_fwd", [arg("x"), arg("w"), ret("y"), ret("s")]);
    check(good()).unwrap();
    refused_as(check(handler("g", [arg("x"), arg("w"), ret("y")])), &["its fwd operation `g` gives no residual"]);
    refused_as(check(handler("g", [arg("x"), ret("y"), ret("s")])), &["takes no argument `w`; add an argument `w`"]);
    refused_as(check(handler("g", [arg("x"), arg("w"), ret("s")])), &["gives no result `y`; add a result `y`"]);
    let outcome = check(handler("g", [arg("x"), arg("w"), ret("y"), ret("x")]));
    refused_as(outcome, &["has the residual `x`, which is also the name of an argument"]);
    let many = Param { arity: Arity::Variadic, ..ret("s") };
    refused_as(check(handler("g", [arg("x"), arg("w"), ret("y"), many])), &["the residual `s`, which is variadic"]);
    caught(move || check_vjp(&op(), Some(&good()), &handler("v", [arg("s"), arg("dy"), ret("dx"), ret("dw")])))
        .unwrap();
    caught(move || check_jvp(&op(), Some(&good()), &handler("j", [arg("s"), arg("tx"), arg("tw"), ret("ty")])))
        .unwrap();
    let lost = handler("v", [arg("r"), arg("dy"), ret("dx"), ret("dw")]);
    let outcome = caught(move || check_vjp(&op(), Some(&good()), &lost));
    refused_as(outcome, &["argument `r` matches nothing", "a residual (`s`)"]);
    let without = handler("v", [arg("s"), arg("dy"), ret("dx"), ret("dw")]);
    refused_as(caught(move || check_vjp(&op(), None, &without)), &["argument `s` matches nothing"]);
}

#[test]
fn transposes() {
    let check = |other: Handler| {
        let op = handler("f", [arg("x"), arg("k"), ret("y")]);
        caught(move || check_transpose(&op, &other))
    };
    check(handler("g", [arg("dy"), arg("k"), ret("dx")])).unwrap();
    check(handler("g", [arg("dy"), ret("dx"), ret("dk")])).unwrap();
    let outcome = check(handler("g", [arg("x"), arg("dy"), ret("dx")]));
    refused_as(outcome, &["its transpose operation `g` takes argument `x`, in which the operation is linear"]);
    refused_as(check(handler("g", [arg("k"), ret("dx")])), &["takes no cotangent of result `y`"]);
    refused_as(check(handler("g", [arg("y"), arg("dy"), ret("dx")])), &["argument `y` matches nothing"]);
}

#[test]
fn operations_on_batches() {
    let of = |dims, param: Param| Param { dims, ..param };
    let op = move || handler("f", [of(VECTOR, arg("x")), of(VECTOR, ret("y"))]);
    let check = move |other: Handler| caught(move || check_vmap(&op(), &other));
    check(handler("g", [of(MATRIX, arg("x")), of(MATRIX, ret("y"))])).unwrap();
    let outcome = check(handler("g", [of(VECTOR, arg("x")), of(MATRIX, ret("y"))]));
    refused_as(outcome, &["its vmap operation `g`: argument `x` has 1 dimensions", "has 1; declare one more"]);
    refused_as(check(handler("g", [of(MATRIX, arg("x"))])), &["gives no result `y`"]);
}

#[test]
fn dtypes_for_autocast() {
    const TYPES: &[TypeParam] = &[
        TypeParam { name: "T", dtypes: &[DType::F16, DType::BF16, DType::F32, DType::F64] },
        TypeParam { name: "U", dtypes: &[DType::F32, DType::F64, DType::S32] },
        TypeParam { name: "V", dtypes: &[DType::F64, DType::S32] },
    ];
    fn check<const N: usize>(policy: &'static str, params: [Param; N]) -> Result<(), String> {
        let traits = Traits { autocast: Some(policy), ..Traits::NONE };
        caught(move || check_autocast(&Handler { type_params: TYPES, traits, ..handler("f", params) }))
    }
    let [t, u, v] = [0, 1, 2].map(|var| move |param: Param| Param { dtype: DTypeRule::Var(var), ..param });
    let any = |param: Param| Param { dtype: DTypeRule::Any, ..param };
    // What has one dtype, and what autocast leaves alone, needs none of the policy's.
    check("lowest", [t(arg("x")), arg("scale"), v(arg("n")), inout("total"), t(ret("y"))]).unwrap();
    check("f32", [t(arg("x")), u(arg("w")), v(inout("n")), t(ret("y"))]).unwrap();
    check("f32", [arg("x"), ret("y")]).unwrap();
    check("lowest", [any(arg("x")), ret("y")]).unwrap();
    let outcome = check("lowest", [t(arg("x")), u(arg("w"))]);
    refused_as(
        outcome,
        &["operation `f`: `autocast = lowest` casts argument `w` to `bf16`, which is none of its dtypes"],
    );
    let none = "casts no argument: expected one that takes";
    refused_as(check("lowest", [arg("x"), t(ret("y"))]), &[none, "`bf16` and `f16`; ", "`T = floats`"]);
    refused_as(check("f32", [v(arg("x"))]), &[none, "`f32`; "]);
    for param in [t(inout("y")), any(inout("y"))] {
        refused_as(check("f32", [t(arg("x")), param]), &["would cast `y`, and the update would be lost"]);
    }
}

#[test]
fn nondiff_of_what_has_no_derivative() {
    let op = || Handler {
        traits: Traits { nondiff: &["i"], ..Traits::NONE },
        ..handler("f", [arg("x"), Param { dtype: S32, ..arg("i") }, ret("y")])
    };
    refused_as(caught(move || check_nondiff(&op())), &["`nondiff` lists `i`, which has no derivative"]);
}
