//! The types of results.

use super::signature::Signature;
use crate::ops::Regions;
use crate::{Error, OpKind, Type};

/// Checks the constraints of an op's operands, attributes and regions, and gives the types of its results.
///
/// ```
/// use oxcall_hlo::{ElementType, OpKind, Signature, TensorType, Type, infer_types};
///
/// let operand = Type::from(TensorType::new(ElementType::F32, [2, 3]));
/// let kind = OpKind::Transpose { permutation: vec![1, 0] };
/// let operands = [operand];
/// let signature = Signature { kind: &kind, operands: &operands, regions: &[], results: None };
/// assert_eq!(infer_types(signature)?, [Type::from(TensorType::new(ElementType::F32, [3, 2]))]);
/// # Ok::<(), oxcall_hlo::Error>(())
/// ```
///
/// # Errors
/// In the terms of the specification, with the op's name; also if the result's type is needed and not given.
pub fn infer_types(signature: Signature<'_>) -> Result<Vec<Type>, Error> {
    by_kind(signature).map_err(|error| error.in_op(signature.kind.name()))
}

fn by_kind(cx: Signature<'_>) -> Result<Vec<Type>, Error> {
    if !has_regions(cx.kind) {
        cx.region_count(0)?;
    }
    cx.kind.rule(cx)
}

/// Whether a rule looks at the regions itself.
fn has_regions(kind: &OpKind) -> bool {
    let newest = kind.def().bytecode.last();
    matches!(kind, OpKind::Call(_)) || newest.is_some_and(|version| version.regions != Regions::Exactly(0))
}
