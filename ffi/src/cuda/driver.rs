//! The driver's presence, and its errors.

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;

use crate::{Code, Error, Result};

/// Refuses a machine without a driver, on which any call of the driver would panic.
pub(super) fn require() -> Result<()> {
    use std::sync::OnceLock;
    static PRESENT: OnceLock<bool> = OnceLock::new();
    // SAFETY: it loads the library of the driver, whose constructors are safe to run.
    if *PRESENT.get_or_init(|| unsafe { cudarc::driver::sys::is_culib_present() }) {
        return Ok(());
    }
    Err(Error::failed_precondition(
        "there is no CUDA driver: libcuda.so.1, which the driver of NVIDIA installs, was not found; run the program on \
         the CPU, or install the driver",
    ))
}

/// The error of a call of the driver that was to do `what`.
#[cold]
pub(super) fn error(what: impl std::fmt::Display, DriverError(code): DriverError) -> Error {
    let name = DriverError(code)
        .error_name()
        .map_or_else(|_| format!("CUDA error {}", code as u32), |name| name.to_string_lossy().into_owned());
    let (kind, help) = explain(code);
    let separator = if help.is_empty() { "" } else { ": " };
    Error::new(kind, format!("{what} failed with {name}{separator}{help}"))
}

/// The status code, and what to do.
fn explain(code: CUresult) -> (Code, &'static str) {
    match code {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => (
            Code::ResourceExhausted,
            "the device is out of memory; JAX takes three quarters of it at the start, unless \
             XLA_PYTHON_CLIENT_PREALLOCATE=false",
        ),
        CUresult::CUDA_ERROR_NO_DEVICE => (Code::FailedPrecondition, "the driver sees no GPU"),
        CUresult::CUDA_ERROR_INVALID_DEVICE => (Code::InvalidArgument, "there is no device of this number"),
        CUresult::CUDA_ERROR_NOT_FOUND => (Code::NotFound, ""),
        CUresult::CUDA_ERROR_INVALID_PTX => (Code::InvalidArgument, "the PTX is not valid"),
        CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => (
            Code::FailedPrecondition,
            "the PTX is of a newer version than this driver reads; update the driver, or make the PTX with an older \
             `.version`",
        ),
        CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU => {
            (Code::FailedPrecondition, "the code is for other GPUs; use PTX or CUDA C, which fit newer ones")
        }
        CUresult::CUDA_ERROR_INVALID_IMAGE => (Code::InvalidArgument, "it is neither PTX nor a cubin"),
        CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES => (
            Code::ResourceExhausted,
            "a block has more threads, registers or shared memory than the device gives; launch smaller blocks",
        ),
        CUresult::CUDA_ERROR_INVALID_VALUE => {
            (Code::InvalidArgument, "a value is outside of the range that it may have")
        }
        CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
        | CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
        | CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT => {
            (Code::FailedPrecondition, "this cannot be done while a stream is captured into a CUDA graph")
        }
        code if is_sticky(code) => (
            Code::Aborted,
            "an earlier kernel of this process, whoever launched it, has broken the device's context: every call fails \
             from now on, so restart the process; compute-sanitizer names the kernel",
        ),
        _ => (Code::Internal, ""),
    }
}

/// Whether the error is that of a kernel that ended the context.
fn is_sticky(code: CUresult) -> bool {
    matches!(
        code,
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
            | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
            | CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
            | CUresult::CUDA_ERROR_ASSERT
            | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
            | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUresult::CUDA_ERROR_INVALID_PC
            | CUresult::CUDA_ERROR_LAUNCH_FAILED
            | CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
    )
}
