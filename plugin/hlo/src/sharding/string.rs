//! HLO's shardings as text.

use super::{OpSharding, SubgroupType};
use crate::Error;

/// More devices than a sharding may have.
const MOST_DEVICES: usize = 1 << 20;

/// How deep tuples may nest.
const MAX_DEPTH: usize = 16;

/// Reads a sharding.
pub(super) fn parse(text: &str) -> Result<OpSharding, Error> {
    let mut parser = Parser { rest: text.trim() };
    let sharding = parser.sharding(0);
    let whole = sharding.filter(|_| parser.rest.is_empty());
    whole.ok_or_else(|| Error::invalid(format!("`{text}` is not a valid sharding")))
}

/// What is left of the text. `None` stands for what is not expected.
struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    /// Takes `text`, if it comes next, and the space around it.
    fn eat(&mut self, text: &str) -> bool {
        let Some(rest) = self.rest.trim_start().strip_prefix(text) else { return false };
        self.rest = rest.trim_start();
        true
    }

    fn expect(&mut self, text: &str) -> Option<()> {
        self.eat(text).then_some(())
    }

    fn number(&mut self) -> Option<usize> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        digits.parse().ok()
    }

    /// Takes numbers with commas between.
    fn numbers(&mut self) -> Option<Vec<usize>> {
        let mut numbers = vec![self.number()?];
        while self.eat(",") {
            numbers.push(self.number()?);
        }
        Some(numbers)
    }

    fn sharding(&mut self, depth: usize) -> Option<OpSharding> {
        self.expect("{")?;
        if self.rest.starts_with('{') && depth < MAX_DEPTH {
            let mut elements = vec![self.sharding(depth + 1)?];
            while self.eat(",") {
                elements.push(self.sharding(depth + 1)?);
            }
            return self.expect("}").map(|()| OpSharding::Tuple(elements));
        }
        let sharding = if self.eat("replicated") {
            OpSharding::Replicated
        } else if self.eat("manual") {
            OpSharding::Manual
        } else if self.eat("unknown") {
            OpSharding::Unknown
        } else if self.eat("maximal") {
            self.expect("device=")?;
            OpSharding::Maximal(self.number()?)
        } else {
            self.tiled()?
        };
        // What shardings are to be alike, and where they come from.
        if self.eat("shard_as") || self.eat("shard_like") {
            self.number()?;
        }
        if self.eat("metadata=") {
            self.skip_braces()?;
        }
        self.expect("}").map(|()| sharding)
    }

    fn skip_braces(&mut self) -> Option<()> {
        let mut depth = 0usize;
        for (at, c) in self.rest.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        self.rest = self.rest[at + 1..].trim_start();
                        return Some(());
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Takes the rest of `devices=[2,2]0,1,2,3` or `devices=[4,1,2]<=[2,4]T(1,0)`, with what the last dimensions mean.
    fn tiled(&mut self) -> Option<OpSharding> {
        self.expect("devices=[")?;
        let grid = self.numbers()?;
        self.expect("]")?;
        let count = grid.iter().try_fold(1usize, |count, &size| count.checked_mul(size))?;
        let devices = if self.eat("<=[") { self.iota()? } else { self.numbers()? };
        if devices.len() != count || count > MOST_DEVICES {
            return None;
        }
        let mut subgroups = Vec::new();
        if self.eat("last_tile_dims={") {
            loop {
                subgroups.push(if self.eat("replicated") {
                    SubgroupType::Replicated
                } else if self.eat("manual") {
                    SubgroupType::Manual
                } else {
                    self.expect("unreduced")?;
                    SubgroupType::Unreduced
                });
                if !self.eat(",") {
                    break;
                }
            }
            self.expect("}")?;
        } else if self.eat("last_tile_dim_replicate") {
            subgroups.push(SubgroupType::Replicated);
        }
        (subgroups.len() <= grid.len()).then_some(OpSharding::Tiled { grid, devices, subgroups })
    }

    /// Takes the rest of `<=[2,4]T(1,0)`: the numbers of a grid of these dimensions, in the order of the transposed
    /// one.
    fn iota(&mut self) -> Option<Vec<usize>> {
        let dims = self.numbers()?;
        self.expect("]")?;
        let mut order: Vec<usize> = (0..dims.len()).collect();
        if self.eat("T(") {
            order = self.numbers()?;
            self.expect(")")?;
        }
        let mut sorted = order.clone();
        sorted.sort_unstable();
        let count = dims.iter().try_fold(1usize, |count, &size| count.checked_mul(size))?;
        if !sorted.into_iter().eq(0..dims.len()) || count > MOST_DEVICES {
            return None;
        }
        let mut strides = vec![1; dims.len()];
        for dim in (1..dims.len()).rev() {
            strides[dim - 1] = strides[dim] * dims[dim];
        }
        let number = |mut place: usize| {
            let mut number = 0;
            for &dim in order.iter().rev() {
                number += place % dims[dim] * strides[dim];
                place /= dims[dim];
            }
            number
        };
        Some((0..count).map(number).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices(text: &str) -> Vec<usize> {
        match parse(text).unwrap() {
            OpSharding::Tiled { devices, .. } => devices,
            other => panic!("{other:?}"),
        }
    }

    /// The orders are those of NumPy: `arange(8).reshape(4, 2).transpose(1, 0).ravel()`.
    #[test]
    fn forms() {
        assert_eq!(devices("{devices=[4,2]<=[8]}"), [0, 1, 2, 3, 4, 5, 6, 7]);
        let transposed = "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}";
        assert_eq!(devices(transposed), [0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(devices("{devices=[2,2]3,1,0,2}"), [3, 1, 0, 2]);
        let three = "{devices=[8]<=[2,2,2]T(2,0,1)}";
        assert_eq!(devices(three), [0, 2, 4, 6, 1, 3, 5, 7]);
        let tiling = parse(transposed).unwrap().tiling(2, 8).unwrap();
        assert_eq!((0..8).map(|device| tiling.tile_of(device)).collect::<Vec<_>>(), [0, 1, 0, 1, 0, 1, 0, 1]);
        let OpSharding::Tiled { subgroups, grid, .. } =
            parse("{devices=[1,1,4,2]<=[8] last_tile_dims={manual, replicated}}").unwrap()
        else {
            panic!()
        };
        assert_eq!((grid, subgroups), (vec![1, 1, 4, 2], vec![SubgroupType::Manual, SubgroupType::Replicated]));
        assert_eq!(parse("{maximal device=3}").unwrap(), OpSharding::Maximal(3));
        assert_eq!(parse("{replicated metadata={op_name=\"a\"}}").unwrap(), OpSharding::Replicated);
        assert_eq!(parse("{{manual}, {unknown shard_as 1}}").unwrap(), {
            OpSharding::Tuple(vec![OpSharding::Manual, OpSharding::Unknown])
        });
    }

    #[test]
    fn nonsense_is_refused() {
        let texts = [
            "",
            "{",
            "{}",
            "replicated",
            "{devices=[2]0}",
            "{devices=[2,2]<=[4]T(0,1)}",
            "{devices=[1048577]<=[1048577]}",
            "{devices=[9999999999,9999999999]<=[1]}",
            "{maximal device=}",
            "{replicated} x",
            "{devices=[2]<=[2] last_tile_dims={manual, manual}}",
        ];
        for text in texts {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse("{devices=[2]7,9}").unwrap().tiling(1, 2).is_err());
    }
}
