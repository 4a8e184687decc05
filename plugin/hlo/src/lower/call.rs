//! Calls, inside the program and out of it, and tuples.

use super::{Source, started};
use crate::{Attribute, CustomCall, Error, OpKind, Type};

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
    no_futures(op)?;
    if matches!(op.attribute("result_tilings")?, Some(Attribute::Array(tilings)) if !tilings.is_empty()) {
        return Err(Error::unsupported("tiled layouts are not supported: result_tilings must be empty"));
    }
    let call = CustomCall {
        aliases: op.aliases("output_operand_aliases")?,
        called_computations: op.functions("called_computations")?,
        target: op.required_text("call_target_name")?,
        has_side_effect: op.flag("has_side_effect")?,
        backend_config: op.attribute("backend_config")?.unwrap_or(Attribute::String(Vec::new())),
        api_version: op.api_version_or_original("api_version")?,
        operand_layouts: op.layouts("operand_layouts")?,
        result_layouts: op.layouts("result_layouts")?,
        attributes: op.others()?,
    };
    match started::collective(op, &call)? {
        Some(kind) => Ok(kind),
        None => Ok(OpKind::CustomCall(Box::new(call))),
    }
}

pub(super) fn get_tuple_element(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::GetTupleElement { index: op.size("index")? })
}

/// An error if the op takes or gives futures: no interface of custom calls has them.
fn no_futures(op: &mut dyn Source) -> Result<(), Error> {
    let operands = op.op().operands.clone();
    let mut types = operands.iter().map(|&operand| op.value_type(operand)).chain(op.first_result());
    match types.find(|ty| matches!(ty, Type::Future(_))) {
        Some(future) => Err(Error::unsupported(format!("custom calls with futures, here {future}, are not supported"))),
        None => Ok(()),
    }
}
