use oxcall_hlo::{RngDistribution, UnaryOp};

use super::*;
use crate::compile::passes::cse::share;

fn shared(f: FuncBuilder, results: impl AsRef<[ValueId]>) -> String {
    let mut module = module(vec![f.finish(results)]);
    share(&mut module).unwrap();
    text(&module)
}

#[test]
fn equal_ops_also_with_regions() {
    let mut f = FuncBuilder::new("main");
    let x = f.param(f32s(&[4]));
    let sum = |f: &mut FuncBuilder, op| {
        let zero = f32_constant(f, 0.0);
        let body = combiner(f, op, ElementType::F32);
        f.with_regions(OpKind::Reduce { dims: vec![0] }, [x, zero], [body]).unwrap()[0]
    };
    let a = sum(&mut f, BinaryOp::Add);
    let b = sum(&mut f, BinaryOp::Maximum);
    let c = sum(&mut f, BinaryOp::Add);
    let text = shared(f, [a, b, c]);
    assert_eq!(text.matches("constant").count(), 1);
    assert_eq!(text.matches("reduce").count(), 2);
    assert!(text.ends_with("return %5 %9 %5\n"), "{text}");
}

#[test]
fn signed_zeros_types_and_attributes_differ() {
    let mut f = FuncBuilder::new("main");
    let x = f.param(f32s(&[2, 2]));
    let (zero, minus_zero) = (f32_constant(&mut f, 0.0), f32_constant(&mut f, -0.0));
    let int = f.splat(scalar(ElementType::S32), [0; 4]);
    let halves = f.typed(OpKind::Convert, [x], TensorType::new(ElementType::F16, [2, 2])).unwrap();
    let doubles = f.typed(OpKind::Convert, [x], TensorType::new(ElementType::F64, [2, 2])).unwrap();
    let rows = f.typed(OpKind::Iota { dim: 0 }, [], f32s(&[2, 2])).unwrap();
    let columns = f.typed(OpKind::Iota { dim: 1 }, [], f32s(&[2, 2])).unwrap();
    let text = shared(f, [zero, minus_zero, int, halves, doubles, rows, columns]);
    assert!(text.ends_with("return %1 %2 %3 %4 %5 %6 %7\n"), "{text}");
}

#[test]
fn what_need_not_be_equal_is_kept() {
    let mut f = FuncBuilder::new("main");
    let (a, b) = (f.param(f32s(&[])), f.param(f32s(&[])));
    let shape = f.splat(TensorType::new(ElementType::S64, [1]), 3i64.to_le_bytes());
    let rng = OpKind::Rng(RngDistribution::Uniform);
    let first = f.typed(rng.clone(), [a, b, shape], f32s(&[3])).unwrap();
    let second = f.typed(rng, [a, b, shape], f32s(&[3])).unwrap();
    let call = |f: &mut FuncBuilder| f.with_types(custom_call("t", vec![]), [a], &[f32s(&[]).into()]).unwrap()[0];
    let (third, fourth) = (call(&mut f), call(&mut f));
    let tokens = [f.op(OpKind::AfterAll, []).unwrap(), f.op(OpKind::AfterAll, []).unwrap()];
    let barriers = [0; 2].map(|_| f.op(OpKind::OptimizationBarrier, [a]).unwrap());
    let results = [vec![first, second, third, fourth], tokens.to_vec(), barriers.to_vec()].concat();
    assert!(shared(f, results).ends_with("return %3 %4 %5 %6 %7 %8 %9 %10\n"));
}

#[test]
fn regions_see_what_is_around_them_and_not_beside() {
    let mut f = FuncBuilder::new("main");
    let (p, x) = (f.param(scalar(ElementType::Pred)), f.param(f32s(&[])));
    let exp = OpKind::Unary(UnaryOp::Exponential);
    let sin = OpKind::Unary(UnaryOp::Sine);
    let outer = f.op(exp.clone(), [x]).unwrap();
    let branch = |f: &mut FuncBuilder| {
        f.region([] as [Type; 0], |f, _| {
            let (e, s) = (f.op(exp.clone(), [x])?, f.op(sin.clone(), [x])?);
            Ok(vec![f.op(add(), [e, s])?])
        })
        .unwrap()
    };
    let branches = [branch(&mut f), branch(&mut f)];
    let y = f.with_regions(OpKind::If, [p], branches).unwrap()[0];
    let text = shared(f, [outer, y]);
    assert_eq!(text.matches("exponential").count(), 1);
    assert_eq!(text.matches("sine").count(), 2);
}
