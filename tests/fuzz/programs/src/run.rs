//! Small programs through the engine.

use std::sync::{Arc, LazyLock};

use oxcall_engine::{Argument, Buffer, Engine, EngineOptions, Program};
use oxcall_hlo::{Func, Module, Op, OpKind, Region, Type};
use oxcall_pjrt::{Code, Error};

use crate::{Random, compare, read};

/// Most bytes of a value, and most ops, of programs that are compiled.
const MAX_BYTES: usize = 1 << 16;
const MAX_OPS: usize = 500;

/// The longest execution, in nanoseconds as the engine estimates them.
const MAX_NANOS: f64 = 1e8;

static ENGINE: LazyLock<Arc<Engine>> = LazyLock::new(|| {
    Engine::new(EngineOptions { platform: "oxcall".to_owned(), num_threads: 2, ..EngineOptions::default() })
});

/// Compiles a program if it is small, runs it if it ends, and compares the results with those of others like it. The
/// answer is whether it ran.
pub(crate) fn fuzz(text: &str) -> bool {
    let Some(module) = read::text(text) else { return false };
    if !module.funcs.iter().all(is_small) {
        return false;
    }
    let ends = !any_op(&module, |op| matches!(op.kind, OpKind::While));
    let Some(program) = compile(module.clone()) else { return false };
    if !ends || program.cost().nanos() > MAX_NANOS || any_op(program.module(), is_long) {
        return false;
    }
    let Some(results) = run(&program) else { return false };
    let repeats = !any_op(&module, |op| matches!(op.kind, OpKind::Rng(_)));
    if repeats {
        assert_eq!(Some(&results), run(&program).as_ref(), "a second run has other results");
        let barred = compile(compare::with_barriers(module.clone())).expect("barriers change nothing");
        let barred = run(&barred).expect("barriers change nothing");
        if compare::is_exact(&module) {
            assert_eq!(results, barred, "barriers change the results");
        }
    }
    true
}

/// Whether values and ops are few and small.
fn is_small(func: &Func) -> bool {
    fn count(region: &Region) -> usize {
        region.ops.iter().map(|op| 1 + op.regions.iter().map(count).sum::<usize>()).sum()
    }
    fn bytes(ty: &Type) -> usize {
        match ty {
            Type::Tensor(tensor) => tensor.byte_size(),
            Type::Tuple(parts) | Type::Future(parts) => parts.iter().map(bytes).sum(),
            Type::Token => 0,
        }
    }
    count(&func.body) <= MAX_OPS && func.values.iter().all(|ty| bytes(ty) <= MAX_BYTES)
}

/// Whether any op is of this sort.
pub(crate) fn any_op(module: &Module, is: impl Fn(&Op) -> bool + Copy) -> bool {
    fn in_region(region: &Region, is: impl Fn(&Op) -> bool + Copy) -> bool {
        region.ops.iter().any(|op| is(op) || op.regions.iter().any(|region| in_region(region, is)))
    }
    module.funcs.iter().any(|func| in_region(&func.body, is))
}

/// Whether an op takes long though its operands and results are small: windows may be much larger than both.
fn is_long(op: &Op) -> bool {
    let window = match &op.kind {
        OpKind::ReduceWindow { window } | OpKind::SelectAndScatter { window } => window,
        OpKind::Convolution(dims) => &dims.window,
        _ => return false,
    };
    let sizes = window.iter().try_fold(1usize, |product, dim| product.checked_mul(dim.size.max(1)));
    sizes.is_none_or(|size| size > 10_000)
}

/// The compiled program; `None` if the engine refuses it with good reason.
fn compile(module: Module) -> Option<Program> {
    ENGINE.compile(module).map_err(|error| refused(&error)).ok()
}

/// Errors may be of many kinds, but not of one that says that the engine is at fault.
fn refused(error: &Error) {
    assert!(!matches!(error.code(), Code::Internal | Code::Unknown), "{error}");
}

/// The bytes of the results for certain arguments.
fn run(program: &Program) -> Option<Vec<Vec<u8>>> {
    let mut random = Random(1);
    let mut argument = |ty: &Type| -> Argument {
        let len = ty.tensor().map_or(0, oxcall_hlo::TensorType::byte_size);
        let mut bytes: Vec<u8> = (0..len).map(|_| random.number() as u8).collect();
        if let Some(ty) = ty.tensor() {
            compare::make_valid(ty.element, &mut bytes);
        }
        Arc::new(Buffer::copy_of(ENGINE.allocator(), &bytes).expect("little memory")).into()
    };
    let arguments = program.parameters().iter().map(|edge| argument(&edge.ty)).collect();
    let results = program.run(arguments).map_err(|error| refused(&error)).ok()?;
    Some(results.iter().map(|buffer| buffer.as_bytes().to_vec()).collect())
}
