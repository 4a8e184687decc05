//! The name of the platform that this library is a plugin for.

/// What `plugin!` says of the library.
#[derive(Debug)]
pub struct Plugin {
    /// The platform's name, with a NUL at its end.
    pub name: &'static std::ffi::CStr,
}

inventory::collect!(Plugin);

/// The name given to `plugin!`; `oxcall` where the crate is used without it.
pub(crate) fn platform_name() -> &'static std::ffi::CStr {
    inventory::iter::<Plugin>.into_iter().next().map_or(c"oxcall", |plugin| plugin.name)
}
