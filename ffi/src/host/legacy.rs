//! The functions of API v1 to v3 that are registered with hosts of this process. A function says nothing of its
//! version: the program that calls it does.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::mem::offset_of;

use super::registry::{Source, canonical};
use crate::exports::{CHandler, CLibrary, Span};
use crate::manifest::ABI_VERSION;
use crate::sync::Mutex;
use crate::{Error, Result};

/// The address of a custom call function of API v1, v2 or v3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LegacyFunction(pub *const c_void);

// SAFETY: the address of a function; those who call it say why they may.
unsafe impl Send for LegacyFunction {}
// SAFETY: as above.
unsafe impl Sync for LegacyFunction {}

type Registry = BTreeMap<(String, String, Source), LegacyFunction>;

static REGISTRY: Mutex<Registry> = Mutex::new(BTreeMap::new());

/// Registers a legacy function under a target name and a platform (compared without case). Registering the same
/// function again changes nothing.
///
/// # Errors
/// `INVALID_ARGUMENT` for null; `ALREADY_EXISTS` when another function of this source has the name.
///
/// # Safety
/// The function obeys the contract of the version by which programs call it.
pub unsafe fn register_legacy(source: Source, name: &str, platform: &str, function: LegacyFunction) -> Result<()> {
    if function.0.is_null() {
        return Err(Error::invalid_argument(format!("the legacy custom call target {name} has no function")));
    }
    let known = *REGISTRY.lock().entry((name.to_owned(), canonical(platform), source)).or_insert(function);
    if known == function {
        return Ok(());
    }
    Err(Error::already_exists(format!(
        "Duplicate custom call registration detected for {name} on platform {platform} with different addresses"
    )))
}

/// Registers the functions of an op, as [`Legacy::addresses`](crate::descriptor::Legacy::addresses) gives them, under
/// `<name>.v1` to `<name>.v3`. Those that are null are left out.
///
/// # Errors
/// As [`register_legacy`].
///
/// # Safety
/// They are an op's functions.
pub unsafe fn register_legacy_versions(
    source: Source,
    name: &str,
    platform: &str,
    [cpu_v1, cpu_v2, cpu_v3, gpu_v1, gpu_v2]: [*mut c_void; 5],
) -> Result<()> {
    let is_cpu = canonical(platform) == "host";
    let versions = if is_cpu { [cpu_v1, cpu_v2, cpu_v3] } else { [gpu_v1, gpu_v2, gpu_v2] };
    for (version, function) in (1..).zip(versions).filter(|(_, function)| !function.is_null()) {
        // SAFETY: as the caller guarantees.
        unsafe { register_legacy(source, &format!("{name}.v{version}"), platform, LegacyFunction(function)) }?;
    }
    Ok(())
}

/// Registers the legacy functions of a library's ops, as [`register_legacy_versions`].
///
/// # Errors
/// As [`register_legacy`]; `INVALID_ARGUMENT` for a library of another version of the C boundary.
///
/// # Safety
/// The function is the `oxcall_library` of a library that is never unloaded.
pub unsafe fn register_legacy_library(library: unsafe extern "C" fn() -> *const c_void) -> Result<()> {
    /// # Safety
    /// The text lives as long as the library.
    unsafe fn text(span: Span) -> Result<&'static str> {
        // SAFETY: as the caller guarantees.
        let bytes = if span.len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(span.ptr, span.len) } };
        std::str::from_utf8(bytes).map_err(|_| Error::invalid_argument("a name in the library is not UTF-8"))
    }
    // SAFETY: the function gives the library's table, or null.
    let Some(table) = (unsafe { library().cast::<CLibrary>().as_ref() }) else {
        return Err(Error::internal("the library has no table of handlers"));
    };
    if table.abi_version != ABI_VERSION {
        let version = table.abi_version;
        return Err(Error::invalid_argument(format!(
            "the library has version {version} of the C boundary, this host reads version {ABI_VERSION}"
        )));
    }
    for index in 0..table.num_handlers {
        // SAFETY: there are so many, which live as long as the library. Their structs are at least as large as they
        // say.
        unsafe {
            let handler: *const CHandler = *table.handlers.add(index);
            // Older libraries end before the target.
            let size = (*handler).struct_size;
            if size < offset_of!(CHandler, target) {
                continue;
            }
            let platform = text((*handler).platform)?;
            register_legacy_versions(Source::Library, text((*handler).name)?, platform, (*handler).legacy)?;
            if size >= size_of::<CHandler>() {
                register_legacy_versions(Source::Library, text((*handler).target)?, platform, (*handler).legacy)?;
            }
        }
    }
    Ok(())
}

/// The legacy function of a target name on a platform, of the first [`Source`] that has one.
pub fn find_legacy(name: &str, platform: &str) -> Option<LegacyFunction> {
    let key = |source| (name.to_owned(), canonical(platform), source);
    REGISTRY.lock().range(key(Source::Linked)..=key(Source::Client)).next().map(|(_, function)| *function)
}

/// Every registered legacy function by name, platform (in lower case) and source, in this order.
pub fn registered_legacy() -> Vec<(String, String, LegacyFunction)> {
    REGISTRY.lock().iter().map(|((name, platform, _), known)| (name.clone(), platform.clone(), *known)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_registered_once() {
        let (one, two) =
            (LegacyFunction(std::ptr::without_provenance(1)), LegacyFunction(std::ptr::without_provenance(2)));
        // SAFETY: nobody calls them.
        let register = |name, platform, function| unsafe { register_legacy(Source::Client, name, platform, function) };
        register("legacy_once", "Host", one).unwrap();
        register("legacy_once", "cpu", one).unwrap();
        register("legacy_once", "elsewhere", two).unwrap();
        let error = register("legacy_once", "HOST", two).unwrap_err();
        assert!(error.message().starts_with("Duplicate custom call registration detected for legacy_once"), "{error}");
        assert_eq!(find_legacy("legacy_once", "CPU"), Some(one));
        assert_eq!(find_legacy("legacy_twice", "CPU"), None);
        assert!(registered_legacy().contains(&("legacy_once".to_owned(), "elsewhere".to_owned(), two)));
        // SAFETY: as above.
        unsafe { register_legacy(Source::Library, "legacy_once", "Host", two) }.unwrap();
        assert_eq!(find_legacy("legacy_once", "CPU"), Some(two));
        let error = register("legacy_null", "Host", LegacyFunction(std::ptr::null())).unwrap_err();
        assert!(error.message().contains("has no function"), "{error}");
    }
}
