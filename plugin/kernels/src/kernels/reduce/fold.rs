//! Reductions of one operand by a recognised function.
//!
//! Floats are summed in many short chains that are then joined in pairs, so that the error grows with the logarithm of
//! the number of elements. The order of the sum depends only on shapes, never on the number of threads.

use oxcall::Error;
use oxcall_hlo::{BinaryOp, ElementType};

use super::layout::Layout;
use super::loops::Loops;
use super::pairwise::Pairwise;
use super::{columns, few};
use crate::element::Element;
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::kernels::combine::by_combine;
use crate::kernels::nest::Walk;
use crate::machine::{Block, Slot, Small};
use crate::pool::Cost;

/// A reduction.
#[derive(Clone)]
pub(super) struct Fold<T: Element> {
    pub(super) function: BinaryOp,
    pub(super) layout: Layout,
    pub(super) loops: Loops<T>,
}

pub(super) fn make(function: BinaryOp, element: ElementType, layout: &Layout) -> Option<Box<dyn Kernel>> {
    by_combine!(function, element, (T, C) => {
        Box::new(Fold::<T> { function, layout: layout.clone(), loops: Loops::of::<C>() }) as Box<dyn Kernel>
    })
}

/// Elements of a result in rows, or scattered.
fn run_rows<T: Element>(
    fold: &Fold<T>,
    cx: Context<'_>,
    operand: &[T],
    init: T::Wide,
    results: &mut [T],
) -> Result<(), Error> {
    let (layout, segments, loops) = (&fold.layout, fold.layout.segments(), &fold.loops);
    let finish = |x: T::Wide| T::narrow((loops.combine)(init, x));
    if results.len() < 4 * cx.pool.threads() && segments >= 2 && cx.pool.splits(fold.cost()) {
        let share = fold.share(results.len());
        let mut parts = cx.filled(segments, loops.identity)?;
        for (index, result) in results.iter_mut().enumerate() {
            let start = layout.start(index);
            cx.pool.for_chunks(share, &mut parts, 1, |first, parts| {
                let mut parts_left = parts.iter_mut();
                layout.for_segments(start, first..first + parts_left.len(), |offset, len| {
                    if let Some(part) = parts_left.next() {
                        *part = (loops.slice)(&operand[offset..][..len]);
                    }
                });
            });
            let mut sum = Pairwise::new(loops);
            parts.iter().for_each(|&part| sum.push(part));
            *result = finish(sum.finish());
        }
        return Ok(());
    }
    cx.pool.for_chunks(fold.cost(), results, 1, |first, results| some_rows(fold, operand, init, first, results));
    Ok(())
}

/// The results from `first` on, whose elements are in rows, or scattered.
fn some_rows<T: Element>(fold: &Fold<T>, operand: &[T], init: T::Wide, first: usize, results: &mut [T]) {
    let (layout, segments, loops) = (&fold.layout, fold.layout.segments(), &fold.loops);
    if segments == 1
        && let Some(row) = layout.neighbouring_rows()
    {
        return (loops.each)(&operand[first * row..], row, init, results);
    }
    let finish = |x: T::Wide| T::narrow((loops.combine)(init, x));
    let mut walk = Walk::new(&layout.kept, [0], first);
    let mut sum = Pairwise::new(loops);
    for result in results {
        let start = walk.step()[0];
        if let ([], row) | ([_], row @ 2..) = (&layout.reduced[..], layout.row())
            && segments == 1
        {
            *result = finish((loops.slice)(&operand[start as usize..][..row]));
            continue;
        }
        layout.for_segments(start, 0..segments, |offset, len| match &operand[offset..][..len] {
            [x] => sum.push(x.widen()),
            slice => sum.push((loops.slice)(slice)),
        });
        *result = finish(sum.finish());
    }
}

/// The most elements of a reduction that machine code calls.
const SMALL: usize = 4096;

impl<T: Element> Small for Fold<T> {
    type Element = T;

    fn run(&self, operands: &[&[T]], results: &mut [T]) {
        let init = operands[1][0].widen();
        if self.layout.is_of_rows() {
            some_rows(self, operands[0], init, 0, results);
        } else {
            columns::run_small(self, operands[0], init, results);
        }
    }
}

impl<T: Element> Fold<T> {
    /// The cost of one of `count` equal shares of the work, which threads divide among them.
    pub(super) fn share(&self, count: usize) -> Cost {
        Cost { bytes: self.cost().bytes / count as f64, ..Cost::default() }
    }
}

impl<T: Element> Kernel for Fold<T> {
    fn name(&self) -> String {
        format!("reduce[{}]", self.function.name().trim_start_matches("stablehlo."))
    }

    fn cost(&self) -> Cost {
        let (results, elements) = (self.layout.results() as f64, self.layout.elements() as f64);
        let rows = results * elements / self.layout.row().max(self.layout.columns()) as f64;
        let bytes = results * (elements + 1.0) * size_of::<T>() as f64;
        Cost { flops: results * elements + 20.0 * rows, bytes }
    }

    fn generate(&self, block: &mut Block<'_>, inputs: &[Slot], outputs: &[Slot]) -> Option<()> {
        let elements = self.layout.results() * self.layout.elements();
        let few = few::Fold { function: self.function, element: T::TYPE, layout: &self.layout };
        if few::generate(few, block, [inputs[0], inputs[1]], outputs[0]).is_some() {
            return Some(());
        }
        (1..=SMALL).contains(&elements).then(|| block.invoke(self.clone(), inputs, outputs[0]))
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        let (operand, init) = (inputs.get::<T>(0), inputs.get::<T>(1)[0].widen());
        let results = outputs.take::<T>(0);
        match self.layout.results() {
            0 => Ok(()),
            _ if self.layout.is_of_rows() => run_rows(self, cx, operand, init, results),
            _ => columns::run(self, cx, operand, init, results),
        }
    }
}
