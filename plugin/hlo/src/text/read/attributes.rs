//! What readers of ops ask for: attributes by name and meaning, types, functions.

use super::super::{
    Error, Parser,
    cursor::Cursor,
    given::{Entry, Given},
    lexer::Kind,
    syntax::{Field, Fields, Value},
};
use crate::{Attribute, FuncId, Literal, TensorType, Type};

/// A splat of integers or booleans is not expanded to more elements than this: they are about dimensions.
const MAX_SPLAT: usize = 256;

/// An op whose attributes are being read. What is read is taken out.
pub(super) struct Reader<'p, 'a> {
    pub(super) parser: &'p mut Parser<'a>,
    pub(super) op: Given<'a>,
    /// The canonical name.
    pub(super) name: &'static str,
}

impl<'p, 'a> Reader<'p, 'a> {
    /// An error about the op.
    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        self.parser.tokens.error_at(self.op.at, message)
    }

    /// The attribute that must be there.
    fn missing(&self, name: &str) -> Error {
        self.error(format!("the attribute `{name}` is missing"))
    }

    /// An error if a property is left that the op does not have. Other attributes that nothing knows mean nothing.
    pub(super) fn check_unused(&self) -> Result<(), Error> {
        match self.op.attributes.iter().find(|entry| entry.property && !entry.name.contains('.')) {
            Some(entry) => {
                Err(self.parser.tokens.error_at(entry.at, format!("the op has no attribute `{}`", entry.name)))
            }
            None => Ok(()),
        }
    }

    /// Takes out the attribute and converts it; `None` if the op does not have it. `what` says what it must be.
    pub(super) fn optional<T>(
        &mut self,
        name: &str,
        what: &str,
        convert: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some(Entry { value, at, .. }) = self.op.take(name) else {
            return Ok(None);
        };
        let wrong = || self.parser.tokens.error_at(at, format!("the attribute `{name}` must be {what}"));
        convert(&value).ok_or_else(wrong).map(Some)
    }

    /// As [`optional`](Reader::optional), but the op must have it.
    pub(super) fn required<T>(
        &mut self,
        name: &str,
        what: &str,
        convert: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, Error> {
        self.optional(name, what, convert)?.ok_or_else(|| self.missing(name))
    }

    /// A list of integers, which the op must have.
    pub(super) fn ints(&mut self, name: &str) -> Result<Vec<i64>, Error> {
        self.required(name, "a list of integers", ints)
    }

    /// A list of integers of which none is negative: dimensions or sizes.
    pub(super) fn optional_dims(&mut self, name: &str) -> Result<Option<Vec<usize>>, Error> {
        self.optional(name, "a list of integers that are not negative", |value| unsigned(&ints(value)?))
    }

    /// As [`optional_dims`](Reader::optional_dims), but the op must have it.
    pub(super) fn dims(&mut self, name: &str) -> Result<Vec<usize>, Error> {
        self.optional_dims(name)?.ok_or_else(|| self.missing(name))
    }

    /// An integer.
    pub(super) fn optional_int(&mut self, name: &str) -> Result<Option<i64>, Error> {
        self.optional(name, "an integer", |value| match value {
            Value::Attribute(Attribute::Integer(value, _)) => Some(*value),
            _ => None,
        })
    }

    /// An integer, not negative, which the op must have.
    pub(super) fn dim(&mut self, name: &str) -> Result<usize, Error> {
        self.optional_dim(name)?.ok_or_else(|| self.missing(name))
    }

    /// An integer, not negative.
    pub(super) fn optional_dim(&mut self, name: &str) -> Result<Option<usize>, Error> {
        self.optional(name, "an integer that is not negative", |value| match value {
            Value::Attribute(Attribute::Integer(value, _)) => usize::try_from(*value).ok(),
            _ => None,
        })
    }

    /// A boolean; `default` if the op does not have it.
    pub(super) fn bool(&mut self, name: &str, default: bool) -> Result<bool, Error> {
        let value = self.optional(name, "a boolean", |value| match value {
            Value::Attribute(Attribute::Bool(value)) => Some(*value),
            Value::Attribute(Attribute::Unit) => Some(true),
            _ => None,
        })?;
        Ok(value.unwrap_or(default))
    }

    /// A name of an enum.
    pub(super) fn optional_enum<T>(
        &mut self,
        name: &str,
        from_name: fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        self.optional(name, "one of the names that StableHLO defines for it", |value| from_name(enum_word(value)?))
    }

    /// As [`optional_enum`](Reader::optional_enum), but the op must have it.
    pub(super) fn enumeration<T>(&mut self, name: &str, from_name: fn(&str) -> Option<T>) -> Result<T, Error> {
        self.optional_enum(name, from_name)?.ok_or_else(|| self.missing(name))
    }

    /// A list of names of an enum; empty if the op does not have it.
    pub(super) fn enums<T>(&mut self, name: &str, from_name: fn(&str) -> Option<T>) -> Result<Vec<T>, Error> {
        let list = self.optional(name, "a list of names that StableHLO defines for it", |value| match value {
            Value::Enums(_, words) => words.iter().map(|word| from_name(word)).collect(),
            Value::Attribute(Attribute::Array(items)) => {
                items.iter().map(|item| from_name(attribute_word(item)?)).collect::<Option<Vec<T>>>()
            }
            _ => None,
        })?;
        Ok(list.unwrap_or_default())
    }

    /// An attribute with parameters, such as `#stablehlo.gather<...>`.
    pub(super) fn optional_struct<T>(
        &mut self,
        name: &str,
        convert: impl FnOnce(&mut Parameters) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let Some(Entry { value, at, .. }) = self.op.take(name) else {
            return Ok(None);
        };
        let result = match &value {
            Value::Struct(_, fields) => Parameters::read(fields, convert),
            Value::Attribute(Attribute::Other(text)) => {
                parse_fields(text).and_then(|it| Parameters::read(&it, convert))
            }
            _ => Err(Error::invalid("not an attribute with parameters")),
        };
        let in_attribute = |error: Error| Error {
            message: format!("in the attribute `{name}`: {}", error.message),
            location: Some(self.parser.tokens.position(at)),
            ..error
        };
        result.map(Some).map_err(in_attribute)
    }

    /// As [`optional_struct`](Reader::optional_struct), but the op must have it.
    pub(super) fn structure<T>(
        &mut self,
        name: &str,
        convert: impl FnOnce(&mut Parameters) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.optional_struct(name, convert)?.ok_or_else(|| self.missing(name))
    }

    /// A string; `None` if the op does not have it.
    pub(super) fn string(&mut self, name: &str) -> Result<Option<String>, Error> {
        self.optional(name, "a string", |value| match value {
            Value::Attribute(attribute) => attribute.as_str().map(String::from),
            _ => None,
        })
    }

    /// Any attribute; `None` if the op does not have it.
    pub(super) fn attribute(&mut self, name: &str) -> Option<Attribute> {
        self.op.take_attribute(name)
    }

    /// The function of this name, which may be defined later.
    pub(super) fn function(&mut self, name: String) -> FuncId {
        self.parser.functions.mention(name, self.op.at)
    }

    /// The type of an operand, which must be a tensor.
    pub(super) fn operand(&self, index: usize) -> Result<&TensorType, Error> {
        let operand = self.op.operands.get(index);
        let ty = operand.and_then(|operand| self.parser.values.ty(operand.value).tensor());
        ty.ok_or_else(|| self.error(format!("operand {index} must be a tensor")))
    }

    /// The type of a result, which must be a tensor.
    pub(super) fn result(&self, index: usize) -> Result<&TensorType, Error> {
        let ty = self.op.results.get(index).and_then(Type::tensor);
        ty.ok_or_else(|| self.error(format!("result {index} must be a tensor")))
    }
}

/// The parameters of an attribute. What is read is taken out.
pub(super) struct Parameters<'f, 'a> {
    fields: Vec<&'f (&'a str, Field<'a>)>,
}

impl<'f, 'a> Parameters<'f, 'a> {
    /// Converts all parameters; an error if one is left.
    pub(super) fn read<T>(
        fields: &'f Fields<'a>,
        convert: impl FnOnce(&mut Parameters) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut parameters = Parameters { fields: fields.iter().collect() };
        let value = convert(&mut parameters)?;
        match parameters.fields.first() {
            Some((name, _)) => Err(Error::invalid(format!("no parameter is called `{name}`, or it is given twice"))),
            None => Ok(value),
        }
    }

    fn take(&mut self, name: &str) -> Option<&'f Field<'a>> {
        let index = self.fields.iter().position(|(field, _)| *field == name)?;
        Some(&self.fields.remove(index).1)
    }

    /// A list of dimensions; empty if it is not there.
    pub(super) fn dims(&mut self, name: &str) -> Result<Vec<usize>, Error> {
        match self.take(name) {
            None => Ok(Vec::new()),
            Some(Field::Ints(values)) => {
                unsigned(values).ok_or_else(|| Error::invalid(format!("a dimension in `{name}` is negative")))
            }
            Some(_) => Err(Error::invalid(format!("`{name}` must be a list of integers"))),
        }
    }

    /// An integer; 0 if it is not there.
    pub(super) fn int(&mut self, name: &str) -> Result<i64, Error> {
        match self.take(name) {
            None => Ok(0),
            Some(Field::Int(value)) => Ok(*value),
            Some(_) => Err(Error::invalid(format!("`{name}` must be an integer"))),
        }
    }

    /// A dimension; 0 if it is not there.
    pub(super) fn dim(&mut self, name: &str) -> Result<usize, Error> {
        let value = self.int(name)?;
        usize::try_from(value).map_err(|_| Error::invalid(format!("`{name}` is negative")))
    }

    /// A word.
    pub(super) fn word(&mut self, name: &str) -> Result<&'a str, Error> {
        match self.take(name) {
            Some(Field::Word(word)) => Ok(word),
            _ => Err(Error::invalid(format!("`{name}` must be given as a word"))),
        }
    }
}

/// The parameters in the text of an attribute: `#stablehlo.gather<offset_dims = [0], index_vector_dim = 1>`.
pub(super) fn parse_fields(text: &str) -> Result<Fields<'_>, Error> {
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

/// The name in `#stablehlo<precision HIGH>`, or in a string.
fn attribute_word(attribute: &Attribute) -> Option<&str> {
    match attribute {
        Attribute::Other(text) => {
            let inner = text.strip_suffix('>')?.trim_end();
            inner.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next()
        }
        attribute => attribute.as_str(),
    }
}

fn enum_word<'v>(value: &'v Value) -> Option<&'v str> {
    match value {
        Value::Enum(_, word) => Some(word),
        Value::Attribute(attribute) => attribute_word(attribute),
        _ => None,
    }
}

/// The elements of a constant of integers.
fn literal_ints(literal: &Literal) -> Option<Vec<i64>> {
    let ty = literal.ty();
    if !ty.element.is_integer() || (literal.splat_element().is_some() && ty.count() > MAX_SPLAT) {
        return None;
    }
    let element = |index| {
        let bytes: &[u8] = literal.element(index);
        let negative = ty.element.is_signed() && bytes.last().is_some_and(|&byte| byte >= 0x80);
        let mut wide = [if negative { 0xff } else { 0 }; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        i64::from_le_bytes(wide)
    };
    Some((0..ty.count()).map(element).collect())
}

/// The integers of an attribute: `array<i64: ...>`, `dense<...>` or a list.
pub(super) fn attribute_ints(attribute: &Attribute) -> Option<Vec<i64>> {
    match attribute {
        Attribute::DenseArray(literal) | Attribute::Dense(literal) => literal_ints(literal),
        Attribute::Array(items) => items.iter().map(Attribute::as_integer).collect(),
        _ => None,
    }
}

fn ints(value: &Value) -> Option<Vec<i64>> {
    match value {
        Value::Ints(values) => Some(values.clone()),
        Value::Attribute(attribute) => attribute_ints(attribute),
        _ => None,
    }
}

/// The pairs of a tensor of two columns.
pub(super) fn pairs(value: &Value) -> Option<Vec<[i64; 2]>> {
    match value {
        Value::Pairs(pairs) => Some(pairs.clone()),
        Value::Attribute(Attribute::Dense(literal)) if literal.ty().dims.last() == Some(&2) => {
            Some(literal_ints(literal)?.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect())
        }
        _ => None,
    }
}

/// The elements of a constant of booleans.
pub(super) fn bools(value: &Value) -> Option<Vec<bool>> {
    match value {
        Value::Bools(values) => Some(values.clone()),
        Value::Attribute(Attribute::DenseArray(literal) | Attribute::Dense(literal)) => {
            let ty = literal.ty();
            let fits = ty.element == crate::ElementType::Pred && ty.count() <= literal.data().len().max(MAX_SPLAT);
            fits.then(|| (0..ty.count()).map(|index| literal.element(index) != [0]).collect())
        }
        _ => None,
    }
}

/// The values as sizes; `None` if one is negative.
pub(super) fn unsigned(values: &[i64]) -> Option<Vec<usize>> {
    values.iter().map(|&value| usize::try_from(value).ok()).collect()
}
