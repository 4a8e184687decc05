//! The name of the platform that this library is a plugin for.

use std::env;
use std::ffi::{CStr, CString};
use std::sync::OnceLock;

/// The arguments of `plugin!`.
#[derive(Debug)]
pub struct Plugin {
    /// The platform's name, with a NUL at its end.
    pub name: &'static CStr,
}

inventory::collect!(Plugin);

/// The name given to `plugin!`; `oxcall` where the crate is used without it. In the test mode, another one: that of
/// `OXCALL_PLATFORM_NAME`.
pub(crate) fn platform_name() -> &'static CStr {
    static NAME: OnceLock<&CStr> = OnceLock::new();
    NAME.get_or_init(|| {
        let taken = env::var("OXCALL_PLATFORM_NAME").ok().filter(|name| !name.is_empty());
        let taken = taken.and_then(|name| CString::new(name).ok()).map(|name| &*Box::leak(name.into_boxed_c_str()));
        let linked = || inventory::iter::<Plugin>.into_iter().next().map_or(c"oxcall", |plugin| plugin.name);
        taken.unwrap_or_else(linked)
    })
}
