//! An op that is being read: its attributes by name, its operands, regions and results.

use std::collections::HashMap;

use super::{
    convert, literal,
    location::Locations,
    lower::OpSpec,
    symbols::Symbols,
    tables::{AttrId, Tables},
    value::{Attributes, Value},
};
use crate::{Attribute, Error, FuncId, Literal, LocationId, Op, OpKind, Precision, Region, TensorType, Type, ValueId};

/// What is read of a module as a whole.
pub(super) struct Context<'r, 'a> {
    /// The tables.
    pub(super) tables: &'r Tables<'a>,
    /// The locations.
    pub(super) locations: Locations<'a>,
    /// The functions.
    pub(super) symbols: Symbols<'a>,
    /// What is known of ops, by number of the name, as far as they were met.
    pub(super) specs: Vec<Option<OpSpec>>,
}

impl<'r, 'a> Context<'r, 'a> {
    /// A module of which nothing is read.
    pub(super) fn new(tables: &'r Tables<'a>) -> Context<'r, 'a> {
        let specs = vec![None; tables.op_names.len()];
        Context { tables, locations: Locations::new(tables), symbols: Symbols::default(), specs }
    }
}

/// What is read of a function as a whole.
#[derive(Default)]
pub(super) struct Values {
    /// The types of values.
    pub(super) types: Vec<Type>,
    /// Small integer constants, which give shapes to dynamic ops.
    constants: HashMap<ValueId, Literal>,
}

impl Values {
    /// Constants of more elements give no shape.
    const MAX_CONSTANT: usize = 64;

    /// A new value.
    pub(super) fn add(&mut self, ty: Type) -> ValueId {
        self.types.push(ty);
        ValueId((self.types.len() - 1) as u32)
    }

    /// Remembers a constant if it may give a shape.
    pub(super) fn note_constant(&mut self, value: ValueId, literal: &Literal) {
        let ty = literal.ty();
        if ty.element.is_integer() && ty.rank() <= 2 && ty.count() <= Values::MAX_CONSTANT {
            self.constants.insert(value, literal.clone());
        }
    }
}

/// An op that is being read.
pub(super) struct OpReader<'r, 'c, 'a> {
    /// The module.
    pub(super) context: &'r mut Context<'c, 'a>,
    /// The function.
    pub(super) values: &'r mut Values,
    /// The region that the op lies in, up to it.
    pub(super) region: &'r mut Region,
    /// The op's own attributes.
    pub(super) attributes: Attributes<'c, 'a>,
    /// The names of the op's own attributes.
    pub(super) names: &'static [&'static str],
    /// The dictionary of attributes.
    pub(super) dictionary: &'c [(&'a [u8], AttrId)],
    /// The op as it will be, still without its kind.
    pub(super) op: Op,
}

impl<'c, 'a> OpReader<'_, 'c, 'a> {
    /// The tables.
    pub(super) fn tables(&self) -> &'c Tables<'a> {
        self.context.tables
    }

    /// Where the op comes from.
    pub(super) fn location(&self) -> LocationId {
        self.op.location
    }

    /// The index of attribute `name`.
    pub(super) fn id(&self, name: &'static str) -> Result<AttrId, Error> {
        self.attributes.id(name)
    }

    /// Attribute `name`.
    pub(super) fn attribute(&self, name: &'static str) -> Result<Value<'c, 'a>, Error> {
        self.attributes.required(name)
    }

    /// Attribute `name`, if the op has it.
    pub(super) fn optional(&self, name: &'static str) -> Result<Option<Value<'c, 'a>>, Error> {
        self.attributes.optional(name)
    }

    /// The items of the list `name`.
    pub(super) fn items(
        &self,
        name: &'static str,
    ) -> Result<impl Iterator<Item = Result<Value<'c, 'a>, Error>>, Error> {
        let tables = self.tables();
        Ok(self.attribute(name)?.ids()?.iter().map(move |&id| Value::new(tables, name, id)))
    }

    /// Dimensions or sizes.
    pub(super) fn sizes(&self, name: &'static str) -> Result<Vec<usize>, Error> {
        self.attribute(name)?.sizes()
    }

    /// Dimensions or sizes; none if the op's version lacks the attribute.
    pub(super) fn optional_sizes(&self, name: &'static str) -> Result<Vec<usize>, Error> {
        self.optional(name)?.map_or(Ok(Vec::new()), |value| value.sizes())
    }

    /// A string that has to be text.
    pub(super) fn text(&self, name: &'static str) -> Result<String, Error> {
        let bytes = self.attribute(name)?.string()?;
        self.tables().spend(bytes.len())?;
        convert::text(bytes)
    }

    /// Integers of any sign.
    pub(super) fn integers(&self, name: &'static str) -> Result<Vec<i64>, Error> {
        self.attribute(name)?.integers()
    }

    /// A dimension or size.
    pub(super) fn size(&self, name: &'static str) -> Result<usize, Error> {
        self.attribute(name)?.size()
    }

    /// A boolean.
    pub(super) fn bool(&self, name: &'static str) -> Result<bool, Error> {
        self.attribute(name)?.bool()
    }

    /// One of the values of an enum.
    pub(super) fn choice<T>(&self, name: &'static str, from_name: fn(&str) -> Option<T>) -> Result<T, Error> {
        self.attribute(name)?.choice(from_name)
    }

    /// A list of values of an enum.
    fn choices<T>(&self, name: &'static str, from_name: fn(&str) -> Option<T>) -> Result<Vec<T>, Error> {
        self.items(name)?.map(|item| item?.choice(from_name)).collect()
    }

    /// The precisions of operands; none if all are the default, which VHLO always writes out.
    pub(super) fn precision(&self) -> Result<Vec<Precision>, Error> {
        let precision = self.choices("precision_config", Precision::from_name)?;
        let is_default = precision.iter().all(|each| *each == Precision::Default);
        Ok(if is_default { Vec::new() } else { precision })
    }

    /// The function that attribute `name` names.
    pub(super) fn function(&mut self, name: &'static str, op: &'static str) -> Result<FuncId, Error> {
        let symbol = self.attribute(name)?.symbol()?;
        Ok(self.context.symbols.used(symbol, op, self.op.location))
    }

    /// The attributes that the op's definition does not know, sorted by name.
    pub(super) fn other_attributes(&self) -> Result<Vec<(String, Attribute)>, Error> {
        let is_other = |(name, _): &(&[u8], AttrId)| !self.names.iter().any(|own| own.as_bytes() == *name);
        convert::entries(self.tables(), self.dictionary.iter().copied().filter(is_other))
    }

    /// The operand at `index`.
    pub(super) fn operand(&self, index: usize) -> Result<ValueId, Error> {
        let count = self.op.operands.len();
        let operand = self.op.operands.get(index).copied();
        operand.ok_or_else(|| Error::invalid(format!("operand {index} is missing: there are {count}")))
    }

    /// The tensor type of operand `index`.
    pub(super) fn operand_type(&self, index: usize) -> Result<&TensorType, Error> {
        let operand = self.operand(index)?;
        let ty = &self.values.types[operand.0 as usize];
        ty.tensor().ok_or_else(|| Error::invalid(format!("operand {index} is {ty}, not a tensor")))
    }

    /// The tensor type of the first result.
    pub(super) fn result_type(&self) -> Result<&TensorType, Error> {
        let result = self.op.results.first().ok_or_else(|| Error::invalid("a result is missing"))?;
        let ty = &self.values.types[result.0 as usize];
        ty.tensor().ok_or_else(|| Error::invalid(format!("the result is {ty}, not a tensor")))
    }

    /// The integers of operand `index`, which has to be a constant of the region or those around it.
    pub(super) fn constant_operand(&self, index: usize) -> Result<Vec<i64>, Error> {
        let operand = self.operand(index)?;
        let literal = self.values.constants.get(&operand);
        let integers = literal.and_then(literal::integers);
        Ok(integers
            .ok_or_else(|| Error::unsupported(format!("dynamic shapes: operand {index} has to be a constant")))?
            .collect())
    }

    /// The sizes that operand `index` holds, which has to be a constant.
    pub(super) fn constant_sizes(&self, index: usize) -> Result<Vec<usize>, Error> {
        let integers = self.constant_operand(index)?;
        let size =
            |value: i64| usize::try_from(value).map_err(|_| Error::invalid(format!("operand {index}: {value} < 0")));
        integers.into_iter().map(size).collect()
    }

    /// Adds an op before this one, and answers with its result.
    pub(super) fn emit(
        &mut self,
        kind: OpKind,
        operands: Vec<ValueId>,
        ty: TensorType,
        regions: Vec<Region>,
    ) -> ValueId {
        let result = self.values.add(ty.into());
        self.region.ops.push(Op { kind, operands, results: vec![result], regions, location: self.op.location });
        result
    }
}
