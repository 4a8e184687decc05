//! Types of values.

use std::fmt;
use std::hash::{Hash, Hasher};

use smallvec::SmallVec;

/// The sizes of a tensor's dimensions.
pub type Dims = SmallVec<[usize; 4]>;

/// Defines [`ElementType`] with its names and sizes from one table.
macro_rules! element_types {
    ($($variant:ident $name:literal $bits:literal $doc:literal,)*) => {
        /// The type of a tensor's elements.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ElementType {
            $(#[doc = $doc] $variant,)*
        }

        impl ElementType {
            /// Every element type.
            pub const ALL: &[ElementType] = &[$(ElementType::$variant),*];

            /// The name in MLIR text: `f32`, `ui8`, `complex<f32>`.
            pub fn name(self) -> &'static str {
                match self { $(ElementType::$variant => $name,)* }
            }

            /// The width of one element in bits: 4 for `S4`, 64 for `C64`, 1 for `Pred`.
            pub fn bits(self) -> usize {
                match self { $(ElementType::$variant => $bits,)* }
            }
        }
    };
}

element_types! {
    Pred "i1" 1 "Boolean.",
    S2 "i2" 2 "Signed 2-bit integer.",
    S4 "i4" 4 "Signed 4-bit integer.",
    S8 "i8" 8 "Signed 8-bit integer.",
    S16 "i16" 16 "Signed 16-bit integer.",
    S32 "i32" 32 "Signed 32-bit integer.",
    S64 "i64" 64 "Signed 64-bit integer.",
    U2 "ui2" 2 "Unsigned 2-bit integer.",
    U4 "ui4" 4 "Unsigned 4-bit integer.",
    U8 "ui8" 8 "Unsigned 8-bit integer.",
    U16 "ui16" 16 "Unsigned 16-bit integer.",
    U32 "ui32" 32 "Unsigned 32-bit integer.",
    U64 "ui64" 64 "Unsigned 64-bit integer.",
    F4E2M1FN "f4E2M1FN" 4 "Float with 2 exponent and 1 mantissa bits, finite.",
    F6E2M3FN "f6E2M3FN" 6 "Float with 2 exponent and 3 mantissa bits, finite.",
    F6E3M2FN "f6E3M2FN" 6 "Float with 3 exponent and 2 mantissa bits, finite.",
    F8E3M4 "f8E3M4" 8 "Float with 3 exponent and 4 mantissa bits.",
    F8E4M3 "f8E4M3" 8 "Float with 4 exponent and 3 mantissa bits.",
    F8E4M3FN "f8E4M3FN" 8 "Float with 4 exponent and 3 mantissa bits, no infinities.",
    F8E4M3FNUZ "f8E4M3FNUZ" 8 "Float with 4 exponent and 3 mantissa bits, no infinities, no negative zero.",
    F8E4M3B11FNUZ "f8E4M3B11FNUZ" 8 "As `F8E4M3FNUZ`, with exponent bias 11.",
    F8E5M2 "f8E5M2" 8 "Float with 5 exponent and 2 mantissa bits.",
    F8E5M2FNUZ "f8E5M2FNUZ" 8 "Float with 5 exponent and 2 mantissa bits, no infinities, no negative zero.",
    F8E8M0FNU "f8E8M0FNU" 8 "Power of two, unsigned: 8 exponent bits.",
    F16 "f16" 16 "IEEE half precision.",
    BF16 "bf16" 16 "bfloat16.",
    F32 "f32" 32 "IEEE single precision.",
    F64 "f64" 64 "IEEE double precision.",
    C64 "complex<f32>" 64 "Complex of two `F32`.",
    C128 "complex<f64>" 128 "Complex of two `F64`.",
}

impl ElementType {
    /// The bytes that one element takes in a [`Literal`](crate::Literal) and in the engine's buffers: what is narrower
    /// than a byte takes a whole one.
    pub fn byte_width(self) -> usize {
        self.bits().div_ceil(8)
    }

    /// Whether it is a signed or unsigned integer (not `Pred`).
    pub fn is_integer(self) -> bool {
        self.is_signed() || self.is_unsigned()
    }

    /// Whether it is a signed integer.
    pub fn is_signed(self) -> bool {
        matches!(self, Self::S2 | Self::S4 | Self::S8 | Self::S16 | Self::S32 | Self::S64)
    }

    /// Whether it is an unsigned integer.
    pub fn is_unsigned(self) -> bool {
        matches!(self, Self::U2 | Self::U4 | Self::U8 | Self::U16 | Self::U32 | Self::U64)
    }

    /// Whether it is a real floating-point type of any width.
    pub fn is_float(self) -> bool {
        !self.is_integer() && !self.is_complex() && self != Self::Pred
    }

    /// Whether it is complex.
    pub fn is_complex(self) -> bool {
        matches!(self, Self::C64 | Self::C128)
    }

    /// The type of the real and imaginary parts of a complex type; itself otherwise.
    pub fn real(self) -> ElementType {
        match self {
            Self::C64 => Self::F32,
            Self::C128 => Self::F64,
            other => other,
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The dimensions of a tensor that may be smaller at run time than they are in its type, which has their bounds.
///
/// Tensor types are compared by their bounds, so any two of these are equal.
#[derive(Debug, Clone, Copy, Default)]
pub struct DynamicDims(u64);

impl DynamicDims {
    /// None.
    pub const NONE: DynamicDims = DynamicDims(0);

    /// Dimensions from this one on cannot be dynamic.
    pub const LIMIT: usize = u64::BITS as usize;

    /// Adds a dimension, and says whether it is below [`LIMIT`](DynamicDims::LIMIT), as it has to be.
    pub fn insert(&mut self, dim: usize) -> bool {
        let fits = dim < Self::LIMIT;
        if fits {
            self.0 |= 1 << dim;
        }
        fits
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether this dimension is dynamic.
    pub fn contains(self, dim: usize) -> bool {
        dim < Self::LIMIT && self.0 >> dim & 1 == 1
    }

    /// The dimensions, in order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..Self::LIMIT).filter(move |&dim| self.contains(dim))
    }
}

impl PartialEq for DynamicDims {
    fn eq(&self, _: &DynamicDims) -> bool {
        true
    }
}

impl Eq for DynamicDims {}

impl Hash for DynamicDims {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// A tensor. Elements are in row-major order wherever a tensor lies in memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// The element type.
    pub element: ElementType,
    /// The sizes of the dimensions, or the bounds of those that are dynamic; empty for a scalar.
    pub dims: Dims,
    /// Which dimensions the program declares to be dynamic.
    pub dynamic: DynamicDims,
}

impl TensorType {
    /// A tensor type of static shape. Readers check that [`byte_size`](TensorType::byte_size) does not overflow.
    pub fn new(element: ElementType, dims: impl IntoIterator<Item = usize>) -> TensorType {
        TensorType { element, dims: dims.into_iter().collect(), dynamic: DynamicDims::NONE }
    }

    /// A scalar.
    pub fn scalar(element: ElementType) -> TensorType {
        TensorType::new(element, [])
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The number of elements; `None` if it does not fit.
    pub fn checked_count(&self) -> Option<usize> {
        if self.dims.contains(&0) {
            return Some(0);
        }
        self.dims.iter().try_fold(1usize, |product, &dim| product.checked_mul(dim))
    }

    /// The number of elements.
    ///
    /// # Panics
    /// If it does not fit, which readers refuse.
    pub fn count(&self) -> usize {
        self.checked_count().expect("readers refuse tensors that do not fit")
    }

    /// The size in bytes, each element in [`ElementType::byte_width`] bytes.
    ///
    /// # Panics
    /// If it does not fit, which readers refuse.
    pub fn byte_size(&self) -> usize {
        self.count() * self.element.byte_width()
    }

    /// The same shape with another element type.
    #[must_use]
    pub fn with_element(&self, element: ElementType) -> TensorType {
        TensorType { element, dims: self.dims.clone(), dynamic: self.dynamic }
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tensor<")?;
        for (dim, size) in self.dims.iter().enumerate() {
            if self.dynamic.contains(dim) { f.write_str("?x")? } else { write!(f, "{size}x")? }
        }
        write!(f, "{}", self.element)?;
        if !self.dynamic.is_empty() {
            f.write_str(", #stablehlo.bounds<")?;
            for (dim, size) in self.dims.iter().enumerate() {
                f.write_str(if dim == 0 { "" } else { ", " })?;
                if self.dynamic.contains(dim) { write!(f, "{size}")? } else { f.write_str("?")? }
            }
            f.write_str(">")?;
        }
        f.write_str(">")
    }
}

/// The type of a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// A tensor.
    Tensor(TensorType),
    /// A token, which orders side effects.
    Token,
    /// A tuple.
    Tuple(Vec<Type>),
    /// What an op that was started will give.
    Future(Vec<Type>),
}

impl Type {
    /// The tensor type, if it is one.
    pub fn tensor(&self) -> Option<&TensorType> {
        match self {
            Type::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }
}

impl From<TensorType> for Type {
    fn from(tensor: TensorType) -> Type {
        Type::Tensor(tensor)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Tensor(tensor) => write!(f, "{tensor}"),
            Type::Token => f.write_str("!stablehlo.token"),
            Type::Tuple(types) | Type::Future(types) => {
                f.write_str(if matches!(self, Type::Tuple(_)) { "tuple<" } else { "!stablehlo.future<" })?;
                for (index, ty) in types.iter().enumerate() {
                    write!(f, "{}{ty}", if index == 0 { "" } else { ", " })?;
                }
                f.write_str(">")
            }
        }
    }
}
