//! Modules, functions, regions and ops.

use std::collections::{HashMap, HashSet};

use crate::sharding::{Mesh, MeshRef};
use crate::{Attribute, Error, Location, LocationId, OpKind, Type};

/// The index of a function in its [`Module`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FuncId(pub u32);

/// A value of a [`Func`]: a parameter of a region, or a result of an op.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// A program.
#[derive(Debug, Clone)]
pub struct Module {
    /// The module's name: `jit_f`.
    pub name: String,
    /// The functions, each with a name of its own. Calls and composites refer to them by index.
    pub funcs: Vec<Func>,
    /// The function that is run: `main`.
    pub entry: FuncId,
    /// The meshes that shardings name, each with a name of its own.
    pub meshes: Vec<(String, Mesh)>,
    /// Attributes of the module, sorted by name: `mhlo.num_partitions`, ...
    pub attributes: Vec<(String, Attribute)>,
    /// Source locations; the first is [`Location::Unknown`].
    pub locations: Vec<Location>,
}

impl Module {
    /// The function at `id`.
    pub fn func(&self, id: FuncId) -> &Func {
        &self.funcs[id.0 as usize]
    }

    /// The function that is run.
    pub fn main(&self) -> &Func {
        self.func(self.entry)
    }

    /// The mesh that a sharding names.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn mesh<'m>(&'m self, mesh: &'m MeshRef) -> Result<&'m Mesh, Error> {
        match mesh {
            MeshRef::Inline(mesh) => Ok(mesh),
            MeshRef::Named(name) => match self.meshes.iter().find(|(each, _)| each == name) {
                Some((_, mesh)) => Ok(mesh),
                None => Err(Error::invalid(format!("the mesh `{name}` is not defined"))),
            },
        }
    }

    /// The location at `id`.
    pub fn location(&self, id: LocationId) -> &Location {
        &self.locations[id.0 as usize]
    }
}

/// Attributes of an argument or result of a function, sorted by name: `tf.aliasing_output`, `mhlo.sharding`, ...
pub type ArgAttributes = Vec<(String, Attribute)>;

/// A function. It owns the types of all values of its body, nested regions included.
#[derive(Debug, Clone)]
pub struct Func {
    /// The name, without `@`.
    pub name: String,
    /// Whether it may be called from outside.
    pub public: bool,
    /// Parameters are `body.params`; results are `body.results`.
    pub body: Region,
    /// The types of values, by [`ValueId`].
    pub values: Vec<Type>,
    /// Attributes of the parameters, one list each.
    pub param_attributes: Vec<ArgAttributes>,
    /// Attributes of the results, one list each.
    pub result_attributes: Vec<ArgAttributes>,
}

impl Func {
    /// The type of `value`.
    pub fn ty(&self, value: ValueId) -> &Type {
        &self.values[value.0 as usize]
    }

    /// A new value of type `ty`.
    pub fn add_value(&mut self, ty: Type) -> ValueId {
        let id = ValueId(u32::try_from(self.values.len()).expect("fewer than 2^32 values"));
        self.values.push(ty);
        id
    }
}

/// A block of ops with parameters and results. An op may use values of its own region that come before it, and those
/// of the regions around it.
#[derive(Debug, Clone, Default)]
pub struct Region {
    /// The block's parameters.
    pub params: Vec<ValueId>,
    /// The ops, without the terminator.
    pub ops: Vec<Op>,
    /// The operands of the terminator.
    pub results: Vec<ValueId>,
}

impl Region {
    /// The values that `regions` use and do not define, each once, in order of their first use.
    pub fn free_values(regions: &[Region]) -> Vec<ValueId> {
        let mut seen = HashSet::new();
        regions.iter().for_each(|region| region.defined(&mut seen));
        let mut free = Vec::new();
        let mut visit = |value| {
            if seen.insert(value) {
                free.push(value);
            }
        };
        regions.iter().for_each(|region| region.for_each_use(&mut visit));
        free
    }

    /// Puts other values in the place of those that `names` has, wherever they are used.
    pub(crate) fn rename(&mut self, names: &HashMap<ValueId, ValueId>) {
        let rename = |values: &mut [ValueId]| {
            for value in values {
                *value = names.get(value).copied().unwrap_or(*value);
            }
        };
        for op in &mut self.ops {
            rename(&mut op.operands);
            op.regions.iter_mut().for_each(|region| region.rename(names));
        }
        rename(&mut self.results);
    }

    /// Adds the values that it defines, nested regions included, to `set`.
    fn defined(&self, set: &mut HashSet<ValueId>) {
        set.extend(&self.params);
        for op in &self.ops {
            set.extend(&op.results);
            op.regions.iter().for_each(|region| region.defined(set));
        }
    }

    fn for_each_use(&self, visit: &mut impl FnMut(ValueId)) {
        for op in &self.ops {
            op.operands.iter().copied().for_each(&mut *visit);
            op.regions.iter().for_each(|region| region.for_each_use(visit));
        }
        self.results.iter().copied().for_each(visit);
    }
}

/// An operation.
#[derive(Debug, Clone)]
pub struct Op {
    /// What it does, with its attributes.
    pub kind: OpKind,
    /// The operands.
    pub operands: Vec<ValueId>,
    /// The results.
    pub results: Vec<ValueId>,
    /// The regions: body of a reduction, condition and body of a loop, ...
    pub regions: Vec<Region>,
    /// Where it comes from.
    pub location: LocationId,
}
