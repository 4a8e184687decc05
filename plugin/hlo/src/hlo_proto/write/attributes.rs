//! The fields of instructions that are not one to one with those of ops.

use oxcall_proto::Writer as Message;

use super::super::fields::{
    REPLICA_IDS, SOURCE_TARGET, TRIPLE, WINDOW_DIMENSIONS, dot as dot_dims, instruction as field,
};
use crate::{CollectiveGroups, ComparisonDirection, ComparisonType, DotDims};

/// A dimension.
pub(crate) fn dimension(fields: &mut Message, dim: usize) {
    fields.ints(field::DIMENSIONS, [dim as i64]);
}

pub(crate) fn compare(fields: &mut Message, direction: ComparisonDirection, order: ComparisonType) {
    fields.bytes(field::DIRECTION, direction.name());
    if order != ComparisonType::NoType {
        fields.bytes(field::COMPARISON, order.name());
    }
}

pub(crate) fn slice(fields: &mut Message, start: &[usize], limit: &[usize], strides: &[usize]) {
    for ((start, limit), stride) in start.iter().zip(limit).zip(strides) {
        fields.message(field::SLICES, &triple([*start as i64, *limit as i64, *stride as i64]));
    }
}

pub(crate) fn pad(fields: &mut Message, low: &[i64], high: &[i64], interior: &[i64]) {
    let mut config = Message::default();
    for ((low, high), interior) in low.iter().zip(high).zip(interior) {
        config.message(WINDOW_DIMENSIONS, &triple([*low, *high, *interior]));
    }
    fields.message(field::PADDING, &config);
}

/// The members of each group of a collective.
pub(crate) fn groups(fields: &mut Message, collective: &CollectiveGroups) {
    for group in &collective.groups {
        fields.nested(field::REPLICA_GROUPS, |members| _ = members.ints(REPLICA_IDS, group.iter().copied()));
    }
    channel(fields, collective);
}

/// The pairs of source and target of a permutation.
pub(crate) fn pairs(fields: &mut Message, collective: &CollectiveGroups) {
    for pair in &collective.groups {
        let mut members = Message::default();
        SOURCE_TARGET.into_iter().zip(pair).for_each(|(number, &id)| _ = members.int(number, id));
        fields.message(field::SOURCE_TARGET_PAIRS, &members);
    }
    channel(fields, collective);
}

fn channel(fields: &mut Message, collective: &CollectiveGroups) {
    if let Some(channel) = &collective.channel {
        fields.int(field::CHANNEL, channel.handle);
    }
    fields.bool(field::GLOBAL_DEVICE_IDS, collective.use_global_device_ids);
}

/// A message whose fields are three integers: a dimension of a slice or padding.
fn triple(values: [i64; 3]) -> Message {
    let mut message = Message::default();
    TRIPLE.into_iter().zip(values).for_each(|(number, value)| _ = message.int(number, value));
    message
}

pub(crate) fn dot(fields: &mut Message, dims: &DotDims) {
    let mut numbers = Message::default();
    numbers.sizes(dot_dims::LHS_CONTRACTING, &dims.lhs_contracting);
    numbers.sizes(dot_dims::RHS_CONTRACTING, &dims.rhs_contracting);
    numbers.sizes(dot_dims::LHS_BATCHING, &dims.lhs_batching).sizes(dot_dims::RHS_BATCHING, &dims.rhs_batching);
    fields.message(field::DOT_DIMS, &numbers);
}
