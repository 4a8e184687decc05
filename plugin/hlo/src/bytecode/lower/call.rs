//! Calls, inside the program and out of it, and tuples.

use super::super::{attribute::Node, convert, op::OpReader};
use crate::{Attribute, CustomCall, CustomCallApiVersion, Error, OpKind};

pub(super) fn call(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    Ok(OpKind::Call(op.function("callee", "func.call")?))
}

pub(super) fn composite(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    let decomposition = op.function("decomposition", "stablehlo.composite")?;
    let attributes = op.id("composite_attributes")?;
    Ok(OpKind::Composite {
        name: op.text("name")?,
        attributes: convert::dictionary(op.tables(), attributes)?,
        decomposition,
        version: op.attribute("version")?.integer()?,
    })
}

pub(super) fn custom_call(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    let aliases = op.items("output_operand_aliases")?.map(|item| match item?.node() {
        Node::Alias(alias) => Ok(alias.clone()),
        _ => Err(Error::invalid("attribute `output_operand_aliases`: an alias is expected")),
    });
    let aliases = aliases.collect::<Result<_, _>>()?;
    let called = op.items("called_computations")?.map(|item| item?.symbol()).collect::<Result<Vec<_>, _>>()?;
    let location = op.location();
    let symbols = &mut op.context.symbols;
    let called = called.into_iter().map(|name| symbols.used(name, "stablehlo.custom_call", location)).collect();
    Ok(OpKind::CustomCall(Box::new(CustomCall {
        target: op.text("call_target_name")?,
        has_side_effect: op.bool("has_side_effect")?,
        backend_config: match op.optional("backend_config")? {
            Some(_) => convert::attribute(op.tables(), op.id("backend_config")?)?,
            None => Attribute::String(Vec::new()),
        },
        attributes: op.other_attributes()?,
        api_version: op.choice("api_version", CustomCallApiVersion::from_name)?,
        operand_layouts: layouts(op, "operand_layouts")?,
        result_layouts: layouts(op, "result_layouts")?,
        aliases,
        called_computations: called,
    })))
}

/// Layouts, minor to major. VHLO writes an empty list where there are none.
fn layouts(op: &OpReader<'_, '_, '_>, name: &'static str) -> Result<Option<Vec<Vec<usize>>>, Error> {
    let layouts = op.items(name)?.map(|item| item?.sizes()).collect::<Result<Vec<_>, _>>()?;
    Ok(if layouts.is_empty() { None } else { Some(layouts) })
}

pub(super) fn get_tuple_element(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    Ok(OpKind::GetTupleElement { index: op.size("index")? })
}
