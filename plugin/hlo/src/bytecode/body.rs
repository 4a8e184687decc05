//! Regions and the ops in them.

use super::cursor::Cursor;
use super::header::{self, Block, Header, blame};
use super::op::{Context, OpReader, Values};
use super::ops::Becomes;
use super::tables::TypeId;
use super::value::Attributes;
use crate::{Error, Op, OpKind, Region, ValueId};

/// How deep regions may nest.
const MAX_DEPTH: usize = 64;

/// Memory is reserved for so many ops of a region; for more when they are there, since regions nest.
const MAX_RESERVED: usize = 64;

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
        let (values, block) = header::read_region_head(self.context.tables, cursor)?;
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
                let message =
                    if last { "a region must end with a return" } else { "a return must be the last op of a region" };
                return blame(self.context, name, location, Error::invalid(message));
            }
        }
        if block.ops == 0 {
            return Err(Error::invalid("a region must end with a return, got no op"));
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
            return Err(Error::invalid(format!(
                "expected a result for each operand, got {} results for {} operands",
                types.len(),
                operands.len()
            )));
        }
        for (&ty, &operand) in types.iter().zip(operands) {
            let tables = self.context.tables;
            let (ty, own) = (tables.ty(ty)?.value(tables)?, &self.values.types[operand.0 as usize]);
            if ty != *own {
                return Err(Error::invalid(format!("the result must have the type of the operand, {own}, got {ty}")));
            }
            self.enter(operand, next)?;
        }
        Ok(())
    }

    /// Gives a value the next number in the scope.
    fn enter(&mut self, value: ValueId, next: &mut usize) -> Result<(), Error> {
        let slot = self
            .scope
            .get_mut(*next)
            .ok_or_else(|| Error::invalid("the region defines more values than it announces"))?;
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
        let def = match spec.becomes {
            Becomes::Op(def) => def,
            Becomes::Return if header.results.is_empty() => {
                region.results = operands;
                return Ok(true);
            }
            Becomes::Return => return Err(Error::invalid("a return must have no results")),
            Becomes::Forward => {
                self.forward(&header.results, &operands, next)?;
                return Ok(false);
            }
        };
        let first = *next;
        let results = self.define(&header.results, next)?;
        // An op's results have numbers in its regions, but no values yet.
        self.scope[first..*next].fill(None);
        let regions = self.regions(cursor, &header)?;
        self.scope[first..*next].iter_mut().zip(&results).for_each(|(slot, &result)| *slot = Some(result));
        let dictionary = header::dictionary(tables, &header)?;
        let inherent = header::inherent(tables, &header, spec.attributes, dictionary)?;
        let op = Op { kind: OpKind::OptimizationBarrier, operands, results, regions, location: header.location };
        let mut reader = OpReader {
            context: self.context,
            values: &mut self.values,
            region,
            attributes: Attributes { tables, inherent },
            name: def.name,
            own: spec.attributes,
            dictionary,
            op,
        };
        let kind = def.read.kind(&mut reader)?;
        let mut op = reader.op;
        if let (OpKind::Constant(literal), [result]) = (&kind, &op.results[..]) {
            self.values.constants.note(*result, literal);
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
        let cursor = match header::region_section(self.context.tables, cursor)? {
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
