//! Attributes of Shardy's dialect. Each kind refers to others of certain kinds only, so decoding ends.

use super::attribute::Node;
use super::convert;
use super::cursor::Cursor;
use super::tables::{AttrId, Tables};
use crate::sharding::{AxisRef, DimSharding, Mesh, MeshRef, ShardingRule, SubAxis, TensorMapping, TensorSharding};
use crate::{Attribute, Error};

/// The codes of attributes.
mod code {
    pub(super) const MANUAL_AXES: u64 = 0;
    pub(super) const MESH_AXIS: u64 = 1;
    pub(super) const MESH: u64 = 2;
    pub(super) const SUB_AXIS: u64 = 3;
    pub(super) const AXIS: u64 = 4;
    pub(super) const DIM_SHARDING: u64 = 5;
    pub(super) const SHARDING: u64 = 6;
    pub(super) const PER_VALUE: u64 = 7;
    pub(super) const DIM_MAPPING: u64 = 8;
    pub(super) const TENSOR_MAPPING: u64 = 9;
    pub(super) const RULE: u64 = 10;
    /// With unreduced axes.
    pub(super) const SHARDING_2: u64 = 15;
    pub(super) const PER_VALUE_2: u64 = 16;
    /// With how unreduced axes are to be reduced.
    pub(super) const SHARDING_3: u64 = 17;
}

/// Decodes an attribute.
#[allow(clippy::redundant_closure_for_method_calls, reason = "a path would fix the lifetime of the parts' cursors")]
pub(super) fn decode<'a>(tables: &Tables<'a>, cursor: &mut Cursor<'a>) -> Result<Node<'a>, Error> {
    let before = tables.budget();
    let code = cursor.varint()?;
    let mut reader = Reader { tables, cursor };
    let attribute = match code {
        code::MANUAL_AXES => {
            let names = reader.cursor.list(|cursor| tables.string(tables.read_attribute(cursor)?))?;
            let owned = |name| tables.spend(size_of::<String>()).and_then(|()| reader.owned(name));
            Attribute::ManualAxes(names.into_iter().map(owned).collect::<Result<_, _>>()?)
        }
        code::MESH => Attribute::Mesh(reader.mesh()?),
        code::SHARDING | code::SHARDING_2 | code::SHARDING_3 => Attribute::Sharding(reader.sharding(code)?),
        code::PER_VALUE | code::PER_VALUE_2 => {
            Attribute::ShardingPerValue(reader.children(SHARDINGS, |each, code| each.sharding(code))?)
        }
        code::RULE => {
            tables.spend(size_of::<ShardingRule>())?;
            Attribute::ShardingRule(Box::new(reader.rule()?))
        }
        // Parts of others, and what only Shardy's own collectives have.
        _ => return Ok(Node::Foreign("sdy")),
    };
    // A copy takes as much memory as decoding did.
    Ok(Node::Sharding(attribute, before - tables.budget()))
}

/// The codes of shardings of tensors.
const SHARDINGS: &[u64] = &[code::SHARDING, code::SHARDING_2, code::SHARDING_3];

struct Reader<'r, 'c, 'a> {
    tables: &'r Tables<'a>,
    cursor: &'c mut Cursor<'a>,
}

impl<'r, 'a> Reader<'r, '_, 'a> {
    /// What `read` makes of the attribute at `id`, whose code must be among `codes`.
    fn child<T>(
        &mut self,
        id: AttrId,
        codes: &[u64],
        read: impl FnOnce(&mut Reader<'r, '_, 'a>, u64) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let entry = self.tables.entry(id);
        let mut cursor = entry.data.clone();
        let code = cursor.varint()?;
        if entry.dialect != "sdy" || !entry.encoded || !codes.contains(&code) {
            return Err(cursor.error("expected another kind of attribute in a sharding"));
        }
        // What is written once may be used often.
        self.tables.spend(size_of::<T>())?;
        read(&mut Reader { tables: self.tables, cursor: &mut cursor }, code)
    }

    /// A list of attributes.
    fn children<T>(
        &mut self,
        codes: &[u64],
        read: impl Fn(&mut Reader<'r, '_, 'a>, u64) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let tables = self.tables;
        let ids = self.cursor.list(|cursor| tables.read_attribute(cursor))?;
        tables.spend(size_of_val(&*ids))?;
        ids.into_iter().map(|id| self.child(id, codes, &read)).collect()
    }

    fn owned(&self, name: &[u8]) -> Result<String, Error> {
        self.tables.spend(name.len())?;
        convert::text(name)
    }

    fn string(&mut self) -> Result<String, Error> {
        let name = self.tables.read_string(self.cursor)?;
        self.owned(name)
    }

    fn size(&mut self) -> Result<usize, Error> {
        let size = self.cursor.signed()?;
        usize::try_from(size)
            .map_err(|_| self.cursor.error(format_args!("a size or index must not be negative, got {size}")))
    }

    fn sizes(&mut self) -> Result<Vec<usize>, Error> {
        let sizes = self.cursor.list(Cursor::signed)?;
        self.tables.spend(size_of_val(&*sizes))?;
        let size = |size: i64| {
            usize::try_from(size)
                .map_err(|_| self.cursor.error(format_args!("a size must not be negative, got {size}")))
        };
        sizes.into_iter().map(size).collect()
    }

    fn mesh(&mut self) -> Result<Mesh, Error> {
        let axes = self.children(&[code::MESH_AXIS], |axis, _| Ok((axis.string()?, axis.size()?)))?;
        let mesh = Mesh { axes, device_ids: self.sizes()? };
        mesh.check()?;
        Ok(mesh)
    }

    fn axes(&mut self) -> Result<Vec<AxisRef>, Error> {
        self.children(&[code::AXIS], |axis, _| {
            let name = axis.string()?;
            let (index, has_part) = axis.cursor.flagged()?;
            let mut sub_axis = None;
            if has_part {
                let id = axis.tables.attribute_index(axis.cursor, index)?;
                let part = axis.child(id, &[code::SUB_AXIS], |part, _| {
                    Ok(SubAxis { pre_size: part.size()?, size: part.size()? })
                })?;
                sub_axis = Some(part);
            }
            Ok(AxisRef { name, sub_axis })
        })
    }

    fn sharding(&mut self, code: u64) -> Result<TensorSharding, Error> {
        let mesh = self.tables.read_attribute(self.cursor)?;
        let entry = self.tables.entry(mesh);
        let mesh = if entry.dialect == "sdy" {
            MeshRef::Inline(self.child(mesh, &[code::MESH], |mesh, _| mesh.mesh())?)
        } else {
            match self.tables.attribute(mesh)? {
                Node::Symbol(name) => MeshRef::Named(self.owned(name)?),
                _ => return Err(self.cursor.error("expected the name of a mesh")),
            }
        };
        let dims = self.children(&[code::DIM_SHARDING], |dim, _| {
            let (axes, closed) = (dim.axes()?, dim.cursor.byte()? != 0);
            let (priority, has_priority) = dim.cursor.flagged()?;
            Ok(DimSharding { axes, closed, priority: has_priority.then_some(priority) })
        })?;
        let replicated = self.axes()?;
        let unreduced = if code == code::SHARDING { Vec::new() } else { self.axes()? };
        if code == code::SHARDING_3 {
            return Err(Error::unsupported("unreduced axes that are not to be summed are not supported"));
        }
        Ok(TensorSharding { mesh, dims, replicated, unreduced })
    }

    fn rule(&mut self) -> Result<ShardingRule, Error> {
        fn mappings(reader: &mut Reader<'_, '_, '_>) -> Result<Vec<TensorMapping>, Error> {
            reader.children(&[code::TENSOR_MAPPING], |tensor, _| {
                tensor.children(&[code::DIM_MAPPING], |dim, _| dim.sizes())
            })
        }
        Ok(ShardingRule {
            factors: self.sizes()?,
            operands: mappings(self)?,
            results: mappings(self)?,
            reduction: self.sizes()?,
            need_replication: self.sizes()?,
            permutation: self.sizes()?,
            blocked_propagation: self.sizes()?,
            custom: self.cursor.byte()? != 0,
        })
    }
}
