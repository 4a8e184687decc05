//! Pairs of operations that fit, and those that do not with the message that they get.

use super::*;
use crate::descriptor::{AttrType, DimExpr, HOST, ShapeRule, Traits, TypeParam};
use crate::panics;

unsafe extern "C" fn never_called(
    _: *mut xla_ffi_sys::xla_ffi::XLA_FFI_CallFrame,
) -> *mut xla_ffi_sys::xla_ffi::XLA_FFI_Error {
    unreachable!()
}

const FORWARD: Handler = Handler {
    name: "f",
    platform: HOST,
    doc: "",
    module: "tests",
    file: file!(),
    line: line!(),
    execute: never_called,
    stages: &[],
    type_params: &[TypeParam { name: "T", dtypes: &[DType::F32, DType::S32] }],
    params: &[],
    attrs: &[],
    signature: &[],
    asynchronous: false,
    extra_attrs: false,
    shape: ShapeRule::Dims,
    traits: Traits { command_buffer: false, side_effect: false, batch_partitionable: false, vmap: None, vjp: None },
    legacy: None,
    namespace: None,
    schema: None,
    torch: None,
};
const BACKWARD: Handler = Handler { name: "f_vjp", ..FORWARD };

const F32: DTypeRule = DTypeRule::One(DType::F32);
const S32: DTypeRule = DTypeRule::One(DType::S32);
const VECTOR: Option<&[DimPattern]> = Some(&[DimPattern::Dim(DimExpr::Name("n"))]);
const ROWS: Option<&[DimPattern]> = Some(&[DimPattern::List("b"), DimPattern::Dim(DimExpr::Name("n"))]);
const MATRIX: Option<&[DimPattern]> = Some(&[DimPattern::Dim(DimExpr::Name("n")), DimPattern::Dim(DimExpr::Name("m"))]);

const fn arg(name: &'static str) -> Param {
    Param { name, role: Role::Arg, dtype: F32, rank: None, dims: None, arity: Arity::One }
}

const fn ret(name: &'static str) -> Param {
    Param { role: Role::Ret, ..arg(name) }
}

const fn inout(name: &'static str) -> Param {
    Param { role: Role::InOut, ..arg(name) }
}

fn checked(forward: Handler, backward: Handler) -> Result<(), String> {
    std::panic::catch_unwind(|| check(&forward, &backward)).map_err(panics::describe)
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
    // Inputs may have no gradient, and integers and tokens have no cotangent.
    params([arg("x"), arg("w"), ret("y")], [arg("dy"), ret("dw")]).unwrap();
    params([arg("x"), ret("y"), Param { dtype: S32, ..ret("i") }], [arg("dy"), ret("dx")]).unwrap();
    params([arg("x"), ret("y"), Param { dtype: tokens, ..ret("t") }], [arg("dy"), ret("dx")]).unwrap();
    params([arg("x"), inout("y")], [arg("dy"), ret("dx")]).unwrap();
    params([inout("y")], [inout("dy")]).unwrap();
    params([maybe(arg("b")), listed(arg("xs")), ret("y")], [arg("dy"), maybe(ret("db")), listed(ret("dxs"))]).unwrap();
    params([arg("x"), ret("y")], [arg("dy"), maybe(arg("x")), ret("dx")]).unwrap();
    let of = |dims, param: Param| Param { dims, ..param };
    params([of(VECTOR, arg("x")), of(VECTOR, ret("y"))], [of(ROWS, arg("dy")), of(VECTOR, ret("dx"))]).unwrap();
}

#[test]
fn every_result_with_a_derivative_needs_its_cotangent() {
    let outcome = params([arg("x"), ret("y"), ret("z")], [arg("dy"), ret("dx")]);
    refused(outcome, &["takes no cotangent of result `z`", "gradients through it would be zero", "`dz` (or `d_z`)"]);
    refused(params([arg("x"), inout("y")], [ret("dx")]), &["takes no cotangent of result `y`"]);
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
            "has an argument `wieghts` that matches nothing",
            "an argument of the operation (`x`, `weights`), a result (`y`), or the cotangent of a result (`dy`)",
            "did you mean `weights`?",
        ],
    );
    let outcome = params([arg("x"), ret("y")], [arg("dy"), ret("gradient")]);
    refused(outcome, &["has a result `gradient` that matches nothing", "argument of the operation (`dx`)"]);
    let outcome = params([arg("x"), ret("y"), Param { dtype: S32, ..ret("i") }], [arg("dy"), arg("di"), ret("dx")]);
    refused(outcome, &["for the cotangent of result `i`, which has none"]);
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
