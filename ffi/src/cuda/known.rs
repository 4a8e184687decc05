//! Answers of the driver that a thread remembers: to ask about the stream and the memory of each argument in each call
//! would take longer than the launch.

use std::cell::Cell;
use std::ffi::c_void;

use cudarc::driver::sys;

use super::{CudaDevice, driver};
use crate::{Error, Result};

/// The allocations that a thread remembers: hosts allocate arenas.
const ALLOCATIONS: usize = 4;

/// Memory of a device, that of one allocation.
#[derive(Clone, Copy)]
struct Allocation {
    start: u64,
    size: u64,
    ordinal: usize,
}

thread_local! {
    /// The last stream, and its context.
    static STREAM: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    /// The last allocations, the newest first. One that was freed since could hide a mistake, which the kernel's access
    /// then shows.
    static MEMORY: Cell<[Allocation; ALLOCATIONS]> =
        const { Cell::new([Allocation { start: 0, size: 0, ordinal: 0 }; ALLOCATIONS]) };
}

/// Whether a stream that is not null is one of a device's primary context.
///
/// # Errors
/// That of the driver.
pub(super) fn is_stream_of(stream: sys::CUstream, device: CudaDevice) -> Result<bool> {
    let context = device.context().cu_ctx();
    let known = (stream.addr(), context.addr());
    if STREAM.get() == known {
        return Ok(true);
    }
    let mut owner = std::ptr::null_mut();
    // SAFETY: the host's stream, and room for the answer.
    let asked = unsafe { sys::cuStreamGetCtx(stream, &raw mut owner) }.result();
    asked.map_err(|error| driver::error("asking for the context of the stream", error))?;
    if owner == context {
        STREAM.set(known);
    }
    Ok(owner == context)
}

/// Refuses memory that kernels on a device cannot use: an access to it would end the context, and with it the process's
/// work on the device.
///
/// # Errors
/// If the address is one of host memory or of another device; that of the driver.
pub(super) fn check_memory(address: u64, device: CudaDevice) -> Result<()> {
    let known = MEMORY.get();
    let holds = |of: &Allocation| of.ordinal == device.ordinal() && address.wrapping_sub(of.start) < of.size;
    if known.iter().any(holds) {
        return Ok(());
    }
    let allocation = ask(address, device)?;
    if let Some(allocation) = allocation {
        let [first, second, third, _] = known;
        MEMORY.set([allocation, first, second, third]);
    }
    Ok(())
}

/// The allocation of an address, if it is one of the device's own.
fn ask(address: u64, device: CudaDevice) -> Result<Option<Allocation>> {
    use sys::CUpointer_attribute::{
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
    };
    let mut wanted = [
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
        CU_POINTER_ATTRIBUTE_RANGE_SIZE,
    ];
    let (mut kind, mut ordinal, mut start, mut size) = (0u32, -1i32, 0u64, 0u64);
    let mut found: [*mut c_void; 4] =
        [(&raw mut kind).cast(), (&raw mut ordinal).cast(), (&raw mut start).cast(), (&raw mut size).cast()];
    // SAFETY: room for each of the answers; any address may be asked for.
    let asked = unsafe { sys::cuPointerGetAttributes(4, wanted.as_mut_ptr(), found.as_mut_ptr(), address) };
    asked.result().map_err(|error| driver::error("querying the memory of an address", error))?;
    // The driver answers 0 for memory that it does not know.
    if kind == 0 {
        return Err(Error::invalid_argument(format!(
            "expected memory of {device}, got host memory at {address:#x}: pass an array on the device"
        )));
    }
    if kind != sys::CUmemorytype::CU_MEMORYTYPE_DEVICE as u32 {
        return Ok(None);
    }
    if ordinal != device.ordinal() as i32 {
        return Err(Error::invalid_argument(format!(
            "expected memory of {device}, got memory of CUDA device {ordinal} at {address:#x}: pass arrays on one device"
        )));
    }
    Ok(Some(Allocation { start, size, ordinal: device.ordinal() }))
}
