//! The axes of a program's mesh, and shardings in terms of them.

use oxcall_hlo::{
    Module,
    sharding::{AxisRef, Mesh, MeshRef, TensorSharding, Tiling},
};

/// A prime part of an axis, by its number: an axis of 8 devices has three of size 2.
pub(super) type Atom = u16;

/// The mesh that the shardings of a program share, each axis in its prime parts, major to minor.
#[derive(Debug)]
pub(super) struct Axes<'m> {
    module: &'m Module,
    mesh: &'m Mesh,
    atoms: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    /// The axis.
    axis: usize,
    /// The product of the parts before it.
    pre: usize,
    size: usize,
}

/// How one tensor is split, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct State {
    pub(super) dims: Vec<Dim>,
    /// What may split none of its dimensions.
    pub(super) replicated: Vec<Atom>,
}

/// How one dimension is split.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Dim {
    /// Major to minor.
    pub(super) atoms: Vec<Atom>,
    /// Whether it may not be split further.
    pub(super) closed: bool,
}

impl State {
    /// Nothing is known of a tensor of `rank` dimensions.
    pub(super) fn open(rank: usize) -> State {
        State { dims: vec![Dim::default(); rank], replicated: Vec::new() }
    }

    /// A tensor of which each device has all.
    pub(super) fn closed(rank: usize) -> State {
        State { dims: vec![Dim { atoms: Vec::new(), closed: true }; rank], replicated: Vec::new() }
    }
}

impl<'m> Axes<'m> {
    /// The mesh of all devices, if the program has one. If there are several, the first counts.
    pub(super) fn of_program(module: &'m Module, devices: usize) -> Option<Axes<'m>> {
        let fits = |mesh: &&Mesh| !mesh.axes.is_empty() && mesh.size() == devices;
        let mesh = module.meshes.iter().map(|(_, mesh)| mesh).find(fits)?;
        let mut atoms = Vec::new();
        for (axis, &(_, size)) in mesh.axes.iter().enumerate() {
            let mut pre = 1;
            while pre < size {
                let rest = size / pre;
                let prime = (2..=rest).find(|&factor| rest.is_multiple_of(factor)).unwrap_or(rest);
                atoms.push(Part { axis, pre, size: prime });
                pre *= prime;
            }
        }
        Some(Axes { module, mesh, atoms })
    }

    /// The number of devices along an atom.
    pub(super) fn size(&self, atom: Atom) -> usize {
        self.atoms[usize::from(atom)].size
    }

    /// The number of devices along atoms.
    pub(super) fn product(&self, atoms: &[Atom]) -> usize {
        atoms.iter().map(|&atom| self.size(atom)).product()
    }

    /// The atoms of an axis or a part of one; `None` if they do not make it up.
    fn atoms_of(&self, axis: &AxisRef) -> Option<Vec<Atom>> {
        let (index, size) = self.mesh.axis(&axis.name)?;
        let (start, end) = axis.sub_axis.map_or((1, size), |sub| (sub.pre_size, sub.pre_size * sub.size));
        let inside = |part: &Part| part.axis == index && part.pre >= start && part.pre * part.size <= end;
        let atoms: Vec<Atom> = (0..).zip(&self.atoms).filter(|(_, part)| inside(part)).map(|(atom, _)| atom).collect();
        (self.product(&atoms) == end / start).then_some(atoms)
    }

    /// A sharding of this mesh; `None` if it is of another one.
    pub(super) fn state(&self, sharding: &TensorSharding) -> Option<State> {
        if self.module.mesh(&sharding.mesh).ok()? != self.mesh {
            return None;
        }
        let all = |axes: &[AxisRef]| axes.iter().map(|axis| self.atoms_of(axis)).collect::<Option<Vec<_>>>();
        let dims = sharding.dims.iter().map(|dim| Some(Dim { atoms: all(&dim.axes)?.concat(), closed: dim.closed }));
        let mut replicated = all(&sharding.replicated)?.concat();
        replicated.extend(all(&sharding.unreduced)?.concat());
        Some(State { dims: dims.collect::<Option<_>>()?, replicated })
    }

    /// The names of the axes.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        self.mesh.axes.iter().map(|(name, _)| name.clone())
    }

    /// The axes that atoms make up, which are whole.
    pub(super) fn refs(&self, atoms: &[Atom]) -> Vec<AxisRef> {
        let first = atoms.iter().map(|&atom| &self.atoms[usize::from(atom)]).filter(|part| part.pre == 1);
        first.map(|part| AxisRef::new(self.mesh.axes[part.axis].0.as_str())).collect()
    }

    /// The mesh as shardings name it.
    pub(super) fn mesh_ref(&self) -> MeshRef {
        let name = self.module.meshes.iter().find(|(_, mesh)| mesh == self.mesh).map(|(name, _)| name.clone());
        name.map_or_else(|| MeshRef::Inline(self.mesh.clone()), MeshRef::Named)
    }

    /// The atoms of axes.
    pub(super) fn named(&self, names: &[String]) -> Vec<Atom> {
        names.iter().filter_map(|name| self.atoms_of(&AxisRef::new(name.as_str()))).flatten().collect()
    }

    /// Which device has which part of a tensor of these dimensions. Only whole axes split it, and as many as divide it: who
    /// reads the shardings of results can say no others.
    pub(super) fn tiling(&self, state: &State, dims: &[usize]) -> Tiling {
        let split: Vec<&[Atom]> =
            state.dims.iter().zip(dims).map(|(dim, &size)| self.whole_axes(&dim.atoms, size)).collect();
        let tiles: Vec<usize> = split.iter().map(|atoms| self.product(atoms)).collect();
        let mut tile_of = vec![0; self.mesh.size()];
        for place in 0..tile_of.len() {
            let coordinates = self.mesh.coordinates(place);
            let step = |index: usize, &atom: &Atom| {
                let Part { axis, pre, size } = self.atoms[usize::from(atom)];
                let post = self.mesh.axes[axis].1 / (pre * size);
                index * size + coordinates[axis] / post % size
            };
            let linear = split.iter().flat_map(|atoms| atoms.iter()).fold(0, step);
            tile_of[self.mesh.device_at(place)] = linear;
        }
        Tiling::new(tiles, tile_of).expect("indices are below their counts")
    }

    /// The first of the atoms that make whole axes and divide a dimension.
    pub(super) fn whole_axes<'a>(&self, atoms: &'a [Atom], size: usize) -> &'a [Atom] {
        let mut end = 0;
        while let Some(&first) = atoms.get(end) {
            let Part { axis, pre, .. } = self.atoms[usize::from(first)];
            let whole = (0..).zip(&self.atoms).filter(|(_, part)| part.axis == axis).map(|(atom, _)| atom);
            let next = end + whole.clone().count();
            let complete = pre == 1 && atoms.get(end..next).is_some_and(|atoms| atoms.iter().copied().eq(whole));
            if !complete || !size.is_multiple_of(self.product(&atoms[..next])) {
                break;
            }
            end = next;
        }
        &atoms[..end]
    }
}
