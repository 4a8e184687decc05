//! Reductions of any number of operands by any body.

use oxcall::Error;
use oxcall_hlo::{ElementType, Func, Region};

use super::layout::Layout;
use crate::element::Scalar;
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::kernels::nest::Walk;
use crate::kernels::scalars::{self, Arrays};
use crate::pool::Cost;
use crate::scalar::Program;

/// A reduction by a scalar program.
#[derive(Debug)]
struct General {
    elements: Vec<ElementType>,
    layout: Layout,
    body: Program,
}

pub(super) fn make(
    func: &Func,
    body: &Region,
    elements: Vec<ElementType>,
    layout: Layout,
) -> Result<Box<dyn Kernel>, Error> {
    let body = Program::new(func, &body.params, &body.ops, &body.results)?;
    Ok(Box::new(General { elements, layout, body }))
}

impl Kernel for General {
    fn name(&self) -> String {
        "reduce[body]".into()
    }

    fn cost(&self) -> Cost {
        let elements = (self.layout.results() * self.layout.elements()) as f64;
        let width: usize = self.elements.iter().map(|element| element.byte_width()).sum();
        Cost { flops: 20.0 * elements * (2 + self.body.len()) as f64, bytes: elements * width as f64 }
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        let count = self.elements.len();
        let operands = Arrays::new(inputs, 0, &self.elements);
        let init: Vec<Scalar> = Arrays::new(inputs, count, &self.elements).at(0).collect();
        let mut results = cx.scratch(self.layout.results() * count)?;
        if results.is_empty() {
            return Ok(());
        }
        cx.pool.for_chunks(self.cost(), &mut results, count, |first, chunk| {
            let mut evaluator = self.body.evaluator();
            let mut args = vec![Scalar::default(); 2 * count]; // Bounded: parameters.
            let mut starts = Walk::new(&self.layout.kept, [0], first / count);
            for result in chunk.chunks_exact_mut(count) {
                let start = starts.step();
                result.copy_from_slice(&init);
                if self.layout.elements() == 0 {
                    continue;
                }
                let mut walk = Walk::new(&self.layout.reduced, start, 0);
                for _ in 0..self.layout.elements() {
                    args[..count].copy_from_slice(result);
                    let place = walk.step()[0] as usize;
                    args[count..].iter_mut().zip(operands.at(place)).for_each(|(arg, x)| *arg = x);
                    evaluator.call(&args, result);
                }
            }
        });
        scalars::write(&results, &self.elements, &mut outputs);
        Ok(())
    }
}
