//! Windows along several dimensions at once: each line of the result is computed in one pass.
//!
//! Lines may be short, so neighbours are computed together. Windows along lines then are those of one long line, in
//! which identity elements take the place of padding.

use oxcall::Error;
use oxcall_hlo::WindowDim;

use super::lines::Lines;
use super::pool::{Functions, LONG_WINDOW, Pass};
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
    windows: Option<Windows>,
}

/// The windows of a dimension.
#[derive(Debug)]
struct Windows {
    /// For each index, the places of its window's elements that are not padding.
    places: Vec<Vec<usize>>,
    /// For each index, the number of windows from it on that are equal, but for their distance.
    equal: Vec<usize>,
    /// The distance of equal neighbours in the operand.
    distance: usize,
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
            if pass.to * pass.window.size > LONGEST {
                return None;
            }
            axes.push(Axis { to: pass.to, step, windows: Some(Windows::new(pass, step)) });
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
        functions: &Functions<T>,
        operand: &[T],
        init: T::Wide,
        results: &mut [T],
    ) -> Result<(), Error>
    where
        T::Wide: Element<Wide = T::Wide>,
    {
        let (stored_wide, identity) = (T::TYPE == <T::Wide as Element>::TYPE, functions.first.identity);
        let row = self.along.as_ref().and_then(|pass| Row::new(pass, functions.pads));
        let most = (TOGETHER / row.as_ref().map_or(self.from.max(self.to), |row| row.pitch)).max(1);
        let most = if self.along.is_some() && row.is_none() { 1 } else { most };
        cx.pool.for_chunks(self.cost, results, self.to, |first, chunk| {
            let reduced = match &row {
                Some(row) => row.len(most),
                None if self.along.is_some() => self.from,
                None => 0,
            };
            let mut reduced = cx.filled(reduced, identity)?;
            let mut sums = cx.filled(row.as_ref().map_or(0, |row| row.windows() * most), init)?;
            let mut wide = cx.filled(if stored_wide { 0 } else { self.to * most }, init)?;
            let mut places = Places::new(&self.axes, first / self.to);
            let mut rest = chunk;
            while !rest.is_empty() {
                let (places, count, step) = places.step(most.min(rest.len() / self.to));
                let (lines, after) = rest.split_at_mut(count * self.to);
                let out = if stored_wide { bytemuck::cast_slice_mut(lines) } else { &mut wide[..count * self.to] };
                let fold = |pitch, init, sums: &mut [T::Wide]| {
                    (functions.lines)(operand, places, Lines { count, len: self.from, step, pitch }, init, sums);
                };
                match (&self.along, &row) {
                    (None, _) => fold(self.to, init, out),
                    (Some(_), Some(row)) => {
                        fold(row.pitch, identity, &mut reduced[row.window.padding_low as usize..]);
                        row.run(&functions.next, &reduced, init, &mut sums[..count * row.windows()]);
                        let lines = out.chunks_exact_mut(self.to).zip(sums.chunks_exact(row.windows()));
                        lines.for_each(|(line, sums)| line.copy_from_slice(&sums[..self.to]));
                    }
                    (Some(pass), None) => {
                        fold(self.from, identity, &mut reduced);
                        out.fill(init);
                        pass.line(&functions.next, &reduced, out);
                    }
                }
                if !stored_wide {
                    (functions.narrow)(&wide[..lines.len()], lines);
                }
                rest = after;
            }
            Ok(())
        })
    }
}

/// The number of elements in lines that are reduced together: these fit the L1 cache.
const TOGETHER: usize = 2048;

/// Lines with their padding, as one row.
struct Row {
    window: WindowDim,
    /// The distance of lines: a multiple of the stride of windows.
    pitch: usize,
}

impl Row {
    /// A row for lines of `pass`; `None` if windows are long, or not every number stays as it is when elements of
    /// padding, which `pads` says, are combined with it.
    fn new(pass: &Pass, pads: bool) -> Option<Row> {
        let window = pass.window;
        let WindowDim { size, stride, padding_low, base_dilation, window_dilation, .. } = window;
        let is_short = size < LONG_WINDOW && base_dilation == 1 && padding_low >= 0;
        let has_element = |index: usize| (0..size).any(|k| pass.source(index, k).is_some());
        if !pads || !is_short || !(0..pass.to).all(has_element) {
            return None;
        }
        let end = (pass.to - 1) * stride + (size - 1) * window_dilation + 1;
        let pitch = end.max(padding_low as usize + pass.from).next_multiple_of(stride);
        Some(Row { window, pitch })
    }

    /// The number of windows that start in a line; the last ones may reach into the next line, and are not used.
    fn windows(&self) -> usize {
        self.pitch / self.window.stride
    }

    /// The elements of `count` lines.
    fn len(&self, count: usize) -> usize {
        self.pitch * count + (self.window.size - 1) * self.window.window_dilation
    }

    /// Reduces windows, which begin as `init`: one position of all at a time.
    fn run<W: Element<Wide = W>>(&self, loops: &Loops<W>, row: &[W], init: W, sums: &mut [W]) {
        let WindowDim { size, stride, window_dilation, .. } = self.window;
        sums.fill(init);
        (0..size).for_each(|k| (loops.strided)(&row[k * window_dilation..], stride, sums));
    }
}

impl Windows {
    /// Those of `pass`, whose elements are `step` apart.
    fn new(pass: &Pass, step: usize) -> Windows {
        let sources = |index: usize| (0..pass.window.size).filter_map(move |k| pass.source(index, k));
        let places: Vec<Vec<usize>> = (0..pass.to).map(|i| sources(i).map(|at| at * step).collect()).collect();
        let distance = pass.window.stride / pass.window.base_dilation * step;
        let mut equal = vec![1; pass.to]; // Bounded: at most LONGEST.
        for i in (1..pass.to).rev() {
            if places[i - 1].iter().map(|place| place + distance).eq(places[i].iter().copied()) {
                equal[i - 1] = equal[i] + 1;
            }
        }
        Windows { places, equal, distance }
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

    /// Returns the places of this line, the number of lines from it on, at most `most`, with equal windows, and their
    /// distance; advances to the line after these.
    fn step(&mut self, most: usize) -> (&[usize], usize, usize) {
        let (last, axis) = (self.index[self.axes.len() - 1], &self.axes[self.axes.len() - 1]);
        let (equal, distance) = match &axis.windows {
            None => (axis.to - last, axis.step),
            Some(windows) => (windows.equal[last], windows.distance),
        };
        let count = equal.min(most);
        for (i, axis) in self.axes.iter().enumerate().skip(self.changed) {
            let (before, after) = self.places.split_at_mut(i + 1);
            let (before, after) = (&before[i], &mut after[0]);
            after.clear();
            match &axis.windows {
                None => after.extend(before.iter().map(|place| place + self.index[i] * axis.step)),
                Some(windows) => {
                    let window = &windows.places[self.index[i]];
                    before.iter().for_each(|place| after.extend(window.iter().map(|offset| place + offset)));
                }
            }
        }
        self.changed = self.axes.len();
        let mut advance = count;
        for (i, axis) in self.index.iter_mut().zip(self.axes).rev() {
            self.changed -= 1;
            *i += std::mem::replace(&mut advance, 1);
            if *i < axis.to {
                break;
            }
            *i = 0;
        }
        (self.places.last().expect("there is one more than axes"), count, distance)
    }
}
