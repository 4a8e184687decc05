//! `fft`: Fourier transforms of the last one to three dimensions, by `rustfft` and by own algorithms, with plans that
//! are made once.
//!
//! A transform of several dimensions is one along each. The last dimension comes first in a forward transform of real
//! numbers, and last in an inverse one, so that only the half that symmetry does not determine is transformed further.

#[cfg(target_arch = "x86_64")]
mod by_line;
#[cfg(target_arch = "x86_64")]
mod exact;
mod lines;
mod real;
mod roots;
#[cfg(target_arch = "x86_64")]
mod stockham;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bytemuck::Pod;
use oxcall::Error;
use oxcall_hlo::{ElementType, FftType, Func, Op, OpKind};
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};

use self::lines::Lines;
use self::real::RealPlan;
use crate::element::{Complex, Element};
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::memory::{Scratch, room};
use crate::pool::Cost;

/// The kernel of an `fft`.
///
/// # Errors
/// INTERNAL if `op` is not an `fft`.
pub(super) fn make(op: &Op, func: &Func) -> Result<Box<dyn Kernel>, Error> {
    let OpKind::Fft { fft_type, lengths } = &op.kind else {
        return Err(Error::internal(format!("expected fft, got {}", op.kind.name())));
    };
    let [input, out] = super::tensors(op, func)?;
    let count = input.count().max(out.count());
    let elements = if input.count().min(out.count()) == 0 { 0 } else { count };
    // The planner's tables are as long as the lines; some algorithms use lines up to four times as long.
    let line = lengths.iter().copied().max().unwrap_or(0);
    room(if elements == 0 { 0 } else { line.saturating_mul(16 * 2 * input.element.real().byte_width()) })?;
    Ok(match input.element.real() {
        ElementType::F64 => Box::new(Transform::<f64>::new(*fft_type, lengths, elements)),
        _ => Box::new(Transform::<f32>::new(*fft_type, lengths, elements)),
    })
}

/// A type of real numbers that are transformed.
trait Real: FftNum + num_traits::Float + Element {
    /// In double precision.
    fn to_double(self) -> f64;
    /// Rounded.
    fn of_double(x: f64) -> Self;
    /// The transform of lines of `len` complex numbers.
    fn plan(len: usize, direction: FftDirection) -> Arc<dyn Fft<Self>>;
}

macro_rules! real {
    ($($float:ident: $plan:path,)*) => {$(
        impl Real for $float {
            #[inline(always)]
            fn to_double(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn of_double(x: f64) -> $float {
                x as $float
            }
            fn plan(len: usize, direction: FftDirection) -> Arc<dyn Fft<$float>> {
                $plan(len, direction)
            }
        }
    )*};
}

real! {
    f32: common_plan,
    f64: double_plan,
}

fn common_plan<F: FftNum>(len: usize, direction: FftDirection) -> Arc<dyn Fft<F>> {
    FftPlanner::new().plan_fft(len, direction)
}

/// With exact roots, where the processor has AVX2: those of rustfft are of angles rounded to `f64`, which only `f32`
/// does not notice.
fn double_plan(len: usize, direction: FftDirection) -> Arc<dyn Fft<f64>> {
    #[cfg(target_arch = "x86_64")]
    if let Some(plan) = exact::plan(len, direction) {
        return plan;
    }
    common_plan(len, direction)
}

/// Transforms of `rank` dimensions.
struct Transform<F: FftNum + Pod> {
    name: String,
    cost: Cost,
    /// `None` if there is nothing to transform.
    last: Option<Last<F>>,
    /// The dimensions before the last, innermost first.
    others: Vec<Lines<F>>,
    /// The factor of an inverse transform.
    scale: F,
}

/// The transform along the last dimension.
enum Last<F: FftNum + Pod> {
    Complex(Arc<dyn Fft<F>>),
    Forward(RealPlan<F>),
    Inverse(RealPlan<F>),
}

impl<F: Real> Transform<F> {
    fn new(fft_type: FftType, lengths: &[usize], elements: usize) -> Transform<F> {
        let depth: f64 = lengths.iter().map(|&length| (length.max(2) as f64).log2()).sum();
        let mut transform = Transform {
            name: format!("{}[{}]", fft_type.name().to_lowercase(), F::TYPE),
            cost: Cost {
                flops: 2.0 * elements as f64 * depth,
                bytes: (elements * 4 * size_of::<F>() * lengths.len()) as f64,
            },
            last: None,
            others: Vec::new(),
            scale: F::one(),
        };
        let some = elements > 0 && !lengths.contains(&0);
        let (Some((&last, others)), true) = (lengths.split_last(), some) else { return transform };
        let direction = match fft_type {
            FftType::Fft | FftType::Rfft => FftDirection::Forward,
            FftType::Ifft | FftType::Irfft => FftDirection::Inverse,
        };
        let mut inside = last;
        transform.last = Some(match fft_type {
            FftType::Fft | FftType::Ifft => Last::Complex(F::plan(last, direction)),
            FftType::Rfft | FftType::Irfft => {
                inside = last / 2 + 1;
                let plan = RealPlan::new(last, direction);
                match direction {
                    FftDirection::Forward => Last::Forward(plan),
                    FftDirection::Inverse => Last::Inverse(plan),
                }
            }
        });
        for &length in others.iter().rev() {
            transform.others.push(Lines::new(F::plan(length, direction), inside));
            inside *= length;
        }
        if direction == FftDirection::Inverse {
            let product = lengths.iter().fold(1.0, |product, &length| product * length as f64);
            transform.scale = F::from_f64(1.0 / product).unwrap_or_else(F::one);
        }
        transform
    }

    /// Transforms along all dimensions but the last, in place.
    fn run_others(&self, cx: Context<'_>, data: &mut [Complex<F>]) -> Result<(), Error> {
        if self.others.is_empty() {
            return Ok(());
        }
        let mut memory = cx.scratch(data.len())?;
        self.others.iter().try_for_each(|lines| lines.run(cx, self.cost, data, &mut memory))
    }
}

impl<F: Real> Kernel for Transform<F>
where
    Complex<F>: Element,
{
    fn name(&self) -> String {
        self.name.clone()
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        match &self.last {
            None => outputs.take::<u8>(0).fill(0),
            Some(Last::Complex(plan)) => {
                let (input, out) = (inputs.get::<Complex<F>>(0), outputs.take::<Complex<F>>(0));
                let length = plan.len();
                cx.pool.for_chunks(self.cost, out, length, |start, out| {
                    let mut scratch = cx.scratch(plan.get_immutable_scratch_len())?;
                    for (input, out) in input[start..].chunks_exact(length).zip(out.chunks_exact_mut(length)) {
                        plan.process_immutable_with_scratch(input, out, &mut scratch);
                        self.scale(out);
                    }
                    Ok::<(), Error>(())
                })?;
                self.run_others(cx, out)?;
            }
            Some(Last::Forward(plan)) => {
                let (input, out) = (inputs.get::<F>(0), outputs.take::<Complex<F>>(0));
                let (length, half) = (plan.len(), plan.complex_len());
                cx.pool.for_chunks(self.cost, out, half, |start, out| {
                    let mut scratch = cx.scratch(plan.scratch_len())?;
                    let lines = input[start / half * length..].chunks_exact(length);
                    for (input, out) in lines.zip(out.chunks_exact_mut(half)) {
                        plan.forward(input, out, &mut scratch);
                    }
                    Ok::<(), Error>(())
                })?;
                self.run_others(cx, out)?;
            }
            Some(Last::Inverse(plan)) => {
                let (input, out) = (inputs.get::<Complex<F>>(0), outputs.take::<F>(0));
                let mut memory: Scratch<Complex<F>>;
                let input = if self.others.is_empty() {
                    input
                } else {
                    memory = cx.copied(input)?;
                    self.run_others(cx, &mut memory)?;
                    &memory
                };
                let (length, half) = (plan.len(), plan.complex_len());
                cx.pool.for_chunks(self.cost, out, length, |start, out| {
                    let (mut line, mut scratch) = (cx.scratch(half)?, cx.scratch(plan.scratch_len())?);
                    let lines = input[start / length * half..].chunks_exact(half);
                    for (input, out) in lines.zip(out.chunks_exact_mut(length)) {
                        line.copy_from_slice(input);
                        self.scale(&mut line);
                        hermitian(&mut line, length);
                        plan.inverse(&mut line, out, &mut scratch);
                    }
                    Ok::<(), Error>(())
                })?;
            }
        }
        Ok(())
    }
}

impl<F: Real> Transform<F> {
    fn scale(&self, elements: &mut [Complex<F>]) {
        if !self.scale.is_one() {
            elements.iter_mut().for_each(|element| *element = *element * self.scale);
        }
    }
}

/// Clears the imaginary parts that are 0 in the transform of `length` real numbers; what they hold is ignored.
fn hermitian<F: Real>(line: &mut [Complex<F>], length: usize) {
    let count = line.len();
    line[0].im = F::zero();
    if length.is_multiple_of(2) {
        line[count - 1].im = F::zero();
    }
}
