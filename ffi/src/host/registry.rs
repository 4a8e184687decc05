//! The handlers that are registered with hosts of this process.

use std::collections::BTreeMap;

use xla_ffi_sys::xla_ffi as sys;

use super::slot::{slot, text};
use super::{HostVersion, metadata};
use crate::descriptor::{RawHandler, Recorded};
use crate::sync::Mutex;
use crate::{Error, Result};

/// Where a handler comes from. Several sources may have a handler of one name: that of the first one is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// It is linked into the host.
    Linked,
    /// A library registered it through the host's API table.
    Library,
    /// The host's client gave its address.
    Client,
}

/// A registered handler.
#[derive(Clone, Copy, Debug)]
pub struct Registration {
    /// Where it comes from.
    pub source: Source,
    /// The execute handler.
    pub execute: RawHandler,
    /// The handler of the instantiate stage.
    pub instantiate: Option<RawHandler>,
    /// The handler of the prepare stage.
    pub prepare: Option<RawHandler>,
    /// The handler of the initialize stage.
    pub initialize: Option<RawHandler>,
    /// The handler that records into a command buffer (API 0.4).
    pub record: Option<RawHandler>,
    /// `XLA_FFI_Handler_Traits` of the registration and of the handler's metadata together.
    pub traits: sys::XLA_FFI_Handler_Traits,
    /// The minor version of the API that the handler reported; the major one is 0.
    pub minor: i32,
    /// Whether it tells its expression, which [`trace`](super::trace) asks for.
    pub recorded: Recorded,
}

impl Registration {
    fn addresses(&self) -> [usize; 5] {
        let address = |handler: Option<RawHandler>| handler.map_or(0, |handler| handler as usize);
        [
            self.execute as usize,
            address(self.instantiate),
            address(self.prepare),
            address(self.initialize),
            address(self.record),
        ]
    }
}

type Registry = BTreeMap<(String, String, Source), Registration>;

static REGISTRY: Mutex<Registry> = Mutex::new(BTreeMap::new());

/// The platform's name as XLA compares it: lower case, and `cpu` is `host`.
pub(super) fn canonical(platform: &str) -> String {
    let platform = platform.to_ascii_lowercase();
    if platform == "cpu" { "host".to_owned() } else { platform }
}

/// Registers a handler under a target name and a platform (compared without case), as the host `version` does.
///
/// The handlers are asked for their metadata. Registering the same functions again changes nothing.
///
/// # Errors
/// `INVALID_ARGUMENT` without an execute handler or for a version of the API that the host does not support;
/// `ALREADY_EXISTS` when other functions or traits of this source have the name.
///
/// # Safety
/// The functions are handlers: they obey the contract of the XLA FFI.
pub unsafe fn register_handler(
    version: HostVersion,
    source: Source,
    name: &str,
    platform: &str,
    bundle: &sys::XLA_FFI_Handler_Bundle,
    traits: sys::XLA_FFI_Handler_Traits,
) -> Result<()> {
    let execute = bundle.execute.ok_or_else(|| {
        Error::invalid_argument(format!(
            "FFI handler for {name} on a platform {platform} must provide an execute implementation"
        ))
    })?;
    // The lock is not held meanwhile: a handler may register others while it is asked.
    let asked = |handler: RawHandler| {
        // SAFETY: the caller vouches for the functions.
        let metadata = unsafe { metadata(handler, version) }?;
        check_version(version, metadata.version)?;
        Ok(metadata)
    };
    let failed =
        |error: Error| error.context(format!("XLA FFI handler registration for {name} on platform {platform} failed"));
    let metadata = asked(execute).map_err(failed)?;
    if let Some(instantiate) = bundle.instantiate.filter(|_| version.queries_with_api()) {
        asked(instantiate).map_err(failed)?;
    }
    let registration = Registration {
        source,
        execute,
        instantiate: bundle.instantiate,
        prepare: bundle.prepare,
        initialize: bundle.initialize,
        record: bundle.record,
        traits: traits | metadata.traits,
        minor: metadata.version.1,
        recorded: metadata.recorded,
    };
    let mut registry = REGISTRY.lock();
    let known = registry.entry((name.to_owned(), canonical(platform), source)).or_insert(registration);
    let what = if known.addresses() != registration.addresses() {
        "different bundle addresses"
    } else if known.traits != registration.traits {
        "different metadata"
    } else {
        return Ok(());
    };
    Err(Error::already_exists(format!(
        "Duplicate FFI handler registration for {name} on platform {platform} with {what}: a name belongs to the first \
         handler that is registered under it; register the other one under another name"
    )))
}

/// Checks that the host supports the API version that a handler reports.
pub(crate) fn check_version(version: HostVersion, (major, minor): (i32, i32)) -> Result<()> {
    let newest = version.minor();
    if major == 0 && (1..=newest).contains(&minor) {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "the handler's API version ({major}.{minor}) is incompatible with the framework's API version (0.{newest}). \
         Minimum supported API version is (0.1)."
    )))
}

/// The handler of a target name on a platform, of the first [`Source`] that has one.
///
/// # Errors
/// `NOT_FOUND` if there is none.
pub fn find_handler(name: &str, platform: &str) -> Result<Registration> {
    let (name, platform) = (name.to_owned(), canonical(platform));
    let all = (name.clone(), platform.clone(), Source::Linked)..=(name.clone(), platform.clone(), Source::Client);
    let found = REGISTRY.lock().range(all).next().map(|(_, registration)| *registration);
    found.ok_or_else(|| Error::not_found(format!("No FFI handler registered for {name} on a platform {platform}")))
}

/// Every registered handler by name, platform (in lower case) and source, in this order.
pub fn registered_handlers() -> Vec<(String, String, Registration)> {
    REGISTRY.lock().iter().map(|((name, platform, _), known)| (name.clone(), platform.clone(), *known)).collect()
}

/// Lets a library register its handlers: calls its `oxcall_register_all` with the API table of `version`.
///
/// # Errors
/// Those of the library.
///
/// # Safety
/// The function is the `oxcall_register_all` of a library that is never unloaded.
pub unsafe fn register_library(
    version: HostVersion,
    register_all: unsafe extern "C" fn(*const sys::XLA_FFI_Api) -> *mut sys::XLA_FFI_Error,
) -> Result<()> {
    // SAFETY: as the caller guarantees; the error comes from this table.
    unsafe { super::error::take(register_all(version.api())) }.map_or(Ok(()), Err)
}

/// `XLA_FFI_Handler_Register_Args` before API 0.4: four handlers. Later hosts tell it by its size.
#[repr(C)]
pub(super) struct FourHandlerArgs {
    pub(super) struct_size: usize,
    pub(super) extension_start: *mut sys::XLA_FFI_InternalExtension,
    pub(super) name: sys::XLA_FFI_ByteSpan,
    pub(super) platform: sys::XLA_FFI_ByteSpan,
    pub(super) instantiate: sys::XLA_FFI_Handler,
    pub(super) prepare: sys::XLA_FFI_Handler,
    pub(super) initialize: sys::XLA_FFI_Handler,
    pub(super) execute: sys::XLA_FFI_Handler,
    pub(super) traits: sys::XLA_FFI_Handler_Traits,
}

/// The size that callers of [`FourHandlerArgs`] report: up to the end of its last field, without padding.
pub(super) const FOUR_HANDLERS_SIZE: usize = std::mem::offset_of!(FourHandlerArgs, traits) + size_of::<u32>();

slot! {
    /// `XLA_FFI_Handler_Register`.
    pub(super) fn register<const V>(
        args: sys::XLA_FFI_Handler_Register_Args,
        "XLA_FFI_Handler_Register",
        FOUR_HANDLERS_SIZE
    ) {
        let version = HostVersion::from_index(V);
        let name = text("the handler's name", (*args).name)?;
        let platform = text("the platform", (*args).platform)?;
        let has_record = (*args).struct_size >= sys::XLA_FFI_Handler_Register_Args_STRUCT_SIZE as usize;
        // A host that does not know the fifth handler takes the old layout whatever the size.
        let (bundle, traits) = if version.minor() >= 4 && has_record {
            ((*args).bundle, (*args).traits)
        } else {
            let args = args.cast::<FourHandlerArgs>();
            let bundle = sys::XLA_FFI_Handler_Bundle {
                instantiate: (*args).instantiate,
                prepare: (*args).prepare,
                initialize: (*args).initialize,
                execute: (*args).execute,
                record: None,
            };
            (bundle, (*args).traits)
        };
        register_handler(version, Source::Library, &name, &platform, &bundle, traits)
    }
}
