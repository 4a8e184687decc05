//! Collectives.

use std::collections::HashSet;

use super::control::list;
use super::reduce::combiner;
use super::signature::{Signature, dimension, ensure, one};
use crate::{CollectiveGroups, ElementType, Error, RootedGroups, TensorType, Type};

/// Checks that no group is empty, and no id negative or twice in the groups.
fn unique_ids(groups: &CollectiveGroups) -> Result<(), Error> {
    ensure!(!groups.groups.iter().any(Vec::is_empty), "replica_groups must have a process in each group");
    let mut seen = HashSet::new();
    for &id in groups.groups.iter().flatten() {
        ensure!(id >= 0, "replica_groups must hold non-negative ids, got {id}");
        ensure!(seen.insert(id), "replica_groups must hold each id once, got {id} twice");
    }
    Ok(())
}

/// Checks the ids, and that they may be global.
fn global_groups(groups: &CollectiveGroups) -> Result<(), Error> {
    unique_ids(groups)?;
    ensure!(
        groups.has_channel() || !groups.use_global_device_ids,
        "use_global_device_ids needs a channel_handle with a positive handle"
    );
    Ok(())
}

/// The number of processes of each group, which has to be one; `None` if the program alone does not say it.
fn group_size(groups: &CollectiveGroups) -> Result<Option<usize>, Error> {
    let size = groups.groups.first().map(Vec::len);
    for group in &groups.groups {
        ensure!(
            Some(group.len()) == size,
            "replica_groups must have one size, got {} and {}",
            size.unwrap_or_default(),
            group.len()
        );
    }
    // Partitions that are not listed may multiply groups of replicas.
    Ok(size.filter(|_| groups.use_global_device_ids || !groups.has_channel()))
}

/// All operands, of which there must be one or more.
fn operands<'a>(cx: Signature<'a>) -> Result<Vec<&'a TensorType>, Error> {
    cx.tensors(0..cx.operands.len().max(1), "operands")
}

/// The result of operand `index`, which must be given.
fn given<'a>(cx: Signature<'a>, index: usize) -> Result<&'a TensorType, Error> {
    let results = cx.results.ok_or_else(|| Error::invalid("the types of the results must be given"))?;
    ensure!(
        results.len() == cx.operands.len(),
        "expected a result for each operand, got {} results for {} operands",
        results.len(),
        cx.operands.len()
    );
    results[index].tensor().ok_or_else(|| Error::invalid(format!("result {index} must be a tensor")))
}

/// The type of `operand` after the op's region reduced it.
fn reduced(cx: Signature<'_>, operand: &TensorType) -> Result<Type, Error> {
    let element = combiner(&cx.regions[0], "computation", &[operand])?[0];
    Ok(operand.with_element(element).into())
}

pub(crate) fn all_reduce(cx: Signature<'_>, groups: &CollectiveGroups) -> Result<Vec<Type>, Error> {
    global_groups(groups)?;
    cx.region_count(1)?;
    let operands = operands(cx)?;
    operands.into_iter().map(|operand| reduced(cx, operand)).collect()
}

/// Checks that `result` is `operand` but for dimension `dim`, and that this is `times` as large, or `parts` times
/// smaller.
fn resized(
    operand: &TensorType,
    result: &TensorType,
    dim: usize,
    groups: &CollectiveGroups,
    grows: bool,
) -> Result<(), Error> {
    let rank = operand.rank();
    let others =
        |ty: &TensorType| -> Vec<usize> { (0..rank).filter(|&each| each != dim).map(|each| ty.dims[each]).collect() };
    ensure!(
        result.rank() == rank && others(result) == others(operand),
        "the result must have the shape of operand {operand} except in dimension {dim}, got {result}"
    );
    let (small, large) = if grows { (operand, result) } else { (result, operand) };
    let (small, large) = (small.dims[dim], large.dims[dim]);
    match group_size(groups)? {
        Some(size) => ensure!(
            Some(large) == small.checked_mul(size),
            "dimension {dim} of operand and result, {operand} and {result}, must differ by the factor {size}, the size \
             of a group"
        ),
        None => ensure!(
            if small == 0 { large == 0 } else { large.is_multiple_of(small) },
            "dimension {dim} of operand and result, {operand} and {result}, must differ by the size of a group"
        ),
    }
    Ok(())
}

pub(crate) fn all_gather(cx: Signature<'_>, dim: usize, groups: &CollectiveGroups) -> Result<Vec<Type>, Error> {
    global_groups(groups)?;
    let mut results = Vec::with_capacity(cx.operands.len());
    for (index, operand) in operands(cx)?.into_iter().enumerate() {
        dimension(dim, "all_gather_dim", operand, "operand")?;
        let result = given(cx, index)?;
        resized(operand, result, dim, groups, true)?;
        results.push(TensorType::new(operand.element, result.dims.iter().copied()).into());
    }
    Ok(results)
}

pub(crate) fn reduce_scatter(cx: Signature<'_>, dim: usize, groups: &CollectiveGroups) -> Result<Vec<Type>, Error> {
    global_groups(groups)?;
    cx.arity(1)?;
    cx.region_count(1)?;
    let operand = cx.tensor(0, "operand")?;
    dimension(dim, "scatter_dimension", operand, "operand")?;
    let result = given(cx, 0)?;
    resized(operand, result, dim, groups, false)?;
    let element = combiner(&cx.regions[0], "computation", &[operand])?[0];
    one(TensorType::new(element, result.dims.iter().copied()))
}

pub(crate) fn all_to_all(
    cx: Signature<'_>,
    split_dim: usize,
    concat_dim: usize,
    split_count: usize,
    groups: &CollectiveGroups,
) -> Result<Vec<Type>, Error> {
    unique_ids(groups)?;
    ensure!(split_count > 0, "split_count must be positive, got {split_count}");
    let size = groups.groups.first().map(Vec::len);
    let equal = groups.groups.iter().all(|group| Some(group.len()) == size);
    ensure!(
        equal && size.is_none_or(|size| size == split_count),
        "each of replica_groups must have split_count = {split_count} processes"
    );
    let mut results = Vec::with_capacity(cx.operands.len());
    for operand in operands(cx)? {
        dimension(split_dim, "split_dimension", operand, "operand")?;
        dimension(concat_dim, "concat_dimension", operand, "operand")?;
        ensure!(
            operand.dims[split_dim].is_multiple_of(split_count),
            "dimension {split_dim} of the operand, {operand}, must be a multiple of split_count = {split_count}"
        );
        let mut result = operand.clone();
        result.dims[split_dim] /= split_count;
        let joined = result.dims[concat_dim].checked_mul(split_count);
        result.dims[concat_dim] = joined
            .ok_or_else(|| Error::invalid(format!("dimension {concat_dim} of the result does not fit in 64 bits")))?;
        results.push(result.into());
    }
    Ok(results)
}

/// The operands but for the roots, which are checked.
fn rooted<'a>(cx: Signature<'a>, rooted: &RootedGroups) -> Result<Vec<&'a TensorType>, Error> {
    let mut all = operands(cx)?;
    if rooted.dynamic_root {
        let roots = all.pop();
        let expected = TensorType::new(ElementType::S32, [all.len()]);
        ensure!(
            !all.is_empty() && roots == Some(&expected),
            "has_dynamic_root needs operands and then their roots, {expected}, got {}",
            list(cx.operands)
        );
    }
    Ok(all)
}

pub(crate) fn broadcast(cx: Signature<'_>, groups: &RootedGroups) -> Result<Vec<Type>, Error> {
    unique_ids(&groups.groups)?;
    Ok(rooted(cx, groups)?.into_iter().cloned().map(Type::from).collect())
}

pub(crate) fn reduce(cx: Signature<'_>, groups: &RootedGroups) -> Result<Vec<Type>, Error> {
    global_groups(&groups.groups)?;
    cx.region_count(1)?;
    rooted(cx, groups)?.into_iter().map(|operand| reduced(cx, operand)).collect()
}

pub(crate) fn permute(cx: Signature<'_>, groups: &CollectiveGroups) -> Result<Vec<Type>, Error> {
    cx.arity(1)?;
    let (mut sources, mut targets) = (HashSet::new(), HashSet::new());
    for pair in &groups.groups {
        let &[source, target] = &pair[..] else {
            return Err(Error::invalid(format!("source_target_pairs must hold pairs, got {pair:?}")));
        };
        ensure!(source >= 0 && target >= 0, "source_target_pairs must hold non-negative ids, got {pair:?}");
        ensure!(sources.insert(source), "source_target_pairs must have each source once, got {source} twice");
        ensure!(targets.insert(target), "source_target_pairs must have each target once, got {target} twice");
    }
    one(cx.tensor(0, "operand")?.clone())
}
