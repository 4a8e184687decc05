//! The tangents and cotangents that take part in a derivative.

/// The tangents or cotangents of a derivative's operation that are not zero, as bits of an attribute: those of number
/// 63 and on share the sign bit.
///
/// A number that is not differentiated has no tangent instead of a tangent of 0: its slope may be infinite or NaN, and
/// then its product with 0 is NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Active(pub i64);

impl Active {
    /// All of them.
    pub const ALL: Active = Active(-1);

    /// The tangent, if it is not zero.
    #[inline(always)]
    pub(crate) fn tangent<T>(self, index: usize, tangent: T) -> Option<T> {
        ((self.0 >> index.min(63)) & 1 == 1).then_some(tangent)
    }
}
