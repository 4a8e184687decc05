//! Windows of any number of operands and any body.

use oxcall::Error;
use oxcall_hlo::{Dims, ElementType, TensorType, WindowDim};

use crate::element::Scalar;
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::kernels::movement::row_major;
use crate::kernels::scalars::{self, Arrays};
use crate::pool::Cost;
use crate::scalar::Program;

/// A reduction of windows by a scalar program.
#[derive(Debug)]
pub(super) struct General {
    elements: Vec<ElementType>,
    operand: Dims,
    result: Dims,
    window: Vec<WindowDim>,
    body: Program,
}

impl General {
    pub(super) fn new(
        elements: Vec<ElementType>,
        operand: &TensorType,
        result: &TensorType,
        window: &[WindowDim],
        body: Program,
    ) -> General {
        let (operand, result) = (operand.dims.clone(), result.dims.clone());
        General { elements, operand, result, window: window.to_vec(), body } // Bounded: dimensions.
    }

    fn results(&self) -> usize {
        self.result.iter().product()
    }

    /// The largest number of elements in a window.
    fn window_len(&self) -> usize {
        self.window.iter().map(|dim| dim.size).product()
    }

    /// The places in the operand of the elements of the window at `index`, in order, without padding and holes. Both
    /// slices have space for [`window_len`](General::window_len) places.
    fn places<'a>(&self, mut index: usize, mut places: &'a mut [usize], mut wider: &'a mut [usize]) -> &'a [usize] {
        if places.is_empty() {
            return places;
        }
        places[0] = 0;
        let mut count = 1;
        let strides = row_major(&self.operand);
        let mut starts: Dims = Dims::from_elem(0, self.result.len());
        for (start, &size) in starts.iter_mut().zip(&self.result).rev() {
            *start = index % size;
            index /= size;
        }
        for (dim, window) in self.window.iter().enumerate() {
            let inside = |k: usize| {
                let place = (starts[dim] * window.stride + k * window.window_dilation) as i64 - window.padding_low;
                let dilation = window.base_dilation as i64;
                let source = place / dilation;
                (place >= 0 && place % dilation == 0 && source < self.operand[dim] as i64).then_some(source as usize)
            };
            let stride = strides[dim] as usize;
            let mut wide = 0;
            for place in &places[..count] {
                for source in (0..window.size).filter_map(inside) {
                    wider[wide] = place + source * stride;
                    wide += 1;
                }
            }
            count = wide;
            (places, wider) = (wider, places);
        }
        &places[..count]
    }
}

impl Kernel for General {
    fn name(&self) -> String {
        "reduce_window[body]".into()
    }

    fn cost(&self) -> Cost {
        let elements = (self.results() * self.window_len()) as f64;
        Cost { flops: 20.0 * elements * (3 + self.body.len()) as f64, bytes: 16.0 * elements }
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        let count = self.elements.len();
        let operands = Arrays::new(inputs, 0, &self.elements);
        let init: Vec<Scalar> = Arrays::new(inputs, count, &self.elements).at(0).collect();
        let mut results = cx.scratch(self.results() * count)?;
        cx.pool.for_chunks(self.cost(), &mut results, count, |first, chunk| {
            let mut evaluator = self.body.evaluator();
            let mut args = vec![Scalar::default(); 2 * count]; // Bounded: parameters.
            let (mut places, mut wider) = (cx.scratch(self.window_len())?, cx.scratch(self.window_len())?);
            for (index, result) in chunk.chunks_exact_mut(count).enumerate() {
                result.copy_from_slice(&init);
                let places = self.places(first / count + index, &mut places, &mut wider);
                for &place in places {
                    args[..count].copy_from_slice(result);
                    args[count..].iter_mut().zip(operands.at(place)).for_each(|(arg, x)| *arg = x);
                    evaluator.call(&args, result);
                }
            }
            Ok::<(), Error>(())
        })?;
        scalars::write(&results, &self.elements, &mut outputs);
        Ok(())
    }
}
