//! Legacy calls as typed calls.

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::slice;
use std::sync::{Arc, LazyLock};

use super::failure::{Output, report};
use super::wire::{CallDescriptor, MAGIC};
use crate::descriptor::{HOST, Handler, Stage};
use crate::host::{self, CallFrameBuilder, InvokeContext, TaskPool};
use crate::{Error, Result, panics};

/// Runs tasks on the thread that schedules them: the legacy API lends no threads.
struct Inline;

impl TaskPool for Inline {
    fn schedule(&self, task: Box<dyn FnOnce() + Send>) {
        task();
    }

    fn num_threads(&self) -> usize {
        1
    }
}

static INLINE: LazyLock<Arc<Inline>> = LazyLock::new(|| Arc::new(Inline));

/// A call by a CPU host. Without `opaque` the descriptor is the first operand; without `status` a failure is told by
/// the results, stderr and `oxcall_last_error`.
///
/// # Safety
/// * `out` and `ins` are what XLA:CPU passes to a custom call of the operands and results that its descriptor states;
///   without `opaque` there is at least one operand.
/// * `opaque` points to as many bytes as it says.
/// * `status` is an `XlaCustomCallStatus` of the host.
pub(super) unsafe fn cpu(
    handler: &'static Handler,
    out: *mut c_void,
    ins: *mut *const c_void,
    opaque: Option<(*const c_char, usize)>,
    status: Option<NonNull<c_void>>,
) {
    let mut outputs = Vec::new();
    let result = guard(handler, || {
        let bytes = match opaque {
            // SAFETY: as the caller guarantees.
            Some((opaque, len)) => unsafe { opaque_bytes(opaque, len) },
            // SAFETY: as the caller guarantees.
            None => unsafe { operand_bytes(ins) },
        };
        let call = decode(handler, bytes)?;
        if opaque.is_none() && !call.descriptor_is_operand {
            return Err(Error::invalid_argument("the call descriptor is an operand, but does not count itself as one"));
        }
        // SAFETY: the host gives as many operands as the descriptor states, behind itself.
        let args = unsafe { pointers(ins, usize::from(call.descriptor_is_operand), call.operands.len(), "operands") }?;
        let rets = if call.results_are_tuple {
            // SAFETY: the host gives an array of as many results as the descriptor states.
            unsafe { pointers(out.cast::<*mut c_void>(), 0, call.results.len(), "results") }?
        } else {
            vec![out]
        };
        outputs = call.results.iter().zip(&rets).map(|(ty, &data)| Output::new(ty, data)).collect();
        let context = InvokeContext::builder().anonymous().pool(INLINE.clone()).build();
        // SAFETY: as the caller guarantees.
        unsafe { run(handler, &call, &args, &rets, &context) }
    });
    if let Err(error) = result {
        // SAFETY: the results' memory is the host's, and the handler is done with it; the status is as promised.
        unsafe { report(status, &error, &outputs) };
    }
}

/// A call by a host of a stream executor platform.
///
/// # Safety
/// * `buffers` are what XLA:GPU passes to a custom call of the operands and results that its descriptor states.
/// * `opaque` points to as many bytes as it says.
/// * `status` is an `XlaCustomCallStatus` of the host.
pub(super) unsafe fn gpu(
    handler: &'static Handler,
    stream: *mut c_void,
    buffers: *mut *mut c_void,
    opaque: (*const c_char, usize),
    status: Option<NonNull<c_void>>,
) {
    let result = guard(handler, || {
        if handler.platform == HOST {
            return Err(Error::failed_precondition(
                "the operation is for the platform Host, but was called by one whose memory the CPU cannot reach",
            ));
        }
        // SAFETY: as the caller guarantees.
        let call = decode(handler, unsafe { opaque_bytes(opaque.0, opaque.1) })?;
        let count = call.operands.len() + call.results.len();
        // SAFETY: the host gives as many buffers as the descriptor states, behind itself.
        let rets = unsafe { pointers(buffers, usize::from(call.descriptor_is_operand), count, "buffers") }?;
        let (args, rets) = rets.split_at(call.operands.len());
        let args: Vec<*const c_void> = args.iter().map(|arg| arg.cast_const()).collect();
        let context = InvokeContext::builder().anonymous().stream(stream).build();
        // SAFETY: as the caller guarantees.
        unsafe { run(handler, &call, &args, rets, &context) }
    });
    if let Err(error) = result {
        // The results are memory of the device, which the CPU must not touch.
        // SAFETY: the status is as promised; there are no outputs to write.
        unsafe { report(status, &error, &[]) };
    }
}

/// Runs the body; a panic becomes an error, and every error names the operation.
fn guard(handler: &'static Handler, body: impl FnOnce() -> Result<()>) -> Result<()> {
    panics::install_hook();
    catch_unwind(AssertUnwindSafe(body))
        .unwrap_or_else(|payload| Err(Error::internal(panics::describe(payload))))
        .map_err(|error| {
            let named = error.message().strip_prefix(handler.name).is_some_and(|rest| rest.starts_with(": "));
            if named { error } else { error.context(handler.name) }
        })
}

/// # Safety
/// `opaque` points to `len` bytes, which outlive the call, or is null.
unsafe fn opaque_bytes<'a>(opaque: *const c_char, len: usize) -> Option<&'a [u8]> {
    // SAFETY: as the caller guarantees.
    (!opaque.is_null()).then(|| unsafe { slice::from_raw_parts(opaque.cast(), len) })
}

/// The descriptor in the first operand. `None` if it holds none; it is not read further than that takes.
///
/// # Safety
/// `ins` is null or an array of at least one operand, which is null or an array on the CPU, as long as its own length
/// field says if it is a descriptor.
unsafe fn operand_bytes<'a>(ins: *mut *const c_void) -> Option<&'a [u8]> {
    // SAFETY: there is a first operand.
    let data = unsafe { ins.as_ref() }?.cast::<u8>();
    // XLA gives operands more alignment than this.
    if data.is_null() || data.addr() % 8 != 0 {
        return None;
    }
    // SAFETY: descriptors have a magic and then their length; nothing else begins with the magic.
    unsafe {
        let magic = data.cast::<[u8; 4]>().read();
        (magic == MAGIC).then(|| {
            let len = data.add(4).cast::<[u8; 4]>().read();
            slice::from_raw_parts(data, (u32::from_le_bytes(len) as usize).max(8))
        })
    }
}

fn decode(handler: &'static Handler, bytes: Option<&[u8]>) -> Result<CallDescriptor> {
    let name = handler.name;
    let call = match bytes {
        Some(bytes) if !bytes.is_empty() => CallDescriptor::decode(bytes),
        _ => Err(Error::invalid_argument("the call has no call descriptor")),
    };
    call.map_err(|error| {
        let message = error.message();
        Error::new(
            error.code(),
            format!(
                "{message}; make calls through API v1 to v3 with the Python package: \
                 `oxcall.load(...).{name}(..., custom_call_api_version=3)`"
            ),
        )
    })
}

/// `count` of the pointers in `array`, behind the first `skip`.
///
/// # Safety
/// `array` is null or has as many pointers.
unsafe fn pointers<P: Copy>(array: *mut P, skip: usize, count: usize, what: &str) -> Result<Vec<P>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if array.is_null() {
        return Err(Error::internal(format!("the host gave no {what}, but the call descriptor states {count}")));
    }
    // SAFETY: as the caller guarantees.
    Ok(unsafe { slice::from_raw_parts(array.add(skip), count) }.to_vec())
}

/// Calls the execute handler, and waits until the call is done.
///
/// # Safety
/// The pointers are valid for the types of the descriptor; no other thread writes or uses them meanwhile.
unsafe fn run(
    handler: &'static Handler,
    call: &CallDescriptor,
    args: &[*const c_void],
    rets: &[*mut c_void],
    context: &InvokeContext,
) -> Result<()> {
    let mut frame = CallFrameBuilder::new();
    for (ty, &data) in call.operands.iter().zip(args) {
        frame.arg(ty.dtype, data, &ty.dims);
    }
    for (ty, &data) in call.results.iter().zip(rets) {
        frame.ret(ty.dtype, data, &ty.dims);
    }
    for (name, value) in &call.attrs {
        frame.attr(name.as_str(), value.clone());
    }
    // SAFETY: the handler is one of this crate; the buffers are as the caller guarantees until this function returns,
    // which is after the call is done.
    match unsafe { host::call(handler.execute, &mut frame.build(), context, Stage::Execute) }? {
        None => Ok(()),
        Some(future) => future.wait(),
    }
}
