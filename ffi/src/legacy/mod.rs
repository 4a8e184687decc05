//! Legacy custom calls, API v1 to v3: entry points that give a typed handler the call frame that their hosts do not.
//!
//! A host passes pointers only. The caller therefore sends a call descriptor along, which `docs/legacy-encoding.md`
//! specifies: shapes, dtypes and attributes. An entry point reads it (`wire`), makes a call frame of it and calls
//! the handler (`call`), and reports a failure as far as the API version can (`failure`, `status`).
//!
//! Typed calls have, and these calls lack: states, user data, run id, device ordinal, scratch memory. Loops on the
//! thread pool run on the calling thread, and a call that returns a future is waited for.
//!
//! XLA keeps legacy targets in a registry of their own, so the Python package registers them as `<target>.v1` to
//! `<target>.v3`.

mod call;
mod failure;
mod status;
#[cfg(test)]
mod tests;
mod wire;

use std::ffi::{c_char, c_void};
use std::marker::PhantomData;
use std::ptr::NonNull;

pub(crate) use failure::take_last_error;

use crate::Result;
use crate::descriptor::{Legacy, Op};

/// The sizes in bytes of the buffers that a call descriptor states, for callers that make a call of foreign bytes.
#[derive(Debug)]
pub struct CallBuffers {
    /// Operands, without the descriptor itself.
    pub operands: Vec<usize>,
    /// Results.
    pub results: Vec<usize>,
    /// Whether a CPU host gives an array of result pointers.
    pub results_are_tuple: bool,
    /// Whether the descriptor is the first operand, before the others.
    pub descriptor_is_operand: bool,
}

impl CallBuffers {
    /// Reads them from a descriptor.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if it is damaged.
    pub fn of(descriptor: &[u8]) -> Result<CallBuffers> {
        let call = wire::CallDescriptor::decode(descriptor)?;
        let sizes = |types: &[wire::BufferType]| types.iter().map(|ty| ty.size_in_bytes).collect();
        Ok(CallBuffers {
            operands: sizes(&call.operands),
            results: sizes(&call.results),
            results_are_tuple: call.results_are_tuple,
            descriptor_is_operand: call.descriptor_is_operand,
        })
    }
}

/// The legacy entry points of an operation.
#[derive(Debug)]
pub struct LegacyEntry<O>(PhantomData<O>);

impl<O: Op> LegacyEntry<O> {
    /// The functions that hosts call.
    pub const TABLE: Legacy = Legacy {
        cpu_v1: Self::cpu_v1,
        cpu_v2: Self::cpu_v2,
        cpu_v3: Self::cpu_v3,
        gpu_v1: Self::gpu_v1,
        gpu_v2: Self::gpu_v2,
    };

    unsafe extern "C" fn cpu_v1(out: *mut c_void, ins: *mut *const c_void) {
        // SAFETY: the host's pointers are as the descriptor says, which its writer answers for.
        unsafe { call::cpu(O::HANDLER, out, ins, None, None) }
    }

    unsafe extern "C" fn cpu_v2(out: *mut c_void, ins: *mut *const c_void, status: *mut c_void) {
        // SAFETY: as in `cpu_v1`; the status is the host's.
        unsafe { call::cpu(O::HANDLER, out, ins, None, NonNull::new(status)) }
    }

    unsafe extern "C" fn cpu_v3(
        out: *mut c_void,
        ins: *mut *const c_void,
        opaque: *const c_char,
        len: usize,
        status: *mut c_void,
    ) {
        // SAFETY: as in `cpu_v2`; the host gives `len` opaque bytes.
        unsafe { call::cpu(O::HANDLER, out, ins, Some((opaque, len)), NonNull::new(status)) }
    }

    unsafe extern "C" fn gpu_v1(stream: *mut c_void, buffers: *mut *mut c_void, opaque: *const c_char, len: usize) {
        // SAFETY: as in `cpu_v3`.
        unsafe { call::gpu(O::HANDLER, stream, buffers, (opaque, len), None) }
    }

    unsafe extern "C" fn gpu_v2(
        stream: *mut c_void,
        buffers: *mut *mut c_void,
        opaque: *const c_char,
        len: usize,
        status: *mut c_void,
    ) {
        // SAFETY: as in `cpu_v3`.
        unsafe { call::gpu(O::HANDLER, stream, buffers, (opaque, len), NonNull::new(status)) }
    }
}
