//! Arrays in tiles: where each lies, putting arrays together, and taking them apart.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use oxcall_engine::{Buffer, Engine, Placement};
use oxcall_hlo::TensorType;
use oxcall_hlo::sharding::Tiling;
use oxcall_pjrt::{Error, OpSharding, Result};

/// How a row-major array is split over devices.
pub(crate) struct Split {
    engine: Arc<Engine>,
    tiling: Tiling,
    /// Whether the array is unreduced: the first dimension counts the devices' summands.
    unreduced: bool,
    /// The dimensions of the whole array.
    dims: Vec<usize>,
    /// Those of a tile, of which the last ones are padded where the dimensions do not divide.
    tile_dims: Vec<usize>,
    /// The bytes of an element.
    width: usize,
}

/// Bytes that lie together, in an array and in a tile of it.
struct Run {
    /// Where they start in the array.
    whole: usize,
    /// Where they start in the tile.
    tile: usize,
    /// How many there are.
    len: usize,
}

impl Split {
    /// How an array of this type is split.
    pub(crate) fn new(engine: &Arc<Engine>, placement: impl Into<Placement>, ty: &TensorType) -> Split {
        let Placement { tiling, unreduced } = placement.into();
        let (tile_dims, width) = (tiling.tile_dims(&ty.dims), ty.element.byte_width());
        Split { engine: engine.clone(), tiling, unreduced, dims: ty.dims.to_vec(), tile_dims, width }
    }

    /// The same split of an array whose dimensions lie in another order in memory, the slowest first.
    pub(crate) fn in_order(&self, major_to_minor: &[usize]) -> Split {
        let in_order = |dims: &[usize]| major_to_minor.iter().map(|&dim| dims[dim]).collect();
        Split {
            engine: self.engine.clone(),
            tiling: self.tiling.in_order(major_to_minor),
            unreduced: self.unreduced,
            dims: in_order(&self.dims),
            tile_dims: in_order(&self.tile_dims),
            width: self.width,
        }
    }

    /// Whether the array is unreduced: the first dimension, which clients do not see, counts the devices' summands.
    pub(crate) fn is_unreduced(&self) -> bool {
        self.unreduced
    }

    /// The number of devices.
    pub(crate) fn devices(&self) -> usize {
        self.tiling.devices()
    }

    /// The tile of a device.
    pub(crate) fn tile_of(&self, device: usize) -> usize {
        self.tiling.tile_of(device)
    }

    /// Whether each device has the whole array.
    pub(crate) fn is_replicated(&self) -> bool {
        self.tiling.is_replicated()
    }

    /// The dimensions of what a device has, as clients know it.
    pub(crate) fn client_dims(&self) -> &[usize] {
        &self.tile_dims[usize::from(self.unreduced)..]
    }

    /// Whether a tile of the other has the same place as the one of this that has the same number.
    pub(crate) fn same_tiles(&self, other: &Split) -> bool {
        self.tiling.tiles() == other.tiling.tiles() && self.dims == other.dims && self.width == other.width
    }

    /// The bytes of the whole array.
    fn bytes(&self) -> usize {
        self.dims.iter().product::<usize>() * self.width
    }

    /// The bytes of a tile.
    pub(crate) fn tile_bytes(&self) -> usize {
        self.tile_dims.iter().product::<usize>() * self.width
    }

    /// The first dimension of which a tile has all, as it has of those after it.
    fn first_full(&self) -> usize {
        let split = (0..self.dims.len()).rev().find(|&dim| self.dims[dim] != self.tile_dims[dim]);
        split.map_or(0, |dim| dim + 1)
    }

    /// The place of a tile in the whole array, if it lies in one piece and needs no padding.
    pub(crate) fn contiguous(&self, tile: usize) -> Option<Range<usize>> {
        let outer = self.first_full().saturating_sub(1);
        let in_one_piece = self.tile_dims[..outer].iter().all(|&size| size == 1) && !self.is_padded(tile);
        in_one_piece.then(|| {
            let start = self.runs(tile).next().map_or(0, |run| run.whole);
            start..start + self.tile_bytes()
        })
    }

    /// The dimensions of the part of a tile that lies in the array; the rest is padding.
    fn extent(&self, tile: usize) -> Vec<usize> {
        let starts = self.tiling.start(tile, &self.tile_dims);
        let inside = |(dim, start): (usize, usize)| self.dims[dim].saturating_sub(start).min(self.tile_dims[dim]);
        starts.into_iter().enumerate().map(inside).collect()
    }

    fn is_padded(&self, tile: usize) -> bool {
        !self.tiling.divides(&self.dims) && self.extent(tile) != self.tile_dims
    }

    /// The pieces of a tile that lie together, in the whole array and in the tile.
    fn runs(&self, tile: usize) -> impl Iterator<Item = Run> + '_ {
        let start = self.tiling.start(tile, &self.tile_dims);
        let extent = self.extent(tile);
        let outer = self.first_full().saturating_sub(1);
        // All of the dimensions behind `outer` is in each tile.
        let len = extent[outer..].iter().product::<usize>() * self.width;
        let count = if len == 0 { 0 } else { extent[..outer].iter().product() };
        (0..count).map(move |number| {
            let (mut rest, mut run) = (number, Run { whole: 0, tile: 0, len });
            let (mut whole_stride, mut tile_stride) = (self.width, self.width);
            for dim in (0..self.dims.len()).rev() {
                let index = if dim < outer { rest % extent[dim] } else { 0 };
                rest /= if dim < outer { extent[dim] } else { 1 };
                run.whole += (start[dim] + index) * whole_stride;
                run.tile += index * tile_stride;
                whole_stride *= self.dims[dim];
                tile_stride *= self.tile_dims[dim];
            }
            run
        })
    }

    /// A copy of a tile of `whole`; its padding is zeros.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if memory is short.
    pub(crate) fn extract(&self, whole: &Buffer, tile: usize) -> Result<Buffer> {
        let mut copy = self.engine.allocate(self.tile_bytes())?;
        let (from, to) = (whole.as_bytes(), copy.as_bytes_mut());
        if self.is_padded(tile) {
            to.fill(0);
        }
        for run in self.runs(tile) {
            to[run.tile..][..run.len].copy_from_slice(&from[run.whole..][..run.len]);
        }
        Ok(copy)
    }

    /// The array of these tiles: for each device, its own. Of tiles that several devices have, the first counts.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if memory is short, and those of `tile`.
    pub(crate) fn gather(&self, mut tile: impl FnMut(usize) -> Result<Arc<Buffer>>) -> Result<Buffer> {
        let mut whole = self.engine.allocate(self.bytes())?;
        let to = whole.as_bytes_mut();
        let mut there = vec![false; self.tiling.tiles().iter().product()];
        for device in 0..self.devices() {
            let number = self.tile_of(device);
            if std::mem::replace(&mut there[number], true) {
                continue;
            }
            let buffer = tile(device)?;
            for run in self.runs(number) {
                to[run.whole..][..run.len].copy_from_slice(&buffer.as_bytes()[run.tile..][..run.len]);
            }
        }
        if there.contains(&false) {
            return Err(Error::invalid_argument("a part of a sharded array is on none of the devices"));
        }
        Ok(whole)
    }

    /// The split as clients are told.
    pub(crate) fn op_sharding(&self) -> OpSharding {
        op_sharding(&self.tiling, self.unreduced)
    }
}

/// A tiling as clients see it: without the dimension of an `unreduced` array's summands.
pub(crate) fn op_sharding(tiling: &Tiling, unreduced: bool) -> OpSharding {
    if tiling.is_replicated() {
        return OpSharding::Replicated;
    }
    let (summands, tiles) = match (unreduced, tiling.tiles()) {
        (true, [summands, tiles @ ..]) => (*summands, tiles),
        (_, tiles) => (1, tiles),
    };
    let parts: usize = tiles.iter().product();
    let copies = tiling.devices() / (parts * summands).max(1);
    // Devices by their tiles, then the copies of each, then the summands: the tiles of different summands are apart.
    let mut seen = vec![0; parts * summands];
    let mut place = |device: usize| {
        let tile = tiling.tile_of(device);
        seen[tile] += 1;
        (tile % parts, seen[tile], tile / parts)
    };
    let mut partitions: Vec<_> = (0..tiling.devices()).map(|device| (place(device), device)).collect();
    partitions.sort_unstable();
    let partitions = partitions.into_iter().map(|(_, device)| device).collect();
    OpSharding::Tiled { tiles: tiles.to_vec(), partitions, copies, summands }
}

impl fmt::Debug for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Split").field("dims", &self.dims).field("tiling", &self.tiling).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use oxcall_engine::EngineOptions;
    use oxcall_hlo::ElementType;

    use super::*;

    fn split(tiles: &[usize], dims: &[usize]) -> Split {
        let engine = Engine::new(EngineOptions::default());
        let count = tiles.iter().product();
        let tiling = Tiling::new(tiles.to_vec(), (0..count).collect()).unwrap();
        Split::new(&engine, tiling, &TensorType::new(ElementType::U8, dims.iter().copied()))
    }

    /// Tiles put together are the array, whatever dimensions are split, and tiles in one piece are where they should.
    #[test]
    fn tiles_and_arrays() {
        for (tiles, dims, in_one_piece) in [
            (&[2, 3][..], &[4, 6][..], false),
            (&[4, 1], &[4, 6], true),
            (&[1, 3], &[1, 6], true),
            (&[1, 3], &[2, 6], false),
            (&[2, 2, 1], &[2, 4, 3], true),
            (&[2, 2, 2], &[4, 4, 4], false),
            (&[1, 1], &[2, 2], true),
            (&[2], &[0], true),
            (&[], &[], true),
        ] {
            let split = split(tiles, dims);
            let bytes: Vec<u8> = (0..split.bytes()).map(|byte| byte as u8).collect();
            let whole = Buffer::copy_of(split.engine.allocator(), &bytes).unwrap();
            for tile in 0..split.devices() {
                let range = split.contiguous(tile);
                assert_eq!(range.is_some(), in_one_piece, "{split:?}");
                if let Some(range) = range {
                    assert_eq!(split.extract(&whole, tile).unwrap().as_bytes(), &bytes[range], "{split:?}");
                }
            }
            let again = split.gather(|device| Ok(Arc::new(split.extract(&whole, device)?))).unwrap();
            assert_eq!(again.as_bytes(), bytes, "{split:?}");
        }
        let quarters = split(&[2, 2], &[2, 4]);
        let whole = Buffer::copy_of(quarters.engine.allocator(), &[0, 1, 2, 3, 4, 5, 6, 7]).unwrap();
        assert_eq!(quarters.extract(&whole, 1).unwrap().as_bytes(), [2, 3]);
        assert_eq!(quarters.extract(&whole, 2).unwrap().as_bytes(), [4, 5]);
    }

    /// Tiles of dimensions that do not divide: what lies in the array is where it belongs, and the rest is zeros.
    #[test]
    fn padded_tiles() {
        for (tiles, dims, tile_dims) in [
            (&[4][..], &[5][..], &[2][..]),
            (&[4, 1], &[7, 3], &[2, 3]),
            (&[1, 4], &[3, 7], &[3, 2]),
            (&[2, 2], &[7, 5], &[4, 3]),
            (&[2, 3, 2], &[3, 4, 5], &[2, 2, 3]),
            (&[4], &[1], &[1]),
            (&[4], &[0], &[0]),
        ] {
            let split = split(tiles, dims);
            assert_eq!(split.client_dims(), tile_dims);
            let bytes: Vec<u8> = (1..=split.bytes()).map(|byte| byte as u8).collect();
            let whole = Buffer::copy_of(split.engine.allocator(), &bytes).unwrap();
            let alone: Vec<_> = (0..split.devices()).map(|tile| split.extract(&whole, tile).unwrap()).collect();
            let mut elements: Vec<u8> = alone.iter().flat_map(Buffer::as_bytes).copied().collect();
            elements.retain(|&element| element != 0);
            elements.sort_unstable();
            assert_eq!(elements, bytes, "{split:?}");
            for (tile, alone) in alone.iter().enumerate() {
                if let Some(range) = split.contiguous(tile) {
                    assert_eq!(alone.as_bytes(), &bytes[range], "{split:?}");
                }
            }
            let alone: Vec<_> = alone.into_iter().map(Arc::new).collect();
            assert_eq!(split.gather(|device| Ok(alone[device].clone())).unwrap().as_bytes(), bytes, "{split:?}");
        }
        let quarters = split(&[4], &[5]);
        let whole = Buffer::copy_of(quarters.engine.allocator(), &[1, 2, 3, 4, 5]).unwrap();
        let tiles: Vec<_> = (0..4).map(|tile| quarters.extract(&whole, tile).unwrap().as_bytes().to_vec()).collect();
        assert_eq!(tiles, [[1, 2], [3, 4], [5, 0], [0, 0]]);
    }

    #[test]
    fn shardings_for_clients() {
        let engine = Engine::new(EngineOptions::default());
        let ty = TensorType::new(ElementType::F32, [4, 4]);
        let of = |tiles: [usize; 2], tile_of: [usize; 4]| {
            let tiling = Tiling::new(tiles.to_vec(), tile_of.to_vec()).unwrap();
            Split::new(&engine, tiling, &ty).op_sharding()
        };
        assert_eq!(of([1, 1], [0; 4]), OpSharding::Replicated);
        let columns = OpSharding::Tiled { tiles: vec![1, 2], partitions: vec![0, 2, 1, 3], copies: 2, summands: 1 };
        assert_eq!(of([1, 2], [0, 1, 0, 1]), columns);
        let tiles = OpSharding::Tiled { tiles: vec![2, 2], partitions: vec![3, 2, 1, 0], copies: 1, summands: 1 };
        assert_eq!(of([2, 2], [3, 2, 1, 0]), tiles);
    }
}
