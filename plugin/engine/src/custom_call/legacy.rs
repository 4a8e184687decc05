//! Calls through the interfaces v1 to v3, with the signatures for CPUs.

use std::ffi::{c_char, c_void};

use oxcall::Error;
use oxcall_hlo::{Attribute, CustomCall, CustomCallApiVersion};
use oxcall_kernels::memory::RawBuffer;

use super::status::Status;
use super::{Host, target};

type V1 = unsafe extern "C" fn(*mut c_void, *mut *const c_void);
type V2 = unsafe extern "C" fn(*mut c_void, *mut *const c_void, *mut c_void);
type V3 = unsafe extern "C" fn(*mut c_void, *mut *const c_void, *const c_char, usize, *mut c_void);

#[derive(Clone, Copy)]
enum Function {
    V1(V1),
    V2(V2),
    V3(V3),
}

/// A call of a legacy function.
pub(super) struct Legacy {
    function: Function,
    opaque: Vec<u8>,
    /// Whether the function takes an array of results instead of a single one.
    tuple: bool,
}

impl Legacy {
    pub(super) fn new(host: &Host, call: &CustomCall, tuple: bool) -> Result<Legacy, Error> {
        let opaque = match &call.backend_config {
            Attribute::String(bytes) => bytes.clone(),
            Attribute::Unit => Vec::new(),
            _ => {
                return Err(Error::invalid_argument(format!(
                    "custom call to {}: the legacy API takes a string as backend config; for attributes use the typed FFI \
                     (api_version 4)",
                    call.target
                )));
            }
        };
        let find = || Ok::<_, Error>(target::legacy(&call.target, &host.platform)?.0);
        let function = match call.api_version {
            CustomCallApiVersion::Original => {
                // SAFETY: the registration of the address promises that it is a function of the version by which
                // programs call it.
                Function::V1(unsafe { std::mem::transmute::<*const c_void, V1>(find()?) })
            }
            CustomCallApiVersion::StatusReturning => {
                // SAFETY: as above.
                Function::V2(unsafe { std::mem::transmute::<*const c_void, V2>(find()?) })
            }
            CustomCallApiVersion::StatusReturningUnified => {
                // SAFETY: as above.
                Function::V3(unsafe { std::mem::transmute::<*const c_void, V3>(find()?) })
            }
            other => {
                return Err(Error::invalid_argument(format!(
                    "Unknown custom-call API version enum value: {}",
                    other.name()
                )));
            }
        };
        Ok(Legacy { function, opaque, tuple })
    }

    /// Calls the function.
    ///
    /// # Safety
    /// As for `Typed::call`.
    pub(super) unsafe fn call(
        &self,
        pointers: &mut Pointers,
        inputs: &[RawBuffer],
        outputs: &[RawBuffer],
    ) -> Result<(), Error> {
        pointers.inputs.clear();
        pointers.inputs.extend(inputs.iter().map(|input| input.data.cast::<c_void>().cast_const()));
        pointers.outputs.clear();
        pointers.outputs.extend(outputs.iter().map(|output| output.data.cast::<c_void>()));
        let ins = pointers.inputs.as_mut_ptr();
        let out = if self.tuple { pointers.outputs.as_mut_ptr().cast() } else { pointers.outputs[0] };
        let mut status = Status::default();
        let state = (&raw mut status).cast();
        // SAFETY: a function of this version; the caller vouches for the buffers; the status lives here.
        unsafe {
            match self.function {
                Function::V1(function) => function(out, ins),
                Function::V2(function) => function(out, ins, state),
                Function::V3(function) => function(out, ins, self.opaque.as_ptr().cast(), self.opaque.len(), state),
            }
        }
        // SAFETY: only the function could write it.
        unsafe { status.take() }.map_or(Ok(()), |message| Err(Error::internal(message)))
    }
}

/// Reusable storage for the pointers of a call.
#[derive(Default)]
pub(crate) struct Pointers {
    inputs: Vec<*const c_void>,
    outputs: Vec<*mut c_void>,
}

// SAFETY: the pointers are read only by the call that wrote them.
unsafe impl Send for Pointers {}
