//! Constant tensors.

use std::sync::Arc;

use crate::{ElementType, TensorType};

/// A constant tensor: its elements in row-major order, little-endian, each in
/// [`byte_width`](crate::ElementType::byte_width) bytes. `Pred` is 0 or 1; narrow signed integers are sign-extended to
/// their byte, other narrow types zero-extended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Literal {
    ty: TensorType,
    data: Arc<[u8]>,
    splat: bool,
}

impl Literal {
    /// A tensor with each element given.
    ///
    /// # Panics
    /// If `data` is not as long as the type says.
    pub fn dense(ty: TensorType, data: impl Into<Arc<[u8]>>) -> Literal {
        let data = data.into();
        assert_eq!(data.len(), ty.byte_size(), "{ty}");
        Literal { ty, data, splat: false }
    }

    /// A tensor of which all elements are `element`.
    ///
    /// # Panics
    /// If `element` is not one element long.
    pub fn splat(ty: TensorType, element: impl Into<Arc<[u8]>>) -> Literal {
        let data = element.into();
        assert_eq!(data.len(), ty.element.byte_width(), "{ty}");
        Literal { ty, data, splat: true }
    }

    /// A tensor with these elements, as many as the type says, whose unused bits may be anything.
    pub(crate) fn normalised(ty: TensorType, bytes: &[u8]) -> Literal {
        let data = normalised(ty.element, bytes);
        Literal::dense(ty, data)
    }

    /// A tensor of which all elements are this one, whose unused bits may be anything.
    pub(crate) fn normalised_splat(ty: TensorType, element: &[u8]) -> Literal {
        let data = normalised(ty.element, element);
        Literal::splat(ty, data)
    }

    /// The type.
    pub fn ty(&self) -> &TensorType {
        &self.ty
    }

    /// The one element of a splat.
    pub fn splat_element(&self) -> Option<&[u8]> {
        self.splat.then_some(&self.data)
    }

    /// Whether all elements have the same bytes, and there is one.
    pub(crate) fn is_uniform(&self) -> bool {
        let mut elements = self.data.chunks_exact(self.ty.element.byte_width());
        self.splat || elements.next().is_some_and(|first| elements.all(|element| element == first))
    }

    /// What is stored: one element of a splat, otherwise all.
    pub fn data(&self) -> &Arc<[u8]> {
        &self.data
    }

    /// The bytes of the element at `index`, in row-major order.
    ///
    /// # Panics
    /// If `index` is out of range and the literal is dense.
    pub fn element(&self, index: usize) -> &[u8] {
        let width = self.ty.element.byte_width();
        if self.splat { &self.data } else { &self.data[index * width..][..width] }
    }

    /// The elements of a constant of integers or booleans, `None` for others; unsigned values have the bits of a `u64`.
    pub fn integers(&self) -> Option<impl Iterator<Item = i64>> {
        let element = self.ty.element;
        let signed = element.is_signed();
        (element.is_integer() || element == ElementType::Pred).then(|| {
            (0..self.ty.count()).map(move |index| {
                let bytes = self.element(index);
                let negative = signed && bytes.last().is_some_and(|&byte| byte & 0x80 != 0);
                let mut word = [if negative { 0xff } else { 0 }; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                i64::from_le_bytes(word)
            })
        })
    }

    /// All elements, a splat repeated.
    pub fn to_bytes(&self) -> Arc<[u8]> {
        if self.splat { self.data.repeat(self.ty.count()).into() } else { self.data.clone() }
    }

    /// The same elements in another shape.
    ///
    /// # Panics
    /// If `ty` has another element type or number of elements.
    #[must_use]
    pub fn reshaped(&self, ty: TensorType) -> Literal {
        assert_eq!((ty.element, ty.count()), (self.ty.element, self.ty.count()));
        Literal { ty, ..self.clone() }
    }
}

/// The elements as literals hold them: booleans 0 or 1, narrow integers extended to their byte.
fn normalised(element: ElementType, bytes: &[u8]) -> Arc<[u8]> {
    let unused = 8u32.saturating_sub(element.bits() as u32);
    if unused == 0 {
        bytes.into()
    } else if element == ElementType::Pred {
        bytes.iter().map(|&byte| u8::from(byte != 0)).collect()
    } else if element.is_signed() {
        bytes.iter().map(|byte| ((byte << unused) as i8 >> unused) as u8).collect()
    } else {
        bytes.iter().map(|byte| byte & (0xff >> unused)).collect()
    }
}
