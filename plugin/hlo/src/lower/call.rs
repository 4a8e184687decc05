//! Calls, inside the program and out of it, and tuples.

use super::Source;
use crate::{Attribute, CustomCall, Error, OpKind};

pub(super) fn call(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::Call(op.required_function("callee")?))
}

pub(super) fn composite(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::Composite {
        decomposition: op.required_function("decomposition")?,
        name: op.required_text("name")?,
        attributes: op.entries("composite_attributes")?,
        version: op.integer_or("version", 0)?,
    })
}

pub(super) fn custom_call(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::CustomCall(Box::new(CustomCall {
        aliases: op.aliases("output_operand_aliases")?,
        called_computations: op.functions("called_computations")?,
        target: op.required_text("call_target_name")?,
        has_side_effect: op.flag("has_side_effect")?,
        backend_config: op.attribute("backend_config")?.unwrap_or(Attribute::String(Vec::new())),
        api_version: op.api_version_or_original("api_version")?,
        operand_layouts: op.layouts("operand_layouts")?,
        result_layouts: op.layouts("result_layouts")?,
        attributes: op.others()?,
    })))
}

pub(super) fn get_tuple_element(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::GetTupleElement { index: op.size("index")? })
}
