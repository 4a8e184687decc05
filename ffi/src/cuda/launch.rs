//! Launches: grids and arguments.

use std::ffi::c_void;

use cudarc::driver::{result, sys};

use super::module::{Function, KernelDecl, MOST_ARGUMENTS};
use super::{Argument, Cuda, driver};
use crate::{Error, Result};

/// Threads of a block, where nothing else is said.
const THREADS: u32 = 256;

/// The most blocks along the first dimension of a grid.
const MOST_BLOCKS: u64 = (1 << 31) - 1;

/// The grid of a launch. Launches of no work do nothing.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'c> {
    cuda: &'c Cuda<'c>,
    grid: (u32, u32, u32),
    block: (u32, u32, u32),
    shared: u32,
}

impl<'c> Launch<'c> {
    /// A grid of blocks of threads, as the kernel wants it.
    ///
    /// # Errors
    /// If a number is 0.
    pub fn new(cuda: &'c Cuda<'c>, grid: (u32, u32, u32), block: (u32, u32, u32)) -> Result<Launch<'c>> {
        for (what, (x, y, z)) in [("grid", grid), ("block", block)] {
            if x == 0 || y == 0 || z == 0 {
                return Err(Error::invalid_argument(format!(
                    "expected a {what} of at least 1 in each dimension, got ({x}, {y}, {z}): skip the launch when \
                     there is no work, as `Launch::elements` and `Launch::rows` do"
                )));
            }
        }
        Ok(Launch { cuda, grid, block, shared: 0 })
    }

    /// A thread for each of `count` elements, in blocks of 256.
    ///
    /// # Errors
    /// If there are more than a grid can have.
    pub fn elements(cuda: &'c Cuda<'c>, count: u64) -> Result<Launch<'c>> {
        Launch::rows(cuda, count.div_ceil(u64::from(THREADS)), THREADS)
    }

    /// A block of `threads` threads for each of `count` rows.
    ///
    /// # Errors
    /// If there are more than a grid can have; if `threads` is 0.
    pub fn rows(cuda: &'c Cuda<'c>, count: u64, threads: u32) -> Result<Launch<'c>> {
        if count > MOST_BLOCKS {
            return Err(Error::invalid_argument(format!(
                "expected a grid of at most {MOST_BLOCKS} blocks, got {count}: let each block process several \
                 elements or rows"
            )));
        }
        let launch = Launch::new(cuda, (1, 1, 1), (threads, 1, 1))?;
        Ok(Launch { grid: (count as u32, 1, 1), ..launch })
    }

    /// Threads `(x, y)` in each block, of which those of one `y` compute a row after another.
    pub(super) fn of_rows(cuda: &'c Cuda<'c>, rows: u64, (x, y): (u32, u32)) -> Result<Launch<'c>> {
        let launch = Launch::new(cuda, (1, 1, 1), (x, y, 1))?;
        Ok(Launch { grid: (rows.div_ceil(u64::from(y)).min(MOST_BLOCKS) as u32, 1, 1), ..launch })
    }

    /// With so many bytes of dynamic shared memory for each block.
    #[must_use]
    pub fn shared_bytes(self, shared: u32) -> Launch<'c> {
        Launch { shared, ..self }
    }

    pub(super) fn cuda(&self) -> &'c Cuda<'c> {
        self.cuda
    }

    /// Whether there is nothing to do.
    pub(super) fn is_empty(&self) -> bool {
        self.grid.0 == 0
    }

    /// Enqueues the kernel.
    ///
    /// # Safety
    /// With these arguments, the kernel accesses the memory of the buffers only, and writes only what is mutable.
    pub(super) unsafe fn run(self, kernel: &KernelDecl, function: Function, arguments: &mut [Argument]) -> Result<()> {
        let mut pointers = [std::ptr::null_mut::<c_void>(); MOST_ARGUMENTS];
        let Some(pointers) = pointers.get_mut(..arguments.len()).filter(|_| arguments.len() == kernel.params.len())
        else {
            return Err(Error::invalid_argument(format!(
                "kernel `{}`: expected {} arguments, of at most {MOST_ARGUMENTS}, got {}",
                kernel.name,
                kernel.params.len(),
                arguments.len()
            )));
        };
        for (argument, (name, _)) in arguments.iter().zip(kernel.params) {
            if let Some(address) = argument.address() {
                let name = argument.name().unwrap_or(name);
                self.check(address)
                    .map_err(|error| error.context(format_args!("kernel `{}`: argument `{name}`", kernel.name)))?;
            }
        }
        pointers.iter_mut().zip(arguments).for_each(|(pointer, argument)| *pointer = argument.as_mut_ptr());
        let stream = self.cuda.raw_stream();
        // SAFETY: as many arguments, of the sizes, as the kernel has parameters, which loading has checked; the rest is
        // the caller's.
        unsafe { result::launch_kernel(function.0, self.grid, self.block, self.shared, stream, pointers) }.map_err(
            |error| {
                let (grid, block) = (self.grid, self.block);
                driver::error(
                    format_args!("launching kernel `{}` with a grid of {grid:?} and blocks of {block:?}", kernel.name),
                    error,
                )
            },
        )
    }

    /// Refuses memory that kernels on the call's device cannot use: an access to it would end the context, and with it
    /// the process's work on the device.
    fn check(&self, address: u64) -> Result<()> {
        use sys::CUpointer_attribute::{CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
        let mut wanted = [CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL];
        let (mut kind, mut ordinal) = (0u32, -1i32);
        let mut found: [*mut c_void; 2] = [(&raw mut kind).cast(), (&raw mut ordinal).cast()];
        // SAFETY: room for each of the answers; any address may be asked for.
        let asked = unsafe { sys::cuPointerGetAttributes(2, wanted.as_mut_ptr(), found.as_mut_ptr(), address) };
        asked.result().map_err(|error| driver::error("querying the memory of an address", error))?;
        let device = self.cuda.device();
        // The driver answers 0 for memory that it does not know.
        if kind == 0 {
            return Err(Error::invalid_argument(format!(
                "expected memory of {device}, got host memory at {address:#x}: pass an array on the device"
            )));
        }
        if kind == sys::CUmemorytype::CU_MEMORYTYPE_DEVICE as u32 && ordinal != device.ordinal() as i32 {
            return Err(Error::invalid_argument(format!(
                "expected memory of {device}, got memory of CUDA device {ordinal} at {address:#x}: pass arrays on one \
                 device"
            )));
        }
        Ok(())
    }
}
