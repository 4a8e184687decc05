//! Collectives.

use super::Source;
use crate::{ChannelHandle, CollectiveGroups, Error, OpKind, RootedGroups};

/// What a group is filled up with, where another one is longer.
const NOBODY: i64 = -1;

/// The groups that the attribute `name` lists, with the op's channel.
fn groups(op: &mut dyn Source, name: &'static str) -> Result<CollectiveGroups, Error> {
    let mut groups = match op.mesh_axes(name)? {
        Some((mesh, axes)) => mesh.groups(&axes)?,
        None => op.required_rows(name)?,
    };
    groups.iter_mut().for_each(|group| group.retain(|&id| id != NOBODY));
    let channel = match op.integer("channel_id")? {
        // VHLO writes 0 where there is none, and no kind.
        Some(0) => None,
        Some(handle) => Some(ChannelHandle { handle, ty: 0 }),
        None => op.channel("channel_handle")?,
    };
    Ok(CollectiveGroups { groups, channel, use_global_device_ids: false })
}

/// Those of an op whose ids may be those of devices.
fn global_groups(op: &mut dyn Source) -> Result<CollectiveGroups, Error> {
    Ok(CollectiveGroups { use_global_device_ids: op.flag("use_global_device_ids")?, ..groups(op, "replica_groups")? })
}

pub(super) fn all_reduce(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::AllReduce(global_groups(op)?))
}

pub(super) fn all_gather(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::AllGather { dim: op.size("all_gather_dim")?, groups: global_groups(op)? })
}

pub(super) fn reduce_scatter(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::ReduceScatter { dim: op.size("scatter_dimension")?, groups: global_groups(op)? })
}

pub(super) fn all_to_all(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::AllToAll {
        split_dim: op.size("split_dimension")?,
        concat_dim: op.size("concat_dimension")?,
        split_count: op.size("split_count")?,
        groups: groups(op, "replica_groups")?,
    })
}

pub(super) fn broadcast(op: &mut dyn Source) -> Result<OpKind, Error> {
    let dynamic_root = op.bool("has_dynamic_root")?.unwrap_or(false);
    Ok(OpKind::CollectiveBroadcast(RootedGroups { groups: groups(op, "replica_groups")?, dynamic_root }))
}

pub(super) fn reduce(op: &mut dyn Source) -> Result<OpKind, Error> {
    let dynamic_root = op.flag("has_dynamic_root")?;
    Ok(OpKind::CollectiveReduce(RootedGroups { groups: global_groups(op)?, dynamic_root }))
}

pub(super) fn permute(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::CollectivePermute(groups(op, "source_target_pairs")?))
}
