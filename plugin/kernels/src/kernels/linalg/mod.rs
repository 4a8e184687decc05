//! `cholesky` and `triangular_solve`, computed by [`oxcall_linalg`].

#[cfg(test)]
mod tests;

use std::marker::PhantomData;

use bytemuck::Pod;
use oxcall::Error;
use oxcall_hlo::{ElementType, Func, Op, OpKind, Transpose};
use oxcall_linalg::dense::many::LANES as GROUP;
use oxcall_linalg::dense::triangular::Triangle;
use oxcall_linalg::row_major::{Element as Scalar, System};

use crate::caches;
use crate::element::{Complex, Element, bf16, f16};
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::memory::room;
use crate::pool::{Cost, Pool};

/// The kernel of a `cholesky` or `triangular_solve`.
///
/// # Errors
/// INTERNAL if `op` is neither; UNIMPLEMENTED for an unsupported element type.
pub(super) fn make(op: &Op, func: &Func) -> Result<Box<dyn Kernel>, Error> {
    // The algorithms multiply.
    caches::know();
    match op.kind {
        OpKind::Cholesky { lower } => make_cholesky(lower, op, func),
        OpKind::TriangularSolve { left_side, lower, unit_diagonal, transpose } => {
            let system = System {
                left: left_side,
                triangle: Triangle { lower, unit: unit_diagonal },
                transposed: transpose != Transpose::NoTranspose,
                conjugate: transpose == Transpose::Adjoint,
            };
            make_solve(system, op, func)
        }
        _ => Err(Error::internal(format!("expected cholesky or triangular_solve, got {}", op.kind.name()))),
    }
}

/// Evaluates `$body` with `$T` as one of the four types of LAPACK, or a type that is computed in one of them.
macro_rules! by_scalar {
    ($element:expr, $T:ident => $body:expr) => {
        match $element {
            ElementType::F16 => {
                type $T = f16;
                $body
            }
            ElementType::BF16 => {
                type $T = bf16;
                $body
            }
            ElementType::F32 => {
                type $T = f32;
                $body
            }
            ElementType::F64 => {
                type $T = f64;
                $body
            }
            ElementType::C64 => {
                type $T = Complex<f32>;
                $body
            }
            ElementType::C128 => {
                type $T = Complex<f64>;
                $body
            }
            other => {
                return Err(Error::unimplemented(format!(
                    "element type {other} is not supported; the supported ones are f16, bf16, f32, f64, \
                     complex<f32> and complex<f64>"
                )));
            }
        }
    };
}

/// Calls `work` with the index of the first of some items of `len` elements each, the items, and the number of threads
/// that it may use: many items are divided among the threads, few are processed one after another by all of them. Each
/// item needs up to `scratch` further elements.
fn each<T: Pod + Send>(
    pool: &Pool,
    cost: Cost,
    (items, len): (&mut [T], usize),
    scratch: usize,
    work: impl Fn(usize, &mut [T], usize) + Send + Sync,
) -> Result<(), Error> {
    if items.is_empty() {
        return Ok(());
    }
    let scratch = scratch.saturating_mul(size_of::<T>());
    if items.len() / len < 2 * pool.threads() {
        room(scratch)?;
        let threads = pool.threads_for(cost);
        pool.in_workers(threads, || {
            items.chunks_exact_mut(len).enumerate().for_each(|(index, item)| work(index, item, threads));
        });
        return Ok(());
    }
    room(scratch.saturating_mul(GROUP * pool.threads()))?;
    pool.for_chunks(cost, items, GROUP * len, |start, items| {
        items.chunks_mut(GROUP * len).enumerate().for_each(|(i, group)| work(start / len + i * GROUP, group, 1));
    });
    Ok(())
}

/// Calls `work` with `elements` in their computed form, and stores the outcome.
fn computed<T: Element, R>(elements: &mut [T], work: impl FnOnce(&mut [T::Wide]) -> R) -> R
where
    T::Wide: Element,
{
    if T::TYPE == <T::Wide as Element>::TYPE {
        return work(bytemuck::cast_slice_mut(elements));
    }
    let mut wide: Vec<T::Wide> = elements.iter().map(|x| x.widen()).collect();
    let result = work(&mut wide);
    elements.iter_mut().zip(wide).for_each(|(to, x)| *to = T::narrow(x));
    result
}

/// The number of stored elements with the size of a computed one.
fn wide_units<T: Element>() -> usize {
    size_of::<T::Wide>() / size_of::<T>()
}

/// The last two of a tensor's dimensions.
fn matrix(dims: &[usize]) -> Result<[usize; 2], Error> {
    let missing = || Error::internal(format!("expected a matrix, got a tensor of rank {}", dims.len()));
    dims.last_chunk().copied().ok_or_else(missing)
}

/// Cholesky factors of matrices of `n` rows.
struct Cholesky<T> {
    lower: bool,
    n: usize,
    cost: Cost,
    _type: PhantomData<fn() -> T>,
}

fn make_cholesky(lower: bool, op: &Op, func: &Func) -> Result<Box<dyn Kernel>, Error> {
    let [input, _] = super::tensors(op, func)?;
    let [n, _] = matrix(&input.dims)?;
    let count = input.count() as f64;
    let cost = Cost { flops: count * n as f64 / 3.0, bytes: 2.0 * input.byte_size() as f64 };
    Ok(by_scalar!(input.element, T => Box::new(Cholesky::<T> { lower, n, cost, _type: PhantomData })))
}

impl<T: Element> Kernel for Cholesky<T>
where
    T::Wide: Element + Scalar,
{
    fn name(&self) -> String {
        format!("cholesky[{}]", T::TYPE)
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn in_place(&self) -> Vec<(usize, usize)> {
        vec![(0, 0)]
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        let out = outputs.take::<T>(0);
        if !inputs.is_in_place(0) {
            out.copy_from_slice(inputs.get(0));
        }
        let len = self.n * self.n;
        each(cx.pool, self.cost, (out, len), wide_units::<T>() * 4 * len, |_, matrices, threads| {
            computed(matrices, |matrices| <T::Wide as Scalar>::cholesky(matrices, self.n, self.lower, threads));
        })
    }
}

/// Systems with a matrix of `n` rows, and right sides of `rows` by `cols` elements.
struct Solve<T> {
    system: System,
    n: usize,
    rows: usize,
    cols: usize,
    cost: Cost,
    _type: PhantomData<fn() -> T>,
}

fn make_solve(system: System, op: &Op, func: &Func) -> Result<Box<dyn Kernel>, Error> {
    let [a, b, _] = super::tensors(op, func)?;
    let ([n, _], [rows, cols]) = (matrix(&a.dims)?, matrix(&b.dims)?);
    let bytes = (a.byte_size() + 2 * b.byte_size()) as f64;
    let cost = Cost { flops: b.count() as f64 * n as f64 / 4.0, bytes };
    Ok(by_scalar!(a.element, T => Box::new(Solve::<T> { system, n, rows, cols, cost, _type: PhantomData })))
}

impl<T: Element> Kernel for Solve<T>
where
    T::Wide: Element + Scalar,
{
    fn name(&self) -> String {
        format!("triangular_solve[{}]", T::TYPE)
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn in_place(&self) -> Vec<(usize, usize)> {
        vec![(1, 0)]
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        let (a, out) = (inputs.get::<T>(0), outputs.take::<T>(0));
        if !inputs.is_in_place(1) {
            out.copy_from_slice(inputs.get(1));
        }
        let len = self.rows * self.cols;
        each(cx.pool, self.cost, (out, len), wide_units::<T>() * 2 * (len + self.n * self.n), |index, b, threads| {
            let a = &a[index * self.n * self.n..][..b.len() / len * self.n * self.n];
            let mut memory = Vec::new();
            let a: &[T::Wide] = if T::TYPE == <T::Wide as Element>::TYPE {
                bytemuck::cast_slice(a)
            } else {
                memory.extend(a.iter().map(|x| x.widen()));
                &memory
            };
            computed(b, |b| <T::Wide as Scalar>::solve(a, self.n, self.system, b, self.cols, threads));
        })
    }
}
