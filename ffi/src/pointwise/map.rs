//! Functions of single elements as values, and their derivatives.

use oxcall_math::real::{Dual, Real, unrolled};

/// A function of `I` real numbers with `O` results; its attributes are its fields.
pub trait Map<const I: usize, const O: usize>: Copy + Send + Sync {
    /// Calls it.
    fn call<T: Real>(self, inputs: [T; I]) -> [T; O];
}

/// The tangents of the results, given those of the operands.
#[inline(always)]
pub fn jvp<T: Real, M: Map<I, O>, const I: usize, const O: usize>(map: M, inputs: [T; I], tangents: [T; I]) -> [T; O] {
    let mut duals = [Dual::<T, 1>::from(0.0); I];
    unrolled::<I>(
        #[inline(always)]
        |index| duals[index] = Dual::new(inputs[index], [tangents[index]]),
    );
    let results = map.call(duals);
    let mut moved = [T::from(0.0); O];
    unrolled::<O>(
        #[inline(always)]
        |index| moved[index] = results[index].tangents()[0],
    );
    moved
}

/// The cotangents of the operands, given those of the results.
#[inline(always)]
pub fn vjp<T: Real, M: Map<I, O>, const I: usize, const O: usize>(
    map: M,
    inputs: [T; I],
    cotangents: [T; O],
) -> [T; I] {
    let mut duals = [Dual::<T, I>::from(0.0); I];
    unrolled::<I>(
        #[inline(always)]
        |index| duals[index] = Dual::variable(inputs[index], index),
    );
    Dual::pull(&map.call(duals), cotangents)
}
