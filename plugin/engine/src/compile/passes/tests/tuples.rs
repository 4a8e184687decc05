use oxcall_hlo::{Alias, Attribute};

use super::*;
use crate::compile::passes::tuples::flatten;

#[test]
fn nested_tuples_through_a_loop() {
    let mut f = FuncBuilder::new("main");
    let (a, b) = (f.param(f32s(&[2])), f.param(f32s(&[])));
    let inner = f.op(OpKind::Tuple, [b, a]).unwrap();
    let outer = f.op(OpKind::Tuple, [a, inner]).unwrap();
    let ty = f.ty(outer).clone();
    let cond = f.region([ty.clone()], |f, params| {
        let inner = f.op(OpKind::GetTupleElement { index: 1 }, params)?;
        let b = f.op(OpKind::GetTupleElement { index: 0 }, [inner])?;
        Ok(vec![f.op(OpKind::Unary(oxcall_hlo::UnaryOp::IsFinite), [b])?])
    });
    let body = f.region([ty], |f, params| {
        let inner = f.op(OpKind::GetTupleElement { index: 1 }, params)?;
        let a = f.op(OpKind::GetTupleElement { index: 1 }, [inner])?;
        Ok(vec![f.op(OpKind::Tuple, [a, inner])?])
    });
    let end = f.with_regions(OpKind::While, [outer], [cond.unwrap(), body.unwrap()]).unwrap();
    let mut module = module(vec![f.finish(end)]);
    flatten(&mut module);
    let expected = "\
(%0 %1) : f32[2] f32[]
%9 %10 %11 = while %0 %1 %0 : f32[2] f32[] f32[2]
{
  (%2 %3 %4) : f32[2] f32[] f32[2]
  %5 = is_finite %3 : i1[]
  return %5
}
{
  (%6 %7 %8) : f32[2] f32[] f32[2]
  return %8 %7 %8
}
return %9 %10 %11
";
    module.funcs[0].result_attributes = vec![Vec::new(); 3];
    assert_eq!(text(&module), expected);
}

#[test]
fn signatures_and_their_aliases() {
    let pair = Type::Tuple(vec![f32s(&[2]).into(), f32s(&[]).into()]);
    let mut f = FuncBuilder::new("main");
    let (x, y) = (f.param(f32s(&[])), f.param(pair));
    let mut func = f.finish([x, y]);
    let alias = |output| vec![("tf.aliasing_output".to_string(), Attribute::Integer(output, ElementType::S32))];
    func.param_attributes = vec![alias(0), alias(1)];
    let mut module = module(vec![func]);
    flatten(&mut module);
    assert_eq!(text(&module), "(%0 %1 %2) : f32[] f32[2] f32[]\nreturn %0 %1 %2\n");
    assert_eq!(module.main().param_attributes, [alias(0), alias(1), alias(2)]);
}

#[test]
fn custom_calls_and_their_aliases() {
    let pair = Type::Tuple(vec![f32s(&[2]).into(), f32s(&[]).into()]);
    let alias = |output: &[usize], operand, path: &[usize]| Alias {
        output: output.to_vec(),
        operand,
        operand_path: path.to_vec(),
    };
    let cases = [
        // One tuple as the result: paths begin in it.
        (vec![Type::Tuple(vec![f32s(&[3]).into(), pair.clone()])], vec![alias(&[1, 0], 1, &[0])], vec![(vec![1], 1)]),
        (
            vec![Type::Tuple(vec![f32s(&[3]).into(), pair.clone()])],
            vec![alias(&[1], 1, &[])],
            vec![(vec![1], 1), (vec![2], 2)],
        ),
        // Several results: paths begin with their number.
        (vec![f32s(&[3]).into(), pair.clone()], vec![alias(&[1, 1], 1, &[1])], vec![(vec![2], 2)]),
        (vec![f32s(&[2]).into()], vec![alias(&[], 1, &[0])], vec![(vec![], 1)]),
        (vec![Type::Tuple(vec![f32s(&[2]).into()])], vec![alias(&[0], 1, &[0])], vec![(vec![], 1)]),
    ];
    for (results, aliases, expected) in cases {
        let mut f = FuncBuilder::new("main");
        let (x, y) = (f.param(f32s(&[3])), f.param(pair.clone()));
        let mut kind = custom_call("t", Vec::new());
        let OpKind::CustomCall(call) = &mut kind else { unreachable!() };
        call.aliases = aliases;
        let results = f.with_types(kind, [x, y], &results).unwrap();
        let mut module = module(vec![f.finish(results)]);
        flatten(&mut module);
        verify(&module).unwrap();
        let OpKind::CustomCall(call) = &module.main().body.ops[0].kind else { panic!("a custom call") };
        let flat: Vec<_> = call.aliases.iter().map(|alias| (alias.output.clone(), alias.operand)).collect();
        assert_eq!(flat, expected);
    }
}
