//! Interchange of loops: from a `while` with an element-wise body to a [`TiledLoop`].
//!
//! A loop qualifies if it carries scalars, arrays of one size, and arrays into which each iteration writes one row of
//! that size; if its body computes scalars from scalars, and arrays element by element, from carried arrays, scalars,
//! rows that a scalar selects, and anything that no iteration changes; and if its condition depends on scalars only. A
//! `while` under `vmap` qualifies, too: its condition is whether any element goes on, and its body leaves the others
//! unchanged.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use oxcall_hlo::{BinaryOp, Func, Op, OpKind, Region, TensorType, ValueId};
use oxcall_kernels::math;
use oxcall_kernels::scalar::{self, Body};
use oxcall_kernels::tile::MOST_ELEMENTS;
use oxcall_kernels::tile::tiled_loop::{
    CarriedArray, CarriedScalar, Condition, LoopParts, RowIndex, ScalarWork, Source, TakenScalar, TiledLoop, Work,
    WrittenRows,
};

use super::order::{Item, order};
use super::{ASSUMED_ITERATIONS, Lowering, is_view};
use crate::compile::fusion::{self, FusedKernel};
use crate::compile::graph::Block;
use crate::runtime::Codegen;

/// The most operands and results of a kernel: the bits that say which are in place, and which were taken.
const MOST: usize = 64;

impl<'m> Lowering<'m> {
    /// Lowers a loop to a kernel that runs it piece by piece; `None`, and nothing is changed, if it does not qualify.
    pub(super) fn interchange(&mut self, op: &'m Op, block: &mut Block) -> Option<()> {
        let shape = Shape::of(self.func, op)?;
        let mut found = Interchange::new(self.func, op, &shape)?;
        let parts = found.parts(&shape, self.runtime.codegen())?;
        let Interchange { operands, constants, .. } = found;
        if operands.len() > MOST {
            return None;
        }
        for constant in constants {
            let OpKind::Constant(literal) = &constant.kind else { continue };
            self.literal(literal, constant.results[0], block);
        }
        let inputs = self.flat(&operands);
        let mut outputs = Vec::new();
        for (index, &result) in op.results.iter().enumerate() {
            if shape.carries[index] == Carry::Invariant {
                self.leaves[result.0 as usize] = self.leaves[op.operands[index].0 as usize].clone();
            } else {
                outputs.extend(self.define(result));
            }
        }
        self.compute(block, (Box::new(TiledLoop::new(parts)), 0.0), inputs, outputs);
        Some(())
    }
}

/// How a loop changes a value that it carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Carry {
    /// No iteration changes it.
    Invariant,
    Scalar,
    Array,
    /// Each iteration writes a row: the result of this op of the body.
    Rows(usize),
}

/// The shape of a loop that may qualify.
struct Shape {
    /// The number of elements of each array.
    count: usize,
    /// The carried values, by index.
    carries: Vec<Carry>,
}

/// The number of elements of `value`.
fn count(func: &Func, value: ValueId) -> Option<usize> {
    func.ty(value).tensor().and_then(TensorType::checked_count)
}

/// The results of ops.
fn defined(ops: &[Op]) -> impl Iterator<Item = &ValueId> {
    defined_by(ops.iter())
}

fn defined_by<'a>(ops: impl Iterator<Item = &'a Op>) -> impl Iterator<Item = &'a ValueId> {
    ops.flat_map(|op| &op.results)
}

fn is_scalar(func: &Func, value: ValueId) -> bool {
    count(func, value) == Some(1)
}

/// Whether an op works on scalars only and contains no loop, which every piece would run again.
fn is_scalar_op(func: &Func, op: &Op) -> bool {
    let is_straight = |region: &Region| region.ops.iter().all(|op| is_scalar_op(func, op));
    op.operands.iter().chain(&op.results).all(|&value| is_scalar(func, value))
        && op.kind != OpKind::While
        && op.regions.iter().all(is_straight)
}

/// The dimension along which a slice of `sizes` is one row of an array of `dims`, and the number of rows.
fn row_of(dims: &[usize], sizes: &[usize]) -> Option<(usize, usize)> {
    let dim = dims.iter().position(|&dim| dim != 1).filter(|_| dims.len() == sizes.len())?;
    (sizes[dim] == 1 && dims[dim + 1..] == sizes[dim + 1..]).then_some((dim, dims[dim]))
}

impl Shape {
    fn of(func: &Func, op: &Op) -> Option<Shape> {
        let [_, body] = &op.regions[..] else { return None };
        let mut carries = Vec::with_capacity(op.operands.len());
        let mut counts = Vec::new();
        for (index, (&param, &next)) in body.params.iter().zip(&body.results).enumerate() {
            let all = count(func, param)?;
            let written = body.ops.iter().position(|op| op.results.contains(&next));
            let row = written.and_then(|written| written_row(func, &body.ops[written], param));
            carries.push(match (all, written, row) {
                _ if param == next => Carry::Invariant,
                (1, ..) => Carry::Scalar,
                (_, Some(written), Some(row)) => {
                    counts.push(row);
                    // Nothing but the update reads it, and nothing the updated one.
                    let operands = body.ops.iter().flat_map(|op| &op.operands);
                    let uses = operands.filter(|&&operand| operand == param || operand == next).count();
                    let mut others = body.results.iter().enumerate().filter(|&(other, _)| other != index);
                    if uses != 1 || others.any(|(_, &value)| value == next || value == param) {
                        return None;
                    }
                    Carry::Rows(written)
                }
                _ => {
                    counts.push(all);
                    Carry::Array
                }
            });
        }
        let &count = counts.first()?;
        let changing = carries.iter().filter(|carry| **carry != Carry::Invariant).count();
        (count > MOST_ELEMENTS && changing <= MOST && counts.iter().all(|&each| each == count))
            .then_some(Shape { count, carries })
    }
}

/// The number of elements of the row of `array` that `op` writes, if it does.
fn written_row(func: &Func, op: &Op, array: ValueId) -> Option<usize> {
    let [dims, sizes] = [0, 1].map(|index| op.operands.get(index).and_then(|&value| func.ty(value).tensor()));
    let is_update = op.kind == OpKind::DynamicUpdateSlice && op.operands[0] == array;
    row_of(&dims?.dims, &sizes?.dims).filter(|_| is_update)?;
    sizes?.checked_count()
}

/// A loop that is being interchanged.
struct Interchange<'m> {
    func: &'m Func,
    op: &'m Op,
    cond: &'m Region,
    body: &'m Region,
    /// The values that the loop defines.
    inside: HashSet<ValueId>,
    /// The value that has the same elements as each reshape, and as each parameter that no iteration changes.
    same: HashMap<ValueId, ValueId>,
    /// The operands of the kernel.
    operands: Vec<ValueId>,
    /// The place of each value that is known by now.
    sources: HashMap<ValueId, Source>,
    /// Scalars that no iteration changes, by operand.
    invariant: Vec<usize>,
    /// Scalars that each iteration computes and that others need, and those that it takes from arrays in between.
    computed: [Vec<ValueId>; 2],
    taken: Vec<&'m Op>,
    /// The ops of the body on scalars, before and after these are taken, and those on arrays, which also have the
    /// constants.
    scalar_ops: [Vec<Op>; 2],
    array_ops: Vec<Op>,
    /// Arrays of constants.
    constants: Vec<&'m Op>,
    /// The number of results of programs.
    results: usize,
}

impl<'m> Interchange<'m> {
    /// Divides the ops of a loop; `None` if one of them does not qualify.
    fn new(func: &'m Func, op: &'m Op, shape: &Shape) -> Option<Interchange<'m>> {
        let [cond, body] = &op.regions[..] else { return None };
        let mut found = Interchange {
            func,
            op,
            cond,
            body,
            inside: HashSet::new(),
            same: HashMap::new(),
            operands: Vec::new(),
            sources: HashMap::new(),
            invariant: Vec::new(),
            computed: Default::default(),
            taken: Vec::new(),
            scalar_ops: Default::default(),
            array_ops: Vec::new(),
            constants: Vec::new(),
            results: 0,
        };
        for region in [cond, body] {
            found.inside.extend(defined(&region.ops).chain(&region.params));
            let reshapes = region.ops.iter().filter(|op| op.kind == OpKind::Reshape);
            found.same.extend(reshapes.map(|op| (op.results[0], op.operands[0])));
        }
        let (mut scalars, mut arrays) = (0.., 0..);
        for (index, carry) in shape.carries.iter().enumerate() {
            let params = [cond.params[index], body.params[index]];
            let source = match carry {
                Carry::Scalar => scalars.next().map(Source::Scalar),
                Carry::Array => arrays.next().map(Source::Carried),
                Carry::Rows(_) => None,
                Carry::Invariant => {
                    found.same.extend(params.map(|param| (param, op.operands[index])));
                    None
                }
            };
            found.sources.extend(source.into_iter().flat_map(|source| params.map(|param| (param, source))));
        }
        found.divide(shape)?;
        found.number(scalars.start)?;
        found.rows()?;
        Some(found)
    }

    /// Tells the ops on scalars from those on arrays, which have to be such as fusions take, and read only elements at
    /// their own places of what changes.
    fn divide(&mut self, shape: &Shape) -> Option<()> {
        let carried = self.body.params.iter().zip(&shape.carries);
        let is_array = |carry: &Carry| matches!(carry, Carry::Array | Carry::Rows(_));
        let mut changes: HashSet<ValueId> =
            carried.filter(|(_, carry)| is_array(carry)).map(|(&param, _)| param).collect();
        // Scalars that depend on those that are taken from arrays.
        let mut late: HashSet<ValueId> = HashSet::new();
        for (index, op) in self.body.ops.iter().enumerate() {
            if is_scalar_op(self.func, op) {
                let captures = Region::free_values(&op.regions);
                let is_late = op.operands.iter().chain(&captures).any(|operand| late.contains(operand));
                if matches!(op.kind, OpKind::Constant(_)) {
                    self.scalar_ops[1].push(op.clone());
                    self.array_ops.push(op.clone());
                }
                if is_late {
                    late.extend(&op.results);
                }
                self.scalar_ops[usize::from(is_late)].push(op.clone());
                continue;
            }
            let changing = |operands: &[ValueId]| operands.iter().any(|operand| changes.contains(operand));
            match &op.kind {
                OpKind::Constant(_) | OpKind::Iota { .. } | OpKind::Reshape => {}
                OpKind::DynamicUpdateSlice if shape.carries.contains(&Carry::Rows(index)) => continue,
                OpKind::DynamicSlice { .. } if is_scalar(self.func, op.results[0]) => {
                    late.extend(&op.results);
                    self.taken.push(op);
                    continue;
                }
                OpKind::BroadcastInDim { .. }
                | OpKind::Slice { .. }
                | OpKind::Pad { .. }
                | OpKind::Concatenate { .. }
                    if !changing(&op.operands) => {}
                OpKind::Gather { .. } | OpKind::DynamicSlice { .. } if !changing(&op.operands[..1]) => {}
                kind if math::is_element_wise(kind) => {}
                _ => return None,
            }
            if changing(&op.operands) || matches!(op.kind, OpKind::DynamicSlice { .. }) {
                changes.extend(&op.results);
            }
            self.array_ops.push(op.clone());
        }
        Some(())
    }

    /// The value whose elements `value` has: one that an op computes, that the loop carries, or from outside.
    fn root(&self, mut value: ValueId) -> ValueId {
        while let Some(&same) = self.same.get(&value) {
            value = same;
        }
        value
    }

    /// Numbers the scalars: `carried` ones, then those that no iteration changes, then those that iterations compute.
    fn number(&mut self, carried: usize) -> Option<()> {
        let (cond, func) = (self.cond, self.func);
        let by_ops: HashSet<ValueId> = defined(&cond.ops).chain(defined(&self.body.ops)).copied().collect();
        let ops = || cond.ops.iter().chain(&self.body.ops);
        let captures = ops().flat_map(|op| Region::free_values(&op.regions));
        let used = ops().flat_map(|op| op.operands.iter().copied()).chain(captures);
        let results = self.body.results.iter().chain(&cond.results).copied();
        let used: Vec<ValueId> = used.chain(results).filter(|&value| is_scalar(func, value)).collect();
        for value in used {
            if by_ops.contains(&value) || self.sources.contains_key(&value) {
                continue;
            }
            let operand = self.operand(self.root(value))?;
            let known = self.invariant.iter().position(|&known| known == operand).unwrap_or_else(|| {
                self.invariant.push(operand);
                self.invariant.len() - 1
            });
            self.sources.insert(value, Source::Scalar(carried + known));
        }
        // Programs have constants of their own, but not as the index of a row.
        let is_constant = |op: &&Op| matches!(op.kind, OpKind::Constant(_));
        let [early, late] = &self.scalar_ops;
        let constants: HashSet<ValueId> = defined_by(early.iter().filter(is_constant)).copied().collect();
        let is_indexed = |op: &Op| matches!(op.kind, OpKind::DynamicSlice { .. } | OpKind::DynamicUpdateSlice);
        let is_needed = |op: &Op, operand: &ValueId| is_indexed(op) || !constants.contains(operand);
        let by_arrays = self.body.ops.iter().filter(|op| !is_scalar_op(func, op));
        let by_late = late.iter().filter(|op| !is_constant(op));
        let captures = late.iter().flat_map(|op| Region::free_values(&op.regions));
        let needed = by_arrays.chain(by_late).flat_map(|op| {
            let needed = op.operands.iter().filter(move |operand| is_needed(op, operand));
            needed.copied().collect::<Vec<_>>()
        });
        let needed: Vec<ValueId> = needed.chain(captures).chain(self.body.results.iter().copied()).collect();
        let mut next = carried + self.invariant.len()..;
        for (phase, ops) in [early, late].into_iter().enumerate() {
            let own: HashSet<ValueId> = defined(ops).copied().collect();
            for &value in needed.iter().filter(|value| own.contains(value)) {
                if let Entry::Vacant(vacant) = self.sources.entry(value) {
                    vacant.insert(Source::Scalar(next.start));
                    next.start += 1;
                    self.computed[phase].push(value);
                }
            }
            if phase == 0 {
                for op in &self.taken {
                    self.sources.insert(op.results[0], Source::Scalar(next.start));
                    next.start += 1;
                }
            }
        }
        Some(())
    }

    /// The number of an operand of the kernel: a value from outside the loop, or a constant.
    fn operand(&mut self, value: ValueId) -> Option<usize> {
        let is_constant = self.constants.iter().any(|op| op.results.contains(&value));
        if self.inside.contains(&value) && !is_constant {
            return None;
        }
        Some(self.operands.iter().position(|&known| known == value).unwrap_or_else(|| {
            self.operands.push(value);
            self.operands.len() - 1
        }))
    }

    /// Takes rows of arrays as sources instead of computing them.
    fn rows(&mut self) -> Option<()> {
        for op in std::mem::take(&mut self.array_ops) {
            if !matches!(op.kind, OpKind::DynamicSlice { .. }) {
                self.array_ops.push(op);
                continue;
            }
            let row = self.row(&op)?;
            self.sources.insert(op.results[0], row);
        }
        Some(())
    }

    /// The row that `op` takes, if it does.
    fn row(&mut self, op: &Op) -> Option<Source> {
        let OpKind::DynamicSlice { sizes } = &op.kind else { return None };
        let (dim, rows) = row_of(&self.func.ty(op.operands[0]).tensor()?.dims, sizes)?;
        let index = self.row_index(op.operands[1 + dim], rows)?;
        let array = self.operand(self.root(op.operands[0]))?;
        Some(Source::Row { array, index })
    }

    fn row_index(&self, index: ValueId, rows: usize) -> Option<RowIndex> {
        let element = self.func.ty(index).tensor()?.element;
        match self.sources.get(&index) {
            Some(&Source::Scalar(index)) => Some(RowIndex { index, element, rows }),
            _ => None,
        }
    }

    /// The parts of the loop; `None` if it does not qualify.
    fn parts(&mut self, shape: &Shape, codegen: Codegen) -> Option<LoopParts> {
        let condition = self.condition(shape, codegen)?;
        let [scalar_work, late_work] =
            [0, 1].map(|phase| self.scalar_work(&self.scalar_ops[phase], &self.computed[phase]));
        let (scalar_work, late_work) = (scalar_work?, late_work?);
        let taken = self.taken()?;
        let arrays = (self.body.results.iter().zip(&shape.carries)).filter_map(|(&next, carry)| match *carry {
            Carry::Array => Some(next),
            Carry::Rows(op) => Some(self.body.ops[op].operands[1]),
            Carry::Invariant | Carry::Scalar => None,
        });
        let results = arrays.collect();
        let region = Region { params: Vec::new(), ops: std::mem::take(&mut self.array_ops), results };
        let work = self.programs(&region, shape.count, codegen)?;
        let (scalars, arrays, written) = self.carried(shape)?;
        Some(LoopParts {
            count: shape.count,
            scalars,
            invariant: self.invariant.clone(),
            condition,
            scalar_work,
            taken,
            late_work,
            arrays,
            written,
            work,
            iterations: ASSUMED_ITERATIONS,
        })
    }

    /// The scalars that each iteration takes from arrays.
    fn taken(&mut self) -> Option<Vec<TakenScalar>> {
        let mut taken = Vec::with_capacity(self.taken.len());
        for op in self.taken.clone() {
            let (Source::Row { array, index }, Source::Scalar(own)) = (self.row(op)?, self.sources[&op.results[0]])
            else {
                return None;
            };
            if index.index >= own {
                return None;
            }
            taken.push(TakenScalar { array, index });
        }
        Some(taken)
    }

    /// The carried values that change, with results numbered in the order of the loop's.
    fn carried(&mut self, shape: &Shape) -> Option<(Vec<CarriedScalar>, Vec<CarriedArray>, Vec<WrittenRows>)> {
        let (mut scalars, mut arrays, mut written) = (Vec::new(), Vec::new(), Vec::new());
        let mut result = 0;
        for (index, &carry) in shape.carries.iter().enumerate() {
            if carry == Carry::Invariant {
                continue;
            }
            let next = self.body.results[index];
            let init = self.operand(self.op.operands[index])?;
            let width = self.func.ty(next).tensor()?.element.byte_width();
            match carry {
                Carry::Scalar => {
                    let Some(&Source::Scalar(next)) = self.sources.get(&next) else { return None };
                    scalars.push(CarriedScalar { init, next, result });
                }
                Carry::Rows(op) => {
                    let op = &self.body.ops[op];
                    let (dim, rows) =
                        row_of(&self.func.ty(next).tensor()?.dims, &self.func.ty(op.operands[1]).tensor()?.dims)?;
                    let index = self.row_index(op.operands[2 + dim], rows)?;
                    written.push(WrittenRows { init, row: self.source(op.operands[1])?, index, result, width });
                }
                _ => arrays.push(CarriedArray { init, next: self.source(next)?, result, width }),
            }
            result += 1;
        }
        Some((scalars, arrays, written))
    }

    /// The place of a value that is known, or that no iteration changes.
    fn source(&mut self, mut value: ValueId) -> Option<Source> {
        loop {
            match (self.sources.get(&value), self.same.get(&value)) {
                (Some(&source), _) => return Some(source),
                (None, Some(&same)) => value = same,
                (None, None) => return self.operand(value).map(Source::Operand),
            }
        }
    }

    /// The scalars that ops with these results use beside their own.
    fn scalar_args(&self, ops: &[Op], results: &[ValueId]) -> Vec<ValueId> {
        let mut args: Vec<ValueId> = Vec::new();
        let own: HashSet<ValueId> = defined(ops).copied().collect();
        let captures = ops.iter().flat_map(|op| Region::free_values(&op.regions));
        let used = ops.iter().flat_map(|op| op.operands.iter().copied()).chain(captures);
        for value in used.chain(results.iter().copied()) {
            let is_known = matches!(self.sources.get(&value), Some(Source::Scalar(_)));
            if is_known && !own.contains(&value) && !args.contains(&value) {
                args.push(value);
            }
        }
        args
    }

    /// A function of scalars; `None` if an op does not work on scalars.
    fn scalar_work(&self, ops: &[Op], results: &[ValueId]) -> Option<ScalarWork> {
        let args = self.scalar_args(ops, results);
        let program = scalar::Program::new(self.func, &args, ops, results).ok()?;
        let id = |value: &ValueId| match self.sources.get(value) {
            Some(&Source::Scalar(id)) => Some(id),
            _ => None,
        };
        Some(ScalarWork { program, args: args.iter().map(id).collect::<Option<_>>()? })
    }

    /// The programs of the ops of a region; `None` if they are not all element-wise. Their results become known.
    fn programs(&mut self, region: &Region, count: usize, codegen: Codegen) -> Option<Vec<Work>> {
        let fusions = fusion::fuse(self.func, region, codegen, false).ok()?;
        let items = order(region, &fusions, self.func.values.len()).ok()?;
        let mut fusions: Vec<_> = fusions.into_iter().map(Some).collect();
        let mut all = Vec::new();
        for item in items {
            let index = match item {
                Item::Fusion(index) => index,
                Item::Op(index) if self.is_known(&region.ops[index]) => continue,
                Item::Op(_) => return None,
            };
            let fusion = fusions[index].take().expect("each fusion is computed once");
            let FusedKernel::Program(program) = fusion.kernel else { return None };
            let sources = fusion.inputs.iter().map(|&input| self.source(input)).collect::<Option<Vec<_>>>()?;
            let is_apart = |source: &Source| matches!(source, Source::Operand(_) | Source::Scalar(_));
            let reads_elsewhere =
                sources.iter().enumerate().any(|(input, source)| !is_apart(source) && !program.reads_in_place(input));
            if reads_elsewhere || !program.is_element_wise(count) {
                return None;
            }
            for &output in &fusion.outputs {
                self.sources.insert(output, Source::Computed(self.results));
                self.results += 1;
            }
            all.push(Work { program: *program, sources });
        }
        Some(all)
    }

    /// Whether an op needs no program: its result is another name for an operand, or a constant.
    fn is_known(&mut self, op: &Op) -> bool {
        let tensor = |value: ValueId| self.func.ty(value).tensor();
        match (&op.kind, op.operands.first()) {
            (OpKind::Constant(_), _) => {
                let own = self.body.ops.iter().chain(&self.cond.ops).find(|own| own.results == op.results);
                self.constants
                    .extend(own.filter(|own| !self.constants.iter().any(|known| known.results == own.results)));
                true
            }
            (_, Some(&operand)) if let (Some(from), Some(to)) = (tensor(operand), tensor(op.results[0])) => {
                if !is_view(op, from, to) {
                    return false;
                }
                let source = self.source(operand);
                self.sources.extend(source.map(|source| (op.results[0], source)));
                source.is_some()
            }
            _ => false,
        }
    }

    /// The condition; `None` if it does not qualify.
    fn condition(&mut self, shape: &Shape, codegen: Codegen) -> Option<Condition> {
        let cond = self.cond;
        if cond.ops.iter().all(|op| is_scalar_op(self.func, op)) {
            return self.scalar_work(&cond.ops, &cond.results).map(Condition::Scalar);
        }
        let goes_on = self.any(shape)?;
        let ops = cond.ops.iter().filter(|op| !op.results.contains(&cond.results[0])).cloned().collect();
        let region = Region { params: Vec::new(), ops, results: vec![goes_on] };
        let work = self.programs(&region, shape.count, codegen)?;
        let last = Source::Computed(self.results.checked_sub(1)?);
        (self.source(goes_on) == Some(last)).then_some(Condition::Any(work))
    }

    /// The booleans that keep the loop going while any is true, if iterations leave elements unchanged where they are
    /// false.
    fn any(&self, shape: &Shape) -> Option<ValueId> {
        let reduce = self.cond.ops.iter().find(|op| op.results.contains(&self.cond.results[0]))?;
        let (OpKind::Reduce { dims }, &[booleans, init]) = (&reduce.kind, &reduce.operands[..]) else { return None };
        let ty = self.func.ty(booleans).tensor()?;
        let init = self.cond.ops.iter().find(|op| op.results.contains(&init));
        let Some(OpKind::Constant(init)) = init.map(|op| &op.kind) else { return None };
        let is_any = scalar::idiom(&self.func.values, &reduce.regions[0]) == Some(Body::Binary(BinaryOp::Or));
        let is_whole = dims.len() == ty.rank() && ty.checked_count() == Some(shape.count);
        if !is_any || !is_whole || init.element(0) != [0] {
            return None;
        }
        let mut known = HashSet::new();
        for (index, carry) in shape.carries.iter().enumerate() {
            let next = self.root(self.body.results[index]);
            let select = self.array_ops.iter().find(|op| op.results.contains(&next));
            let keeps = select.is_some_and(|op| {
                op.kind == OpKind::Select
                    && self.root(op.operands[2]) == self.body.params[index]
                    && self.is_same(booleans, op.operands[0], &mut known)
            });
            if *carry != Carry::Invariant && !(*carry == Carry::Array && keeps) {
                return None;
            }
        }
        Some(booleans)
    }

    /// Whether a value of the condition and one of the body are computed in the same way; `known` holds the pairs found
    /// equal so far.
    fn is_same(&self, of_cond: ValueId, of_body: ValueId, known: &mut HashSet<[ValueId; 2]>) -> bool {
        let pair @ [cond, body] = [of_cond, of_body].map(|value| self.root(value));
        let params = self.cond.params.iter().zip(&self.body.params);
        if cond == body || known.contains(&pair) || params.into_iter().any(|pair| pair == (&cond, &body)) {
            return true;
        }
        let by_cond = self.cond.ops.iter().find(|op| op.results[..] == [cond]);
        let by_body = self.body.ops.iter().find(|op| op.results[..] == [body]);
        let (Some(by_cond), Some(by_body)) = (by_cond, by_body) else { return false };
        let ty = |value: ValueId| self.func.ty(value);
        let is_same = by_cond.kind == by_body.kind
            && by_cond.regions.is_empty()
            && by_cond.operands.len() == by_body.operands.len()
            && ty(cond) == ty(body)
            && by_cond.operands.iter().zip(&by_body.operands).all(|(&cond, &body)| {
                // Reshapes of one value are the same elements, but not the same operand.
                ty(cond) == ty(body) && self.is_same(cond, body, known)
            });
        if is_same {
            known.insert(pair);
        }
        is_same
    }
}
