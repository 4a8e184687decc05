//! Fusion of updates of slices, and of padding, with the ops that compute what is written, as in a step of a stencil.
//!
//! The fusion writes its elements to where they are in the updated array, which is in place if nothing reads it later.

use oxcall_hlo::{Op, OpKind, ValueId};
use oxcall_kernels::element::Scalar;
use oxcall_kernels::tile::Region;

use super::graph::Graph;
use super::groups::{GroupId, Groups};
use super::rows::Unit;
use super::views::{self, SHORTEST_RUN};
use super::{LARGE, MOST_OPS};

/// Merges updates into the units that compute them. There is a unit for each group.
pub(super) fn merge(graph: &Graph<'_>, groups: &mut Groups<'_>, units: &mut Vec<Unit>) {
    for (index, op) in graph.region.ops.iter().enumerate() {
        let Some(group) = producer(graph, groups, op) else { continue };
        let unit = &units[group.index()];
        let is_plain = unit.row == 1 && unit.slabs.is_none() && unit.ops.len() < MOST_OPS;
        let fits = || {
            Update::of(graph, op)
                .is_some_and(|update| graph.tensor(update.value).is_some_and(|ty| ty.count() == unit.count))
        };
        if !is_plain || unit.count < LARGE || !fits() {
            continue;
        }
        units.push(Unit::default());
        let own = groups.start(index);
        if groups.merge(group, own) {
            units[group.index()].ops.push(index);
        }
    }
}

/// An array with other elements in a box.
pub(super) struct Update {
    /// The elements.
    pub(super) value: ValueId,
    /// The array, or a scalar of whose copies it consists.
    pub(super) around: ValueId,
    /// The box.
    pub(super) region: Region,
}

impl Update {
    /// Whether `op` is an update of a slice, or padding.
    pub(super) fn is_of_kind(op: &Op) -> bool {
        matches!(op.kind, OpKind::DynamicUpdateSlice | OpKind::Pad { .. })
    }

    /// The update by `op`, if its box is known and consists of long runs.
    pub(super) fn of(graph: &Graph<'_>, op: &Op) -> Option<Update> {
        let result = graph.tensor(*op.results.first()?)?;
        let (starts, value, around): (Vec<usize>, _, _) = match &op.kind {
            OpKind::DynamicUpdateSlice => {
                let (array, value) = (op.operands[0], op.operands[1]);
                let sizes = result.dims.iter().zip(&graph.tensor(value)?.dims[..]);
                let starts = op.operands[2..].iter().zip(sizes).map(|(&index, (size, len))| {
                    let producer = graph.producer(graph.root(index))?;
                    let OpKind::Constant(start) = &graph.region.ops[producer].kind else { return None };
                    let start = Scalar::from_bytes(start.element(0)).integer(start.ty().element);
                    Some(start.clamp(0, (size - len) as i128) as usize)
                });
                (starts.collect::<Option<_>>()?, value, array)
            }
            OpKind::Pad { low, high, interior } if interior.iter().all(|&interior| interior == 0) => {
                high.iter().all(|&edge| edge >= 0).then_some(())?;
                let starts = low.iter().map(|&edge| usize::try_from(edge).ok());
                (starts.collect::<Option<_>>()?, op.operands[0], op.operands[1])
            }
            _ => return None,
        };
        let sizes = graph.tensor(value)?;
        let region = Region::new(&result.dims, &starts, &sizes.dims)?;
        (region.runs() * SHORTEST_RUN <= sizes.count()).then_some(Update { value, around, region })
    }
}

/// The only group that computes what `op` writes, if nothing else uses that.
fn producer(graph: &Graph<'_>, groups: &Groups<'_>, op: &Op) -> Option<GroupId> {
    let value = match op.kind {
        OpKind::DynamicUpdateSlice => op.operands[1],
        OpKind::Pad { .. } if views::of(graph, op.results[0]).is_none() => op.operands[0],
        _ => return None,
    };
    let producer = graph.producer(graph.root(value))?;
    let is_alone = graph.users[producer].len() == 1 && !graph.is_used_outside(producer, |_| true);
    let mut groups = groups.of(producer).filter(|_| is_alone);
    groups.next().filter(|_| groups.next().is_none())
}

#[cfg(test)]
mod tests {
    use oxcall_hlo::{BinaryOp, ElementType, Literal, OpKind, TensorType, UnaryOp, ValueId};

    use crate::compile::fusion::fuse;
    use crate::compile::fusion::tests::{Program, one_nan, run_both};
    use crate::runtime::Codegen;
    use crate::testing::{Random, ty};

    const TYPES: [ElementType; 6] =
        [ElementType::F32, ElementType::BF16, ElementType::S8, ElementType::S32, ElementType::F64, ElementType::S64];

    /// A box of a value.
    fn part(program: &mut Program, value: ValueId, start: [usize; 2], sizes: [usize; 2]) -> ValueId {
        let limit = (0..2).map(|dim| start[dim] + sizes[dim]).collect();
        let kind = OpKind::Slice { start: start.to_vec(), limit, strides: vec![1; 2] };
        let element = program.ty(value).element;
        program.op(kind, &[value], ty(element, &sizes))
    }

    fn scalar(program: &mut Program, ty: TensorType, bytes: &[u8]) -> ValueId {
        let literal = Literal::splat(ty, bytes);
        program.op(OpKind::Constant(literal.clone()), &[], literal.ty().clone())
    }

    fn update(program: &mut Program, array: ValueId, value: ValueId, start: [i32; 2]) -> ValueId {
        let index = |program: &mut Program, start: i32| {
            scalar(program, TensorType::scalar(ElementType::S32), &start.to_le_bytes())
        };
        let operands = [array, value, index(program, start[0]), index(program, start[1])];
        program.op(OpKind::DynamicUpdateSlice, &operands, program.ty(array))
    }

    fn add(program: &mut Program, a: ValueId, b: ValueId) -> ValueId {
        program.op(OpKind::Binary(BinaryOp::Add), &[a, b], program.ty(a))
    }

    /// The kernels, and whether each may run in place: the same results in every way.
    fn kernels(name: &str, program: &Program) -> Vec<(String, usize)> {
        for generate in [false, true] {
            for (value, plain, fused) in run_both(&program.func, generate, &mut Random(5)) {
                let element = program.ty(value).element;
                assert!(one_nan(element, &plain) == one_nan(element, &fused), "{name}, machine code: {generate}");
            }
        }
        let fusions = fuse(&program.func, &program.func.body, Codegen::On, false).unwrap();
        fusions.iter().map(|fusion| (fusion.kernel.name(), fusion.kernel.in_place().len())).collect()
    }

    /// A part of an array is computed from the same part and from another array.
    #[test]
    fn parts_are_written_where_they_are() {
        for element in TYPES {
            for (dims, start, sizes) in [
                ([40, 90], [1, 1], [38, 88]),
                ([40, 90], [0, 0], [40, 70]),
                ([40, 90], [3, 0], [37, 90]),
                ([1, 300], [0, 7], [1, 200]),
            ] {
                let mut program = Program::new();
                let [x, y] = [0; 2].map(|_| program.param(ty(element, &dims)));
                let [inner, other] = [x, y].map(|value| part(&mut program, value, start, sizes));
                let sum = add(&mut program, inner, other);
                let result = update(&mut program, x, sum, start.map(|start| start as i32));
                program.func.body.results.push(result);
                let name = format!("{element} {dims:?} {start:?} {sizes:?}");
                let found = kernels(&name, &program);
                // Elements that machine code reads and writes where they are may be in the same memory.
                let is_compiled = found[0].0.starts_with("compiled");
                assert!(found[0].0.ends_with("[add,dynamic_update_slice]"), "{name}: {found:?}");
                assert_eq!((found.len(), found[0].1), (1, usize::from(is_compiled)), "{name}: {found:?}");
            }
        }
    }

    /// An array that is read outside of the box is not updated in place.
    #[test]
    fn stencils_read_another_array_than_they_write() {
        let mut program = Program::new();
        let x = program.param(ty(ElementType::F32, &[60, 100]));
        let [up, down] = [0, 2].map(|row| part(&mut program, x, [row, 1], [58, 98]));
        let sum = add(&mut program, up, down);
        let result = update(&mut program, x, sum, [1, 1]);
        program.func.body.results.push(result);
        let found = kernels("stencil", &program);
        assert_eq!((found.len(), found[0].1), (1, 0), "{found:?}");
    }

    /// The rest of an array would be copied each time.
    #[test]
    fn small_parts_of_arrays_that_are_read_stay_updates() {
        let mut program = Program::new();
        let x = program.param(ty(ElementType::F32, &[60, 100]));
        let inner = part(&mut program, x, [0, 0], [2, 100]);
        let negated = program.op(OpKind::Unary(UnaryOp::Negate), &[inner], program.ty(inner));
        let result = update(&mut program, x, negated, [40, 0]);
        program.func.body.results.push(result);
        let found = kernels("small", &program);
        assert!(found.iter().all(|(name, _)| !name.contains("update")), "{found:?}");
    }

    /// Updates of what another op uses, of an array of the same fusion, and two of one value.
    #[test]
    fn what_has_no_place_of_its_own_stays_apart() {
        for case in 0..4 {
            let mut program = Program::new();
            let [x, y] = [0; 2].map(|_| program.param(ty(ElementType::F32, &[60, 100])));
            let inner = part(&mut program, y, [1, 0], [58, 100]);
            let sum = add(&mut program, inner, inner);
            let doubled = add(&mut program, y, y);
            let array = if case == 1 { doubled } else { x };
            let result = update(&mut program, array, sum, [1, 0]);
            program.func.body.results.push(result);
            match case {
                0 => program.func.body.results.push(sum),
                2 => {
                    let again = update(&mut program, y, sum, [2, 0]);
                    program.func.body.results.push(again);
                }
                3 => {
                    let again = update(&mut program, result, inner, [0, 0]);
                    program.func.body.results.push(again);
                }
                _ => {}
            }
            kernels(&format!("case {case}"), &program);
        }
    }

    /// Two arrays that are the same one but for a part, which one program computes.
    #[test]
    fn an_array_that_is_updated_twice_is_copied() {
        let mut program = Program::new();
        let [x, y] = [0; 2].map(|_| program.param(ty(ElementType::F32, &[60, 100])));
        let inner = part(&mut program, y, [1, 0], [58, 100]);
        let root = program.op(OpKind::Unary(UnaryOp::Sqrt), &[inner], program.ty(inner));
        let [sum, other] = [inner, root].map(|value| add(&mut program, root, value));
        for (value, start) in [(sum, 1), (other, 2)] {
            let result = update(&mut program, x, value, [start, 0]);
            program.func.body.results.push(result);
        }
        let found = kernels("twice", &program);
        assert_eq!((found.len(), found[0].1), (1, 0), "{found:?}");
    }

    /// A chain of sums, all of them results; the last one is also written into an array.
    #[test]
    fn updates_behind_many_results_stay_apart() {
        for count in [20, 70] {
            let mut program = Program::new();
            let [x, y] = [0; 2].map(|_| program.param(ty(ElementType::S32, &[60, 100])));
            let mut value = part(&mut program, y, [0, 0], [50, 100]);
            for _ in 0..count {
                value = add(&mut program, value, value);
                program.func.body.results.push(value);
            }
            let last = add(&mut program, value, value);
            let result = update(&mut program, x, last, [1, 0]);
            program.func.body.results.push(result);
            let found = kernels("many", &program);
            let is_inside = found.iter().any(|(name, _)| name.contains("update"));
            assert_eq!(is_inside, count == 20, "{count}: {found:?}");
        }
    }

    /// Padding of what is computed.
    #[test]
    fn padding_is_written_around_what_a_program_computes() {
        for element in TYPES {
            for (low, high) in [([1, 1], [1, 1]), ([0, 5], [0, 0]), ([2, 0], [0, 0]), ([0, 0], [0, 1])] {
                let mut program = Program::new();
                let x = program.param(ty(element, &[40, 90]));
                let sum = add(&mut program, x, x);
                let padding = scalar(&mut program, TensorType::scalar(element), &vec![3; element.byte_width()]);
                let dims: Vec<usize> = (0..2).map(|dim| program.ty(x).dims[dim] + low[dim] + high[dim]).collect();
                let edges = |edges: [usize; 2]| edges.map(|edge| edge as i64).to_vec();
                let kind = OpKind::Pad { low: edges(low), high: edges(high), interior: vec![0; 2] };
                let result = program.op(kind, &[sum, padding], ty(element, &dims));
                program.func.body.results.push(result);
                let name = format!("{element} {low:?} {high:?}");
                let found = kernels(&name, &program);
                assert!(found.len() == 1 && found[0].0.ends_with("[add,pad]"), "{name}: {found:?}");
                assert_eq!(found[0].1, 0, "{name}");
            }
        }
    }
}
