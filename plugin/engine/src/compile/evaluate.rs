//! Constant evaluation: ops of constants, computed at compile time.

use std::sync::Arc;

use oxcall_hlo::{Func, Literal, OpKind, TensorType};
use oxcall_kernels::interrupt::Era;
use oxcall_kernels::kernel::{Context, Inputs, Outputs};
use oxcall_kernels::memory::{Allocator, Buffer, RawBuffer};
use oxcall_kernels::pool::{Cost, Pool};

use super::lower;

/// Ops with a higher estimated cost are left to the program. The limit is below the cost at which the pool splits work
/// among threads, so that compilation starts none.
const MOST_NANOS: f64 = 30_000.0;

/// The most bytes that an op reads and writes: a program keeps its constants.
const MOST_BYTES: f64 = 300_000.0;

fn is_cheap(cost: Cost) -> bool {
    cost.nanos() <= MOST_NANOS && cost.bytes <= MOST_BYTES
}

/// The results of the only op of `func` for these operands. `None` if it has no kernel, costs too much, or does not
/// give the same results in each execution.
pub(crate) fn evaluate(
    pool: &Pool,
    allocator: &Arc<Allocator>,
    func: &Func,
    operands: &[Literal],
) -> Option<Vec<Literal>> {
    let ([op], [first, ..]) = (&func.body.ops[..], operands) else { return None };
    let types = op.results.iter().map(|&result| func.ty(result).tensor()).collect::<Option<Vec<_>>>()?;
    if let [ty] = types[..]
        && lower::is_view(op, first.ty(), ty)
    {
        return Some(vec![Literal::dense(ty.clone(), first.to_bytes())]);
    }
    if matches!(op.kind, OpKind::Rng(_)) {
        return None;
    }
    if types.iter().all(|ty| ty.count() == 0) {
        return Some(types.iter().map(|&ty| Literal::dense(ty.clone(), Vec::new())).collect());
    }
    let kernel = oxcall_kernels::single(op, func).ok().filter(|kernel| is_cheap(kernel.cost()))?;
    let materialise = |literal| lower::materialise(allocator, literal).ok();
    let inputs: Vec<Buffer> = operands.iter().map(materialise).collect::<Option<_>>()?;
    let allocate = |ty: &&TensorType| Buffer::allocate(allocator, ty.byte_size()).ok();
    let outputs: Vec<Buffer> = types.iter().map(allocate).collect::<Option<_>>()?;
    let raw = |buffers: &[Buffer]| -> Vec<RawBuffer> { buffers.iter().map(Buffer::raw).collect() };
    let (raw_inputs, raw_outputs) = (raw(&inputs), raw(&outputs));
    // SAFETY: the buffers are separate, and aligned and initialised as the allocator's are. They live until the kernel
    // is done, and nothing else uses them meanwhile.
    let (kernel_inputs, kernel_outputs) = unsafe { (Inputs::new(&raw_inputs, 0), Outputs::new(&raw_outputs)) };
    kernel.run(Context { pool, memory: allocator, era: Era::now() }, kernel_inputs, kernel_outputs).ok()?;
    let literal = |(buffer, ty): (&Buffer, &TensorType)| Literal::dense(ty.clone(), buffer.as_bytes());
    Some(outputs.iter().zip(types).map(literal).collect())
}
