//! From IR to a graph.

use std::sync::Arc;

use oxcall::Error;
use oxcall_hlo::sharding::ManualComputation;
use oxcall_hlo::{CustomCall, ElementType, Func, Literal, Module, Op, OpKind, Region, TensorType, Type, ValueId};
use smallvec::SmallVec;

use super::fill::{Fill, WORTH_FILLING};
use super::graph::{
    Block, Branch, Carried, Compute, Graph, Node, Position, Source, Switch, Value, ValueInfo, While, Work,
};
use super::manual::ManualSite;
use super::order::{Item, order};
use super::register::Register;
use super::single::single;
use super::types::{byte_size, leaves};
use super::view::is_view;
use super::{CallSite, MeetingSite, ProcessId, layout};
use crate::collective::{self, Groups, Members};
use crate::kernel::Kernel;
use crate::pool::Cost;
use crate::runtime::Runtime;
use crate::tile::{self, Cluster};

/// A custom call with the types of its buffers: equal ones may have one call frame.
type Called<'m> = (&'m CustomCall, Vec<Option<&'m TensorType>>, Vec<Option<&'m TensorType>>);

/// A call is compared with so many others.
const COMPARED_CALLS: usize = 16;

/// How often a loop is taken to run, where the cost of a program is estimated.
const ASSUMED_ITERATIONS: f64 = 100.0;

/// The values that a value of the IR consists of: one, or for a tuple any number.
type Leaves = SmallVec<[Value; 1]>;

/// What the entry function of a module becomes.
pub(super) struct Lowered {
    pub(super) graph: Graph,
    pub(super) calls: Vec<CallSite>,
    pub(super) meetings: Vec<MeetingSite>,
    pub(super) manuals: Vec<ManualSite>,
}

/// The graph of the entry function of `module`, which one of `gangs` will run.
///
/// # Errors
/// UNIMPLEMENTED for what the engine cannot do; what custom calls report, and an unknown target of one; collectives
/// that do not fit the gangs.
pub(super) fn lower(module: &Module, runtime: &Runtime, gangs: &[Arc<Members>]) -> Result<Lowered, Error> {
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
        gangs,
        graph,
        leaves: vec![Leaves::new(); func.values.len()],
        calls: Vec::new(),
        meetings: Vec::new(),
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
            return Err(Error::unimplemented("a program whose parameters are tuples is not supported"));
        }
        let bytes = leaves(ty).into_iter().map(byte_size).sum();
        let value = lowering.value(bytes, Source::Parameter(index as u32), Some(param));
        lowering.leaves[param.0 as usize].push(value);
    }
    let body = lowering.block(&func.body)?;
    lowering.graph.body = body;
    lowering.graph.results = lowering.flat(&func.body.results);
    lowering.graph.end = lowering.next_position();
    let Lowering { graph, calls, meetings, manuals, .. } = lowering;
    Ok(Lowered { graph, calls, meetings, manuals })
}

struct Lowering<'m> {
    module: &'m Module,
    func: &'m Func,
    runtime: &'m Runtime,
    gangs: &'m [Arc<Members>],
    graph: Graph,
    leaves: Vec<Leaves>,
    calls: Vec<CallSite>,
    meetings: Vec<MeetingSite>,
    manuals: Vec<ManualSite>,
    /// The ids of the process: the replica's and the partition's.
    ids: [Option<Value>; 2],
    /// For each call frame: a call that it is for.
    frames: Vec<Called<'m>>,
    position: Position,
    /// The number of open loops.
    depth: u32,
    /// The value of all that has no bytes.
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

    /// A constant that is kept. It is defined outside of all loops.
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

    /// The leaves of several values, one after another.
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
        let found = tile::fuse(self.func, region)?;
        let items = order(region, &found, self.func.values.len())?;
        let mut clusters: Vec<Option<Cluster>> = found.into_iter().map(Some).collect();
        let mut block = Block::default();
        for item in items {
            match item {
                Item::Op(index) => {
                    let op = &region.ops[index];
                    self.op(op, &mut block).map_err(|error| self.located(error, op))?;
                }
                Item::Cluster(index) => {
                    let cluster = clusters[index].take().expect("each cluster is computed once");
                    let inputs = self.flat(&cluster.inputs);
                    let outputs = cluster.outputs.iter().flat_map(|&output| self.define(output)).collect();
                    self.compute(&mut block, cluster.kernel, inputs, outputs);
                }
            }
        }
        Ok(block)
    }

    /// Says which op an error is about.
    fn located(&self, error: Error, op: &Op) -> Error {
        let name = op.kind.name();
        let error = if error.message().contains(name) { error } else { error.context(name) };
        match self.module.location(op.location) {
            oxcall_hlo::Location::Unknown => error,
            place => Error::new(error.code(), format!("{} (at {place})", error.message())),
        }
    }

    fn compute(&mut self, block: &mut Block, kernel: Box<dyn Kernel>, inputs: Vec<Value>, outputs: Vec<Value>) {
        if outputs.iter().all(|&output| self.graph.info(output).bytes == 0) {
            return;
        }
        self.charge(kernel.cost());
        let aliases = kernel.in_place();
        let (at, work) = (self.next_position(), Work::Kernel(kernel));
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
        match Fill::of(literal) {
            Some(fill) if bytes >= WORTH_FILLING && self.depth == 0 => {
                let outputs = self.define(result).into_vec();
                self.compute(block, Box::new(fill), Vec::new(), outputs);
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

    fn collective(&mut self, op: &Op, block: &mut Block) -> Result<(), Error> {
        let groups = self.gangs.iter().map(|gang| Groups::resolve(&op.kind, gang)).collect::<Result<Vec<_>, _>>()?;
        let exchange = collective::make(op, self.func, &groups)?;
        let inputs = self.flat(&op.operands);
        let outputs: Vec<Value> = op.results.iter().flat_map(|&result| self.define(result)).collect();
        if outputs.iter().all(|&output| self.graph.info(output).bytes == 0) {
            return Ok(());
        }
        self.charge(exchange.cost());
        let at = self.next_position();
        let name = match self.module.location(op.location) {
            oxcall_hlo::Location::Unknown => op.kind.name().to_owned(),
            place => format!("{} (at {place})", op.kind.name()),
        };
        let (work, aliases) = (Work::Meet(self.meetings.len() as u32), exchange.in_place());
        self.meetings.push(MeetingSite { name, exchange, groups });
        block.nodes.push(Node::Compute(Compute { at, work, inputs, outputs, aliases, must_alias: false }));
        Ok(())
    }

    fn manual_computation(&mut self, op: &Op, manual: &ManualComputation, block: &mut Block) -> Result<(), Error> {
        let captures = Region::free_values(&op.regions);
        let site = ManualSite::new(self.module, op, manual, &captures, self.runtime, self.gangs)?;
        self.charge(site.cost());
        let mut inputs = self.flat(&op.operands);
        inputs.extend(self.flat(&captures));
        let outputs = op.results.iter().flat_map(|&result| self.define(result)).collect();
        let (at, work) = (self.next_position(), Work::Manual(self.manuals.len() as u32));
        self.manuals.push(site);
        let aliases = Vec::new();
        block.nodes.push(Node::Compute(Compute { at, work, inputs, outputs, aliases, must_alias: false }));
        Ok(())
    }

    fn tuple_element(&mut self, op: &Op, index: usize) -> Result<(), Error> {
        let Type::Tuple(elements) = self.func.ty(op.operands[0]) else {
            return Err(Error::invalid_argument("the operand is no tuple"));
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
        let kernel = single(op, self.func)?;
        let inputs = self.flat(&op.operands);
        let outputs = op.results.iter().flat_map(|&result| self.define(result)).collect();
        self.compute(block, kernel, inputs, outputs);
        Ok(())
    }

    fn control_flow(&mut self, op: &'m Op, block: &mut Block) -> Result<(), Error> {
        let is_loop = matches!(op.kind, OpKind::While);
        let iterations = if is_loop { ASSUMED_ITERATIONS } else { 1.0 };
        if let Some((kernel, inputs)) = Register::of(op, self.func, iterations) {
            let inputs = self.flat(&inputs);
            let outputs = op.results.iter().flat_map(|&result| self.define(result)).collect();
            self.compute(block, Box::new(kernel), inputs, outputs);
            return Ok(());
        }
        if is_loop { self.repeat(op, block) } else { self.switch(op, block) }
    }

    fn repeat(&mut self, op: &'m Op, block: &mut Block) -> Result<(), Error> {
        let [cond, body] = &op.regions[..] else {
            return Err(Error::invalid_argument("a loop has a condition and a body"));
        };
        let start = self.next_position();
        // What every iteration passes on as it is need not be carried.
        let varies = |index: usize| body.results.get(index) != body.params.get(index);
        let mut carried = Vec::new();
        for (index, &operand) in op.operands.iter().enumerate() {
            let inits = self.leaves[operand.0 as usize].clone();
            let places = [cond.params[index], body.params[index], op.results[index]];
            if !varies(index) {
                places.iter().for_each(|place| self.leaves[place.0 as usize] = inits.clone());
                continue;
            }
            self.depth += 1;
            let in_cond = self.define(places[0]);
            let in_body = self.define(places[1]);
            self.depth -= 1;
            let result = self.define(places[2]);
            for (leaf, &init) in inits.iter().enumerate() {
                let [in_cond, in_body, result] = [in_cond[leaf], in_body[leaf], result[leaf]];
                carried.push(Carried { init, in_cond, in_body, next: self.empty, result });
            }
        }
        self.depth += 1;
        let cond_block = self.block(cond)?;
        let predicate = self.flat(&cond.results)[0];
        let decided = self.next_position();
        let body_block = self.block(body)?;
        let nexts = (0..op.operands.len()).filter(|&index| varies(index)).map(|index| body.results[index]);
        let nexts = self.flat(&nexts.collect::<Vec<_>>());
        self.depth -= 1;
        carried.iter_mut().zip(nexts).for_each(|(carried, next)| carried.next = next);
        let end = self.next_position();
        block.nodes.push(Node::While(Box::new(While {
            start,
            decided,
            end,
            carried,
            cond: cond_block,
            predicate,
            body: body_block,
        })));
        Ok(())
    }

    fn switch(&mut self, op: &'m Op, block: &mut Block) -> Result<(), Error> {
        let start = self.next_position();
        let selector = self.flat(&op.operands[..1])[0];
        let mut branches = Vec::with_capacity(op.regions.len());
        for region in &op.regions {
            let first = Value(self.graph.values.len() as u32);
            let block = self.block(region)?;
            let end = self.next_position();
            branches.push(Branch { block, first, end, results: self.flat(&region.results) });
        }
        let end = self.next_position();
        let results = op.results.iter().flat_map(|&result| self.define(result)).collect();
        let by_predicate = matches!(op.kind, OpKind::If);
        block.nodes.push(Node::Switch(Box::new(Switch { start, end, selector, by_predicate, branches, results })));
        Ok(())
    }

    /// The call frame of a call: that of an equal one, so that chains of calls work on memory that is in the caches.
    fn frame(&mut self, called: Called<'m>) -> u32 {
        let first = self.frames.len().saturating_sub(COMPARED_CALLS);
        let equal = self.frames[first..].iter().position(|other| *other == called);
        equal.map_or_else(
            || {
                self.frames.push(called);
                self.frames.len() as u32 - 1
            },
            |index| (first + index) as u32,
        )
    }

    fn custom_call(&mut self, op: &'m Op, call: &'m CustomCall, block: &mut Block) -> Result<(), Error> {
        let func = self.func;
        let types = |values: &[ValueId]| -> Vec<Option<&'m TensorType>> {
            values.iter().flat_map(|&value| leaves(func.ty(value))).collect()
        };
        let (operands, results) = (types(&op.operands), types(&op.results));
        if call.is_identity() && operands == results {
            let values = self.flat(&op.operands);
            let mut values = values.into_iter();
            for &result in &op.results {
                let count = leaves(func.ty(result)).len();
                self.leaves[result.0 as usize] = values.by_ref().take(count).collect();
            }
            return Ok(());
        }
        let tuple = matches!(op.results[..], [result] if matches!(func.ty(result), Type::Tuple(_)));
        let frame = self.frame((call, operands.clone(), results.clone()));
        let site = CallSite::new(&self.runtime.host, call, &operands, &results, tuple || op.results.len() != 1, frame)?;
        self.charge(site.cost());
        // Layouts and packing: what the handler sees is another buffer than ours.
        let mut inputs = self.flat(&op.operands);
        for (index, (input, ty)) in inputs.iter_mut().zip(&operands).enumerate() {
            let layout = call.operand_layouts.as_ref().and_then(|layouts| layouts.get(index));
            for conversion in ty.map_or(Ok(Vec::new()), |ty| layout::to_foreign(ty, layout))? {
                let converted = self.value(conversion.bytes, Source::Computed, None);
                self.compute(block, conversion.kernel, vec![*input], vec![converted]);
                *input = converted;
            }
        }
        let mut outputs = Vec::with_capacity(results.len());
        let mut after = Vec::new();
        for (index, ty) in results.iter().enumerate() {
            let layout = call.result_layouts.as_ref().and_then(|layouts| layouts.get(index));
            let conversions = ty.map_or(Ok(Vec::new()), |ty| layout::from_foreign(ty, layout))?;
            let bytes =
                ty.map_or(0, |ty| if conversions.is_empty() { ty.byte_size() } else { layout::foreign_size(ty) });
            let of = op.results.get(index).copied().filter(|_| op.results.len() == results.len());
            outputs.push(self.value(bytes, Source::Computed, of));
            after.push(conversions);
        }
        let aliases =
            layout::alias_pairs(call, &types_per_value(func, &op.operands), &types_per_value(func, &op.results));
        let at = self.next_position();
        let work = Work::Call(self.calls.len() as u32);
        self.calls.push(site);
        let mut values = Vec::with_capacity(outputs.len());
        block.nodes.push(Node::Compute(Compute {
            at,
            work,
            inputs,
            outputs: outputs.clone(),
            aliases,
            must_alias: true,
        }));
        for (output, conversions) in outputs.into_iter().zip(after) {
            let mut value = output;
            for conversion in conversions {
                let converted = self.value(conversion.bytes, Source::Computed, None);
                self.compute(block, conversion.kernel, vec![value], vec![converted]);
                value = converted;
            }
            values.push(value);
        }
        let mut values = values.into_iter();
        for &result in &op.results {
            let count = leaves(func.ty(result)).len();
            self.leaves[result.0 as usize] = values.by_ref().take(count).collect();
        }
        Ok(())
    }
}

/// The number of leaves of each value.
fn types_per_value(func: &Func, values: &[ValueId]) -> Vec<usize> {
    values.iter().map(|&value| leaves(func.ty(value)).len()).collect()
}
