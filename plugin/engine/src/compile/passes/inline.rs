//! Inlining of calls and composites.

use oxcall::Error;
use oxcall_hlo::{FuncId, Module, Op, OpKind, Region, Type, ValueId};

use super::ir::{Mapping, count_ops, op_error, shift};
use super::{composite, scan};

/// The factor by which a program may grow, beyond [`GROWTH_ALLOWANCE`] ops, before inlining is refused.
const GROWTH_FACTOR: usize = 64;
/// The number of ops that any program may have after inlining.
const GROWTH_ALLOWANCE: usize = 100_000;
/// The largest nesting depth of calls and regions; the passes recurse over them.
const MAX_DEPTH: usize = 256;

/// Replaces calls by the bodies of the called functions, so that the entry function calls none. Composites for which
/// the engine has a kernel become that op; others are inlined like calls. Functions to which a custom call refers are
/// kept, others dropped.
///
/// # Errors
/// INVALID_ARGUMENT for recursion, RESOURCE_EXHAUSTED for programs that would become too large.
pub(crate) fn inline(module: &mut Module) -> Result<(), Error> {
    let extents = Extents::measure(module)?;
    let total: usize = module.funcs.iter().map(|func| count_ops(&func.body)).sum();
    let limit = GROWTH_ALLOWANCE + GROWTH_FACTOR * total;
    let roots = roots(module);
    let mut ops: usize = 0;
    for root in &roots {
        let extent = extents.of(*root);
        ops = ops.saturating_add(extent.ops);
        if ops > limit || extent.depth > MAX_DEPTH {
            return Err(Error::resource_exhausted(format!(
                "inlining all calls of @{} gives {} ops, nested {} deep; the limits are {limit} ops for a program of \
                 {total}, and a depth of {MAX_DEPTH}",
                module.func(*root).name,
                extent.ops,
                extent.depth,
            )));
        }
    }
    let mut funcs = Vec::with_capacity(roots.len());
    for &root in &roots {
        let mut func = module.func(root).clone();
        let mut inliner = Inliner { module, values: std::mem::take(&mut func.values), roots: &roots };
        inliner.ops(&mut func.body, &mut Mapping::default());
        func.values = inliner.values;
        funcs.push(func);
    }
    module.funcs = funcs;
    module.entry = FuncId(0);
    Ok(())
}

/// The entry function, and the functions that custom calls may call.
fn roots(module: &Module) -> Vec<FuncId> {
    fn visit(region: &Region, roots: &mut Vec<FuncId>) {
        for op in &region.ops {
            if let OpKind::CustomCall(call) = &op.kind {
                for func in &call.called_computations {
                    if !roots.contains(func) {
                        roots.push(*func);
                    }
                }
            }
            op.regions.iter().for_each(|region| visit(region, roots));
        }
    }
    let mut roots = vec![module.entry];
    module.funcs.iter().for_each(|func| visit(&func.body, &mut roots));
    roots
}

/// The function that `op` calls.
fn callee(op: &Op) -> Option<FuncId> {
    match op.kind {
        OpKind::Call(func) | OpKind::Composite { decomposition: func, .. } => Some(func),
        _ => None,
    }
}

/// The size of a function after inlining.
#[derive(Clone, Copy, Default)]
struct Extent {
    ops: usize,
    depth: usize,
}

enum Visit {
    New,
    Open,
    Done(Extent),
}

/// The extent of each function, by its index.
struct Extents(Vec<Visit>);

impl Extents {
    fn measure(module: &Module) -> Result<Extents, Error> {
        let mut extents = Extents(module.funcs.iter().map(|_| Visit::New).collect());
        // An explicit stack: chains of calls may be as long as the input makes them.
        let mut stack: Vec<FuncId> = (0..module.funcs.len() as u32).rev().map(FuncId).collect();
        while let Some(&id) = stack.last() {
            match extents.0[id.0 as usize] {
                Visit::Done(_) => {
                    stack.pop();
                }
                Visit::New => {
                    extents.0[id.0 as usize] = Visit::Open;
                    extents.push_callees(module, id, &module.func(id).body, &mut stack)?;
                }
                Visit::Open => {
                    extents.0[id.0 as usize] = Visit::Done(extents.region(&module.func(id).body));
                    stack.pop();
                }
            }
        }
        Ok(extents)
    }

    fn push_callees(
        &self,
        module: &Module,
        caller: FuncId,
        region: &Region,
        stack: &mut Vec<FuncId>,
    ) -> Result<(), Error> {
        for op in &region.ops {
            if let Some(callee) = callee(op) {
                match self.0[callee.0 as usize] {
                    Visit::New => stack.push(callee),
                    Visit::Done(_) => {}
                    Visit::Open => {
                        let (callee, caller) = (&module.func(callee).name, &module.func(caller).name);
                        let error = Error::invalid_argument(format!(
                            "recursion is not supported: @{caller} calls @{callee}, which calls @{caller}"
                        ));
                        return Err(op_error(error, op.kind.name(), module.location(op.location)));
                    }
                }
            }
            for region in &op.regions {
                self.push_callees(module, caller, region, stack)?;
            }
        }
        Ok(())
    }

    fn of(&self, func: FuncId) -> Extent {
        match self.0[func.0 as usize] {
            Visit::Done(extent) => extent,
            _ => Extent::default(),
        }
    }

    fn region(&self, region: &Region) -> Extent {
        let mut extent = Extent::default();
        let mut add = |inner: Extent| {
            extent.ops = extent.ops.saturating_add(inner.ops);
            extent.depth = extent.depth.max(inner.depth + 1);
        };
        for op in &region.ops {
            add(callee(op).map_or(Extent { ops: 1, depth: 0 }, |callee| self.of(callee)));
            op.regions.iter().for_each(|region| add(self.region(region)));
        }
        extent
    }
}

struct Inliner<'m> {
    module: &'m Module,
    /// The types of the values in the resulting function.
    values: Vec<Type>,
    roots: &'m [FuncId],
}

impl Inliner<'_> {
    /// Inlines the calls of `region`. `renamed` maps its values to those of the resulting function.
    fn ops(&mut self, region: &mut Region, renamed: &mut Mapping) {
        let mut done = Vec::with_capacity(region.ops.len());
        for mut op in std::mem::take(&mut region.ops) {
            op.operands.iter_mut().for_each(|value| *value = renamed.get(*value));
            for region in &mut op.regions {
                self.ops(region, renamed);
            }
            match callee(&op) {
                Some(_) if composite::to_kernel(&mut op, &self.values) => done.push(op),
                Some(callee) => {
                    let scan = scan::expand(&op, &mut self.values, &mut done);
                    let results = scan.unwrap_or_else(|| self.call(callee, &op, &mut done));
                    renamed.extend(&op.results, &results);
                }
                None => {
                    composite::to_kernel(&mut op, &self.values);
                    self.renumber(&mut op);
                    done.push(op);
                }
            }
        }
        region.ops = done;
        region.results = renamed.all(&region.results);
    }

    /// Appends the ops of `callee` to `done`, and returns its results.
    fn call(&mut self, callee: FuncId, op: &Op, done: &mut Vec<Op>) -> Vec<ValueId> {
        let func = self.module.func(callee);
        // The callee numbers its values separately: shift them behind those of the resulting function.
        let offset = self.values.len() as u32;
        self.values.extend(func.values.iter().cloned());
        let mut body = func.body.clone();
        shift(&mut body, offset);
        let mut renamed = Mapping::default();
        renamed.extend(&body.params, &op.operands);
        self.ops(&mut body, &mut renamed);
        done.append(&mut body.ops);
        body.results
    }

    /// Updates the numbers of the functions to which a custom call refers.
    fn renumber(&self, op: &mut Op) {
        if let OpKind::CustomCall(call) = &mut op.kind {
            for func in &mut call.called_computations {
                let index = self.roots.iter().position(|root| root == func).expect("every one is a root");
                *func = FuncId(index as u32);
            }
        }
    }
}
