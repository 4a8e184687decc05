//! Running totals: `cumsum`, `cumprod`, `cummax`, ...
//!
//! A total combines the total of whole blocks before it, and of blocks of blocks, with that of its own block so far. So
//! the error grows with the logarithm of its place.

use oxcall::Error;
use oxcall_hlo::{BinaryOp, ElementType, WindowDim};
use smallvec::SmallVec;

use super::{line, short};
use crate::element::{Element, Scalar};
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::kernels::combine::{Combine, Precise, by_combine};
use crate::kernels::scalars::{self, Arrays};
use crate::machine::{Block, Slot};
use crate::math::level::vectorised;
use crate::pool::Cost;
use crate::scalar::Program;

/// The dimension along which totals run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) outer: usize,
    pub(super) len: usize,
    pub(super) inner: usize,
    /// Whether totals cover the elements after each one instead of before.
    pub(super) reverse: bool,
}

impl Shape {
    /// The shape, if windows cover all elements up to each one, or from each one on, along one dimension.
    pub(super) fn new(dims: &[usize], window: &[WindowDim]) -> Option<Shape> {
        let (dim, reverse) = running_totals(dims, window)?;
        let (outer, inner) = (dims[..dim].iter().product(), dims[dim + 1..].iter().product());
        Some(Shape { outer, len: dims[dim], inner, reverse })
    }

    fn count(&self) -> usize {
        self.outer * self.len * self.inner
    }

    /// The rows of a slab in the order of the totals.
    pub(super) fn rows(&self) -> impl Iterator<Item = usize> + use<> {
        let (len, reverse) = (self.len, self.reverse);
        (0..len).map(move |row| if reverse { len - 1 - row } else { row })
    }
}

/// The dimension of an array of shape `dims` along which windows cover all elements up to each one, and whether they
/// cover those from each one on instead; `None` if windows are others.
pub fn running_totals(dims: &[usize], window: &[WindowDim]) -> Option<(usize, bool)> {
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
    is_scan.then_some((dim, reverse))
}

/// A scan; `run` is an instance of its code.
#[derive(Debug)]
pub(super) struct Scan {
    pub(super) function: BinaryOp,
    pub(super) element: ElementType,
    pub(super) shape: Shape,
    /// That of the function, of the type of sums.
    pub(super) identity: Scalar,
    run: Run,
}

type Run = fn(&Scan, Context<'_>, Inputs<'_>, Outputs<'_>) -> Result<(), Error>;

pub(super) fn make(function: BinaryOp, element: ElementType, shape: &Shape) -> Option<Box<dyn Kernel>> {
    let (run, identity) = by_combine!(function, element, (T, C) => {
        type Sum = <<T as Element>::Wide as Precise>::Sum;
        (run::<T, C> as Run, Scalar::from_pod(<C as Combine<Sum>>::IDENTITY))
    })?;
    Some(Box::new(Scan { function, element, shape: *shape, identity, run }))
}

fn run<T, C>(scan: &Scan, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error>
where
    T: Element,
    T::Wide: Precise,
    C: Combine<<T::Wide as Precise>::Sum>,
{
    let (operand, init) = (inputs.get::<T>(0), inputs.get::<T>(1)[0].widen().to_sum());
    let Shape { len, inner, .. } = scan.shape;
    if inner == 1 && len >= line::SHORTEST && line::is_common::<T>() {
        return line::run::<T, C>(scan, cx, operand, init, outputs.take(0));
    }
    let slab = len * inner;
    let round = |sum| T::narrow(T::Wide::from_sum(sum));
    cx.pool.for_chunks(scan.cost(), outputs.take::<T>(0), slab, |first, chunk| {
        let mut memory = cx.scratch(Totals::<<T::Wide as Precise>::Sum>::scratch(len, inner))?;
        let mut totals = Totals::new::<C>(init, (&mut memory[..], inner));
        for (result, operand) in chunk.chunks_exact_mut(slab).zip(operand[first..].chunks_exact(slab)) {
            totals.reset();
            let mut rows = scan.shape.rows().peekable();
            while rows.peek().is_some() {
                if inner == 1 {
                    let (before, mut sum) = (totals.before[0], C::IDENTITY);
                    for row in rows.by_ref().take(BLOCK) {
                        sum = C::combine(sum, operand[row].widen().to_sum());
                        result[row] = round(C::combine(before, sum));
                    }
                    totals.block[0] = sum;
                } else {
                    for row in rows.by_ref().take(BLOCK) {
                        let pairs = result[row * inner..][..inner].iter_mut().zip(&operand[row * inner..][..inner]);
                        for (((to, x), sum), &before) in pairs.zip(&mut *totals.block).zip(&*totals.before) {
                            *sum = C::combine(*sum, x.widen().to_sum());
                            *to = round(C::combine(before, *sum));
                        }
                    }
                }
                totals.close();
            }
        }
        Ok(())
    })
}

/// Rows of a block, and blocks of the next larger one.
pub(super) const BLOCK: usize = 8;

/// The number of sizes of blocks in so many rows.
pub(super) fn levels(rows: usize) -> usize {
    let (mut blocks, mut levels) = (rows / BLOCK + 1, 2);
    while blocks >= BLOCK {
        (blocks, levels) = (blocks / BLOCK, levels + 1);
    }
    levels
}

/// The totals of complete blocks, of several columns side by side.
pub(super) struct Totals<'a, W> {
    combine: fn(W, W) -> W,
    /// [`join`].
    join: fn(&mut [W], &[W]),
    identity: W,
    init: W,
    /// Of all complete blocks.
    pub(super) before: &'a mut [W],
    /// Of the block that is not complete.
    pub(super) block: &'a mut [W],
    /// Of complete blocks of each size that no larger complete one has, the smallest first.
    levels: &'a mut [W],
    count: usize,
}

impl<'a, W: Copy> Totals<'a, W> {
    /// The elements of memory for rows of so many columns.
    pub(super) fn scratch(rows: usize, columns: usize) -> usize {
        (2 + levels(rows)) * columns
    }

    /// Totals by the function `C`.
    pub(super) fn new<C: Combine<W>>(init: W, (memory, columns): (&'a mut [W], usize)) -> Totals<'a, W> {
        let (before, rest) = memory.split_at_mut(columns);
        let (block, levels) = rest.split_at_mut(columns);
        let (combine, join, identity) = (C::combine, join::<W, C>, C::IDENTITY);
        Totals { combine, join, identity, init, before, block, levels, count: 0 }
    }

    pub(super) fn reset(&mut self) {
        self.before.fill(self.init);
        self.block.fill(self.identity);
        self.levels.fill(self.identity);
        self.count = 0;
    }

    /// The block is complete. Compiled for each type alone: what it computes is a fraction of a total's work.
    #[inline(never)]
    pub(super) fn close(&mut self) {
        self.count += 1;
        let columns = self.block.len();
        if columns == 1 {
            return self.close_one();
        }
        (self.join)(&mut self.levels[..columns], self.block);
        let (mut count, mut levels) = (self.count, &mut *self.levels);
        while count.is_multiple_of(BLOCK) {
            let (complete, larger) = std::mem::take(&mut levels).split_at_mut(columns);
            (self.join)(&mut larger[..columns], complete);
            complete.fill(self.identity);
            (count, levels) = (count / BLOCK, larger);
        }
        self.before.fill(self.init);
        self.levels.chunks_exact(columns).rev().for_each(|level| (self.join)(self.before, level));
        self.block.fill(self.identity);
    }

    /// [`close`](Totals::close) of one column.
    fn close_one(&mut self) {
        let combine = self.combine;
        self.levels[0] = combine(self.levels[0], self.block[0]);
        let (mut count, mut level) = (self.count, 0);
        while count.is_multiple_of(BLOCK) {
            self.levels[level + 1] = combine(self.levels[level + 1], self.levels[level]);
            self.levels[level] = self.identity;
            (count, level) = (count / BLOCK, level + 1);
        }
        self.before[0] = self.levels.iter().rev().fold(self.init, |total, &level| combine(total, level));
        self.block[0] = self.identity;
    }
}

vectorised! {
/// Combines each number with a later one.
fn join<W: Copy, C: Combine<W>>(to: &mut [W], from: &[W]) {
    to.iter_mut().zip(from).for_each(|(to, &from)| *to = C::combine(*to, from));
}
}

impl Kernel for Scan {
    fn name(&self) -> String {
        format!("scan[{}]", self.function.name().trim_start_matches("stablehlo."))
    }

    fn cost(&self) -> Cost {
        let count = self.shape.count() as f64;
        Cost { flops: 10.0 * count, bytes: 2.0 * count * self.element.byte_width() as f64 }
    }

    fn generate(&self, block: &mut Block<'_>, inputs: &[Slot], outputs: &[Slot]) -> Option<()> {
        short::generate(self, block, [inputs[0], inputs[1]], outputs[0])
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, outputs: Outputs<'_>) -> Result<(), Error> {
        if self.shape.count() == 0 {
            return Ok(());
        }
        (self.run)(self, cx, inputs, outputs)
    }
}

/// A scan of any number of operands by any body, which is associative as the specification requires.
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
        let operands = Arrays::new(inputs, 0, &self.elements);
        let init: Vec<Scalar> = Arrays::new(inputs, count, &self.elements).at(0).collect();
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
                    // Later elements come after the total, or before it.
                    let mut join = |total: &[Scalar], later: &[Scalar], out: &mut [Scalar]| {
                        let (left, right) = args.split_at_mut(count);
                        let (first, second) = if reverse { (right, left) } else { (left, right) };
                        first.copy_from_slice(total);
                        second.copy_from_slice(later);
                        evaluator.call(&args, out);
                    };
                    // Of complete blocks of each size that no larger complete one has.
                    let mut levels: Vec<Option<Vec<Scalar>>> = Vec::new();
                    let (mut before, mut sum, mut next) = (init.clone(), init.clone(), init.clone());
                    for (number, row) in self.shape.rows().enumerate() {
                        let place = row * inner + column;
                        let x: SmallVec<[Scalar; 2]> = operands.at(base + place).collect();
                        let result = &mut result[place * count..][..count];
                        if number % BLOCK == 0 {
                            sum.copy_from_slice(&x);
                        } else {
                            join(&sum, &x, &mut next);
                            sum.copy_from_slice(&next);
                        }
                        join(&before, &sum, &mut *result);
                        if (number + 1) % BLOCK > 0 {
                            continue;
                        }
                        let (mut blocks, mut level, mut complete) = ((number + 1) / BLOCK, 0, sum.clone());
                        loop {
                            if level == levels.len() {
                                levels.push(None);
                            }
                            if let Some(total) = levels[level].take() {
                                join(&total, &complete, &mut next);
                                complete.copy_from_slice(&next);
                            }
                            if !blocks.is_multiple_of(BLOCK) {
                                levels[level] = Some(complete);
                                break;
                            }
                            (blocks, level) = (blocks / BLOCK, level + 1);
                        }
                        before.copy_from_slice(&init);
                        for total in levels.iter().rev().flatten() {
                            join(&before, total, &mut next);
                            before.copy_from_slice(&next);
                        }
                    }
                }
            }
        });
        scalars::write(&results, &self.elements, &mut outputs);
        Ok(())
    }
}
