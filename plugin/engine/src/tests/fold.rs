//! Constants that the engine's kernels fold.

use oxcall_hlo::{Literal, RngDistribution, UnaryOp};

use super::custom_call::{call, emit};
use super::*;

fn constant(f: &mut FuncBuilder, values: &[f32]) -> ValueId {
    f.constant(Literal::dense(f32s([values.len()]), bytemuck::cast_slice::<f32, u8>(values)))
}

#[test]
fn a_program_of_constants_is_one_constant() {
    let module = func(|f| {
        let x = constant(f, &[1.0, 4.0, 9.0, 16.0]);
        let x = f.op(OpKind::Unary(UnaryOp::Sqrt), [x])?;
        let x = f.op(OpKind::Reverse { dims: vec![0] }, [x])?;
        let x = f.typed(OpKind::Reshape, [x], f32s([2, 2]))?;
        let x = f.op(OpKind::Transpose { permutation: vec![1, 0] }, [x])?;
        Ok(vec![binary(f, BinaryOp::Add, x, x)?])
    });
    let engine = engine();
    let program = compile(&engine, module);
    assert_eq!(program.module().main().body.ops.len(), 1, "{}", program.text());
    assert_eq!(values::<f32>(&program.run(Vec::new()).unwrap()[0]), [8f32, 4.0, 6.0, 2.0]);
}

#[test]
fn what_is_empty_folds_too() {
    let module = func(|f| {
        let x = constant(f, &[]);
        Ok(vec![f.op(OpKind::Unary(UnaryOp::Sine), [x])?])
    });
    let program = compile(&engine(), module);
    assert_eq!(program.run(Vec::new()).unwrap()[0].len(), 0);
}

#[test]
fn random_numbers_and_custom_calls_stay() {
    custom_call::register_affine();
    let module = func(|f| {
        let (low, high) = (f.splat(f32s([]), 0f32.to_le_bytes()), f.splat(f32s([]), 1f32.to_le_bytes()));
        let shape = f.constant(Literal::dense(TensorType::new(ElementType::S64, [1]), 4i64.to_le_bytes()));
        let random = f.typed(OpKind::Rng(RngDistribution::Uniform), [low, high, shape], f32s([4]))?;
        let x = constant(f, &[1.0, 2.0]);
        let slope = ("slope", Attribute::Float(2.0, ElementType::F32));
        let called = emit(f, call("engine_affine", &[slope]), &[x], &[f32s([2]).into()])?[0];
        Ok(vec![random, called])
    });
    let program = compile(&engine(), module);
    let text = program.text();
    assert!(text.contains("stablehlo.rng") && text.contains("engine_affine"), "{text}");
}

#[test]
fn much_work_stays() {
    let module = func(|f| {
        // 64 KiB of results, of 256 operations each.
        let x = f.constant(Literal::dense(f32s([128, 256]), vec![0; 4 * 128 * 256]));
        let dims = oxcall_hlo::DotDims {
            lhs_batching: vec![],
            rhs_batching: vec![],
            lhs_contracting: vec![1],
            rhs_contracting: vec![1],
            precision: vec![],
            algorithm: None,
        };
        Ok(vec![f.typed(OpKind::DotGeneral(dims), [x, x], f32s([128, 128]))?])
    });
    let program = compile(&engine(), module);
    assert!(program.text().contains("dot_general"), "{}", program.text());
}
