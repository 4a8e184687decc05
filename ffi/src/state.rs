//! States that stages leave for later ones: typed, owned by the host, dropped exactly once.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

use xla_ffi_sys::xla_ffi as sys;

use crate::api::HostApi;
use crate::descriptor::Stage;
use crate::sync::Mutex;
use crate::{Error, Result, panics};

/// A type that can be a state: any that may be shared between threads, since a program may run on several at once.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the state of a custom call",
    label = "not `Send + Sync + 'static`",
    note = "a state is shared by all executions, which may run at the same time: use atomics, or a Mutex"
)]
pub trait State: Send + Sync + 'static {}

impl<S: Send + Sync + 'static> State for S {}

/// How many hosts one process may hold (jaxlib, another jaxlib, our plugin, ...) before type ids are looked up slowly.
const HOSTS: usize = 8;

/// The ids under which one type is registered, one for each host in the process. One static per type.
pub struct HostType {
    name: Name,
    info: sys::XLA_FFI_TypeInfo,
    ids: [HostId; HOSTS],
    register: Mutex<()>,
}

/// The registration of a type on one host.
struct HostId {
    /// The host's identity, 0 where the entry is free.
    host: AtomicUsize,
    id: AtomicI64,
    /// Whether a stage has given the host a state of the type.
    given: AtomicBool,
}

// SAFETY: the type info is constant; its null extension pointer is what keeps this from being automatic.
unsafe impl Sync for HostType {}

/// How a type is called on hosts.
#[derive(Clone, Copy)]
enum Name {
    /// By a name that is unique to this library, made from the Rust type's.
    Private(fn() -> &'static str),
    /// By a name that other programs know.
    Public(&'static str),
}

impl HostType {
    /// The registration of a state type, private to this library.
    pub const fn private<S: State>() -> HostType {
        HostType::new::<S>(Name::Private(std::any::type_name::<S>))
    }

    /// The registration of a type under a name that whoever sets user data knows.
    pub const fn public<S: State>(name: &'static str) -> HostType {
        HostType::new::<S>(Name::Public(name))
    }

    const fn new<S: State>(name: Name) -> HostType {
        HostType {
            name,
            info: sys::XLA_FFI_TypeInfo {
                struct_size: sys::XLA_FFI_TypeInfo_STRUCT_SIZE as usize,
                extension_start: std::ptr::null_mut(),
                deleter: Some(delete::<S>),
            },
            ids: [const { HostId { host: AtomicUsize::new(0), id: AtomicI64::new(0), given: AtomicBool::new(false) } };
                HOSTS],
            register: Mutex::new(()),
        }
    }

    /// The id on a host, registered there if it is not yet.
    pub(crate) fn id(&'static self, api: HostApi<'_>) -> Result<sys::XLA_FFI_TypeId> {
        let host = api.identity();
        if let Some(known) = self.known(host) {
            return Ok(sys::XLA_FFI_TypeId { type_id: known.id.load(Ordering::Relaxed) });
        }
        let _guard = self.register.lock();
        if let Some(known) = self.known(host) {
            return Ok(sys::XLA_FFI_TypeId { type_id: known.id.load(Ordering::Relaxed) });
        }
        let mut id = sys::XLA_FFI_TypeId { type_id: 0 };
        let name = match self.name {
            // Names must be unique on a host, and another library may hold a type of the same name.
            Name::Private(name) => format!("oxcall:{}@{:x}", name(), std::ptr::from_ref(self).addr()),
            Name::Public(name) => name.to_owned(),
        };
        // SAFETY: the info is static; its deleter is that of the type.
        unsafe { api.register_type(&name, &mut id, &self.info)? };
        let Some(free) = self.ids.iter().find(|known| known.host.load(Ordering::Relaxed) == 0) else {
            return Err(Error::resource_exhausted(format!("more than {HOSTS} XLA hosts in one process")));
        };
        free.id.store(id.type_id, Ordering::Relaxed);
        free.host.store(host, Ordering::Release);
        Ok(id)
    }

    #[inline]
    fn known(&self, host: usize) -> Option<&HostId> {
        self.ids.iter().find(|known| known.host.load(Ordering::Acquire) == host)
    }

    /// Gives a stage's state to the host.
    pub(crate) fn set<S: State>(
        &'static self,
        api: HostApi<'_>,
        ctx: *mut sys::XLA_FFI_InvokeContext,
        stage: Stage,
        state: S,
    ) -> Result<()> {
        let mut id = self.id(api)?;
        if let Some(known) = self.known(api.identity()) {
            known.given.store(true, Ordering::Release);
        }
        let state = Box::into_raw(Box::new(state));
        // SAFETY: the state is an `S`, which `delete::<S>` destroys.
        unsafe { api.set_state(ctx, stage, &mut id, state.cast(), delete::<S>) }.inspect_err(|_| {
            // SAFETY: the host refused it, so it is still ours.
            unsafe { delete::<S>(state.cast()) };
        })
    }

    /// The state that a stage left.
    ///
    /// # Safety
    /// The context is live during `'f`, and this is the registration of `S`.
    #[inline]
    pub(crate) unsafe fn get<'f, S: State>(
        &'static self,
        api: HostApi<'f>,
        ctx: *mut sys::XLA_FFI_InvokeContext,
        stage: Stage,
    ) -> Result<&'f S> {
        let absent = |reason: &str| {
            let note = match stage {
                Stage::Instantiate => "the host did not run the instantiate stage",
                _ => "XLA:CPU runs only the instantiate and execute stages",
            };
            Error::failed_precondition(format!(
                "there is no state of type {} from the {} stage ({note}){reason}",
                std::any::type_name::<S>(),
                stage.name()
            ))
        };
        let mut id = self.id(api)?;
        // Of these stages XLA:CPU (jaxlib 0.10.2) has no states at all, and reads through a null pointer when asked.
        if matches!(stage, Stage::Prepare | Stage::Initialize)
            && !self.known(api.identity()).is_some_and(|known| known.given.load(Ordering::Acquire))
        {
            return Err(absent(""));
        }
        let state = match api.state(ctx, stage, &mut id) {
            Ok(state) => state.cast::<S>(),
            Err(error) => return Err(absent(&format!("; the host says: {error}"))),
        };
        // SAFETY: non-null is what `set` stored under this type's id; the host keeps it while the context lives.
        unsafe { state.as_ref() }.ok_or_else(|| absent(""))
    }
}

/// Destroys a state; a panic in its drop is reported on stderr, since no caller can receive it.
///
/// # Safety
/// `state` is a `Box<S>` turned into a pointer, not used again.
unsafe extern "C" fn delete<S>(state: *mut c_void) {
    if state.is_null() {
        return;
    }
    // SAFETY: as the caller guarantees.
    let state = unsafe { Box::from_raw(state.cast::<S>()) };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(state))) {
        panics::tell(format_args!("{} in the drop of state {}", panics::describe(payload), std::any::type_name::<S>()));
    }
}
