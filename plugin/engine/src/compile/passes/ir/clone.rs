//! Copies of regions.

use std::collections::HashMap;

use oxcall_hlo::{Op, Region, Type, ValueId};

/// New names of values; values without an entry keep theirs.
#[derive(Debug, Default)]
pub(crate) struct Mapping(HashMap<ValueId, ValueId>);

impl Mapping {
    /// Gives `old` the name `new`.
    pub(crate) fn insert(&mut self, old: ValueId, new: ValueId) {
        self.0.insert(old, new);
    }

    /// Gives each of `old` the name at the same place in `new`.
    pub(crate) fn extend(&mut self, old: &[ValueId], new: &[ValueId]) {
        self.0.extend(old.iter().copied().zip(new.iter().copied()));
    }

    /// The new name of `value`.
    pub(crate) fn get(&self, value: ValueId) -> ValueId {
        self.0.get(&value).copied().unwrap_or(value)
    }

    /// The new names of `values`.
    pub(crate) fn all(&self, values: &[ValueId]) -> Vec<ValueId> {
        values.iter().map(|&value| self.get(value)).collect()
    }

    /// Makes new values of the types of `old`, and maps `old` to them.
    pub(crate) fn fresh(&mut self, old: &[ValueId], values: &mut Vec<Type>) -> Vec<ValueId> {
        let new: Vec<ValueId> = old
            .iter()
            .map(|value| {
                let id = ValueId(u32::try_from(values.len()).expect("the growth of programs is limited"));
                values.push(values[value.0 as usize].clone());
                id
            })
            .collect();
        self.extend(old, &new);
        new
    }
}

/// A copy of `region` that defines new values; `mapping` renames values from outside. `values` are the types of the
/// function's values.
fn clone_region(region: &Region, values: &mut Vec<Type>, mapping: &mut Mapping) -> Region {
    let params = mapping.fresh(&region.params, values);
    let ops = region.ops.iter().map(|op| clone_op(op, values, mapping)).collect();
    Region { params, ops, results: mapping.all(&region.results) }
}

/// A copy of `op` that defines new values, like [`clone_region`].
pub(crate) fn clone_op(op: &Op, values: &mut Vec<Type>, mapping: &mut Mapping) -> Op {
    let operands = mapping.all(&op.operands);
    let regions = op.regions.iter().map(|region| clone_region(region, values, mapping)).collect();
    let results = mapping.fresh(&op.results, values);
    Op { kind: op.kind.clone(), operands, results, regions, location: op.location }
}
