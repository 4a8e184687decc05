//! Composites that are named after an op.

use oxcall_hlo::{Attribute, BinaryOp, CustomCall, ElementType, Op, OpKind, Signature, Type, UnaryOp, infer_types};

/// Turns a composite into the op after which it is named, if the engine has its kernel and the types fit. Returns
/// whether it did. Complex functions keep their decomposition, because its branch cuts are the ones that users of JAX
/// see.
///
/// JAX up to 0.8 writes some of these functions as custom calls: `mhlo.topk` with its attributes in a dictionary.
pub(crate) fn to_kernel(op: &mut Op, values: &[Type]) -> bool {
    let kind = match &op.kind {
        OpKind::Composite { name, attributes, .. } => {
            name.strip_prefix("chlo.").and_then(|name| kernel(name, attributes))
        }
        OpKind::CustomCall(call) => {
            call.target.strip_prefix("mhlo.").and_then(|name| kernel(name, mhlo_attributes(call)))
        }
        _ => None,
    };
    let Some(kind) = kind else { return false };
    let types = |ids: &[oxcall_hlo::ValueId]| -> Vec<Type> {
        ids.iter().map(|value| values[value.0 as usize].clone()).collect()
    };
    let (operands, results) = (types(&op.operands), types(&op.results));
    let is_complex = |ty: &Type| ty.tensor().is_some_and(|ty| ty.element.is_complex());
    let signature = Signature { kind: &kind, operands: &operands, regions: &[], results: Some(&results) };
    let fits = !operands.iter().any(is_complex) && infer_types(signature).is_ok_and(|inferred| inferred == results);
    if fits {
        op.kind = kind;
        op.regions.clear();
    }
    fits
}

/// The attributes of a custom call that stands for an op of MHLO.
fn mhlo_attributes(call: &CustomCall) -> &[(String, Attribute)] {
    match call.attributes.iter().find(|(name, _)| name == "mhlo.attributes") {
        Some((_, Attribute::Dictionary(attributes))) => attributes,
        _ => &[],
    }
}

/// The function called `name` in CHLO or MHLO.
fn kernel(name: &str, attributes: &[(String, Attribute)]) -> Option<OpKind> {
    if matches!(name, "top_k" | "topk") {
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
    let name = format!("chlo.{name}");
    UnaryOp::from_name(&name).map(OpKind::Unary).or_else(|| BinaryOp::from_name(&name).map(OpKind::Binary))
}
