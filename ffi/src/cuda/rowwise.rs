//! Kernels of functions of rows: the support code of `#[rowwise]`.

pub use super::recorded::{Buffer, operand, result};
use super::recorded::{Kind, Recorded};
use super::{Cuda, Launch, Loaded, print};
use crate::context::Context;
use crate::pointwise::Stored;
use crate::rowwise::{self, Plan};
use crate::{Error, Result};

/// The kernels of a function with the attributes of a call: a state of its instantiate stage.
pub struct Kernels {
    recorded: Recorded,
    /// Whether each operand and each result is a row.
    operands: Vec<bool>,
    results: Vec<bool>,
}

impl Kernels {
    /// The kernels of a function.
    ///
    /// # Errors
    /// If the function has more operands than a kernel takes.
    pub fn new(plan: &Plan) -> Result<Kernels> {
        let are_rows = |kinds: &[rowwise::Kind]| kinds.iter().map(|kind| *kind == rowwise::Kind::Row).collect();
        let (operands, results): (Vec<bool>, Vec<bool>) = (are_rows(plan.inputs()), are_rows(plan.results()));
        let print = || {
            let expression = plan.expression();
            let text = expression.and_then(|expression| print::rowwise::kernel(&expression, &operands, &results));
            text.ok_or_else(|| Error::internal("expected a program of rows, got another"))
        };
        let recorded = Recorded::new(Kind::Rowwise, [operands.len(), results.len(), 2], print)?;
        Ok(Kernels { recorded, operands, results })
    }

    /// Loads them on the device of a call.
    ///
    /// # Errors
    /// As for [`Module::load_for`](super::Module::load_for).
    pub fn load_for(&self, context: &Context<'_>) -> Result<Loaded> {
        self.recorded.load_for(context)
    }

    /// Applies the function to the rows of arrays. `shape` is that of an operand of rows; the arrays of numbers of rows
    /// have it without its last dimension.
    ///
    /// # Errors
    /// If these are not such arrays, as many as the function has; those of a launch.
    pub fn run<T: Stored, const I: usize, const O: usize>(
        &self,
        cuda: &Cuda<'_>,
        inputs: [Buffer<'_, T>; I],
        outputs: [Buffer<'_, T>; O],
        shape: &[usize],
    ) -> Result<()> {
        let Some((n, batch)) = shape.split_last() else {
            return Err(Error::internal("expected operands of at least one dimension, got a scalar"));
        };
        let (rows, n) = (batch.iter().product::<usize>(), *n);
        self.recorded.check(&inputs, &outputs, |buffer, is_result, index| {
            let are_rows = if is_result { &self.results } else { &self.operands };
            buffer.len() == rows * if are_rows[index] { n } else { 1 }
        })?;
        let launch = Launch::rows_of(cuda, rows as u64, n * size_of::<T>())?;
        // SAFETY: checked; the kernel reads and writes `rows` rows of `n` elements, or as many numbers, of each.
        unsafe { self.recorded.launch(launch, &inputs, &outputs, &[rows as u64, n as u64]) }
    }
}
