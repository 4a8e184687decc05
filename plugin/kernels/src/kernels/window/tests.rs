use oxcall_hlo::ElementType::*;
use oxcall_hlo::{BinaryOp, ElementType, OpKind, TensorType, WindowDim};

use crate::kernels::testing::{Random, Single, bytes, elements, indices, ravel, ty};

const PLAIN: WindowDim = WindowDim {
    size: 1,
    stride: 1,
    padding_low: 0,
    padding_high: 0,
    base_dilation: 1,
    window_dilation: 1,
    reversal: false,
};

/// The number of windows along a dimension, by the specification; `None` if padding leaves less than nothing.
fn windows(dim: usize, window: &WindowDim) -> Option<usize> {
    let dilated = |size: usize, step: usize| if size == 0 { 0 } else { (size as i64 - 1) * step as i64 + 1 };
    let padded = window.padding_low + dilated(dim, window.base_dilation) + window.padding_high;
    let width = dilated(window.size, window.window_dilation);
    let room = usize::try_from(padded).ok()?;
    Some(if room == 0 || width > padded { 0 } else { (padded - width) as usize / window.stride + 1 })
}

fn result_dims(dims: &[usize], window: &[WindowDim]) -> Option<Vec<usize>> {
    dims.iter().zip(window).map(|(&dim, window)| windows(dim, window)).collect()
}

fn window_op(types: &[ElementType], dims: &[usize], window: &[WindowDim]) -> Single {
    let result = result_dims(dims, window).expect("a shape");
    let operands = types.iter().map(|&element| ty(element, dims));
    let operands: Vec<TensorType> = operands.chain(types.iter().map(|&element| ty(element, &[]))).collect();
    let results: Vec<TensorType> = types.iter().map(|&element| ty(element, &result)).collect();
    Single::new(OpKind::ReduceWindow { window: window.to_vec() }, &operands, &results)
}

/// Reduces each window element by element.
fn naive<W: Copy>(operand: &[W], dims: &[usize], window: &[WindowDim], init: W, f: impl Fn(W, W) -> W) -> Vec<W> {
    let sizes: Vec<usize> = window.iter().map(|window| window.size).collect();
    let result = result_dims(dims, window).expect("a shape");
    indices(&result)
        .map(|index| {
            let places = indices(&sizes).filter_map(|k| {
                let at = |dim: usize| {
                    let window = &window[dim];
                    let place =
                        (index[dim] * window.stride + k[dim] * window.window_dilation) as i64 - window.padding_low;
                    let dilation = window.base_dilation as i64;
                    let inside = place >= 0 && place % dilation == 0 && place / dilation < dims[dim] as i64;
                    inside.then_some((place / dilation) as usize)
                };
                let place: Option<Vec<usize>> = (0..dims.len()).map(at).collect();
                place.map(|place| operand[ravel(&place, dims)])
            });
            places.fold(init, &f)
        })
        .collect()
}

/// Random windows: sizes, strides, dilations and padding, also negative.
fn random_windows(dims: &[usize], random: &mut Random) -> Vec<WindowDim> {
    let mut window = |_: &usize| {
        let padding = |random: &mut Random| if random.below(2) == 0 { 0 } else { random.between(-2, 4) };
        WindowDim {
            size: [1, 1, 2, 3, 4][random.below(5)],
            stride: [1, 1, 2, 3][random.below(4)],
            padding_low: padding(random),
            padding_high: padding(random),
            base_dilation: [1, 1, 1, 2][random.below(4)],
            window_dilation: [1, 1, 1, 2][random.below(4)],
            reversal: false,
        }
    };
    dims.iter().map(&mut window).collect()
}

#[test]
fn windows_of_every_kind() {
    let random = &mut Random(31);
    for round in 0..150 {
        let dims: Vec<usize> = random.shape(round % 5).into_iter().map(|dim| dim.min(9)).collect();
        let window = random_windows(&dims, random);
        if result_dims(&dims, &window).is_none() {
            continue;
        }
        let values: Vec<i32> = (0..dims.iter().product()).map(|_| random.between(-50, 50) as i32).collect();
        for (function, init) in [(BinaryOp::Add, 3), (BinaryOp::Maximum, -20)] {
            let op = window_op(&[S32], &dims, &window).binary_region(function, S32);
            let expected = naive(&values, &dims, &window, init, |a, b| match function {
                BinaryOp::Add => a + b,
                _ => a.max(b),
            });
            let actual: Vec<i32> = elements(&op.run(&[bytes(&values), bytes(&[init])])[0]);
            assert_eq!(actual, expected, "{function:?} {dims:?} {window:?}");
        }
        // The second operand's function has no specialised code: all runs as a program.
        let op = window_op(&[S32, F64], &dims, &window).region(&[S32, F64, S32, F64], |body| {
            let [a, x, b, y] = body.params[..] else { unreachable!("four parameters") };
            vec![
                body.op(OpKind::Binary(BinaryOp::Add), &[a, b], S32),
                body.op(OpKind::Binary(BinaryOp::Subtract), &[x, y], F64),
            ]
        });
        let floats: Vec<f64> = values.iter().map(|&x| x.into()).collect();
        let results = op.run(&[bytes(&values), bytes(&floats), bytes(&[1i32]), bytes(&[2f64])]);
        let is_scan = super::scan::Shape::new(&dims, &window).is_some();
        assert_eq!(elements::<i32>(&results[0]), naive(&values, &dims, &window, 1, |a, b| a + b));
        if !is_scan {
            // A difference is not associative, which scans may rely on.
            assert_eq!(elements::<f64>(&results[1]), naive(&floats, &dims, &window, 2.0, |a, b| a - b));
        }
    }
}

#[test]
fn pools_images_in_both_layouts() {
    let random = &mut Random(32);
    let wide = |size, stride| WindowDim { size, stride, padding_low: 1, padding_high: 1, ..PLAIN };
    for (dims, window) in [
        (vec![2, 20, 21, 33], vec![PLAIN, wide(3, 2), wide(3, 2), PLAIN]),
        (vec![2, 5, 40, 41], vec![PLAIN, PLAIN, wide(3, 2), wide(2, 1)]),
        (vec![3, 2000], vec![PLAIN, WindowDim { size: 40, ..PLAIN }]),
        (vec![3, 500], vec![PLAIN, WindowDim { size: 40, stride: 7, padding_low: 30, padding_high: 35, ..PLAIN }]),
    ] {
        // Sums of integers, which are exact.
        let values: Vec<f32> =
            (0..dims.iter().product()).map(|_| random.float().mul_add(8.0, 0.5).round() as f32).collect();
        for (function, init) in [(BinaryOp::Maximum, f32::NEG_INFINITY), (BinaryOp::Add, 0.0)] {
            let expected = naive(&values, &dims, &window, init, |a, b| match function {
                BinaryOp::Add => a + b,
                _ => a.max(b),
            });
            let op = window_op(&[F32], &dims, &window).binary_region(function, F32);
            let actual = op.run(&[bytes(&values), bytes(&[init])]);
            assert!(elements::<f32>(&actual[0]) == expected, "{function:?} {dims:?} {window:?}");
        }
    }
}

/// A number with others added to it: four at a time, then one by one.
fn sum_fours(first: f32, numbers: &[f32]) -> f32 {
    let fours = numbers.chunks_exact(4);
    let rest = fours.remainder();
    let sum = fours.fold(first, |sum, four| sum + ((four[0] + four[1]) + (four[2] + four[3])));
    rest.iter().fold(sum, |sum, number| sum + number)
}

#[test]
fn sums_of_windows_have_one_order() {
    let random = &mut Random(34);
    let wide = |size, stride, padding_low, padding_high| WindowDim { size, stride, padding_low, padding_high, ..PLAIN };
    // Padding alone, and cropped lines, in the last.
    let windows = [
        [wide(2, 2, 0, 0), wide(2, 2, 0, 0)],
        [wide(3, 1, 1, 1), wide(3, 1, 1, 1)],
        [wide(3, 2, 0, 1), wide(3, 2, 1, 0)],
        [wide(2, 1, 0, 0), WindowDim { window_dilation: 2, ..wide(3, 3, 2, 4) }],
        [wide(2, 2, 0, 0), WindowDim { base_dilation: 2, ..wide(3, 2, 1, 1) }],
        [wide(2, 3, 1, 0), wide(2, 2, 4, 4)],
        [wide(2, 1, -1, 0), wide(2, 1, -2, 1)],
    ];
    let sizes = [(2, 9, 11, 3), (1, 8, 7, 20), (2, 6, 80, 40), (3, 5, 28, 1), (1, 30, 5, 16)];
    for ((batch, rows, columns, channels), [row_window, column_window]) in
        sizes.into_iter().flat_map(|sizes| windows.map(|windows| (sizes, windows)))
    {
        for is_last in [false, true] {
            let (dims, window) = if is_last {
                ([batch, channels, rows, columns], [PLAIN, PLAIN, row_window, column_window])
            } else {
                ([batch, rows, columns, channels], [PLAIN, row_window, column_window, PLAIN])
            };
            let axis = if is_last { 2 } else { 1 };
            let result = result_dims(&dims, &window).expect("a shape");
            let lines = result.iter().product::<usize>() / result[3];
            if channels == 1 && !is_last || lines < 16 {
                continue; // Other code.
            }
            let values: Vec<f32> = (0..dims.iter().product())
                .map(|_| if random.below(5) == 0 { -0.0 } else { random.float() as f32 - 0.5 })
                .collect();
            let at = |index: &[usize], row: usize, column: usize| {
                let mut index = index.to_vec();
                (index[axis], index[axis + 1]) = (row, column);
                values[ravel(&index, &dims)]
            };
            let sources = |index: &[usize], axis: usize| -> Vec<usize> {
                let window = &window[axis];
                let place = |k| (index[axis] * window.stride + k * window.window_dilation) as i64 - window.padding_low;
                let dilation = window.base_dilation as i64;
                let places = (0..window.size).map(place).filter(|place| *place >= 0 && place % dilation == 0);
                places.map(|place| (place / dilation) as usize).filter(|&place| place < dims[axis]).collect()
            };
            let expected: Vec<f32> = indices(&result)
                .map(|index| {
                    let (rows, columns) = (sources(&index, axis), sources(&index, axis + 1));
                    if is_last {
                        let column = |&column: &usize| -> f32 {
                            sum_fours(0.0, &rows.iter().map(|&row| at(&index, row, column)).collect::<Vec<_>>())
                        };
                        return columns.iter().map(column).fold(-0.0, |sum, x| sum + x);
                    }
                    let places = rows.iter().flat_map(|&row| columns.iter().map(move |&column| (row, column)));
                    sum_fours(-0.0, &places.map(|(row, column)| at(&index, row, column)).collect::<Vec<_>>())
                })
                .collect();
            let op = window_op(&[F32], &dims, &window).binary_region(BinaryOp::Add, F32);
            let actual = op.run(&[bytes(&values), bytes(&[-0.0f32])]);
            assert_eq!(actual[0], bytes(&expected), "{dims:?} {window:?}");
        }
    }
}

#[test]
fn running_totals_both_ways_along_every_dimension() {
    let random = &mut Random(33);
    for dims in [vec![100_000], vec![7, 33], vec![5, 1, 4, 6], vec![1], vec![2, 0], vec![60, 2000]] {
        for dim in 0..dims.len() {
            if dims[dim] == 0 {
                continue;
            }
            for reverse in [false, true] {
                let before = dims[dim] as i64 - 1;
                let (padding_low, padding_high) = if reverse { (0, before) } else { (before, 0) };
                let mut window = vec![PLAIN; dims.len()];
                window[dim] = WindowDim { size: dims[dim], padding_low, padding_high, ..PLAIN };
                let values: Vec<f32> = (0..dims.iter().product()).map(|_| random.float() as f32 + 0.9).collect();
                let sums = window_op(&[F32], &dims, &window).binary_region(BinaryOp::Add, F32);
                let sums: Vec<f32> = elements(&sums.run(&[bytes(&values), bytes(&[0f32])])[0]);
                let totals = window_op(&[F64], &dims, &window).region(&[F64; 2], |body| {
                    let (a, b) = (body.params[0], body.params[1]);
                    // An unrecognised sum.
                    let b = body.op(OpKind::Unary(oxcall_hlo::UnaryOp::Negate), &[b], F64);
                    vec![body.op(OpKind::Binary(BinaryOp::Subtract), &[a, b], F64)]
                });
                let wide: Vec<f64> = values.iter().map(|&x| x.into()).collect();
                let totals: Vec<f64> = elements(&totals.run(&[bytes(&wide), bytes(&[0f64])])[0]);
                let expected = running(&wide, &dims, dim, reverse);
                for ((sum, total), expected) in sums.iter().zip(&totals).zip(&expected) {
                    assert!((f64::from(*sum) - expected).abs() <= expected.abs() * 1e-7, "{sum} for {expected}");
                    assert!((total - expected).abs() <= expected.abs() * 1e-9, "{total} for {expected}");
                }
            }
        }
    }
}

/// Rows around the lengths of blocks and parts, with an initial value, one for each thread and fewer.
#[test]
fn running_totals_of_rows_are_those_of_one_element_after_the_other() {
    let random = &mut Random(34);
    for (rows, len) in [(1, 127), (3, 128), (40, 129), (1, 255), (1, 32_767), (1, 32_768), (2, 32_769), (1, 70_001)] {
        for reverse in [false, true] {
            let before = len as i64 - 1;
            let (padding_low, padding_high) = if reverse { (0, before) } else { (before, 0) };
            let window = [PLAIN, WindowDim { size: len, padding_low, padding_high, ..PLAIN }];
            let values: Vec<i32> = (0..rows * len).map(|_| random.between(-1 << 20, 1 << 20) as i32).collect();
            let floats: Vec<f64> = values.iter().map(|&value| f64::from(value)).collect();
            for function in [BinaryOp::Add, BinaryOp::Maximum, BinaryOp::Minimum] {
                let combine = |a: i32, b: i32| match function {
                    BinaryOp::Add => a.wrapping_add(b),
                    BinaryOp::Maximum => a.max(b),
                    _ => a.min(b),
                };
                let mut expected = values.clone();
                for row in expected.chunks_exact_mut(len) {
                    let next = |total: &mut i32, x: &mut i32| {
                        *total = combine(*total, *x);
                        *x = *total;
                        Some(())
                    };
                    let run = row.iter_mut();
                    let count = if reverse { run.rev().scan(5, next).count() } else { run.scan(5, next).count() };
                    assert_eq!(count, len);
                }
                let found = window_op(&[S32], &[rows, len], &window).binary_region(function, S32);
                let found = elements::<i32>(&found.run(&[bytes(&values), bytes(&[5i32])])[0]);
                assert!(found == expected, "{function:?} of {rows} x {len}, reverse: {reverse}");
                // Sums below 2^53 are exact.
                let exact = rows * len < 1000 || function != BinaryOp::Add;
                let found = window_op(&[F64], &[rows, len], &window).binary_region(function, F64);
                let found = elements::<f64>(&found.run(&[bytes(&floats), bytes(&[5f64])])[0]);
                let is_equal = found.iter().zip(&expected).all(|(found, &expected)| *found == f64::from(expected));
                assert!(is_equal || !exact, "{function:?} of {rows} x {len}, reverse: {reverse}");
            }
        }
    }
}

fn running(values: &[f64], dims: &[usize], dim: usize, reverse: bool) -> Vec<f64> {
    let mut sums = values.to_vec();
    let mut order: Vec<Vec<usize>> = indices(dims).collect();
    if reverse {
        order.reverse();
    }
    for index in order {
        let mut before = index.clone();
        match reverse {
            false if index[dim] > 0 => before[dim] -= 1,
            true if index[dim] + 1 < dims[dim] => before[dim] += 1,
            _ => continue,
        }
        sums[ravel(&index, dims)] += sums[ravel(&before, dims)];
    }
    sums
}
