//! Kernels of pointwise functions: the support code of `#[pointwise]`.
//!
//! The function is recorded with the attributes of the call, printed as CUDA C, and compiled once for all calls that
//! give the same text.

use oxcall_math::real::Expression;

use super::launch::PACK;
pub use super::recorded::{Buffer, operand, result};
use super::recorded::{Kind, Recorded};
use super::{Cuda, Launch, Loaded, print};
use crate::context::Context;
use crate::pointwise::{Map, Stored};
use crate::{Error, Result};

/// The kernels of a function with the attributes of a call: a state of its instantiate stage.
pub struct Kernels {
    recorded: Recorded,
    /// The most elements that a thread computes at once.
    most_of_a_pack: usize,
}

impl Kernels {
    /// The kernels of a function.
    ///
    /// # Errors
    /// If the function has thousands of operations, or more operands than a kernel takes.
    pub fn new<M: Map<I, O>, const I: usize, const O: usize>(map: M) -> Result<Kernels> {
        let expression = Expression::trace(|inputs| map.call(inputs)).ok_or_else(|| {
            Error::unimplemented("expected a function of at most 4096 operations, got more: split it into several ops")
        })?;
        let print = || {
            print::pointwise::kernel(&expression)
                .ok_or_else(|| Error::internal("expected operations on single elements, got a reduction"))
        };
        let recorded = Recorded::new(Kind::Pointwise, [I, O, 1], print)?;
        Ok(Kernels { recorded, most_of_a_pack: print::pointwise::most_of_a_pack(&expression) })
    }

    /// Loads them on the device of a call.
    ///
    /// # Errors
    /// As for [`Module::load_for`](super::Module::load_for).
    pub fn load_for(&self, context: &Context<'_>) -> Result<Loaded> {
        self.recorded.load_for(context)
    }

    /// Applies the function to the elements of arrays of one size.
    ///
    /// # Errors
    /// If these are not arrays of one size, as many as the function has; those of a launch.
    pub fn run<T: Stored, const I: usize, const O: usize>(
        &self,
        cuda: &Cuda<'_>,
        inputs: [Buffer<'_, T>; I],
        outputs: [Buffer<'_, T>; O],
    ) -> Result<()> {
        let len = outputs.first().map_or(0, Buffer::len);
        self.recorded.check(&inputs, &outputs, |buffer, _, _| buffer.len() == len)?;
        let pack = self.most_of_a_pack.min(PACK / size_of::<T>());
        let launch = Launch::elements(cuda, len.div_ceil(pack) as u64)?;
        // SAFETY: checked; the kernel reads and writes `len` elements of each.
        unsafe { self.recorded.launch(launch, &inputs, &outputs, &[len as u64]) }
    }
}
