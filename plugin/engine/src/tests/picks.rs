//! Slices and gathers of computed arrays, against those of the arrays in memory.

use oxcall_hlo::{GatherDims, Literal, UnaryOp};

use super::*;

/// A new value.
type Built = Result<ValueId, oxcall_hlo::Error>;

const ROWS: usize = 64;
const COLUMNS: usize = 129;

/// The array from which elements are taken: `exp(x - y) - log(z)`, where `y` repeats along rows and `z` along columns,
/// as a probability; or with numbers that repeat along both.
fn computed(f: &mut FuncBuilder, [x, y, z]: [ValueId; 3]) -> Built {
    let all = f32s([ROWS, COLUMNS]);
    let y = f.typed(OpKind::BroadcastInDim { dims: vec![0] }, [y], all.clone())?;
    let z = f.typed(OpKind::Reshape, [z], f32s([1, COLUMNS]))?;
    let z = f.op(OpKind::Unary(UnaryOp::Log), [z])?;
    let z = f.typed(OpKind::BroadcastInDim { dims: vec![0, 1] }, [z], all.clone())?;
    let half = f.splat(all, 0.5f32.to_le_bytes());
    let difference = binary(f, BinaryOp::Subtract, x, y)?;
    let difference = binary(f, BinaryOp::Multiply, difference, half)?;
    let power = f.op(OpKind::Unary(UnaryOp::Exponential), [difference])?;
    binary(f, BinaryOp::Subtract, power, z)
}

/// Adds the op that takes elements of a value, with `indices` as a constant or as a parameter.
type Pick<'a> = &'a dyn Fn(&mut FuncBuilder, ValueId) -> Built;

/// Whether a pick of the computed array has the bits of that of the array in memory; the text of the former's program.
fn check(pick: Pick<'_>) -> String {
    let operands = [vec![ROWS, COLUMNS], vec![ROWS], vec![COLUMNS]];
    let numbers = |count: usize, step: f32| -> Vec<f32> { (0..count).map(|i| 0.1 + (i as f32 * step) % 3.0).collect() };
    let arrays = [numbers(ROWS * COLUMNS, 0.37), numbers(ROWS, 0.91), numbers(COLUMNS, 0.53)];
    let with_params = |build: &dyn Fn(&mut FuncBuilder, [ValueId; 3]) -> Built| {
        func(|f| {
            let params = [0, 1, 2].map(|index: usize| f.param(f32s(operands[index].iter().copied())));
            Ok(vec![build(f, params)?])
        })
    };
    let engine = engine();
    let arguments = || arrays.iter().map(|array| shared(&engine, array)).collect::<Vec<_>>();
    let program = compile(&engine, with_params(&|f, params| computed(f, params).and_then(|array| pick(f, array))));
    let taken = program.run(arguments()).unwrap().remove(0);
    let whole = compile(&engine, with_params(&computed)).run(arguments()).unwrap().remove(0);
    let from_memory = compile(
        &engine,
        func(|f| {
            let array = f.param(f32s([ROWS, COLUMNS]));
            Ok(vec![pick(f, array)?])
        }),
    );
    let expected = from_memory.run(vec![Argument::Shared(Arc::new(whole))]).unwrap().remove(0);
    assert_eq!(values::<u32>(&taken), values::<u32>(&expected));
    program.text()
}

/// Indices, some of which are out of bounds.
fn indices(f: &mut FuncBuilder, dims: &[usize]) -> ValueId {
    let count: usize = dims.iter().product();
    let numbers: Vec<i32> = (0..count as i32).map(|i| (i * 47) % 150 - 10).collect();
    let ty = TensorType::new(ElementType::S32, dims.iter().copied());
    f.constant(Literal::dense(ty, bytemuck::cast_slice::<i32, u8>(&numbers)))
}

fn gather(
    f: &mut FuncBuilder,
    array: ValueId,
    index_dims: &[usize],
    dims: GatherDims,
    slice_sizes: [usize; 2],
) -> Built {
    let indices = indices(f, index_dims);
    let kind = OpKind::Gather { dims, slice_sizes: slice_sizes.to_vec(), indices_are_sorted: false };
    f.op(kind, [array, indices])
}

fn dims(offset: &[usize], collapsed: &[usize], batching: [&[usize]; 2], map: &[usize], vector: usize) -> GatherDims {
    GatherDims {
        offset_dims: offset.to_vec(),
        collapsed_slice_dims: collapsed.to_vec(),
        operand_batching_dims: batching[0].to_vec(),
        start_indices_batching_dims: batching[1].to_vec(),
        start_index_map: map.to_vec(),
        index_vector_dim: vector,
    }
}

/// The number of values of a program's text with as many elements as the array.
fn large(text: &str) -> usize {
    text.lines().filter(|line| line.contains(" = ") && line.ends_with(&format!("tensor<{ROWS}x{COLUMNS}xf32>"))).count()
}

#[test]
fn gathers_of_computed_arrays_compute_what_they_take() {
    let forms: [(&[usize], GatherDims, [usize; 2]); 8] = [
        // One element of each row, as in a cross entropy.
        (&[ROWS, 1, 1], dims(&[], &[1], [&[0], &[0]], &[1], 2), [1, 1]),
        (&[ROWS, 1], dims(&[], &[1], [&[0], &[0]], &[1], 1), [1, 1]),
        // One element of each column.
        (&[1, COLUMNS], dims(&[], &[0], [&[1], &[1]], &[0], 0), [1, 1]),
        // Single elements, and with dimensions of size 1.
        (&[7, 2], dims(&[], &[0, 1], [&[], &[]], &[0, 1], 1), [1, 1]),
        (&[7, 2], dims(&[1, 2], &[], [&[], &[]], &[1, 0], 1), [1, 1]),
        // Rows, and columns before the others.
        (&[5, 1], dims(&[1], &[0], [&[], &[]], &[0], 1), [1, COLUMNS]),
        (&[5], dims(&[0], &[1], [&[], &[]], &[1], 1), [ROWS, 1]),
        // Parts of rows.
        (&[5, 2], dims(&[1], &[0], [&[], &[]], &[0, 1], 1), [1, 9]),
    ];
    for (index, (index_dims, dims, sizes)) in forms.into_iter().enumerate() {
        let text = check(&|f, array| gather(f, array, index_dims, dims.clone(), sizes));
        // Where a broadcast repeats what is taken as a whole, it would be written, so the array is.
        assert_eq!(large(&text) == 0, index < 5, "{index}: {text}");
    }
}

#[test]
fn slices_of_computed_arrays_compute_what_they_take() {
    let slice = |start: [usize; 2], limit: [usize; 2], strides: [usize; 2]| {
        let kind = OpKind::Slice { start: start.to_vec(), limit: limit.to_vec(), strides: strides.to_vec() };
        let text = check(&|f, array| f.op(kind.clone(), [array]));
        assert_eq!(large(&text), 0, "{text}");
    };
    slice([3, 0], [4, COLUMNS], [1, 1]);
    slice([0, 128], [ROWS, 129], [1, 1]);
    slice([1, 2], [ROWS, 40], [2, 3]);
    for sizes in [[1, 1], [1, COLUMNS], [ROWS, 7], [5, 1]] {
        let text = check(&|f, array| {
            let starts = [70, -3].map(|start| constant_s32(f, start));
            // Not constants, which would make it a slice.
            let starts = starts.map(|start| f.op(OpKind::OptimizationBarrier, [start]).unwrap());
            f.op(OpKind::DynamicSlice { sizes: sizes.to_vec() }, [array, starts[0], starts[1]])
        });
        assert_eq!(large(&text), 0, "{text}");
    }
}

#[test]
fn large_parts_and_arrays_that_others_use_stay() {
    // Halves are computed once each; two thirds are not.
    for (rows, is_taken) in [(ROWS / 2, true), (2 * ROWS / 3, false)] {
        let text = check(&|f, array| {
            let part = |start: usize| OpKind::Slice {
                start: vec![start, 0],
                limit: vec![start + rows, COLUMNS],
                strides: vec![1, 1],
            };
            let (first, last) = (f.op(part(0), [array])?, f.op(part(ROWS - rows), [array])?);
            binary(f, BinaryOp::Add, first, last)
        });
        assert_eq!(large(&text) == 0, is_taken, "{text}");
    }
    let text = check(&|f, array| {
        let kind = OpKind::Slice { start: vec![0, 0], limit: vec![1, COLUMNS], strides: vec![1, 1] };
        let row = f.op(kind, [array])?;
        let rows = f.typed(OpKind::BroadcastInDim { dims: vec![0, 1] }, [row], f32s([ROWS, COLUMNS]))?;
        binary(f, BinaryOp::Add, array, rows)
    });
    assert_eq!(text.matches("exponential").count(), 1, "{text}");
}
