//! Composites whose name is that of an op.

use oxcall_hlo::{Attribute, BinaryOp, ElementType, Op, OpKind, Signature, Type, UnaryOp, infer_types};

/// Makes a composite the op that it is named after, if the engine has its kernel and the types fit. Says whether it
/// did. Complex functions are left to their decomposition, whose branch cuts are what users of JAX see.
pub(crate) fn to_kernel(op: &mut Op, values: &[Type]) -> bool {
    let OpKind::Composite { name, attributes, .. } = &op.kind else { return false };
    let Some(kind) = kernel(name, attributes) else { return false };
    let types = |ids: &[oxcall_hlo::ValueId]| -> Vec<Type> {
        ids.iter().map(|value| values[value.0 as usize].clone()).collect()
    };
    let (operands, results) = (types(&op.operands), types(&op.results));
    let is_complex = |ty: &Type| ty.tensor().is_some_and(|ty| ty.element.is_complex());
    let signature = Signature { kind: &kind, operands: &operands, regions: &[], results: Some(&results) };
    let fits = !operands.iter().any(is_complex) && infer_types(signature).is_ok_and(|inferred| inferred == results);
    if fits {
        op.kind = kind;
    }
    fits
}

/// The op called `name`.
fn kernel(name: &str, attributes: &[(String, Attribute)]) -> Option<OpKind> {
    if !name.starts_with("chlo.") {
        return None;
    }
    if name == "chlo.top_k" {
        let attribute = |key: &str| attributes.iter().find(|(name, _)| name == key).map(|(_, value)| value);
        let k = usize::try_from(attribute("k")?.as_integer()?).ok()?;
        let largest = match attribute("largest") {
            None => true,
            Some(Attribute::Bool(largest)) => *largest,
            Some(Attribute::Integer(largest, ElementType::Pred)) => *largest != 0,
            Some(_) => return None,
        };
        return Some(OpKind::TopK { k, largest });
    }
    UnaryOp::from_name(name).map(OpKind::Unary).or_else(|| BinaryOp::from_name(name).map(OpKind::Binary))
}
