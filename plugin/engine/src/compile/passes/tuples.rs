//! Tuple flattening: each value of tuple type becomes the values of its leaves.

use std::collections::HashMap;

use oxcall_hlo::{
    Alias, ArgAttributes, Attribute, CustomCall, Func, Module, Op, OpKind, Region, TensorType, Type, ValueId,
};

/// Flattens all tuples of the entry function: operands and results of every op, parameters and results of regions, and
/// those of the function itself.
pub(crate) fn flatten(module: &mut Module) {
    let entry = module.entry.0 as usize;
    let func = &mut module.funcs[entry];
    if func.values.iter().any(|ty| matches!(ty, Type::Tuple(_))) {
        flatten_signature(func);
        let mut body = std::mem::take(&mut func.body);
        Flattener { values: &mut func.values, leaves: HashMap::new() }.region(&mut body);
        func.body = body;
    }
}

/// The types in `ty` that are not tuples, in order.
fn leaf_types(ty: &Type) -> Vec<Type> {
    match ty {
        Type::Tuple(types) => types.iter().flat_map(leaf_types).collect(),
        other => vec![other.clone()],
    }
}

/// The number of leaves in `ty`.
fn leaf_count(ty: &Type) -> usize {
    match ty {
        Type::Tuple(types) => types.iter().map(leaf_count).sum(),
        _ => 1,
    }
}

/// Copies the attributes of tuples to each leaf, and makes aliases refer to leaves of results.
fn flatten_signature(func: &mut Func) {
    let counts = |values: &[ValueId]| values.iter().map(|value| leaf_count(func.ty(*value))).collect::<Vec<_>>();
    let (params, results) = (counts(&func.body.params), counts(&func.body.results));
    let first_leaf = |result: usize| results.iter().take(result).sum::<usize>();
    let repeat = |lists: &mut Vec<ArgAttributes>, counts: &[usize]| {
        let flat = std::mem::take(lists).into_iter().zip(counts);
        lists.extend(flat.flat_map(|(list, &count)| {
            (0..count).map(move |leaf| list.iter().map(|entry| alias_of_leaf(entry, leaf, &first_leaf)).collect())
        }));
    };
    repeat(&mut func.param_attributes, &params);
    repeat(&mut func.result_attributes, &results);
}

fn alias_of_leaf(
    (name, attribute): &(String, Attribute),
    leaf: usize,
    first_leaf: &impl Fn(usize) -> usize,
) -> (String, Attribute) {
    let attribute = match attribute {
        Attribute::Integer(result, ty) if name == "tf.aliasing_output" => {
            let result = usize::try_from(*result).map_or(0, first_leaf) + leaf;
            Attribute::Integer(result as i64, *ty)
        }
        other => other.clone(),
    };
    (name.clone(), attribute)
}

struct Flattener<'f> {
    values: &'f mut Vec<Type>,
    /// The replacements of values of tuple type, and of the results of ops that vanish.
    leaves: HashMap<ValueId, Vec<ValueId>>,
}

impl Flattener<'_> {
    fn ty(&self, value: ValueId) -> &Type {
        &self.values[value.0 as usize]
    }

    /// The leaves of `values`.
    fn used(&self, values: &[ValueId]) -> Vec<ValueId> {
        let mut flat = Vec::with_capacity(values.len());
        for value in values {
            match self.leaves.get(value) {
                Some(leaves) => flat.extend(leaves),
                None => flat.push(*value),
            }
        }
        flat
    }

    /// New leaves for those of `values` that are tuples.
    fn defined(&mut self, values: &[ValueId]) -> Vec<ValueId> {
        for &value in values {
            if matches!(self.ty(value), Type::Tuple(_)) {
                let first = self.values.len() as u32;
                let types = leaf_types(self.ty(value));
                self.values.extend(types);
                self.leaves.insert(value, (first..self.values.len() as u32).map(ValueId).collect());
            }
        }
        self.used(values)
    }

    fn region(&mut self, region: &mut Region) {
        region.params = self.defined(&region.params);
        let ops = std::mem::take(&mut region.ops);
        region.ops = ops.into_iter().filter_map(|op| self.op(op)).collect();
        region.results = self.used(&region.results);
    }

    fn op(&mut self, mut op: Op) -> Option<Op> {
        match &mut op.kind {
            OpKind::Tuple => {
                let leaves = self.used(&op.operands);
                self.leaves.insert(op.results[0], leaves);
                return None;
            }
            OpKind::GetTupleElement { index } => {
                if let Type::Tuple(types) = self.ty(op.operands[0]) {
                    let first: usize = types[..*index].iter().map(leaf_count).sum();
                    let count = leaf_count(&types[*index]);
                    let leaves = self.leaves[&op.operands[0]][first..][..count].to_vec();
                    self.leaves.insert(op.results[0], leaves);
                }
                return None;
            }
            OpKind::CustomCall(call) => {
                self.layouts(call, &op.operands, &op.results);
                self.aliases(call, &op.operands, &op.results);
            }
            _ => {}
        }
        op.operands = self.used(&op.operands);
        op.regions.iter_mut().for_each(|region| self.region(region));
        op.results = self.defined(&op.results);
        Some(op)
    }

    /// Gives each leaf of a custom call's operands and results a layout, if any has one. Layouts do not describe the
    /// elements of tuples, except those of the only result.
    fn layouts(&self, call: &mut CustomCall, operands: &[ValueId], results: &[ValueId]) {
        let types = |values: &[ValueId]| values.iter().map(|&value| self.ty(value).clone()).collect::<Vec<_>>();
        let results = match types(results).as_slice() {
            [Type::Tuple(elements)] => elements.clone(),
            several => several.to_vec(),
        };
        for (layouts, types) in [(&mut call.operand_layouts, types(operands)), (&mut call.result_layouts, results)] {
            let Some(layouts) = layouts else { continue };
            let flat = std::mem::take(layouts).into_iter().zip(&types).flat_map(|(layout, ty)| match ty {
                Type::Tuple(_) => leaf_types(ty).iter().map(row_major).collect(),
                _ => vec![layout],
            });
            *layouts = flat.collect();
        }
    }

    /// Turns the aliases of a custom call into pairs of leaves.
    fn aliases(&self, call: &mut CustomCall, operands: &[ValueId], results: &[ValueId]) {
        let types = |values: &[ValueId]| Type::Tuple(values.iter().map(|value| self.ty(*value).clone()).collect());
        let operands = types(operands);
        // A path begins in the only result, or with the number of one of several.
        let results = match results {
            [result] => self.ty(*result).clone(),
            _ => types(results),
        };
        let one_leaf = leaf_count(&results) == 1;
        let flat = call.aliases.iter().flat_map(|alias| {
            let (output, count) = leaf_range(&results, &alias.output);
            let path: Vec<usize> = [alias.operand].iter().chain(&alias.operand_path).copied().collect();
            let (operand, _) = leaf_range(&operands, &path);
            (0..count).map(move |leaf| Alias {
                output: if one_leaf { Vec::new() } else { vec![output + leaf] },
                operand: operand + leaf,
                operand_path: Vec::new(),
            })
        });
        call.aliases = flat.collect();
    }
}

/// The row-major layout, minor to major.
fn row_major(ty: &Type) -> Vec<usize> {
    (0..ty.tensor().map_or(0, TensorType::rank)).rev().collect()
}

/// The first leaf of the element of `ty` at `path`, and the number of its leaves.
fn leaf_range(ty: &Type, path: &[usize]) -> (usize, usize) {
    match (ty, path) {
        (Type::Tuple(types), [index, rest @ ..]) => {
            let (first, count) = leaf_range(&types[*index], rest);
            (types[..*index].iter().map(leaf_count).sum::<usize>() + first, count)
        }
        _ => (0, leaf_count(ty)),
    }
}
