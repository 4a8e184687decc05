//! From a cluster of ops to its program.

use std::collections::{HashMap, HashSet};

use oxcall::Error;
use oxcall_hlo::{Op, OpKind, ValueId};

use super::access::Access;
use super::build::{Builder, Value};
use super::fuse::{Cluster, Graph};
use super::single::tensor;

/// The cluster `number`, of `ops`. `members` has the clusters that each op is in; `repeated` ops are not given out.
pub(super) fn cluster(
    graph: &Graph<'_>,
    number: usize,
    mut ops: Vec<usize>,
    members: &[Vec<usize>],
    repeated: &HashSet<usize>,
) -> Result<Cluster, Error> {
    ops.sort_unstable();
    let result = tensor(graph.func, graph.region.ops[ops[0]].results[0])?;
    let mut emitter = Emitter {
        graph,
        builder: Builder::new(result.count(), []),
        values: HashMap::new(),
        loads: HashMap::new(),
        inputs: Vec::new(),
    };
    let mut names = Vec::new();
    for &index in &ops {
        let op = &graph.region.ops[index];
        let value = emitter.element_wise(op)?;
        emitter.values.insert(op.results[0], value);
        names.push(short_name(op));
    }
    let mut outputs = Vec::new();
    for &index in &ops {
        let is_ours = |user: usize| members[user] == [number];
        let result = graph.region.ops[index].results[0];
        if !repeated.contains(&index) && graph.is_used_outside(index, is_ours) {
            emitter.builder.output(emitter.values[&result], tensor(graph.func, result)?.element);
            outputs.push(result);
        }
    }
    names.dedup();
    let kernel = emitter.builder.build(format!("fused[{}]", names.join(",")));
    Ok(Cluster { ops, inputs: emitter.inputs, outputs, kernel: Box::new(kernel) })
}

/// The name of an op without its dialect.
fn short_name(op: &Op) -> &'static str {
    let name = op.kind.name();
    name.split_once('.').map_or(name, |(_, name)| name)
}

struct Emitter<'a> {
    graph: &'a Graph<'a>,
    builder: Builder,
    /// Values of ops in the cluster.
    values: HashMap<ValueId, Value>,
    /// Values of other ops, by how they are accessed.
    loads: HashMap<(ValueId, Access), Value>,
    /// The operands.
    inputs: Vec<ValueId>,
}

impl Emitter<'_> {
    fn element_wise(&mut self, op: &Op) -> Result<Value, Error> {
        let result = tensor(self.graph.func, op.results[0])?;
        let mut operands = Vec::with_capacity(op.operands.len());
        for &operand in &op.operands {
            let ty = tensor(self.graph.func, operand)?;
            operands.push((self.value(operand, Access::same_or_scalar(ty, result)?)?, ty.element));
        }
        self.builder.op(&op.kind, &operands, result.element)
    }

    /// The elements of `value` for each element of the domain.
    fn value(&mut self, value: ValueId, access: Access) -> Result<Value, Error> {
        let value = self.graph.root(value);
        if let Some(&known) = self.values.get(&value)
            && access.is_contiguous()
        {
            return Ok(known);
        }
        let key = (value, access.clone());
        if let Some(&known) = self.loads.get(&key) {
            return Ok(known);
        }
        let loaded = self.load(value, access)?;
        self.loads.insert(key, loaded);
        Ok(loaded)
    }

    /// The elements of a value that is not of the cluster.
    fn load(&mut self, value: ValueId, access: Access) -> Result<Value, Error> {
        let ty = tensor(self.graph.func, value)?;
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

    fn input(&mut self, value: ValueId) -> Result<usize, Error> {
        if let Some(index) = self.inputs.iter().position(|&each| each == value) {
            return Ok(index);
        }
        let ty = tensor(self.graph.func, value)?;
        self.inputs.push(value);
        Ok(self.builder.add_input(ty.element, ty.count()))
    }
}
