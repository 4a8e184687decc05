//! How a tensor is split over the partitions of a program.

use oxcall_proto::Writer;

/// The part of XLA's `OpSharding` that parameters and results of programs have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpSharding {
    /// Every partition has all of it.
    Replicated,
    /// In tiles of equal size.
    Tiled {
        /// The number of tiles of each dimension, and at last, if there are copies, how many of each tile.
        grid: Vec<usize>,
        /// The partition at each place of the grid.
        partitions: Vec<usize>,
        /// Whether the last number of the grid is that of copies.
        last_is_copies: bool,
    },
}

impl OpSharding {
    /// The serialized `OpSharding`.
    pub fn serialize(&self) -> Vec<u8> {
        const REPLICATED: i64 = 0;
        const OTHER: i64 = 3;
        let mut proto = Writer::default();
        match self {
            OpSharding::Replicated => _ = proto.int(1, REPLICATED),
            OpSharding::Tiled { grid, partitions, last_is_copies } => {
                proto.int(1, OTHER).sizes(3, grid).sizes(4, partitions).bool(6, *last_is_copies);
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
        let tiled = OpSharding::Tiled { grid: vec![1, 2, 2], partitions: vec![0, 2, 1, 3], last_is_copies: true };
        assert_eq!(tiled.serialize(), [8, 3, 0x1a, 3, 1, 2, 2, 0x22, 4, 0, 2, 1, 3, 0x30, 1]);
    }
}
