//! Windows along several dimensions at once: each line of the result is computed in one pass.

use oxcall::Error;

use super::pool::Pass;
use crate::element::Element;
use crate::kernel::Context;
use crate::kernels::reduce::Loops;
use crate::pool::Cost;

/// Windows whose elements are looked up, for windows that overlap little: reducing one dimension after another would
/// then gain nothing, and would write and read intermediate results.
#[derive(Debug)]
pub(super) struct Fused {
    /// The dimensions before the line, outermost first.
    axes: Vec<Axis>,
    /// The windows along the line, if there are some.
    along: Option<Pass>,
    /// The length of the line in the operand and in the result.
    from: usize,
    to: usize,
    cost: Cost,
}

/// A dimension, or several without windows.
#[derive(Debug)]
struct Axis {
    to: usize,
    /// The distance of neighbours in the operand.
    step: usize,
    /// For each index, the places of its window's elements that are not padding; `None` without windows.
    windows: Option<Vec<Vec<usize>>>,
}

/// The length of the longest table.
const LONGEST: usize = 1 << 16;

/// With fewer lines than this, single dimensions divide better among threads.
const FEWEST_LINES: usize = 16;

impl Fused {
    /// The windows along the dimensions of `passes`; `None` if reducing these one after another is better.
    pub(super) fn new(passes: &[Pass], dims: &[usize]) -> Option<Fused> {
        let last = passes.last().filter(|_| !dims.contains(&0))?;
        let (along, before) = match last.inner {
            1 => (Some(*last), &passes[..passes.len() - 1]),
            _ => (None, passes),
        };
        let (from, to) = along.map_or((last.inner, last.inner), |pass| (pass.from, pass.to));
        // From the inside out: dimensions without windows lie between those with.
        let (mut axes, mut step) = (Vec::new(), from);
        for pass in before.iter().rev() {
            push_plain(&mut axes, pass.inner / step, &mut step);
            let sources = |index| (0..pass.window.size).filter_map(move |k| pass.source(index, k));
            let table = |step: usize| (0..pass.to).map(move |i| sources(i).map(|at| at * step).collect()).collect();
            if pass.to * pass.window.size > LONGEST {
                return None;
            }
            axes.push(Axis { to: pass.to, step, windows: Some(table(step)) });
            step *= pass.from;
        }
        let all: usize = dims.iter().product();
        push_plain(&mut axes, all / step, &mut step);
        axes.reverse();

        let lines: usize = axes.iter().map(|axis| axis.to).product();
        let size = |pass: &Pass| pass.window.size as f64;
        let rows = lines as f64 * from as f64 * before.iter().map(size).product::<f64>();
        let operations = rows + along.map_or(0.0, |pass| lines as f64 * to as f64 * size(&pass));
        let one_by_one: f64 = passes.iter().map(|pass| (pass.outer * pass.to * pass.inner) as f64 * size(pass)).sum();
        let cost = Cost { flops: operations, bytes: 4.0 * (rows + (lines * to) as f64) };
        (lines >= FEWEST_LINES && operations <= 2.0 * one_by_one).then_some(Fused { axes, along, from, to, cost })
    }

    /// The cost of one run.
    pub(super) fn cost(&self) -> Cost {
        self.cost
    }

    /// Writes the results, each of which begins as `init`.
    pub(super) fn run<T: Element>(
        &self,
        cx: Context<'_>,
        (first_loops, loops): (&Loops<T>, &Loops<T::Wide>),
        src: &[T],
        init: T::Wide,
        results: &mut [T],
    ) -> Result<(), Error>
    where
        T::Wide: Element<Wide = T::Wide>,
    {
        cx.pool.for_chunks(self.cost, results, self.to, |first, chunk| {
            let mut reduced = cx.filled(if self.along.is_some() { self.from } else { 0 }, first_loops.identity)?;
            let stored_wide = T::TYPE == <T::Wide as Element>::TYPE;
            let mut wide = cx.filled(if stored_wide { 0 } else { self.to }, init)?;
            let mut places = Places::new(&self.axes, first / self.to);
            for line in chunk.chunks_exact_mut(self.to) {
                let places = places.step();
                let sums = if stored_wide { bytemuck::cast_slice_mut(line) } else { &mut wide[..] };
                sums.fill(init);
                match &self.along {
                    None => (first_loops.rows)(src, places, 0, sums),
                    Some(pass) => {
                        reduced.fill(first_loops.identity);
                        (first_loops.rows)(src, places, 0, &mut reduced);
                        pass.line(loops, &reduced, sums);
                    }
                }
                if !stored_wide {
                    line.iter_mut().zip(wide.iter()).for_each(|(to, &sum)| *to = T::narrow(sum));
                }
            }
            Ok(())
        })
    }
}

/// Adds `size` elements of dimensions without windows.
fn push_plain(axes: &mut Vec<Axis>, size: usize, step: &mut usize) {
    if size > 1 {
        axes.push(Axis { to: size, step: *step, windows: None });
        *step *= size;
    }
}

/// The places that are reduced to each line, line by line.
struct Places<'a> {
    axes: &'a [Axis],
    index: Vec<usize>,
    /// For each axis the places by the indices of those before it; at last those of the line.
    places: Vec<Vec<usize>>,
    /// The first axis whose index is new, along with all axes after it.
    changed: usize,
}

impl<'a> Places<'a> {
    fn new(axes: &'a [Axis], line: usize) -> Places<'a> {
        let (mut index, mut rest) = (vec![0; axes.len()], line); // Bounded: dimensions.
        for (i, axis) in index.iter_mut().zip(axes).rev() {
            *i = rest % axis.to;
            rest /= axis.to;
        }
        let mut places = vec![Vec::new(); axes.len() + 1]; // Bounded: dimensions.
        places[0].push(0);
        Places { axes, index, places, changed: 0 }
    }

    /// Returns the places of this line, and advances to the next.
    fn step(&mut self) -> &[usize] {
        for (i, axis) in self.axes.iter().enumerate().skip(self.changed) {
            let (before, after) = self.places.split_at_mut(i + 1);
            let (before, after) = (&before[i], &mut after[0]);
            after.clear();
            match &axis.windows {
                None => after.extend(before.iter().map(|place| place + self.index[i] * axis.step)),
                Some(windows) => {
                    let window = &windows[self.index[i]];
                    before.iter().for_each(|place| after.extend(window.iter().map(|offset| place + offset)));
                }
            }
        }
        self.changed = self.axes.len();
        for (i, axis) in self.index.iter_mut().zip(self.axes).rev() {
            self.changed -= 1;
            *i += 1;
            if *i < axis.to {
                break;
            }
            *i = 0;
        }
        self.places.last().expect("there is one more than axes")
    }
}
