//! Regions and the ops in them.

use super::{
    attribute::Node,
    container::{self, Version},
    cursor::{Cursor, Short},
    lower::{self, Lower, OpSpec},
    op::{Attributes, Context, Inherent, OpReader, Values},
    tables::{AttrId, Tables, TypeId},
};
use crate::{Error, LocationId, Op, OpKind, Region, ValueId};

/// How deep regions may nest.
const MAX_DEPTH: usize = 64;

/// Memory is reserved for so many ops of a region; for more when they are there, since regions nest.
const MAX_RESERVED: usize = 64;

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
    Err(context.locations.add_to(error.in_op(lower::public_name(name)), location))
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
                return Err(cursor.error("properties in a version without them"));
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
    fn spec(&mut self, name: usize) -> Result<OpSpec, Error> {
        if let Some(spec) = self.specs[name] {
            return Ok(spec);
        }
        let spec = lower::find(&self.tables.op_names[name])?;
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
        Some(_) => Err(Error::invalid("the attributes of an op are not a dictionary")),
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
    arguments: Vec<TypeId>,
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

/// Reads the regions of one function.
pub(super) struct BodyReader<'r, 'c, 'a> {
    /// The module.
    pub(super) context: &'r mut Context<'c, 'a>,
    /// The function's values.
    pub(super) values: Values,
    /// The values in scope, by number. Those of a region are numbered from the end of the regions around it.
    scope: Vec<Option<ValueId>>,
    /// How many values the regions that are being read may announce yet, isolated ones included.
    announced: usize,
    depth: usize,
}

impl<'r, 'c, 'a> BodyReader<'r, 'c, 'a> {
    /// Reads a function of this module, whose regions take at most `bytes`.
    pub(super) fn new(context: &'r mut Context<'c, 'a>, bytes: usize) -> BodyReader<'r, 'c, 'a> {
        // Each value takes a byte or more, so more of them cannot be in scope.
        BodyReader { context, values: Values::default(), scope: Vec::new(), announced: bytes, depth: 0 }
    }

    /// Reads a region.
    pub(super) fn region(&mut self, cursor: &mut Cursor<'a>) -> Result<Region, Error> {
        if self.depth == MAX_DEPTH {
            return Err(Error::invalid(format!("regions nest deeper than {MAX_DEPTH}")));
        }
        let (values, block) = read_region_head(self.context.tables, cursor)?;
        let rest = self.announced.checked_sub(values);
        self.announced =
            rest.ok_or_else(|| cursor.error("nested regions announce more values than there are bytes"))?;
        let base = self.scope.len();
        self.scope.resize(base + values, None);
        self.depth += 1;
        let region = self.block(cursor, &block, base);
        self.depth -= 1;
        self.scope.truncate(base);
        self.announced += values;
        region
    }

    fn block(&mut self, cursor: &mut Cursor<'a>, block: &Block, base: usize) -> Result<Region, Error> {
        let mut next = base;
        let params = self.define(&block.arguments, &mut next)?;
        let mut region = Region { params, ops: Vec::with_capacity(block.ops.min(MAX_RESERVED)), results: Vec::new() };
        for index in 0..block.ops {
            let header = self.context.header(cursor)?;
            let (name, location) = (header.name, header.location);
            let last = index + 1 == block.ops;
            let ended = self
                .op(cursor, header, &mut region, &mut next)
                .or_else(|error| blame(self.context, name, location, error))?;
            if ended != last {
                let message = if last { "a region ends without a return" } else { "a return amid a region" };
                return blame(self.context, name, location, Error::invalid(message));
            }
        }
        if block.ops == 0 {
            return Err(Error::invalid("a region without a return"));
        }
        Ok(region)
    }

    /// New values of these types, which get the next numbers in the scope.
    fn define(&mut self, types: &[TypeId], next: &mut usize) -> Result<Vec<ValueId>, Error> {
        let mut ids = Vec::with_capacity(types.len());
        for &ty in types {
            let tables = self.context.tables;
            let id = self.values.add(tables.ty(ty)?.value(tables)?);
            self.enter(id, next)?;
            ids.push(id);
        }
        Ok(ids)
    }

    /// Gives `operands` the next numbers in the scope, as results of these types.
    fn forward(&mut self, types: &[TypeId], operands: &[ValueId], next: &mut usize) -> Result<(), Error> {
        if types.len() != operands.len() {
            return Err(Error::invalid(format!("{} results of {} operands", types.len(), operands.len())));
        }
        for (&ty, &operand) in types.iter().zip(operands) {
            let tables = self.context.tables;
            let (ty, own) = (tables.ty(ty)?.value(tables)?, &self.values.types[operand.0 as usize]);
            if ty != *own {
                return Err(Error::invalid(format!("{own} becomes {ty}")));
            }
            self.enter(operand, next)?;
        }
        Ok(())
    }

    /// Gives a value the next number in the scope.
    fn enter(&mut self, value: ValueId, next: &mut usize) -> Result<(), Error> {
        let slot = self.scope.get_mut(*next).ok_or_else(|| Error::invalid("more values than announced"))?;
        *slot = Some(value);
        *next += 1;
        Ok(())
    }

    /// Reads an op into `region`. The answer is whether it was the return.
    fn op(
        &mut self,
        cursor: &mut Cursor<'a>,
        header: Header<'a>,
        region: &mut Region,
        next: &mut usize,
    ) -> Result<bool, Error> {
        let tables = self.context.tables;
        let spec = self.context.spec(header.name)?;
        let value = |&number: &usize| {
            let value = self.scope.get(number).copied().flatten();
            value.ok_or_else(|| Error::invalid(format!("operand {number} is not defined before it is used")))
        };
        let mut operands = Vec::with_capacity(header.operands.len());
        for number in &header.operands {
            operands.push(value(number)?);
        }
        spec.check_regions(header.regions)?;
        let make = match spec.lower {
            Lower::Kind(make) => make,
            Lower::Return if header.results.is_empty() => {
                region.results = operands;
                return Ok(true);
            }
            Lower::Return => return Err(Error::invalid("a return with results")),
            Lower::Forward => {
                self.forward(&header.results, &operands, next)?;
                return Ok(false);
            }
        };
        let results = self.define(&header.results, next)?;
        let regions = self.regions(cursor, &header)?;
        let dictionary = dictionary(tables, &header)?;
        let inherent = inherent(tables, &header, spec.attributes, dictionary)?;
        let op = Op { kind: OpKind::OptimizationBarrier, operands, results, regions, location: header.location };
        let mut reader = OpReader {
            context: self.context,
            values: &mut self.values,
            region,
            attributes: Attributes { tables, inherent },
            names: spec.attributes,
            dictionary,
            op,
        };
        let kind = make.kind(&mut reader)?;
        let mut op = reader.op;
        if let (OpKind::Constant(literal), [result]) = (&kind, &op.results[..]) {
            self.values.note_constant(*result, literal);
        }
        op.kind = kind;
        region.ops.push(op);
        Ok(false)
    }

    /// Reads the regions of an op.
    pub(super) fn regions(&mut self, cursor: &mut Cursor<'a>, header: &Header<'a>) -> Result<Vec<Region>, Error> {
        if header.regions == 0 {
            return Ok(Vec::new());
        }
        if !header.isolated {
            return (0..header.regions).map(|_| self.region(cursor)).collect();
        }
        // Regions that use nothing from around them have a scope, and from some version on a section, of their own.
        let scope = std::mem::take(&mut self.scope);
        let mut section;
        let cursor = match region_section(self.context.tables, cursor)? {
            Some(own) => {
                section = own;
                &mut section
            }
            None => cursor,
        };
        let regions = (0..header.regions).map(|_| self.region(cursor)).collect();
        self.scope = scope;
        regions
    }
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
                let message = format!("other properties than those that are known: {}", names.join(", "));
                return Err(Error::invalid(message));
            }
            Ok(Inherent::Properties(names, ids))
        }
        Some(PropertyData::Dictionary(id)) => match tables.attribute(*id)? {
            Node::Dictionary(entries) => Ok(Inherent::Dictionary(entries)),
            _ => Err(Error::invalid("the properties of an op are not a dictionary")),
        },
        None => Ok(Inherent::Dictionary(dictionary)),
    }
}
