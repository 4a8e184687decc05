//! The functions of API v1 to v3 that are registered with hosts of this process. A function says nothing of its
//! version: the program that calls it does.

use std::{
    collections::BTreeMap,
    ffi::c_void,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::registry::canonical;
use crate::{Error, Result};

/// The address of a custom call function of API v1, v2 or v3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LegacyFunction(pub *const c_void);

// SAFETY: the address of a function; those who call it say why they may.
unsafe impl Send for LegacyFunction {}
// SAFETY: as above.
unsafe impl Sync for LegacyFunction {}

static REGISTRY: Mutex<BTreeMap<(String, String), LegacyFunction>> = Mutex::new(BTreeMap::new());

fn lock() -> MutexGuard<'static, BTreeMap<(String, String), LegacyFunction>> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers a legacy function under a target name and a platform (compared without case). Registering the same
/// function again changes nothing.
///
/// # Errors
/// `INVALID_ARGUMENT` for null; `ALREADY_EXISTS` when another function has the name.
///
/// # Safety
/// The function obeys the contract of the version by which programs call it.
pub unsafe fn register_legacy(name: &str, platform: &str, function: LegacyFunction) -> Result<()> {
    if function.0.is_null() {
        return Err(Error::invalid_argument(format!("the legacy custom call target {name} has no function")));
    }
    let known = *lock().entry((name.to_owned(), canonical(platform))).or_insert(function);
    if known == function {
        return Ok(());
    }
    Err(Error::already_exists(format!(
        "Duplicate custom call registration detected for {name} on platform {platform} with different addresses"
    )))
}

/// The legacy function of a target name on a platform.
pub fn find_legacy(name: &str, platform: &str) -> Option<LegacyFunction> {
    lock().get(&(name.to_owned(), canonical(platform))).copied()
}

/// Every registered legacy function by name and platform (in lower case), in this order.
pub fn registered_legacy() -> Vec<(String, String, LegacyFunction)> {
    lock().iter().map(|((name, platform), known)| (name.clone(), platform.clone(), *known)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_registered_once() {
        let (one, two) =
            (LegacyFunction(std::ptr::without_provenance(1)), LegacyFunction(std::ptr::without_provenance(2)));
        // SAFETY: nobody calls them.
        let register = |name, platform, function| unsafe { register_legacy(name, platform, function) };
        register("legacy_once", "Host", one).unwrap();
        register("legacy_once", "cpu", one).unwrap();
        register("legacy_once", "elsewhere", two).unwrap();
        let error = register("legacy_once", "HOST", two).unwrap_err();
        assert!(error.message().starts_with("Duplicate custom call registration detected for legacy_once"), "{error}");
        assert_eq!(find_legacy("legacy_once", "CPU"), Some(one));
        assert_eq!(find_legacy("legacy_twice", "CPU"), None);
        assert!(registered_legacy().contains(&("legacy_once".to_owned(), "elsewhere".to_owned(), two)));
        let error = register("legacy_null", "Host", LegacyFunction(std::ptr::null())).unwrap_err();
        assert!(error.message().contains("has no function"), "{error}");
    }
}
