//! Loops and branches with dynamic dimensions: sizes accompany the values.

use oxcall::Error;
use oxcall_hlo::{Location, Op, Region, ValueId};

use super::{Resolver, Sizes};

impl Resolver {
    /// A loop that carries the sizes of its carried values. The dynamic dimensions are known once a further round finds
    /// no more of them.
    pub(super) fn while_loop(&mut self, op: Op, locations: &[Location]) -> Result<(), Error> {
        let dims = |sizes: Sizes| sizes.into_iter().map(|(dim, _)| dim).collect::<Vec<_>>();
        let mut dynamic: Vec<Vec<usize>> = op.operands.iter().map(|&operand| dims(self.sizes(operand))).collect();
        loop {
            let mut each = op.clone();
            for region in &mut each.regions {
                self.carry(region, &dynamic);
                self.region(region, locations)?;
            }
            self.location = op.location;
            let mut grown = false;
            for (known, &result) in dynamic.iter_mut().zip(&each.regions[1].results) {
                for (dim, _) in self.sizes(result) {
                    if !known.contains(&dim) {
                        known.push(dim);
                        grown = true;
                    }
                }
            }
            if grown {
                continue;
            }
            let inits = self.sizes_of(&op.operands, &dynamic)?;
            each.operands.extend(inits);
            self.at_end(&mut each.regions[1], &dynamic)?;
            let results = self.sized(&op.results, &dynamic);
            each.results.extend(results);
            self.ops.push(each);
            return Ok(());
        }
    }

    /// Branches that also return the sizes of their results.
    pub(super) fn branches(&mut self, mut op: Op, locations: &[Location]) -> Result<(), Error> {
        for region in &mut op.regions {
            self.region(region, locations)?;
        }
        self.location = op.location;
        let mut dynamic = vec![Vec::new(); op.results.len()];
        for region in &op.regions {
            for (known, &result) in dynamic.iter_mut().zip(&region.results) {
                let more = self.sizes(result).into_iter().map(|(dim, _)| dim);
                known.extend(more);
                known.sort_unstable();
                known.dedup();
            }
        }
        for region in &mut op.regions {
            self.at_end(region, &dynamic)?;
        }
        let results = self.sized(&op.results, &dynamic);
        op.results.extend(results);
        self.ops.push(op);
        Ok(())
    }

    /// Adds parameters for the sizes of a region's parameters.
    fn carry(&mut self, region: &mut Region, dynamic: &[Vec<usize>]) {
        let sizes = self.sized(&region.params, dynamic);
        region.params.extend(sizes);
    }

    /// New scalars for the dynamic dimensions of `values`.
    fn sized(&mut self, values: &[ValueId], dynamic: &[Vec<usize>]) -> Vec<ValueId> {
        let mut all = Vec::new();
        for (&value, dims) in values.iter().zip(dynamic) {
            let sizes: Sizes = dims.iter().map(|&dim| (dim, self.scalar())).collect();
            all.extend(sizes.iter().map(|&(_, size)| size));
            self.set(value, sizes);
        }
        all
    }

    /// The sizes of the dimensions of `values` that are dynamic somewhere.
    fn sizes_of(&mut self, values: &[ValueId], dynamic: &[Vec<usize>]) -> Result<Vec<ValueId>, Error> {
        let pairs = values.iter().zip(dynamic).flat_map(|(&value, dims)| dims.iter().map(move |&dim| (value, dim)));
        pairs.map(|(value, dim)| self.any_size(value, dim)).collect()
    }

    /// Adds to a region's results their sizes.
    fn at_end(&mut self, region: &mut Region, dynamic: &[Vec<usize>]) -> Result<(), Error> {
        let outer = std::mem::replace(&mut self.ops, std::mem::take(&mut region.ops));
        let sizes = self.sizes_of(&region.results, dynamic);
        region.ops = std::mem::replace(&mut self.ops, outer);
        region.results.extend(sizes?);
        Ok(())
    }
}
