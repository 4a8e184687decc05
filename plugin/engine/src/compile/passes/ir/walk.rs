//! Queries on regions, and small changes to them.

use oxcall::Error;
use oxcall_hlo::{Location, Region, ValueId};

/// The number of ops in `region`, nested ones included.
pub(crate) fn count_ops(region: &Region) -> usize {
    region.ops.iter().map(|op| 1 + op.regions.iter().map(count_ops).sum::<usize>()).sum()
}

/// Renames every operand and result of `region`, nested ones included, by `name`.
pub(crate) fn remap_operands(region: &mut Region, name: &impl Fn(ValueId) -> ValueId) {
    for op in &mut region.ops {
        op.operands.iter_mut().for_each(|value| *value = name(*value));
        op.regions.iter_mut().for_each(|region| remap_operands(region, name));
    }
    region.results.iter_mut().for_each(|value| *value = name(*value));
}

/// `error` with the name and location of its op.
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
