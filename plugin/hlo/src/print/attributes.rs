//! Attributes.

use super::literals::{dense, dense_array, float_text};
use super::{string, symbol};
use crate::ops::{Field, Fields, Value};
use crate::text::lexer::is_word;
use crate::{Attribute, ElementType};

/// `{a = 1 : i64, b}`.
pub(super) fn dictionary(entries: &[(String, Attribute)]) -> String {
    let entries: Vec<String> = entries.iter().map(|(name, value)| entry(name, value)).collect();
    format!("{{{}}}", entries.join(", "))
}

/// `name = value`, or the name alone.
fn entry(name: &str, value: &Attribute) -> String {
    let name = if is_word(name) { name.into() } else { string(name.as_bytes()) };
    if *value == Attribute::Unit { name } else { format!("{name} = {}", attribute(value)) }
}

/// An attribute.
pub(super) fn attribute(attribute: &Attribute) -> String {
    match attribute {
        Attribute::Unit => "unit".into(),
        Attribute::Bool(value) => value.to_string(),
        Attribute::Integer(value, ElementType::U64) => format!("{} : ui64", *value as u64),
        Attribute::Integer(value, element) => format!("{value} : {element}"),
        Attribute::Float(value, element) => {
            format!("{} : {element}", float_text(*element, element.encode(*value)))
        }
        Attribute::String(bytes) => string(bytes),
        Attribute::Symbol(name) => symbol(name),
        Attribute::Array(items) => {
            let items: Vec<String> = items.iter().map(self::attribute).collect();
            format!("[{}]", items.join(", "))
        }
        Attribute::Dense(literal) => dense(literal),
        Attribute::DenseArray(literal) => dense_array(literal),
        Attribute::Dictionary(entries) => dictionary(entries),
        Attribute::Type(ty) => ty.to_string(),
        Attribute::Mesh(mesh) => format!("#sdy.mesh<{mesh}>"),
        Attribute::Sharding(sharding) => format!("#sdy.sharding{sharding}"),
        Attribute::ShardingPerValue(shardings) => format!("#sdy.sharding_per_value<[{}]>", join(shardings)),
        Attribute::ShardingRule(rule) => format!("#sdy.op_sharding_rule{rule}"),
        Attribute::ManualAxes(names) => format!("#sdy<manual_axes{}>", axis_names(names)),
        Attribute::Other(text) => text.clone(),
    }
}

/// `{"x", "y"}`.
pub(super) fn axis_names(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| string(name.as_bytes())).collect();
    format!("{{{}}}", names.join(", "))
}

/// Items with commas between.
pub(super) fn join<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

/// `{name = value}` of attributes of an op, sorted by name.
pub(super) fn op_dictionary<'v>(entries: impl Iterator<Item = &'v (&'v str, Value<'v>)>) -> String {
    let mut entries: Vec<_> = entries.collect();
    entries.sort_by_key(|(name, _)| *name);
    let entries: Vec<String> = entries.into_iter().map(|(name, value)| op_entry(name, value)).collect();
    format!("{{{}}}", entries.join(", "))
}

/// `name = value` of an attribute of an op, in generic form.
fn op_entry(name: &str, value: &Value) -> String {
    match value {
        Value::Attribute(attribute) => entry(name, attribute),
        value => format!("{name} = {}", op_attribute(value)),
    }
}

/// The value of an attribute of an op, in generic form.
fn op_attribute(value: &Value) -> String {
    match value {
        Value::Attribute(value) => attribute(value),
        Value::Ints(values) if values.is_empty() => "array<i64>".into(),
        Value::Ints(values) => format!("array<i64: {}>", join(values)),
        Value::Pairs(pairs) if pairs.is_empty() => "dense<> : tensor<0x2xi64>".into(),
        Value::Pairs(pairs) => format!("dense<[{}]> : tensor<{}x2xi64>", pairs_text(pairs), pairs.len()),
        Value::Rows(rows) => rows_text(rows),
        Value::Bools(values) if values.is_empty() => "array<i1>".into(),
        Value::Bools(values) => format!("array<i1: {}>", join(values)),
        Value::Enum(kind, word) => enum_text(kind, word),
        Value::Enums(kind, words) => {
            let words: Vec<String> = words.iter().map(|word| enum_text(kind, word)).collect();
            format!("[{}]", words.join(", "))
        }
        Value::Struct(kind, fields) => struct_text(kind, fields),
        Value::Structs(kind, structs) => {
            let structs: Vec<String> = structs.iter().map(|fields| struct_text(kind, fields)).collect();
            format!("[{}]", structs.join(", "))
        }
    }
}

/// A matrix of integers, whose shorter rows are filled up with -1.
fn rows_text(rows: &[Vec<i64>]) -> String {
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    let full = |row: &Vec<i64>| join(&row.iter().copied().chain(std::iter::repeat(-1)).take(width).collect::<Vec<_>>());
    let rows: Vec<String> = rows.iter().map(|row| format!("[{}]", full(row))).collect();
    let elements = if width == 0 { String::new() } else { format!("[{}]", rows.join(", ")) };
    format!("dense<{elements}> : tensor<{}x{width}xi64>", rows.len())
}

fn enum_text(kind: &str, word: &str) -> String {
    format!("#stablehlo<{kind} {word}>")
}

fn struct_text(kind: &str, fields: &Fields) -> String {
    match convolution_labels(fields) {
        Some(labels) if kind == "conv" => format!("#stablehlo.conv<{labels}>"),
        _ if kind == "conv" => format!("#stablehlo.conv<raw {}>", fields_text(fields)),
        _ => format!("#stablehlo.{kind}<{}>", fields_text(fields)),
    }
}

/// `[1, 2], [3, 4]`.
pub(super) fn pairs_text(pairs: &[[i64; 2]]) -> String {
    pairs.iter().map(|[low, high]| format!("[{low}, {high}]")).collect::<Vec<_>>().join(", ")
}

/// `name = value, name = [1, 2]`.
pub(super) fn fields_text(fields: &Fields) -> String {
    let field = |(name, value): &(&str, Field)| match value {
        Field::Int(value) => format!("{name} = {value}"),
        Field::Ints(values) => format!("{name} = [{}]", join(values)),
        Field::Word(word) => format!("{name} = {word}"),
    };
    fields.iter().map(field).collect::<Vec<_>>().join(", ")
}

/// `[b, 0, f]x[0, i, o]->[b, 0, f]`; `None` if that cannot say the dimension numbers.
pub(super) fn convolution_labels(fields: &Fields) -> Option<String> {
    let operand = |prefix: &str, letters: [&str; 2]| {
        let of = |name: &str| fields.iter().find(|(field, _)| field.strip_prefix(prefix) == Some(name));
        let names = if prefix == "kernel_" {
            ["input_feature_dimension", "output_feature_dimension"]
        } else {
            ["batch_dimension", "feature_dimension"]
        };
        let Some((_, Field::Ints(spatial))) = of("spatial_dimensions") else { return None };
        let mut labels = vec![None; spatial.len() + 2];
        let numbered = spatial.iter().enumerate().map(|(number, &dim)| (dim, number.to_string()));
        let mut named = Vec::new();
        for (name, letter) in names.into_iter().zip(letters) {
            let Some((_, Field::Int(dim))) = of(name) else { return None };
            named.push((*dim, letter.to_string()));
        }
        for (dim, label) in numbered.chain(named) {
            let slot = labels.get_mut(usize::try_from(dim).ok()?)?;
            if slot.replace(label).is_some() {
                return None;
            }
        }
        Some(labels.into_iter().collect::<Option<Vec<String>>>()?.join(", "))
    };
    let [input, kernel, output] =
        [operand("input_", ["b", "f"])?, operand("kernel_", ["i", "o"])?, operand("output_", ["b", "f"])?];
    Some(format!("[{input}]x[{kernel}]->[{output}]"))
}
