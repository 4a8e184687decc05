//! Groups of processes that are given as axes of a mesh.

use std::collections::HashMap;

use super::{AxisRef, DimSharding, Mesh, MeshRef, TensorSharding};
use crate::Error;

impl Mesh {
    /// The ids of the devices in groups: those of one group differ along `axes` only, and are in the order of `axes`,
    /// major to minor.
    ///
    /// # Errors
    /// If the mesh does not have the axes, or they overlap.
    pub fn groups(&self, axes: &[AxisRef]) -> Result<Vec<Vec<i64>>, Error> {
        if self.maximal_device().is_some() {
            return Err(Error::invalid(format!("the mesh {self} of a single device has no groups")));
        }
        let split = TensorSharding {
            mesh: MeshRef::Inline(self.clone()),
            dims: vec![DimSharding::closed(axes.to_vec())],
            replicated: Vec::new(),
            unreduced: Vec::new(),
        };
        split.check(self, 1)?;
        let size = split.tiles(self, |_| true)[0];
        let mut of: HashMap<usize, usize> = HashMap::new();
        let mut groups = Vec::with_capacity(self.size() / size.max(1));
        for place in 0..self.size() {
            let coordinates = self.coordinates(place);
            let member = split.tile(self, &coordinates, |_| true)[0];
            let group = *of.entry(self.first_of(axes, coordinates)).or_insert_with(|| {
                groups.push(vec![0; size]);
                groups.len() - 1
            });
            groups[group][member] = self.device_at(place) as i64;
        }
        Ok(groups)
    }

    /// The first place that differs from the one at `coordinates` along `axes` only.
    fn first_of(&self, axes: &[AxisRef], mut coordinates: Vec<usize>) -> usize {
        for axis in axes {
            let Some((index, size)) = self.axis(&axis.name) else { continue };
            let step = axis.sub_axis.map_or(1, |sub| size / (sub.pre_size * sub.size).max(1));
            coordinates[index] -= axis.index(self, &coordinates) * step;
        }
        self.axes.iter().zip(coordinates).fold(0, |place, ((_, size), index)| place * size + index)
    }
}

/// The mesh that `mesh` says, with the module's meshes as they are known so far.
pub(crate) fn mesh_called<'m>(meshes: &'m [(String, Mesh)], mesh: &'m MeshRef) -> Result<&'m Mesh, Error> {
    match mesh {
        MeshRef::Inline(mesh) => Ok(mesh),
        MeshRef::Named(name) => match meshes.iter().find(|(known, _)| known == name) {
            Some((_, mesh)) => Ok(mesh),
            None => Err(Error::invalid(format!("the mesh @{name} is not defined before it is used"))),
        },
    }
}

/// About the memory that the groups take, and what they are made of: much more than the attribute.
pub(crate) fn bytes_of_groups(mesh: &Mesh, axes: &[AxisRef]) -> usize {
    let names: usize =
        mesh.axes.iter().map(|(name, _)| name.len()).chain(axes.iter().map(|axis| axis.name.len())).sum();
    let devices = mesh.size().saturating_mul(size_of::<Vec<i64>>() + 3 * size_of::<usize>());
    devices.saturating_add(2 * (names + (mesh.axes.len() + axes.len()) * size_of::<AxisRef>()))
}

#[cfg(test)]
mod tests {
    use super::super::SubAxis;
    use super::*;

    fn mesh(axes: &[(&str, usize)], device_ids: &[usize]) -> Mesh {
        let axes = axes.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect();
        Mesh { axes, device_ids: device_ids.to_vec() }
    }

    fn part(name: &str, pre_size: usize, size: usize) -> AxisRef {
        AxisRef { name: name.into(), sub_axis: Some(SubAxis { pre_size, size }) }
    }

    #[test]
    fn whole_axes_in_their_order() {
        let mesh = mesh(&[("x", 2), ("y", 3)], &[]);
        let (x, y) = (AxisRef::new("x"), AxisRef::new("y"));
        assert_eq!(mesh.groups(std::slice::from_ref(&x)).unwrap(), [[0, 3], [1, 4], [2, 5]]);
        assert_eq!(mesh.groups(std::slice::from_ref(&y)).unwrap(), [[0, 1, 2], [3, 4, 5]]);
        assert_eq!(mesh.groups(&[x.clone(), y.clone()]).unwrap(), [[0, 1, 2, 3, 4, 5]]);
        assert_eq!(mesh.groups(&[y, x]).unwrap(), [[0, 3, 1, 4, 2, 5]]);
        assert_eq!(mesh.groups(&[]).unwrap(), [[0], [1], [2], [3], [4], [5]]);
    }

    #[test]
    fn parts_of_axes_and_ids_of_devices() {
        let eight = mesh(&[("x", 8)], &[]);
        assert_eq!(eight.groups(&[part("x", 1, 2)]).unwrap(), [[0, 4], [1, 5], [2, 6], [3, 7]]);
        assert_eq!(eight.groups(&[part("x", 2, 2)]).unwrap(), [[0, 2], [1, 3], [4, 6], [5, 7]]);
        assert_eq!(eight.groups(&[part("x", 4, 2), part("x", 1, 2)]).unwrap(), [[0, 4, 1, 5], [2, 6, 3, 7]]);
        let other = mesh(&[("x", 2), ("y", 2)], &[3, 2, 1, 0]);
        assert_eq!(other.groups(&[AxisRef::new("y")]).unwrap(), [[3, 2], [1, 0]]);
    }

    #[test]
    fn what_the_mesh_does_not_have() {
        let mesh = mesh(&[("x", 4)], &[]);
        let error = |axes: &[AxisRef]| mesh.groups(axes).unwrap_err().to_string();
        assert!(error(&[AxisRef::new("z")]).contains("names the axis \"z\", which the mesh [\"x\"=4] does not have"));
        assert!(error(&[AxisRef::new("x"), AxisRef::new("x")]).contains("uses the axis \"x\" twice"));
        assert!(error(&[part("x", 1, 3)]).contains("names an invalid part of the axis \"x\" of 4 devices"));
        assert!(self::mesh(&[], &[0]).groups(&[]).is_err());
    }
}
