//! Unreduced values, of which each device has a summand (`unreduced` in shardings), as stacks of summands.
//!
//! Arrays are computed whole, and so are sums. Only where summands are visible, in parameters and results of a program
//! and of manual computations, do stacks of them exist: arrays with an additional first dimension, which the axes of
//! the sum split. In XLA, the summands of the devices depend on the op that made the sum; so do the stacks, for the ops
//! with which programs end.

mod emit;
mod stack;

use std::collections::HashMap;

use oxcall::Error;
use oxcall_hlo::sharding::{AxisRef, DimSharding, ManualComputation, Mesh, TensorSharding};
use oxcall_hlo::{ArgAttributes, Attribute, BinaryOp, Func, Module, Op, OpKind, Region, Type, ValueId};

use self::emit::Emit;
use crate::compile::passes;

/// The parameters and results that have become stacks of summands.
#[derive(Debug, Default)]
pub(super) struct Stacked {
    pub(super) parameters: Vec<bool>,
    pub(super) results: Vec<bool>,
}

/// Gives unreduced parameters and results a dimension of summands. In that case, calls are inlined.
///
/// # Errors
/// Those of inlining, and UNIMPLEMENTED for summands over axes that a manual computation does not have.
pub(super) fn stack(module: &mut Module) -> Result<Stacked, Error> {
    if !module.funcs.iter().any(mentions_summands) {
        return Ok(Stacked::default());
    }
    passes::inline_calls(module)?;
    let entry = module.entry.0 as usize;
    let mut func = module.funcs[entry].clone();
    let mut stacker = Stacker { module, emit: Emit::new(&mut func.values), known: Known::default() };
    let stacked = stacker.main(&mut func.body, &mut func.param_attributes, &mut func.result_attributes)?;
    module.funcs[entry] = func;
    passes::remove_dead(module);
    Ok(stacked)
}

/// Whether any parameter, result, or manual computation is unreduced.
fn mentions_summands(func: &Func) -> bool {
    fn in_region(region: &Region) -> bool {
        region.ops.iter().any(|op| {
            let own = match &op.kind {
                OpKind::ManualComputation(manual) => {
                    manual.in_shardings.iter().chain(&manual.out_shardings).any(|each| !each.unreduced.is_empty())
                }
                _ => false,
            };
            own || op.regions.iter().any(in_region)
        })
    }
    let attributes = func.param_attributes.iter().chain(&func.result_attributes);
    attributes.filter_map(stated).any(|sharding| !sharding.unreduced.is_empty()) || in_region(&func.body)
}

fn stated(attributes: &ArgAttributes) -> Option<&TensorSharding> {
    attributes.iter().find_map(|(name, attribute)| match attribute {
        Attribute::Sharding(sharding) if name == "sdy.sharding" => Some(sharding),
        _ => None,
    })
}

/// The known facts about values.
#[derive(Default)]
struct Known {
    /// The stacks of sums, and the axes of each.
    stacks: HashMap<ValueId, (Vec<AxisRef>, ValueId)>,
    /// The shardings that the program states.
    shardings: HashMap<ValueId, TensorSharding>,
    /// Ops from whose operation the summands follow.
    defs: HashMap<ValueId, Op>,
}

struct Stacker<'m> {
    module: &'m Module,
    emit: Emit<'m>,
    known: Known,
}

impl Stacker<'_> {
    fn main(
        &mut self,
        body: &mut Region,
        parameters: &mut [ArgAttributes],
        results: &mut [ArgAttributes],
    ) -> Result<Stacked, Error> {
        let mut stacked = Stacked::default();
        for (param, attributes) in body.params.iter_mut().zip(parameters) {
            let Some(sharding) = stated(attributes).cloned() else {
                stacked.parameters.push(false);
                continue;
            };
            self.known.shardings.insert(*param, sharding.clone());
            stacked.parameters.push(!sharding.unreduced.is_empty());
            if sharding.unreduced.is_empty() {
                continue;
            }
            let (axes, with_summands, count) = self.with_summands(&sharding)?;
            let stack = self.emit.stack_value(*param, count);
            self.emit.sum(stack, *param);
            self.known.stacks.insert(*param, (axes, stack));
            *param = stack;
            restate(attributes, with_summands);
        }
        self.ops(body)?;
        for (result, attributes) in body.results.iter_mut().zip(results) {
            let sharding = stated(attributes).cloned().filter(|sharding| !sharding.unreduced.is_empty());
            stacked.results.push(sharding.is_some());
            if let Some(sharding) = sharding {
                let (axes, with_summands, _) = self.with_summands(&sharding)?;
                *result = self.stack_of(*result, &axes, self.mesh(&sharding)?)?;
                restate(attributes, with_summands);
            }
        }
        body.ops = self.emit.take();
        Ok(stacked)
    }

    fn mesh(&self, sharding: &TensorSharding) -> Result<Mesh, Error> {
        self.module.mesh(&sharding.mesh).cloned().map_err(|error| Error::invalid_argument(error.to_string()))
    }

    /// The axes of the sum in the order of the mesh, the sharding of the stack, and the number of summands.
    fn with_summands(&self, sharding: &TensorSharding) -> Result<(Vec<AxisRef>, TensorSharding, usize), Error> {
        let mesh = self.mesh(sharding)?;
        let mut axes = sharding.unreduced.clone();
        axes.sort_by_key(|axis| (mesh.axis(&axis.name), axis.sub_axis.map(|sub| sub.pre_size)));
        let count = axes.iter().map(|axis| axis.size(&mesh)).product();
        let mut stacked = TensorSharding { unreduced: Vec::new(), ..sharding.clone() };
        stacked.dims.insert(0, DimSharding::closed(axes.clone()));
        Ok((axes, stacked, count))
    }

    /// Rewrites a region, and leaves its ops in `emit`.
    fn ops(&mut self, region: &mut Region) -> Result<(), Error> {
        for mut op in std::mem::take(&mut region.ops) {
            for region in &mut op.regions {
                let outer = self.emit.take();
                self.ops(region)?;
                region.ops = self.emit.replace(outer);
            }
            self.emit.location = op.location;
            match op.kind {
                OpKind::ManualComputation(manual) => {
                    op.kind = OpKind::OptimizationBarrier;
                    self.manual(op, *manual)?;
                }
                _ => {
                    self.learn(&op);
                    self.emit.push(op);
                }
            }
        }
        Ok(())
    }

    fn learn(&mut self, op: &Op) {
        if let OpKind::ShardingConstraint(sharding) = &op.kind {
            self.known.shardings.insert(op.results[0], sharding.as_ref().clone());
        }
        let tells = matches!(
            op.kind,
            OpKind::ShardingConstraint(_)
                | OpKind::DotGeneral(_)
                | OpKind::Reduce { .. }
                | OpKind::Reshape
                | OpKind::Binary(BinaryOp::Add | BinaryOp::Subtract)
        );
        if tells && op.results.len() == 1 {
            self.known.defs.insert(op.results[0], op.clone());
        }
    }

    /// Gives participants of a manual computation parts of stacks, with a single summand each.
    fn manual(&mut self, mut op: Op, mut manual: ManualComputation) -> Result<(), Error> {
        let manual_axes = manual.manual_axes.clone();
        let all_manual = |axes: &[AxisRef]| match axes.iter().find(|axis| !manual_axes.contains(&axis.name)) {
            None => Ok(()),
            Some(axis) => Err(Error::unimplemented(format!(
                "an unreduced value over the axis {}, which is not manual here, is not supported",
                axis.name
            ))),
        };
        let mut before = Vec::new();
        for (index, sharding) in manual.in_shardings.iter_mut().enumerate() {
            if sharding.unreduced.is_empty() {
                continue;
            }
            let (axes, with_summands, _) = self.with_summands(sharding)?;
            all_manual(&axes)?;
            op.operands[index] = self.stack_of(op.operands[index], &axes, self.mesh(sharding)?)?;
            *sharding = with_summands;
            let param = &mut op.regions[0].params[index];
            let stack = self.emit.stack_value(*param, 1);
            before.push(self.emit.reshape_op(stack, *param));
            *param = stack;
        }
        let mut sums = Vec::new();
        for (index, sharding) in manual.out_shardings.iter_mut().enumerate() {
            if sharding.unreduced.is_empty() {
                continue;
            }
            let (axes, with_summands, count) = self.with_summands(sharding)?;
            all_manual(&axes)?;
            *sharding = with_summands;
            let inner = op.regions[0].results[index];
            let stack = self.emit.stack_value(inner, 1);
            let reshape = self.emit.reshape_op(inner, stack);
            op.regions[0].ops.push(reshape);
            op.regions[0].results[index] = stack;
            let stack = self.emit.stack_value(op.results[index], count);
            sums.push((axes, stack, std::mem::replace(&mut op.results[index], stack)));
        }
        op.regions[0].ops.splice(0..0, before);
        op.kind = OpKind::ManualComputation(Box::new(manual));
        self.emit.push(op);
        for (axes, stack, sum) in sums {
            self.emit.sum(stack, sum);
            self.known.stacks.insert(sum, (axes, stack));
        }
        Ok(())
    }
}

fn restate(attributes: &mut ArgAttributes, sharding: TensorSharding) {
    for (name, attribute) in attributes {
        if name == "sdy.sharding" {
            *attribute = Attribute::Sharding(sharding.clone());
        }
    }
}

/// The dimensions of a value.
fn dims(values: &[Type], value: ValueId) -> Vec<usize> {
    values[value.0 as usize].tensor().map(|ty| ty.dims.to_vec()).unwrap_or_default()
}
