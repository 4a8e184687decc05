//! An op as it is written, before its meaning is known.

use super::cursor::Cursor;
use super::{Error, Parser};
use crate::ops::Value;
use crate::{Attribute, Region, Type, ValueId};

/// An operand: a value, and where it is used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Use {
    pub(super) value: ValueId,
    pub(super) at: usize,
}

/// An attribute of an op.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) name: String,
    pub(super) value: Value<'a>,
    /// Where it is written.
    pub(super) at: usize,
    /// Whether it is one of the op's properties: then the op must know it.
    pub(super) property: bool,
}

/// The parts of an op. Both forms are read into this.
#[derive(Debug)]
pub(super) struct Given<'a> {
    /// The name as it is written.
    pub(super) name: &'a str,
    /// Where it starts.
    pub(super) at: usize,
    pub(super) operands: Vec<Use>,
    pub(super) attributes: Vec<Entry<'a>>,
    pub(super) regions: Vec<Region>,
    pub(super) results: Vec<Type>,
}

impl<'a> Given<'a> {
    /// An op with nothing yet.
    pub(super) fn new(name: &'a str, at: usize) -> Given<'a> {
        Given { name, at, operands: Vec::new(), attributes: Vec::new(), regions: Vec::new(), results: Vec::new() }
    }

    /// Adds an attribute that the pretty form says in its own way.
    pub(super) fn set(&mut self, name: &str, value: Value<'a>, at: usize) {
        self.attributes.push(Entry { name: name.into(), value, at, property: true });
    }

    /// The operands as the IR has them.
    pub(super) fn operand_values(&self) -> Vec<ValueId> {
        self.operands.iter().map(|each| each.value).collect()
    }

    /// The attribute of this name, if the op has it.
    pub(super) fn find(&self, name: &str) -> Option<&Entry<'a>> {
        self.attributes.iter().find(|entry| entry.name == name)
    }

    /// Takes out an attribute, if the op has it.
    pub(super) fn take(&mut self, name: &str) -> Option<Entry<'a>> {
        let index = self.attributes.iter().position(|entry| entry.name == name)?;
        Some(self.attributes.swap_remove(index))
    }

    /// Takes out an attribute that StableHLO does not define, if the op has it.
    pub(super) fn take_attribute(&mut self, name: &str) -> Option<Attribute> {
        self.take(name).and_then(|entry| entry.value.into_attribute())
    }

    /// Takes out a string.
    pub(super) fn take_string(&mut self, name: &str) -> Option<String> {
        self.take_attribute(name).and_then(|attribute| attribute.as_str().map(String::from))
    }

    /// The attributes that are left.
    pub(super) fn into_attributes(self) -> Vec<(String, Attribute)> {
        let entries = self.attributes.into_iter();
        entries.filter_map(|entry| Some((entry.name, entry.value.into_attribute()?))).collect()
    }

    /// An error if an attribute is given twice.
    pub(super) fn check_attributes(&self, tokens: &Cursor) -> Result<(), Error> {
        let mut names: Vec<(&str, usize)> = self.attributes.iter().map(|entry| (&*entry.name, entry.at)).collect();
        names.sort();
        match names.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(tokens.error_at(pair[1].1, format!("the attribute `{}` is given twice", pair[1].0))),
            None => Ok(()),
        }
    }
}

/// What a line of a block is.
pub(super) enum Statement<T> {
    /// An op.
    Op(T),
    /// The end of the block, with its operands.
    Terminator(Vec<ValueId>),
}

impl<'a> Parser<'a> {
    /// Takes `{...}` or `<{...}>` attributes of an op, if they follow.
    pub(super) fn op_attributes(&mut self, op: &mut Given<'a>) -> Result<(), Error> {
        if !self.tokens.is("{") {
            return Ok(());
        }
        self.dictionary_into(op, false)
    }

    /// Takes `<{...}>`, if it follows.
    pub(super) fn op_properties(&mut self, op: &mut Given<'a>) -> Result<(), Error> {
        if self.tokens.eat("<")? {
            self.dictionary_into(op, true)?;
            self.tokens.expect(">")?;
        }
        Ok(())
    }

    fn dictionary_into(&mut self, op: &mut Given<'a>, property: bool) -> Result<(), Error> {
        let entries = super::cursor::list(self, "{", "}", |parser: &mut Parser<'a>| {
            let at = parser.tokens.start();
            let (name, value) = parser.entry()?;
            Ok(Entry { name, value: Value::Attribute(value), at, property })
        })?;
        op.attributes.extend(entries);
        Ok(())
    }
}
