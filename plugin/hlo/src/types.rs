//! Types of values.

use std::fmt;
use std::hash::{Hash, Hasher};

use oxcall_element::ElementType;
use smallvec::SmallVec;

/// The sizes of a tensor's dimensions.
pub type Dims = SmallVec<[usize; 4]>;

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

    /// The bytes that a copy takes beside the type itself, which holds a few dimensions.
    pub(crate) fn heap_size(&self) -> usize {
        if self.dims.spilled() { size_of_val(&*self.dims) } else { 0 }
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

    /// Whether the other type also says the same dimensions to be dynamic.
    fn is_identical(&self, other: &TensorType) -> bool {
        self == other && self.dynamic.0 == other.dynamic.0
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
    /// The bytes that a copy takes beside the type itself.
    pub(crate) fn heap_size(&self) -> usize {
        match self {
            Type::Tensor(tensor) => tensor.heap_size(),
            Type::Token => 0,
            Type::Tuple(types) | Type::Future(types) => {
                size_of_val(&**types) + types.iter().map(Type::heap_size).sum::<usize>()
            }
        }
    }

    /// Whether the other type is written in the same way: also which dimensions are dynamic, which `==` leaves aside.
    pub(crate) fn is_identical(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Tensor(one), Type::Tensor(other)) => one.is_identical(other),
            (Type::Tuple(ones), Type::Tuple(others)) | (Type::Future(ones), Type::Future(others)) => {
                Type::are_identical(ones, others)
            }
            _ => self == other,
        }
    }

    /// Whether lists of types are as long, and identical in pairs.
    pub(crate) fn are_identical<'t>(
        ones: impl IntoIterator<Item = &'t Type>,
        others: impl IntoIterator<Item = &'t Type>,
    ) -> bool {
        let mut others = others.into_iter();
        ones.into_iter().all(|one| others.next().is_some_and(|other| one.is_identical(other)))
            && others.next().is_none()
    }

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
