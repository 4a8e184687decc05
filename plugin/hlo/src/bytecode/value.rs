//! The attributes of an op, by name.

use super::attribute::Node;
use super::cursor::Short;
use super::tables::{AttrId, Tables, TypeId};
use super::types::TypeNode;
use crate::{ElementType, Error, Literal, ops};

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
    /// The index of attribute `name`, if the op has it.
    pub(super) fn find(&self, name: &str) -> Option<AttrId> {
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
        self.find(name).ok_or_else(|| Error::invalid(format!("the attribute `{name}` is missing")))
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

/// One attribute of an op.
pub(super) struct Value<'n, 'a> {
    name: &'static str,
    tables: &'n Tables<'a>,
    node: &'n Node<'a>,
}

impl<'n, 'a> Value<'n, 'a> {
    pub(super) fn new(tables: &'n Tables<'a>, name: &'static str, id: AttrId) -> Result<Value<'n, 'a>, Error> {
        Ok(Value { name, tables, node: tables.attribute(id)? })
    }

    #[cold]
    fn expected(&self, what: &str) -> Error {
        Error::invalid(format!("the attribute `{}` must be {what}", self.name))
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

    /// Integers of any sign.
    pub(super) fn integers(&self) -> Result<Vec<i64>, Error> {
        let integers = match self.node {
            Node::Dense(literal) | Node::DenseArray(literal) => {
                // A splat is larger than the input, and many ops may share a list.
                self.tables.spend(literal.ty().count().saturating_mul(size_of::<i64>()))?;
                literal.integers()
            }
            _ => None,
        };
        Ok(integers.ok_or_else(|| self.expected("a list of integers"))?.collect())
    }

    /// The rows of a matrix of integers.
    pub(super) fn rows(&self) -> Result<Vec<Vec<i64>>, Error> {
        let Node::Dense(literal) = self.node else { return Err(self.expected("a matrix of integers")) };
        let integers = self.integers()?;
        // Each row is a list of its own, which is larger than a short row.
        self.tables.spend(integers.len().saturating_mul(size_of::<Vec<i64>>()))?;
        ops::rows(literal, integers).ok_or_else(|| self.expected("a matrix of integers"))
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

    /// The value of an enum.
    pub(super) fn word(&self) -> Result<&'static str, Error> {
        match self.node {
            Node::Enum(_, value) => Ok(value),
            _ => Err(self.expected("a value of an enum")),
        }
    }

    /// One of the values of an enum.
    pub(super) fn choice<T>(&self, from_name: impl FnOnce(&str) -> Option<T>) -> Result<T, Error> {
        from_name(self.word()?).ok_or_else(|| self.expected("one of the names that StableHLO defines for it"))
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
