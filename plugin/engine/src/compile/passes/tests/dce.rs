use oxcall_hlo::{ComparisonDirection, ComparisonType, UnaryOp};

use super::*;
use crate::compile::passes::dce::remove_dead;

fn cleaned(f: FuncBuilder, results: impl AsRef<[ValueId]>) -> String {
    let mut module = module(vec![f.finish(results)]);
    remove_dead(&mut module);
    assert!(!remove_dead(&mut module));
    text(&module)
}

#[test]
fn unused_ops_go_and_effects_stay() {
    let mut f = FuncBuilder::new("main");
    let x = f.param(f32s(&[]));
    let y = f.op(OpKind::Unary(UnaryOp::Sine), [x]).unwrap();
    f.op(OpKind::Unary(UnaryOp::Cosine), [y]).unwrap();
    f.with_types(custom_call("pure", vec![]), [x], &[f32s(&[]).into()]).unwrap();
    let mut effect = custom_call("effect", vec![]);
    let OpKind::CustomCall(call) = &mut effect else { unreachable!() };
    call.has_side_effect = true;
    f.with_types(effect, [y], &[f32s(&[]).into()]).unwrap();
    let expected = "\
(%0) : f32[]
%1 = sine %0 : f32[]
%2 = custom_call %1 : f32[]
return %0
";
    assert_eq!(cleaned(f, [x]), expected);
}

/// A loop over (counter, a, b, c), where a takes b, and c takes itself times a.
fn counting(f: &mut FuncBuilder) -> Vec<ValueId> {
    let i32s = scalar(ElementType::S32);
    let zero = f.splat(i32s.clone(), [0; 4]);
    let [a, b, c] = std::array::from_fn(|_| f.param(f32s(&[])));
    let types = [i32s.clone(), f32s(&[]), f32s(&[]), f32s(&[])];
    let cond = f.region(types.clone(), |f, params| {
        let ten = f.splat(i32s.clone(), 10i32.to_le_bytes());
        Ok(vec![f.op(OpKind::Compare(ComparisonDirection::Lt, ComparisonType::Signed), [params[0], ten])?])
    });
    let body = f.region(types, |f, params| {
        let one = f.splat(i32s.clone(), 1i32.to_le_bytes());
        let next = f.op(add(), [params[0], one])?;
        let product = f.op(OpKind::Binary(BinaryOp::Multiply), [params[3], params[1]])?;
        Ok(vec![next, params[2], params[2], product])
    });
    f.with_regions(OpKind::While, [zero, a, b, c], [cond.unwrap(), body.unwrap()]).unwrap()
}

#[test]
fn loops_carry_what_is_used_directly_or_not() {
    // The counter is used by the condition; a depends on b; c on a.
    for (used, carried) in [(0, 1), (1, 3), (2, 2), (3, 4)] {
        let mut f = FuncBuilder::new("main");
        let results = counting(&mut f);
        let text = cleaned(f, [results[used]]);
        let line = text.lines().find(|line| line.contains("while")).unwrap();
        assert_eq!(line.split(" = ").next().unwrap().split(' ').count(), carried, "{text}");
    }
    let mut f = FuncBuilder::new("main");
    let x = f.param(f32s(&[]));
    counting(&mut f);
    assert_eq!(cleaned(f, [x]), "(%0 %1 %2 %3) : f32[] f32[] f32[] f32[]\nreturn %0\n");
}

#[test]
fn branches_give_what_is_used() {
    let mut f = FuncBuilder::new("main");
    let (p, x) = (f.param(scalar(ElementType::Pred)), f.param(f32s(&[])));
    let then = f.region([] as [Type; 0], |f, _| Ok(vec![x, f.op(OpKind::Unary(UnaryOp::Sine), [x])?])).unwrap();
    let other = f.region([] as [Type; 0], |f, _| Ok(vec![f.op(OpKind::Unary(UnaryOp::Cosine), [x])?, x])).unwrap();
    let results = f.with_regions(OpKind::If, [p], [then, other]).unwrap();
    let expected = "\
(%0 %1) : i1[] f32[]
%3 = if %0 : f32[]
{
  return %1
}
{
  %2 = cosine %1 : f32[]
  return %2
}
return %3
";
    assert_eq!(cleaned(f, [results[0]]), expected);
}
