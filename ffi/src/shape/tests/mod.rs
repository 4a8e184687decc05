//! Patterns, checks and inference on hand-written descriptors.

mod check;
mod infer;

use serde_json::{Map, Value};

use super::*;
use crate::descriptor::{
    Arity, AttrParam, AttrType, DTypeRule, DimExpr, DimOp, DimPattern, Handler, Param, Presence, Role, ShapeRule,
    TypeParam,
};
use crate::{Code, Result};
use DType::*;

const N: DimExpr = DimExpr::Name("n");
const K: DimExpr = DimExpr::Name("k");
const H: DimExpr = DimExpr::Name("h");
const W: DimExpr = DimExpr::Name("w");
const ANY: DimPattern = DimPattern::Any;
const B: DimPattern = DimPattern::List("b");

const fn dim(expr: DimExpr) -> DimPattern {
    DimPattern::Dim(expr)
}

const fn op(op: DimOp, left: &'static DimExpr, right: &'static DimExpr) -> DimExpr {
    DimExpr::Binary(op, left, right)
}

const FLOATS: &[TypeParam] = &[TypeParam { name: "T", dtypes: &[F32, F64] }];

const OP: Handler = Handler { name: "op", type_params: FLOATS, ..Handler::UNCALLED };

const X: Param = Param {
    name: "x",
    role: Role::Arg,
    dtype: DTypeRule::Var(0),
    rank: None,
    dims: None,
    arity: Arity::One,
    sum: false,
};
const Y: Param = Param { name: "y", role: Role::Ret, ..X };

const ATTR_K: AttrParam = AttrParam { name: "k", ty: AttrType::Scalar(S64), presence: Presence::Required };

/// An operation of these parameters.
fn handler(params: &'static [Param]) -> Handler {
    Handler { params, ..OP }
}

macro_rules! params {
    ($($base:ident { $($field:ident: $value:expr),* }),* $(,)?) => {{
        const PARAMS: &[Param] = &[$(Param { $($field: $value,)* ..$base }),*];
        PARAMS
    }};
}
use params;

/// `x: ..b, n -> y: ..b, n`.
fn rowwise() -> Handler {
    handler(params![X { dims: Some(&[B, dim(N)]) }, Y { dims: Some(&[B, dim(N)]) }])
}

fn message(result: Result<impl std::fmt::Debug>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    error.message().to_owned()
}

fn check_dims(handler: &Handler, args: &[&[i64]], results: &[&[i64]], ints: &[(&str, i64)]) -> Result<()> {
    check(handler, args, results, ints)
}

fn f32s(dims: &[&[i64]]) -> Vec<Shape> {
    dims.iter().map(|&dims| Shape::new(F32, dims)).collect()
}

fn attrs(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).unwrap()
}

fn infer_dims(handler: &Handler, args: &[&[i64]], given: Value, num_results: Option<usize>) -> Result<Vec<Vec<i64>>> {
    let results = infer(handler, &f32s(args), &attrs(given), &[], num_results)?;
    Ok(results.into_iter().map(|shape| shape.dims).collect())
}
