//! Programs from module to results.

mod carried;
mod control_flow;
mod convolution;
mod custom_call;
mod division;
mod dynamic;
#[cfg(target_arch = "x86_64")]
mod environment;
mod extremes;
mod flat;
mod fold;
mod gathers;
mod interchange;
mod legacy_call;
mod loops;
mod manual_computation;
mod observe;
mod picks;
mod pointwise;
mod products;
mod random;
mod reductions;
mod rowwise;
mod stacked;
mod stacks;
mod stencils;
mod straight;

use std::sync::Arc;

use bytemuck::Pod;
use oxcall::Error;
use oxcall_hlo::{
    Attribute, BinaryOp, ComparisonDirection, ComparisonType, ElementType, FuncBuilder, Module, OpKind, TensorType,
    ValueId, verify,
};

use crate::{Argument, Buffer, Engine, EngineOptions, Program};

fn engine() -> Arc<Engine> {
    Engine::new(EngineOptions { platform: "oxcall".to_owned(), num_threads: 2, ..EngineOptions::default() })
}

fn f32s(dims: impl IntoIterator<Item = usize>) -> TensorType {
    TensorType::new(ElementType::F32, dims)
}

fn s32() -> TensorType {
    TensorType::scalar(ElementType::S32)
}

/// A function that is built by `build`, which gives the results.
fn func(build: impl FnOnce(&mut FuncBuilder) -> Result<Vec<ValueId>, oxcall_hlo::Error>) -> Module {
    let mut f = FuncBuilder::new("main");
    let results = build(&mut f).unwrap();
    let module = Module::with_main(f.finish(results));
    verify(&module).unwrap();
    module
}

fn compile(engine: &Arc<Engine>, module: Module) -> Program {
    engine.compile(module).unwrap()
}

fn buffer<T: Pod>(engine: &Engine, values: &[T]) -> Buffer {
    Buffer::copy_of(engine.allocator(), bytemuck::cast_slice(values)).unwrap()
}

fn shared<T: Pod>(engine: &Engine, values: &[T]) -> Argument {
    Argument::Shared(Arc::new(buffer(engine, values)))
}

fn donated<T: Pod>(engine: &Engine, values: &[T]) -> Argument {
    Argument::Donated(buffer(engine, values))
}

fn values<T: Pod>(buffer: &Buffer) -> Vec<T> {
    buffer.as_bytes().chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

/// Compiles and runs a program twice, since the second execution uses what the first one left.
fn run(module: Module, arguments: &dyn Fn(&Engine) -> Vec<Argument>) -> Result<Vec<Buffer>, Error> {
    let engine = engine();
    let program = engine.compile(module)?;
    let first = program.run(arguments(&engine))?;
    let second = program.run(arguments(&engine))?;
    for (a, b) in first.iter().zip(&second) {
        assert_eq!(a.as_bytes(), b.as_bytes());
    }
    Ok(second)
}

fn binary(f: &mut FuncBuilder, op: BinaryOp, a: ValueId, b: ValueId) -> Result<ValueId, oxcall_hlo::Error> {
    f.op(OpKind::Binary(op), [a, b])
}

fn constant_s32(f: &mut FuncBuilder, value: i32) -> ValueId {
    f.splat(s32(), value.to_le_bytes())
}

fn less(f: &mut FuncBuilder, a: ValueId, b: ValueId) -> Result<ValueId, oxcall_hlo::Error> {
    f.op(OpKind::Compare(ComparisonDirection::Lt, ComparisonType::Signed), [a, b])
}

/// Lets the caller donate parameter `index` for `result`.
fn donate(module: &mut Module, index: usize, result: i64) {
    let entry = module.entry.0 as usize;
    let attribute = ("tf.aliasing_output".to_owned(), Attribute::Integer(result, ElementType::S32));
    module.funcs[entry].param_attributes[index].push(attribute);
}
