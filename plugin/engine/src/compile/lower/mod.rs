//! Lowering: from the ops and fusions of a function to a [graph](super::graph) of nodes and values. Reshapes and other
//! views vanish, and the ops of one kernel become one node.
//!
//! * `order`: the order of ops; `view`: ops that need no kernel; `flops`: the arithmetic
//!   operations of kernels.
//! * `control_flow` (`interchange`: loops that run piece by piece), `custom_call` (`layout`: layouts of their buffers,
//!   `packing`: elements that share bytes), `collective`, `manual` (manual computations as programs of their own),
//!   `constants`.

mod collective;
mod constants;
mod control_flow;
mod custom_call;
mod flops;
mod interchange;
mod layout;
mod manual;
mod order;
mod packing;
mod view;

pub(super) use self::constants::materialise;
pub(super) use self::view::is_view;

use std::sync::Arc;

use oxcall::Error;
use oxcall_hlo::{ElementType, Func, Literal, Module, Op, OpKind, Region, TensorType, Type, ValueId};
use oxcall_kernels::kernel::Kernel;
use oxcall_kernels::kernels::fill::{Fill, WORTH_FILLING};
use oxcall_kernels::pool::Cost;
use smallvec::SmallVec;

use self::custom_call::Called;
use self::flops::flops;
use self::order::{Item, order};
use super::fusion::{self, Fusion};
use super::graph::{Block, Compute, Graph, Node, Position, Source, Value, ValueInfo, Work};
use crate::collective::Clique;
use crate::plan::{CallSite, CollectiveSite, ManualSite, Plan, ProcessId, byte_size, leaves};
use crate::runtime::Runtime;

/// The number of iterations assumed for a loop in cost estimates.
const ASSUMED_ITERATIONS: f64 = 100.0;

/// The values that make up an IR value: one, or any number for a tuple.
type Leaves = SmallVec<[Value; 1]>;

/// The lowered entry function of a module.
pub(super) struct Lowered {
    pub(super) graph: Graph,
    pub(super) calls: Vec<CallSite>,
    pub(super) collectives: Vec<CollectiveSite>,
    pub(super) manuals: Vec<ManualSite>,
}

/// The function that plans the region of a manual computation, which is a program of its own.
type PlanRegion = fn(Module, &Runtime, Vec<Arc<Clique>>) -> Result<Plan, Error>;

/// The graph of the entry function of `module`, which one of `cliques` will run; `plan` plans the regions of its manual
/// computations.
///
/// # Errors
/// UNIMPLEMENTED for ops that the engine does not support, the errors of custom calls and of the lookup of their
/// targets, and errors for collectives whose groups do not match the cliques.
pub(super) fn lower(
    module: &Module,
    runtime: &Runtime,
    cliques: &[Arc<Clique>],
    plan: PlanRegion,
) -> Result<Lowered, Error> {
    let func = module.main();
    let graph = Graph {
        values: Vec::new(),
        constants: Vec::new(),
        body: Block::default(),
        results: Vec::new(),
        end: 0,
        cost: Cost::default(),
    };
    let mut lowering = Lowering {
        module,
        func,
        runtime,
        cliques,
        plan,
        graph,
        leaves: vec![Leaves::new(); func.values.len()],
        calls: Vec::new(),
        collectives: Vec::new(),
        manuals: Vec::new(),
        ids: [None; 2],
        frames: Vec::new(),
        position: 1,
        depth: 0,
        empty: Value(0),
    };
    lowering.empty = lowering.constant(Literal::dense(TensorType::new(ElementType::U8, [0]), Vec::new()), None);
    for (index, &param) in func.body.params.iter().enumerate() {
        let ty = func.ty(param);
        if matches!(ty, Type::Tuple(_)) {
            return Err(Error::unimplemented(format!(
                "parameter {index} of the program has type {ty}; tuples are not supported there"
            )));
        }
        let bytes = leaves(ty).into_iter().map(byte_size).sum();
        let value = lowering.value(bytes, Source::Parameter(index as u32), Some(param));
        lowering.leaves[param.0 as usize].push(value);
    }
    let body = lowering.block(&func.body)?;
    lowering.graph.body = body;
    lowering.graph.results = lowering.flat(&func.body.results);
    lowering.graph.end = lowering.next_position();
    let Lowering { graph, calls, collectives, manuals, .. } = lowering;
    Ok(Lowered { graph, calls, collectives, manuals })
}

struct Lowering<'m> {
    module: &'m Module,
    func: &'m Func,
    runtime: &'m Runtime,
    cliques: &'m [Arc<Clique>],
    plan: PlanRegion,
    graph: Graph,
    leaves: Vec<Leaves>,
    calls: Vec<CallSite>,
    collectives: Vec<CollectiveSite>,
    manuals: Vec<ManualSite>,
    /// The ids of the process: replica and partition.
    ids: [Option<Value>; 2],
    /// For each call frame, one of its calls.
    frames: Vec<Called<'m>>,
    position: Position,
    /// The number of open loops.
    depth: u32,
    /// The value for everything without bytes.
    empty: Value,
}

impl<'m> Lowering<'m> {
    fn next_position(&mut self) -> Position {
        self.position += 1;
        self.position - 1
    }

    fn value(&mut self, bytes: usize, source: Source, of: Option<ValueId>) -> Value {
        if bytes == 0 && source == Source::Computed {
            return self.empty;
        }
        let value = Value(u32::try_from(self.graph.values.len()).expect("fewer than 2^32 values"));
        self.graph.values.push(ValueInfo { bytes, source, depth: self.depth, of });
        value
    }

    /// A constant that the plan keeps. It is defined outside all loops.
    fn constant(&mut self, literal: Literal, of: Option<ValueId>) -> Value {
        let depth = std::mem::take(&mut self.depth);
        let source = Source::Constant(self.graph.constants.len() as u32);
        let value = self.value(literal.ty().byte_size(), source, of);
        self.graph.constants.push(literal);
        self.depth = depth;
        value
    }

    fn tensor(&self, value: ValueId) -> Option<&TensorType> {
        self.func.ty(value).tensor()
    }

    /// The leaves of several values, in order.
    fn flat(&self, values: &[ValueId]) -> Vec<Value> {
        values.iter().flat_map(|value| &self.leaves[value.0 as usize]).copied().collect()
    }

    /// New values for the leaves of `value`, which a node computes.
    fn define(&mut self, value: ValueId) -> Leaves {
        let func = self.func;
        let mut leaf = |leaf| self.value(byte_size(leaf), Source::Computed, Some(value));
        let new: Leaves = leaves(func.ty(value)).into_iter().map(&mut leaf).collect();
        self.leaves[value.0 as usize] = new.clone();
        new
    }

    fn block(&mut self, region: &'m Region) -> Result<Block, Error> {
        let found = fusion::fuse(self.func, region, self.runtime.codegen(), self.depth > 0)?;
        let items = order(region, &found, self.func.values.len())?;
        let mut fusions: Vec<Option<Fusion>> = found.into_iter().map(Some).collect();
        let mut block = Block::default();
        for item in items {
            match item {
                Item::Op(index) => {
                    let op = &region.ops[index];
                    self.op(op, &mut block).map_err(|error| self.located(error, op))?;
                }
                Item::Fusion(index) => {
                    let fusion = fusions[index].take().expect("each fusion is computed once");
                    let inputs = self.flat(&fusion.inputs);
                    let outputs = fusion.outputs.iter().flat_map(|&output| self.define(output)).collect();
                    let flops = fusion.ops.iter().map(|&index| flops(&region.ops[index], self.func)).sum();
                    self.compute(&mut block, (fusion.kernel.boxed(), flops), inputs, outputs);
                }
            }
        }
        Ok(block)
    }

    /// Adds to an error the op that it is about.
    fn located(&self, error: Error, op: &Op) -> Error {
        let name = op.kind.name();
        let error = if error.message().contains(name) { error } else { error.context(name) };
        match self.module.location(op.location) {
            oxcall_hlo::Location::Unknown => error,
            place => Error::new(error.code(), format!("{} (at {place})", error.message())),
        }
    }

    /// Adds a kernel, with the number of its arithmetic operations.
    fn compute(
        &mut self,
        block: &mut Block,
        (kernel, flops): (Box<dyn Kernel>, f64),
        inputs: Vec<Value>,
        outputs: Vec<Value>,
    ) {
        if outputs.iter().all(|&output| self.graph.info(output).bytes == 0) {
            return;
        }
        self.charge(kernel.cost());
        let aliases = kernel.in_place();
        let (at, work) = (self.next_position(), Work::Kernel { kernel, flops });
        block.nodes.push(Node::Compute(Compute { at, work, inputs, outputs, aliases, must_alias: false }));
    }

    /// Adds to the program's cost.
    fn charge(&mut self, cost: Cost) {
        let times = ASSUMED_ITERATIONS.powi(self.depth as i32);
        self.graph.cost = self.graph.cost + Cost { flops: cost.flops * times, bytes: cost.bytes * times };
    }

    fn op(&mut self, op: &'m Op, block: &mut Block) -> Result<(), Error> {
        match &op.kind {
            OpKind::Constant(literal) => self.literal(literal, op.results[0], block),
            OpKind::ReplicaId => self.id(ProcessId::Replica, op.results[0]),
            OpKind::PartitionId => self.id(ProcessId::Partition, op.results[0]),
            OpKind::OptimizationBarrier => {
                for (&operand, &result) in op.operands.iter().zip(&op.results) {
                    self.leaves[result.0 as usize] = self.leaves[operand.0 as usize].clone();
                }
            }
            OpKind::Tuple => self.leaves[op.results[0].0 as usize] = self.flat(&op.operands).into(),
            OpKind::GetTupleElement { index } => self.tuple_element(op, *index)?,
            OpKind::AfterAll => self.leaves[op.results[0].0 as usize] = [self.empty].into_iter().collect(),
            OpKind::While | OpKind::If | OpKind::Case => self.control_flow(op, block)?,
            OpKind::CustomCall(call) => self.custom_call(op, call, block)?,
            OpKind::ManualComputation(manual) => self.manual_computation(op, manual, block)?,
            kind if kind.collective().is_some() => self.collective(op, block)?,
            _ => self.kernel_op(op, block)?,
        }
        Ok(())
    }

    fn literal(&mut self, literal: &Literal, result: ValueId, block: &mut Block) {
        let bytes = literal.ty().byte_size();
        match Fill::from_splat(literal) {
            Some(fill) if bytes >= WORTH_FILLING && self.depth == 0 => {
                let outputs = self.define(result).into_vec();
                self.compute(block, (Box::new(fill), 0.0), Vec::new(), outputs);
            }
            _ => {
                let value = if bytes == 0 { self.empty } else { self.constant(literal.clone(), Some(result)) };
                self.leaves[result.0 as usize] = [value].into_iter().collect();
            }
        }
    }

    fn id(&mut self, id: ProcessId, result: ValueId) {
        let value = self.ids[id as usize].unwrap_or_else(|| {
            let depth = std::mem::take(&mut self.depth);
            let value = self.value(size_of::<u32>(), Source::Id(id), None);
            self.depth = depth;
            value
        });
        self.ids[id as usize] = Some(value);
        self.leaves[result.0 as usize] = [value].into_iter().collect();
    }

    fn tuple_element(&mut self, op: &Op, index: usize) -> Result<(), Error> {
        let ty = self.func.ty(op.operands[0]);
        let Type::Tuple(elements) = ty else {
            return Err(Error::invalid_argument(format!("expected a tuple as operand, got {ty}")));
        };
        let width = |ty: &Type| leaves(ty).len();
        let first: usize = elements.iter().take(index).map(width).sum();
        let count = elements.get(index).map_or(0, width);
        let all = &self.leaves[op.operands[0].0 as usize];
        let part = all[first..][..count].iter().copied().collect();
        self.leaves[op.results[0].0 as usize] = part;
        Ok(())
    }

    fn kernel_op(&mut self, op: &Op, block: &mut Block) -> Result<(), Error> {
        if let (Some(&operand), [result]) = (op.operands.first(), &op.results[..])
            && let (Some(from), Some(to)) = (self.tensor(operand), self.tensor(*result))
            && is_view(op, from, to)
        {
            self.leaves[result.0 as usize] = self.leaves[operand.0 as usize].clone();
            return Ok(());
        }
        let kernel = oxcall_kernels::single(op, self.func)?;
        let inputs = self.flat(&op.operands);
        let outputs = op.results.iter().flat_map(|&result| self.define(result)).collect();
        self.compute(block, (kernel, flops(op, self.func)), inputs, outputs);
        Ok(())
    }
}
