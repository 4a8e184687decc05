//! An op that is being read: its attributes by name, its operands, regions and results.

use super::attribute::Node;
use super::convert;
use super::location::Locations;
use super::ops::OpSpec;
use super::symbols::Symbols;
use super::tables::{AttrId, Tables};
use super::value::{Attributes, Value};
use crate::ops::{self, Constants, Source};
use crate::sharding::{self, AxisRef, Mesh};
use crate::{
    Alias, Attribute, ChannelHandle, CustomCallApiVersion, ElementType, Error, FuncId, Literal, Op, Precision, Region,
    TensorType, Type, ValueId,
};

/// What is read of a module as a whole.
pub(super) struct Context<'r, 'a> {
    /// The tables.
    pub(super) tables: &'r Tables<'a>,
    /// The locations.
    pub(super) locations: Locations<'a>,
    /// The functions.
    pub(super) symbols: Symbols<'a>,
    /// The meshes.
    pub(super) meshes: Vec<(String, Mesh)>,
    /// What is known of ops, by number of the name, as far as they were met.
    pub(super) specs: Vec<Option<OpSpec>>,
}

impl<'r, 'a> Context<'r, 'a> {
    /// A module of which nothing is read.
    pub(super) fn new(tables: &'r Tables<'a>) -> Context<'r, 'a> {
        let specs = vec![None; tables.op_names.len()];
        Context { tables, locations: Locations::new(tables), symbols: Symbols::default(), meshes: Vec::new(), specs }
    }
}

/// What is read of a function as a whole.
#[derive(Default)]
pub(super) struct Values {
    /// The types of values.
    pub(super) types: Vec<Type>,
    /// What may give shapes to dynamic ops.
    pub(super) constants: Constants,
}

impl Values {
    /// A new value.
    pub(super) fn add(&mut self, ty: Type) -> ValueId {
        self.types.push(ty);
        ValueId((self.types.len() - 1) as u32)
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
    /// The op's name, as `stablehlo.add`.
    pub(super) name: &'static str,
    /// The names of the op's own attributes.
    pub(super) own: &'static [&'static str],
    /// The dictionary of attributes.
    pub(super) dictionary: &'c [(&'a [u8], AttrId)],
    /// The op as it will be, still without its kind.
    pub(super) op: Op,
}

impl<'c, 'a> OpReader<'_, 'c, 'a> {
    /// The tables.
    fn tables(&self) -> &'c Tables<'a> {
        self.context.tables
    }

    /// What `read` makes of attribute `name`, if the op has it.
    fn read<T>(
        &self,
        name: &'static str,
        read: impl FnOnce(Value<'c, 'a>) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        self.attributes.optional(name)?.map(read).transpose()
    }

    /// What `read` makes of the items of the list `name`. VHLO writes an empty list where nothing is given.
    fn list<T>(&self, name: &'static str, read: impl Fn(Value<'c, 'a>) -> Result<T, Error>) -> Result<Vec<T>, Error> {
        let ids = self.attributes.required(name)?.ids()?;
        ids.iter().map(|&id| read(Value::new(self.tables(), name, id)?)).collect()
    }

    /// The function of this name.
    fn used(&mut self, name: &'a [u8]) -> FuncId {
        self.context.symbols.used(name, self.name, self.op.location)
    }
}

impl Source for OpReader<'_, '_, '_> {
    fn name(&self) -> &str {
        self.name
    }

    fn has_defaults(&self) -> bool {
        false
    }

    fn integer(&mut self, name: &'static str) -> Result<Option<i64>, Error> {
        self.read(name, |value| value.integer())
    }

    fn integers(&mut self, name: &'static str) -> Result<Option<Vec<i64>>, Error> {
        self.read(name, |value| value.integers())
    }

    fn rows(&mut self, name: &'static str) -> Result<Option<Vec<Vec<i64>>>, Error> {
        self.read(name, |value| value.rows())
    }

    fn mesh_axes(&mut self, name: &'static str) -> Result<Option<(Mesh, Vec<AxisRef>)>, Error> {
        let Some(Node::MeshAxes(mesh, axes)) = self.attributes.optional(name)?.map(|value| value.node()) else {
            return Ok(None);
        };
        let mesh = sharding::mesh_called(&self.context.meshes, mesh)?;
        self.tables().spend(sharding::bytes_of_groups(mesh, axes))?;
        Ok(Some((mesh.clone(), axes.clone())))
    }

    /// VHLO has the number alone, as `channel_id`.
    fn channel(&mut self, _: &'static str) -> Result<Option<ChannelHandle>, Error> {
        Ok(None)
    }

    fn bool(&mut self, name: &'static str) -> Result<Option<bool>, Error> {
        self.read(name, |value| value.bool())
    }

    fn float(&mut self, name: &'static str) -> Result<Option<f64>, Error> {
        self.read(name, |value| value.float())
    }

    fn text(&mut self, name: &'static str) -> Result<Option<String>, Error> {
        self.read(name, |value| {
            let bytes = value.string()?;
            self.tables().spend(bytes.len())?;
            convert::text(bytes)
        })
    }

    fn word(&mut self, name: &'static str, accept: &mut dyn FnMut(&str) -> bool) -> Result<bool, Error> {
        let word = self.read(name, |value| value.choice(|word| accept(word).then_some(())))?;
        Ok(word.is_some())
    }

    /// The type `none` says that there is none.
    fn element_or_tf32(&mut self, name: &'static str) -> Result<Option<Option<ElementType>>, Error> {
        let element =
            self.read(name, |value| if value.is_none_type()? { Ok(None) } else { value.element_or_tf32().map(Some) })?;
        Ok(element.flatten())
    }

    fn literal(&mut self, name: &'static str) -> Result<Option<Literal>, Error> {
        self.read(name, |value| {
            let literal = value.literal()?;
            self.tables().spend(literal.ty().heap_size())?;
            Ok(literal.clone())
        })
    }

    fn attribute(&mut self, name: &'static str) -> Result<Option<Attribute>, Error> {
        let id = self.attributes.find(name);
        id.map(|id| convert::attribute(self.tables(), id)).transpose()
    }

    fn dictionary(&mut self, name: &'static str) -> Result<Option<Vec<(String, Attribute)>>, Error> {
        let id = self.attributes.find(name);
        id.map(|id| convert::dictionary(self.tables(), id)).transpose()
    }

    fn function(&mut self, name: &'static str) -> Result<Option<FuncId>, Error> {
        let symbol = self.read(name, |value| value.symbol())?;
        Ok(symbol.map(|symbol| self.used(symbol)))
    }

    fn functions(&mut self, name: &'static str) -> Result<Vec<FuncId>, Error> {
        let symbols = self.list(name, |item| item.symbol())?;
        Ok(symbols.into_iter().map(|symbol| self.used(symbol)).collect())
    }

    fn layouts(&mut self, name: &'static str) -> Result<Option<Vec<Vec<usize>>>, Error> {
        let layouts = self.list(name, |item| ops::sizes(|| format!("the attribute `{name}`"), item.integers()?))?;
        Ok(if layouts.is_empty() { None } else { Some(layouts) })
    }

    fn aliases(&mut self, name: &'static str) -> Result<Vec<Alias>, Error> {
        self.list(name, |item| match item.node() {
            Node::Alias(alias) => Ok(alias.clone()),
            _ => Err(Error::invalid(format!("the attribute `{name}` must be a list of aliases"))),
        })
    }

    /// VHLO always writes precisions out: the default is no different from none.
    fn precisions(&mut self, name: &'static str) -> Result<Vec<Precision>, Error> {
        let precisions = self.list(name, |item| item.choice(Precision::from_name))?;
        let is_default = precisions.iter().all(|each| *each == Precision::Default);
        Ok(if is_default { Vec::new() } else { precisions })
    }

    fn api_version(&mut self, name: &'static str) -> Result<Option<CustomCallApiVersion>, Error> {
        self.read(name, |value| value.choice(CustomCallApiVersion::from_name))
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Error> {
        self.tables().spend(bytes)
    }

    fn others(&mut self) -> Result<Vec<(String, Attribute)>, Error> {
        let is_other = |(name, _): &(&[u8], AttrId)| !self.own.iter().any(|own| own.as_bytes() == *name);
        convert::entries(self.tables(), self.dictionary.iter().copied().filter(is_other))
    }

    fn value_type(&self, value: ValueId) -> &Type {
        &self.values.types[value.0 as usize]
    }

    fn first_result(&self) -> Option<&Type> {
        self.op.results.first().map(|&result| self.value_type(result))
    }

    fn constant(&self, value: ValueId) -> Option<&Literal> {
        self.values.constants.get(value)
    }

    fn add_value(&mut self, ty: TensorType) -> Result<ValueId, Error> {
        Ok(self.values.add(ty.into()))
    }

    fn add_op(&mut self, op: Op) {
        self.region.ops.push(op);
    }

    fn op(&mut self) -> &mut Op {
        &mut self.op
    }
}
