//! Types that handlers and hosts register, so that opaque pointers carry an id.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::LazyLock;

use xla_ffi_sys::xla_ffi as sys;

use super::HostVersion;
use super::slot::{slot, text};
use crate::sync::Mutex;
use crate::{Error, Result};

/// Destroys an object of a registered type.
pub type Deleter = unsafe extern "C" fn(*mut c_void);

/// A registered type. One registry serves all versions of the process, as one library may be called through several.
struct Registered {
    id: i64,
    deleter: Option<Deleter>,
    /// The versions through which it was registered, as bits.
    versions: u8,
}

/// Ids that are given out come after this one, so that they differ from those that XLA, which counts from 1, gives in
/// the same process: a C++ library registers a type with several hosts, and has one place for its id.
const BEFORE_OURS: i64 = 1 << 32;

struct Types {
    by_name: HashMap<String, Registered>,
    last_id: i64,
}

static TYPES: LazyLock<Mutex<Types>> =
    LazyLock::new(|| Mutex::new(Types { by_name: HashMap::new(), last_id: BEFORE_OURS }));

/// Registers a type with the host `version`, and returns its id, which is positive.
///
/// `id` is 0 to be given one, otherwise it must be free, or that of the name. As in XLA, a host gives a name an id
/// only once. A library that was registered with another version before keeps its ids.
///
/// # Errors
/// `ALREADY_EXISTS` when the name or the id is taken.
pub fn register_type(version: HostVersion, name: &str, id: i64, deleter: Option<Deleter>) -> Result<i64> {
    let mut types = TYPES.lock();
    let bit = 1u8 << version as u8;
    if let Some(known) = types.by_name.get_mut(name) {
        let same_deleter = match (known.deleter, deleter) {
            (Some(a), Some(b)) => a as usize == b as usize,
            _ => true,
        };
        let again = known.versions & bit != 0 && id == 0;
        if again || (id != 0 && id != known.id) || !same_deleter {
            return Err(Error::already_exists(format!(
                "Type name {name} already registered with type id {}",
                known.id
            )));
        }
        known.versions |= bit;
        known.deleter = known.deleter.or(deleter);
        return Ok(known.id);
    }
    let taken =
        |types: &Types, id| types.by_name.iter().find(|(_, known)| known.id == id).map(|(name, _)| name.clone());
    let id = if id == 0 {
        loop {
            types.last_id += 1;
            if taken(&types, types.last_id).is_none() {
                break types.last_id;
            }
        }
    } else if let Some(other) = taken(&types, id) {
        return Err(Error::already_exists(format!("Type id {id} of {name} is already that of {other}")));
    } else {
        id
    };
    types.by_name.insert(name.to_owned(), Registered { id, deleter, versions: bit });
    Ok(id)
}

/// The deleter that the description of a type has, if any.
///
/// # Safety
/// `info` is null or points to an `XLA_FFI_TypeInfo` of jaxlib 0.8.0 or later.
pub unsafe fn type_deleter(info: *const sys::XLA_FFI_TypeInfo) -> Option<Deleter> {
    // In jaxlib 0.8.0 the deleter was all there is. Handlers of that version hand it over with each state.
    const LARGEST: usize = 4096;
    // SAFETY: the first word is there in all versions: a size, or an address, which no size is as large as.
    let size = *unsafe { info.cast::<usize>().as_ref() }?;
    let has_size = (sys::XLA_FFI_TypeInfo_STRUCT_SIZE as usize..LARGEST).contains(&size);
    // SAFETY: a struct that begins with its size, which the deleter lies within.
    has_size.then(|| unsafe { (*info).deleter }).flatten()
}

/// How to register a type.
const HOW: &str = "register the state's type with its deleter before the program is compiled, in Python by \
                   jax.ffi.register_ffi_type(name, {\"type_id\": ..., \"type_info\": ...}, platform=...)";

/// The deleter of a type.
pub(super) fn deleter(id: i64) -> Result<Deleter> {
    let types = TYPES.lock();
    let known = types
        .by_name
        .values()
        .find(|known| known.id == id)
        .ok_or_else(|| Error::internal(format!("Type id {id} is not registered with a static registry: {HOW}")))?;
    known.deleter.ok_or_else(|| {
        Error::invalid_argument(format!("Type id {id} does not have a registered type info with a deleter: {HOW}"))
    })
}

slot! {
    /// `XLA_FFI_TypeId_Register` (API 0.1) and `XLA_FFI_Type_Register`.
    pub(super) fn register<const V>(
        args: sys::XLA_FFI_Type_Register_Args,
        "XLA_FFI_Type_Register",
        sys::XLA_FFI_Type_Register_Args_STRUCT_SIZE
    ) {
        let version = HostVersion::from_index(V);
        let name = text("the type's name", (*args).name)?;
        let type_id = (*args).type_id.as_mut().ok_or_else(|| Error::invalid_argument("type_id is null"))?;
        // Before jaxlib 0.6 the id was only returned.
        let asked = if version < HostVersion::V0_6 { 0 } else { type_id.type_id };
        // The size that callers report does not count `type_info`; the version says whether it is there.
        let deleter = if version.minor() < 2 { None } else { type_deleter((*args).type_info) };
        type_id.type_id = register_type(version, &name, asked, deleter)?;
        Ok(())
    }
}
