//! Scalar loops and branches, as kernels that run a register program.

use oxcall::Error;
use oxcall_hlo::{Func, Op, TensorType, ValueId};
use smallvec::SmallVec;

use super::{Program, Whole, whole};
use crate::element::Scalar;
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::pool::Cost;

/// A register program as a kernel.
pub struct ScalarLoop {
    name: &'static str,
    program: Program,
    /// The size of each result, in bytes.
    widths: Vec<usize>,
    cost: Cost,
}

impl ScalarLoop {
    /// The kernel of a loop or branch that works on scalars only, with its inputs. The cost assumes that the program
    /// runs `iterations` times.
    pub fn from_op(op: &Op, func: &Func, iterations: f64) -> Option<(ScalarLoop, Vec<ValueId>)> {
        let Whole { program, inputs } = whole(func, op)?;
        let widths = op.results.iter().map(|&result| func.ty(result).tensor().map(TensorType::byte_size));
        let widths = widths.collect::<Option<_>>()?;
        // An instruction takes about two nanoseconds.
        let cost = Cost { flops: 16.0 * iterations * program.len() as f64, bytes: 0.0 };
        Some((ScalarLoop { name: op.kind.name(), program, widths, cost }, inputs))
    }
}

impl Kernel for ScalarLoop {
    fn name(&self) -> String {
        format!("scalar {}", self.name)
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        let args: SmallVec<[Scalar; 8]> = (0..inputs.len()).map(|i| Scalar::from_bytes(inputs.get::<u8>(i))).collect();
        let mut results: SmallVec<[Scalar; 8]> = SmallVec::from_elem(Scalar::default(), self.widths.len());
        self.program.evaluator().until(cx.era).call(&args, &mut results);
        for (index, (result, &width)) in results.iter().zip(&self.widths).enumerate() {
            outputs.take::<u8>(index).copy_from_slice(&result.0.to_le_bytes()[..width]);
        }
        Ok(())
    }
}
