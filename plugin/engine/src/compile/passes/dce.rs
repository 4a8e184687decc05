//! Dead code elimination.

use oxcall_hlo::{Module, Op, OpKind, Region, Type, ValueId};

/// Removes unused ops without side effects, unused values that a loop carries, and unused results of branches. Returns
/// whether it removed any.
pub(crate) fn remove_dead(module: &mut Module) -> bool {
    let entry = module.entry.0 as usize;
    let func = &mut module.funcs[entry];
    let mut graph = Graph::new(&func.body, &func.values);
    func.body.results.iter().for_each(|&value| graph.need(value));
    graph.propagate();
    let Graph { needed, alive, .. } = graph;
    let mut sweep = Sweep { needed, alive, next: 0, changed: false };
    sweep.region(&mut func.body);
    sweep.changed
}

/// The definition of a value.
#[derive(Clone, Copy)]
enum Def {
    /// A parameter of the function or of a body, which has to stay.
    Param,
    /// Result `1` of op `0`.
    Result(usize, usize),
    /// Parameter `1` of a region of op `0`, a loop.
    Carried(usize, usize),
}

/// An op, and the op in whose region it is.
struct Node<'m> {
    op: &'m Op,
    parent: Option<usize>,
}

struct Graph<'m> {
    /// All ops, each before those of its regions.
    nodes: Vec<Node<'m>>,
    defs: Vec<Def>,
    needed: Vec<bool>,
    alive: Vec<bool>,
    pending: Vec<ValueId>,
}

impl<'m> Graph<'m> {
    fn new(body: &'m Region, values: &[Type]) -> Graph<'m> {
        let mut graph = Graph {
            nodes: Vec::new(),
            defs: vec![Def::Param; values.len()],
            needed: vec![false; values.len()],
            alive: Vec::new(),
            pending: Vec::new(),
        };
        graph.add(body, None);
        graph.alive = vec![false; graph.nodes.len()];
        for index in 0..graph.nodes.len() {
            if matches!(&graph.nodes[index].op.kind, OpKind::CustomCall(call) if call.has_side_effect) {
                graph.revive(index);
            }
        }
        graph
    }

    fn add(&mut self, region: &'m Region, parent: Option<usize>) {
        for op in &region.ops {
            let index = self.nodes.len();
            self.nodes.push(Node { op, parent });
            for (place, result) in op.results.iter().enumerate() {
                self.defs[result.0 as usize] = Def::Result(index, place);
            }
            for region in &op.regions {
                if op.kind == OpKind::While {
                    for (place, param) in region.params.iter().enumerate() {
                        self.defs[param.0 as usize] = Def::Carried(index, place);
                    }
                }
                self.add(region, Some(index));
            }
        }
    }

    fn need(&mut self, value: ValueId) {
        if !std::mem::replace(&mut self.needed[value.0 as usize], true) {
            self.pending.push(value);
        }
    }

    /// Marks the op at `index`, and the ops around it, as alive.
    fn revive(&mut self, mut index: usize) {
        while !std::mem::replace(&mut self.alive[index], true) {
            let Node { op, parent } = self.nodes[index];
            match op.kind {
                OpKind::While => self.need(op.regions[0].results[0]),
                OpKind::If | OpKind::Case => self.need(op.operands[0]),
                _ => {
                    op.operands.iter().for_each(|&value| self.need(value));
                    op.regions.iter().flat_map(|region| &region.results).for_each(|&value| self.need(value));
                }
            }
            match parent {
                Some(parent) => index = parent,
                None => break,
            }
        }
    }

    fn propagate(&mut self) {
        while let Some(value) = self.pending.pop() {
            let (index, place) = match self.defs[value.0 as usize] {
                Def::Param => continue,
                Def::Result(index, place) | Def::Carried(index, place) => (index, place),
            };
            self.revive(index);
            let op = self.nodes[index].op;
            match op.kind {
                OpKind::While => {
                    self.need(op.operands[place]);
                    self.need(op.results[place]);
                    self.need(op.regions[1].results[place]);
                }
                OpKind::If | OpKind::Case => {
                    op.regions.iter().for_each(|region| self.need(region.results[place]));
                }
                _ => {}
            }
        }
    }
}

/// Removes everything that was not marked.
struct Sweep {
    needed: Vec<bool>,
    /// The marks of all ops, in the order of [`Graph::nodes`].
    alive: Vec<bool>,
    next: usize,
    changed: bool,
}

impl Sweep {
    fn region(&mut self, region: &mut Region) {
        let ops = std::mem::take(&mut region.ops);
        region.ops = ops.into_iter().filter_map(|op| self.op(op)).collect();
    }

    fn op(&mut self, mut op: Op) -> Option<Op> {
        let alive = self.alive[self.next];
        self.next += 1;
        op.regions.iter_mut().for_each(|region| self.region(region));
        if !alive {
            self.changed = true;
            return None;
        }
        let kept: Vec<bool> = op.results.iter().map(|value| self.needed[value.0 as usize]).collect();
        let branches = matches!(op.kind, OpKind::If | OpKind::Case);
        if (branches || op.kind == OpKind::While) && kept.contains(&false) {
            self.changed = true;
            retain(&mut op.results, &kept);
            if op.kind == OpKind::While {
                retain(&mut op.operands, &kept);
                op.regions.iter_mut().for_each(|region| retain(&mut region.params, &kept));
                retain(&mut op.regions[1].results, &kept);
            } else {
                op.regions.iter_mut().for_each(|region| retain(&mut region.results, &kept));
            }
        }
        Some(op)
    }
}

fn retain(values: &mut Vec<ValueId>, kept: &[bool]) {
    let mut kept = kept.iter();
    values.retain(|_| *kept.next().expect("as many"));
}
