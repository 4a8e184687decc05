//! Collectives.

use super::attributes::Attributes;
use super::source::Source;
use super::value::{Field, Value};
use crate::{ChannelHandle, CollectiveGroups, Error, OpKind, RootedGroups};

/// What a group is filled up with, where another one is longer.
const NOBODY: i64 = -1;

impl dyn Source + '_ {
    /// The groups that the attribute `name` lists, with the op's channel.
    pub(super) fn groups(&mut self, name: &'static str) -> Result<CollectiveGroups, Error> {
        let mut groups = match self.mesh_axes(name)? {
            Some((mesh, axes)) => mesh.groups(&axes)?,
            None => self.required_rows(name)?,
        };
        groups.iter_mut().for_each(|group| group.retain(|&id| id != NOBODY));
        if groups.iter().any(Vec::is_empty) {
            return Err(Error::invalid(format!("{name} must have a process in each group")));
        }
        let channel = match self.integer("channel_id")? {
            // VHLO writes 0 where there is none, and no kind.
            Some(0) => None,
            Some(handle) => Some(ChannelHandle { handle, ty: 0 }),
            None => self.channel("channel_handle")?,
        };
        Ok(CollectiveGroups { groups, channel, use_global_device_ids: false })
    }

    /// Those of an op whose ids may be those of devices.
    pub(super) fn global_groups(&mut self) -> Result<CollectiveGroups, Error> {
        let use_global_device_ids = self.flag("use_global_device_ids")?;
        Ok(CollectiveGroups { use_global_device_ids, ..self.groups("replica_groups")? })
    }
}

impl<'m> Attributes<'m> {
    /// Groups, listed by the attribute `name`, and the channel.
    pub(super) fn groups(&mut self, name: &'m str, groups: &CollectiveGroups) {
        if let Some(channel) = groups.channel {
            let fields = vec![("handle", Field::Int(channel.handle)), ("type", Field::Int(channel.ty))];
            self.set("channel_handle", Value::Struct("channel_handle", fields));
        }
        self.set(name, Value::Rows(groups.groups.clone()));
        self.unit_if("use_global_device_ids", groups.use_global_device_ids);
    }

    /// Those of an op whose ids may be those of devices.
    pub(super) fn global_groups(&mut self, groups: &CollectiveGroups) {
        self.groups("replica_groups", groups);
    }

    /// Groups with a root.
    pub(super) fn rooted_groups(&mut self, rooted: &RootedGroups) {
        self.unit_if("has_dynamic_root", rooted.dynamic_root);
        self.global_groups(&rooted.groups);
    }
}

/// The first version has no dynamic root.
pub(super) fn broadcast(op: &mut dyn Source) -> Result<OpKind, Error> {
    let dynamic_root = op.bool("has_dynamic_root")?.unwrap_or(false);
    Ok(OpKind::CollectiveBroadcast(RootedGroups { groups: op.groups("replica_groups")?, dynamic_root }))
}

pub(super) fn reduce(op: &mut dyn Source) -> Result<OpKind, Error> {
    let dynamic_root = op.flag("has_dynamic_root")?;
    Ok(OpKind::CollectiveReduce(RootedGroups { groups: op.global_groups()?, dynamic_root }))
}
