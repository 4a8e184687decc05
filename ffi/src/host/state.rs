//! The states that stages leave for later ones.

use std::ffi::c_void;
use std::fmt;

use xla_ffi_sys::{v0_1, v0_2, xla_ffi as sys};

use super::slot::{context, slot};
use super::types::{Deleter, deleter};
use crate::descriptor::Stage;
use crate::sync::Mutex;
use crate::{Error, Result};

/// The state of one stage: set once by the handler, then lent to later stages, and deleted with this object.
///
/// Instantiate's state belongs to an executable and serves many calls at once; the others belong to one call.
#[derive(Default)]
pub struct StageState(Mutex<Option<Owned>>);

struct Owned {
    type_id: i64,
    state: *mut c_void,
    deleter: Deleter,
}

// SAFETY: XLA shares states between threads and deletes them on any; a handler that sets one agrees to that.
unsafe impl Send for Owned {}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the deleter of the state's type, called once, when no handler uses the state.
        unsafe { (self.deleter)(self.state) }
    }
}

impl StageState {
    /// A state that is not set yet.
    pub fn new() -> StageState {
        StageState::default()
    }

    /// Whether a handler has set it.
    pub fn is_set(&self) -> bool {
        self.0.lock().is_some()
    }

    fn set(&self, type_id: i64, state: *mut c_void, deleter: Deleter) -> Result<()> {
        if state.is_null() {
            return Err(Error::invalid_argument("State must be not null"));
        }
        let mut slot = self.0.lock();
        if let Some(owned) = &*slot {
            let known = owned.type_id;
            return Err(Error::failed_precondition(format!("State is already set with a type id {known}")));
        }
        *slot = Some(Owned { type_id, state, deleter });
        Ok(())
    }

    fn get(&self, type_id: i64) -> Result<*mut c_void> {
        match &*self.0.lock() {
            None => Err(Error::not_found("State is not set")),
            Some(owned) if owned.type_id == type_id => Ok(owned.state),
            Some(owned) => Err(Error::invalid_argument(format!(
                "Set state type id {} does not match the requested one {type_id}",
                owned.type_id
            ))),
        }
    }
}

impl fmt::Debug for StageState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StageState").field("is_set", &self.is_set()).finish()
    }
}

/// The stage of a C code, if it can have a state.
fn stage(code: sys::XLA_FFI_ExecutionStage) -> Result<Stage> {
    [Stage::Instantiate, Stage::Prepare, Stage::Initialize]
        .into_iter()
        .find(|&stage| stage as u32 == code)
        .ok_or_else(|| Error::invalid_argument(format!("execution stage {code} does not have a state")))
}

/// # Safety
/// `type_id` is null or valid.
unsafe fn id(type_id: *const sys::XLA_FFI_TypeId) -> Result<i64> {
    // SAFETY: by the contract above.
    unsafe { type_id.as_ref() }.map(|id| id.type_id).ok_or_else(|| Error::invalid_argument("type_id is null"))
}

/// Before API 0.3 there is one state, which instantiate sets.
const ONLY: Stage = Stage::Instantiate;

/// Size of the args of API 0.2, and of `State_Get` in API 0.1: no stage, no deleter.
const STAGELESS_SIZE: usize = size_of::<v0_2::XLA_FFI_State_Set_Args>();

slot! {
    /// `XLA_FFI_State_Set` of API 0.1: the deleter comes with the state.
    pub(super) fn set_with_deleter(
        args: v0_1::XLA_FFI_State_Set_Args,
        "XLA_FFI_State_Set_Args",
        size_of::<v0_1::XLA_FFI_State_Set_Args>()
    ) {
        let deleter = (*args).deleter.ok_or_else(|| Error::invalid_argument("the deleter is null"))?;
        context((*args).ctx)?.state(ONLY).set(id((*args).type_id)?, (*args).state, deleter)
    }
}

slot! {
    /// `XLA_FFI_State_Set` of API 0.2: the deleter is that of the registered type.
    pub(super) fn set_stageless(args: v0_2::XLA_FFI_State_Set_Args, "XLA_FFI_State_Set_Args", STAGELESS_SIZE) {
        let id = id((*args).type_id)?;
        context((*args).ctx)?.state(ONLY).set(id, (*args).state, deleter(id)?)
    }
}

slot! {
    /// `XLA_FFI_State_Get` of API 0.1 and 0.2, whose args have the layout of `State_Set` in API 0.2.
    pub(super) fn get_stageless(args: v0_2::XLA_FFI_State_Set_Args, "XLA_FFI_State_Get_Args", STAGELESS_SIZE) {
        (*args).state = context((*args).ctx)?.state(ONLY).get(id((*args).type_id)?)?;
        Ok(())
    }
}

slot! {
    /// `XLA_FFI_State_Set` of API 0.3: with the stage.
    pub(super) fn set(
        args: sys::XLA_FFI_State_Set_Args,
        "XLA_FFI_State_Set_Args",
        sys::XLA_FFI_State_Set_Args_STRUCT_SIZE
    ) {
        let id = id((*args).type_id)?;
        context((*args).ctx)?.state(stage((*args).stage)?).set(id, (*args).state, deleter(id)?)
    }
}

slot! {
    /// `XLA_FFI_State_Get` of API 0.3: with the stage.
    pub(super) fn get(
        args: sys::XLA_FFI_State_Get_Args,
        "XLA_FFI_State_Get_Args",
        sys::XLA_FFI_State_Get_Args_STRUCT_SIZE
    ) {
        (*args).state = context((*args).ctx)?.state(stage((*args).stage)?).get(id((*args).type_id)?)?;
        Ok(())
    }
}

/// `XLA_FFI_State_Set` of API 0.4 and later, which tells args of API 0.2 by their size.
///
/// # Safety
/// `args` is null or points to an args struct that begins with its size.
pub(super) unsafe extern "C" fn set_any(args: *mut sys::XLA_FFI_State_Set_Args) -> *mut sys::XLA_FFI_Error {
    // SAFETY: passed on from the caller; the size says which struct it is.
    unsafe { if is_stageless(args.cast()) { set_stageless(args.cast()) } else { set(args) } }
}

/// `XLA_FFI_State_Get` of API 0.4 and later, which tells args of API 0.2 by their size.
///
/// # Safety
/// As for [`set_any`].
pub(super) unsafe extern "C" fn get_any(args: *mut sys::XLA_FFI_State_Get_Args) -> *mut sys::XLA_FFI_Error {
    // SAFETY: passed on from the caller; the size says which struct it is.
    unsafe { if is_stageless(args.cast()) { get_stageless(args.cast()) } else { get(args) } }
}

/// # Safety
/// `args` is null or points to a struct that begins with its size.
unsafe fn is_stageless(args: *const usize) -> bool {
    // SAFETY: by the contract above.
    unsafe { args.as_ref() }.is_some_and(|&size| size == STAGELESS_SIZE)
}
