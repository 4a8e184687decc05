//! Shardings: how tensors are split over a mesh of devices, in the terms of
//! [Shardy](https://openxla.org/shardy/sharding_representation).
//!
//! A [`Mesh`] gives the devices named axes. A [`TensorSharding`] says over which axes each dimension of a tensor is
//! split; all others hold copies. What a [`ManualComputation`] computes is written for one device of its manual axes.
//! Older programs say the same by strings and custom calls ([`OpSharding`], [`import_custom_calls`]).
//!
//! `op_sharding` and `string` are HLO's own form, `tiling` says which device has which part, `import` turns the older
//! form into Shardy's.

mod display;
mod groups;
mod import;
mod op_sharding;
mod string;
mod tiling;

pub use display::factor_name;
pub(crate) use groups::{bytes_of_groups, mesh_called};
pub use import::import_custom_calls;
pub use op_sharding::{OpSharding, SubgroupType};
pub use tiling::Tiling;

use crate::Error;

/// Devices in a grid whose axes have names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mesh {
    /// Names and sizes, major to minor.
    pub axes: Vec<(String, usize)>,
    /// The logical id of the device at each place; empty if it is the place. A mesh with one id and no axes is maximal:
    /// it stands for that device alone.
    pub device_ids: Vec<usize>,
}

/// The mesh of a sharding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MeshRef {
    /// The mesh of the module with this name.
    Named(String),
    /// A mesh of its own.
    Inline(Mesh),
}

/// An axis of a mesh, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AxisRef {
    /// The name of the axis.
    pub name: String,
    /// Which part of it, if it is not all.
    pub sub_axis: Option<SubAxis>,
}

/// A part of an axis that is split into `pre_size`, `size` and the rest, major to minor: the middle one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SubAxis {
    /// The product of the parts before it.
    pub pre_size: usize,
    /// Its size.
    pub size: usize,
}

/// How a dimension is split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DimSharding {
    /// The axes, major to minor.
    pub axes: Vec<AxisRef>,
    /// Whether it may not be split further.
    pub closed: bool,
    /// When it is propagated: 0 first; absent is 0.
    pub priority: Option<u64>,
}

/// How a tensor is split. Axes that are named nowhere hold copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorSharding {
    /// The mesh.
    pub mesh: MeshRef,
    /// One for each dimension; empty with a maximal mesh.
    pub dims: Vec<DimSharding>,
    /// Axes that must hold copies, in the order of the mesh.
    pub replicated: Vec<AxisRef>,
    /// Axes over which the tensor is a sum that is still to be taken.
    pub unreduced: Vec<AxisRef>,
}

/// What `sdy.manual_computation` says of its region, which is written for one device of the manual axes. Along the
/// other axes it sees whole tensors.
#[derive(Debug, Clone, PartialEq)]
pub struct ManualComputation {
    /// How operands are split; parameters of the region have the local shapes.
    pub in_shardings: Vec<TensorSharding>,
    /// How results are put together.
    pub out_shardings: Vec<TensorSharding>,
    /// The names of the manual axes, in the order of the mesh.
    pub manual_axes: Vec<String>,
}

/// For each dimension of a tensor, the factors that it is made of, major to minor.
pub type TensorMapping = Vec<Vec<usize>>;

/// How shardings of an op's operands and results belong together: dimensions with a factor in common are split alike.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShardingRule {
    /// The sizes of the factors.
    pub factors: Vec<usize>,
    /// One for each operand.
    pub operands: Vec<TensorMapping>,
    /// One for each result.
    pub results: Vec<TensorMapping>,
    /// Factors that are summed over.
    pub reduction: Vec<usize>,
    /// Factors that must not be split when the op runs.
    pub need_replication: Vec<usize>,
    /// Factors along which data moves when they are split.
    pub permutation: Vec<usize>,
    /// Factors along which nothing is propagated.
    pub blocked_propagation: Vec<usize>,
    /// Whether a user gave it.
    pub custom: bool,
}

impl Mesh {
    /// The number of devices; saturates.
    pub fn size(&self) -> usize {
        self.axes.iter().fold(1, |size, (_, axis)| size.saturating_mul(*axis))
    }

    /// The place and the size of an axis.
    pub fn axis(&self, name: &str) -> Option<(usize, usize)> {
        let index = self.axes.iter().position(|(axis, _)| axis == name)?;
        Some((index, self.axes[index].1))
    }

    /// The only device of a maximal mesh.
    pub fn maximal_device(&self) -> Option<usize> {
        match (&*self.axes, &*self.device_ids) {
            ([], [device]) => Some(*device),
            _ => None,
        }
    }

    /// The logical id of the device at a place, counted with the last axis as the minor one.
    pub fn device_at(&self, place: usize) -> usize {
        self.device_ids.get(place).copied().unwrap_or(place)
    }

    /// The index along each axis of the device at a place.
    pub fn coordinates(&self, mut place: usize) -> Vec<usize> {
        let mut coordinates = vec![0; self.axes.len()];
        for (index, (_, size)) in self.axes.iter().enumerate().rev() {
            coordinates[index] = place % (*size).max(1);
            place /= (*size).max(1);
        }
        coordinates
    }

    /// Checks that names and sizes make a mesh.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<(), Error> {
        for (index, (name, size)) in self.axes.iter().enumerate() {
            if *size == 0 || self.axes[..index].iter().any(|(other, _)| other == name) {
                return Err(Error::invalid(format!(
                    "the axes of the mesh {self} must have at least one device and different names"
                )));
            }
        }
        let mut ids = self.device_ids.clone();
        ids.sort_unstable();
        let all = ids.iter().copied().eq(0..self.size());
        if self.size() > MOST_DEVICES || !(self.device_ids.is_empty() || all || self.maximal_device().is_some()) {
            return Err(Error::invalid(format!("the mesh {self} must have each of its devices once")));
        }
        Ok(())
    }
}

/// More devices than any program has.
const MOST_DEVICES: usize = 1 << 20;

impl AxisRef {
    /// A whole axis.
    pub fn new(name: impl Into<String>) -> AxisRef {
        AxisRef { name: name.into(), sub_axis: None }
    }

    /// Its size in `mesh`; 1 if the mesh does not have it.
    pub fn size(&self, mesh: &Mesh) -> usize {
        match self.sub_axis {
            Some(sub) => sub.size,
            None => mesh.axis(&self.name).map_or(1, |(_, size)| size),
        }
    }

    /// The index along it of the device at `coordinates`.
    pub fn index(&self, mesh: &Mesh, coordinates: &[usize]) -> usize {
        let Some((axis, size)) = mesh.axis(&self.name) else { return 0 };
        match self.sub_axis {
            None => coordinates[axis],
            Some(sub) => {
                let post = size / (sub.pre_size * sub.size).max(1);
                coordinates[axis] / post.max(1) % sub.size.max(1)
            }
        }
    }
}

impl DimSharding {
    /// A dimension split over these axes and no others.
    pub fn closed(axes: Vec<AxisRef>) -> DimSharding {
        DimSharding { axes, closed: true, priority: None }
    }
}

impl TensorSharding {
    /// A sharding of `rank` dimensions, none of which is split.
    pub fn replicated(mesh: MeshRef, rank: usize) -> TensorSharding {
        let dims = vec![DimSharding::closed(Vec::new()); rank];
        TensorSharding { mesh, dims, replicated: Vec::new(), unreduced: Vec::new() }
    }

    /// Into how many parts each dimension is split by the axes that `counts` accepts.
    pub fn tiles(&self, mesh: &Mesh, counts: impl Fn(&AxisRef) -> bool) -> Vec<usize> {
        let size = |axis: &AxisRef| if counts(axis) { axis.size(mesh) } else { 1 };
        let product = |dim: &DimSharding| dim.axes.iter().fold(1usize, |all, axis| all.saturating_mul(size(axis)));
        self.dims.iter().map(product).collect()
    }

    /// Which of the [`tiles`](TensorSharding::tiles) of each dimension the device at `coordinates` has.
    pub fn tile(&self, mesh: &Mesh, coordinates: &[usize], counts: impl Fn(&AxisRef) -> bool) -> Vec<usize> {
        let step = |index: usize, axis: &&AxisRef| index * axis.size(mesh) + axis.index(mesh, coordinates);
        let index = |dim: &DimSharding| {
            let counted: Vec<&AxisRef> = dim.axes.iter().filter(|axis| counts(axis)).collect();
            counted.iter().fold(0, step)
        };
        self.dims.iter().map(index).collect()
    }

    /// Every axis that it names.
    pub fn axes(&self) -> impl Iterator<Item = &AxisRef> {
        self.dims.iter().flat_map(|dim| &dim.axes).chain(&self.replicated).chain(&self.unreduced)
    }

    /// Checks it for a tensor of `rank` dimensions: axes are those of the mesh, and each is used once.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self, mesh: &Mesh, rank: usize) -> Result<(), Error> {
        let wrong = |what: String| Err(Error::invalid(format!("the sharding {self} {what}")));
        if mesh.maximal_device().is_some() {
            return if self.axes().next().is_none() {
                Ok(())
            } else {
                wrong("names axes, but its mesh is a single device".into())
            };
        }
        if self.dims.len() != rank {
            return wrong(format!("has {} dimensions, but the tensor has rank {rank}", self.dims.len()));
        }
        let mut used: Vec<(&str, usize, usize)> = Vec::new();
        for axis in self.axes() {
            let Some((_, size)) = mesh.axis(&axis.name) else {
                return wrong(format!("names the axis \"{}\", which the mesh {mesh} does not have", axis.name));
            };
            let (start, end) = match axis.sub_axis {
                None => (1, size),
                Some(SubAxis { pre_size, size: part }) => match pre_size.checked_mul(part) {
                    Some(end) if pre_size > 0 && part > 1 && size.is_multiple_of(end) => (pre_size, end),
                    _ => {
                        return wrong(format!("names an invalid part of the axis \"{}\" of {size} devices", axis.name));
                    }
                },
            };
            if used.iter().any(|&(name, from, to)| name == axis.name && (start < to && from < end || size == 1)) {
                return wrong(format!("uses the axis \"{}\" twice", axis.name));
            }
            used.push((&axis.name, start, end));
        }
        Ok(())
    }
}
