//! The processes that a collective joins, as the StableHLO specification says in "Process grouping".

use oxcall::Error;
use oxcall_hlo::{CollectiveGroups, OpKind};

/// The processes of a program: a grid of replicas and partitions. Their ids count partitions first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessGrid {
    /// The number of replicas.
    pub replicas: usize,
    /// The number of partitions of each.
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

/// The members of a gang: which processes each stands for. Where axes of a mesh are not manual, a member stands for all
/// processes along them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Members {
    grid: ProcessGrid,
    /// The processes of each member, the first of which is whose ids it has.
    processes: Vec<Vec<usize>>,
}

impl Members {
    /// One member for each process.
    pub(crate) fn all(grid: ProcessGrid) -> Members {
        Members { grid, processes: (0..grid.size()).map(|process| vec![process]).collect() }
    }

    /// One member for each replica, which stands for all of its partitions.
    pub(crate) fn replicas(grid: ProcessGrid) -> Members {
        let partitions = |replica: usize| (0..grid.partitions).map(|p| replica * grid.partitions + p).collect();
        Members { grid, processes: (0..grid.replicas).map(partitions).collect() }
    }

    /// Members that stand for these processes of `grid`, none for none.
    pub(crate) fn of(grid: ProcessGrid, processes: Vec<Vec<usize>>) -> Members {
        Members { grid, processes }
    }

    pub(crate) fn len(&self) -> usize {
        self.processes.len()
    }

    pub(crate) fn grid(&self) -> ProcessGrid {
        self.grid
    }

    /// The processes that `member` stands for.
    pub(crate) fn processes(&self, member: usize) -> &[usize] {
        &self.processes[member]
    }

    /// The ids of `member`: replica and partition.
    pub(crate) fn ids(&self, member: usize) -> [u32; 2] {
        let process = self.processes[member][0];
        [process / self.grid.partitions, process % self.grid.partitions].map(|id| id as u32)
    }

    /// How people call `member`.
    pub(crate) fn name(&self, member: usize) -> String {
        let [replica, partition] = self.ids(member);
        match self.grid {
            ProcessGrid { replicas: 1, .. } => format!("partition {partition}"),
            ProcessGrid { partitions: 1, .. } => format!("replica {replica}"),
            _ => format!("replica {replica}, partition {partition}"),
        }
    }
}

/// Members that meet at a collective.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    /// The members, in the order of the collective.
    pub(crate) members: Vec<u32>,
    /// For each, the place in the group of the one whose operand it gets, where a collective sends operands as they
    /// are.
    pub(crate) sources: Vec<Option<u32>>,
}

/// The groups of a collective.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Groups {
    pub(crate) groups: Vec<Group>,
    /// For each member its group.
    pub(crate) of: Vec<u32>,
}

impl Groups {
    /// The groups of the collective `kind` among `members`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if ids are out of range, or a process is in no group or in two.
    pub(crate) fn resolve(kind: &OpKind, members: &Members) -> Result<Groups, Error> {
        let collective = kind.collective().ok_or_else(|| Error::internal("not a collective"))?;
        let mut member_of = vec![None; members.grid.size()]; // Bounded: processes.
        for (member, processes) in members.processes.iter().enumerate() {
            processes.iter().for_each(|&process| member_of[process] = Some(member as u32));
        }
        let sends = matches!(kind, OpKind::CollectivePermute(_) | OpKind::CollectiveBroadcast(_));
        let mut groups = Groups { groups: Vec::new(), of: vec![u32::MAX; members.len()] }; // Bounded: processes.
        let listed: Vec<Group> = process_groups(kind, collective, members.grid)?
            .into_iter()
            .map(|mut processes| {
                // Who sends to itself is a pair alone.
                processes.dedup();
                processes
            })
            .filter_map(|processes| among_members(&processes, &member_of, members).transpose())
            .collect::<Result<_, _>>()?;
        let listed = match kind {
            OpKind::CollectivePermute(_) => join_pairs(&listed, members.len())?,
            _ => listed,
        };
        for group in listed {
            // Several processes of one member say the same group.
            if groups.groups.contains(&group) {
                continue;
            }
            for &member in &group.members {
                if groups.of[member as usize] != u32::MAX {
                    let message = format!("{} is in two groups", members.name(member as usize));
                    return Err(Error::invalid_argument(message));
                }
                groups.of[member as usize] = groups.groups.len() as u32;
            }
            groups.groups.push(group);
        }
        for member in 0..members.len() {
            if groups.of[member] == u32::MAX {
                if !sends {
                    return Err(Error::invalid_argument(format!("{} is in no group", members.name(member))));
                }
                groups.of[member] = groups.groups.len() as u32;
                groups.groups.push(Group { members: vec![member as u32], sources: vec![None] });
            }
        }
        Ok(groups)
    }

    /// The number of members of each group.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they differ.
    pub(crate) fn size(all: &[Groups]) -> Result<usize, Error> {
        let mut sizes = all.iter().flat_map(|groups| &groups.groups).map(|group| group.members.len());
        let size = sizes.next().unwrap_or(1);
        if sizes.any(|other| other != size) {
            return Err(Error::invalid_argument("the groups have different numbers of processes"));
        }
        Ok(size)
    }
}

/// What the ids in the groups of a collective are, as the specification names it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbering {
    /// Replicas: those of each partition meet.
    CrossReplica,
    /// Partitions: those of each replica meet.
    CrossPartition,
    /// Replicas: those of all partitions meet.
    CrossReplicaAndPartition,
    /// Devices.
    FlattenedIds,
}

impl Numbering {
    fn of(kind: &OpKind, collective: &CollectiveGroups) -> Numbering {
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

/// The groups of a collective as processes.
fn process_groups(kind: &OpKind, collective: &CollectiveGroups, grid: ProcessGrid) -> Result<Vec<Vec<usize>>, Error> {
    let ProcessGrid { replicas, partitions } = grid;
    let numbering = Numbering::of(kind, collective);
    let (count, what) = match numbering {
        Numbering::CrossReplica | Numbering::CrossReplicaAndPartition => (replicas, "replica"),
        Numbering::CrossPartition => (partitions, "partition"),
        Numbering::FlattenedIds => (grid.size(), "device"),
    };
    let unknown = |id: i64| {
        let hint = match (numbering, knows_device_ids(kind)) {
            (Numbering::CrossPartition | Numbering::FlattenedIds, _) => String::new(),
            _ if partitions == 1 => String::new(),
            (_, true) => format!("; its {partitions} partitions meet by a channel and `use_global_device_ids`"),
            (_, false) => format!("; its {partitions} partitions meet by a channel"),
        };
        Error::invalid_argument(format!("{what} {id} is none of the program's {count}{hint}"))
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

/// The members that stand for these processes; `None` if all of them are of other gangs.
fn among_members(processes: &[usize], member_of: &[Option<u32>], members: &Members) -> Result<Option<Group>, Error> {
    let found: Vec<u32> = processes.iter().filter_map(|&process| member_of[process]).collect();
    if found.is_empty() {
        return Ok(None);
    }
    let twice = (1..found.len()).find(|&index| found[..index].contains(&found[index]));
    if found.len() != processes.len() || twice.is_some() {
        let of = members.name(found[0] as usize);
        return Err(Error::invalid_argument(format!(
            "the group {processes:?} of {of} crosses an axis that is not manual there"
        )));
    }
    let sources = vec![Some(0); found.len()]; // Bounded: processes.
    Ok(Some(Group { members: found, sources }))
}

/// Groups of all members between which pairs of source and target lead.
fn join_pairs(pairs: &[Group], count: usize) -> Result<Vec<Group>, Error> {
    let mut leader: Vec<usize> = (0..count).collect();
    let mut source_of = vec![None; count]; // Bounded: processes.
    for pair in pairs {
        let (source, target) = match pair.members[..] {
            [source, target] => (source, target),
            [both] => (both, both),
            _ => return Err(Error::internal("a pair of more than two")),
        };
        source_of[target as usize] = Some(source);
        let [from, to] = [source, target].map(|member| leader[member as usize]);
        leader.iter_mut().filter(|each| **each == to).for_each(|each| *each = from);
    }
    let mut groups = Vec::new();
    for first in 0..count {
        let members: Vec<u32> = (0..count).filter(|&member| leader[member] == first).map(|m| m as u32).collect();
        let place = |source: u32| members.iter().position(|&member| member == source).map(|place| place as u32);
        let sources = members.iter().map(|&member| source_of[member as usize].and_then(place)).collect();
        if !members.is_empty() {
            groups.push(Group { members, sources });
        }
    }
    Ok(groups)
}
