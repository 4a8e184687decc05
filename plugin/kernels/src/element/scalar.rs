//! Single elements of any type.

use bytemuck::{Pod, Zeroable};
use oxcall_hlo::ElementType;

use super::Element;

/// An element: its bits in the low bytes, zeros above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct Scalar(pub u128);

impl Scalar {
    /// The element `value`.
    #[inline(always)]
    pub(crate) fn of<T: Element>(value: T) -> Scalar {
        Scalar::from_pod(value)
    }

    /// The element, which must be of type `T`.
    #[inline(always)]
    pub(crate) fn get<T: Element>(self) -> T {
        self.to_pod()
    }

    /// The element with these bytes, in memory order.
    ///
    /// # Panics
    /// If there are more than 16 bytes.
    #[inline]
    pub fn from_bytes(bytes: &[u8]) -> Scalar {
        let mut buffer = [0; 16];
        buffer[..bytes.len()].copy_from_slice(bytes);
        Scalar(u128::from_le_bytes(buffer))
    }

    /// The value of an element of an integer type.
    #[inline]
    pub fn integer(self, element: ElementType) -> i128 {
        let unused = u128::BITS - 8 * element.byte_width() as u32;
        let high = self.0 << unused;
        if element.is_signed() { high.cast_signed() >> unused } else { (high >> unused).cast_signed() }
    }

    #[inline(always)]
    pub(crate) fn from_pod<T: Pod>(value: T) -> Scalar {
        let mut buffer = [0; 16];
        buffer[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
        Scalar(u128::from_le_bytes(buffer))
    }

    #[inline(always)]
    pub(crate) fn to_pod<T: Pod>(self) -> T {
        bytemuck::pod_read_unaligned(&self.0.to_le_bytes()[..size_of::<T>()])
    }
}
