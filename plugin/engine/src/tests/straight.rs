//! Programs without control flow.

use oxcall::Code;
use oxcall_hlo::{Literal, UnaryOp};

use super::*;

#[test]
fn values_of_all_kinds_become_results() {
    let module = func(|f| {
        let x = f.param(f32s([2, 3]));
        let sum = binary(f, BinaryOp::Add, x, x)?;
        let flat = f.typed(OpKind::Reshape, [sum], f32s([6]))?;
        let turned = f.op(OpKind::Transpose { permutation: vec![1, 0] }, [sum])?;
        let constant = f.constant(Literal::dense(s32(), 7i32.to_le_bytes()));
        let empty = f.splat(f32s([0, 3]), 1f32.to_le_bytes());
        // A parameter, a value twice (once as a view), a constant, nothing.
        Ok(vec![x, sum, flat, turned, constant, empty, x])
    });
    let x = [1f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let results = run(module, &|engine| vec![shared(engine, &x)]).unwrap();
    let twice = [2f32, 4.0, 6.0, 8.0, 10.0, 12.0];
    assert_eq!(values::<f32>(&results[0]), x);
    assert_eq!(values::<f32>(&results[1]), twice);
    assert_eq!(values::<f32>(&results[2]), twice);
    assert_eq!(values::<f32>(&results[3]), [2f32, 8.0, 4.0, 10.0, 6.0, 12.0]);
    assert_eq!(values::<i32>(&results[4]), [7]);
    assert!(results[5].is_empty());
    assert_eq!(values::<f32>(&results[6]), x);
}

/// x, then `n` times e^-x.
fn chain(n: usize) -> Module {
    func(|f| {
        let mut x = f.param(f32s([64]));
        for _ in 0..n {
            x = f.op(OpKind::Unary(UnaryOp::Negate), [x])?;
            x = f.op(OpKind::Unary(UnaryOp::Exponential), [x])?;
        }
        Ok(vec![x])
    })
}

#[test]
fn chains_work_in_place() {
    let engine = engine();
    let program = compile(&engine, chain(50));
    let stats = program.memory_stats();
    assert_eq!((stats.arguments, stats.outputs, stats.aliased), (256, 256, 0));
    assert!(stats.temporaries <= 2 * 256, "{stats:?}");
    let result = program.run(vec![shared(&engine, &[0.5f32; 64])]).unwrap();
    let expected = (0..50).fold(0.5f32, |x, _| (-x).exp());
    assert!(values::<f32>(&result[0]).iter().all(|y| (y - expected).abs() < 1e-6));
}

#[test]
fn donated_memory_becomes_the_result() {
    let engine = engine();
    let mut module = chain(3);
    donate(&mut module, 0, 0);
    let program = compile(&engine, module);
    assert_eq!(program.memory_stats().aliased, 256);
    let argument = donated(&engine, &[0.5f32; 64]);
    let place = argument.buffer().as_ptr();
    let result = program.run(vec![argument]).unwrap();
    assert_eq!(result[0].as_ptr(), place);
    // An argument that is not donated stays the caller's.
    let kept = Arc::new(buffer(&engine, &[0.5f32; 64]));
    let result = program.run(vec![Arc::clone(&kept).into()]).unwrap();
    assert_ne!(result[0].as_ptr(), kept.as_ptr());
    assert_eq!(values::<f32>(&kept), [0.5; 64]);
}

#[test]
fn donated_memory_is_not_written_before_its_last_use() {
    // The second result reads the argument after the first, for which it is meant, is made.
    let mut module = func(|f| {
        let x = f.param(f32s([4]));
        let twice = binary(f, BinaryOp::Add, x, x)?;
        let square = binary(f, BinaryOp::Multiply, x, twice)?;
        Ok(vec![twice, square])
    });
    donate(&mut module, 0, 0);
    let results = run(module, &|engine| vec![donated(engine, &[1f32, 2.0, 3.0, 4.0])]).unwrap();
    assert_eq!(values::<f32>(&results[0]), [2.0, 4.0, 6.0, 8.0]);
    assert_eq!(values::<f32>(&results[1]), [2.0, 8.0, 18.0, 32.0]);
}

#[test]
fn large_splats_are_filled() {
    let module = func(|f| {
        let x = f.param(f32s([5000]));
        let c = f.splat(f32s([5000]), 1.5f32.to_le_bytes());
        let zeros = f.splat(f32s([5000]), 0f32.to_le_bytes());
        Ok(vec![binary(f, BinaryOp::Add, x, c)?, zeros])
    });
    let results = run(module, &|engine| vec![shared(engine, &[1f32; 5000])]).unwrap();
    assert_eq!(values::<f32>(&results[0]), [2.5; 5000]);
    assert_eq!(values::<f32>(&results[1]), [0.0; 5000]);
}

#[test]
fn wrong_arguments_are_refused() {
    let engine = engine();
    let program = compile(&engine, chain(1));
    let error = program.run(vec![]).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert_eq!(error.message(), "the program takes 1 arguments, got 0");
    let error = program.run(vec![shared(&engine, &[0f32; 63])]).unwrap_err();
    assert_eq!(error.message(), "argument 0 takes 256 bytes, got 252");
}

#[test]
fn too_large_programs_leave_the_engine_usable() {
    let engine = engine();
    let program = compile(
        &engine,
        func(|f| {
            let x = f.param(f32s([1]));
            Ok(vec![f.typed(OpKind::BroadcastInDim { dims: vec![0] }, [x], f32s([1 << 48]))?])
        }),
    );
    let error = program.run(vec![shared(&engine, &[1f32])]).unwrap_err();
    assert_eq!(error.code(), Code::ResourceExhausted);
    assert!(error.message().contains("Out of memory allocating 1125899906842624 bytes"), "{error}");
    let small = compile(&engine, chain(1));
    assert!(small.run(vec![shared(&engine, &[0f32; 64])]).is_ok());
}

#[test]
fn expensive_programs_run_elsewhere() {
    use crate::{ExecuteOptions, Launch};
    let engine = engine();
    let program = compile(&engine, chain(4));
    let caller = std::thread::current().id();
    for (launch, elsewhere) in [(Launch::Auto, false), (Launch::Inline, false), (Launch::Elsewhere, true)] {
        let (sender, receiver) = std::sync::mpsc::channel();
        let options = ExecuteOptions { launch, ..ExecuteOptions::default() };
        program.execute(vec![shared(&engine, &[0f32; 64])], &options, move |result| {
            sender.send((std::thread::current().id(), result.map(|buffers| buffers.len()))).unwrap();
        });
        let (thread, result) = receiver.recv().unwrap();
        assert_eq!((thread != caller, result.unwrap()), (elsewhere, 1));
    }
}

#[test]
fn many_threads_share_a_program() {
    let engine = engine();
    let program = compile(&engine, chain(5));
    std::thread::scope(|scope| {
        for start in 0..8 {
            let (program, engine) = (&program, &engine);
            scope.spawn(move || {
                let start = start as f32;
                let expected = (0..5).fold(start, |x, _| (-x).exp());
                for _ in 0..200 {
                    let result = program.run(vec![shared(engine, &[start; 64])]).unwrap();
                    assert!(values::<f32>(&result[0]).iter().all(|y| (y - expected).abs() < 1e-6));
                }
            });
        }
    });
}

#[test]
fn booleans_of_complex_numbers_are_those_of_their_real_parts() {
    let program = |dims: &str, float: &str, operand: &str| {
        let (from, to) = (format!("tensor<{dims}complex<{float}>>"), format!("tensor<{dims}i1>"));
        let text = format!(
            "func.func public @main(%arg0: {from}) -> {to} {{
               %x = {operand} : {from}
               %0 = stablehlo.convert %x : ({from}) -> {to}
               return %0 : {to}
             }}",
        );
        oxcall_hlo::parse_text(&text).unwrap()
    };
    for isa in [None, oxcall_kernels::tile::generated::generated_isa()] {
        let engine = Engine::for_isa(isa);
        let found = |float: &str, dims: &str, operand: &str, numbers: &[f64]| {
            let narrow: Vec<f32> = numbers.iter().map(|&x| x as f32).collect();
            let buffer = if float == "f32" { shared(&engine, &narrow) } else { shared(&engine, numbers) };
            compile(&engine, program(dims, float, operand)).run(vec![buffer]).unwrap()[0].as_bytes().to_vec()
        };
        for float in ["f32", "f64"] {
            let cases = [([0.0, 1.0], 0), ([1.0, 0.0], 1), ([0.0, 0.0], 0), ([-0.5, 2.0], 1), ([-0.0, f64::NAN], 0)];
            // A sum of the operand and itself is the operand of a fusion.
            for operand in ["stablehlo.add %arg0, %arg0", "stablehlo.optimization_barrier %arg0"] {
                for (number, expected) in cases {
                    assert_eq!(found(float, "", operand, &number), [expected], "{number:?}, {float}, {isa:?}");
                }
                for count in [1, 3, 800] {
                    let numbers: Vec<f64> = cases.iter().flat_map(|case| case.0).collect::<Vec<_>>().repeat(count);
                    let expected: Vec<u8> = cases.map(|case| case.1).repeat(count);
                    let dims = format!("{}x", expected.len());
                    assert_eq!(found(float, &dims, operand, &numbers), expected, "{dims}{float}, {isa:?}");
                }
            }
            let folded = found(float, "2x", "stablehlo.constant dense<[(0.0, 1.0), (1.0, 0.0)]>", &[0.0; 4]);
            assert_eq!(folded, [0, 1], "{float}, {isa:?}");
        }
    }
}
