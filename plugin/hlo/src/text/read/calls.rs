//! Control flow, calls, tuples and tokens.

use super::{
    Read,
    attributes::{Parameters, Reader, attribute_ints, parse_fields, unsigned},
};
use crate::{Alias, Attribute, CustomCall, CustomCallApiVersion, Error, OpKind, text::syntax::Value};

pub(super) const OPS: &[(&str, Read)] = &[
    ("stablehlo.while", |_| Ok(OpKind::While)),
    ("stablehlo.if", |_| Ok(OpKind::If)),
    ("stablehlo.case", |_| Ok(OpKind::Case)),
    ("func.call", call),
    ("stablehlo.composite", composite),
    ("stablehlo.custom_call", custom_call),
    ("stablehlo.optimization_barrier", |_| Ok(OpKind::OptimizationBarrier)),
    ("stablehlo.tuple", |_| Ok(OpKind::Tuple)),
    ("stablehlo.get_tuple_element", |reader| Ok(OpKind::GetTupleElement { index: reader.dim("index")? })),
    ("stablehlo.after_all", |_| Ok(OpKind::AfterAll)),
    ("stablehlo.create_token", |_| Ok(OpKind::AfterAll)),
    ("stablehlo.partition_id", |_| Ok(OpKind::PartitionId)),
    ("stablehlo.replica_id", |_| Ok(OpKind::ReplicaId)),
];

/// The name of a function.
fn symbol(value: &Value) -> Option<String> {
    match value {
        Value::Attribute(Attribute::Symbol(name)) => Some(name.clone()),
        _ => None,
    }
}

fn call(reader: &mut Reader) -> Result<OpKind, Error> {
    for ignored in ["arg_attrs", "res_attrs", "no_inline"] {
        reader.attribute(ignored);
    }
    let callee = reader.required("callee", "the name of a function", symbol)?;
    Ok(OpKind::Call(reader.function(callee)))
}

fn composite(reader: &mut Reader) -> Result<OpKind, Error> {
    let name = reader.string("name")?.ok_or_else(|| reader.error("a composite without a name"))?;
    let decomposition = reader.required("decomposition", "the name of a function", symbol)?;
    let attributes = reader.optional("composite_attributes", "a dictionary", |value| match value {
        Value::Attribute(Attribute::Dictionary(entries)) => Some(entries.clone()),
        _ => None,
    })?;
    let version = reader.optional_int("version")?.unwrap_or(0);
    let decomposition = reader.function(decomposition);
    Ok(OpKind::Composite { name, attributes: attributes.unwrap_or_default(), decomposition, version })
}

fn custom_call(reader: &mut Reader) -> Result<OpKind, Error> {
    let target = reader.string("call_target_name")?.ok_or_else(|| reader.error("a custom call without a target"))?;
    let has_side_effect = reader.bool("has_side_effect", false)?;
    let backend_config = reader.attribute("backend_config").unwrap_or(Attribute::String(Vec::new()));
    let api_version = reader.optional("api_version", "an integer from 0 to 4", |value| match value {
        Value::Attribute(Attribute::Integer(value, _)) => {
            CustomCallApiVersion::ALL.get(usize::try_from(*value).ok()?).copied()
        }
        _ => None,
    })?;
    let operand_layouts = reader.optional("operand_layouts", "a list of lists of dimensions", layouts)?;
    let result_layouts = reader.optional("result_layouts", "a list of lists of dimensions", layouts)?;
    let aliases = reader.optional("output_operand_aliases", "a list of output_operand_alias", aliases)?;
    let called = reader.optional("called_computations", "a list of functions", |value| match value {
        Value::Attribute(Attribute::Array(items)) => {
            items.iter().map(|item| symbol(&Value::Attribute(item.clone()))).collect::<Option<Vec<_>>>()
        }
        _ => None,
    })?;
    let called_computations = called.unwrap_or_default().into_iter().map(|name| reader.function(name)).collect();
    let mut attributes: Vec<(String, Attribute)> = std::mem::take(&mut reader.op.attributes)
        .into_iter()
        .filter_map(|entry| Some((entry.name, entry.value.into_attribute()?)))
        .collect();
    attributes.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(OpKind::CustomCall(Box::new(CustomCall {
        target,
        has_side_effect,
        backend_config,
        attributes,
        api_version: api_version.unwrap_or(CustomCallApiVersion::Original),
        operand_layouts,
        result_layouts,
        aliases: aliases.unwrap_or_default(),
        called_computations,
    })))
}

fn layouts(value: &Value) -> Option<Vec<Vec<usize>>> {
    match value {
        Value::Attribute(Attribute::Array(items)) => {
            items.iter().map(|item| unsigned(&attribute_ints(item)?)).collect()
        }
        _ => None,
    }
}

fn aliases(value: &Value) -> Option<Vec<Alias>> {
    let Value::Attribute(Attribute::Array(items)) = value else {
        return None;
    };
    let alias = |item: &Attribute| match item {
        Attribute::Other(text) => parse_fields(text).and_then(|fields| Parameters::read(&fields, output_alias)).ok(),
        _ => None,
    };
    items.iter().map(alias).collect()
}

fn output_alias(parameters: &mut Parameters) -> Result<Alias, Error> {
    Ok(Alias {
        output: parameters.dims("output_tuple_indices")?,
        operand: parameters.dim("operand_index")?,
        operand_path: parameters.dims("operand_tuple_indices")?,
    })
}
