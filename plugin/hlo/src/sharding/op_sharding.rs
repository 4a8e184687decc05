//! Shardings as HLO has them: a grid of tiles, and the device of each. Programs carry them as strings.

use super::{Tiling, string};
use crate::Error;

/// What the trailing dimensions of a grid of tiles mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubgroupType {
    /// Devices have copies.
    Replicated,
    /// The program says what each device does.
    Manual,
    /// Devices have summands.
    Unreduced,
}

/// A sharding of HLO.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpSharding {
    /// Every device has all of it.
    Replicated,
    /// The program says what each device does.
    Manual,
    /// The compiler may choose.
    Unknown,
    /// One device has it.
    Maximal(usize),
    /// In tiles.
    Tiled {
        /// The grid: tiles of each dimension, then subgroups.
        grid: Vec<usize>,
        /// The device at each place of the grid.
        devices: Vec<usize>,
        /// What the trailing dimensions of the grid mean.
        subgroups: Vec<SubgroupType>,
    },
    /// Those of the elements of a tuple.
    Tuple(Vec<OpSharding>),
}

impl OpSharding {
    /// Reads the string that programs carry: `{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}`.
    ///
    /// # Errors
    /// INVALID if it is none.
    pub fn parse(text: &str) -> Result<OpSharding, Error> {
        string::parse(text)
    }

    /// How a tensor of `rank` dimensions is split over `devices` devices.
    ///
    /// # Errors
    /// If it is for another number of dimensions or devices, or no such thing.
    pub fn tiling(&self, rank: usize, devices: usize) -> Result<Tiling, Error> {
        match self {
            OpSharding::Replicated | OpSharding::Unknown | OpSharding::Maximal(_) => {
                Ok(Tiling::replicated(rank, devices))
            }
            OpSharding::Tiled { grid, devices: at, subgroups } => {
                if grid.len() != rank + subgroups.len() || at.len() != devices {
                    let message = format!(
                        "a sharding with tiles {grid:?} over {} devices does not fit a tensor of rank {rank} on {devices} devices",
                        at.len()
                    );
                    return Err(Error::invalid(message));
                }
                let copies: usize = grid[rank..].iter().product();
                let mut tile_of = vec![usize::MAX; devices];
                for (place, &device) in at.iter().enumerate() {
                    *tile_of.get_mut(device).ok_or_else(|| {
                        Error::invalid(format!("a sharding names device {device}, but there are {devices} devices"))
                    })? = place / copies.max(1);
                }
                Tiling::new(grid[..rank].to_vec(), tile_of)
            }
            OpSharding::Manual => Err(Error::invalid("the sharding of a parameter or result cannot be manual")),
            OpSharding::Tuple(_) => Err(Error::invalid("a tensor cannot have the sharding of a tuple")),
        }
    }
}
