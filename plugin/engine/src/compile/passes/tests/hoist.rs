use oxcall_hlo::{ComparisonDirection, ComparisonType, Error, UnaryOp};

use super::*;

#[test]
fn invariants_leave_loops() {
    let mut f = FuncBuilder::new("main");
    let (limit, weights) = (f.param(scalar(ElementType::S32)), f.param(f32s(&[8, 8])));
    let zero = f.splat(scalar(ElementType::S32), [0; 4]);
    let x = f.param(f32s(&[8, 8]));
    let types: [Type; 4] = [zero, weights, x, limit].map(|value| f.ty(value).clone());
    let cond = f.region(types.clone(), |f, params| {
        Ok(vec![f.op(OpKind::Compare(ComparisonDirection::Lt, ComparisonType::Signed), [params[0], params[3]])?])
    });
    let body = f.region(types, |f, params| {
        let one = f.splat(scalar(ElementType::S32), 1i32.to_le_bytes());
        let next = f.op(add(), [params[0], one])?;
        let turned = f.op(OpKind::Transpose { permutation: vec![1, 0] }, [params[1]])?;
        let double = f.typed(OpKind::Convert, [turned], TensorType::new(ElementType::F64, [8, 8]))?;
        let single = f.typed(OpKind::Convert, [double], f32s(&[8, 8]))?;
        let wave = f.op(OpKind::Unary(UnaryOp::Sine), [single])?;
        let sum = f.op(add(), [params[2], wave])?;
        Ok(vec![next, params[1], sum, params[3]])
    });
    let results = f.with_regions(OpKind::While, [zero, weights, x, limit], [cond.unwrap(), body.unwrap()]).unwrap();
    let expected = "\
(%0 %1 %2) : i32[] f32[8,8] f32[8,8]
%3 = constant splat [0, 0, 0, 0] : i32[]
%4 = transpose %1 : f32[8,8]
%5 = sine %4 : f32[8,8]
%14 %15 = while %3 %2 : i32[] f32[8,8]
{
  (%6 %7) : i32[] f32[8,8]
  %8 = compare %6 %0 : i1[]
  return %8
}
{
  (%9 %10) : i32[] f32[8,8]
  %11 = constant splat [1, 0, 0, 0] : i32[]
  %12 = add %9 %11 : i32[]
  %13 = add %10 %5 : f32[8,8]
  return %12 %13
}
return %15 %1
";
    assert_eq!(all_passes(f, [results[2], results[1]]), expected);
}

/// A loop over an array, `x`, to which `values` of the invariant operands `a`, eight floats, are added.
fn loop_that_adds(dims: &[usize], values: impl Fn(&mut FuncBuilder, ValueId) -> Result<ValueId, Error>) -> String {
    let mut f = FuncBuilder::new("main");
    let (limit, a) = (f.param(scalar(ElementType::S32)), f.param(f32s(&[2000])));
    let zero = f.splat(scalar(ElementType::S32), [0; 4]);
    let x = f.param(f32s(dims));
    let types: [Type; 4] = [zero, a, x, limit].map(|value| f.ty(value).clone());
    let cond = f.region(types.clone(), |f, params| {
        Ok(vec![f.op(OpKind::Compare(ComparisonDirection::Lt, ComparisonType::Signed), [params[0], params[3]])?])
    });
    let body = f.region(types, |f, params| {
        let one = f.splat(scalar(ElementType::S32), 1i32.to_le_bytes());
        let next = f.op(add(), [params[0], one])?;
        let values = values(f, params[1])?;
        let sum = f.op(add(), [params[2], values])?;
        Ok(vec![next, params[1], sum, params[3]])
    });
    let results = f.with_regions(OpKind::While, [zero, a, x, limit], [cond.unwrap(), body.unwrap()]).unwrap();
    let text = all_passes(f, [results[2]]);
    let (before, inside) = text.split_once(" while ").expect("the loop is there");
    format!("{before}|{inside}")
}

#[test]
fn costly_functions_leave_loops_with_what_they_need() {
    let wide = || TensorType::new(ElementType::F64, [2000]);
    let text = loop_that_adds(&[2000], |f, a| {
        let double = f.typed(OpKind::Convert, [a], wide())?;
        let index = f.typed(OpKind::Iota { dim: 0 }, [], wide())?;
        let scaled = f.op(OpKind::Binary(BinaryOp::Multiply), [double, index])?;
        let wave = f.op(OpKind::Unary(UnaryOp::Sine), [scaled])?;
        f.typed(OpKind::Convert, [wave], f32s(&[2000]))
    });
    let (before, inside) = text.split_once('|').unwrap();
    assert!(["sine", "multiply", "convert", "iota"].iter().all(|name| before.contains(name)), "{text}");
    assert!(["sine", "multiply", "convert", "iota"].iter().all(|name| !inside.contains(name)), "{text}");
}

#[test]
fn cheap_functions_of_larger_results_stay() {
    let text = loop_that_adds(&[2000], |f, a| {
        let double = f.typed(OpKind::Convert, [a], TensorType::new(ElementType::F64, [2000]))?;
        let square = f.op(OpKind::Binary(BinaryOp::Multiply), [double, double])?;
        f.typed(OpKind::Convert, [square], f32s(&[2000]))
    });
    assert!(text.split_once('|').unwrap().1.contains("multiply"), "{text}");
    // More than a cache holds.
    let text = loop_that_adds(&[2000, 4000], |f, a| {
        let all = f.typed(OpKind::BroadcastInDim { dims: vec![0] }, [a], f32s(&[2000, 4000]))?;
        let index = f.typed(OpKind::Iota { dim: 1 }, [], f32s(&[2000, 4000]))?;
        let scaled = f.op(OpKind::Binary(BinaryOp::Multiply), [all, index])?;
        f.op(OpKind::Unary(UnaryOp::Sine), [scaled])
    });
    assert!(text.split_once('|').unwrap().1.contains("sine"), "{text}");
}
