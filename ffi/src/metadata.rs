//! Metadata queries: frames by which a host asks, as it registers a handler, which API version the handler speaks.

use xla_ffi_sys::xla_ffi as sys;

use crate::api::{HostApi, MINOR};
use crate::descriptor::{Handler, Recorded};
use crate::panics;
use crate::state::HostType;

/// Whether an extension asks for metadata, and has room for the answer.
///
/// # Safety
/// A live extension, as long as it says.
pub(crate) unsafe fn is_metadata_query(extension: *const sys::XLA_FFI_InternalExtension) -> bool {
    // SAFETY: extensions start with their size and type; the rest is there if the size says so.
    unsafe {
        if (*extension).type_ != sys::XLA_FFI_Extension_Metadata
            || (*extension).struct_size < sys::XLA_FFI_Metadata_Extension_STRUCT_SIZE as usize
        {
            return false;
        }
        let metadata = (*extension.cast::<sys::XLA_FFI_Metadata_Extension>()).metadata;
        !metadata.is_null() && (*metadata).struct_size >= sys::XLA_FFI_Metadata_STRUCT_SIZE as usize
    }
}

/// Whether a frame asks for metadata rather than for the handler's work. Other extensions are none of ours, and
/// ignored.
///
/// # Safety
/// The first extension of a live frame, or null.
#[cold]
#[inline(never)]
pub(crate) unsafe fn asks_for_metadata(mut extension: *const sys::XLA_FFI_InternalExtension) -> bool {
    // SAFETY: extensions are a list that ends with null.
    unsafe {
        while !extension.is_null() {
            if (*extension).type_ == sys::XLA_FFI_Extension_Metadata {
                return true;
            }
            extension = (*extension).next;
        }
    }
    false
}

/// Tells a host, when it registers the handler, which API version the handler speaks.
///
/// Hosts accept versions up to their own, so the answer is theirs or ours, whichever is older: the handler adapts to
/// the layouts of the host that calls it.
///
/// # Safety
/// A metadata query, as [`is_metadata_query`] says.
pub(crate) unsafe fn answer_metadata(
    extension: *mut sys::XLA_FFI_Metadata_Extension,
    api: Option<HostApi<'_>>,
    handler: &'static Handler,
    state: Option<&'static HostType>,
) {
    panics::install_hook();
    // SAFETY: as the caller guarantees.
    unsafe {
        let metadata = (*extension).metadata;
        (*metadata).api_version.major_version = sys::XLA_FFI_API_MAJOR as i32;
        // Hosts before jaxlib 0.8.1 give no table here, and accept exactly 0.1.
        (*metadata).api_version.minor_version = api.map_or(1, |api| api.minor().min(MINOR));
        (*metadata).traits = handler.traits.bits();
        // The field for the state's type is past the size that hosts report; those that give a table have it.
        if let (Some(api), Some(state)) = (api, state)
            && let Ok(id) = state.id(api)
        {
            (&raw mut (*metadata).state_type_id).write(id);
        }
    }
}

/// A host's question, in the list behind a metadata query, whether the operation tells its expression (`expression`).
/// Handlers that do not know it leave the answer as it is.
#[repr(C)]
pub(crate) struct PointwiseQuery {
    base: sys::XLA_FFI_InternalExtension,
    /// The answer: the number of a [`Recorded`].
    recorded: u32,
}

/// The type of a [`PointwiseQuery`], far from XLA's own.
const POINTWISE_QUERY: sys::XLA_FFI_InternalExtension_Type = 0x6f78_0001;

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<PointwiseQuery>() == 32, "the size that docs/c-boundary.md states");

impl PointwiseQuery {
    pub(crate) fn new() -> PointwiseQuery {
        let base = sys::XLA_FFI_InternalExtension {
            struct_size: size_of::<PointwiseQuery>(),
            type_: POINTWISE_QUERY,
            next: std::ptr::null_mut(),
        };
        PointwiseQuery { base, recorded: Recorded::Never as u32 }
    }

    pub(crate) fn answer(&self) -> Recorded {
        let known = [Recorded::Pointwise, Recorded::Rowwise];
        known.into_iter().find(|&kind| kind as u32 == self.recorded).unwrap_or(Recorded::Never)
    }
}

/// Whether an extension is a [`PointwiseQuery`].
///
/// # Safety
/// A live extension, as long as it says.
pub(crate) unsafe fn is_pointwise_query(extension: *const sys::XLA_FFI_InternalExtension) -> bool {
    // SAFETY: extensions start with their size and type.
    unsafe { (*extension).type_ == POINTWISE_QUERY && (*extension).struct_size >= size_of::<PointwiseQuery>() }
}

/// Answers a [`PointwiseQuery`].
///
/// # Safety
/// [`is_pointwise_query`] says that it is one.
pub(crate) unsafe fn answer_pointwise(query: *mut PointwiseQuery, handler: &'static Handler) {
    // SAFETY: as the caller guarantees.
    unsafe { (*query).recorded = handler.traits.recorded as u32 };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A library of a later version may tell what this one does not know.
    #[test]
    fn unknown_answers_are_none() {
        let answer = |recorded| PointwiseQuery { recorded, ..PointwiseQuery::new() }.answer();
        assert_eq!([0, 1, 2, 3, u32::MAX].map(answer), {
            use Recorded::*;
            [Never, Pointwise, Rowwise, Never, Never]
        });
    }
}
