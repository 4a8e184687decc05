//! Fusion of scatters with updates that are copies of one element, as in counts: the copies are not written out.

use oxcall::Error;
use oxcall_hlo::OpKind;
use oxcall_kernels::kernels::fill::WORTH_FILLING;
use oxcall_kernels::kernels::indexing::scatter_of_one;

use super::graph::Graph;
use super::groups::Groups;
use super::{FusedKernel, Fusion};

/// The scatters of the region that are fused with what makes their updates.
///
/// # Errors
/// INTERNAL if the region is not verified.
pub(super) fn fuse(graph: &Graph<'_>, groups: &Groups<'_>) -> Result<Vec<Fusion>, Error> {
    let mut found = Vec::new();
    for (index, op) in graph.region.ops.iter().enumerate() {
        let (OpKind::Scatter { .. }, &[operand, indices, updates]) = (&op.kind, &op.operands[..]) else { continue };
        let Some(source) = graph.producer(graph.root(updates)) else { continue };
        if graph.tensor(updates).is_none_or(|ty| ty.byte_size() < WORTH_FILLING) {
            continue;
        }
        let producer = &graph.region.ops[source];
        let (element, inputs) = match &producer.kind {
            OpKind::Constant(literal) => match literal.splat_element() {
                Some(element) => (Some(element), vec![operand, indices]),
                None => continue,
            },
            // What only fusions use may be in no memory.
            OpKind::BroadcastInDim { .. } if groups.of(source).next().is_none() => {
                let scalar = producer.operands[0];
                if graph.tensor(scalar).is_none_or(|ty| ty.checked_count() != Some(1)) {
                    continue;
                }
                (None, vec![operand, indices, scalar])
            }
            _ => continue,
        };
        if let Some(kernel) = scatter_of_one(op, graph.func, element)? {
            let kernel = FusedKernel::Other(kernel);
            found.push(Fusion { ops: vec![source, index], inputs, outputs: op.results.clone(), kernel });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use oxcall_hlo::{BinaryOp, ElementType, Literal, OpKind, ScatterDims, TensorType};

    use crate::compile::fusion::fuse;
    use crate::compile::fusion::tests::{Program, one_nan, run_both};
    use crate::runtime::Codegen;
    use crate::testing::{Random, ty};

    /// Updates of `count` rows of `row` elements, in an operand of `rows` of them, that are all the same: a constant,
    /// or a parameter. A few are out of bounds.
    fn program(element: ElementType, function: BinaryOp, [rows, row, count]: [usize; 3], is_constant: bool) -> Program {
        let mut program = Program::new();
        let constant = |program: &mut Program, ty: TensorType, value: u8| {
            let mut bytes = vec![0; ty.element.byte_width()];
            bytes[0] = value;
            program.op(OpKind::Constant(Literal::splat(ty.clone(), bytes)), &[], ty)
        };
        let operand = program.param(ty(element, &[rows, row]));
        let index = ty(ElementType::S32, &[count, 1]);
        let [x, scale] = [program.param(index.clone()), constant(&mut program, index.clone(), (rows + 2) as u8)];
        let indices = program.op(OpKind::Binary(BinaryOp::Remainder), &[x, scale], index);
        let all = ty(element, &[count, row]);
        let updates = if is_constant {
            constant(&mut program, all, 3)
        } else {
            let scalar = program.param(ty(element, &[]));
            program.op(OpKind::BroadcastInDim { dims: vec![] }, &[scalar], all)
        };
        let dims = ScatterDims {
            update_window_dims: vec![1],
            inserted_window_dims: vec![0],
            input_batching_dims: vec![],
            scatter_indices_batching_dims: vec![],
            scatter_dims_to_operand_dims: vec![0],
            index_vector_dim: 1,
        };
        let kind = OpKind::Scatter { dims, indices_are_sorted: false, unique_indices: false };
        let body = program.scalar_region(OpKind::Binary(function), element, element);
        let result = program.op(kind, &[operand, indices, updates], ty(element, &[rows, row]));
        program.func.body.ops.last_mut().expect("just added").regions.push(body);
        // The operand is used again.
        let sum = program.op(OpKind::Binary(BinaryOp::Maximum), &[operand, result], ty(element, &[rows, row]));
        program.func.body.results.extend([result, sum]);
        program
    }

    #[test]
    fn one_update_for_all_windows_is_not_written_out() {
        use BinaryOp::{Add, Maximum, Minimum, Multiply, Or};
        let cases = [
            (ElementType::S32, Add, [100, 1, 40_000]),
            (ElementType::S32, Multiply, [100, 1, 40_001]),
            (ElementType::U64, Or, [3, 5, 20_000]),
            (ElementType::S64, Minimum, [1, 1, 30_000]),
            (ElementType::U32, Maximum, [90, 2, 3000]),
            (ElementType::F32, Add, [100, 1, 40_000]),
            (ElementType::BF16, Add, [10, 300, 500]),
            (ElementType::F64, Maximum, [10, 3, 9000]),
        ];
        for (element, function, sizes) in cases {
            for is_constant in [false, true] {
                let program = program(element, function, sizes, is_constant);
                let name = format!("{element:?} {function:?} {sizes:?} {is_constant}");
                let fusions = fuse(&program.func, &program.func.body, Codegen::Off, false).unwrap();
                let names: Vec<String> = fusions.iter().map(|fusion| fusion.kernel.name()).collect();
                assert!(names.contains(&"scatter[one update]".into()), "{name}: {names:?}");
                for (_, plain, fused) in run_both(&program.func, false, &mut Random(11)) {
                    assert!(one_nan(element, &plain) == one_nan(element, &fused), "{name}");
                }
            }
        }
    }

    /// Each of those windows is a piece of work for all threads, and updates of few bytes cost nothing.
    #[test]
    fn updates_of_large_windows_and_few_updates_stay_arrays() {
        for sizes in [[10, 2000, 50], [10, 1, 100]] {
            let program = program(ElementType::F32, BinaryOp::Add, sizes, true);
            let fusions = fuse(&program.func, &program.func.body, Codegen::Off, false).unwrap();
            assert!(fusions.iter().all(|fusion| fusion.kernel.name() != "scatter[one update]"), "{sizes:?}");
        }
    }
}
