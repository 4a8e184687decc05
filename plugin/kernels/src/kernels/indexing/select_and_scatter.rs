//! Select-and-scatter: the gradient of pooling.

use oxcall::Error;
use oxcall_hlo::{BinaryOp, ComparisonDirection, ComparisonType, ElementType, Func, Op, OpKind, Region, WindowDim};
use smallvec::SmallVec;

use crate::element::{Element, Scalar, bf16, f16};
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::kernels::movement::row_major;
use crate::kernels::tensors;
use crate::pool::Cost;
use crate::scalar::{self, Body, Program};

/// Scatters each element of the source to the selected element of its window in the operand.
#[derive(Debug)]
struct SelectAndScatter {
    element: ElementType,
    dims: SmallVec<[Dim; 4]>,
    /// Leading dimensions without windows are independent: the number of elements of operand and source in one of their
    /// slabs.
    operand_slab: usize,
    source_slab: usize,
    count: usize,
    how: How,
}

/// A dimension along which windows slide.
#[derive(Debug, Clone, Copy)]
struct Dim {
    operand: usize,
    source: usize,
    size: usize,
    stride: usize,
    low: i64,
    /// The distance of neighbours in the operand.
    step: usize,
}

#[derive(Debug)]
enum How {
    /// `select` compares both as numbers, and `scatter` adds them.
    Fast(Run),
    /// Both are programs.
    Programs { select: Program, scatter: Program },
}

type Run = fn(&SelectAndScatter, Context<'_>, Inputs<'_>, &mut Outputs<'_>);

pub(super) fn make(op: &Op, func: &Func, window: &[WindowDim]) -> Result<Box<dyn Kernel>, Error> {
    let [operand, source, _, _] = tensors(op, func)?;
    let strides = row_major(&operand.dims);
    let apart = |dim: &usize| {
        let WindowDim { size, stride, padding_low, padding_high, .. } = window[*dim];
        (size, stride, padding_low, padding_high) == (1, 1, 0, 0)
    };
    let first = (0..operand.rank()).find(|dim| !apart(dim)).unwrap_or(operand.rank());
    let dims = (first..operand.rank()).map(|dim| Dim {
        operand: operand.dims[dim],
        source: source.dims[dim],
        size: window[dim].size,
        stride: window[dim].stride,
        low: window[dim].padding_low,
        step: strides[dim] as usize,
    });
    let how = match fast(func, op, operand.element) {
        Some(run) => How::Fast(run),
        None => {
            let program = |body: &Region| Program::new(func, &body.params, &body.ops, &body.results);
            How::Programs { select: program(&op.regions[0])?, scatter: program(&op.regions[1])? }
        }
    };
    Ok(Box::new(SelectAndScatter {
        element: operand.element,
        dims: dims.collect(),
        operand_slab: operand.dims[first..].iter().product(),
        source_slab: source.dims[first..].iter().product(),
        count: source.count(),
        how,
    }))
}

/// Specialised code for the gradient of a maximum or minimum.
fn fast(func: &Func, op: &Op, element: ElementType) -> Option<Run> {
    let (select, scatter) = (&op.regions[0], &op.regions[1]);
    let [only] = &select.ops[..] else { return None };
    let OpKind::Compare(direction, kind) = only.kind else { return None };
    let plain = kind != ComparisonType::TotalOrder && only.operands == select.params && only.results == select.results;
    if !plain || scalar::idiom(&func.values, scatter) != Some(Body::Binary(BinaryOp::Add)) {
        return None;
    }
    macro_rules! instance {
        ($($element:ident $ty:ty),*) => {
            match (element, direction) {
                $(
                    (ElementType::$element, ComparisonDirection::Ge) => run::<$ty, true>,
                    (ElementType::$element, ComparisonDirection::Le) => run::<$ty, false>,
                )*
                _ => return None,
            }
        };
    }
    Some(instance!(F32 f32, F64 f64, F16 f16, BF16 bf16))
}

fn run<T, const LARGEST: bool>(op: &SelectAndScatter, cx: Context<'_>, inputs: Inputs<'_>, outputs: &mut Outputs<'_>)
where
    T: Element,
    T::Wide: PartialOrd + std::ops::Add<Output = T::Wide>,
{
    let (operand, source, init) = (inputs.get::<T>(0), inputs.get::<T>(1), inputs.get::<T>(2)[0]);
    let result = outputs.take::<T>(0);
    cx.pool.for_chunks(op.cost(), result, op.operand_slab, |first, part| {
        part.fill(init);
        let keeps = |kept: usize, next: usize| {
            let (kept, next) = (operand[first + kept].widen(), operand[first + next].widen());
            if LARGEST { kept >= next } else { kept <= next }
        };
        op.for_selected(part.len(), first, keeps, |place, from| {
            part[place] = T::narrow(part[place].widen() + source[from].widen());
        });
    });
}

impl SelectAndScatter {
    /// Calls `scatter` with the selected place in a part of the operand, which has `len` elements from `first` on, and
    /// with the place of its source element, in the order of the source. `keeps` tells whether the first of two places
    /// stays selected.
    fn for_selected(
        &self,
        len: usize,
        first: usize,
        mut keeps: impl FnMut(usize, usize) -> bool,
        mut scatter: impl FnMut(usize, usize),
    ) {
        for slab in 0..len / self.operand_slab {
            let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, self.dims.len());
            let from = (first / self.operand_slab + slab) * self.source_slab;
            for from in from..from + self.source_slab {
                if let Some(place) = self.select(&index, slab * self.operand_slab, &mut keeps) {
                    scatter(place, from);
                }
                for (i, dim) in index.iter_mut().zip(&self.dims).rev() {
                    *i += 1;
                    if *i < dim.source {
                        break;
                    }
                    *i = 0;
                }
            }
        }
    }

    /// The place selected in the window at `index`; `None` if all of it is padding.
    fn select(&self, index: &[usize], base: usize, keeps: &mut impl FnMut(usize, usize) -> bool) -> Option<usize> {
        // The part of the window that is not padding: bounds for each dimension.
        let mut bounds: SmallVec<[(usize, usize, usize); 4]> = SmallVec::new();
        let mut place = base;
        for (&i, dim) in index.iter().zip(&self.dims) {
            let start = (i * dim.stride) as i64 - dim.low;
            let clamped = |x: i64| x.clamp(0, dim.operand as i64) as usize;
            let (low, high) = (clamped(start), clamped(start + dim.size as i64));
            if low == high {
                return None;
            }
            place += low * dim.step;
            if high - low > 1 {
                bounds.push((0, high - low, dim.step));
            }
        }
        let mut selected = place;
        loop {
            // The next place, as an odometer.
            let mut digit = bounds.len();
            loop {
                let Some(next) = digit.checked_sub(1) else { return Some(selected) };
                digit = next;
                let (at, size, step) = &mut bounds[digit];
                *at += 1;
                place += *step;
                if at < size {
                    break;
                }
                place -= *at * *step;
                *at = 0;
            }
            if !keeps(selected, place) {
                selected = place;
            }
        }
    }

    fn run_programs(
        &self,
        select: &Program,
        scatter: &Program,
        cx: Context<'_>,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) {
        let width = self.element.byte_width();
        let (operand, source, init) = (inputs.get::<u8>(0), inputs.get::<u8>(1), inputs.get::<u8>(2));
        let at = |bytes: &[u8], place: usize| Scalar::from_bytes(&bytes[place * width..][..width]);
        cx.pool.for_chunks(self.cost(), outputs.take::<u8>(0), self.operand_slab * width, |first, part| {
            part.chunks_exact_mut(width).for_each(|element| element.copy_from_slice(init));
            let (mut select, mut scatter) = (select.evaluator(), scatter.evaluator());
            let first = first / width;
            let keeps = |kept, next| select.call1(&[at(operand, first + kept), at(operand, first + next)]).0 & 1 == 1;
            self.for_selected(part.len() / width, first, keeps, |place, from| {
                let sum = scatter.call1(&[at(part, place), at(source, from)]);
                part[place * width..][..width].copy_from_slice(&sum.0.to_le_bytes()[..width]);
            });
        });
    }
}

impl Kernel for SelectAndScatter {
    fn name(&self) -> String {
        "select_and_scatter".into()
    }

    fn cost(&self) -> Cost {
        let window: usize = self.dims.iter().map(|dim| dim.size).product();
        let each = match &self.how {
            How::Fast(_) => 20.0,
            How::Programs { select, .. } => 30.0 * (2 + select.len()) as f64,
        };
        let elements = (self.count * window) as f64;
        Cost { flops: each * elements, bytes: 2.0 * elements * self.element.byte_width() as f64 }
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        if self.operand_slab == 0 {
            return Ok(());
        }
        match &self.how {
            How::Fast(run) => run(self, cx, inputs, &mut outputs),
            How::Programs { select, scatter } => self.run_programs(select, scatter, cx, inputs, &mut outputs),
        }
        Ok(())
    }
}
