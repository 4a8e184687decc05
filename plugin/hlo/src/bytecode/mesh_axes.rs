//! Groups of processes as axes of a mesh, an attribute of VHLO. Each part refers to others of certain kinds only, so
//! decoding ends.

use super::attribute::{Node, vhlo};
use super::convert;
use super::cursor::Cursor;
use super::tables::{AttrId, Tables};
use crate::Error;
use crate::sharding::{AxisRef, Mesh, MeshRef, SubAxis};

/// Decodes the attribute after its code.
#[allow(clippy::redundant_closure_for_method_calls, reason = "a path would fix the lifetime of the parts' cursors")]
pub(super) fn decode<'a>(tables: &Tables<'a>, cursor: &mut Cursor<'a>) -> Result<Node<'a>, Error> {
    let mut reader = Reader { tables, cursor };
    let id = reader.attribute()?;
    let mesh = match tables.entry(id).dialect {
        "vhlo" if reader.is(id, vhlo::STRING)? => MeshRef::Named(reader.text(id)?),
        "vhlo" => MeshRef::Inline(reader.child(id, vhlo::MESH, |mesh| mesh.mesh())?),
        _ => return Err(reader.cursor.error("expected a mesh")),
    };
    Ok(Node::MeshAxes(mesh, reader.items(vhlo::AXIS_REF, |axis| axis.axis())?))
}

struct Reader<'r, 'c, 'a> {
    tables: &'r Tables<'a>,
    cursor: &'c mut Cursor<'a>,
}

impl<'r, 'a> Reader<'r, '_, 'a> {
    fn attribute(&mut self) -> Result<AttrId, Error> {
        self.tables.read_attribute(self.cursor)
    }

    /// Whether the attribute at `id` is of the kind `code` of VHLO.
    fn is(&self, id: AttrId, code: u64) -> Result<bool, Error> {
        let entry = self.tables.entry(id);
        Ok(entry.dialect == "vhlo" && entry.encoded && entry.data.clone().varint()? == code)
    }

    /// What `read` makes of the attribute at `id`, which must be of the kind `code`.
    fn child<T>(
        &mut self,
        id: AttrId,
        code: u64,
        read: impl FnOnce(&mut Reader<'r, '_, 'a>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if !self.is(id, code)? {
            return Err(self.cursor.error("expected another kind of attribute in a mesh"));
        }
        let mut cursor = self.tables.entry(id).data.clone();
        cursor.varint()?;
        // What is written once may be used often.
        self.tables.spend(size_of::<T>())?;
        read(&mut Reader { tables: self.tables, cursor: &mut cursor })
    }

    /// The items of a list of parts of the kind `code`.
    fn items<T>(
        &mut self,
        code: u64,
        read: impl Fn(&mut Reader<'r, '_, 'a>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let id = self.attribute()?;
        let ids = self.child(id, vhlo::ARRAY, |list| {
            let tables = list.tables;
            list.cursor.list(|cursor| tables.read_attribute(cursor))
        })?;
        self.tables.spend(size_of_val(&*ids))?;
        ids.into_iter().map(|id| self.child(id, code, &read)).collect()
    }

    fn text(&self, id: AttrId) -> Result<String, Error> {
        let bytes = self.tables.string(id)?;
        self.tables.spend(bytes.len())?;
        convert::text(bytes)
    }

    fn name(&mut self) -> Result<String, Error> {
        let id = self.attribute()?;
        self.text(id)
    }

    fn size(&mut self) -> Result<usize, Error> {
        let size = self.cursor.signed()?;
        usize::try_from(size).map_err(|_| self.cursor.error(format_args!("a size must not be negative, got {size}")))
    }

    fn mesh(&mut self) -> Result<Mesh, Error> {
        let axes = self.items(vhlo::MESH_AXIS, |axis| Ok((axis.name()?, axis.size()?)))?;
        let (index, has_ids) = self.cursor.flagged()?;
        let mut device_ids = Vec::new();
        if has_ids {
            let id = self.tables.attribute_index(self.cursor, index)?;
            device_ids = self
                .child(id, vhlo::TENSOR, |_| Ok(()))
                .and_then(|()| super::value::Value::new(self.tables, "device_ids", id)?.integers())?
                .into_iter()
                .map(|id| {
                    usize::try_from(id)
                        .map_err(|_| self.cursor.error(format_args!("a device id must not be negative, got {id}")))
                })
                .collect::<Result<_, _>>()?;
        }
        let mesh = Mesh { axes, device_ids };
        mesh.check()?;
        Ok(mesh)
    }

    fn axis(&mut self) -> Result<AxisRef, Error> {
        let name = self.name()?;
        let sub_axis = match self.cursor.varint()? {
            0 => None,
            _ => {
                let id = self.attribute()?;
                let part =
                    self.child(id, vhlo::SUB_AXIS, |part| Ok(SubAxis { pre_size: part.size()?, size: part.size()? }))?;
                Some(part)
            }
        };
        Ok(AxisRef { name, sub_axis })
    }
}
