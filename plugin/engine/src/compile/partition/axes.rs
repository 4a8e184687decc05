//! The axes of a program's meshes, and shardings expressed in them.

use oxcall_hlo::Module;
use oxcall_hlo::sharding::{AxisRef, Mesh, MeshRef, TensorSharding, Tiling};

/// A prime factor of an axis, by its number: an axis of 8 devices has three atoms of size 2.
pub(super) type Atom = u16;

/// The meshes of a program, with each axis split into prime factors, major to minor. Meshes that order the devices
/// alike, or whose axes step over them differently, share factors.
#[derive(Debug)]
pub(super) struct Axes<'m> {
    module: &'m Module,
    /// The first one has all atoms.
    meshes: Vec<MeshAxes<'m>>,
    atoms: Vec<Step>,
}

/// A step from one device to the next along an atom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    /// The distance in places of the first mesh.
    stride: usize,
    size: usize,
}

#[derive(Debug)]
struct MeshAxes<'m> {
    mesh: &'m Mesh,
    /// The parts of each axis, major to minor.
    axes: Vec<Vec<Part>>,
}

/// An atom as a part of an axis.
#[derive(Debug, Clone, Copy)]
struct Part {
    atom: Atom,
    /// The product of the sizes of the parts before it.
    pre: usize,
    size: usize,
}

/// The sharding of one tensor, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct State {
    pub(super) dims: Vec<Dim>,
    /// The atoms that must not split any of its dimensions.
    pub(super) replicated: Vec<Atom>,
}

/// The sharding of one dimension.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Dim {
    /// Major to minor.
    pub(super) atoms: Vec<Atom>,
    /// Whether it must not be split further.
    pub(super) closed: bool,
    /// Its sharding from a later priority on.
    pub(super) later: Option<Later>,
}

/// The sharding of a dimension once the axes of earlier priorities have been propagated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Later {
    pub(super) priority: u64,
    pub(super) atoms: Vec<Atom>,
    pub(super) closed: bool,
}

impl State {
    /// The state of a tensor of `rank` dimensions about which nothing is known.
    pub(super) fn open(rank: usize) -> State {
        State { dims: vec![Dim::default(); rank], replicated: Vec::new() }
    }

    /// The state of a tensor that each device holds whole.
    pub(super) fn closed(rank: usize) -> State {
        State { dims: vec![Dim { closed: true, ..Dim::default() }; rank], replicated: Vec::new() }
    }

    /// The number of axes that split dimensions.
    pub(super) fn axis_count(&self) -> usize {
        self.dims.iter().map(|dim| dim.atoms.len()).sum()
    }
}

impl<'m> Axes<'m> {
    /// The meshes over all devices, if the program has any.
    pub(super) fn of_program(module: &'m Module, devices: usize) -> Option<Axes<'m>> {
        let fits = |mesh: &&Mesh| !mesh.axes.is_empty() && mesh.size() == devices;
        let mut meshes = module.meshes.iter().map(|(_, mesh)| mesh).filter(fits);
        let first = meshes.next()?;
        let mut axes = Axes { module, meshes: Vec::new(), atoms: Vec::new() };
        axes.add_first(first);
        meshes.for_each(|mesh| axes.add(mesh));
        Some(axes)
    }

    fn add_first(&mut self, mesh: &'m Mesh) {
        let mut parts = Vec::new();
        let mut stride = mesh.size();
        for &(_, size) in &mesh.axes {
            let mut axis = prime_parts(size);
            for part in &mut axis {
                stride /= part.size;
                part.atom = self.atoms.len() as Atom;
                self.atoms.push(Step { stride, size: part.size });
            }
            parts.push(axis);
        }
        self.meshes.push(MeshAxes { mesh, axes: parts });
    }

    /// Adds a mesh if its axes are made of atoms.
    fn add(&mut self, mesh: &'m Mesh) {
        let first = self.meshes[0].mesh;
        let mut place_of = vec![0; first.size()];
        (0..first.size()).for_each(|place| place_of[first.device_at(place)] = place);
        let mut axes = Vec::new();
        let mut inner = mesh.size();
        for &(_, size) in &mesh.axes {
            let mut axis = prime_parts(size);
            for part in &mut axis {
                inner /= part.size;
                // The place to which one step along the part leads.
                let stride = place_of[mesh.device_at(inner)];
                let step = Step { stride, size: part.size };
                let Some(atom) = self.atoms.iter().position(|atom| *atom == step) else { return };
                part.atom = atom as Atom;
            }
            axes.push(axis);
        }
        // All other devices must also be where the steps lead.
        let place = |mut at: usize| {
            let mut place = 0;
            for part in axes.iter().flatten().rev() {
                place += at % part.size * self.atoms[usize::from(part.atom)].stride;
                at /= part.size;
            }
            place
        };
        if (0..mesh.size()).all(|at| place(at) == place_of[mesh.device_at(at)]) {
            self.meshes.push(MeshAxes { mesh, axes });
        }
    }

    /// The number of devices along an atom.
    pub(super) fn size(&self, atom: Atom) -> usize {
        self.atoms[usize::from(atom)].size
    }

    /// The number of devices along atoms.
    pub(super) fn product(&self, atoms: &[Atom]) -> usize {
        atoms.iter().map(|&atom| self.size(atom)).product()
    }

    /// The state of a sharding; `None` if its mesh is not one of these.
    pub(super) fn state(&self, sharding: &TensorSharding) -> Option<State> {
        let mesh = self.module.mesh(&sharding.mesh).ok()?;
        let axes = self.meshes.iter().find(|axes| axes.mesh == mesh)?;
        let all =
            |refs: &[AxisRef]| Some(refs.iter().map(|axis| axes.atoms_of(axis)).collect::<Option<Vec<_>>>()?.concat());
        let dims = sharding.dims.iter().map(|dim| {
            let (atoms, closed) = (all(&dim.axes)?, dim.closed);
            Some(match dim.priority.filter(|&priority| priority > 0) {
                None => Dim { atoms, closed, later: None },
                Some(priority) => Dim { later: Some(Later { priority, atoms, closed }), ..Dim::default() },
            })
        });
        let mut replicated = all(&sharding.replicated)?;
        replicated.extend(all(&sharding.unreduced)?);
        Some(State { dims: dims.collect::<Option<_>>()?, replicated })
    }

    /// The names of the axes of the first mesh.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        self.meshes[0].mesh.axes.iter().map(|(name, _)| name.clone())
    }

    /// The axes of the first mesh that these atoms form; each is whole.
    pub(super) fn refs(&self, atoms: &[Atom]) -> Vec<AxisRef> {
        let MeshAxes { mesh, axes } = &self.meshes[0];
        let starts = |atom: &Atom| axes.iter().position(|axis| axis.first().is_some_and(|part| part.atom == *atom));
        atoms.iter().filter_map(starts).map(|axis| AxisRef::new(mesh.axes[axis].0.as_str())).collect()
    }

    /// The first mesh, as shardings refer to it.
    pub(super) fn mesh_ref(&self) -> MeshRef {
        let first = self.meshes[0].mesh;
        let name = self.module.meshes.iter().find(|(_, mesh)| mesh == first).map(|(name, _)| name.clone());
        name.map_or_else(|| MeshRef::Inline(first.clone()), MeshRef::Named)
    }

    /// The atoms of axes, from any mesh that has them.
    pub(super) fn named(&self, names: &[String]) -> Vec<Atom> {
        let atoms = |name: &String| self.meshes.iter().find_map(|mesh| mesh.atoms_of(&AxisRef::new(name.as_str())));
        names.iter().filter_map(atoms).flatten().collect()
    }

    /// The part of a tensor of these dimensions that each device holds. Only whole axes split a dimension, as many as
    /// divide it: callers that read the shardings of results cannot express others.
    pub(super) fn tiling(&self, state: &State, dims: &[usize]) -> Tiling {
        let split: Vec<&[Atom]> = state
            .dims
            .iter()
            .zip(dims)
            .map(|(dim, &size)| {
                let whole = self.meshes.iter().map(|mesh| self.whole_axes_of(mesh, &dim.atoms, size));
                whole.max_by_key(|atoms| atoms.len()).unwrap_or_default()
            })
            .collect();
        let tiles: Vec<usize> = split.iter().map(|atoms| self.product(atoms)).collect();
        let first = self.meshes[0].mesh;
        let mut tile_of = vec![0; first.size()];
        for place in 0..tile_of.len() {
            let step = |index: usize, &atom: &Atom| {
                let Step { stride, size } = self.atoms[usize::from(atom)];
                index * size + place / stride % size
            };
            let linear = split.iter().flat_map(|atoms| atoms.iter()).fold(0, step);
            tile_of[first.device_at(place)] = linear;
        }
        Tiling::new(tiles, tile_of).expect("indices are below their counts")
    }

    /// The leading atoms that form whole axes of the first mesh and divide a dimension.
    pub(super) fn whole_axes<'a>(&self, atoms: &'a [Atom], size: usize) -> &'a [Atom] {
        self.whole_axes_of(&self.meshes[0], atoms, size)
    }

    fn whole_axes_of<'a>(&self, mesh: &MeshAxes<'_>, atoms: &'a [Atom], size: usize) -> &'a [Atom] {
        let mut end = 0;
        while let Some(&first) = atoms.get(end) {
            let starts = |axis: &&Vec<Part>| axis.first().is_some_and(|part| part.atom == first);
            let Some(axis) = mesh.axes.iter().find(starts) else { break };
            let next = end + axis.len();
            let whole = atoms.get(end..next).is_some_and(|atoms| atoms.iter().eq(axis.iter().map(|part| &part.atom)));
            if !whole || !size.is_multiple_of(self.product(&atoms[..next])) {
                break;
            }
            end = next;
        }
        &atoms[..end]
    }
}

impl MeshAxes<'_> {
    /// The atoms of an axis or a part of one; `None` if no atoms form it.
    fn atoms_of(&self, axis: &AxisRef) -> Option<Vec<Atom>> {
        let (index, size) = self.mesh.axis(&axis.name)?;
        let (start, end) = axis.sub_axis.map_or((1, size), |sub| (sub.pre_size, sub.pre_size * sub.size));
        let inside = self.axes[index].iter().filter(|part| part.pre >= start && part.pre * part.size <= end);
        let covered: usize = inside.clone().map(|part| part.size).product();
        (covered == end / start).then(|| inside.map(|part| part.atom).collect())
    }
}

/// The prime factors of an axis of `size` devices; their atoms are not known yet.
fn prime_parts(size: usize) -> Vec<Part> {
    let (mut parts, mut pre) = (Vec::new(), 1);
    while pre < size {
        let rest = size / pre;
        let prime = (2..=rest).find(|&factor| rest.is_multiple_of(factor)).unwrap_or(rest);
        parts.push(Part { atom: 0, pre, size: prime });
        pre *= prime;
    }
    parts
}
