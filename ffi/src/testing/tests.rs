//! The harness, with handlers written by hand.

use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::time::Duration;

use ndarray::{Array3, arr0, array};
use xla_ffi_sys::xla_ffi as sys;

use super::*;
use crate::Code;
use crate::descriptor::{RawHandler, StageHandler};
use crate::state::HostType;

/// A descriptor around an execute handler.
const fn handler(execute: RawHandler, stages: &'static [StageHandler]) -> Handler {
    Handler { name: "op", execute, stages, extra_attrs: true, ..Handler::UNCALLED }
}

/// Answers the metadata query; whether it was one.
unsafe fn answered(frame: *mut sys::XLA_FFI_CallFrame) -> bool {
    // SAFETY: called with a live frame; the only extension is the query.
    unsafe {
        let extension = (*frame).extension_start.cast::<sys::XLA_FFI_Metadata_Extension>();
        let Some(extension) = extension.as_ref() else { return false };
        (*extension.metadata).api_version.major_version = 0;
        (*extension.metadata).api_version.minor_version = 1;
        true
    }
}

unsafe fn arg<'a>(frame: *mut sys::XLA_FFI_CallFrame, index: usize) -> &'a sys::XLA_FFI_Buffer {
    // SAFETY: the tests give as many arguments.
    unsafe { &*(*(*frame).args.args.add(index)).cast() }
}

unsafe fn ret<'a>(frame: *mut sys::XLA_FFI_CallFrame, index: usize) -> &'a sys::XLA_FFI_Buffer {
    // SAFETY: the tests give as many results.
    unsafe { &*(*(*frame).rets.rets.add(index)).cast() }
}

/// Adds 1 to every f32 of argument 0, and leaves the last one unwritten.
unsafe extern "C" fn increment(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    // SAFETY: called with a live frame of one f32 argument and one result of the same shape.
    unsafe {
        if answered(frame) {
            return std::ptr::null_mut();
        }
        assert_eq!((*frame).stage, sys::XLA_FFI_ExecutionStage_EXECUTE);
        let (x, y) = (arg(frame, 0), ret(frame, 0));
        assert_eq!((x.data.addr() % 64, y.data.addr() % 64), (0, 0));
        let dims = if x.rank == 0 { &[] } else { std::slice::from_raw_parts(x.dims, x.rank as usize) };
        for index in 0..dims.iter().product::<i64>() as usize - 1 {
            let value = x.data.cast::<f32>().add(index).read();
            y.data.cast::<f32>().add(index).write(value + 1.0);
        }
    }
    std::ptr::null_mut()
}

static INCREMENT: Handler = handler(increment, &[]);

struct Increment;

impl Op for Increment {
    const NAME: &'static str = "op";
    const HANDLER: &'static Handler = &INCREMENT;
}

#[test]
fn outputs_show_what_was_written_and_what_was_not() {
    for version in HostVersion::ALL {
        let x = array![[1f32, 2.0], [3.0, 4.0]];
        let outputs = call::<Increment>().arg(&x).ret_of::<f32>(&[2, 2]).host(version).run().unwrap();
        let unwritten = f32::from_ne_bytes([0xA5; 4]);
        assert_eq!(outputs.get::<f32>(0), array![[2.0, 3.0], [4.0, unwritten]].into_dyn());
        assert_eq!((outputs.value(0).dims(), outputs.bytes(0).len()), ([2, 2].as_slice(), 16));
    }
}

#[test]
fn aliases_share_memory() {
    let outputs = call::<Increment>().arg([1f32, 2.0, 3.0]).ret(DType::F32, &[3]).alias(0, 0).run().unwrap();
    assert_eq!(outputs.get::<f32>(0), array![2f32, 3.0, 3.0].into_dyn());
    let error = call::<Increment>().arg([1f32, 2.0]).ret(DType::F32, &[3]).alias(0, 0).run().unwrap_err();
    assert!(error.message().contains("argument 0 and result 0 cannot be aliased"), "{error}");
}

#[test]
fn values_have_the_dtype_and_shape_of_what_they_are_made_of() {
    let check = |value: Value, dtype: DType, dims: &[i64], len: usize| {
        assert_eq!((value.dtype(), value.dims(), value.bytes().len()), (dtype, dims, len));
        assert_eq!(value.bytes().as_ptr().addr() % 64, 0);
    };
    check(true.into(), DType::Pred, &[], 1);
    check(arr0(1u16).into(), DType::U16, &[], 2);
    check(vec![1i64, 2].into(), DType::S64, &[2], 16);
    check([half::bf16::ONE; 3].into(), DType::BF16, &[3], 6);
    check(Array3::<f64>::zeros((2, 0, 4)).into(), DType::F64, &[2, 0, 4], 0);
    check(Value::token(), DType::Token, &[], 0);
    check(Value::filled(DType::S4, &[3], 0x11), DType::S4, &[3], 2);
    let transposed = array![[1i32, 2, 3], [4, 5, 6]].reversed_axes();
    assert_eq!(Value::from(&transposed).to_array::<i32>(), transposed.into_dyn());
    assert_eq!(Value::from([true, false]).to_array::<bool>(), array![true, false].into_dyn());
}

#[test]
#[should_panic(expected = "a byte other than 0 and 1")]
fn other_bools_are_not_read() {
    Value::from_bytes(DType::Pred, &[2], &[1, 2]).to_array::<bool>();
}

/// Every stage of `STAGED` that ran, in order.
static TRACE: Mutex<Vec<u32>> = Mutex::new(Vec::new());

unsafe extern "C" fn staged(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    // SAFETY: called with a live frame.
    unsafe {
        if !answered(frame) {
            TRACE.lock().unwrap().push((*frame).stage);
            let buffers = (*frame).args.size + (*frame).rets.size;
            assert_eq!(buffers, if (*frame).stage == 0 { 0 } else { 2 }, "instantiate sees attributes only");
            assert_eq!((*frame).attrs.size, 1);
        }
    }
    std::ptr::null_mut()
}

const fn stage(stage: Stage) -> StageHandler {
    static TYPE: HostType = HostType::private::<()>();
    StageHandler { stage, handler: staged, host_type: || &TYPE, state: std::any::TypeId::of::<()> }
}

static STAGED: Handler = handler(staged, &[stage(Stage::Instantiate), stage(Stage::Prepare), stage(Stage::Initialize)]);

#[test]
fn stages_run_in_order_and_can_be_skipped() {
    let call = || Call::new(&STAGED).attr("k", 1).ret(DType::S8, &[1]);
    let stages = || std::mem::take(&mut *TRACE.lock().unwrap());
    call().arg(1i8).run().unwrap();
    assert_eq!(stages(), [0, 1, 2, 3]);
    call().arg(1i8).cpu_stages().run().unwrap();
    assert_eq!(stages(), [0, 3]);
    let instance = call().skip_stage(Stage::Prepare).instance().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| instance.run([2i8]).unwrap());
        }
    });
    let mut ran = stages();
    ran.sort_unstable();
    assert_eq!(ran, [0, 2, 2, 3, 3]);
}

static OPEN: AtomicPtr<sys::XLA_FFI_Future> = AtomicPtr::new(std::ptr::null_mut());

unsafe extern "C" fn never_done(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    // SAFETY: called with a live frame of the newest host.
    unsafe {
        if !answered(frame) {
            let mut args = sys::XLA_FFI_Future_Create_Args { struct_size: 24, ..Default::default() };
            assert!((*(*frame).api).XLA_FFI_Future_Create.unwrap()(&raw mut args).is_null());
            (*frame).future = args.future;
            OPEN.store(args.future, Ordering::Relaxed);
        }
    }
    std::ptr::null_mut()
}

static NEVER_DONE: Handler = handler(never_done, &[]);

#[test]
fn a_future_that_is_never_completed_times_out() {
    let error = Call::new(&NEVER_DONE).ret(DType::F32, &[1]).timeout(Duration::from_millis(5)).run().unwrap_err();
    assert_eq!(error.code(), Code::DeadlineExceeded);
    let future = OPEN.load(Ordering::Relaxed);
    let mut args = sys::XLA_FFI_Future_SetAvailable_Args { struct_size: 24, future, ..Default::default() };
    // SAFETY: the promise's share is still there, and completed once.
    assert!(unsafe { crate::host::api(5).XLA_FFI_Future_SetAvailable.unwrap()(&raw mut args) }.is_null());
}

/// Asks for user data, threads and scratch memory, and writes what it finds into the s64 result.
unsafe extern "C" fn curious(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    // SAFETY: called with a live frame of the newest host.
    unsafe {
        if answered(frame) {
            return std::ptr::null_mut();
        }
        let (api, ctx, out) = (&*(*frame).api, (*frame).ctx, ret(frame, 0).data.cast::<i64>());
        let mut type_id = sys::XLA_FFI_TypeId { type_id: USER_TYPE.load(Ordering::Relaxed) as i64 };
        let type_id = &raw mut type_id;
        let mut args = sys::XLA_FFI_InvokeContext_Get_Args { struct_size: 40, ctx, type_id, ..Default::default() };
        let error = api.XLA_FFI_InvokeContext_Get.unwrap()(&raw mut args);
        if !error.is_null() {
            return error;
        }
        out.write(args.data.cast::<i64>().read());
        let mut args = sys::XLA_FFI_ThreadPool_NumThreads_Args {
            struct_size: 32,
            ctx,
            num_threads: out.add(1),
            ..Default::default()
        };
        let error = api.XLA_FFI_ThreadPool_NumThreads.unwrap()(&raw mut args);
        if !error.is_null() {
            return error;
        }
        let mut args = sys::XLA_FFI_DeviceMemory_Allocate_Args {
            struct_size: 48,
            ctx,
            size: 128,
            alignment: 16,
            ..Default::default()
        };
        let error = api.XLA_FFI_DeviceMemory_Allocate.unwrap()(&raw mut args);
        if !error.is_null() {
            return error;
        }
        out.add(2).write(i64::from(!args.data.is_null()));
    }
    std::ptr::null_mut()
}

static CURIOUS: Handler = handler(curious, &[]);
static USER_TYPE: AtomicUsize = AtomicUsize::new(0);

#[test]
fn contexts_are_what_the_test_says() {
    let id = crate::host::register_type(HostVersion::V0_12, "testing::tests::UserType", 0, None).unwrap();
    USER_TYPE.store(id as usize, Ordering::Relaxed);
    let call = || Call::new(&CURIOUS).ret_of::<i64>(&[3]).user_data_as(move |_| Ok(id), Arc::new(99i64));
    let outputs = call().threads(3).scratch(128).run().unwrap();
    assert_eq!(outputs.get::<i64>(0), array![99i64, 3, 1].into_dyn());
    assert_eq!(call().threads(3).scratch(127).run().unwrap_err().code(), Code::ResourceExhausted);
    assert_eq!(call().threads(0).run().unwrap_err().code(), Code::Unimplemented);
    assert_eq!(Call::new(&CURIOUS).ret_of::<i64>(&[3]).run().unwrap_err().code(), Code::NotFound);
}
