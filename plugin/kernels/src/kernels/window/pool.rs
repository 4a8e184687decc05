//! Windows of one operand and a recognised function, one dimension after another.

use oxcall::Error;
use oxcall_hlo::{BinaryOp, ElementType, TensorType, WindowDim};
use smallvec::SmallVec;

use super::fused::Fused;
use super::lines::{Lines, fold_lines};
use crate::element::Element;
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::kernels::combine::by_combine;
use crate::kernels::reduce::Loops;
use crate::math::level::vectorised;
use crate::memory::Scratch;
use crate::pool::{Cost, Pool};

/// A reduction of windows.
struct Windows<T: Element>
where
    T::Wide: Element<Wide = T::Wide>,
{
    function: BinaryOp,
    element: ElementType,
    passes: Vec<Pass>,
    /// All passes at once, if that is better.
    fused: Option<Fused>,
    count: usize,
    functions: Functions<T>,
}

/// The loops of one function.
pub(super) struct Functions<T: Element>
where
    T::Wide: Element<Wide = T::Wide>,
{
    /// Those of the first pass, and of the passes after it.
    pub(super) first: Loops<T>,
    pub(super) next: Loops<T::Wide>,
    /// [`fold_lines`].
    pub(super) lines: FoldLines<T>,
    /// [`narrow`].
    pub(super) narrow: fn(&[T::Wide], &mut [T]),
    /// Whether numbers that were combined stay as they are when they are combined with the identity element: not so if
    /// complex infinities are multiplied by one.
    pub(super) pads: bool,
}

/// The type of [`fold_lines`].
type FoldLines<T> = fn(&[T], &[usize], Lines, <T as Element>::Wide, &mut [<T as Element>::Wide]);

/// The windows along one dimension.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pass {
    pub(super) outer: usize,
    /// The sizes of the dimension before and after.
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) inner: usize,
    pub(super) window: WindowDim,
}

pub(super) fn make(
    function: BinaryOp,
    element: ElementType,
    operand: &TensorType,
    result: &TensorType,
    window: &[WindowDim],
) -> Option<Box<dyn Kernel>> {
    let mut dims = operand.dims.clone();
    let mut passes = Vec::new();
    for (dim, &window) in window.iter().enumerate() {
        let WindowDim { size, stride, padding_low, padding_high, base_dilation, .. } = window;
        if (size, stride, padding_low, padding_high, base_dilation) == (1, 1, 0, 0, 1) {
            continue;
        }
        let (outer, inner) = (dims[..dim].iter().product(), dims[dim + 1..].iter().product());
        passes.push(Pass { outer, from: dims[dim], to: result.dims[dim], inner, window });
        dims[dim] = result.dims[dim];
    }
    let count = result.count();
    let mut fused = if count == 0 { None } else { Fused::new(&passes, &operand.dims) };
    by_combine!(function, element, (T, C) => {
        let functions = Functions::<T> {
            first: Loops::of::<C>(),
            next: Loops::of::<C>(),
            lines: fold_lines::<T, C>,
            narrow: narrow::<T>,
            pads: !element.is_complex(),
        };
        let (passes, fused) = (passes.clone(), fused.take());
        Box::new(Windows { function, element, passes, fused, count, functions }) as Box<dyn Kernel>
    })
}

vectorised! {
/// Rounds numbers.
fn narrow<T: Element>(wide: &[T::Wide], elements: &mut [T]) {
    elements.iter_mut().zip(wide).for_each(|(element, &x)| *element = T::narrow(x));
}
}

/// Windows of so many elements are reduced each by itself.
pub(super) const LONG_WINDOW: usize = 32;

impl Pass {
    fn cost(&self) -> Cost {
        let results = (self.outer * self.to * self.inner) as f64;
        let operations = results * self.window.size as f64;
        let wide = if self.inner == 1 { 2.0 } else { 1.0 };
        Cost { flops: operations * wide, bytes: 4.0 * operations }
    }

    /// The index of position `k` of the window at `index`, unless it is padding or a hole.
    pub(super) fn source(&self, index: usize, k: usize) -> Option<usize> {
        let WindowDim { stride, padding_low, base_dilation, window_dilation, .. } = self.window;
        let place = (index * stride + k * window_dilation) as i64 - padding_low;
        let dilation = base_dilation as i64;
        let inside = place >= 0 && place % dilation == 0;
        inside.then(|| (place / dilation) as usize).filter(|&source| source < self.from)
    }

    /// Reduces `src` into `dst`, which holds identities.
    fn run<S: Element>(&self, loops: &Loops<S>, pool: &Pool, src: &[S], dst: &mut [S::Wide]) {
        // Another dimension may consist of padding only.
        if dst.is_empty() {
            return;
        }
        if self.inner == 1 {
            let cost = self.cost();
            return pool.for_chunks(cost, dst, self.to, |first, lines| {
                let sources = src[first / self.to * self.from..].chunks_exact(self.from.max(1));
                lines.chunks_exact_mut(self.to).zip(sources).for_each(|(line, src)| self.line(loops, src, line));
            });
        }
        pool.for_chunks(self.cost(), dst, self.inner, |first, rows| {
            let mut places: SmallVec<[usize; 16]> = SmallVec::new();
            for (i, row) in rows.chunks_exact_mut(self.inner).enumerate() {
                let (outer, index) = ((first / self.inner + i) / self.to, (first / self.inner + i) % self.to);
                let sources = (0..self.window.size).filter_map(|k| self.source(index, k));
                places.clear();
                places.extend(sources.map(|source| (outer * self.from + source) * self.inner));
                (loops.rows)(src, &places, 0, row);
            }
        });
    }

    /// Reduces neighbours.
    pub(super) fn line<S: Element>(&self, loops: &Loops<S>, src: &[S], line: &mut [S::Wide]) {
        let WindowDim { size, stride, padding_low, base_dilation, window_dilation, .. } = self.window;
        if base_dilation != 1 {
            for (index, to) in line.iter_mut().enumerate() {
                let sources = (0..size).filter_map(|k| self.source(index, k));
                *to = sources.fold(*to, |sum, source| (loops.combine)(sum, src[source].widen()));
            }
        } else if window_dilation == 1 && size >= LONG_WINDOW {
            // Long windows: each separately.
            for (index, to) in line.iter_mut().enumerate() {
                let start = (index * stride) as i64 - padding_low;
                let clamped = |place: i64| place.clamp(0, src.len() as i64) as usize;
                *to = (loops.slice)(&src[clamped(start)..clamped(start + size as i64)]);
            }
        } else {
            // Short ones: a position of all windows at a time.
            for k in 0..size {
                let offset = (k * window_dilation) as i64 - padding_low;
                let first = if offset < 0 { (-offset as usize).div_ceil(stride) } else { 0 };
                let start = (first * stride) as i64 + offset;
                if first < line.len() && start < src.len() as i64 {
                    (loops.strided)(&src[start as usize..], stride, &mut line[first..]);
                }
            }
        }
    }
}

impl<T: Element> Kernel for Windows<T>
where
    T::Wide: Element<Wide = T::Wide>,
{
    fn name(&self) -> String {
        format!("reduce_window[{}]", self.function.name().trim_start_matches("stablehlo."))
    }

    fn cost(&self) -> Cost {
        if let Some(fused) = &self.fused {
            return fused.cost();
        }
        let bytes = 2.0 * (self.count * self.element.byte_width()) as f64;
        let last = Cost { flops: self.count as f64, bytes };
        self.passes.iter().fold(last, |cost, pass| cost + pass.cost())
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        if self.count == 0 {
            return Ok(());
        }
        let (operand, init) = (inputs.get::<T>(0), inputs.get::<T>(1)[0].widen());
        let results = outputs.take::<T>(0);
        if let Some(fused) = &self.fused {
            return fused.run(cx, &self.functions, operand, init, results);
        }
        let Functions { first, next, .. } = &self.functions;
        let mut reduced: Option<Scratch<T::Wide>> = None;
        for pass in &self.passes {
            let mut results = cx.filled(pass.outer * pass.to * pass.inner, first.identity)?;
            match &reduced {
                None => pass.run(first, cx.pool, operand, &mut results),
                Some(reduced) => pass.run(next, cx.pool, reduced, &mut results),
            }
            reduced = Some(results);
        }
        let cost = Cost { flops: self.count as f64, bytes: 2.0 * size_of_val(results) as f64 };
        cx.pool.for_chunks(cost, results, 256, |place, results| match &reduced {
            Some(reduced) => (first.finish)(init, &reduced[place..], results),
            None => {
                let results = results.iter_mut().zip(&operand[place..]);
                results.for_each(|(result, x)| *result = T::narrow((first.combine)(init, x.widen())));
            }
        });
        Ok(())
    }
}
