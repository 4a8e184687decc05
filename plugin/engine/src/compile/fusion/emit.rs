//! Emission of a fusion's program.

use std::collections::{HashMap, HashSet};

use oxcall::Error;
use oxcall_hlo::{ElementType, Op, OpKind, ValueId};
use oxcall_kernels::tile::tensor;
use oxcall_kernels::tile::{Access, Builder, MOST_ELEMENTS, Reduced, Reduction, Slabs, Value};
use smallvec::SmallVec;

use super::graph::Graph;
use super::groups::Groups;
use super::rows::row_reduction;
use super::slabs;
use super::updates::Update;
use super::views::{self, View};
use super::{FusedKernel, Fusion};
use crate::runtime::Codegen;

/// The data that all fusions of a region share.
pub(super) struct Shared<'a> {
    pub(super) graph: &'a Graph<'a>,
    pub(super) groups: &'a Groups<'a>,
    /// Whether kernels are machine code, where that is possible.
    pub(super) codegen: Codegen,
    /// Whether they are in a loop, which may become machine code.
    pub(super) in_loop: bool,
}

/// The fusion of `ops` over `count` elements, in rows of `row` elements, or with reductions of `slabs`.
///
/// # Errors
/// INTERNAL if the region is not verified, or results of row reductions are not used row by row.
pub(super) fn fusion(
    shared: &Shared<'_>,
    mut ops: Vec<usize>,
    count: usize,
    row: usize,
    slabs: Option<Slabs>,
) -> Result<Fusion, Error> {
    ops.sort_unstable();
    ops.dedup();
    let graph = shared.graph;
    let mut builder = if row > 1 { Builder::of_rows(count, row) } else { Builder::new(count, []) };
    builder.generate = shared.codegen != Codegen::Off;
    builder.listed = shared.codegen == Codegen::Listed;
    builder.in_loop = shared.in_loop;
    let own: HashSet<usize> = ops.iter().copied().collect();
    let mut emitter = Emitter {
        graph,
        own: &own,
        row,
        // Small programs in loops become machine code that reads its operands element by element.
        reads_views: !(shared.in_loop && count <= MOST_ELEMENTS),
        builder,
        values: HashMap::new(),
        loads: HashMap::new(),
        inputs: Vec::new(),
    };
    let mut names = Vec::new();
    let (mut reduced, mut reductions, mut stacks, mut updates) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for &index in &ops {
        let op = &graph.region.ops[index];
        names.push(short_name(op));
        let value = match op.kind {
            OpKind::Reduce { .. } if slabs.is_some() => {
                reduced.push(emitter.reduced(op)?);
                reductions.push(index);
                continue;
            }
            OpKind::Reduce { .. } => emitter.reduction(op)?,
            OpKind::Gather { .. } => emitter.pick(op, count)?,
            OpKind::Concatenate { .. } => {
                stacks.push(emitter.stack(op)?);
                continue;
            }
            _ if Update::is_of_kind(op) => {
                updates.push(op);
                continue;
            }
            _ => emitter.element_wise(op, count)?,
        };
        emitter.values.insert(op.results[0], value);
    }
    let mut outputs = Vec::new();
    for &index in ops.iter().filter(|index| !reductions.contains(index)) {
        let is_ours = |user: usize| own.contains(&user) && !shared.groups.is_copied(user);
        let result = graph.region.ops[index].results[0];
        let op = &graph.region.ops[index];
        if matches!(op.kind, OpKind::Concatenate { .. }) || Update::is_of_kind(op) {
            continue;
        }
        if !shared.groups.is_copied(index) && is_given_out(graph, index, &is_ours) {
            emitter.output(result)?;
            outputs.push(result);
        }
    }
    for (parts, result) in stacks {
        let ty = tensor(graph.func, result)?;
        emitter.builder.per_row = false;
        emitter.builder.output_stack(&parts, ty.element);
        outputs.push(result);
    }
    for op in updates {
        emitter.update(op)?;
        outputs.push(op.results[0]);
    }
    outputs.extend(reductions.iter().map(|&index| graph.region.ops[index].results[0]));
    names.dedup();
    let names = names.join(",");
    let inputs = emitter.inputs;
    let kernel = match slabs {
        Some(slabs) => {
            let name = |is_compiled| format!("{}[{names}]", if is_compiled { "compiled" } else { "fused" });
            FusedKernel::Other(Box::new(Reduction::new(emitter.builder, slabs, &reduced, name)?))
        }
        None => {
            let program = emitter.builder.build(format!("fused[{names}]"));
            let is_compiled = program.is_compiled();
            let program = if is_compiled { program.named(format!("compiled[{names}]")) } else { program };
            FusedKernel::Program(Box::new(program))
        }
    };
    Ok(Fusion { ops, inputs, outputs, kernel })
}

/// Whether ops outside the fusion use results of `op`. A broadcast counts as a part of its users.
fn is_given_out(graph: &Graph<'_>, op: usize, is_ours: &impl Fn(usize) -> bool) -> bool {
    let is_absorbed = |user: usize| {
        let is_broadcast = matches!(graph.region.ops[user].kind, OpKind::BroadcastInDim { .. });
        is_broadcast && !graph.is_used_outside(user, is_ours)
    };
    graph.is_used_outside(op, |user| is_ours(user) || is_absorbed(user))
}

/// The name of an op without its dialect.
pub(super) fn short_name(op: &Op) -> &'static str {
    let name = op.kind.name();
    name.split_once('.').map_or(name, |(_, name)| name)
}

struct Emitter<'a> {
    graph: &'a Graph<'a>,
    /// The ops of the fusion.
    own: &'a HashSet<usize>,
    /// The number of elements in a row.
    row: usize,
    builder: Builder,
    /// Whether views are read where their elements are.
    reads_views: bool,
    /// Values of the fusion's ops.
    values: HashMap<ValueId, Value>,
    /// Values of other ops, by access.
    loads: HashMap<(ValueId, Access), Value>,
    /// The operands.
    inputs: Vec<ValueId>,
}

impl Emitter<'_> {
    fn element_wise(&mut self, op: &Op, count: usize) -> Result<Value, Error> {
        let result = tensor(self.graph.func, op.results[0])?;
        self.builder.per_row = result.count() != count;
        let mut operands = Vec::with_capacity(op.operands.len());
        for &operand in &op.operands {
            let ty = tensor(self.graph.func, operand)?;
            operands.push((self.value(operand, Access::same_or_scalar(ty, result)?)?, ty.element));
        }
        self.builder.op(&op.kind, &operands, result.element)
    }

    /// The elements of an array at indices.
    fn pick(&mut self, op: &Op, count: usize) -> Result<Value, Error> {
        let result = tensor(self.graph.func, op.results[0])?;
        self.builder.per_row = result.count() != count;
        let index = self.value(op.operands[1], Access::same_or_scalar(result, result)?)?;
        let array = self.graph.root(op.operands[0]);
        if self.is_made_here(array) {
            return Err(Error::internal("a fusion gathers elements of an array that it computes"));
        }
        let input = self.input(array)?;
        Ok(self.builder.pick(input, index))
    }

    /// The parts of a stack, and its result.
    fn stack(&mut self, op: &Op) -> Result<(Vec<Value>, ValueId), Error> {
        if self.row > 1 {
            return Err(Error::internal("a fusion of rows writes a stack"));
        }
        let mut parts = Vec::with_capacity(op.operands.len());
        for &part in &op.operands {
            let ty = tensor(self.graph.func, part)?;
            parts.push(self.value(part, Access::same_or_scalar(ty, ty)?)?);
        }
        Ok((parts, op.results[0]))
    }

    /// Makes the result of an update an output.
    fn update(&mut self, op: &Op) -> Result<(), Error> {
        let update = Update::of(self.graph, op).filter(|update| !self.is_made_here(update.around));
        let Some(Update { value, around, region }) = update else {
            return Err(Error::internal("a fusion updates an array that it computes, or at an unknown place"));
        };
        let ty = tensor(self.graph.func, value)?;
        let value = self.value(value, Access::same_or_scalar(ty, ty)?)?;
        let operand = self.input(self.graph.root(around))?;
        self.builder.per_row = false;
        self.builder.output_update(value, ty.element, operand, region)
    }

    fn reduction(&mut self, op: &Op) -> Result<Value, Error> {
        let (operand, init) = (op.operands[0], op.operands[1]);
        let ty = tensor(self.graph.func, operand)?;
        self.builder.per_row = false;
        let value = self.value(operand, Access::same_or_scalar(ty, ty)?)?;
        self.builder.per_row = true;
        let init = self.value(init, Access::new(&[], &[]))?;
        let Some((function, _)) = row_reduction(self.graph, op) else {
            return Err(Error::internal(format!("expected a reduction of rows, got {}", op.kind.name())));
        };
        self.builder.fold(function, ty.element, value, init)
    }

    /// The operand of a reduction of slabs, and the function.
    fn reduced(&mut self, op: &Op) -> Result<Reduced, Error> {
        let operand = op.operands[0];
        let ty = tensor(self.graph.func, operand)?;
        let value = self.value(operand, Access::same_or_scalar(ty, ty)?)?;
        let Some(slabs::Reduction { function, element, init, .. }) = slabs::Reduction::of(self.graph, op) else {
            return Err(Error::internal(format!("expected a reduction of slabs, got {}", op.kind.name())));
        };
        Ok(Reduced { function, element, init, value })
    }

    /// Makes a value an output.
    fn output(&mut self, result: ValueId) -> Result<(), Error> {
        let (ty, value) = (tensor(self.graph.func, result)?, self.values[&result]);
        self.builder.per_row = self.builder.is_per_row(value);
        if self.row > 1 && self.builder.is_constant(value) {
            return Err(Error::internal("a fusion of rows returns a constant"));
        }
        self.builder.output(value, ty.element);
        Ok(())
    }

    /// The elements of `value`, one for each element or each row of the domain.
    fn value(&mut self, value: ValueId, access: Access) -> Result<Value, Error> {
        let value = self.graph.root(value);
        let known = self.values.get(&value).copied();
        if let Some(known) = known
            && access.is_contiguous()
            && access.count() == tensor(self.graph.func, value)?.count()
        {
            return Ok(known);
        }
        let key = (value, access.clone());
        if let Some(&known) = self.loads.get(&key) {
            return Ok(known);
        }
        let loaded = match known {
            Some(known) if self.row > 1 => {
                let rows = tensor(self.graph.func, value)?.count();
                if !self.builder.is_per_row(known) || access != Access::rows(rows, self.row) {
                    return Err(Error::internal("a fusion of rows reads a row's value outside of its row"));
                }
                self.builder.spread(known)
            }
            _ => self.load(value, access)?,
        };
        self.loads.insert(key, loaded);
        Ok(loaded)
    }

    /// The elements of a value from outside the fusion.
    fn load(&mut self, value: ValueId, access: Access) -> Result<Value, Error> {
        let ty = tensor(self.graph.func, value)?;
        if self.reads_views
            && access.is_contiguous()
            && let Some(view) = views::of(self.graph, value)
        {
            return self.view(view, ty.element);
        }
        let producer = self.graph.producer(value).map(|index| &self.graph.region.ops[index]);
        match producer.filter(|op| Graph::is_free(op)) {
            Some(Op { kind: OpKind::Constant(literal), .. }) => {
                Ok(self.builder.stored_constant(literal.element(0), ty.element))
            }
            Some(Op { kind: OpKind::Iota { dim }, .. }) if access.is_contiguous() => {
                self.builder.iota(&ty.dims, *dim, ty.element)
            }
            Some(Op { kind: OpKind::BroadcastInDim { dims }, operands, .. }) if access.is_contiguous() => {
                let operand = tensor(self.graph.func, operands[0])?;
                self.value(operands[0], Access::broadcast(&operand.dims, &ty.dims, dims))
            }
            _ => {
                let input = self.input(value)?;
                Ok(self.builder.input(input, access))
            }
        }
    }

    /// The elements of a view.
    fn view(&mut self, mut view: View, element: ElementType) -> Result<Value, Error> {
        if view.parts.len() == 1 {
            let part = view.parts.remove(0);
            return self.value(part.source, part.access());
        }
        let mut parts = SmallVec::new();
        for part in view.parts {
            parts.push((self.input(part.source)?, part.access()));
        }
        Ok(self.builder.joined(parts, element))
    }

    fn input(&mut self, value: ValueId) -> Result<usize, Error> {
        if let Some(index) = self.inputs.iter().position(|&each| each == value) {
            return Ok(index);
        }
        let ty = tensor(self.graph.func, value)?;
        if self.row > 1 && self.is_made_here(value) {
            return Err(Error::internal("a fusion reads a value that it computes later"));
        }
        self.inputs.push(value);
        Ok(self.builder.add_input(ty.element, ty.count()))
    }

    /// Whether an op of the fusion produces `value`, seen through broadcasts.
    fn is_made_here(&self, value: ValueId) -> bool {
        let mut value = self.graph.root(value);
        while let Some(producer) = self.graph.producer(value) {
            let op = &self.graph.region.ops[producer];
            match op.kind {
                _ if self.own.contains(&producer) => return true,
                OpKind::BroadcastInDim { .. } => value = self.graph.root(op.operands[0]),
                _ => return false,
            }
        }
        false
    }
}
