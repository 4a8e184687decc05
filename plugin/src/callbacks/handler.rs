//! The handlers of the custom calls to which JAX's callbacks are lowered.

use std::sync::Arc;
use std::time::Instant;

use oxcall::DType;
use oxcall::prelude::*;
use oxcall::sync::Mutex;
use oxcall_engine::Era;

use super::queue::{Answer, Call, Described, Memory, Pending, queue};
use super::watch;
use super::wire::{pack, unpack};

/// A program's share of a Python function.
struct Held(u64);

impl Drop for Held {
    fn drop(&mut self) {
        queue().let_go(self.0);
    }
}

#[stage(instantiate)]
fn hold(#[attr] callback: u64) -> Result<Held> {
    queue().hold(callback)?;
    Ok(Held(callback))
}

/// Calls the Python function of this number with copies of the operands; it gives the elements of the results.
#[custom_call(name = "oxcall_python_callback", instantiate = hold, side_effect)]
fn python_callback<'f>(
    #[state] held: &Held,
    #[attr] callback: u64,
    device: DeviceOrdinal,
    operands: Variadic<AnyArray<'f>>,
    results: Variadic<AnyOut<'f>>,
    later: Async<'f>,
) -> Result<Future<'f>> {
    debug_assert_eq!(held.0, callback);
    let copy =
        |operand: &AnyArray<'f>| Memory::Owned(Box::new(unpack(operand.dtype(), operand.len(), operand.as_bytes())));
    let (call, mut results) = call_of(callback, device, operands, results, copy, |_| Memory::Later);
    let deadline = watch::limit().map(|limit| Instant::now() + limit);
    submit(call, deadline, oxcall_engine::current_era(), later, move |answers| {
        for (result, answer) in results.iter_mut().zip(answers) {
            let (len, size) = (result.len(), result.size_in_bytes());
            let packed = pack(result.dtype(), answer);
            if packed.len() != size {
                let message = format!("a host callback returned {} bytes for a result of {len} elements", answer.len());
                return Err(Error::internal(message));
            }
            result.copy_from_bytes(&packed);
        }
        Ok(())
    })
}

/// Calls the Python function of this number with the memory of operands and results.
#[custom_call(name = "oxcall_python_buffer_callback", instantiate = hold, side_effect)]
fn python_buffer_callback<'f>(
    #[state] held: &Held,
    #[attr] callback: u64,
    device: DeviceOrdinal,
    operands: Variadic<AnyArray<'f>>,
    results: Variadic<AnyOut<'f>>,
    later: Async<'f>,
) -> Result<Future<'f>> {
    debug_assert_eq!(held.0, callback);
    let in_place = |data: *const u8, len| Memory::InPlace(data.expose_provenance(), len);
    let operand = |operand: &AnyArray<'f>| in_place(operand.as_bytes().as_ptr(), operand.size_in_bytes());
    let result = |result: &mut AnyOut<'f>| {
        let len = result.size_in_bytes();
        in_place(result.as_bytes_mut().as_mut_ptr().cast_const(), len)
    };
    let (call, results) = call_of(callback, device, operands, results, operand, result);
    // It cannot be given up: the function would go on with memory that has another use by then.
    submit(call, None, None, later, move |_| {
        drop(results);
        Ok(())
    })
}

/// A call of a function, and its results but for tokens: these order the calls, and have no elements.
fn call_of<'f>(
    callback: u64,
    device: DeviceOrdinal,
    operands: Variadic<AnyArray<'f>>,
    results: Variadic<AnyOut<'f>>,
    of_operand: impl Fn(&AnyArray<'f>) -> Memory,
    of_result: impl Fn(&mut AnyOut<'f>) -> Memory,
) -> (Call, Vec<AnyOut<'f>>) {
    let described = |dtype, shape, memory| Described { dtype, dims: dims(shape), memory };
    let operands = operands.iter().filter(|operand| operand.dtype() != DType::Token);
    let operands = operands.map(|operand| described(operand.dtype(), operand.shape(), of_operand(operand))).collect();
    let mut outputs: Vec<_> = results.into_iter().filter(|result| result.dtype() != DType::Token).collect();
    let of_output = |result: &mut AnyOut<'f>| {
        let memory = of_result(result);
        described(result.dtype(), result.shape(), memory)
    };
    let results = outputs.iter_mut().map(of_output).collect();
    (Call { number: 0, callback, device: device.0, operands, results }, outputs)
}

/// Queues a call; `receive` gets the elements of its results.
fn submit<'f>(
    call: Call,
    deadline: Option<Instant>,
    era: Option<Era>,
    later: Async<'f>,
    receive: impl FnOnce(&[&[u8]]) -> Result<()> + Send + 'f,
) -> Result<Future<'f>> {
    let answer = Arc::<Mutex<Option<Answer>>>::default();
    let callback = call.callback;
    let theirs = Arc::clone(&answer);
    let work = move || {
        let answer = theirs.lock().take();
        let answer = answer.unwrap_or_else(|| Err(Error::internal("a host callback completed without an answer")))?;
        // SAFETY: the queue completes a call while it finishes it.
        let answers: Vec<&[u8]> = answer.into_iter().map(|bytes| unsafe { bytes.get() }).collect();
        receive(&answers)
    };
    later.spawn_with(work, |complete| queue().push(call, Pending { callback, answer, complete, deadline, era }))
}

fn dims(shape: &[usize]) -> Vec<i64> {
    shape.iter().map(|&dim| dim as i64).collect()
}
