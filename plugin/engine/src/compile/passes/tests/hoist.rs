use oxcall_hlo::{ComparisonDirection, ComparisonType, UnaryOp};

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
