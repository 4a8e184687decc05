//! The processes that a collective joins ("Process grouping" in the StableHLO specification).

use oxcall::Error;
use oxcall_hlo::{CollectiveGroups, OpKind};

/// The processes of a program: a grid of replicas and partitions. The partition varies fastest in their ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessGrid {
    /// The number of replicas.
    pub replicas: usize,
    /// The number of partitions of each replica.
    pub partitions: usize,
}

impl Default for ProcessGrid {
    fn default() -> ProcessGrid {
        ProcessGrid { replicas: 1, partitions: 1 }
    }
}

impl ProcessGrid {
    /// The number of processes.
    pub fn size(self) -> usize {
        self.replicas * self.partitions
    }
}

/// The participants of a run of a program, with the processes that each represents. Where axes of a mesh are not
/// manual, a participant represents all processes along them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Clique {
    grid: ProcessGrid,
    /// The processes of each participant; the participant has the ids of the first.
    processes: Vec<Vec<usize>>,
}

impl Clique {
    /// One participant for each process.
    pub(crate) fn all(grid: ProcessGrid) -> Clique {
        Clique { grid, processes: (0..grid.size()).map(|process| vec![process]).collect() }
    }

    /// One participant for each replica, which represents all of its partitions.
    pub(crate) fn replicas(grid: ProcessGrid) -> Clique {
        let partitions = |replica: usize| (0..grid.partitions).map(|p| replica * grid.partitions + p).collect();
        Clique { grid, processes: (0..grid.replicas).map(partitions).collect() }
    }

    /// The clique whose participants represent these processes of `grid`; a participant has at least one.
    pub(crate) fn new(grid: ProcessGrid, processes: Vec<Vec<usize>>) -> Clique {
        Clique { grid, processes }
    }

    pub(crate) fn len(&self) -> usize {
        self.processes.len()
    }

    pub(crate) fn grid(&self) -> ProcessGrid {
        self.grid
    }

    /// The processes that `participant` represents.
    pub(crate) fn processes(&self, rank: usize) -> &[usize] {
        &self.processes[rank]
    }

    /// The ids of `participant`: replica and partition.
    pub(crate) fn ids(&self, rank: usize) -> [u32; 2] {
        let process = self.processes[rank][0];
        [process / self.grid.partitions, process % self.grid.partitions].map(|id| id as u32)
    }

    /// The name of `participant` in messages.
    pub(crate) fn name(&self, rank: usize) -> String {
        let [replica, partition] = self.ids(rank);
        match self.grid {
            ProcessGrid { replicas: 1, .. } => format!("partition {partition}"),
            ProcessGrid { partitions: 1, .. } => format!("replica {replica}"),
            _ => format!("replica {replica}, partition {partition}"),
        }
    }
}

/// Participants that meet at a collective.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    /// The participants, in the order of the collective.
    pub(crate) ranks: Vec<u32>,
    /// For each rank, the place in the group of the participant whose operand it gets, for collectives that send
    /// operands unchanged.
    pub(crate) sources: Vec<Option<u32>>,
}

/// The groups of a collective.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Groups {
    pub(crate) groups: Vec<Group>,
    /// The group of each participant.
    pub(crate) of: Vec<u32>,
}

impl Groups {
    /// The groups of the collective `kind` among the participants of `clique`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if ids are out of range, or a process is in no group or in two.
    pub(crate) fn resolve(kind: &OpKind, clique: &Clique) -> Result<Groups, Error> {
        let collective =
            kind.collective().ok_or_else(|| Error::internal(format!("expected a collective, got {}", kind.name())))?;
        let mut rank_of = vec![None; clique.grid.size()]; // Bounded: processes.
        for (rank, processes) in clique.processes.iter().enumerate() {
            processes.iter().for_each(|&process| rank_of[process] = Some(rank as u32));
        }
        let sends = matches!(kind, OpKind::CollectivePermute(_) | OpKind::CollectiveBroadcast(_));
        let mut groups = Groups { groups: Vec::new(), of: vec![u32::MAX; clique.len()] }; // Bounded: processes.
        let listed: Vec<Group> = process_groups(kind, collective, clique.grid)?
            .into_iter()
            .map(|mut processes| {
                // A process that sends to itself is a pair alone.
                processes.dedup();
                processes
            })
            .filter_map(|processes| among_participants(&processes, &rank_of, clique).transpose())
            .collect::<Result<_, _>>()?;
        let listed = match kind {
            OpKind::CollectivePermute(_) => join_pairs(&listed, clique.len())?,
            _ => listed,
        };
        for group in listed {
            // Several processes of one participant may give the same group.
            if groups.groups.contains(&group) {
                continue;
            }
            for &rank in &group.ranks {
                if groups.of[rank as usize] != u32::MAX {
                    let message =
                        format!("{} is in two groups; each process belongs to exactly one", clique.name(rank as usize));
                    return Err(Error::invalid_argument(message));
                }
                groups.of[rank as usize] = groups.groups.len() as u32;
            }
            groups.groups.push(group);
        }
        for rank in 0..clique.len() {
            if groups.of[rank] == u32::MAX {
                if !sends {
                    let message = format!("{} is in no group; each process belongs to exactly one", clique.name(rank));
                    return Err(Error::invalid_argument(message));
                }
                groups.of[rank] = groups.groups.len() as u32;
                groups.groups.push(Group { ranks: vec![rank as u32], sources: vec![None] });
            }
        }
        Ok(groups)
    }

    /// The number of participants of each group.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they differ.
    pub(crate) fn size(all: &[Groups]) -> Result<usize, Error> {
        let mut sizes = all.iter().flat_map(|groups| &groups.groups).map(|group| group.ranks.len());
        let size = sizes.next().unwrap_or(1);
        if let Some(other) = sizes.find(|&other| other != size) {
            return Err(Error::invalid_argument(format!(
                "all groups must have the same number of processes, but one has {size} and another {other}"
            )));
        }
        Ok(size)
    }
}

/// The meaning of the ids in a collective's groups, by the specification's names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbering {
    /// Replica ids: the replicas of each partition meet.
    CrossReplica,
    /// Partition ids: the partitions of each replica meet.
    CrossPartition,
    /// Replica ids: the processes of all partitions of these replicas meet.
    CrossReplicaAndPartition,
    /// Device ids.
    FlattenedIds,
}

impl Numbering {
    fn new(kind: &OpKind, collective: &CollectiveGroups) -> Numbering {
        match (collective.has_channel(), knows_device_ids(kind), collective.use_global_device_ids) {
            (false, ..) => Numbering::CrossReplica,
            (true, false, _) => Numbering::CrossPartition,
            (true, true, false) => Numbering::CrossReplicaAndPartition,
            (true, true, true) => Numbering::FlattenedIds,
        }
    }
}

/// Whether a collective has `use_global_device_ids`.
fn knows_device_ids(kind: &OpKind) -> bool {
    matches!(
        kind,
        OpKind::AllReduce(_) | OpKind::AllGather { .. } | OpKind::ReduceScatter { .. } | OpKind::CollectiveReduce(_)
    )
}

/// The groups of a collective, as processes.
fn process_groups(kind: &OpKind, collective: &CollectiveGroups, grid: ProcessGrid) -> Result<Vec<Vec<usize>>, Error> {
    let ProcessGrid { replicas, partitions } = grid;
    let numbering = Numbering::new(kind, collective);
    let (count, what) = match numbering {
        Numbering::CrossReplica | Numbering::CrossReplicaAndPartition => (replicas, "replica"),
        Numbering::CrossPartition => (partitions, "partition"),
        Numbering::FlattenedIds => (grid.size(), "device"),
    };
    let unknown = |id: i64| {
        let hint = match (numbering, knows_device_ids(kind)) {
            (Numbering::CrossPartition | Numbering::FlattenedIds, _) => String::new(),
            _ if partitions == 1 => String::new(),
            (_, true) => format!(
                "; for groups of its {partitions} partitions, give the op a channel and `use_global_device_ids`"
            ),
            (_, false) => format!("; for groups of its {partitions} partitions, give the op a channel"),
        };
        Error::invalid_argument(format!("a group names {what} {id}, but the program has {count} {what}s{hint}"))
    };
    let id = |&id: &i64| usize::try_from(id).ok().filter(|&known| known < count).ok_or_else(|| unknown(id));
    let lists = collective.groups.iter().map(|group| group.iter().map(id).collect::<Result<Vec<usize>, _>>());
    let mut lists = lists.collect::<Result<Vec<_>, _>>()?;
    if lists.is_empty() && !matches!(kind, OpKind::CollectivePermute(_)) {
        lists.push((0..count).collect());
    }
    let process = |replica: usize, partition: usize| replica * partitions + partition;
    Ok(match numbering {
        Numbering::FlattenedIds => lists,
        Numbering::CrossReplicaAndPartition => lists
            .iter()
            .map(|list| (0..partitions).flat_map(|p| list.iter().map(move |&r| process(r, p))).collect())
            .collect(),
        Numbering::CrossPartition => (0..replicas)
            .flat_map(|r| lists.iter().map(move |list| list.iter().map(|&p| process(r, p)).collect()))
            .collect(),
        Numbering::CrossReplica => (0..partitions)
            .flat_map(|p| lists.iter().map(move |list| list.iter().map(|&r| process(r, p)).collect()))
            .collect(),
    })
}

/// The participants that represent these processes; `None` if all of them belong to other cliques.
fn among_participants(processes: &[usize], rank_of: &[Option<u32>], clique: &Clique) -> Result<Option<Group>, Error> {
    let found: Vec<u32> = processes.iter().filter_map(|&process| rank_of[process]).collect();
    if found.is_empty() {
        return Ok(None);
    }
    let twice = (1..found.len()).find(|&index| found[..index].contains(&found[index]));
    if found.len() != processes.len() || twice.is_some() {
        let of = clique.name(found[0] as usize);
        return Err(Error::invalid_argument(format!(
            "the group {processes:?}, which contains {of}, crosses a mesh axis that is not manual here"
        )));
    }
    let sources = vec![Some(0); found.len()]; // Bounded: processes.
    Ok(Some(Group { ranks: found, sources }))
}

/// Groups of all participants that pairs of source and target connect.
fn join_pairs(pairs: &[Group], count: usize) -> Result<Vec<Group>, Error> {
    let mut leader: Vec<usize> = (0..count).collect();
    let mut source_of = vec![None; count]; // Bounded: processes.
    for pair in pairs {
        let (source, target) = match pair.ranks[..] {
            [source, target] => (source, target),
            [both] => (both, both),
            ref more => return Err(Error::internal(format!("a source-target pair has {} members", more.len()))),
        };
        source_of[target as usize] = Some(source);
        let [from, to] = [source, target].map(|rank| leader[rank as usize]);
        leader.iter_mut().filter(|each| **each == to).for_each(|each| *each = from);
    }
    let mut groups = Vec::new();
    for first in 0..count {
        let ranks: Vec<u32> = (0..count).filter(|&rank| leader[rank] == first).map(|m| m as u32).collect();
        let place = |source: u32| ranks.iter().position(|&rank| rank == source).map(|place| place as u32);
        let sources = ranks.iter().map(|&rank| source_of[rank as usize].and_then(place)).collect();
        if !ranks.is_empty() {
            groups.push(Group { ranks, sources });
        }
    }
    Ok(groups)
}
