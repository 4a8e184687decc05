//! Tilings: the part of a tensor that each device has.

use super::{MeshRef, TensorSharding};
use crate::{Error, Module};

/// A tensor in tiles of one size, the last of them padded, and the tile that each device has. Several devices may have
/// the same one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tiling {
    /// Into how many tiles each dimension is split.
    tiles: Vec<usize>,
    /// The tile of each device, counted with the last dimension as the minor one.
    tile_of: Vec<usize>,
}

impl Tiling {
    /// A tensor of `rank` dimensions of which each of `devices` devices has a copy.
    pub fn replicated(rank: usize, devices: usize) -> Tiling {
        Tiling { tiles: vec![1; rank], tile_of: vec![0; devices] }
    }

    /// Tiles, and the tile of each device.
    ///
    /// # Errors
    /// If a device has a tile that does not exist.
    pub fn new(tiles: Vec<usize>, tile_of: Vec<usize>) -> Result<Tiling, Error> {
        let count = tiles.iter().try_fold(1usize, |count, &tiles| count.checked_mul(tiles));
        if count.is_none_or(|count| tile_of.iter().any(|&tile| tile >= count)) {
            return Err(Error::invalid(format!(
                "a sharding assigns a device a tile that does not exist: tiles {tiles:?}, by device {tile_of:?}"
            )));
        }
        Ok(Tiling { tiles, tile_of })
    }

    /// How `sharding` splits a tensor of `rank` dimensions over the devices of `module`.
    ///
    /// # Errors
    /// If the sharding does not fit the mesh, or the mesh not the devices.
    pub fn of(sharding: &TensorSharding, module: &Module, rank: usize, devices: usize) -> Result<Tiling, Error> {
        let mesh = module.mesh(&sharding.mesh)?;
        sharding.check(mesh, rank)?;
        if mesh.maximal_device().is_some() || mesh.axes.is_empty() {
            return Ok(Tiling::replicated(rank, devices));
        }
        if mesh.size() != devices {
            let name = match &sharding.mesh {
                MeshRef::Named(name) => format!("@{name} "),
                MeshRef::Inline(_) => String::new(),
            };
            let message = format!("the mesh {name}{mesh} has {} devices, but the program has {devices}", mesh.size());
            return Err(Error::invalid(message));
        }
        let tiles = sharding.tiles(mesh, |_| true);
        let mut tile_of = vec![0; devices];
        for place in 0..devices {
            let tile = sharding.tile(mesh, &mesh.coordinates(place), |_| true);
            let linear = tile.iter().zip(&tiles).fold(0, |linear, (&index, &count)| linear * count + index);
            tile_of[mesh.device_at(place)] = linear;
        }
        Tiling::new(tiles, tile_of)
    }

    /// The same of an array whose dimensions are `order` of this one's.
    #[must_use]
    pub fn in_order(&self, order: &[usize]) -> Tiling {
        let tiles: Vec<usize> = order.iter().map(|&dim| self.tiles[dim]).collect();
        // Where a tile is along each dimension is its start, if tiles have size 1.
        let linear = |&tile: &usize| {
            let place = self.start(tile, &vec![1; self.tiles.len()]);
            order.iter().fold(0, |linear, &dim| linear * self.tiles[dim] + place[dim])
        };
        Tiling { tile_of: self.tile_of.iter().map(linear).collect(), tiles }
    }

    /// Into how many tiles each dimension is split.
    pub fn tiles(&self) -> &[usize] {
        &self.tiles
    }

    /// The number of devices.
    pub fn devices(&self) -> usize {
        self.tile_of.len()
    }

    /// The tile of a device, counted with the last dimension as the minor one.
    pub fn tile_of(&self, device: usize) -> usize {
        self.tile_of[device]
    }

    /// Whether every device has all of it.
    pub fn is_replicated(&self) -> bool {
        self.tiles.iter().all(|&tiles| tiles == 1)
    }

    /// Whether the tiles of a tensor of these dimensions are full: no dimension needs padding.
    pub fn divides(&self, dims: &[usize]) -> bool {
        dims.iter().zip(&self.tiles).all(|(size, tiles)| size.is_multiple_of(*tiles))
    }

    /// The dimensions of a tile of a tensor of these dimensions. Where they do not divide, the last tiles are padded,
    /// as XLA pads them: five elements in four tiles are two, two, one and none.
    pub fn tile_dims(&self, dims: &[usize]) -> Vec<usize> {
        dims.iter().zip(&self.tiles).map(|(size, tiles)| size.div_ceil(*tiles)).collect()
    }

    /// The first index in each dimension of a tile, whose dimensions are `tile_dims`.
    pub fn start(&self, mut tile: usize, tile_dims: &[usize]) -> Vec<usize> {
        let mut start = vec![0; self.tiles.len()];
        for dim in (0..self.tiles.len()).rev() {
            start[dim] = tile % self.tiles[dim] * tile_dims[dim];
            tile /= self.tiles[dim];
        }
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sharding::{AxisRef, DimSharding, Mesh, SubAxis};

    fn mesh() -> Mesh {
        Mesh { axes: vec![("x".into(), 4), ("y".into(), 2)], device_ids: Vec::new() }
    }

    fn tiling(dims: Vec<Vec<AxisRef>>, mesh: Mesh) -> Result<Tiling, Error> {
        let dims: Vec<_> = dims.into_iter().map(DimSharding::closed).collect();
        let (rank, replicated, unreduced) = (dims.len(), Vec::new(), Vec::new());
        let sharding = TensorSharding { mesh: MeshRef::Inline(mesh), dims, replicated, unreduced };
        let module = crate::parse_text("func.func @main() { return }").unwrap();
        Tiling::of(&sharding, &module, rank, 8)
    }

    #[test]
    fn axes_split_dimensions_major_to_minor() {
        let [x, y] = ["x", "y"].map(AxisRef::new);
        let both = tiling(vec![vec![y.clone(), x.clone()]], mesh()).unwrap();
        assert_eq!(both.tiles(), [8]);
        assert_eq!((0..8).map(|device| both.tile_of(device)).collect::<Vec<_>>(), [0, 4, 1, 5, 2, 6, 3, 7]);
        let apart = tiling(vec![vec![y], vec![x.clone()]], mesh()).unwrap();
        assert_eq!((apart.tiles(), apart.tile_of(5)), (&[2, 4][..], 6));
        assert_eq!(apart.tile_dims(&[6, 8]), [3, 2]);
        assert_eq!(apart.start(6, &[3, 2]), [3, 4]);
        let turned = apart.in_order(&[1, 0]);
        assert_eq!(
            (turned.tiles(), turned.tile_of(5), turned.start(turned.tile_of(5), &[2, 3])),
            (&[4, 2][..], 5, vec![4, 3])
        );
        assert_eq!(
            (apart.tile_dims(&[5, 8]), apart.divides(&[5, 8]), apart.divides(&[6, 8])),
            (vec![3, 2], false, true)
        );
        let reversed = Mesh { device_ids: (0..8).rev().collect(), ..mesh() };
        let rows = tiling(vec![vec![x], vec![]], reversed).unwrap();
        assert_eq!((0..8).map(|device| rows.tile_of(device)).collect::<Vec<_>>(), [3, 3, 2, 2, 1, 1, 0, 0]);
    }

    #[test]
    fn parts_of_axes() {
        let part = |pre_size, size| AxisRef { name: "x".into(), sub_axis: Some(SubAxis { pre_size, size }) };
        let minor = tiling(vec![vec![part(2, 2)], vec![part(1, 2)]], mesh()).unwrap();
        assert_eq!((0..8).map(|device| minor.tile_of(device)).collect::<Vec<_>>(), [0, 0, 2, 2, 1, 1, 3, 3]);
        for wrong in [vec![part(1, 3)], vec![part(1, 2), AxisRef::new("x")], vec![AxisRef::new("z")]] {
            assert!(tiling(vec![wrong], mesh()).is_err());
        }
    }
}
