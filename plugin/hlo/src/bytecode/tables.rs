//! The table of attributes and types, whose entries are decoded when they are first asked for.

use std::cell::{Cell, OnceCell};

use super::attribute::{self, Node};
use super::container::{Container, OpName, Version};
use super::cursor::Cursor;
use super::types::{self, TypeNode};
use crate::Error;

/// The index of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct AttrId(pub(super) u32);

/// The index of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TypeId(pub(super) u32);

/// Where an attribute or type lies.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    /// The dialect it belongs to.
    pub(super) dialect: &'a str,
    /// Its encoding.
    pub(super) data: Cursor<'a>,
    /// Whether it is encoded by its dialect, rather than as text.
    pub(super) encoded: bool,
}

/// An entry and what it was decoded to.
#[derive(Debug)]
struct Slot<'a, T> {
    entry: Entry<'a>,
    node: OnceCell<T>,
}

/// What IR is made from: names, attributes and types.
#[derive(Debug)]
pub(super) struct Tables<'a> {
    /// The bytecode version.
    pub(super) version: Version,
    /// All strings.
    pub(super) strings: Vec<&'a [u8]>,
    /// The names of ops.
    pub(super) op_names: Vec<OpName<'a>>,
    /// The properties of ops.
    pub(super) properties: Vec<Cursor<'a>>,
    attributes: Vec<Slot<'a, Node<'a>>>,
    types: Vec<Slot<'a, TypeNode>>,
    copies: usize,
    /// The bytes that may still be spent on copies of what the input holds once.
    budget: Cell<usize>,
}

impl<'a> Tables<'a> {
    /// The tables of a container, and its ops. `copies` bytes may be spent on copies of one kind.
    pub(super) fn new(container: Container<'a>, copies: usize) -> Result<(Tables<'a>, Cursor<'a>), Error> {
        let Container { version, strings, dialects, op_names, properties, mut entries, mut offsets, ir } = container;
        let attribute_count = offsets.count()?;
        let type_count = offsets.count()?;
        let attributes = read_slots(&mut offsets, &mut entries, &dialects, attribute_count)?;
        let types = read_slots(&mut offsets, &mut entries, &dialects, type_count)?;
        let budget = Cell::new(copies);
        Ok((Tables { version, strings, op_names, properties, attributes, types, copies, budget }, ir))
    }

    /// The number of attributes.
    pub(super) fn attribute_count(&self) -> usize {
        self.attributes.len()
    }

    /// The attribute at `id`.
    pub(super) fn attribute(&self, id: AttrId) -> Result<&Node<'a>, Error> {
        let slot = &self.attributes[id.0 as usize];
        if let Some(node) = slot.node.get() {
            return Ok(node);
        }
        let node = attribute::decode(self, &slot.entry)?;
        Ok(slot.node.get_or_init(|| node))
    }

    /// Where the attribute at `id` lies.
    pub(super) fn entry(&self, id: AttrId) -> &Entry<'a> {
        &self.attributes[id.0 as usize].entry
    }

    /// The bytes of the string attribute at `id`, which is read without decoding others.
    pub(super) fn string(&self, id: AttrId) -> Result<&'a [u8], Error> {
        attribute::decode_string(self, &self.attributes[id.0 as usize].entry)
    }

    /// The type at `id`, which lies in `depth` others.
    pub(super) fn type_at_depth(&self, id: TypeId, depth: usize) -> Result<&TypeNode, Error> {
        let slot = &self.types[id.0 as usize];
        if let Some(node) = slot.node.get() {
            return Ok(node);
        }
        let node = types::decode(self, &slot.entry, depth)?;
        Ok(slot.node.get_or_init(|| node))
    }

    /// The type at `id`.
    pub(super) fn ty(&self, id: TypeId) -> Result<&TypeNode, Error> {
        self.type_at_depth(id, 0)
    }

    /// Checks the index of an attribute.
    pub(super) fn attribute_index(&self, cursor: &Cursor<'_>, index: u64) -> Result<AttrId, Error> {
        Ok(AttrId(cursor.checked_index(index, self.attributes.len(), "attribute")? as u32))
    }

    /// Reads the index of an attribute.
    pub(super) fn read_attribute(&self, cursor: &mut Cursor<'_>) -> Result<AttrId, Error> {
        let index = cursor.varint()?;
        self.attribute_index(cursor, index)
    }

    /// Checks the index of a type.
    pub(super) fn type_index(&self, cursor: &Cursor<'_>, index: u64) -> Result<TypeId, Error> {
        Ok(TypeId(cursor.checked_index(index, self.types.len(), "type")? as u32))
    }

    /// Reads the index of a type.
    pub(super) fn read_type(&self, cursor: &mut Cursor<'_>) -> Result<TypeId, Error> {
        let index = cursor.varint()?;
        self.type_index(cursor, index)
    }

    /// Reads the index of a string.
    pub(super) fn read_string(&self, cursor: &mut Cursor<'_>) -> Result<&'a [u8], Error> {
        Ok(self.strings[cursor.index(self.strings.len(), "string")?])
    }

    /// The bytes that copies of one kind may take: attributes and types, or locations.
    pub(super) fn copies(&self) -> usize {
        self.copies
    }

    /// The bytes that copies of attributes and types may still take.
    pub(super) fn budget(&self) -> usize {
        self.budget.get()
    }

    /// Takes `bytes` from what copies of attributes and types may take.
    pub(super) fn spend(&self, bytes: usize) -> Result<(), Error> {
        if let Some(rest) = self.budget.get().checked_sub(bytes) {
            self.budget.set(rest);
            return Ok(());
        }
        Err(Error::new(
            crate::ErrorKind::TooLarge,
            "nested attributes and types that refer to each other expand to more than a program of this size may hold",
        ))
    }
}

/// The places of `count` attributes or types, which come in groups of one dialect each.
fn read_slots<'a, T>(
    offsets: &mut Cursor<'a>,
    entries: &mut Cursor<'a>,
    dialects: &[&'a str],
    count: usize,
) -> Result<Vec<Slot<'a, T>>, Error> {
    offsets.check_count(count)?;
    let mut slots = Vec::with_capacity(count);
    while slots.len() < count {
        let dialect = dialects[offsets.index(dialects.len(), "dialect")?];
        let group = offsets.count()?;
        if group > count - slots.len() {
            return Err(offsets.error("the section has more attributes or types than it announces"));
        }
        for _ in 0..group {
            let (size, encoded) = offsets.flagged()?;
            let size = usize::try_from(size).map_err(|_| offsets.error("an entry that is too large"))?;
            let entry = Entry { dialect, data: entries.slice(size)?, encoded };
            slots.push(Slot { entry, node: OnceCell::new() });
        }
    }
    Ok(slots)
}
