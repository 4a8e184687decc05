//! Launches: grids and arguments.

use std::ffi::c_void;

use cudarc::driver::result;

use super::module::{Function, KernelDecl, MOST_ARGUMENTS};
use super::{Argument, Cuda, driver, known};
use crate::{Error, Result};

/// Threads of a block, where nothing else is said.
pub(super) const THREADS: u32 = 256;

/// The bytes that one instruction of a thread reads.
pub(super) const PACK: usize = 16;

/// Threads of a warp.
const WARP: usize = 32;

/// The packs of the longest row that a warp computes.
const MOST_PACKS_OF_A_WARP: usize = 192;

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

    /// Threads for each of `count` rows of so many bytes: a few lanes of a warp or all of them for a short row, a block
    /// for a longer one. Their number depends on the bytes alone, and so does the order of sums. In a kernel,
    /// `oxcall::row(count)` is the thread's row, and `threadIdx.x` of `blockDim.x` its place in it.
    ///
    /// # Errors
    /// If there are more rows than a grid can have.
    pub fn rows_of(cuda: &'c Cuda<'c>, count: u64, bytes: usize) -> Result<Launch<'c>> {
        let packs = bytes.div_ceil(PACK);
        let is_of_a_warp = packs <= MOST_PACKS_OF_A_WARP;
        let threads = if is_of_a_warp { packs.clamp(4, WARP) } else { (packs / 2).clamp(128, 512) };
        let threads = threads.next_power_of_two() as u32;
        // A block of more than a warp has one row: its reductions are those of the whole block.
        let rows = if is_of_a_warp { THREADS / threads } else { 1 };
        let launch = Launch::rows(cuda, count.div_ceil(u64::from(rows)), threads)?;
        Ok(Launch { block: (threads, rows, 1), ..launch })
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
                known::check_memory(address, self.cuda.device())
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
}
