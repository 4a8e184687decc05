//! The split of a tensor over the partitions of a program.

use oxcall_proto::Writer;

/// The part of XLA's `OpSharding` that parameters and results of programs have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpSharding {
    /// Every partition has all of it.
    Replicated,
    /// In tiles of equal size.
    Tiled {
        /// The number of tiles of each dimension.
        tiles: Vec<usize>,
        /// The partitions: by their tiles, the first dimension the major one; then by the copies of the tile, then by
        /// the summands.
        partitions: Vec<usize>,
        /// How many copies there are of each tile.
        copies: usize,
        /// How many summands each tile is the sum of.
        summands: usize,
    },
}

impl OpSharding {
    /// The serialized `OpSharding`.
    pub fn serialize(&self) -> Vec<u8> {
        const REPLICATED: i64 = 0;
        const OTHER: i64 = 3;
        const UNREDUCED: i64 = 6;
        let mut proto = Writer::default();
        match self {
            OpSharding::Replicated => _ = proto.int(1, REPLICATED),
            OpSharding::Tiled { tiles, copies: 1, summands: 2.., .. } if tiles.iter().all(|&tiles| tiles == 1) => {
                proto.int(1, UNREDUCED);
            }
            OpSharding::Tiled { tiles, partitions, copies, summands } => {
                let mut grid = tiles.clone();
                grid.extend([*copies, *summands].into_iter().filter(|&count| count > 1));
                proto.int(1, OTHER).sizes(3, &grid).sizes(4, partitions);
                match summands {
                    1 => proto.bool(6, *copies > 1),
                    _ if *copies > 1 => proto.ints(8, [REPLICATED, UNREDUCED]),
                    _ => proto.ints(8, [UNREDUCED]),
                };
            }
        }
        proto.finish()
    }

    /// The serialized `OpSharding` of a tuple.
    pub fn serialize_tuple(elements: &[OpSharding]) -> Vec<u8> {
        const TUPLE: i64 = 2;
        let mut proto = Writer::default();
        proto.int(1, TUPLE);
        for element in elements {
            proto.bytes(5, element.serialize());
        }
        proto.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protos() {
        assert_eq!(OpSharding::Replicated.serialize(), [8, 0]);
        assert_eq!(OpSharding::serialize_tuple(&[OpSharding::Replicated]), [8, 2, 0x2a, 2, 8, 0]);
        let tiled = OpSharding::Tiled { tiles: vec![1, 2], partitions: vec![0, 2, 1, 3], copies: 2, summands: 1 };
        assert_eq!(tiled.serialize(), [8, 3, 0x1a, 3, 1, 2, 2, 0x22, 4, 0, 2, 1, 3, 0x30, 1]);
        let sums = |tiles: &[usize], partitions: &[usize], copies| OpSharding::Tiled {
            tiles: tiles.to_vec(),
            partitions: partitions.to_vec(),
            copies,
            summands: 2,
        };
        assert_eq!(sums(&[1], &[0, 1], 1).serialize(), [8, 6]);
        assert_eq!(sums(&[2], &[0, 1, 2, 3], 1).serialize(), [8, 3, 0x1a, 2, 2, 2, 0x22, 4, 0, 1, 2, 3, 0x42, 1, 6]);
        assert_eq!(
            sums(&[1], &[0, 2, 1, 3], 2).serialize(),
            [8, 3, 0x1a, 3, 1, 2, 2, 0x22, 4, 0, 2, 1, 3, 0x42, 2, 0, 6]
        );
    }
}
