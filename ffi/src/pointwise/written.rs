//! Derivatives that users write: functions that are linear in the tangents or cotangents, which come after the
//! operands.

use std::array::from_fn;

use oxcall_math::real::{Dual, Ring};

use super::Active;

/// The operands of a written function: the primals as constants, and the tangents or cotangents as derivatives along
/// one direction. Those that are `None` do not contribute to it.
fn along<T: Ring, const N: usize>(operands: &[T], moved: impl Fn(usize) -> Option<T>) -> [Dual<T, 1>; N] {
    from_fn(|index| match index.checked_sub(operands.len()) {
        None => Dual::constant(operands[index]),
        Some(index) => Dual::along(T::int(0), [moved(index)]),
    })
}

/// The results of the function, which the caller passes twice: over numbers and over duals.
pub fn written<T: Ring, const N: usize, const P: usize, const M: usize, const R: usize>(
    function: impl FnOnce([T; N]) -> [T; R],
    of_duals: impl FnOnce([Dual<T, 1>; N]) -> [Dual<T, 1>; R],
    operands: [T; P],
    moved: [T; M],
    active: Active,
) -> [T; R] {
    if active == Active::ALL {
        return function(from_fn(|index| if index < P { operands[index] } else { moved[index - P] }));
    }
    of_duals(along(&operands, |index| active.tangent(index, moved[index]))).map(|result| result.tangents()[0])
}

/// The transpose of the function: from tangents to cotangents, or from these to those. `moved` are factors of its
/// results.
pub fn transposed<T: Ring, const N: usize, const P: usize, const M: usize, const R: usize>(
    function: impl Fn([Dual<T, 1>; N]) -> [Dual<T, 1>; M],
    operands: [T; P],
    moved: [T; M],
    active: Active,
) -> [T; R] {
    let factors = from_fn(|index| active.tangent(index, moved[index]));
    from_fn(|result| {
        let [value] = Dual::pull(&function(along(&operands, |index| (index == result).then(|| T::int(1)))), factors);
        value
    })
}
