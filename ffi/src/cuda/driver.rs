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
        "no CUDA driver: libcuda.so.1 was not found; install the NVIDIA driver, or run the op on the CPU",
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
            "the device is out of memory; JAX preallocates three quarters of it unless \
             XLA_PYTHON_CLIENT_PREALLOCATE=false",
        ),
        CUresult::CUDA_ERROR_NO_DEVICE => {
            (Code::FailedPrecondition, "the driver sees no GPU: compare `nvidia-smi -L` and CUDA_VISIBLE_DEVICES")
        }
        CUresult::CUDA_ERROR_INVALID_DEVICE => {
            (Code::InvalidArgument, "no such device: compare `nvidia-smi -L` and CUDA_VISIBLE_DEVICES")
        }
        CUresult::CUDA_ERROR_NOT_FOUND => (Code::NotFound, ""),
        CUresult::CUDA_ERROR_INVALID_PTX => (Code::InvalidArgument, "the PTX is not valid"),
        CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => (
            Code::FailedPrecondition,
            "the PTX is newer than the driver: update the driver, or compile the PTX for an older ISA (`.version`)",
        ),
        CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU => (
            Code::FailedPrecondition,
            "the binary does not support this GPU: use PTX or CUDA C, which also run on newer GPUs",
        ),
        CUresult::CUDA_ERROR_INVALID_IMAGE => (Code::InvalidArgument, "the image is neither PTX nor a cubin"),
        CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES => (
            Code::ResourceExhausted,
            "a block needs more threads, registers or shared memory than the device has: launch smaller blocks",
        ),
        CUresult::CUDA_ERROR_INVALID_VALUE => (Code::InvalidArgument, "an argument is out of range"),
        CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
        | CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
        | CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT => {
            (Code::FailedPrecondition, "not allowed while a stream is captured into a CUDA graph")
        }
        CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED => (
            Code::Aborted,
            "the device was reset, by `cudaDeviceReset` or another library of this process, and all later calls fail: \
             restart the process",
        ),
        code if is_sticky(code) => (
            Code::Aborted,
            "a kernel launched earlier in this process corrupted the device's context, and all later calls fail: \
             restart the process; compute-sanitizer finds the kernel",
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
