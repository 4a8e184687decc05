use oxcall::Code;
use oxcall_hlo::{ComparisonDirection, ComparisonType, UnaryOp};

use super::*;
use crate::compile::passes::captures::close_bodies;

/// A sum of `x * factor` along a dimension, with `factor` from outside of the body.
fn scaled_sum(f: &mut FuncBuilder, x: ValueId, factor: ValueId) -> Vec<ValueId> {
    let zero = f32_constant(f, 0.0);
    let body = f.region([f32s(&[]), f32s(&[])], |f, params| {
        let scaled = f.op(OpKind::Binary(BinaryOp::Multiply), [params[1], factor])?;
        Ok(vec![f.op(OpKind::Binary(BinaryOp::Add), [params[0], scaled])?])
    });
    f.with_regions(OpKind::Reduce { dims: vec![0] }, [x, zero], [body.unwrap()]).unwrap()
}

#[test]
fn constants_are_cloned() {
    let mut f = FuncBuilder::new("main");
    let x = f.param(f32s(&[4, 2]));
    let two = f32_constant(&mut f, 2.0);
    let factor = f.op(OpKind::Unary(UnaryOp::Negate), [two]).unwrap();
    let y = scaled_sum(&mut f, x, factor);
    let mut module = module(vec![f.finish(y)]);
    close_bodies(&mut module).unwrap();
    let expected = "\
{
  (%4 %5) : f32[] f32[]
  %6 = constant splat [0, 0, 0, 64] : f32[]
  %7 = negate %6 : f32[]
  %8 = multiply %5 %7 : f32[]
";
    assert!(text(&module).contains(expected), "{}", text(&module));
}

#[test]
fn other_scalars_become_operands() {
    let mut f = FuncBuilder::new("main");
    let (x, factor) = (f.param(f32s(&[4, 2])), f.param(f32s(&[])));
    let y = scaled_sum(&mut f, x, factor);
    let mut module = module(vec![f.finish(y)]);
    close_bodies(&mut module).unwrap();
    let expected = "\
(%0 %1) : f32[4,2] f32[]
%2 = constant splat [0, 0, 0, 0] : f32[]
%3 = broadcast_in_dim %1 : f32[4,2]
%10 %11 = reduce %0 %3 %2 %1 : f32[2] f32[2]
{
  (%4 %5 %6 %7) : f32[] f32[] f32[] f32[]
  %8 = multiply %6 %5 : f32[]
  %9 = add %4 %8 : f32[]
  return %9 %5
}
return %10
";
    assert_eq!(text(&module), expected);
}

#[test]
fn also_those_of_comparators() {
    let mut f = FuncBuilder::new("main");
    let (x, pivot) = (f.param(f32s(&[4])), f.param(f32s(&[])));
    let body = f.region([f32s(&[]), f32s(&[])], |f, params| {
        let left = f.op(OpKind::Binary(BinaryOp::Subtract), [params[0], pivot])?;
        Ok(vec![f.op(OpKind::Compare(ComparisonDirection::Lt, ComparisonType::NoType), [left, params[1]])?])
    });
    let y = f.with_regions(OpKind::Sort { dim: 0, stable: true }, [x], [body.unwrap()]).unwrap();
    let mut module = module(vec![f.finish(y)]);
    close_bodies(&mut module).unwrap();
    assert!(text(&module).contains("sort %0 %2 : f32[4] f32[4]"), "{}", text(&module));
}

#[test]
fn tensors_from_outside_are_refused() {
    let mut f = FuncBuilder::new("main");
    let x = f.param(f32s(&[4]));
    let zero = f32_constant(&mut f, 0.0);
    let body = f.region([f32s(&[]), f32s(&[])], |f, params| {
        let dot = OpKind::DotGeneral(oxcall_hlo::DotDims {
            lhs_batching: vec![],
            rhs_batching: vec![],
            lhs_contracting: vec![0],
            rhs_contracting: vec![0],
            precision: vec![],
            algorithm: None,
        });
        let norm = f.op(dot, [x, x])?;
        Ok(vec![f.op(OpKind::Binary(BinaryOp::Multiply), [params[0], norm])?])
    });
    let y = f.with_regions(OpKind::Reduce { dims: vec![0] }, [x, zero], [body.unwrap()]).unwrap();
    let error = close_bodies(&mut module(vec![f.finish(y)])).unwrap_err();
    assert_eq!(error.code(), Code::Unimplemented);
    assert_eq!(
        error.message(),
        "stablehlo.reduce: its body captures a value of type tensor<4xf32>; only scalars can be captured"
    );
}
