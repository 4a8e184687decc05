//! torch's promotion of dtypes, which its stable interface does not offer.

use oxcall_element::ElementType;

use crate::DType;

/// The dtype to which torch's own operators promote tensors: `torch.result_type` of all of them. `false` beside a dtype
/// marks a tensor without dimensions, which does not widen tensors of its own or a later kind of number.
///
/// `None` where torch refuses, and where XLA lacks the dtype.
pub(crate) fn result_type(tensors: impl Iterator<Item = (DType, bool)>) -> Option<DType> {
    let mut found: [Option<ElementType>; 2] = [None, None];
    for (dtype, has_dims) in tensors {
        let element = ElementType::from_dtype(dtype)?;
        let other = &mut found[usize::from(has_dims)];
        *other = Some(other.map_or(Some(element), |other| promoted(other, element))?);
    }
    let common = match found {
        [Some(without), Some(with)] => with_scalar(with, without)?,
        [one, other] => other.or(one)?,
    };
    common.dtype()
}

/// Promotes the dtype of tensors by that of tensors without dimensions.
fn with_scalar(tensors: ElementType, scalars: ElementType) -> Option<ElementType> {
    match (kind(tensors), kind(scalars)) {
        (Kind::Float, Kind::Complex) => complex(tensors),
        (kind, other) if kind >= other => Some(tensors),
        (_, Kind::Complex) => Some(scalars),
        _ => promoted(tensors, scalars),
    }
}

/// `torch.promote_types`.
fn promoted(a: ElementType, b: ElementType) -> Option<ElementType> {
    let (lesser, greater) = if kind(a) <= kind(b) { (a, b) } else { (b, a) };
    // torch converts floats of eight bits to nothing, and nothing to them; wide unsigned integers only to floats.
    let is_narrow = |element: ElementType| element.is_float() && element.bits() < 16;
    let is_wide = |element: ElementType| element.is_unsigned() && element.bits() != 8;
    match (kind(lesser), kind(greater)) {
        _ if a == b => Some(a),
        _ if is_narrow(a) || is_narrow(b) => None,
        (_, kind) if kind != Kind::Float && (is_wide(a) || is_wide(b)) => None,
        (Kind::Bool, _) | (Kind::Integer, Kind::Float | Kind::Complex) => Some(greater),
        // No byte has all numbers of both.
        (Kind::Integer, Kind::Integer) if a.bits() == b.bits() => Some(ElementType::S16),
        (Kind::Float, Kind::Complex) => Some(if lesser.bits() == 64 { ElementType::C128 } else { greater }),
        // `f16` and `bf16`: neither holds all numbers of the other.
        _ if a.bits() == b.bits() => Some(ElementType::F32),
        _ => Some(if a.bits() > b.bits() { a } else { b }),
    }
}

/// The complex type whose parts have this type; XLA has none for halves.
fn complex(real: ElementType) -> Option<ElementType> {
    match real {
        ElementType::F64 => Some(ElementType::C128),
        ElementType::F32 => Some(ElementType::C64),
        _ => None,
    }
}

/// Kinds of numbers, in the order in which they promote.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Bool,
    Integer,
    Float,
    Complex,
}

fn kind(element: ElementType) -> Kind {
    match element {
        ElementType::Pred => Kind::Bool,
        _ if element.is_integer() => Kind::Integer,
        _ if element.is_complex() => Kind::Complex,
        _ => Kind::Float,
    }
}

/// Whether a dtype is integer or boolean: operators of floats convert it to torch's default dtype.
pub(crate) fn is_integral(dtype: DType) -> bool {
    ElementType::from_dtype(dtype).is_some_and(|element| kind(element) <= Kind::Integer)
}
