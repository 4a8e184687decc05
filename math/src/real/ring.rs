//! Numbers that add, subtract and multiply.

use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A number that adds, subtracts and multiplies: real, complex, or an integer, which wraps around.
///
/// A pointwise function of any `T: Ring` is an operation for all of them, and one of `T: Real` for floats.
/// `T::int(2)` is a constant.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number of a pointwise function",
    note = "write the function for any `T: Ring`; to call it on one number, wrap that: `square(Exact(2))`"
)]
pub trait Ring:
    Copy
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
{
    /// An integer as a number; as by `as` where it is an integer too.
    fn int(value: i32) -> Self;
}
