use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use xla_ffi_sys::{v0_1, v0_2};

use super::*;
use crate::{Code, Error};

static DROPPED: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn delete(state: *mut c_void) {
    // SAFETY: made by `Box::into_raw` in `set`.
    drop(unsafe { Box::from_raw(state.cast::<i64>()) });
    DROPPED.fetch_add(1, Ordering::Relaxed);
}

/// Registers a type as a library does that was built for API `minor`.
fn register(api: &'static sys::XLA_FFI_Api, minor: i32, name: &str) -> Result<i64> {
    let info = sys::XLA_FFI_TypeInfo { struct_size: 24, deleter: Some(delete), ..Default::default() };
    let mut id = sys::XLA_FFI_TypeId { type_id: 0 };
    let name = sys::XLA_FFI_ByteSpan { ptr: name.as_ptr().cast(), len: name.len() };
    let mut args =
        sys::XLA_FFI_Type_Register_Args { struct_size: 40, name, type_id: &raw mut id, ..Default::default() };
    if minor >= 2 {
        args.type_info = &raw const info;
    }
    invoke(slot(api, 5), &mut args)?;
    Ok(id.type_id)
}

/// Sets a state of value `value`, with the args of API `minor`.
unsafe fn set(frame: *mut sys::XLA_FFI_CallFrame, minor: i32, id: i64, value: i64) -> Result<()> {
    // SAFETY: called with a live frame.
    let (api, ctx, stage) = unsafe { (api_of(frame).0, (*frame).ctx, (*frame).stage) };
    let mut id = sys::XLA_FFI_TypeId { type_id: id };
    let (type_id, state) = (&raw mut id, Box::into_raw(Box::new(value)).cast::<c_void>());
    let (extension_start, set) = (std::ptr::null_mut(), slot(api, 7));
    let result = match minor {
        ..=1 => {
            let deleter = Some(delete as unsafe extern "C" fn(*mut c_void));
            invoke(
                set,
                &mut v0_1::XLA_FFI_State_Set_Args { struct_size: 48, extension_start, ctx, type_id, state, deleter },
            )
        }
        2 => invoke(set, &mut v0_2::XLA_FFI_State_Set_Args { struct_size: 40, extension_start, ctx, type_id, state }),
        _ => invoke(
            set,
            &mut sys::XLA_FFI_State_Set_Args { struct_size: 48, extension_start, ctx, stage, type_id, state },
        ),
    };
    if result.is_err() {
        // SAFETY: the host did not take it.
        drop(unsafe { Box::from_raw(state.cast::<i64>()) });
    }
    result
}

/// The value of the state of `stage`, with the args of API `minor`.
unsafe fn get(frame: *mut sys::XLA_FFI_CallFrame, minor: i32, stage: Stage, id: i64) -> Result<i64> {
    // SAFETY: called with a live frame.
    let (api, ctx) = unsafe { (api_of(frame).0, (*frame).ctx) };
    let mut id = sys::XLA_FFI_TypeId { type_id: id };
    let (type_id, state, extension_start) = (&raw mut id, std::ptr::null_mut(), std::ptr::null_mut());
    let state = if minor <= 2 {
        let mut args = v0_1::XLA_FFI_State_Get_Args { struct_size: 40, extension_start, ctx, type_id, state };
        invoke(slot(api, 8), &mut args)?;
        args.state
    } else {
        let stage = stage as u32;
        let mut args = sys::XLA_FFI_State_Get_Args { struct_size: 48, extension_start, ctx, stage, type_id, state };
        invoke(slot(api, 8), &mut args)?;
        args.state
    };
    // SAFETY: set by `set`, alive as long as the context.
    Ok(unsafe { *state.cast::<i64>() })
}

/// Ids by host version; tests of one version must agree on them.
static IDS: [AtomicI64; 7] = [const { AtomicI64::new(0) }; 7];

fn id_for(version: HostVersion) -> i64 {
    static ONCE: [std::sync::Once; 7] = [const { std::sync::Once::new() }; 7];
    ONCE[version as usize].call_once(|| {
        let id = register(version.api(), version.minor(), &format!("host::tests::{version:?}")).unwrap();
        IDS[version as usize].store(id, Ordering::Relaxed);
    });
    IDS[version as usize].load(Ordering::Relaxed)
}

/// The version whose table a frame carries.
unsafe fn version_of(frame: *mut sys::XLA_FFI_CallFrame) -> HostVersion {
    // SAFETY: called with a live frame.
    let api = unsafe { api_of(frame) }.0;
    HostVersion::ALL.into_iter().find(|version| std::ptr::eq(version.api(), api)).unwrap()
}

unsafe extern "C" fn stateful(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    // SAFETY: called with a live frame.
    let result = unsafe {
        let version = version_of(frame);
        let (minor, id) = (version.minor(), id_for(version));
        match (*frame).stage {
            sys::XLA_FFI_ExecutionStage_EXECUTE => get(frame, minor, Stage::Instantiate, id).and_then(|value| {
                if value == 10 { Ok(()) } else { Err(Error::internal(format!("the state is {value}"))) }
            }),
            stage => set(frame, minor, id, 10 + i64::from(stage)),
        }
    };
    result.err().map_or(std::ptr::null_mut(), fail)
}

#[test]
fn states_are_set_once_lent_and_dropped_once() {
    // The counter is shared with the other test of this file, so both run here.
    for version in HostVersion::ALL {
        let before = DROPPED.load(Ordering::Relaxed);
        let state = std::sync::Arc::new(StageState::new());
        let context = || InvokeContext::builder().version(version).state(Stage::Instantiate, state.clone()).build();
        let early = run(stateful, &context(), Stage::Execute).unwrap_err();
        assert_eq!((early.code(), early.message()), (Code::NotFound, "State is not set"), "{version:?}");
        assert!(run(stateful, &context(), Stage::Instantiate).unwrap().is_none());
        assert!(state.is_set());
        let again = run(stateful, &context(), Stage::Instantiate).unwrap_err();
        assert_eq!(again.code(), Code::FailedPrecondition);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..3).for_each(|_| drop(run(stateful, &context(), Stage::Execute).unwrap())));
            }
        });
        assert_eq!(DROPPED.load(Ordering::Relaxed), before, "{version:?}: dropped while shared");
        drop(state);
        assert_eq!(DROPPED.load(Ordering::Relaxed), before + 1, "{version:?}");
    }
    stages_have_states_of_their_own();
    args_of_api_0_2_are_taken_by_later_hosts();
}

fn stages_have_states_of_their_own() {
    for version in [HostVersion::V0_9_2, HostVersion::V0_11_1, HostVersion::V0_12] {
        let before = DROPPED.load(Ordering::Relaxed);
        let context = InvokeContext::builder().version(version).build();
        for stage in [Stage::Instantiate, Stage::Prepare, Stage::Initialize] {
            run(stateful, &context, stage).unwrap();
        }
        run(stateful, &context, Stage::Execute).unwrap();
        drop(context);
        assert_eq!(DROPPED.load(Ordering::Relaxed), before + 3);
    }
}

unsafe extern "C" fn of_api_0_2(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    // SAFETY: called with a live frame.
    let result = unsafe {
        let id = id_for(version_of(frame));
        if (*frame).stage == sys::XLA_FFI_ExecutionStage_EXECUTE {
            get(frame, 2, Stage::Instantiate, id).map(|value| assert_eq!(value, 7))
        } else {
            set(frame, 2, id, 7)
        }
    };
    result.err().map_or(std::ptr::null_mut(), fail)
}

fn args_of_api_0_2_are_taken_by_later_hosts() {
    for version in [HostVersion::V0_11_1, HostVersion::V0_12] {
        let context = InvokeContext::builder().version(version).build();
        run(of_api_0_2, &context, Stage::Instantiate).unwrap();
        run(of_api_0_2, &context, Stage::Execute).unwrap();
    }
    let context = InvokeContext::builder().version(HostVersion::V0_9_2).build();
    let error = run(of_api_0_2, &context, Stage::Instantiate).unwrap_err();
    assert!(error.message().contains("XLA_FFI_State_Set_Args size: expected 48, got 40"), "{error}");
}

#[test]
fn types_are_registered_once_by_a_host_and_keep_their_id_in_another() {
    let first = register(api(5), 5, "host::tests::Shared").unwrap();
    assert!(first > 0);
    let again = register(api(5), 5, "host::tests::Shared").unwrap_err();
    assert_eq!(again.code(), Code::AlreadyExists);
    assert_eq!(register(api(1), 1, "host::tests::Shared").unwrap(), first);
    assert_ne!(register(api(5), 5, "host::tests::Other").unwrap(), first);
    assert_eq!(register_type(HostVersion::V0_12, "host::tests::Shared", first, None).unwrap(), first);
    assert!(register_type(HostVersion::V0_12, "host::tests::Third", first, None).is_err());
}

#[test]
fn a_type_without_a_deleter_has_no_states_after_api_0_1() {
    let id = register_type(HostVersion::V0_8_1, "host::tests::Bare", 0, None).unwrap();
    let error = types::deleter(id).unwrap_err();
    assert!(error.message().contains("does not have a registered type info with a deleter"), "{error}");
    assert!(types::deleter(i64::MAX).unwrap_err().message().contains("is not registered"));
}
