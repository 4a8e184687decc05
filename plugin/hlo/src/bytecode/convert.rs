//! Attributes that the IR keeps as they are.

use super::attribute::Node;
use super::tables::{AttrId, Tables};
use super::types::TypeNode;
use crate::{Attribute, Error, print};

/// How deep attributes may nest.
const MAX_DEPTH: usize = 64;

/// The attribute at `id`, with all that it refers to.
pub(super) fn attribute(tables: &Tables<'_>, id: AttrId) -> Result<Attribute, Error> {
    at_depth(tables, id, 0)
}

/// The entries of a dictionary, sorted by name.
pub(super) fn entries<'a>(
    tables: &Tables<'a>,
    entries: impl IntoIterator<Item = (&'a [u8], AttrId)>,
) -> Result<Vec<(String, Attribute)>, Error> {
    entries_at_depth(tables, entries, 0)
}

/// The entries of the dictionary at `id`, sorted by name.
pub(super) fn dictionary(tables: &Tables<'_>, id: AttrId) -> Result<Vec<(String, Attribute)>, Error> {
    match tables.attribute(id)? {
        Node::Dictionary(nodes) => entries(tables, nodes.iter().copied()),
        _ => Err(Error::invalid("expected a dictionary")),
    }
}

/// Bytes that have to be text.
pub(super) fn text(bytes: &[u8]) -> Result<String, Error> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => Err(Error::invalid(format!("the name `{}` is not UTF-8", String::from_utf8_lossy(bytes)))),
    }
}

fn entries_at_depth<'a>(
    tables: &Tables<'a>,
    entries: impl IntoIterator<Item = (&'a [u8], AttrId)>,
    depth: usize,
) -> Result<Vec<(String, Attribute)>, Error> {
    let convert = |(name, value): (&[u8], AttrId)| {
        // Nothing can be said of an attribute of a dialect that is not known: it is dropped.
        if let Node::Foreign(_) = tables.attribute(value)? {
            return Ok(None);
        }
        tables.spend(name.len())?;
        Ok(Some((text(name)?, at_depth(tables, value, depth)?)))
    };
    entries.into_iter().filter_map(|entry| convert(entry).transpose()).collect()
}

fn at_depth(tables: &Tables<'_>, id: AttrId, depth: usize) -> Result<Attribute, Error> {
    if depth > MAX_DEPTH {
        return Err(Error::invalid("attributes nest too deeply"));
    }
    tables.spend(size_of::<(String, Attribute)>())?;
    Ok(match tables.attribute(id)? {
        Node::Unit => Attribute::Unit,
        Node::Bool(value) => Attribute::Bool(*value),
        Node::Integer(value, element) => Attribute::Integer(*value, *element),
        Node::Float(value, element) => Attribute::Float(*value, *element),
        Node::String(bytes) => {
            tables.spend(bytes.len())?;
            Attribute::String(bytes.to_vec())
        }
        Node::Symbol(name) => {
            tables.spend(name.len())?;
            Attribute::Symbol(text(name)?)
        }
        Node::Array(ids) => {
            let items = ids.iter().map(|&id| at_depth(tables, id, depth + 1));
            Attribute::Array(items.collect::<Result<_, _>>()?)
        }
        Node::Dictionary(nodes) => Attribute::Dictionary(entries_at_depth(tables, nodes.iter().copied(), depth + 1)?),
        Node::Dense(literal) => {
            tables.spend(literal.ty().heap_size())?;
            Attribute::Dense(literal.clone())
        }
        Node::DenseArray(literal) => Attribute::DenseArray(literal.clone()),
        Node::Type(ty) => match tables.ty(*ty)? {
            node @ TypeNode::Value(..) => Attribute::Type(node.value(tables)?),
            TypeNode::Element(element) => Attribute::Other(element.name().to_owned()),
            TypeNode::Tf32 => Attribute::Other("tf32".to_owned()),
            TypeNode::None => Attribute::Other("none".to_owned()),
            TypeNode::Function { .. } => described("a function type"),
            TypeNode::Other(words) => {
                tables.spend(words.len())?;
                described(words)
            }
        },
        Node::Enum(name, value) => Attribute::Other(format!("#stablehlo<{name} {value}>")),
        Node::Alias(alias) => {
            let (output, operand, path) = (&alias.output, alias.operand, &alias.operand_path);
            let text = format!(
                "#stablehlo.output_operand_alias<output_tuple_indices = {output:?}, operand_index = {operand}, \
                 operand_tuple_indices = {path:?}>"
            );
            tables.spend(text.len())?;
            Attribute::Other(text)
        }
        Node::Sharding(attribute, size) => {
            tables.spend(*size)?;
            attribute.clone()
        }
        Node::MeshAxes(mesh, axes) => {
            let names = axes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let text = format!("#stablehlo.replica_group_mesh_axes<mesh = {mesh}, axes = [{names}]>");
            tables.spend(text.len())?;
            Attribute::Other(text)
        }
        Node::Foreign(dialect) => described(&format!("an attribute of dialect {dialect}")),
        Node::Bounds(_) => described("the bounds of a tensor type"),
        Node::Location(_) => Attribute::Other("loc(...)".to_owned()),
        Node::Other(words) => {
            tables.spend(words.len())?;
            described(words)
        }
    })
}

/// A description of an attribute that has no form in text, quoted so that the printed program can be read.
fn described(words: &str) -> Attribute {
    Attribute::Other(format!("#vhlo.described<{}>", print::string(words.as_bytes())))
}
