//! Functions of single elements as values, and their derivatives.

use oxcall_math::real::{Dual, Real, Ring};

use super::Active;

/// A function of `I` real numbers with `O` results; its attributes are its fields.
pub trait Map<const I: usize, const O: usize>: Copy + Send + Sync {
    /// Calls it.
    fn call<T: Real>(self, inputs: [T; I]) -> [T; O];
}

/// A function of `I` numbers of any kind with `O` results; its attributes are its fields.
pub trait RingMap<const I: usize, const O: usize>: Copy + Send + Sync {
    /// Calls it.
    fn call<T: Ring>(self, inputs: [T; I]) -> [T; O];
}

/// The tangents of the results, given those of the operands that are active.
pub fn jvp<T: Ring, const I: usize, const O: usize>(
    function: impl FnOnce([Dual<T, 1>; I]) -> [Dual<T, 1>; O],
    inputs: [T; I],
    tangents: [T; I],
    active: Active,
) -> [T; O] {
    let duals = std::array::from_fn(|index| Dual::along(inputs[index], [active.tangent(index, tangents[index])]));
    function(duals).map(|result| result.tangents()[0])
}

/// The cotangents of the operands, given those of the results that are active. Complex ones are those of JAX:
/// products with the derivative, not with its conjugate.
pub fn vjp<T: Ring, const I: usize, const O: usize>(
    function: impl FnOnce([Dual<T, I>; I]) -> [Dual<T, I>; O],
    inputs: [T; I],
    cotangents: [T; O],
    active: Active,
) -> [T; I] {
    let duals = std::array::from_fn(|index| Dual::variable(inputs[index], index));
    Dual::pull(&function(duals), std::array::from_fn(|index| active.tangent(index, cotangents[index])))
}
