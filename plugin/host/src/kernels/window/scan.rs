//! Running totals: `cumsum`, `cumprod`, `cummax`, ...

use oxcall::Error;
use oxcall_hlo::{BinaryOp, ElementType, WindowDim};

use crate::{
    element::Element,
    kernel::{Context, Inputs, Kernel, Outputs},
    kernels::{
        combine::{Combine, Precise, by_combine},
        scalars::{self, Arrays},
    },
    pool::Cost,
    scalar::{Program, Scalar},
};

/// The dimension that totals run along.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    outer: usize,
    len: usize,
    inner: usize,
    /// Whether totals are of the elements after each, rather than before.
    reverse: bool,
}

impl Shape {
    /// The shape, if windows hold all elements up to, or from, each along one dimension.
    pub(super) fn new(dims: &[usize], window: &[WindowDim]) -> Option<Shape> {
        let mut wide = (0..dims.len()).filter(|&dim| {
            let WindowDim { size, stride, padding_low, padding_high, base_dilation, .. } = window[dim];
            (size, stride, padding_low, padding_high, base_dilation) != (1, 1, 0, 0, 1)
        });
        let (dim, None) = (wide.next()?, wide.next()) else { return None };
        let WindowDim { size, stride, padding_low, padding_high, base_dilation, window_dilation, .. } = window[dim];
        let before = size as i64 - 1;
        let reverse = match (padding_low, padding_high) {
            (low, 0) if low == before => false,
            (0, high) if high == before => true,
            _ => return None,
        };
        let is_scan = size == dims[dim] && (stride, base_dilation, window_dilation) == (1, 1, 1);
        let (outer, inner) = (dims[..dim].iter().product(), dims[dim + 1..].iter().product());
        is_scan.then_some(Shape { outer, len: size, inner, reverse })
    }

    fn count(&self) -> usize {
        self.outer * self.len * self.inner
    }

    /// The rows of a slab in the order of the totals.
    fn rows(&self) -> impl Iterator<Item = usize> + use<> {
        let (len, reverse) = (self.len, self.reverse);
        (0..len).map(move |row| if reverse { len - 1 - row } else { row })
    }
}

/// A scan by the code that `run` is an instance of.
#[derive(Debug)]
struct Scan {
    function: BinaryOp,
    element: ElementType,
    shape: Shape,
    run: Run,
}

type Run = fn(&Scan, Context<'_>, Inputs<'_>, Outputs<'_>) -> Result<(), Error>;

pub(super) fn make(function: BinaryOp, element: ElementType, shape: &Shape) -> Option<Box<dyn Kernel>> {
    let run = by_combine!(function, element, (T, C) => run::<T, C> as Run)?;
    Some(Box::new(Scan { function, element, shape: *shape, run }))
}

fn run<T, C>(scan: &Scan, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error>
where
    T: Element,
    T::Wide: Precise,
    C: Combine<<T::Wide as Precise>::Sum>,
{
    let (operand, init) = (inputs.get::<T>(0), inputs.get::<T>(1)[0].widen().to_sum());
    let Shape { len, inner, reverse, .. } = scan.shape;
    let slab = len * inner;
    let round = |sum| T::narrow(T::Wide::from_sum(sum));
    cx.pool.for_chunks(scan.cost(), outputs.take::<T>(0), slab, |first, chunk| {
        let mut sums = cx.filled(if inner == 1 { 0 } else { inner }, init)?;
        for (result, operand) in chunk.chunks_exact_mut(slab).zip(operand[first..].chunks_exact(slab)) {
            if inner == 1 {
                let mut sum = init;
                let mut add = |(to, x): (&mut T, &T)| {
                    sum = C::combine(sum, x.widen().to_sum());
                    *to = round(sum);
                };
                let pairs = result.iter_mut().zip(operand);
                if reverse {
                    pairs.rev().for_each(&mut add)
                } else {
                    pairs.for_each(&mut add)
                }
                continue;
            }
            sums.fill(init);
            for row in scan.shape.rows() {
                let pairs = result[row * inner..][..inner].iter_mut().zip(&operand[row * inner..][..inner]);
                for ((to, x), sum) in pairs.zip(sums.iter_mut()) {
                    *sum = C::combine(*sum, x.widen().to_sum());
                    *to = round(*sum);
                }
            }
        }
        Ok(())
    })
}

impl Kernel for Scan {
    fn name(&self) -> String {
        format!("scan[{}]", self.function.name().trim_start_matches("stablehlo."))
    }

    fn cost(&self) -> Cost {
        let count = self.shape.count() as f64;
        Cost { flops: 10.0 * count, bytes: 2.0 * count * self.element.byte_width() as f64 }
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, outputs: Outputs<'_>) -> Result<(), Error> {
        if self.shape.count() == 0 {
            return Ok(());
        }
        (self.run)(self, cx, inputs, outputs)
    }
}

/// A scan of any number of operands by any body, which is associative as the specification asks.
#[derive(Debug)]
pub(super) struct GeneralScan {
    elements: Vec<ElementType>,
    shape: Shape,
    body: Program,
}

impl GeneralScan {
    pub(super) fn new(elements: Vec<ElementType>, shape: Shape, body: Program) -> GeneralScan {
        GeneralScan { elements, shape, body }
    }
}

impl Kernel for GeneralScan {
    fn name(&self) -> String {
        "scan[body]".into()
    }

    fn cost(&self) -> Cost {
        let count = self.shape.count() as f64;
        Cost { flops: 20.0 * count * (2 + self.body.len()) as f64, bytes: 32.0 * count }
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        let count = self.elements.len();
        let operands = Arrays::of(inputs, 0, &self.elements);
        let init: Vec<Scalar> = Arrays::of(inputs, count, &self.elements).at(0).collect();
        let Shape { len, inner, reverse, .. } = self.shape;
        let slab = len * inner * count;
        let mut results = cx.scratch(self.shape.count() * count)?;
        if results.is_empty() {
            return Ok(());
        }
        cx.pool.for_chunks(self.cost(), &mut results, slab, |first, chunk| {
            let mut evaluator = self.body.evaluator();
            let mut args = vec![Scalar::default(); 2 * count]; // Bounded: parameters.
            for (index, result) in chunk.chunks_exact_mut(slab).enumerate() {
                let base = first / count + index * len * inner;
                for column in 0..inner {
                    let mut total = init.clone();
                    for row in self.shape.rows() {
                        let place = row * inner + column;
                        // The element is after the total, or before it.
                        let (left, right) = args.split_at_mut(count);
                        let (of_total, of_element) = if reverse { (right, left) } else { (left, right) };
                        of_total.copy_from_slice(&total);
                        of_element.iter_mut().zip(operands.at(base + place)).for_each(|(arg, x)| *arg = x);
                        evaluator.call(&args, &mut total);
                        result[place * count..][..count].copy_from_slice(&total);
                    }
                }
            }
        });
        scalars::write(&results, &self.elements, &mut outputs);
        Ok(())
    }
}
