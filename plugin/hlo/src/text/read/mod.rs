//! Attributes of an op in text, asked for by name and meaning; what the op then means is said in [`ops`].

mod fields;
mod names;
mod values;

use self::values::{integers, word};
use super::given::{Entry, Given};
use super::{Error, Parser, mesh_axes};
use crate::ops::{self, Source, Value};
use crate::sharding::{self, AxisRef, Mesh};
use crate::{
    Alias, Attribute, ChannelHandle, CustomCallApiVersion, ElementType, FuncId, Literal, LocationId, Op, Precision,
    TensorType, Type, ValueId,
};

pub(super) use self::names::{find, why_no_program};

/// What an op means, still without its results.
pub(super) fn op<'a>(parser: &mut Parser<'a>, mut given: Given<'a>, location: LocationId) -> Result<Op, Error> {
    let def = find(given.name)?;
    fields::flatten(&mut given, def.name).map_err(|(error, at)| error.at(parser.tokens.position(at)))?;
    given.check_attributes(&parser.tokens)?;
    let op = Op {
        kind: crate::OpKind::OptimizationBarrier,
        operands: given.operand_values(),
        results: Vec::new(),
        regions: std::mem::take(&mut given.regions),
        location,
    };
    let mut reader = Reader { parser, given, name: def.name, op, taken: Vec::new() };
    for ignored in def.ignored {
        reader.take(ignored);
    }
    let kind = def.read.kind(&mut reader)?;
    reader.check_unused()?;
    Ok(Op { kind, ..reader.op })
}

/// An op whose attributes are being read. What is read is taken out.
struct Reader<'p, 'a> {
    parser: &'p mut Parser<'a>,
    given: Given<'a>,
    /// The canonical name.
    name: &'static str,
    /// The op as it will be, still without its kind and its results.
    op: Op,
    /// Where the attributes stand that were taken.
    taken: Vec<(&'static str, usize)>,
}

impl<'a> Reader<'_, 'a> {
    fn take(&mut self, name: &'static str) -> Option<Value<'a>> {
        let Entry { value, at, .. } = self.given.take(name)?;
        self.taken.push((name, at));
        Some(value)
    }

    /// Takes out the attribute and converts it; `None` if the op does not have it. `what` says what it must be.
    fn read<T>(
        &mut self,
        name: &'static str,
        what: &str,
        convert: impl FnOnce(&Value<'a>) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let wrong = || self.at_attribute(name, Error::invalid(format!("the attribute `{name}` must be {what}")));
        convert(&value).ok_or_else(wrong).map(Some)
    }

    /// An error if a property is left that the op does not have. Other attributes that nothing knows mean nothing.
    fn check_unused(&self) -> Result<(), Error> {
        match self.given.attributes.iter().find(|entry| entry.property && !entry.name.contains('.')) {
            Some(entry) => {
                Err(self.parser.tokens.error_at(entry.at, format!("the op has no attribute `{}`", entry.name)))
            }
            None => Ok(()),
        }
    }

    /// The function of this name, which may be defined later.
    fn mention(&mut self, name: String) -> FuncId {
        self.parser.functions.mention(name, self.given.at)
    }
}

/// The name of a function.
fn symbol(value: &Value) -> Option<String> {
    match value {
        Value::Attribute(Attribute::Symbol(name)) => Some(name.clone()),
        _ => None,
    }
}

/// What `convert` makes of each item of a list.
fn list<T>(value: &Value, convert: impl Fn(&Attribute) -> Option<T>) -> Option<Vec<T>> {
    match value {
        Value::Attribute(Attribute::Array(items)) => items.iter().map(convert).collect(),
        _ => None,
    }
}

impl Source for Reader<'_, '_> {
    fn name(&self) -> &str {
        self.name
    }

    fn has_defaults(&self) -> bool {
        true
    }

    fn at_attribute(&self, name: &str, error: Error) -> Error {
        match self.taken.iter().find(|(taken, _)| *taken == name) {
            Some((_, at)) => error.at(self.parser.tokens.position(*at)),
            None => error,
        }
    }

    fn integer(&mut self, name: &'static str) -> Result<Option<i64>, Error> {
        self.read(name, "an integer", |value| match value {
            Value::Attribute(Attribute::Integer(value, _)) => Some(*value),
            _ => None,
        })
    }

    fn integers(&mut self, name: &'static str) -> Result<Option<Vec<i64>>, Error> {
        self.read(name, "a list of integers", integers)
    }

    fn rows(&mut self, name: &'static str) -> Result<Option<Vec<Vec<i64>>>, Error> {
        self.read(name, "a matrix of integers: `dense<[[0, 1]]> : tensor<1x2xi64>`", values::rows)
    }

    fn mesh_axes(&mut self, name: &'static str) -> Result<Option<(Mesh, Vec<AxisRef>)>, Error> {
        let Some(Entry { value: Value::Attribute(Attribute::Other(text)), at, .. }) = self.given.find(name) else {
            return Ok(None);
        };
        let position = self.parser.tokens.position(*at);
        let read = || -> Result<_, Error> {
            let Some((mesh, axes)) = mesh_axes::parse(text)? else { return Ok(None) };
            let mesh = sharding::mesh_called(&self.parser.meshes, &mesh)?.clone();
            Ok(Some((mesh, axes)))
        };
        let found = read().map_err(|error| Error { location: None, ..error }.at(position))?;
        if let Some((mesh, axes)) = &found {
            self.take(name);
            self.spend(sharding::bytes_of_groups(mesh, axes))?;
        }
        Ok(found)
    }

    fn channel(&mut self, name: &'static str) -> Result<Option<ChannelHandle>, Error> {
        let what = "a channel: `#stablehlo.channel_handle<handle = 1, type = 1>`";
        self.read(name, what, fields::channel)
    }

    fn bool(&mut self, name: &'static str) -> Result<Option<bool>, Error> {
        self.read(name, "a boolean", |value| match value {
            Value::Attribute(Attribute::Bool(value)) => Some(*value),
            Value::Attribute(Attribute::Unit) => Some(true),
            _ => None,
        })
    }

    fn float(&mut self, name: &'static str) -> Result<Option<f64>, Error> {
        self.read(name, "a number with a decimal point", |value| match value {
            Value::Attribute(Attribute::Float(value, _)) => Some(*value),
            _ => None,
        })
    }

    fn text(&mut self, name: &'static str) -> Result<Option<String>, Error> {
        self.read(name, "a string", |value| match value {
            Value::Attribute(attribute) => attribute.as_str().map(String::from),
            _ => None,
        })
    }

    fn word(&mut self, name: &'static str, accept: &mut dyn FnMut(&str) -> bool) -> Result<bool, Error> {
        let known = "one of the names that StableHLO defines for it";
        let found = self.read(name, known, |value| accept(word(value)?).then_some(()))?;
        Ok(found.is_some())
    }

    fn element_or_tf32(&mut self, name: &'static str) -> Result<Option<Option<ElementType>>, Error> {
        self.read(name, "a type", |value| match word(value)? {
            "tf32" => Some(None),
            name => Some(Some(super::types::element_type(name)?)),
        })
    }

    fn literal(&mut self, name: &'static str) -> Result<Option<Literal>, Error> {
        self.read(name, "a constant tensor: `dense<...> : tensor<...>`", |value| match value {
            Value::Attribute(Attribute::Dense(literal)) => Some(literal.clone()),
            _ => None,
        })
    }

    fn attribute(&mut self, name: &'static str) -> Result<Option<Attribute>, Error> {
        Ok(self.take(name).and_then(Value::into_attribute))
    }

    fn dictionary(&mut self, name: &'static str) -> Result<Option<Vec<(String, Attribute)>>, Error> {
        self.read(name, "a dictionary", |value| match value {
            Value::Attribute(Attribute::Dictionary(entries)) => Some(entries.clone()),
            _ => None,
        })
    }

    fn function(&mut self, name: &'static str) -> Result<Option<FuncId>, Error> {
        let function = self.read(name, "the name of a function", symbol)?;
        Ok(function.map(|function| self.mention(function)))
    }

    fn functions(&mut self, name: &'static str) -> Result<Vec<FuncId>, Error> {
        let functions = self
            .read(name, "a list of functions", |value| list(value, |item| symbol(&Value::Attribute(item.clone()))))?;
        Ok(functions.unwrap_or_default().into_iter().map(|function| self.mention(function)).collect())
    }

    fn layouts(&mut self, name: &'static str) -> Result<Option<Vec<Vec<usize>>>, Error> {
        self.read(name, "a list of lists of dimensions", |value| {
            list(value, |item| ops::sizes(String::new, values::attribute_integers(item)?).ok())
        })
    }

    fn aliases(&mut self, name: &'static str) -> Result<Vec<Alias>, Error> {
        let aliases = self.read(name, "a list of output_operand_alias", |value| list(value, fields::alias))?;
        Ok(aliases.unwrap_or_default())
    }

    fn precisions(&mut self, name: &'static str) -> Result<Vec<Precision>, Error> {
        let names = "a list of names that StableHLO defines for it";
        let precisions = self.read(name, names, |value| match value {
            Value::Enums(_, words) => words.iter().map(|word| Precision::from_name(word)).collect(),
            value => list(value, |item| Precision::from_name(values::attribute_word(item)?)),
        })?;
        Ok(precisions.unwrap_or_default())
    }

    fn api_version(&mut self, name: &'static str) -> Result<Option<CustomCallApiVersion>, Error> {
        self.read(name, "an integer from 0 to 4", |value| match value {
            Value::Attribute(Attribute::Integer(value, _)) => {
                CustomCallApiVersion::ALL.get(usize::try_from(*value).ok()?).copied()
            }
            _ => None,
        })
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Error> {
        self.parser.charge(bytes / size_of::<Attribute>(), 0)
    }

    fn others(&mut self) -> Result<Vec<(String, Attribute)>, Error> {
        let entries = std::mem::take(&mut self.given.attributes).into_iter();
        let mut others: Vec<(String, Attribute)> =
            entries.filter_map(|entry| Some((entry.name, entry.value.into_attribute()?))).collect();
        others.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(others)
    }

    fn value_type(&self, value: ValueId) -> &Type {
        self.parser.values.ty(value)
    }

    fn first_result(&self) -> Option<&Type> {
        self.given.results.first()
    }

    fn constant(&self, value: ValueId) -> Option<&Literal> {
        self.parser.values.constants.get(value)
    }

    fn add_value(&mut self, ty: TensorType) -> Result<ValueId, Error> {
        self.parser.add_value(ty.into())
    }

    fn add_op(&mut self, op: Op) {
        self.parser.added.push(op);
    }

    fn op(&mut self) -> &mut Op {
        &mut self.op
    }
}
