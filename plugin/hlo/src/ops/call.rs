//! Calls, inside the program and out of it, and tuples.

use super::attributes::{Attributes, signed};
use super::source::Source;
use super::started;
use super::value::{Field, Fields, Value};
use crate::{Alias, Attribute, CustomCall, CustomCallApiVersion, ElementType, Error, FuncId, OpKind, Type};

pub(super) fn composite(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::Composite {
        decomposition: op.callee("decomposition")?,
        name: op.required_text("name")?,
        attributes: op.entries("composite_attributes")?,
        version: op.integer_or("version", 0)?,
    })
}

pub(super) fn write_composite<'m>(
    out: &mut Attributes<'m>,
    name: &'m str,
    attributes: &[(String, Attribute)],
    decomposition: &FuncId,
    version: i64,
) {
    out.text("name", name);
    if !attributes.is_empty() {
        out.attribute("composite_attributes", Attribute::Dictionary(attributes.to_vec()));
    }
    out.callee("decomposition", decomposition);
    out.integer("version", version, ElementType::S32);
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

/// An error if the op takes or gives futures: no interface of custom calls has them.
fn no_futures(op: &mut dyn Source) -> Result<(), Error> {
    let operands = op.op().operands.clone();
    let mut types = operands.iter().map(|&operand| op.value_type(operand)).chain(op.first_result());
    match types.find(|ty| matches!(ty, Type::Future(_))) {
        Some(future) => Err(Error::unsupported(format!("custom calls with futures, here {future}, are not supported"))),
        None => Ok(()),
    }
}

pub(super) fn write_custom_call<'m>(out: &mut Attributes<'m>, call: &'m CustomCall) {
    out.text("call_target_name", &call.target);
    out.flag_or("has_side_effect", false, &call.has_side_effect);
    if call.backend_config != Attribute::String(Vec::new()) {
        out.attribute("backend_config", call.backend_config.clone());
    }
    if call.api_version != CustomCallApiVersion::Original {
        let number = CustomCallApiVersion::ALL.iter().position(|&version| version == call.api_version);
        out.integer("api_version", number.unwrap_or_default() as i64, ElementType::S32);
    }
    for (name, layouts) in [("operand_layouts", &call.operand_layouts), ("result_layouts", &call.result_layouts)] {
        if let Some(layouts) = layouts {
            out.attribute(name, Attribute::Array(layouts.iter().map(|dims| layout(dims)).collect()));
        }
    }
    if !call.aliases.is_empty() {
        let aliases = call.aliases.iter().map(alias).collect();
        out.set("output_operand_aliases", Value::Structs("output_operand_alias", aliases));
    }
    out.functions("called_computations", &call.called_computations);
    call.attributes.iter().for_each(|(name, value)| out.attribute(name, value.clone()));
}

/// A layout as text: MLIR wants elements of type `index`, which this crate does not tell from `i64`.
fn layout(dims: &[usize]) -> Attribute {
    let elements = if dims.is_empty() { String::new() } else { format!("{dims:?}") };
    Attribute::Other(format!("dense<{elements}> : tensor<{}xindex>", dims.len()))
}

fn alias(alias: &Alias) -> Fields<'static> {
    vec![
        ("output_tuple_indices", Field::Ints(signed(&alias.output))),
        ("operand_index", Field::Int(alias.operand as i64)),
        ("operand_tuple_indices", Field::Ints(signed(&alias.operand_path))),
    ]
}
