//! Kernels: the work of a plan's steps.

use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::Pod;
use oxcall::Error;
use oxcall_jit::Listing;

use crate::interrupt::Era;
use crate::machine::{Block, Slot};
use crate::memory::{Allocator, RawBuffer, Scratch};
use crate::pool::{Cost, Pool};

/// The services that a kernel may use, besides its buffers.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The client's threads.
    pub pool: &'a Pool,
    /// The client's memory: scratch memory comes from here, so that exhaustion is an error and does not end the
    /// process.
    pub memory: &'a Arc<Allocator>,
    /// The era of the request: a kernel that may run without end stops when it is over, and leaves incomplete results.
    pub era: Era,
}

impl Context<'_> {
    /// Scratch memory for `len` elements, with unspecified contents.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if memory runs out.
    pub(crate) fn scratch<T: Pod>(&self, len: usize) -> Result<Scratch<T>, Error> {
        Scratch::new(self.memory, len)
    }

    /// Scratch memory with `len` elements, all of them `value`.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if memory runs out.
    pub(crate) fn filled<T: Pod>(&self, len: usize, value: T) -> Result<Scratch<T>, Error> {
        let mut scratch = Scratch::new(self.memory, len)?;
        scratch.fill(value);
        Ok(scratch)
    }

    /// Scratch memory with a copy of `elements`.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if memory runs out.
    pub(crate) fn copied<T: Pod>(&self, elements: &[T]) -> Result<Scratch<T>, Error> {
        let mut scratch = Scratch::new(self.memory, elements.len())?;
        scratch.copy_from_slice(elements);
        Ok(scratch)
    }
}

/// A step's work: a function of buffers, with everything that is known at compile time built in.
///
/// Buffers are dense and row-major, and have the element types and sizes for which the kernel was made; narrow elements
/// take whole bytes (see [`crate::element`]).
pub trait Kernel: Send + Sync {
    /// The name for traces and dumps: `transpose`, `fused[exp,add]`.
    fn name(&self) -> String;

    /// An estimate of the cost of one run.
    fn cost(&self) -> Cost;

    /// Pairs of operand and result that may share one buffer. The planner may then give the result the operand's
    /// memory: the result holds the operand's elements when [`run`](Kernel::run) starts, and [`Inputs::is_in_place`] is
    /// true.
    fn in_place(&self) -> Vec<(usize, usize)> {
        Vec::new()
    }

    /// Adds the kernel's work to a block of machine code; returns `None`, and adds no write, if it cannot.
    fn generate(&self, _block: &mut Block<'_>, _inputs: &[Slot], _outputs: &[Slot]) -> Option<()> {
        None
    }

    /// The machine code that runs call.
    fn code(&self) -> Vec<Listing<'_>> {
        Vec::new()
    }

    /// Computes the results.
    ///
    /// # Errors
    /// Failures that depend on data or on the machine; unsupported types were refused when the kernel was made.
    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, outputs: Outputs<'_>) -> Result<(), Error>;
}

/// The operands of a kernel.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    buffers: &'a [RawBuffer],
    /// Bit `i`: operand `i` shares its memory with a result.
    in_place: u64,
    life: PhantomData<&'a [u8]>,
}

impl<'a> Inputs<'a> {
    /// # Safety
    /// For `'a`, each buffer whose bit in `in_place` is not set points to as many initialised bytes as it says, aligned
    /// to [`BUFFER_ALIGN`](crate::memory::BUFFER_ALIGN), and nothing writes them.
    #[inline]
    pub unsafe fn new(buffers: &'a [RawBuffer], in_place: u64) -> Inputs<'a> {
        Inputs { buffers, in_place, life: PhantomData }
    }

    /// The number of operands.
    pub(crate) fn len(&self) -> usize {
        self.buffers.len()
    }

    /// Whether the operand's elements are in a result instead; see [`Kernel::in_place`].
    #[inline]
    pub fn is_in_place(&self, index: usize) -> bool {
        index < 64 && self.in_place >> index & 1 == 1
    }

    /// The elements of operand `index`.
    ///
    /// # Panics
    /// If there is no such operand, it is in place, or its size is not a multiple of the size of `T`.
    pub fn get<T: Pod>(&self, index: usize) -> &'a [T] {
        assert!(!self.is_in_place(index), "operand {index} is in place");
        let RawBuffer { data, len } = self.buffers[index];
        if len == 0 {
            return &[];
        }
        // SAFETY: as `new` demands: initialised, not written, alive for `'a`.
        bytemuck::cast_slice(unsafe { std::slice::from_raw_parts(data, len) })
    }

    /// The address and size of operand `index`, for the few modules that work on addresses.
    pub(crate) fn raw(&self, index: usize) -> RawBuffer {
        self.buffers[index]
    }
}

/// The results of a kernel.
#[derive(Debug)]
pub struct Outputs<'a> {
    buffers: &'a [RawBuffer],
    taken: u64,
    life: PhantomData<&'a mut [u8]>,
}

impl<'a> Outputs<'a> {
    /// The number of results, from the first one on, that can be [taken](Outputs::take).
    pub const MOST_TAKEN: usize = u64::BITS as usize;

    /// # Safety
    /// For `'a`, each buffer points to as many initialised bytes as it says, aligned to
    /// [`BUFFER_ALIGN`](crate::memory::BUFFER_ALIGN), and nothing else reads or writes them; no two buffers overlap.
    #[inline]
    pub unsafe fn new(buffers: &'a [RawBuffer]) -> Outputs<'a> {
        Outputs { buffers, taken: 0, life: PhantomData }
    }

    /// The elements of result `index`, all of which have to be written. Their previous values are unspecified, unless
    /// an operand is in place.
    ///
    /// # Panics
    /// If there is no such result, it was taken before, is behind the first [`MOST_TAKEN`](Self::MOST_TAKEN), or its
    /// size is not a multiple of the size of `T`.
    pub fn take<T: Pod>(&mut self, index: usize) -> &'a mut [T] {
        assert!(index < Self::MOST_TAKEN && self.taken >> index & 1 == 0, "result {index} was taken");
        self.taken |= 1 << index;
        let RawBuffer { data, len } = self.buffers[index];
        if len == 0 {
            return &mut [];
        }
        // SAFETY: as `new` demands: initialised and exclusive for `'a`; given out once.
        bytemuck::cast_slice_mut(unsafe { std::slice::from_raw_parts_mut(data, len) })
    }

    /// The address and size of result `index`, for the few modules that work on addresses.
    pub(crate) fn raw(&self, index: usize) -> RawBuffer {
        self.buffers[index]
    }
}
