//! Arrays that loops carry, as their rows.
//!
//! A system of equations is often written on one array of all unknowns: `x, y, z = s`, and at the end
//! `jnp.stack([dx, dy, dz])`. Each element of the array then depends on others, and every stack is written out. If the
//! loop carries the rows instead, each on its own, all of its body is element-wise.

use std::collections::{HashMap, HashSet};

use oxcall::Error;
use oxcall_hlo::{Literal, LocationId, Module, Op, OpKind, Region, TensorType, ValueId};
use oxcall_kernels::tile::MOST_ELEMENTS;

use super::ir::{Rewrite, Rewriter, is_elementwise, rewrite};

/// The most rows: what is computed of the whole array is repeated for each.
const MOST_ROWS: usize = 16;

/// The most carried arrays that are taken apart.
const MOST_ARRAYS: usize = 16;

/// Takes arrays apart that loops carry. Returns whether there were any.
///
/// # Errors
/// None; the type is that of rewrites.
pub(super) fn carries(module: &mut Module) -> Result<bool, Error> {
    for arrays in 0..MOST_ARRAYS {
        let changed = rewrite(module, |rewriter, op| {
            let stacked = (0..op.operands.len()).find_map(|index| Stacked::of(rewriter, &op, index));
            Ok(match stacked {
                Some(stacked) => Rewrite::With(stacked.take_apart(rewriter, op).into()),
                None => Rewrite::Keep(op),
            })
        })?;
        if !changed {
            return Ok(arrays > 0);
        }
    }
    Ok(true)
}

/// Arrays of one shape that a loop carries, whose rows are read, and put together again.
struct Stacked {
    /// Their places among what the loop carries.
    indices: Vec<usize>,
    dims: Vec<usize>,
    /// The dimension of the rows, and their number.
    dim: usize,
    rows: usize,
    /// Values of the body of the same shape that are to become rows.
    values: HashSet<ValueId>,
}

/// The dimension along which `op` takes one row, and the row.
fn row_of(op: &Op, dims: &[usize]) -> Option<(usize, usize)> {
    let OpKind::Slice { start, limit, .. } = &op.kind else { return None };
    let mut cut = (0..dims.len()).filter(|&dim| limit[dim] - start[dim] != dims[dim]);
    let (dim, None) = (cut.next()?, cut.next()) else { return None };
    (limit[dim] - start[dim] == 1).then_some((dim, start[dim]))
}

impl Stacked {
    /// The array and those that are computed with it, if they can be taken apart.
    fn of(rewriter: &Rewriter<'_>, op: &Op, index: usize) -> Option<Stacked> {
        let (OpKind::While, [cond, body]) = (&op.kind, &op.regions[..]) else { return None };
        let param = body.params[index];
        let dims = rewriter.ty(param).tensor()?.dims.to_vec();
        let mut rows_read = body.ops.iter().filter(|op| op.operands.first() == Some(&param));
        let dim = rows_read.find_map(|op| row_of(op, &dims))?.0;
        let rows = dims[dim];
        if rows > MOST_ROWS || rewriter.tensor(param).checked_count()? <= MOST_ELEMENTS {
            return None;
        }
        let mut stacked = Stacked { indices: vec![index], dims, dim, rows, values: HashSet::new() };
        stacked.find(rewriter, body)?;
        let captures = cond.ops.iter().flat_map(|op| Region::free_values(&op.regions));
        let used: HashSet<ValueId> =
            cond.ops.iter().flat_map(|op| op.operands.iter().copied()).chain(captures).collect();
        let is_used = |&index: &usize| used.contains(&cond.params[index]) || cond.results.contains(&cond.params[index]);
        (!stacked.indices.iter().any(is_used)).then_some(stacked)
    }

    /// Finds the values that become rows; `None` if one of them is needed as a whole, or none is put together.
    fn find(&mut self, rewriter: &Rewriter<'_>, body: &Region) -> Option<()> {
        let defs: HashMap<ValueId, &Op> =
            body.ops.iter().flat_map(|op| op.results.iter().map(move |&result| (result, op))).collect();
        let mut users: HashMap<ValueId, Vec<&Op>> = HashMap::new();
        for op in body.ops.iter().filter(|op| is_elementwise(&op.kind)) {
            op.operands.iter().for_each(|&operand| users.entry(operand).or_default().push(op));
        }
        let is_ours = |value: ValueId| rewriter.ty(value).tensor().is_some_and(|ty| ty.dims[..] == self.dims);
        let mut open = vec![body.params[self.indices[0]]];
        let mut is_stack = false;
        // All that is computed element by element belongs together.
        while let Some(value) = open.pop() {
            let op = defs.get(&value);
            let becomes_rows = match op.map(|op| &op.kind) {
                Some(OpKind::Concatenate { dim }) => *dim == self.dim,
                Some(kind) => is_elementwise(kind),
                None => body.params.contains(&value),
            };
            if !is_ours(value) || !becomes_rows || !self.values.insert(value) {
                continue;
            }
            match op {
                Some(Op { kind: OpKind::Concatenate { .. }, .. }) => is_stack = true,
                Some(op) => open.extend(&op.operands),
                None => {}
            }
            for (index, (&param, &next)) in body.params.iter().zip(&body.results).enumerate() {
                if value == param || value == next {
                    open.extend([param, next]);
                    if !self.indices.contains(&index) {
                        self.indices.push(index);
                    }
                }
            }
            open.extend(users.get(&value).into_iter().flatten().flat_map(|op| &op.results));
        }
        let is_fine = |op: &Op| {
            let uses_ours = op.operands.iter().any(|operand| self.values.contains(operand));
            let captures = Region::free_values(&op.regions);
            let is_row = || row_of(op, &self.dims).is_some_and(|(dim, _)| dim == self.dim);
            let is_inside = || op.results.iter().all(|result| self.values.contains(result)) && is_elementwise(&op.kind);
            captures.iter().all(|value| !self.values.contains(value)) && (!uses_ours || is_inside() || is_row())
        };
        let are_rows = self.indices.iter().all(|&index| self.values.contains(&body.results[index]));
        (is_stack && are_rows && body.ops.iter().all(is_fine)).then_some(())
    }

    /// The type of a row of elements like those of `value`.
    fn row_type(&self, rewriter: &Rewriter<'_>, value: ValueId) -> TensorType {
        let mut dims = self.dims.clone();
        dims.remove(self.dim);
        TensorType::new(rewriter.tensor(value).element, dims)
    }

    /// A row of `array`, of its shape, and without the dimension of rows: two ops.
    fn slice(
        &self,
        rewriter: &mut Rewriter<'_>,
        array: ValueId,
        row: usize,
        location: LocationId,
    ) -> ([Op; 2], ValueId) {
        let dims = rewriter.tensor(array).dims.to_vec();
        let (mut start, mut limit) = (vec![0; dims.len()], dims.clone());
        (start[self.dim], limit[self.dim]) = (row, row + 1);
        let mut ty = rewriter.tensor(array).clone();
        ty.dims[self.dim] = 1;
        let part = rewriter.value(ty.into());
        let ty = self.row_type(rewriter, array);
        let result = rewriter.value(ty.into());
        let kind = OpKind::Slice { start, limit, strides: vec![1; dims.len()] };
        let make = |kind, operand, result| Op {
            kind,
            operands: vec![operand],
            results: vec![result],
            regions: Vec::new(),
            location,
        };
        ([make(kind, array, part), make(OpKind::Reshape, part, result)], result)
    }

    /// Emits the loop that carries the rows; returns what its results were before.
    fn take_apart(&self, rewriter: &mut Rewriter<'_>, mut op: Op) -> Vec<ValueId> {
        let location = op.location;
        let mut all = op.results.clone();
        let mut known = HashMap::new();
        let mut indices = self.indices.clone();
        // The last one first, so that the places of the others stay what they are.
        indices.sort_unstable_by(|a, b| b.cmp(a));
        for &index in &indices {
            let init = op.operands[index];
            let row_type = self.row_type(rewriter, init);
            let mut inits = Vec::with_capacity(self.rows);
            for row in 0..self.rows {
                let (ops, value) = self.slice(rewriter, init, row, location);
                ops.into_iter().for_each(|op| rewriter.push(op));
                inits.push(value);
            }
            let mut fresh = || (0..self.rows).map(|_| rewriter.value(row_type.clone().into())).collect::<Vec<_>>();
            let (results, in_cond, in_body) = (fresh(), fresh(), fresh());
            op.operands.splice(index..=index, inits);
            op.results.splice(index..=index, results);
            op.regions[0].params.splice(index..=index, in_cond);
            known.insert(op.regions[1].params[index], in_body.clone());
            op.regions[1].params.splice(index..=index, in_body);
        }
        let body = &mut op.regions[1];
        let mut rows = Rows { stacked: self, known, ops: Vec::new() };
        for op in std::mem::take(&mut body.ops) {
            rows.op(rewriter, op);
        }
        let Rows { known, ops, .. } = rows;
        body.ops = ops;
        for &index in &indices {
            body.results.splice(index..=index, known[&body.results[index]].iter().copied());
        }
        let results = op.results.clone();
        rewriter.push(op);
        for (before, &index) in indices.iter().rev().enumerate() {
            let mut ty = rewriter.tensor(all[index]).clone();
            let whole = ty.clone();
            ty.dims[self.dim] = 1;
            let own = &results[index + before * (self.rows - 1)..][..self.rows];
            let parts: Vec<ValueId> =
                own.iter().map(|&row| rewriter.emit(OpKind::Reshape, &[row], ty.clone())).collect();
            all[index] = rewriter.emit(OpKind::Concatenate { dim: self.dim }, &parts, whole);
        }
        all
    }
}

/// The body of a loop that carries rows, under construction.
struct Rows<'a> {
    stacked: &'a Stacked,
    /// The rows of values that are known.
    known: HashMap<ValueId, Vec<ValueId>>,
    ops: Vec<Op>,
}

impl Rows<'_> {
    /// Adds what an op of the body becomes.
    fn op(&mut self, rewriter: &mut Rewriter<'_>, op: Op) {
        let Stacked { dim, rows, ref values, .. } = *self.stacked;
        if let Some(known) = op.operands.first().and_then(|operand| self.known.get(operand))
            && let Some((_, row)) = row_of(&op, &self.stacked.dims).filter(|&(along, _)| along == dim)
        {
            return self.ops.push(Op { kind: OpKind::Reshape, operands: vec![known[row]], ..op });
        }
        if !op.results.first().is_some_and(|result| values.contains(result)) {
            return self.ops.push(op);
        }
        let own = if matches!(op.kind, OpKind::Concatenate { .. }) {
            let mut own = Vec::with_capacity(rows);
            for &part in &op.operands {
                for row in 0..rewriter.tensor(part).dims[dim] {
                    own.push(self.slice(rewriter, part, row, op.location));
                }
            }
            own
        } else {
            let operands: Vec<Vec<ValueId>> =
                op.operands.iter().map(|&operand| self.rows(rewriter, operand, op.location)).collect();
            let ty = self.stacked.row_type(rewriter, op.results[0]);
            let row = |row: usize| {
                let result = rewriter.value(ty.clone().into());
                let operands = operands.iter().map(|rows| rows[row]).collect();
                self.ops.push(Op { operands, results: vec![result], ..op.clone() });
                result
            };
            (0..rows).map(row).collect()
        };
        self.known.insert(op.results[0], own);
    }

    fn slice(&mut self, rewriter: &mut Rewriter<'_>, array: ValueId, row: usize, location: LocationId) -> ValueId {
        let (ops, value) = self.stacked.slice(rewriter, array, row, location);
        self.ops.extend(ops);
        value
    }

    /// The rows of an operand; a scalar is each of its rows.
    fn rows(&mut self, rewriter: &mut Rewriter<'_>, value: ValueId, location: LocationId) -> Vec<ValueId> {
        let rows = self.stacked.rows;
        if let Some(known) = self.known.get(&value) {
            return known.clone();
        }
        if rewriter.tensor(value).dims[..] != self.stacked.dims {
            return vec![value; rows];
        }
        let inside = self.ops.iter().find(|op| op.results.contains(&value));
        let literal = match inside.map(|op| &op.kind) {
            Some(OpKind::Constant(literal)) => Some(literal),
            Some(_) => None,
            None => rewriter.literal(value),
        };
        let splat = literal.and_then(|literal| literal.splat_element().map(<[u8]>::to_vec));
        let own = match splat {
            Some(element) => {
                let ty = self.stacked.row_type(rewriter, value);
                let result = rewriter.value(ty.clone().into());
                let kind = OpKind::Constant(Literal::splat(ty, element));
                let op = Op { kind, operands: Vec::new(), results: vec![result], regions: Vec::new(), location };
                self.ops.push(op);
                vec![result; rows]
            }
            None => (0..rows).map(|row| self.slice(rewriter, value, row, location)).collect(),
        };
        self.known.insert(value, own.clone());
        own
    }
}
