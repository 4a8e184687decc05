//! The types around an op, and what the rules of ops ask of them.

use std::fmt;

use crate::{ElementType, Error, OpKind, TensorType, Type};

/// Ends the rule with an error unless a condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err($crate::Error::invalid(format!($($message)+)));
        }
    };
}
pub(super) use ensure;

/// The types of a region, or of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionType {
    /// Those of the parameters.
    pub params: Vec<Type>,
    /// Those of the results.
    pub results: Vec<Type>,
}

/// An op with the types around it.
#[derive(Debug, Clone, Copy)]
pub struct Signature<'a> {
    /// The op.
    pub kind: &'a OpKind,
    /// The types of the operands.
    pub operands: &'a [Type],
    /// The types of the regions. Of a call or composite: that of its function.
    pub regions: &'a [RegionType],
    /// The types of the results where they are known; some ops, such as `reshape`, cannot do without.
    pub results: Option<&'a [Type]>,
}

/// Sets of element types, named as the specification does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Any,
    Boolean,
    Integer,
    BooleanOrInteger,
    Float,
    FloatOrComplex,
    SignedFloatOrComplex,
    Number,
    F32OrF64,
    FloatOrF64Complex,
}

impl Class {
    fn contains(self, element: ElementType) -> bool {
        let wide = matches!(element, ElementType::F32 | ElementType::F64);
        match self {
            Class::Any => true,
            Class::Boolean => element == ElementType::Pred,
            Class::Integer => element.is_integer(),
            Class::BooleanOrInteger => element.is_integer() || element == ElementType::Pred,
            Class::Float => element.is_float(),
            Class::FloatOrComplex => element.is_float() || element.is_complex(),
            Class::SignedFloatOrComplex => element.is_signed() || element.is_float() || element.is_complex(),
            Class::Number => element != ElementType::Pred,
            Class::F32OrF64 => wide,
            Class::FloatOrF64Complex => wide || element.is_complex(),
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Class::Any => "any type",
            Class::Boolean => "boolean type",
            Class::Integer => "integer type",
            Class::BooleanOrInteger => "boolean or integer type",
            Class::Float => "floating-point type",
            Class::FloatOrComplex => "floating-point or complex type",
            Class::SignedFloatOrComplex => "signed integer, floating-point or complex type",
            Class::Number => "integer, floating-point or complex type",
            Class::F32OrF64 => "f32 or f64 type",
            Class::FloatOrF64Complex => "f32, f64 or complex type",
        })
    }
}

impl<'a> Signature<'a> {
    /// Checks the number of operands.
    pub(super) fn arity(&self, count: usize) -> Result<(), Error> {
        let got = self.operands.len();
        ensure!(got == count, "expected {count} operands, got {got}");
        Ok(())
    }

    /// Checks the number of regions.
    pub(super) fn region_count(&self, count: usize) -> Result<(), Error> {
        let got = self.regions.len();
        ensure!(got == count, "expected {count} regions, got {got}");
        Ok(())
    }

    /// The type of operand `index`, which the specification calls `name` and must be a tensor.
    pub(super) fn tensor(&self, index: usize, name: &str) -> Result<&'a TensorType, Error> {
        let ty = self.operands.get(index).ok_or_else(|| {
            Error::invalid(format!("operand {name} is missing, got {} operands", self.operands.len()))
        })?;
        ty.tensor().ok_or_else(|| Error::invalid(format!("{name} must be a tensor, got {ty}")))
    }

    /// As [`tensor`](Self::tensor), with elements of `class`.
    pub(super) fn tensor_of(&self, index: usize, name: &str, class: Class) -> Result<&'a TensorType, Error> {
        let ty = self.tensor(index, name)?;
        ensure!(class.contains(ty.element), "{name} must be a tensor of {class}, got {ty}");
        Ok(ty)
    }

    /// All operands from `range` as tensors called `name`.
    pub(super) fn tensors(&self, range: std::ops::Range<usize>, name: &str) -> Result<Vec<&'a TensorType>, Error> {
        range.map(|index| self.tensor(index, name)).collect()
    }

    /// The type of the only result, which must be given, and be a tensor.
    pub(super) fn given_result(&self) -> Result<&'a TensorType, Error> {
        match self.results {
            Some([ty]) => ty.tensor().ok_or_else(|| Error::invalid(format!("the result must be a tensor, got {ty}"))),
            Some(types) => Err(Error::invalid(format!("expected 1 result, got {}", types.len()))),
            None => Err(Error::invalid("the type of the result must be given")),
        }
    }

    /// The element type of result `index` if it is given, otherwise `default`.
    pub(super) fn given_element(&self, index: usize, default: ElementType) -> ElementType {
        let given = self.results.and_then(|types| types.get(index)?.tensor());
        given.map_or(default, |ty| ty.element)
    }
}

/// The only result, a tensor.
pub(super) fn one(ty: impl Into<Type>) -> Result<Vec<Type>, Error> {
    Ok(vec![ty.into()])
}

/// Checks that two operands have one type.
pub(super) fn same_type(lhs: &TensorType, lhs_name: &str, rhs: &TensorType, rhs_name: &str) -> Result<(), Error> {
    ensure!(lhs == rhs, "{lhs_name} and {rhs_name} must have the same type, got {lhs} and {rhs}");
    Ok(())
}

/// Checks that two operands have elements of one type.
pub(super) fn same_element(lhs: &TensorType, lhs_name: &str, rhs: &TensorType, rhs_name: &str) -> Result<(), Error> {
    ensure!(
        lhs.element == rhs.element,
        "{lhs_name} and {rhs_name} must have the same element type, got {lhs} and {rhs}"
    );
    Ok(())
}

/// Checks that an operand is a scalar.
pub(super) fn scalar(ty: &TensorType, name: &str) -> Result<(), Error> {
    ensure!(ty.rank() == 0, "{name} must be a scalar, got {ty}");
    Ok(())
}

/// Checks that a list has one entry for each dimension of an operand.
pub(super) fn per_dimension<T>(list: &[T], list_name: &str, ty: &TensorType, name: &str) -> Result<(), Error> {
    let len = list.len();
    ensure!(len == ty.rank(), "{list_name} must have an entry for each dimension of {name}, {ty}, got {len}");
    Ok(())
}

/// Checks that `dims` are dimensions of a tensor of rank `rank` called `name`, none twice.
pub(super) fn unique_dims(dims: &[usize], dims_name: &str, rank: usize, name: &str) -> Result<(), Error> {
    for (index, dim) in dims.iter().enumerate() {
        ensure!(*dim < rank, "{dims_name} must be dimensions of {name} of rank {rank}, got {dims:?}");
        ensure!(!dims[..index].contains(dim), "{dims_name} must be unique, got {dims:?}");
    }
    Ok(())
}

/// As [`unique_dims`], in ascending order.
pub(super) fn sorted_dims(dims: &[usize], dims_name: &str, rank: usize, name: &str) -> Result<(), Error> {
    unique_dims(dims, dims_name, rank, name)?;
    ensure!(dims.is_sorted(), "{dims_name} must be sorted, got {dims:?}");
    Ok(())
}

/// Checks that `dim` is a dimension of `ty`.
pub(super) fn dimension(dim: usize, dim_name: &str, ty: &TensorType, name: &str) -> Result<(), Error> {
    ensure!(dim < ty.rank(), "{dim_name} = {dim} must be a dimension of {name}, {ty}");
    Ok(())
}
