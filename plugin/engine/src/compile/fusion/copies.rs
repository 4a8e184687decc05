//! Slices, pads and concatenations of each other that no program reads, such as rolls: one copy of all elements.

use oxcall::Error;
use oxcall_hlo::ValueId;
use oxcall_kernels::tile::Copies;
use smallvec::SmallVec;

use super::graph::Graph;
use super::groups::Groups;
use super::{FusedKernel, Fusion, views};

/// The copies of the region whose operands are views.
///
/// # Errors
/// INTERNAL if the region is not verified.
pub(super) fn fuse(graph: &Graph<'_>, groups: &Groups<'_>) -> Result<Vec<Fusion>, Error> {
    let mut found = Vec::new();
    for (index, op) in graph.region.ops.iter().enumerate() {
        // An update of its own elements by a fusion.
        if !graph.copies(index) || groups.of(index).next().is_some() {
            continue;
        }
        let (Some(view), Some(ty)) = (views::copied(graph, op), graph.tensor(op.results[0])) else { continue };
        let mut inputs: Vec<ValueId> = Vec::new();
        let mut parts = SmallVec::new();
        for part in &view.parts {
            let input = inputs.iter().position(|&input| input == part.source).unwrap_or_else(|| {
                inputs.push(part.source);
                inputs.len() - 1
            });
            parts.push((input, part.access()));
        }
        let name = format!("fused[{}]", super::emit::short_name(op));
        let kernel = FusedKernel::Other(Box::new(Copies::new(name, ty.element, ty.count(), parts)));
        found.push(Fusion { ops: vec![index], inputs, outputs: op.results.clone(), kernel });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use oxcall_hlo::{ElementType, Literal, OpKind, TensorType, ValueId};

    use crate::compile::fusion::fuse;
    use crate::compile::fusion::tests::{Program, run_both};
    use crate::runtime::Codegen;
    use crate::testing::{Random, ty};

    fn slice(program: &mut Program, value: ValueId, dim: usize, [start, limit]: [usize; 2]) -> ValueId {
        let from = program.ty(value);
        let (mut starts, mut limits) = (vec![0; from.rank()], from.dims.to_vec());
        (starts[dim], limits[dim]) = (start, limit);
        let dims: Vec<usize> = starts.iter().zip(&limits).map(|(start, limit)| limit - start).collect();
        let kind = OpKind::Slice { start: starts, limit: limits, strides: vec![1; from.rank()] };
        program.op(kind, &[value], ty(from.element, &dims))
    }

    /// A roll along each dimension.
    fn rolled(program: &mut Program, mut value: ValueId, by: &[usize]) -> ValueId {
        for (dim, &by) in by.iter().enumerate().filter(|(_, by)| **by > 0) {
            let all = program.ty(value);
            let last = slice(program, value, dim, [all.dims[dim] - by, all.dims[dim]]);
            let first = slice(program, value, dim, [0, all.dims[dim] - by]);
            value = program.op(OpKind::Concatenate { dim }, &[last, first], all);
        }
        value
    }

    fn check(program: &Program, expected: &str) {
        for (_, plain, fused) in run_both(&program.func, true, &mut Random(9)) {
            assert!(plain == fused, "{expected}");
        }
        let fusions = fuse(&program.func, &program.func.body, Codegen::On, false).unwrap();
        let names: Vec<String> = fusions.iter().map(|fusion| fusion.kernel.name()).collect();
        assert_eq!(names, [expected]);
    }

    #[test]
    fn rolls_are_one_copy() {
        for element in [ElementType::S8, ElementType::BF16, ElementType::F32, ElementType::F64, ElementType::C128] {
            for (dims, by) in [(&[50, 300][..], &[7, 100][..]), (&[50, 300], &[0, 1]), (&[9, 20, 30], &[4, 5, 0])] {
                let mut program = Program::new();
                let x = program.param(ty(element, dims));
                let result = rolled(&mut program, x, by);
                program.func.body.results.push(result);
                check(&program, "fused[concatenate]");
            }
        }
    }

    #[test]
    fn blocks_between_padding_are_one_copy() {
        let mut program = Program::new();
        let zero = Literal::splat(TensorType::scalar(ElementType::F32), [0; 4]);
        let zero = program.op(OpKind::Constant(zero.clone()), &[], zero.ty().clone());
        let blocks: Vec<ValueId> = (0..3)
            .map(|index| {
                let block = program.param(ty(ElementType::F32, &[40, 80]));
                let (low, high) = (vec![0, 80 * index], vec![0, 80 * (2 - index)]);
                let kind = OpKind::Pad { low, high, interior: vec![0; 2] };
                program.op(kind, &[block, zero], ty(ElementType::F32, &[40, 240]))
            })
            .collect();
        let all = program.op(OpKind::Concatenate { dim: 0 }, &blocks, ty(ElementType::F32, &[120, 240]));
        program.func.body.results.push(all);
        check(&program, "fused[concatenate]");
    }
}
