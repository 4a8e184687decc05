//! Collectives.

use oxcall_proto::Message;

use super::super::fields::{REPLICA_IDS, SOURCE_TARGET, collective_devices, instruction as field, iota_groups};
use super::computation::FuncReader;
use super::instruction::Instruction;
use super::sizes;
use crate::{ChannelHandle, CollectiveGroups, Error, Op, OpKind, TensorType, Type, ValueId};

/// More devices than this are taken for a mistake.
const MOST_DEVICES: usize = 1 << 16;

pub(crate) fn all_reduce(func: &mut FuncReader<'_>, instruction: Instruction<'_>) -> Result<ValueId, Error> {
    let kind = OpKind::AllReduce(global_groups(&instruction)?);
    let regions = func.scalar_regions(&instruction, 1, 2)?;
    func.several(instruction, kind, regions)
}

pub(crate) fn reduce_scatter(func: &mut FuncReader<'_>, instruction: Instruction<'_>) -> Result<ValueId, Error> {
    let groups = global_groups(&instruction)?;
    let kind = OpKind::ReduceScatter { dim: instruction.dimension()?, groups };
    let regions = func.scalar_regions(&instruction, 1, 2)?;
    func.several(instruction, kind, regions)
}

pub(crate) fn all_to_all(func: &mut FuncReader<'_>, instruction: Instruction<'_>) -> Result<ValueId, Error> {
    let groups = groups(&instruction)?;
    if instruction.dimensions()?.is_empty() {
        return tuple_all_to_all(func, instruction, groups);
    }
    let dim = instruction.dimension()?;
    let split_count = groups.groups.first().map(Vec::len);
    let split_count =
        split_count.ok_or_else(|| Error::unsupported("all-to-all without replica groups is not supported"))?;
    func.several(instruction, OpKind::AllToAll { split_dim: dim, concat_dim: dim, split_count, groups }, Vec::new())
}

/// The groups of an instruction whose ids may be those of devices. XLA ignores whether they are elsewhere.
pub(crate) fn global_groups(instruction: &Instruction<'_>) -> Result<CollectiveGroups, Error> {
    let groups = groups(instruction)?;
    Ok(CollectiveGroups { use_global_device_ids: instruction.message.bool(field::GLOBAL_DEVICE_IDS)?, ..groups })
}

/// The groups of an instruction.
pub(crate) fn groups(instruction: &Instruction<'_>) -> Result<CollectiveGroups, Error> {
    let message = instruction.message;
    let ids = |group: &Message<'_>| Ok(group.ints(REPLICA_IDS)?);
    let lists = |groups: Vec<Message<'_>>| groups.iter().map(ids).collect::<Result<Vec<_>, Error>>();
    let devices = message.message(field::COLLECTIVE_DEVICES)?.unwrap_or_default();
    let groups = if let Some(iota) = devices.message(collective_devices::IOTA)? {
        iota_list(iota)?
    } else {
        let newer = lists(devices.messages(collective_devices::REPLICA_GROUPS)?)?;
        if newer.is_empty() { lists(message.messages(field::REPLICA_GROUPS)?)? } else { newer }
    };
    with_channel(message, groups)
}

/// The pairs of source and target of an instruction.
pub(crate) fn pairs(instruction: &Instruction<'_>) -> Result<CollectiveGroups, Error> {
    let [source, target] = SOURCE_TARGET;
    let pair = |pair: Message<'_>| Ok(vec![pair.int(source)?, pair.int(target)?]);
    let pairs = instruction.message.messages(field::SOURCE_TARGET_PAIRS)?.into_iter().map(pair);
    with_channel(instruction.message, pairs.collect::<Result<_, Error>>()?)
}

fn with_channel(message: Message<'_>, groups: Vec<Vec<i64>>) -> Result<CollectiveGroups, Error> {
    let handle = message.int(field::CHANNEL)?;
    let channel = (handle > 0).then_some(ChannelHandle { handle, ty: 0 });
    Ok(CollectiveGroups { groups, channel, use_global_device_ids: false })
}

/// Groups given as consecutive ids in an array that is transposed.
fn iota_list(message: Message<'_>) -> Result<Vec<Vec<i64>>, Error> {
    let dims = sizes(message, iota_groups::RESHAPE_DIMS, "the dimensions of the groups")?;
    let permutation = sizes(message, iota_groups::TRANSPOSE_PERM, "the order of the groups' dimensions")?;
    let (groups, width) = (message.int(iota_groups::GROUPS)?, message.int(iota_groups::DEVICES_PER_GROUP)?);
    let wrong = || {
        Error::invalid(format!(
            "{groups} groups of {width} devices do not fit dimensions {dims:?} in the order {permutation:?}"
        ))
    };
    let (groups, width) = (usize::try_from(groups).map_err(|_| wrong())?, usize::try_from(width).map_err(|_| wrong())?);
    let product = |list: &[usize]| list.iter().try_fold(1usize, |product, &dim| product.checked_mul(dim));
    let count = product(&dims).filter(|&count| (1..=MOST_DEVICES).contains(&count)).ok_or_else(wrong)?;
    let mut sorted = permutation.clone();
    sorted.sort_unstable();
    if product(&[groups, width]) != Some(count) || !sorted.into_iter().eq(0..dims.len()) {
        return Err(wrong());
    }
    let ids = (0..count).map(|index| {
        // The place in the transposed array, dimension by dimension from the last.
        let (mut rest, mut place) = (index, vec![0; dims.len()]);
        for &dim in permutation.iter().rev() {
            (rest, place[dim]) = (rest / dims[dim], rest % dims[dim]);
        }
        place.iter().zip(&dims).fold(0, |id, (&place, &dim)| id * dim + place) as i64
    });
    let ids: Vec<i64> = ids.collect();
    Ok(ids.chunks(width).map(<[i64]>::to_vec).collect())
}

/// Operand `i` goes to process `i` of the group, and the results are what came of each process: as one array, the
/// operands are its parts.
fn tuple_all_to_all(
    func: &mut FuncReader<'_>,
    instruction: Instruction<'_>,
    groups: CollectiveGroups,
) -> Result<ValueId, Error> {
    let Instruction { ty, operands, location, .. } = instruction;
    let count = operands.len();
    let of = match &ty {
        Type::Tuple(types) => types.first().and_then(Type::tensor),
        ty => ty.tensor(),
    };
    let of = of.filter(|_| count > 0).ok_or_else(|| Error::invalid("expected array operands and results"))?.clone();
    let is_one = |value: &ValueId| func.ty(*value).tensor() == Some(&of);
    if !operands.iter().all(is_one) {
        return Err(Error::invalid(format!("all operands must have type {of}")));
    }
    let with_first = |first: usize| TensorType::new(of.element, [first].into_iter().chain(of.dims.iter().copied()));
    let mut add = |kind: OpKind, operands: Vec<ValueId>, ty: TensorType| {
        // The bounds of a slice are lists as long as its shape.
        func.module.spend(size_of::<Op>() + 4 * size_of_val(&*ty.dims))?;
        let result = func.add_value(ty.into())?;
        func.add(Op { kind, operands, results: vec![result], regions: Vec::new(), location });
        Ok::<ValueId, Error>(result)
    };
    let rows = operands.into_iter().map(|operand| add(OpKind::Reshape, vec![operand], with_first(1)));
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    let joined = add(OpKind::Concatenate { dim: 0 }, rows, with_first(count))?;
    let kind = OpKind::AllToAll { split_dim: 0, concat_dim: 0, split_count: count, groups };
    let received = add(kind, vec![joined], with_first(count))?;
    let mut results = Vec::with_capacity(count);
    for index in 0..count {
        let (mut start, mut limit) = (vec![0; of.rank() + 1], with_first(count).dims.to_vec());
        (start[0], limit[0]) = (index, index + 1);
        let strides = vec![1; limit.len()];
        let row = add(OpKind::Slice { start, limit, strides }, vec![received], with_first(1))?;
        results.push(add(OpKind::Reshape, vec![row], of.clone())?);
    }
    if !matches!(ty, Type::Tuple(_)) {
        return Ok(results[0]);
    }
    let tuple = func.add_value(ty)?;
    func.add_tuple(results, tuple, location);
    Ok(tuple)
}
