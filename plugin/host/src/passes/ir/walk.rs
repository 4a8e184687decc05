//! Questions about regions, and small changes to them.

use std::collections::HashSet;

use oxcall::Error;
use oxcall_hlo::{Location, Region, ValueId};

/// The number of ops in `region`, nested ones included.
pub(crate) fn count_ops(region: &Region) -> usize {
    region.ops.iter().map(|op| 1 + op.regions.iter().map(count_ops).sum::<usize>()).sum()
}

/// Adds the values that `region` defines, nested ones included, to `set`.
fn defined(region: &Region, set: &mut HashSet<ValueId>) {
    set.extend(&region.params);
    for op in &region.ops {
        set.extend(&op.results);
        op.regions.iter().for_each(|region| defined(region, set));
    }
}

/// The values that `region` uses and does not define, each once, in order of their first use.
pub(crate) fn free_values(region: &Region) -> Vec<ValueId> {
    let mut seen = HashSet::new();
    defined(region, &mut seen);
    let mut free = Vec::new();
    for_each_use(region, &mut |value| {
        if seen.insert(value) {
            free.push(value);
        }
    });
    free
}

fn for_each_use(region: &Region, visit: &mut impl FnMut(ValueId)) {
    for op in &region.ops {
        op.operands.iter().copied().for_each(&mut *visit);
        op.regions.iter().for_each(|region| for_each_use(region, visit));
    }
    region.results.iter().copied().for_each(visit);
}

/// Gives every operand and result of `region`, nested ones included, the name that `name` says.
pub(crate) fn remap_operands(region: &mut Region, name: &impl Fn(ValueId) -> ValueId) {
    for op in &mut region.ops {
        op.operands.iter_mut().for_each(|value| *value = name(*value));
        op.regions.iter_mut().for_each(|region| remap_operands(region, name));
    }
    region.results.iter_mut().for_each(|value| *value = name(*value));
}

/// `error` with the name and place of its op around it.
pub(crate) fn op_error(error: Error, name: &str, location: &Location) -> Error {
    let place = if *location == Location::Unknown { String::new() } else { format!(" (at {location})") };
    Error::new(error.code(), format!("{name}: {}{place}", error.message()))
}

/// Adds `offset` to the number of every value of `region`, nested ones included.
pub(crate) fn shift(region: &mut Region, offset: u32) {
    let shift_all = |values: &mut Vec<ValueId>| values.iter_mut().for_each(|value| value.0 += offset);
    shift_all(&mut region.params);
    shift_all(&mut region.results);
    for op in &mut region.ops {
        shift_all(&mut op.operands);
        shift_all(&mut op.results);
        op.regions.iter_mut().for_each(|region| shift(region, offset));
    }
}
