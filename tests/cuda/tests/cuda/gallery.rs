//! The gallery's kernels of rows beside its functions for the CPU.

use oxcall::ndarray::Array2;
use oxcall::pointwise::Stored;
use oxcall::prelude::*;
use oxcall::registry::registry;
use oxcall::testing::Call;

use crate::fake::{Fake, Program, fake, on_cuda};

fn numbers<T: Stored>(count: usize, seed: usize) -> Vec<T> {
    (0..count).map(|i| T::from_f64(((i * 7 + seed * 13) % 61) as f64 / 16.0 - 1.9)).collect()
}

/// Compares an operation's kernel with its function for the CPU.
pub(crate) fn check<T: Stored>(
    fake: &'static Fake,
    name: &str,
    operands: usize,
    [rows, n]: [usize; 2],
    tolerance: f64,
) {
    let given: Vec<Vec<T>> = (0..operands).map(|seed| numbers(rows * n, seed)).collect();
    let mut call = Call::new(registry().find(name, "Host").unwrap());
    for operand in &given {
        call = call.arg(Array2::from_shape_vec((rows, n), operand.clone()).unwrap());
    }
    let expected = call.run().unwrap().get::<T>(0);
    let dims = [rows as i64, n as i64];
    let args: Vec<_> = given.iter().map(|operand| fake.array(0, operand)).collect();
    let y = fake.unwritten::<T>(0, rows * n);
    let program = Program::new(on_cuda(name), &[], 0, fake.stream(0)).unwrap();
    program.run(&args.iter().map(|arg| arg.shaped(&dims)).collect::<Vec<_>>(), &[y.shaped(&dims)]).unwrap();
    for (found, expected) in y.elements().into_iter().zip(&expected) {
        let (found, expected) = (found.as_f64(), expected.as_f64());
        let near = (found - expected).abs() <= tolerance * expected.abs().max(0.1);
        assert!(near || found.is_nan() && expected.is_nan(), "{name} {} {rows}x{n}: {found}, {expected}", T::DTYPE);
    }
}

#[test]
fn rows_are_those_of_the_cpu() {
    let (fake, _turn) = fake();
    // Rows that packs of 16 bytes fit, and others; more and fewer elements than threads.
    for shape in [[1, 1], [3, 7], [2, 64], [4, 100], [5, 1500], [3, 5000], [0, 4], [4, 0]] {
        for (name, operands) in [("rms_norm", 1), ("rms_norm_vjp", 2)] {
            check::<f32>(fake, name, operands, shape, 2e-6);
            check::<f64>(fake, name, operands, shape, 1e-13);
            check::<f16>(fake, name, operands, shape, 2e-3);
            check::<bf16>(fake, name, operands, shape, 1e-2);
        }
        check::<bf16>(fake, "softmax", 1, shape, 1e-2);
    }
}

/// One declaration for both platforms: Python and torch read that of the CPU.
#[test]
fn declarations_for_both_platforms_agree() {
    let handlers = registry().handlers();
    let on_cuda: Vec<_> = handlers.iter().filter(|handler| handler.platform == "CUDA").collect();
    assert!(on_cuda.len() > 20);
    for handler in on_cuda {
        let Some(on_host) = registry().find(handler.name, "Host") else {
            assert_ne!(handler.crate_name(), "custom_ops", "{}", handler.name);
            continue;
        };
        let attrs = |handler: &oxcall::descriptor::Handler| format!("{:?}{:?}", handler.attrs, handler.signature);
        assert_eq!(attrs(handler), attrs(on_host), "{}", handler.name);
        assert_eq!(format!("{:?}", handler.type_params), format!("{:?}", on_host.type_params), "{}", handler.name);
        let traits = |handler: &oxcall::descriptor::Handler| {
            let mut traits = handler.traits;
            (traits.command_buffer, traits.recorded) = (false, on_host.traits.recorded);
            format!("{traits:?}")
        };
        assert_eq!(traits(handler), traits(on_host), "{}", handler.name);
        assert!(handler.traits.command_buffer, "{}", handler.name);
        assert!(handler.stage(oxcall::descriptor::Stage::Initialize).is_some(), "{}", handler.name);
    }
}
