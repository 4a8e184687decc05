//! Headers of ops, regions and blocks, which come before the regions themselves.

use super::attribute::Node;
use super::container::{self, Version};
use super::cursor::{Cursor, Short};
use super::op::Context;
use super::ops::{self, OpSpec};
use super::tables::{AttrId, Tables, TypeId};
use super::value::Inherent;
use crate::{Error, LocationId};

/// What an op's header has, beside its name and location.
mod has {
    pub(super) const ATTRIBUTES: u8 = 0x01;
    pub(super) const RESULTS: u8 = 0x02;
    pub(super) const OPERANDS: u8 = 0x04;
    pub(super) const SUCCESSORS: u8 = 0x08;
    pub(super) const REGIONS: u8 = 0x10;
    pub(super) const USE_LISTS: u8 = 0x20;
    pub(super) const PROPERTIES: u8 = 0x40;
}

/// An op without its regions.
#[derive(Debug)]
pub(super) struct Header<'a> {
    /// The number of the name.
    pub(super) name: usize,
    /// The source location.
    pub(super) location: LocationId,
    /// The dictionary of attributes.
    pub(super) attributes: Option<AttrId>,
    /// The properties, or the attribute that stands for them.
    pub(super) properties: Option<PropertyData<'a>>,
    /// The types of results.
    pub(super) results: Short<TypeId>,
    /// The operands, by number in the scope.
    pub(super) operands: Short<usize>,
    /// The number of regions.
    pub(super) regions: usize,
    /// Whether the regions use nothing from around them.
    pub(super) isolated: bool,
}

/// An op's properties.
#[derive(Debug)]
pub(super) enum PropertyData<'a> {
    /// In the encoding of the op.
    Native(Cursor<'a>),
    /// As a dictionary.
    Dictionary(AttrId),
}

/// Adds the location and the op to an error.
pub(super) fn blame<T>(context: &Context<'_, '_>, name: usize, location: LocationId, error: Error) -> Result<T, Error> {
    let name = &context.tables.op_names[name];
    Err(context.locations.add_to(error.in_op(ops::public_name(name)), location))
}

impl<'a> Context<'_, 'a> {
    /// Reads an op up to its regions.
    pub(super) fn header(&mut self, cursor: &mut Cursor<'a>) -> Result<Header<'a>, Error> {
        let name = cursor.index(self.tables.op_names.len(), "op name")?;
        let mask = cursor.byte()?;
        let location = self.tables.read_attribute(cursor)?;
        let location = self.locations.get(self.tables, location)?;
        self.header_parts(cursor, name, mask, location).or_else(|error| blame(self, name, location, error))
    }

    fn header_parts(
        &mut self,
        cursor: &mut Cursor<'a>,
        name: usize,
        mask: u8,
        location: LocationId,
    ) -> Result<Header<'a>, Error> {
        let tables = self.tables;
        let has = |part: u8| mask & part != 0;
        let attributes = has(has::ATTRIBUTES).then(|| tables.read_attribute(cursor)).transpose()?;
        let mut properties = None;
        if has(has::PROPERTIES) {
            if tables.version < Version::PROPERTIES {
                return Err(cursor.error("this version of bytecode cannot have properties"));
            }
            properties = Some(if tables.op_names[name].registered {
                PropertyData::Native(tables.properties[cursor.index(tables.properties.len(), "properties")?].clone())
            } else {
                PropertyData::Dictionary(tables.read_attribute(cursor)?)
            });
        }
        let results =
            if has(has::RESULTS) { cursor.short_list(|cursor| tables.read_type(cursor))? } else { Short::new() };
        let operands = if has(has::OPERANDS) { cursor.short_list(Cursor::size)? } else { Short::new() };
        if has(has::SUCCESSORS) {
            return Err(Error::unsupported("branches between blocks are not supported"));
        }
        if has(has::USE_LISTS) && tables.version >= Version::USE_LISTS {
            skip_use_lists(cursor, results.len())?;
        }
        let (regions, isolated) = if has(has::REGIONS) { cursor.flagged()? } else { (0, false) };
        let regions = usize::try_from(regions).map_err(|_| cursor.error("too many regions"))?;
        cursor.check_count(regions)?;
        Ok(Header { name, location, attributes, properties, results, operands, regions, isolated })
    }

    /// What is known of the op with this number.
    pub(super) fn spec(&mut self, name: usize) -> Result<OpSpec, Error> {
        if let Some(spec) = self.specs[name] {
            return Ok(spec);
        }
        let spec = ops::find(&self.tables.op_names[name])?;
        Ok(*self.specs[name].insert(spec))
    }
}

/// The dictionary of attributes of an op.
pub(super) fn dictionary<'r, 'a>(
    tables: &'r Tables<'a>,
    header: &Header<'a>,
) -> Result<&'r [(&'a [u8], AttrId)], Error> {
    match header.attributes.map(|id| tables.attribute(id)).transpose()? {
        None => Ok(&[]),
        Some(Node::Dictionary(entries)) => Ok(entries),
        Some(_) => Err(Error::invalid("the attributes of an op must be a dictionary")),
    }
}

/// Skips the orders of uses of `values` values.
fn skip_use_lists(cursor: &mut Cursor<'_>, values: usize) -> Result<(), Error> {
    let count = if values > 1 { cursor.count()? } else { 1 };
    for _ in 0..count {
        if values > 1 {
            cursor.varint()?;
        }
        let (indices, _) = cursor.flagged()?;
        for _ in 0..indices {
            cursor.varint()?;
        }
    }
    Ok(())
}

/// The head of a block.
pub(super) struct Block {
    /// The types of its arguments.
    pub(super) arguments: Vec<TypeId>,
    /// The number of ops.
    pub(super) ops: usize,
}

/// Reads the head of a region, which must have one block, and answers with the number of values that it defines, those
/// of regions inside excluded.
pub(super) fn read_region_head<'a>(tables: &Tables<'a>, cursor: &mut Cursor<'a>) -> Result<(usize, Block), Error> {
    match cursor.varint()? {
        1 => {}
        0 => return Err(Error::unsupported("a function or region without a body is not supported")),
        blocks => return Err(Error::unsupported(format!("a region of {blocks} blocks is not supported"))),
    }
    let values = cursor.count()?;
    Ok((values, read_block_head(tables, cursor)?))
}

/// Reads the head of a block.
pub(super) fn read_block_head<'a>(tables: &Tables<'a>, cursor: &mut Cursor<'a>) -> Result<Block, Error> {
    let (ops, has_arguments) = cursor.flagged()?;
    let mut arguments = Vec::new();
    if has_arguments {
        arguments = cursor.list(|cursor| {
            let (ty, has_location) =
                if tables.version < Version::ELIDED_LOCATIONS { (cursor.varint()?, true) } else { cursor.flagged()? };
            let ty = tables.type_index(cursor, ty)?;
            if has_location {
                tables.read_attribute(cursor)?;
            }
            Ok(ty)
        })?;
        if tables.version >= Version::USE_LISTS && cursor.byte()? != 0 {
            skip_use_lists(cursor, arguments.len())?;
        }
    }
    let ops = usize::try_from(ops).map_err(|_| cursor.error("too many ops"))?;
    cursor.check_count(ops)?;
    Ok(Block { arguments, ops })
}

/// The section of the isolated regions that come next, if the version has such sections.
pub(super) fn region_section<'a>(tables: &Tables<'a>, cursor: &mut Cursor<'a>) -> Result<Option<Cursor<'a>>, Error> {
    (tables.version >= Version::ISOLATED_SECTIONS).then(|| container::read_ir_section(cursor)).transpose()
}

/// The op's own attributes, called `names` in alphabetical order.
pub(super) fn inherent<'r, 'a>(
    tables: &'r Tables<'a>,
    header: &Header<'a>,
    names: &'static [&'static str],
    dictionary: &'r [(&'a [u8], AttrId)],
) -> Result<Inherent<'r, 'a>, Error> {
    match &header.properties {
        Some(PropertyData::Native(data)) => {
            let mut cursor = data.clone();
            let ids = names.iter().map(|_| tables.read_attribute(&mut cursor)).collect::<Result<_, _>>()?;
            if !cursor.is_empty() {
                let message = format!("unknown properties: {}", names.join(", "));
                return Err(Error::invalid(message));
            }
            Ok(Inherent::Properties(names, ids))
        }
        Some(PropertyData::Dictionary(id)) => match tables.attribute(*id)? {
            Node::Dictionary(entries) => Ok(Inherent::Dictionary(entries)),
            _ => Err(Error::invalid("the properties of an op must be a dictionary")),
        },
        None => Ok(Inherent::Dictionary(dictionary)),
    }
}
