//! Attributes with parameters, such as `#stablehlo.gather<...>`.

use super::super::Error;
use super::super::cursor::Cursor;
use super::super::given::{Entry, Given};
use super::super::lexer::Kind;
use crate::ops::{self, Field, Fields, Value};
use crate::{Alias, Attribute, ChannelHandle, ElementType};

/// Attributes whose parameters are attributes of their own where the meaning of ops is said. The op has to have all but
/// the last.
const STRUCTURES: &[(&str, &str)] = &[
    ("stablehlo.gather", "dimension_numbers"),
    ("stablehlo.dynamic_gather", "dimension_numbers"),
    ("stablehlo.scatter", "scatter_dimension_numbers"),
    ("stablehlo.convolution", "dimension_numbers"),
    ("stablehlo.dynamic_conv", "dimension_numbers"),
    ("stablehlo.dot_general", "dot_dimension_numbers"),
    ("stablehlo.dot_general", OPTIONAL),
];
const OPTIONAL: &str = "algorithm";

/// Replaces attributes with parameters by their parameters. An error comes with its place.
pub(super) fn flatten(given: &mut Given, op: &str) -> Result<(), (Error, usize)> {
    for &(_, name) in STRUCTURES.iter().filter(|(each, _)| *each == op) {
        let Some(Entry { value, at, .. }) = given.take(name) else {
            if name == OPTIONAL {
                continue;
            }
            return Err((Error::invalid(format!("the attribute `{name}` is missing")), given.at));
        };
        let in_attribute = |error: Error| {
            let message = format!("in the attribute `{name}`: {}", error.message);
            (Error { message, location: None, ..error }, at)
        };
        let fields = owned_fields(&value).map_err(in_attribute)?;
        let entries = fields.into_iter().map(|(name, value)| Entry { name, value, at, property: true });
        given.attributes.extend(entries);
    }
    Ok(())
}

/// The parameters, by name.
fn owned_fields(value: &Value) -> Result<Vec<(String, Value<'static>)>, Error> {
    let parsed;
    let fields = match value {
        Value::Struct(_, fields) => fields,
        Value::Attribute(Attribute::Other(text)) => {
            parsed = parse(text)?;
            &parsed
        }
        _ => return Err(Error::invalid("expected an attribute with parameters")),
    };
    let owned = |field: &Field| match field {
        Field::Int(value) => Value::Attribute(Attribute::Integer(*value, ElementType::S64)),
        Field::Ints(values) => Value::Ints(values.clone()),
        Field::Word("true") => Value::Attribute(Attribute::Bool(true)),
        Field::Word("false") => Value::Attribute(Attribute::Bool(false)),
        Field::Word(word) => Value::Attribute(Attribute::String(word.as_bytes().to_vec())),
    };
    Ok(fields.iter().map(|(name, field)| ((*name).to_owned(), owned(field))).collect())
}

/// The parameters in the text of an attribute: `#stablehlo.gather<offset_dims = [0], index_vector_dim = 1>`.
fn parse(text: &str) -> Result<Fields<'_>, Error> {
    let mut tokens = Cursor::new(text)?;
    tokens.take(Kind::Hash, "an attribute of a dialect")?;
    let open = tokens.start();
    tokens.expect("<")?;
    if tokens.is("[") {
        let fields = tokens.convolution_dims()?;
        tokens.expect(">")?;
        return Ok(fields);
    }
    if tokens.eat("raw")? {
        let mut fields = vec![tokens.field()?];
        while tokens.eat(",")? {
            fields.push(tokens.field()?);
        }
        tokens.expect(">")?;
        return Ok(fields);
    }
    tokens.seek(open)?;
    tokens.fields()
}

/// A result that shares memory with an operand: `#stablehlo.output_operand_alias<...>`.
pub(super) fn alias(attribute: &Attribute) -> Option<Alias> {
    let Attribute::Other(text) = attribute else { return None };
    let mut fields = parse(text).ok()?;
    let mut take = |name: &str| {
        let index = fields.iter().position(|(field, _)| *field == name);
        index.map(|index| fields.remove(index).1)
    };
    let dims = |field: Option<Field>| match field {
        None => Some(Vec::new()),
        Some(Field::Ints(values)) => ops::sizes(String::new, values).ok(),
        Some(_) => None,
    };
    let operand = match take("operand_index") {
        None => 0,
        Some(Field::Int(operand)) => usize::try_from(operand).ok()?,
        Some(_) => return None,
    };
    let (output, operand_path) = (dims(take("output_tuple_indices"))?, dims(take("operand_tuple_indices"))?);
    fields.is_empty().then_some(Alias { output, operand, operand_path })
}

/// A channel: `#stablehlo.channel_handle<handle = 1, type = 1>`.
pub(super) fn channel(value: &Value) -> Option<ChannelHandle> {
    let mut channel = ChannelHandle { handle: 0, ty: 0 };
    for (name, value) in owned_fields(value).ok()? {
        let Value::Attribute(Attribute::Integer(value, _)) = value else { return None };
        match &*name {
            "handle" => channel.handle = value,
            "type" => channel.ty = value,
            _ => return None,
        }
    }
    Some(channel)
}
