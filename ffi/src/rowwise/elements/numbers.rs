//! Functions of numbers of all kinds: floats are computed as recorded, integers and complex numbers one by one.

use std::array::from_fn;

use half::{bf16, f16};
use num_complex::Complex;

use super::Operand;
use super::run::{each_piece, run as run_recorded};
use crate::context::ThreadPool;
use crate::pointwise::block::BLOCK;
use crate::pointwise::{Active, Exact, Map, Real, Ring, RingMap};

/// A function, ready to be computed.
#[derive(Debug)]
pub struct Plan<M> {
    recorded: super::Plan,
    map: M,
}

/// Such a function as one of real numbers.
#[derive(Clone, Copy)]
struct OfReals<M>(M);

impl<M: RingMap<I, O>, const I: usize, const O: usize> Map<I, O> for OfReals<M> {
    fn call<T: Real>(self, inputs: [T; I]) -> [T; O] {
        self.0.call(inputs)
    }
}

impl<M> Plan<M> {
    /// Records a function.
    ///
    /// # Panics
    /// With the panic of the function.
    pub fn new<const I: usize, const O: usize>(map: M) -> Plan<M>
    where
        M: RingMap<I, O>,
    {
        Plan { recorded: super::Plan::new::<_, I, O>(OfReals(map)), map }
    }

    /// Records a vector-Jacobian product; see [`of_gradient`](super::Plan::of_gradient).
    ///
    /// # Panics
    /// With the panic of the function.
    pub fn of_gradient<J, const N: usize, const I: usize, const D: usize, const O: usize>(
        vjp: M,
        jvp: J,
        active: Active,
    ) -> Plan<M>
    where
        M: RingMap<N, I>,
        J: RingMap<D, O>,
    {
        let recorded = super::Plan::of_gradient::<_, _, N, I, D, O>(OfReals(vjp), OfReals(jvp), active);
        Plan { recorded, map: vjp }
    }
}

/// An element of the arrays.
pub trait Number: crate::element::Number {
    /// Applies a function to the elements of arrays.
    #[doc(hidden)]
    fn compute<M: RingMap<I, O>, const I: usize, const O: usize>(
        plan: &Plan<M>,
        inputs: [Operand<'_, Self>; I],
        outputs: [&mut [Self]; O],
        pool: ThreadPool<'_>,
    );
}

macro_rules! numbers {
    ($compute:ident: $($number:ty),*) => {$(
        impl Number for $number {
            fn compute<M: RingMap<I, O>, const I: usize, const O: usize>(
                plan: &Plan<M>,
                inputs: [Operand<'_, Self>; I],
                outputs: [&mut [Self]; O],
                pool: ThreadPool<'_>,
            ) {
                $compute(plan, inputs, outputs, pool);
            }
        }
    )*};
}
numbers!(floats: f16, bf16, f32, f64);
numbers!(exact: i8, i16, i32, i64, u8, u16, u32, u64, Complex<f32>, Complex<f64>);

fn floats<T: super::super::Element, M, const I: usize, const O: usize>(
    plan: &Plan<M>,
    inputs: [Operand<'_, T>; I],
    outputs: [&mut [T]; O],
    pool: ThreadPool<'_>,
) {
    run_recorded(&plan.recorded, inputs, outputs, pool);
}

fn exact<E: crate::element::Number, M: RingMap<I, O>, const I: usize, const O: usize>(
    plan: &Plan<M>,
    inputs: [Operand<'_, E>; I],
    outputs: [&mut [E]; O],
    pool: ThreadPool<'_>,
) where
    Exact<E>: Ring,
{
    each_piece(Vec::from(outputs), pool, |outputs, first| {
        let mut copies = [[E::default(); BLOCK]; I];
        let len = outputs.first().map_or(0, |output| output.len());
        for start in (0..len).step_by(BLOCK) {
            let count = BLOCK.min(len - start);
            let range = first + start..first + start + count;
            for (input, copy) in inputs.iter().zip(&mut copies) {
                if input.slice(range.clone()).is_none() {
                    input.gather(range.start, &mut copy[..count]);
                }
            }
            let blocks: [&[E]; I] =
                from_fn(|index| inputs[index].slice(range.clone()).unwrap_or_else(|| &copies[index][..count]));
            for at in 0..count {
                let results = plan.map.call(from_fn(|index| Exact(blocks[index][at])));
                for (output, Exact(result)) in outputs.iter_mut().zip(results) {
                    output[start + at] = result;
                }
            }
        }
    });
}
