//! Scatter.

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Pod;
use oxcall::Error;
use oxcall_hlo::{BinaryOp, ElementType, Func, Op, ScatterDims};
use smallvec::SmallVec;

use super::starts::{BLOCK, IndexDims, MOST_STARTS, NOWHERE, OutOfBounds, Starts};
use crate::by_width;
use crate::element::{Element, Scalar};
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::kernels::combine::{Combine, by_combine};
use crate::kernels::movement::{prefetch, row_major, tensor, window_copies};
use crate::kernels::nest::{self, Loop, Nest, Walk};
use crate::kernels::scalars::Arrays;
use crate::machine::{Block, Copy, Slot, Window};
use crate::math::generated::{self, Record};
use crate::memory::Scratch;
use crate::pool::Cost;
use crate::scalar::{self, Body, Program};

/// Updates of windows of one or more inputs.
#[derive(Debug)]
struct Scatter {
    elements: Vec<ElementType>,
    starts: Starts,
    /// Over a window: strides in the inputs, and in the updates.
    window: Nest<2>,
    /// Over windows, in the updates.
    updates: Nest<1>,
    /// The number of elements of a window, if they lie side by side in inputs and updates, window after window.
    row: Option<usize>,
    /// Windows never cross a multiple of this many elements of the inputs.
    slab: usize,
    count: usize,
    source: Source,
    body: How,
}

/// The updates.
#[derive(Debug)]
enum Source {
    /// Operands.
    Arrays,
    /// An operand with one element, which is every update.
    Element,
    /// This element, which is every update.
    Constant(Vec<u8>),
}

/// The bytes of updates of one element that are written out for a block of windows.
const COPIES: usize = 8192;

/// The bytes of a window from which on several threads are faster: each looks at all windows, and which of them it has
/// to update cannot be predicted.
const WORTH_SPLITTING: usize = 4096;

/// The fewest updates for each element of the result for which threads update results of their own.
const WORTH_COPYING: usize = 4;

/// The way in which elements are updated.
#[derive(Debug)]
enum How {
    /// By specialised code, and the same for machine code, if it has the function.
    Fast(Loops, Option<Record>),
    /// By specialised code, which replaces them.
    Assign(Loops),
    /// By a program, one element of each input at a time.
    Program(Program),
    /// Not at all: the body returns its first parameter.
    Keep,
}

/// The inner loops of an update, on the bytes of elements: all that is compiled for each type and function.
#[derive(Debug, Clone, Copy)]
struct Loops {
    /// The update that changes nothing, if the order of updates does not matter.
    identity: Option<Scalar>,
    /// [`update_rows`].
    rows: fn(&mut [u8], usize, &[usize], &[u8], usize),
    /// [`update_strided`].
    strided: fn(&mut [u8], &[u8], usize, [usize; 2]),
}

impl Loops {
    fn of<T: Pod, U: Update<T>>() -> Loops {
        Loops {
            identity: U::identity().map(Scalar::from_pod),
            rows: update_rows::<T, U>,
            strided: update_strided::<T, U>,
        }
    }
}

/// Result `index`, which starts as the input.
fn updated<'a, T: Pod + Send + Sync>(
    cx: Context<'_>,
    inputs: Inputs<'_>,
    outputs: &mut Outputs<'a>,
    index: usize,
) -> &'a mut [T] {
    let result = outputs.take::<T>(index);
    if !inputs.is_in_place(index) {
        let input = inputs.get::<T>(index);
        let cost = Cost { flops: 0.0, bytes: 2.0 * size_of_val(input) as f64 };
        cx.pool.for_chunks(cost, result, 4096, |first, chunk| chunk.copy_from_slice(&input[first..][..chunk.len()]));
    }
    result
}

/// The update of an element.
trait Update<T> {
    /// The update that changes nothing, if the order of updates does not matter.
    fn identity() -> Option<T>;
    fn update(old: T, new: T) -> T;
}

/// The update replaces it.
enum Assign {}

impl<T> Update<T> for Assign {
    fn identity() -> Option<T> {
        None
    }

    #[inline(always)]
    fn update(_: T, new: T) -> T {
        new
    }
}

/// Both are combined.
struct Combined<C>(PhantomData<C>);

impl<T: Element, C: Combine<T::Wide>> Update<T> for Combined<C> {
    fn identity() -> Option<T> {
        let is_exact = !T::TYPE.is_float() && !T::TYPE.is_complex();
        (is_exact || C::IN_ANY_ORDER).then(|| T::narrow(C::IDENTITY))
    }

    #[inline(always)]
    fn update(old: T, new: T) -> T {
        T::narrow(C::combine(old.widen(), new.widen()))
    }
}

pub(super) fn make(op: &Op, func: &Func, dims: &ScatterDims) -> Result<Box<dyn Kernel>, Error> {
    Ok(Box::new(Scatter::new(op, func, dims)?))
}

/// The kernel of a scatter whose updates are copies of one `element`, or of the only element of the third operand.
/// `None` for windows that are large or not side by side: their updates are read from arrays.
pub(super) fn of_one(
    op: &Op,
    func: &Func,
    dims: &ScatterDims,
    element: Option<&[u8]>,
) -> Result<Option<Box<dyn Kernel>>, Error> {
    let mut scatter = Scatter::new(op, func, dims)?;
    scatter.source = element.map_or(Source::Element, |element| Source::Constant(element.to_vec())); // Bounded: an element.
    let is_row = scatter.row.is_some_and(|len| (1..WORTH_SPLITTING).contains(&(len * scatter.width())));
    let is_fast = matches!(scatter.body, How::Fast(..) | How::Assign(_));
    Ok((is_row && is_fast).then(|| Box::new(scatter) as Box<dyn Kernel>))
}

impl Scatter {
    fn new(op: &Op, func: &Func, dims: &ScatterDims) -> Result<Scatter, Error> {
        let inputs = op.results.len();
        let (input, indices) = (tensor(func, op.operands[0])?, tensor(func, op.operands[inputs])?);
        let updates = tensor(func, op.operands[inputs + 1])?;
        let elements: Vec<ElementType> =
            op.results.iter().map(|&value| tensor(func, value).map(|ty| ty.element)).collect::<Result<_, _>>()?;
        let index_dims = IndexDims {
            operand_batching: &dims.input_batching_dims,
            indices_batching: &dims.scatter_indices_batching_dims,
            component_dims: &dims.scatter_dims_to_operand_dims,
            vector_dim: dims.index_vector_dim,
        };
        let (strides, update_strides) = (row_major(&input.dims), row_major(&updates.dims));
        let mut sizes = vec![1; input.rank()]; // Bounded: dimensions.
        let mut window = Nest::<2>::new();
        let is_window =
            |dim: &usize| !dims.inserted_window_dims.contains(dim) && !dims.input_batching_dims.contains(dim);
        for (dim, &update_dim) in (0..input.rank()).filter(is_window).zip(&dims.update_window_dims) {
            sizes[dim] = updates.dims[update_dim];
            window.push(Loop { size: sizes[dim], strides: [strides[dim], update_strides[update_dim]] });
        }
        let window_len = nest::iterations(&window);
        let window = nest::collapse(window);
        let of_windows = (0..updates.rank()).filter(|dim| !dims.update_window_dims.contains(dim));
        let of_windows = of_windows.map(|dim| Loop { size: updates.dims[dim], strides: [update_strides[dim]] });
        let of_windows = nest::collapse(of_windows);
        let side_by_side = matches!(window[..], [] | [Loop { strides: [1, 1], .. }])
            && of_windows[..].iter().all(|each| of_windows.len() == 1 && each.strides[0] == window_len as isize);
        let first_wide = sizes.iter().position(|&size| size != 1).unwrap_or(input.rank());
        let body = match scalar::idiom(&func.values, &op.regions[0]) {
            Some(Body::First) => How::Keep,
            Some(Body::Second) if inputs == 1 => How::Assign(by_width!(elements[0], T => Loops::of::<T, Assign>())),
            Some(Body::Binary(function)) if inputs == 1 => {
                match by_combine!(@any_width function, elements[0], (T, C) => Loops::of::<T, Combined<C>>()) {
                    Some(loops) => How::Fast(loops, sum(function, elements[0])),
                    None => program(op, func)?,
                }
            }
            _ => program(op, func)?,
        };
        Ok(Scatter {
            starts: Starts::new(input, indices, &index_dims, &sizes, OutOfBounds::Drop),
            elements,
            window,
            updates: of_windows,
            row: side_by_side.then_some(window_len),
            slab: input.dims[first_wide..].iter().product::<usize>().max(1),
            count: updates.count(),
            source: Source::Arrays,
            body,
        })
    }
}

/// The function in machine code, if it adds elements of 32 bits.
fn sum(function: BinaryOp, element: ElementType) -> Option<Record> {
    let is_word = matches!(element, ElementType::F32 | ElementType::S32 | ElementType::U32);
    (function == BinaryOp::Add && is_word).then(|| generated::binary(function, element))?
}

fn program(op: &Op, func: &Func) -> Result<How, Error> {
    let region = &op.regions[0];
    Ok(How::Program(Program::new(func, &region.params, &region.ops, &region.results)?))
}

/// Applies all updates to the only result, whose elements are as wide as `T`.
fn apply<T: Pod + Send + Sync>(
    scatter: &Scatter,
    loops: Loops,
    cx: Context<'_>,
    inputs: Inputs<'_>,
    outputs: &mut Outputs<'_>,
) -> Result<(), Error> {
    let result = updated::<T>(cx, inputs, outputs, 0);
    match scatter.row {
        // Each thread visits all windows, and updates those in its part of the result, so in order and exclusively.
        Some(len) if len * size_of::<T>() >= WORTH_SPLITTING => {
            let (starts, updates) = (scatter.all_starts(cx, inputs)?, inputs.get::<u8>(2));
            cx.pool.for_chunks(scatter.cost(), result, scatter.slab, |first, part| {
                (loops.rows)(bytemuck::cast_slice_mut(part), first, &starts, updates, len);
            });
        }
        Some(len) => return apply_blocks::<T>(scatter, loops, cx, inputs, len, result),
        None => {
            let (starts, updates) = (scatter.all_starts(cx, inputs)?, inputs.get::<u8>(2));
            let (result, width) = (bytemuck::cast_slice_mut(result), size_of::<T>());
            scatter.for_windows(&starts, |place, update, len, strides| {
                (loops.strided)(&mut result[place * width..], &updates[update * width..], len, strides);
            });
        }
    }
    Ok(())
}

/// Applies updates of `len` elements each in blocks, whose starts stay in the cache. Where their order does not matter,
/// and there are many for each element, threads update results of their own.
fn apply_blocks<T: Pod + Send + Sync>(
    scatter: &Scatter,
    loops: Loops,
    cx: Context<'_>,
    inputs: Inputs<'_>,
    len: usize,
    result: &mut [T],
) -> Result<(), Error> {
    let count = scatter.starts.count();
    let element = match &scatter.source {
        Source::Arrays => None,
        Source::Element => Some(inputs.get::<T>(2)[0]),
        Source::Constant(bytes) => Some(bytemuck::pod_read_unaligned(bytes)),
    };
    let (block, copies) = match element {
        Some(element) => {
            let block = (COPIES / (len * size_of::<T>())).clamp(1, BLOCK);
            (block, cx.filled(block * len, element)?)
        }
        None => (BLOCK, cx.scratch(0)?),
    };
    let updates = if element.is_none() { inputs.get::<T>(2) } else { &[] };
    let update = |windows: Range<usize>, result: &mut [T]| {
        let mut starts = [0; BLOCK];
        for first in windows.clone().step_by(block) {
            let starts = &mut starts[..block.min(windows.end - first)];
            scatter.starts.fill(inputs, 1, first, starts);
            let new = if element.is_some() { &copies } else { &updates[first * len..] };
            let new = bytemuck::cast_slice(&new[..starts.len() * len]);
            (loops.rows)(bytemuck::cast_slice_mut(result), 0, starts, new, len);
        }
    };
    let threads = cx.pool.threads_for(scatter.cost());
    match loops.identity {
        Some(identity) if threads > 1 && scatter.count >= WORTH_COPYING * threads * result.len() => {
            let size = result.len();
            let mut others = cx.filled((threads - 1) * size, identity.to_pod::<T>())?;
            let share = count.div_ceil(threads);
            let results = std::iter::once(&mut *result).chain(others.chunks_exact_mut(size));
            let windows = (0..threads).map(|thread| (thread * share).min(count)..((thread + 1) * share).min(count));
            let tasks = windows.zip(results).collect();
            cx.pool
                .for_each(scatter.cost(), tasks, |(windows, result): (Range<usize>, &mut [T])| update(windows, result));
            for other in others.chunks_exact(size) {
                // One window: all of the result.
                (loops.rows)(bytemuck::cast_slice_mut(result), 0, &[0], bytemuck::cast_slice(other), size);
            }
        }
        _ => update(0..count, result),
    }
    Ok(())
}

/// The bytes of a result from which on its windows are not in the first caches.
const FAR: usize = 256 << 10;

/// The bytes of windows to load ahead of the one that is updated: about those that arrive meanwhile.
const AHEAD: usize = 2048;

/// How many windows ahead of the one that is updated to load, which are at places that a processor cannot foresee. It
/// loads the next lines of a long window by itself.
fn windows_ahead(result: usize, window: usize) -> usize {
    let is_worth_it = result >= FAR && (1..=AHEAD).contains(&window);
    if is_worth_it { (AHEAD / window).min(16) } else { usize::MAX }
}

/// Updates the windows of `len` elements at those of `starts` that are in `part`, which begins at `first`.
fn update_rows<T: Pod, U: Update<T>>(part: &mut [u8], first: usize, starts: &[usize], updates: &[u8], len: usize) {
    let (part, updates): (&mut [T], &[T]) = (bytemuck::cast_slice_mut(part), bytemuck::cast_slice(updates));
    if len == 1 {
        for (start, &new) in starts.iter().zip(updates) {
            if let Some(old) = part.get_mut(start.wrapping_sub(first)) {
                *old = U::update(*old, new);
            }
        }
        return;
    }
    let ahead = windows_ahead(size_of_val(part), len * size_of::<T>());
    for (index, (start, row)) in starts.iter().zip(updates.chunks_exact(len)).enumerate() {
        let next = starts[index..].get(ahead).map_or(usize::MAX, |next| next.wrapping_sub(first));
        if next < part.len() {
            prefetch(&part[next..][..len]);
        }
        let start = start.wrapping_sub(first);
        if start < part.len() {
            let old = &mut part[start..][..len];
            old.iter_mut().zip(row).for_each(|(old, &new)| *old = U::update(*old, new));
        }
    }
}

/// Updates `len` elements, at strides in the result and in the updates.
fn update_strided<T: Pod, U: Update<T>>(result: &mut [u8], updates: &[u8], len: usize, strides: [usize; 2]) {
    let (result, updates): (&mut [T], &[T]) = (bytemuck::cast_slice_mut(result), bytemuck::cast_slice(updates));
    for i in 0..len {
        let old = &mut result[i * strides[0]];
        *old = U::update(*old, updates[i * strides[1]]);
    }
}

impl Scatter {
    /// The starts of all windows.
    fn all_starts(&self, cx: Context<'_>, inputs: Inputs<'_>) -> Result<Scratch<usize>, Error> {
        let mut starts = cx.scratch(self.starts.count())?;
        cx.pool.for_chunks(self.cost(), &mut starts, 1, |first, starts| {
            self.starts.fill(inputs, self.elements.len(), first, starts);
        });
        Ok(starts)
    }

    /// Calls `row` for each innermost loop of each window in bounds: places in the inputs and the updates, the length,
    /// and both strides.
    fn for_windows(&self, starts: &[usize], mut row: impl FnMut(usize, usize, usize, [usize; 2])) {
        let (inner, outer) = match self.window.split_last() {
            Some((inner, outer)) => (*inner, outer),
            None => (Loop { size: 1, strides: [0, 0] }, &[][..]),
        };
        let mut updates = Walk::new(&self.updates, [0], 0);
        for &start in starts {
            let [update] = updates.step();
            if start == NOWHERE {
                continue;
            }
            let mut walk = Walk::new(outer, [start as isize, update], 0);
            for _ in 0..nest::iterations(outer) {
                let [place, update] = walk.step().map(|offset| offset as usize);
                row(place, update, inner.size, inner.strides.map(|stride| stride as usize));
            }
        }
    }

    fn run_program(
        &self,
        program: &Program,
        cx: Context<'_>,
        starts: &[usize],
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) {
        let count = self.elements.len();
        let updates = Arrays::new(inputs, count + 1, &self.elements);
        let results = self.elements.iter().enumerate();
        let mut results: SmallVec<[(&mut [u8], usize); 2]> =
            results.map(|(index, element)| (updated::<u8>(cx, inputs, outputs, index), element.byte_width())).collect();
        let mut evaluator = program.evaluator();
        let (mut args, mut new) = (vec![Scalar::default(); 2 * count], vec![Scalar::default(); count]); // Bounded: parameters.
        self.for_windows(starts, |place, update, len, [stride, update_stride]| {
            for i in 0..len {
                let at = place + i * stride;
                for (arg, (result, width)) in args.iter_mut().zip(&results) {
                    *arg = Scalar::from_bytes(&result[at * width..][..*width]);
                }
                args[count..].iter_mut().zip(updates.at(update + i * update_stride)).for_each(|(arg, x)| *arg = x);
                evaluator.call(&args, &mut new);
                for (new, (result, width)) in new.iter().zip(&mut results) {
                    result[at * *width..][..*width].copy_from_slice(&new.0.to_le_bytes()[..*width]);
                }
            }
        });
    }

    fn width(&self) -> usize {
        self.elements.iter().map(|element| element.byte_width()).sum()
    }
}

impl Kernel for Scatter {
    fn name(&self) -> String {
        match &self.body {
            How::Program(_) => "scatter[body]".into(),
            How::Fast(..) | How::Assign(_) | How::Keep if matches!(self.source, Source::Arrays) => "scatter".into(),
            How::Fast(..) | How::Assign(_) | How::Keep => "scatter[one update]".into(),
        }
    }

    fn cost(&self) -> Cost {
        let each = match &self.body {
            How::Program(program) => 20.0 * (2 + program.len()) as f64,
            How::Fast(..) | How::Assign(_) | How::Keep => 2.0,
        };
        let flops = each * self.count as f64 + self.starts.flops();
        let read = if matches!(self.source, Source::Arrays) { 3.0 } else { 2.0 };
        Cost { flops, bytes: read * (self.count * self.width()) as f64 }
    }

    fn in_place(&self) -> Vec<(usize, usize)> {
        (0..self.elements.len()).map(|index| (index, index)).collect()
    }

    fn generate(&self, block: &mut Block<'_>, inputs: &[Slot], outputs: &[Slot]) -> Option<()> {
        let combine = match self.body {
            How::Assign(_) => None,
            How::Fast(_, combine) => Some(combine?),
            How::Program(_) | How::Keep => return None,
        };
        let is_small = self.starts.count() <= MOST_STARTS && block.fits(self.count);
        if self.count == 0 || !is_small || !matches!(self.source, Source::Arrays) {
            return None;
        }
        let width = self.width();
        let of_window = window_copies(&self.window, width);
        let mut updates = Walk::new(&self.updates, [0], 0);
        let windows = self.starts.for_code(inputs[1], width).map(|(batching, components)| {
            let (start, mask) = block.window(components.into_iter())?;
            let update = updates.step()[0] as usize * width;
            let copy = |copy: &Copy| Copy { from: copy.from + update, to: copy.to + batching, ..*copy };
            Some(Window { start, mask, copies: of_window.iter().map(copy).collect() })
        });
        let windows = windows.collect::<Option<Vec<_>>>()?;
        block.update((inputs[0], inputs[2]), outputs[0], &windows, combine)
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        if self.count == 0 || matches!(self.body, How::Keep) {
            (0..self.elements.len()).for_each(|index| _ = updated::<u8>(cx, inputs, &mut outputs, index));
            return Ok(());
        }
        match &self.body {
            How::Fast(loops, _) | How::Assign(loops) => {
                by_width!(self.elements[0], T => apply::<T>(self, *loops, cx, inputs, &mut outputs))?;
            }
            How::Program(program) => {
                self.run_program(program, cx, &self.all_starts(cx, inputs)?, inputs, &mut outputs);
            }
            How::Keep => {}
        }
        Ok(())
    }
}
