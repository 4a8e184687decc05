//! Calls with faults, and what must be true of them.

use std::ffi::CStr;
use std::sync::{Arc, OnceLock};

use arbitrary::{Result, Unstructured};
use oxcall::Code;
use oxcall::descriptor::{Handler, RawHandler, Role, Stage};
use oxcall::host::{self, AttrValue, CallFrameBuilder, HeapScratch, HostVersion, InvokeContext};
use xla_ffi_sys::xla_ffi as sys;

use crate::build::Memory;
use crate::fault;
use crate::heap::Heap;
use crate::plan::Call;

/// Plans a call, damages it, and makes it.
pub(crate) fn fuzz(input: &mut Unstructured<'_>) -> Result<()> {
    let mut call = Call::sound(input)?;
    let faults = *input.choose(&[0, 1, 1, 1, 2, 2, 3, 5])?;
    for _ in 0..faults {
        fault::apply(&mut call, input)?;
    }
    run(&call);
    Ok(())
}

fn context(call: &Call) -> InvokeContext {
    static POOL: OnceLock<Arc<host::ThreadPool>> = OnceLock::new();
    let pool = POOL.get_or_init(|| Arc::new(host::ThreadPool::new(0).expect("no threads to start")));
    let options: [(String, AttrValue); 2] = [("k".to_owned(), 1.into()), ("text".to_owned(), "x".into())];
    let context = InvokeContext::builder()
        .version(HostVersion::ALL[call.frame.version])
        .pool(Arc::clone(pool) as Arc<dyn host::TaskPool>)
        .scratch(Arc::new(HeapScratch::with_limit(1000)))
        .custom_options(&options)
        .run_id(1)
        .build();
    if call.frame.instantiated {
        for stage in call.handler.stages {
            // SAFETY: a handler of a descriptor; its frame is whole, and has neither operands nor attributes.
            let call =
                || unsafe { host::call(stage.handler, &mut CallFrameBuilder::new().build(), &context, stage.stage) };
            drop(crate::quietly(call));
        }
    }
    context
}

/// The handler of the stage that the frame states, if there is one, or else that of execute.
fn entry(handler: &'static Handler, stage: u32) -> (RawHandler, Stage) {
    let other = handler.stages.iter().find(|other| other.stage as u32 == stage);
    other.map_or((handler.execute, Stage::Execute), |other| (other.handler, other.stage))
}

fn run(call: &Call) {
    let (heap, mut context) = (&mut Heap::default(), context(call));
    let ctx = (&raw mut context).cast();
    let built = call.frame.build(heap, ctx);
    let before: Vec<Vec<u8>> = built.args.iter().map(contents).collect();
    let (entry, stage) = entry(call.handler, call.frame.stage);
    // SAFETY: what the frame says of its memory is true.
    let error = crate::quietly(|| unsafe { entry(built.frame) });
    assert!(heap.is_intact(), "{}: memory beside a block was written", call.handler.name);
    if error.is_null() {
        let whole = call.frame.struct_size >= sys::XLA_FFI_CallFrame_STRUCT_SIZE as usize;
        assert!(whole, "{}: success with half a frame", call.handler.name);
        if call.frame.extensions.is_empty() {
            assert!(built.has_api && call.frame.stage == stage as u32, "{}: success", call.handler.name);
            unchanged(call, &built.args, &before);
        }
    } else if built.has_errors && whole_enough(call) {
        // SAFETY: made by this host, whose table is whole.
        unsafe { check_error(call, error) };
    }
}

/// Whether the handler got as far as the host's table: else it cannot make errors.
fn whole_enough(call: &Call) -> bool {
    call.frame.struct_size >= sys::XLA_FFI_CallFrame_STRUCT_SIZE as usize
}

fn contents(memory: &Memory) -> Vec<u8> {
    if memory.len == 0 {
        return Vec::new();
    }
    // SAFETY: live, and as long.
    unsafe { std::slice::from_raw_parts(memory.data, memory.len) }.to_vec()
}

/// Success leaves arguments alone, unless they are results as well.
fn unchanged(call: &Call, args: &[Memory], before: &[Vec<u8>]) {
    let roles = call.handler.params.iter().filter(|param| param.role != Role::Ret).map(|param| param.role);
    // A variadic parameter, the last one, takes what is left.
    for ((role, memory), before) in roles.chain(std::iter::repeat(Role::Arg)).zip(args).zip(before) {
        assert!(role == Role::InOut || contents(memory) == *before, "{}: an argument was written", call.handler.name);
    }
}

/// Looks at an error, and destroys it.
///
/// # Safety
/// An error of this crate's hosts, not yet destroyed.
unsafe fn check_error(call: &Call, error: *mut sys::XLA_FFI_Error) {
    let api = HostVersion::V0_12.api();
    let mut details = sys::XLA_FFI_Error_GetDetails_Args {
        struct_size: sys::XLA_FFI_Error_GetDetails_Args_STRUCT_SIZE as usize,
        error,
        ..Default::default()
    };
    let mut destroy = sys::XLA_FFI_Error_Destroy_Args {
        struct_size: sys::XLA_FFI_Error_Destroy_Args_STRUCT_SIZE as usize,
        error,
        ..Default::default()
    };
    // SAFETY: the arguments are whole; the message is a C string that lives until the error is destroyed.
    unsafe {
        api.XLA_FFI_Error_GetDetails.expect("a whole table")(&raw mut details);
        assert!(Code::from_code(details.errc).is_some(), "{}: code {}", call.handler.name, details.errc);
        let message = CStr::from_ptr(details.message).to_str().expect("messages are UTF-8");
        assert!(message.starts_with(call.handler.name), "an error without the operation's name: {message}");
        assert!(!message.contains("please report"), "{message}");
        api.XLA_FFI_Error_Destroy.expect("a whole table")(&raw mut destroy);
    }
}
