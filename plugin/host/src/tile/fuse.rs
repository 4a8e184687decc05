//! Which ops become one program.
//!
//! Ops are taken from last to first. An element-wise op joins a cluster that uses its result if all users are in it, or
//! if its result can be given out beside the cluster's without a cycle; else it starts a cluster. Ops that cost nothing
//! to repeat (constants, iota, broadcasts, a conversion of what is in memory anyway) belong to each cluster that uses
//! them. Reshapes are other names of the same elements. At last reductions of rows join the clusters around them.

use std::collections::{HashMap, HashSet};

use oxcall::Error;
use oxcall_hlo::{ElementType, Func, Op, OpKind, Region, TensorType, ValueId};

use super::{emit, rows};
use crate::kernel::Kernel;
use crate::{math, scalar};

/// Ops that run as one kernel.
///
/// An op of the region has to be run on its own if a result of it is used by an op that is in no cluster, by `inputs`
/// of a cluster or as a result of the region, and is not among the `outputs` of any cluster.
pub struct Cluster {
    /// The ops, by index in the region, ascending. One that costs little can be in several clusters.
    pub ops: Vec<usize>,
    /// The operands of the kernel, each once.
    pub inputs: Vec<ValueId>,
    /// The results of the kernel.
    pub outputs: Vec<ValueId>,
    /// The kernel.
    pub kernel: Box<dyn Kernel>,
}

/// Clusters of the element-wise ops of a region. Contracted to one op each, they leave the region free of cycles.
///
/// # Errors
/// INTERNAL if the region is not verified.
pub fn fuse(func: &Func, region: &Region) -> Result<Vec<Cluster>, Error> {
    let mut fusion = Fusion::new(func, region);
    for op in (0..region.ops.len()).rev() {
        fusion.place(op);
    }
    let Fusion { graph, clusters, counts, members, repeated } = fusion;
    let shared = emit::Shared { graph: &graph, members: &members, repeated: &repeated };
    let mut found = Vec::new();
    for unit in rows::merge(&graph, clusters, &counts, &members) {
        match emit::cluster(&shared, unit.ops, unit.count, unit.row) {
            Ok(cluster) => found.push(cluster),
            // Rows that are used in another way than row by row: each part for itself, then.
            Err(_) if unit.row > 1 => {
                for ops in unit.parts {
                    let count = graph.tensor(region.ops[ops[0]].results[0]).map_or(0, TensorType::count);
                    found.push(emit::cluster(&shared, ops, count, 1)?);
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Ops of one cluster at most, so that compiling takes linear time and programs fit the caches.
pub(super) const MOST_OPS: usize = 192;
/// Nodes looked at in the search for a cycle.
pub(super) const MOST_VISITS: usize = 512;

/// Who makes and who uses values.
pub(super) struct Graph<'a> {
    pub(super) func: &'a Func,
    pub(super) region: &'a Region,
    /// The op that makes each value of the region.
    producers: HashMap<ValueId, usize>,
    /// The ops that use results of each op, reshapes looked through.
    pub(super) users: Vec<Vec<usize>>,
    /// Whether results of each op are results of the region, perhaps reshaped.
    escapes: Vec<bool>,
}

impl<'a> Graph<'a> {
    fn new(func: &'a Func, region: &'a Region) -> Graph<'a> {
        let mut producers = HashMap::new();
        for (index, op) in region.ops.iter().enumerate() {
            producers.extend(op.results.iter().map(|&result| (result, index)));
        }
        let count = region.ops.len();
        let mut graph = Graph { func, region, producers, users: vec![Vec::new(); count], escapes: vec![false; count] };
        for (index, op) in region.ops.iter().enumerate() {
            if graph.is_reshape(op) {
                continue;
            }
            let captures = op.regions.iter().flat_map(scalar::captures);
            for value in op.operands.iter().copied().chain(captures) {
                if let Some(producer) = graph.producer(graph.root(value))
                    && graph.users[producer].last() != Some(&index)
                {
                    graph.users[producer].push(index);
                }
            }
        }
        for &result in &region.results {
            if let Some(producer) = graph.producer(graph.root(result)) {
                graph.escapes[producer] = true;
            }
        }
        graph
    }

    /// The op of this region that makes `value`.
    pub(super) fn producer(&self, value: ValueId) -> Option<usize> {
        self.producers.get(&value).copied()
    }

    /// The value of which `value` is a reshape.
    pub(super) fn root(&self, mut value: ValueId) -> ValueId {
        while let Some(producer) = self.producer(value)
            && self.is_reshape(&self.region.ops[producer])
        {
            value = self.region.ops[producer].operands[0];
        }
        value
    }

    /// Whether the result has the operand's elements in their order.
    fn is_reshape(&self, op: &Op) -> bool {
        match &op.kind {
            OpKind::Reshape => true,
            OpKind::BroadcastInDim { dims } => match (self.tensor(op.operands[0]), self.tensor(op.results[0])) {
                (Some(from), Some(to)) => {
                    from.checked_count() == to.checked_count() && dims.windows(2).all(|pair| pair[0] < pair[1])
                }
                _ => false,
            },
            _ => false,
        }
    }

    pub(super) fn tensor(&self, value: ValueId) -> Option<&'a TensorType> {
        self.func.ty(value).tensor()
    }

    /// Whether results of `op` are used outside of the cluster with these members.
    pub(super) fn is_used_outside(&self, op: usize, is_member: impl Fn(usize) -> bool) -> bool {
        self.escapes[op] || self.users[op].iter().any(|&user| !is_member(user))
    }

    /// Whether the op costs nothing inside of a program.
    pub(super) fn is_free(op: &Op) -> bool {
        match &op.kind {
            OpKind::Constant(literal) => literal.splat_element().is_some() || literal.ty().checked_count() == Some(1),
            OpKind::Iota { .. } | OpKind::BroadcastInDim { .. } | OpKind::Reshape => true,
            _ => false,
        }
    }

    /// The number of elements of an element-wise op that can be fused.
    fn fusable(&self, op: &Op) -> Option<usize> {
        if !math::is_element_wise(&op.kind) {
            return None;
        }
        let result = self.tensor(*op.results.first()?)?;
        let count = result.checked_count()?;
        let mut elements: smallvec::SmallVec<[ElementType; 4]> = smallvec::SmallVec::new();
        for &operand in &op.operands {
            let operand = self.tensor(operand)?;
            if operand.dims != result.dims && operand.checked_count() != Some(1) {
                return None;
            }
            elements.push(operand.element);
        }
        math::lower(&op.kind, &elements, result.element).is_ok().then_some(count)
    }

    /// Whether it is better to compute the op twice than to store its result: a conversion of what no cluster makes.
    fn is_repeatable(&self, op: &Op) -> bool {
        let is_stored = |value: ValueId| match self.producer(self.root(value)) {
            Some(producer) => self.fusable(&self.region.ops[producer]).is_none(),
            None => true,
        };
        matches!(op.kind, OpKind::Convert) && op.operands.iter().all(|&operand| is_stored(operand))
    }
}

struct Fusion<'a> {
    graph: Graph<'a>,
    /// The ops of each cluster.
    clusters: Vec<Vec<usize>>,
    /// The number of elements of each cluster.
    counts: Vec<usize>,
    /// The clusters that each op is in.
    members: Vec<Vec<usize>>,
    /// The ops that each user computes for itself; their results are not given out.
    repeated: HashSet<usize>,
}

impl<'a> Fusion<'a> {
    fn new(func: &'a Func, region: &'a Region) -> Fusion<'a> {
        let members = vec![Vec::new(); region.ops.len()];
        Fusion {
            graph: Graph::new(func, region),
            clusters: Vec::new(),
            counts: Vec::new(),
            members,
            repeated: HashSet::new(),
        }
    }

    /// Finds a place for an op, after all ops that come after it have theirs.
    fn place(&mut self, index: usize) {
        let op = &self.graph.region.ops[index];
        let Some(count) = self.graph.fusable(op) else { return };
        let mut candidates: Vec<usize> = Vec::new();
        for &user in &self.graph.users[index] {
            for &cluster in &self.members[user] {
                if self.counts[cluster] == count && !candidates.contains(&cluster) {
                    candidates.push(cluster);
                }
            }
        }
        let is_inside_only = |cluster: &usize| {
            !self.graph.is_used_outside(index, |user| self.members[user].iter().all(|each| each == cluster))
                && self.graph.users[index].iter().all(|&user| !self.members[user].is_empty())
        };
        candidates.retain(|&cluster| self.clusters[cluster].len() < MOST_OPS);
        if self.graph.is_repeatable(op) && !candidates.is_empty() {
            self.repeated.insert(index);
            return candidates.into_iter().for_each(|cluster| self.join(index, cluster));
        }
        let home = candidates
            .iter()
            .copied()
            .find(is_inside_only)
            .or_else(|| candidates.iter().copied().find(|&cluster| !self.closes_cycle(index, cluster)));
        match home {
            Some(cluster) => self.join(index, cluster),
            None => {
                self.clusters.push(Vec::new());
                self.counts.push(count);
                self.join(index, self.clusters.len() - 1);
            }
        }
    }

    fn join(&mut self, op: usize, cluster: usize) {
        self.clusters[cluster].push(op);
        self.members[op].push(cluster);
    }

    /// Whether another user of `op` leads to `cluster`: then `op` cannot be inside.
    fn closes_cycle(&self, op: usize, cluster: usize) -> bool {
        let mut seen = HashSet::new();
        let is_inside = |user: &&usize| self.members[**user].contains(&cluster);
        let mut pending: Vec<usize> = self.graph.users[op]
            .iter()
            .filter(|user| !is_inside(user) || self.members[**user].len() > 1)
            .copied()
            .collect();
        while let Some(next) = pending.pop() {
            if !seen.insert(next) {
                continue;
            }
            if seen.len() > MOST_VISITS {
                return true;
            }
            // What is in other clusters is reached with all that is in them.
            let others = self.members[next].iter().filter(|&&each| each != cluster);
            pending.extend(others.flat_map(|&each| self.clusters[each].iter().copied()));
            let is_repeated = self.members[next].contains(&cluster);
            for &user in &self.graph.users[next] {
                let is_inside = self.members[user].contains(&cluster);
                if is_inside && !is_repeated {
                    return true;
                }
                if !is_inside {
                    pending.push(user);
                }
            }
        }
        false
    }
}
