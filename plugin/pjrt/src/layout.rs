//! The order of a tensor's elements in memory.

use crate::{Error, Result};

/// A dense layout: dimensions from the fastest to the slowest, and tiles, as in XLA's text `{1,0:T(8,128)}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// The dimensions, the one whose index changes fastest in memory first.
    pub minor_to_major: Vec<i64>,
    /// The sizes of nested tiles, outermost first; none on most devices.
    pub tiles: Vec<Vec<i64>>,
}

impl Layout {
    /// The last dimension fastest, no tiles: the layout of C arrays.
    pub fn row_major(rank: usize) -> Layout {
        Layout { minor_to_major: (0..rank as i64).rev().collect(), tiles: Vec::new() }
    }

    /// Whether this is [`Layout::row_major`].
    pub fn is_row_major(&self) -> bool {
        self.tiles.is_empty() && self.minor_to_major.iter().rev().copied().eq(0..self.minor_to_major.len() as i64)
    }

    /// The distance in bytes of neighbours along each dimension.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if `minor_to_major` is not a permutation of the dimensions, `UNIMPLEMENTED` for tiles.
    pub fn byte_strides(&self, dims: &[i64], element_size: usize) -> Result<Vec<i64>> {
        let invalid =
            || Error::invalid_argument(format!("the layout {self} is not a permutation of {} dimensions", dims.len()));
        if !self.tiles.is_empty() {
            return Err(Error::unimplemented(format!("layout {self}: tiles are not supported")));
        }
        if self.minor_to_major.len() != dims.len() {
            return Err(invalid());
        }
        let mut strides = vec![-1; dims.len()];
        let mut stride = element_size as i64;
        for &dim in &self.minor_to_major {
            let slot = usize::try_from(dim).ok().and_then(|dim| strides.get_mut(dim)).filter(|slot| **slot == -1);
            *slot.ok_or_else(invalid)? = stride;
            stride = stride.saturating_mul(dims[dim as usize].max(1));
        }
        Ok(strides)
    }
}

impl std::fmt::Display for Layout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |numbers: &[i64]| numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
        write!(f, "{{{}", list(&self.minor_to_major))?;
        if !self.tiles.is_empty() {
            f.write_str(":T")?;
            for tile in &self.tiles {
                write!(f, "({})", list(tile))?;
            }
        }
        f.write_str("}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_of_permutations() {
        let row_major = Layout::row_major(3);
        assert!(row_major.is_row_major());
        assert_eq!(row_major.byte_strides(&[2, 3, 4], 8).unwrap(), [96, 32, 8]);
        let column_major = Layout { minor_to_major: vec![0, 1, 2], tiles: vec![] };
        assert!(!column_major.is_row_major());
        assert_eq!(column_major.byte_strides(&[2, 3, 4], 1).unwrap(), [1, 2, 6]);
        assert_eq!(row_major.to_string(), "{2,1,0}");
    }

    #[test]
    fn nonsense_is_refused() {
        for minor_to_major in [vec![0], vec![0, 0], vec![2, 0], vec![-1, 0], vec![0, 1, 2]] {
            let layout = Layout { minor_to_major, tiles: vec![] };
            assert!(layout.byte_strides(&[2, 3], 4).is_err(), "{layout}");
        }
        let tiled = Layout { minor_to_major: vec![1, 0], tiles: vec![vec![8, 128], vec![2, 1]] };
        assert_eq!(tiled.to_string(), "{1,0:T(8,128)(2,1)}");
        assert!(tiled.byte_strides(&[2, 3], 4).is_err());
    }
}
