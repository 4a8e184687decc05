//! An op that is being read: its attributes by name, its operands, regions and results.

use std::collections::HashMap;

use super::{
    attribute::Node,
    convert,
    cursor::Short,
    location::Locations,
    lower::OpSpec,
    symbols::Symbols,
    tables::{AttrId, Tables, TypeId},
    types::TypeNode,
};
use crate::{
    Attribute, ElementType, Error, FuncId, Literal, LocationId, Op, OpKind, Precision, Region, TensorType, Type,
    ValueId,
};

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

/// Where an op's own attributes come from.
pub(super) enum Inherent<'r, 'a> {
    /// Properties: values for a sorted list of names.
    Properties(&'static [&'static str], Short<AttrId>),
    /// The dictionary that also holds other attributes.
    Dictionary(&'r [(&'a [u8], AttrId)]),
}

/// An op's own attributes, by name.
pub(super) struct Attributes<'r, 'a> {
    /// The tables.
    pub(super) tables: &'r Tables<'a>,
    /// Where they come from.
    pub(super) inherent: Inherent<'r, 'a>,
}

impl<'r, 'a> Attributes<'r, 'a> {
    fn find(&self, name: &str) -> Option<AttrId> {
        match &self.inherent {
            Inherent::Properties(names, ids) => names.iter().position(|each| *each == name).map(|index| ids[index]),
            Inherent::Dictionary(entries) => {
                let index = entries.binary_search_by_key(&name.as_bytes(), |(key, _)| key).ok()?;
                Some(entries[index].1)
            }
        }
    }

    /// The index of attribute `name`.
    pub(super) fn id(&self, name: &'static str) -> Result<AttrId, Error> {
        self.find(name).ok_or_else(|| Error::invalid(format!("attribute `{name}` is missing")))
    }

    /// Attribute `name`.
    pub(super) fn required(&self, name: &'static str) -> Result<Value<'r, 'a>, Error> {
        Value::new(self.tables, name, self.id(name)?)
    }

    /// Attribute `name`, if the op has it.
    pub(super) fn optional(&self, name: &'static str) -> Result<Option<Value<'r, 'a>>, Error> {
        self.find(name).map(|id| Value::new(self.tables, name, id)).transpose()
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

/// One attribute of an op.
pub(super) struct Value<'n, 'a> {
    name: &'static str,
    tables: &'n Tables<'a>,
    node: &'n Node<'a>,
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
        super::convert::text(bytes)
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
        let integers = literal.and_then(super::literal::integers);
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

impl<'n, 'a> Value<'n, 'a> {
    fn new(tables: &'n Tables<'a>, name: &'static str, id: AttrId) -> Result<Value<'n, 'a>, Error> {
        Ok(Value { name, tables, node: tables.attribute(id)? })
    }

    #[cold]
    fn expected(&self, what: &str) -> Error {
        Error::invalid(format!("attribute `{}`: {what} is expected", self.name))
    }

    /// The items of a list.
    pub(super) fn ids(&self) -> Result<&'n [AttrId], Error> {
        match self.node {
            Node::Array(ids) => Ok(ids),
            _ => Err(self.expected("a list")),
        }
    }

    /// A type.
    pub(super) fn type_id(&self) -> Result<TypeId, Error> {
        match self.node {
            Node::Type(ty) => Ok(*ty),
            _ => Err(self.expected("a type")),
        }
    }

    /// An integer.
    pub(super) fn integer(&self) -> Result<i64, Error> {
        match self.node {
            Node::Integer(value, _) => Ok(*value),
            _ => Err(self.expected("an integer")),
        }
    }

    /// A dimension or size.
    pub(super) fn size(&self) -> Result<usize, Error> {
        usize::try_from(self.integer()?).map_err(|_| self.expected("an integer that is not negative"))
    }

    /// Integers of any sign.
    pub(super) fn integers(&self) -> Result<Vec<i64>, Error> {
        let integers = match self.node {
            Node::Dense(literal) | Node::DenseArray(literal) => {
                // A splat is larger than the input, and many ops may share a list.
                self.tables.spend(literal.ty().count().saturating_mul(size_of::<i64>()))?;
                super::literal::integers(literal)
            }
            _ => None,
        };
        Ok(integers.ok_or_else(|| self.expected("a list of integers"))?.collect())
    }

    /// Dimensions or sizes.
    pub(super) fn sizes(&self) -> Result<Vec<usize>, Error> {
        let size =
            |value| usize::try_from(value).map_err(|_| self.expected("a list of integers that are not negative"));
        self.integers()?.into_iter().map(size).collect()
    }

    /// A float.
    pub(super) fn float(&self) -> Result<f64, Error> {
        match self.node {
            Node::Float(value, _) => Ok(*value),
            _ => Err(self.expected("a float")),
        }
    }

    /// A boolean.
    pub(super) fn bool(&self) -> Result<bool, Error> {
        match self.node {
            Node::Bool(value) => Ok(*value),
            _ => Err(self.expected("a boolean")),
        }
    }

    /// One of the values of an enum.
    pub(super) fn choice<T>(&self, from_name: fn(&str) -> Option<T>) -> Result<T, Error> {
        let value = match self.node {
            Node::Enum(_, value) => from_name(value),
            _ => None,
        };
        value.ok_or_else(|| self.expected("one of an enum's values"))
    }

    /// The bytes of a string.
    pub(super) fn string(&self) -> Result<&'a [u8], Error> {
        match self.node {
            Node::String(bytes) => Ok(bytes),
            _ => Err(self.expected("a string")),
        }
    }

    /// The name of a function, which VHLO writes as a string.
    pub(super) fn symbol(&self) -> Result<&'a [u8], Error> {
        match self.node {
            Node::String(name) | Node::Symbol(name) => Ok(name),
            _ => Err(self.expected("the name of a function")),
        }
    }

    /// The constant.
    pub(super) fn literal(&self) -> Result<&'n Literal, Error> {
        match self.node {
            Node::Dense(literal) => Ok(literal),
            _ => Err(self.expected("a constant tensor")),
        }
    }

    /// An element type; `None` is TF32.
    pub(super) fn element_or_tf32(&self) -> Result<Option<ElementType>, Error> {
        match self.tables.ty(self.type_id()?)? {
            TypeNode::Tf32 => Ok(None),
            node => node.element().map(Some),
        }
    }

    /// Whether it is the type `none`, by which VHLO says that an attribute is absent.
    pub(super) fn is_none_type(&self) -> Result<bool, Error> {
        match self.node {
            Node::Type(ty) => Ok(matches!(self.tables.ty(*ty)?, TypeNode::None)),
            _ => Ok(false),
        }
    }

    /// The node.
    pub(super) fn node(&self) -> &'n Node<'a> {
        self.node
    }
}
