use std::cell::RefCell;

use oxcall_hlo::{Literal, UnaryOp};

use super::*;
use crate::compile::passes::run_with;

fn f32_at(literal: &Literal, index: usize) -> f32 {
    f32::from_le_bytes(literal.element(index).try_into().unwrap())
}

/// Evaluates sums, negation and transposition to rank 1 of `f32`; notes what it was asked.
fn evaluate(asked: &RefCell<Vec<String>>, func: &Func, operands: &[Literal]) -> Option<Vec<Literal>> {
    let [op] = func.body.ops.as_slice() else { panic!("one op") };
    let ty = func.ty(op.results[0]).tensor().unwrap().clone();
    asked.borrow_mut().push(format!("{} {ty}", op.kind.name()));
    let element = |index: usize| match op.kind {
        OpKind::Binary(BinaryOp::Add) => Some(f32_at(&operands[0], index) + f32_at(&operands[1], index)),
        OpKind::Unary(UnaryOp::Negate) => Some(-f32_at(&operands[0], index)),
        OpKind::Reverse { .. } => Some(f32_at(&operands[0], ty.count() - 1 - index)),
        _ => None,
    };
    let data = (0..ty.count()).map(|index| element(index).map(f32::to_le_bytes)).collect::<Option<Vec<_>>>()?;
    Some(vec![Literal::dense(ty, data.concat())])
}

fn folded(f: FuncBuilder, result: ValueId) -> (String, Vec<String>) {
    let asked = RefCell::new(Vec::new());
    let module = module(vec![f.finish([result])]);
    let module =
        run_with(module, true, &|func, operands| evaluate(&asked, func, operands), &|_, _, _| None, None).unwrap();
    (text(&module.0), asked.into_inner())
}

#[test]
fn splats_fold_as_scalars_whatever_their_size() {
    let mut f = FuncBuilder::new("main");
    let one = f32_constant(&mut f, 1.0);
    let ones = f.typed(OpKind::BroadcastInDim { dims: vec![] }, [one], f32s(&[1 << 20])).unwrap();
    let two = f.op(add(), [ones, ones]).unwrap();
    let minus = f.op(OpKind::Unary(UnaryOp::Negate), [two]).unwrap();
    let (text, asked) = folded(f, minus);
    assert_eq!(text, format!("%0 = constant splat {:?} : f32[1048576]\nreturn %0\n", (-2f32).to_le_bytes()));
    assert_eq!(asked, ["stablehlo.add tensor<f32>", "stablehlo.negate tensor<f32>"]);
}

#[test]
fn dense_constants_fold_up_to_a_size() {
    for (count, folds) in [(4usize, true), (16 << 10, true), ((16 << 10) + 1, false)] {
        let mut f = FuncBuilder::new("main");
        let data: Vec<u8> = (0..count).flat_map(|index| (index as f32).to_le_bytes()).collect();
        let x = f.constant(Literal::dense(f32s(&[count]), data));
        let y = f.op(OpKind::Reverse { dims: vec![0] }, [x]).unwrap();
        let (text, _) = folded(f, y);
        assert_eq!(!text.contains("reverse"), folds, "{count}");
    }
}

#[test]
fn other_values_and_unknown_ops_stay() {
    let mut f = FuncBuilder::new("main");
    let x = f.param(f32s(&[4]));
    let one = f32_constant(&mut f, 1.0);
    let sine = f.op(OpKind::Unary(UnaryOp::Sine), [one]).unwrap();
    let iota = f.typed(OpKind::Iota { dim: 0 }, [], f32s(&[4])).unwrap();
    let y = f.typed(OpKind::BroadcastInDim { dims: vec![] }, [sine], f32s(&[4])).unwrap();
    let y = f.op(add(), [y, iota]).unwrap();
    let y = f.op(add(), [y, x]).unwrap();
    let (text, asked) = folded(f, y);
    assert!(text.contains("sine") && text.contains("iota"), "{text}");
    assert!(asked.iter().all(|op| op.starts_with("stablehlo.sine")), "{asked:?}");
}
