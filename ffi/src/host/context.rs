//! The context of a call: what a handler may ask its host for.

use std::any::Any;
use std::collections::HashMap;
use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

use xla_ffi_sys::xla_ffi as sys;

use super::arena::Arena;
use super::attrs::write_attrs;
use super::memory::Scratch;
use super::slot::{context, slot};
use super::{AttrValue, HostVersion, ScratchAllocator, StageState, TaskPool};
use crate::descriptor::Stage;
use crate::{Error, Result};

/// The object behind the `ctx` of a call frame. Made by [`InvokeContext::builder`].
///
/// A context serves one execution at a time: its scratch memory is freed, and its states are given up, when it is
/// dropped or [renewed](InvokeContext::renew).
pub struct InvokeContext {
    version: HostVersion,
    run_id: Option<i64>,
    device_ordinal: Option<i32>,
    stream: Option<*mut c_void>,
    pool: Option<Arc<dyn TaskPool>>,
    scratch: Option<Scratch>,
    user_data: HashMap<i64, UserData>,
    options: Options,
    extensions: Vec<*const sys::XLA_FFI_Extension>,
    /// Of instantiate, prepare and initialize.
    states: [Arc<StageState>; 3],
}

/// An address, and what keeps it alive.
struct UserData {
    data: *mut c_void,
    _owner: Option<Arc<dyn Any + Send + Sync>>,
}

/// Custom options in the C layout.
struct Options {
    attrs: sys::XLA_FFI_Attrs,
    _arena: Arena,
}

impl Options {
    fn new(entries: &[(String, AttrValue)]) -> Options {
        let mut arena = Arena::default();
        Options { attrs: write_attrs(&mut arena, entries, true), _arena: arena }
    }
}

// SAFETY: the pointers are the stream, extensions and user data, which the builder's caller allows on any thread, and
// those into the arena, which is never changed.
unsafe impl Send for InvokeContext {}
// SAFETY: as above; all that changes is behind locks.
unsafe impl Sync for InvokeContext {}

impl InvokeContext {
    /// A context of the newest host, without stream, threads, scratch memory, user data, options and extensions; run
    /// id and device ordinal are 0.
    pub fn builder() -> InvokeContextBuilder {
        InvokeContextBuilder(InvokeContext {
            version: HostVersion::default(),
            run_id: Some(0),
            device_ordinal: Some(0),
            stream: None,
            pool: None,
            scratch: None,
            user_data: HashMap::new(),
            options: Options::new(&[]),
            extensions: Vec::new(),
            states: Default::default(),
        })
    }

    /// The host that the context belongs to.
    pub fn version(&self) -> HostVersion {
        self.version
    }

    /// The state that `stage` leaves; hosts before API 0.3 have only that of [`Stage::Instantiate`].
    ///
    /// # Panics
    /// For [`Stage::Execute`], which has no state.
    pub fn state(&self, stage: Stage) -> &Arc<StageState> {
        &self.states[stage as usize]
    }

    /// Makes the context ready for another execution: scratch memory is freed, and the states of prepare and
    /// initialize are given up.
    pub fn renew(&mut self, run_id: i64) {
        self.run_id = Some(run_id);
        if let Some(scratch) = &mut self.scratch {
            scratch.clear();
        }
        for stage in [Stage::Prepare, Stage::Initialize] {
            let state = &mut self.states[stage as usize];
            if state.is_set() {
                *state = Arc::default();
            }
        }
    }

    /// The pointer for a call frame. Handlers only read through it: what changes is behind locks.
    pub(crate) fn as_raw(&self) -> *mut sys::XLA_FFI_InvokeContext {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    pub(super) fn pool(&self) -> Result<&dyn TaskPool> {
        self.pool.as_deref().ok_or_else(|| Error::unimplemented("No intra-op thread pool available on this platform"))
    }

    pub(super) fn scratch(&self) -> Result<&Scratch> {
        self.scratch
            .as_ref()
            .ok_or_else(|| Error::unimplemented("No device memory allocator available on this platform"))
    }
}

impl fmt::Debug for InvokeContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InvokeContext")
            .field("version", &self.version)
            .field("run_id", &self.run_id)
            .field("device_ordinal", &self.device_ordinal)
            .field("states", &self.states)
            .finish_non_exhaustive()
    }
}

/// Collects what an [`InvokeContext`] offers.
#[derive(Debug)]
pub struct InvokeContextBuilder(InvokeContext);

impl InvokeContextBuilder {
    /// The host to be; the newest unless given.
    pub fn version(mut self, version: HostVersion) -> Self {
        self.0.version = version;
        self
    }

    /// The id of the execution.
    pub fn run_id(mut self, run_id: i64) -> Self {
        self.0.run_id = Some(run_id);
        self
    }

    /// The number of the device.
    pub fn device_ordinal(mut self, ordinal: i32) -> Self {
        self.0.device_ordinal = Some(ordinal);
        self
    }

    /// Neither run id nor device ordinal: queries get an error.
    pub(crate) fn anonymous(mut self) -> Self {
        (self.0.run_id, self.0.device_ordinal) = (None, None);
        self
    }

    /// The platform's stream, a `cudaStream_t` for instance. It must outlive the calls, and be usable on any thread.
    pub fn stream(mut self, stream: *mut c_void) -> Self {
        self.0.stream = Some(stream);
        self
    }

    /// The threads that handlers may use.
    pub fn pool(mut self, pool: Arc<dyn TaskPool>) -> Self {
        self.0.pool = Some(pool);
        self
    }

    /// The source of scratch memory.
    pub fn scratch(mut self, allocator: Arc<dyn ScratchAllocator>) -> Self {
        self.0.scratch = Some(Scratch::new(allocator));
        self
    }

    /// User data of a [registered](super::register_type) type. It must outlive the calls, and be usable on any thread.
    pub fn user_data(mut self, type_id: i64, data: *mut c_void) -> Self {
        self.0.user_data.insert(type_id, UserData { data, _owner: None });
        self
    }

    /// User data of a [registered](super::register_type) type, kept alive by the context.
    pub fn shared_user_data(mut self, type_id: i64, data: Arc<dyn Any + Send + Sync>) -> Self {
        let address = Arc::as_ptr(&data).cast_mut().cast();
        self.0.user_data.insert(type_id, UserData { data: address, _owner: Some(data) });
        self
    }

    /// The execution's custom options (API 0.5).
    pub fn custom_options(mut self, options: &[(String, AttrValue)]) -> Self {
        self.0.options = Options::new(options);
        self
    }

    /// An extension (API 0.4). It must outlive the calls, and be usable on any thread.
    ///
    /// # Safety
    /// `extension` points to a valid struct.
    pub unsafe fn extension(mut self, extension: *const sys::XLA_FFI_Extension) -> Self {
        self.0.extensions.push(extension);
        self
    }

    /// The state of `stage`, to share that of instantiate among executions.
    ///
    /// # Panics
    /// For [`Stage::Execute`], which has no state.
    pub fn state(mut self, stage: Stage, state: Arc<StageState>) -> Self {
        self.0.states[stage as usize] = state;
        self
    }

    /// The context.
    pub fn build(self) -> InvokeContext {
        self.0
    }
}

slot! {
    /// `XLA_FFI_Stream_Get`.
    pub(super) fn stream_get(
        args: sys::XLA_FFI_Stream_Get_Args,
        "XLA_FFI_Stream_Get",
        sys::XLA_FFI_Stream_Get_Args_STRUCT_SIZE
    ) {
        let stream = context((*args).ctx)?.stream;
        (*args).stream = stream.ok_or_else(|| Error::unimplemented("XLA FFI GPU context is not available"))?;
        Ok(())
    }
}

/// XLA always knows these; the legacy API passes neither on.
fn unknown(what: &str) -> Error {
    Error::unimplemented(format!("The {what} is not known in calls through the legacy custom call API"))
}

slot! {
    /// `XLA_FFI_RunId_Get`.
    pub(super) fn run_id_get(
        args: sys::XLA_FFI_RunId_Get_Args,
        "XLA_FFI_RunId_Get",
        sys::XLA_FFI_RunId_Get_Args_STRUCT_SIZE
    ) {
        (*args).run_id = context((*args).ctx)?.run_id.ok_or_else(|| unknown("run id"))?;
        Ok(())
    }
}

slot! {
    /// `XLA_FFI_DeviceOrdinal_Get`.
    pub(super) fn device_ordinal_get(
        args: sys::XLA_FFI_DeviceOrdinal_Get_Args,
        "XLA_FFI_DeviceOrdinal_Get",
        sys::XLA_FFI_DeviceOrdinal_Get_Args_STRUCT_SIZE
    ) {
        let ordinal = context((*args).ctx)?.device_ordinal;
        (*args).device_ordinal = ordinal.ok_or_else(|| unknown("device ordinal"))?;
        Ok(())
    }
}

slot! {
    /// `XLA_FFI_InvokeContext_Get`: user data by type id.
    pub(super) fn user_data_get(
        args: sys::XLA_FFI_InvokeContext_Get_Args,
        "XLA_FFI_InvokeContext_Get_Args",
        sys::XLA_FFI_InvokeContext_Get_Args_STRUCT_SIZE
    ) {
        let id = (*args).type_id.as_ref().ok_or_else(|| Error::invalid_argument("type_id is null"))?.type_id;
        let known = context((*args).ctx)?.user_data.get(&id);
        let missing = || Error::not_found(format!("User data with type id {id} not found in execution context"));
        (*args).data = known.ok_or_else(missing)?.data;
        Ok(())
    }
}

slot! {
    /// `XLA_FFI_InvokeContext_FindExtension`: null if there is none.
    pub(super) fn find_extension(
        args: sys::XLA_FFI_InvokeContext_FindExtension_Args,
        "XLA_FFI_InvokeContext_FindExtension",
        sys::XLA_FFI_InvokeContext_FindExtension_Args_STRUCT_SIZE
    ) {
        let wanted = (*args).extension_type;
        let mut extensions = context((*args).ctx)?.extensions.iter();
        let found = extensions.find(|extension| (***extension).id.extension_type == wanted);
        (*args).extension = found.copied().unwrap_or(std::ptr::null());
        Ok(())
    }
}

slot! {
    /// `XLA_FFI_CustomOptions_Get`: an empty dictionary if there are none.
    pub(super) fn custom_options_get(
        args: sys::XLA_FFI_CustomOptions_Get_Args,
        "XLA_FFI_CustomOptions_Get_Args",
        sys::XLA_FFI_CustomOptions_Get_Args_STRUCT_SIZE
    ) {
        (*args).attrs = &raw const context((*args).ctx)?.options.attrs;
        Ok(())
    }
}
