use oxcall_hlo::ElementType::*;
use oxcall_hlo::{BinaryOp, ElementType, OpKind, TensorType, UnaryOp};

use crate::element::Complex;
use crate::kernels::testing::{Random, Single, bytes, elements, indices, ravel, ty};

fn kept(dims: &[usize], reduced: &[usize]) -> Vec<usize> {
    (0..dims.len()).filter(|dim| !reduced.contains(dim)).map(|dim| dims[dim]).collect()
}

fn reduce_op(types: &[ElementType], dims: &[usize], reduced: &[usize]) -> Single {
    let operands = types.iter().map(|&element| ty(element, dims));
    let operands: Vec<TensorType> = operands.chain(types.iter().map(|&element| ty(element, &[]))).collect();
    let results: Vec<TensorType> = types.iter().map(|&element| ty(element, &kept(dims, reduced))).collect();
    Single::new(OpKind::Reduce { dims: reduced.to_vec() }, &operands, &results)
}

/// Reduces element by element, by the specification.
fn naive<W: Copy>(operand: &[W], dims: &[usize], reduced: &[usize], init: W, f: impl Fn(W, W) -> W) -> Vec<W> {
    let shape = kept(dims, reduced);
    let mut results = vec![init; shape.iter().product()];
    for (index, &x) in indices(dims).zip(operand) {
        let index: Vec<usize> = (0..dims.len()).filter(|dim| !reduced.contains(dim)).map(|dim| index[dim]).collect();
        let result = &mut results[ravel(&index, &shape)];
        *result = f(*result, x);
    }
    results
}

/// Shapes and dimensions to reduce: small ones of every pattern, and large ones that are split among threads.
fn cases(random: &mut Random) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut cases: Vec<(Vec<usize>, Vec<usize>)> = (0..60)
        .map(|round| {
            let dims = random.shape(round % 5);
            let reduced = (0..dims.len()).filter(|_| random.below(2) == 0).collect();
            (dims, reduced)
        })
        .collect();
    cases.extend([
        (vec![120_003], vec![0]),
        (vec![3, 40_000], vec![1]),
        (vec![10_000, 13], vec![0]),
        (vec![120, 1000], vec![0]),
        (vec![1000, 120], vec![1]),
        (vec![40, 50, 60], vec![0, 2]),
        (vec![40, 50, 60], vec![1]),
    ]);
    cases.extend((1..=34).map(|row| (vec![100, row], vec![1])));
    cases
}

#[test]
fn sums_of_floats_are_accurate() {
    let random = &mut Random(21);
    for (round, (dims, reduced)) in cases(random).into_iter().enumerate() {
        let values: Vec<f32> = (0..dims.iter().product()).map(|_| random.float() as f32 + 1.0).collect();
        let wide: Vec<f64> = values.iter().map(|&x| x.into()).collect();
        let expected = naive(&wide, &dims, &reduced, 0.5, |a, b| a + b);
        let op = reduce_op(&[F32], &dims, &reduced).binary_region(BinaryOp::Add, F32);
        let operands = [bytes(&values), bytes(&[0.5f32])];
        let actual = op.run(&operands);
        assert_eq!(actual, op.run_alone(&operands), "threads change nothing: {dims:?} {reduced:?}");
        for (actual, expected) in elements::<f32>(&actual[0]).into_iter().zip(expected) {
            let error = (f64::from(actual) - expected).abs() / expected;
            assert!(error < 3e-7, "{actual} for {expected} in case {round}: {dims:?} {reduced:?}");
        }
    }
}

/// Numbers joined in pairs, pairs of pairs, and so on.
fn pairwise(numbers: &[f32]) -> f32 {
    match numbers {
        [] => 0.0,
        &[number] => number,
        _ => {
            let (first, second) = numbers.split_at(numbers.len().next_power_of_two() / 2);
            pairwise(first) + pairwise(second)
        }
    }
}

/// The sum of a column, one of so many.
fn column_sum(numbers: &[f32], columns: usize) -> f32 {
    let group = |numbers: &[f32]| {
        let fours = numbers.chunks_exact(4);
        let rest = fours.remainder();
        let sum = fours.fold(0.0, |sum, four| sum + ((four[0] + four[1]) + (four[2] + four[3])));
        rest.iter().fold(sum, |sum, number| sum + number)
    };
    let block = |numbers: &[f32]| pairwise(&numbers.chunks(16).map(group).collect::<Vec<_>>());
    let blocks = numbers.chunks(((1 << 16) / columns).clamp(16, 1024));
    pairwise(&blocks.map(block).collect::<Vec<_>>())
}

#[test]
fn sums_of_columns_have_one_order() {
    let random = &mut Random(25);
    let shapes: [(&[usize], &[usize], usize); 19] = [
        (&[5000, 8], &[0], 8),
        (&[1024, 3], &[0], 3),
        (&[71, 24], &[0], 24),
        (&[4097, 32], &[0], 32),
        (&[64, 64], &[0], 64),
        (&[77, 31], &[0], 31),
        (&[300, 33], &[0], 33),
        (&[2000, 48], &[0], 48),
        (&[333, 100], &[0], 100),
        (&[45, 127], &[0], 127),
        (&[100, 1023], &[0], 1023),
        (&[523, 2100], &[0], 2100),
        (&[9, 3000], &[0], 3000),
        (&[1, 33], &[0], 33),
        (&[3, 1100, 16], &[1], 16),
        (&[40, 5, 7], &[1], 7),
        (&[2, 37, 6, 50], &[1], 300),
        (&[5, 6, 7, 40], &[0, 2], 40),
        (&[30, 6, 70, 4], &[0, 2], 4),
    ];
    for (dims, reduced, columns) in shapes {
        let number = |random: &mut Random| if random.below(9) == 0 { -0.0 } else { random.float() as f32 - 0.5 };
        let values: Vec<f32> = (0..dims.iter().product()).map(|_| number(random)).collect();
        let shape = kept(dims, reduced);
        let mut numbers = vec![Vec::new(); shape.iter().product()];
        for (index, &x) in indices(dims).zip(&values) {
            let index: Vec<usize> =
                (0..dims.len()).filter(|dim| !reduced.contains(dim)).map(|dim| index[dim]).collect();
            numbers[ravel(&index, &shape)].push(x);
        }
        let expected: Vec<f32> = numbers.iter().map(|numbers| -0.0 + column_sum(numbers, columns)).collect();
        let operands = [bytes(&values), bytes(&[-0.0f32])];
        let sums = reduce_op(&[F32], dims, reduced).binary_region(BinaryOp::Add, F32).run(&operands);
        assert_eq!(sums[0], bytes(&expected), "{dims:?} {reduced:?}");
    }
}

#[test]
fn integers_of_every_width_reduce_exactly() {
    let random = &mut Random(22);
    type Function = fn(i64, i64) -> i64;
    let functions: [(BinaryOp, Function, i64); 7] = [
        (BinaryOp::Add, |a, b| a.wrapping_add(b), 3),
        (BinaryOp::Multiply, |a, b| a.wrapping_mul(b), 3),
        (BinaryOp::Maximum, |a, b| a.max(b), -100),
        (BinaryOp::Minimum, |a, b| a.min(b), 100),
        (BinaryOp::And, |a, b| a & b, -1),
        (BinaryOp::Or, |a, b| a | b, 0),
        (BinaryOp::Xor, |a, b| a ^ b, 5),
    ];
    for (round, (dims, reduced)) in cases(random).into_iter().enumerate() {
        let element = [S8, S16, S32, S64, U8, U16, U32, U64][round % 8];
        let (name, function, init) = functions[round % 7];
        let width = element.byte_width();
        let narrow = |x: i64| -> i64 {
            let mut wide = [if element.is_signed() && x >> (8 * width - 1) & 1 == 1 { 0xFF } else { 0 }; 8];
            wide[..width].copy_from_slice(&x.to_le_bytes()[..width]);
            i64::from_le_bytes(wide)
        };
        let encode =
            |values: &[i64]| -> Vec<u8> { values.iter().flat_map(|x| x.to_le_bytes()[..width].to_vec()).collect() };
        let init = narrow(init);
        // Positive in 64 bits, whose order as unsigned numbers is the same then.
        let values: Vec<i64> = (0..dims.iter().product())
            .map(|_| narrow(random.number() as i64).rem_euclid(i64::MAX))
            .map(narrow)
            .collect();
        let unsigned = element.is_unsigned() && width == 8;
        let init = if unsigned { init & i64::MAX } else { init };
        let expected = naive(&values, &dims, &reduced, init, |a, b| narrow(function(a, b)));
        if unsigned && matches!(name, BinaryOp::Maximum | BinaryOp::Minimum) && values.iter().any(|&x| x < 0) {
            continue;
        }
        let op = reduce_op(&[element], &dims, &reduced).binary_region(name, element);
        let actual = op.run(&[encode(&values), encode(&[init])]);
        assert!(actual[0] == encode(&expected), "{name:?} {element} {dims:?} {reduced:?}");
    }
}

/// Exact, whatever the order: rows as short, and columns as few, as special loops take, and some beyond. The last rows
/// have no elements behind them.
#[test]
fn short_rows_and_few_columns_are_exact() {
    let random = &mut Random(27);
    for size in 0..=34 {
        for (dims, reduced) in [([41, size], 1), ([1, size], 1), ([1100, size], 0), ([17, size], 0), ([1, size], 0)] {
            let (rows, kept) = (dims[0], dims[1 - reduced]);
            let values: Vec<i64> = (0..rows * size).map(|_| random.number() as i64).collect();
            let words: Vec<i32> = values.iter().map(|&x| x as i32).collect();
            let masks: Vec<u8> = values.iter().map(|&x| u8::from(x % 8 != 0)).collect();
            let run = |name, element, operand: Vec<u8>, init: &[u8]| {
                let op = reduce_op(&[element], &dims, &[reduced]).binary_region(name, element);
                op.run(&[operand, init.to_vec()]).swap_remove(0)
            };
            type Functions = [(BinaryOp, fn(i64, i64) -> i64, i64); 3];
            let functions: Functions = [
                (BinaryOp::Add, i64::wrapping_add, 7),
                (BinaryOp::Maximum, i64::max, i64::MIN),
                (BinaryOp::Minimum, i64::min, i64::MAX),
            ];
            for (name, function, init) in functions {
                let expected = naive(&values, &dims, &[reduced], init, function);
                assert_eq!(run(name, S64, bytes(&values), &init.to_le_bytes()), bytes(&expected), "{name:?} {dims:?}");
                let init = init.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
                let narrow = |a: i32, b: i32| function(a.into(), b.into()) as i32;
                let expected = naive(&words, &dims, &[reduced], init, narrow);
                assert_eq!(run(name, S32, bytes(&words), &init.to_le_bytes()), bytes(&expected), "{name:?} {dims:?}");
                if name == BinaryOp::Add {
                    let sums = run(name, U32, bytes(&words), &init.to_le_bytes());
                    assert_eq!(sums, bytes(&expected), "{dims:?}");
                }
            }
            for (name, function, init) in [(BinaryOp::And, u8::min as fn(u8, u8) -> u8, 1), (BinaryOp::Or, u8::max, 0)]
            {
                let expected = naive(&masks, &dims, &[reduced], init, function);
                assert_eq!(expected.len(), kept);
                assert_eq!(run(name, Pred, masks.clone(), &[init]), expected, "{name:?} {dims:?}");
            }
        }
    }
}

#[test]
fn extremes_of_floats_keep_nan_and_prefer_signs_of_zeros() {
    for (op, init, zero) in [(BinaryOp::Maximum, f32::NEG_INFINITY, 0.0f32), (BinaryOp::Minimum, f32::INFINITY, -0.0)] {
        let mut values = vec![[0.0, -0.0], [-0.0, 0.0], [f32::NAN, 1.0], [1.0, f32::NAN], [2.0, 2.0]];
        values.extend([[1.0, 1.0]; 40]);
        for (reduced, transposed) in [(1, false), (0, true)] {
            let rows = values.len();
            let data: Vec<f32> = if transposed {
                (0..2).flat_map(|column| values.iter().map(move |row| row[column])).collect()
            } else {
                values.iter().flatten().copied().collect()
            };
            let dims = if transposed { [2, rows] } else { [rows, 2] };
            let reduce = reduce_op(&[F32], &dims, &[reduced]).binary_region(op, F32);
            let results = elements::<f32>(&reduce.run(&[bytes(&data), bytes(&[init])])[0]);
            assert_eq!(results[0].to_bits(), zero.to_bits());
            assert_eq!(results[1].to_bits(), zero.to_bits());
            assert!(results[2].is_nan() && results[3].is_nan());
            assert_eq!(results[4], 2.0);
        }
    }
}

#[test]
fn extremes_of_long_rows_keep_nan_and_signs_of_zeros() {
    let random = &mut Random(26);
    for len in [31, 32, 63, 64, 65, 100, 128, 1000, 9000] {
        for special in [0.0f32, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for (op, sign) in [(BinaryOp::Maximum, -1.0f32), (BinaryOp::Minimum, 1.0)] {
                // Numbers on one side of zero, zeros that are not the result, and one special number.
                let mut values: Vec<f32> = (0..len).map(|_| (random.float() as f32 + 0.1) * sign).collect();
                values[random.below(len)] = 0.0 * sign;
                values[random.below(len)] = special;
                let expected = values.iter().copied().fold(f32::INFINITY * sign, |a, b| match op {
                    _ if a.is_nan() || b.is_nan() => special,
                    BinaryOp::Maximum if a == b => f32::from_bits(a.to_bits() & b.to_bits()),
                    BinaryOp::Maximum => a.max(b),
                    _ if a == b => f32::from_bits(a.to_bits() | b.to_bits()),
                    _ => a.min(b),
                });
                let reduce = reduce_op(&[F32], &[1, len], &[1]).binary_region(op, F32);
                let result = elements::<f32>(&reduce.run(&[bytes(&values), bytes(&[f32::INFINITY * sign])])[0])[0];
                assert_eq!(result.to_bits(), expected.to_bits(), "{op:?} {len} {special}");
                let wide: Vec<f64> = values.iter().map(|&x| x.into()).collect();
                let reduce = reduce_op(&[F64], &[1, len], &[1]).binary_region(op, F64);
                let init = f64::INFINITY * f64::from(sign);
                let result = elements::<f64>(&reduce.run(&[bytes(&wide), bytes(&[init])])[0])[0];
                assert_eq!(result.to_bits(), f64::from(expected).to_bits(), "{op:?} {len} {special}");
            }
        }
    }
}

/// Many rows have loops of their own; one row has another.
#[test]
fn many_rows_have_the_bits_of_each() {
    let random = &mut Random(27);
    let specials = [f32::NAN, -0.0, 0.0, f32::INFINITY, f32::NEG_INFINITY];
    for len in (1..=70).chain([100, 128, 200]) {
        for op in [BinaryOp::Add, BinaryOp::Multiply, BinaryOp::Maximum, BinaryOp::Minimum] {
            let number = |random: &mut Random| match random.below(3 * len) {
                0 => specials[random.below(5)],
                _ => random.float() as f32 - 0.5,
            };
            let values: Vec<f32> = (0..37 * len).map(|_| number(random)).collect();
            let init = bytes(&[0.25f32]);
            let all = reduce_op(&[F32], &[37, len], &[1]).binary_region(op, F32);
            let all = elements::<f32>(&all.run(&[bytes(&values), init.clone()])[0]);
            let one = reduce_op(&[F32], &[1, len], &[1]).binary_region(op, F32);
            for (row, &found) in values.chunks(len).zip(&all) {
                let expected = elements::<f32>(&one.run(&[bytes(row), init.clone()])[0])[0];
                let is_same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
                assert!(is_same, "{op:?} of {row:?}: {found}, expected {expected}");
            }
        }
    }
}

#[test]
fn booleans_and_complex_numbers() {
    let any = reduce_op(&[Pred], &[2, 3], &[1]).binary_region(BinaryOp::Add, Pred);
    assert_eq!(any.run(&[vec![0, 1, 1, 0, 0, 0], vec![0]])[0], [1, 0]);
    let all = reduce_op(&[Pred], &[2, 3], &[1]).binary_region(BinaryOp::And, Pred);
    assert_eq!(all.run(&[vec![1, 1, 1, 0, 1, 1], vec![1]])[0], [1, 0]);
    let values: Vec<Complex<f32>> = (0..100).map(|i| Complex::new(i as f32, -1.0)).collect();
    let sum = reduce_op(&[C64], &[100], &[0]).binary_region(BinaryOp::Add, C64);
    let sum: Vec<Complex<f32>> = elements(&sum.run(&[bytes(&values), bytes(&[Complex::new(0f32, 1.0)])])[0]);
    assert_eq!(sum, [Complex::new(4950.0, -99.0)]);
}

/// JAX's body of `argmax` and `argmin`.
fn arg_op(value: ElementType, index: ElementType, largest: bool, dims: &[usize], reduced: usize) -> Single {
    use oxcall_hlo::ComparisonDirection::*;
    use oxcall_hlo::ComparisonType::NoType;
    reduce_op(&[value, index], dims, &[reduced]).region(&[value, index, value, index], |body| {
        let [a, i, b, j] = body.params[..] else { unreachable!("four parameters") };
        let compare = |direction| OpKind::Compare(direction, NoType);
        let better = body.op(compare(if largest { Gt } else { Lt }), &[a, b], Pred);
        let nan = body.op(compare(Ne), &[a, a], Pred);
        let pick = body.op(OpKind::Binary(BinaryOp::Or), &[better, nan], Pred);
        let equal = body.op(compare(Eq), &[a, b], Pred);
        let lower = body.op(compare(Lt), &[i, j], Pred);
        let tie = body.op(OpKind::Binary(BinaryOp::And), &[equal, lower], Pred);
        let pick_index = body.op(OpKind::Binary(BinaryOp::Or), &[pick, tie], Pred);
        vec![body.op(OpKind::Select, &[pick, a, b], value), body.op(OpKind::Select, &[pick_index, i, j], index)]
    })
}

#[test]
fn argmax_and_argmin_find_the_first() {
    let random = &mut Random(23);
    let shapes = [([40, 7], 1), ([40, 7], 0), ([3, 20_000], 1), ([20_000, 3], 0), ([1, 5], 0)];
    for (dims, reduced) in shapes.into_iter().chain((0..=18).map(|row| ([37, row], 1))) {
        for largest in [true, false] {
            let count = dims[0] * dims[1];
            let values: Vec<f32> = (0..count)
                .map(|_| match random.below(200) {
                    0 => f32::NAN,
                    _ => random.between(-30, 30) as f32,
                })
                .collect();
            let iota: Vec<i32> = indices(&dims).map(|index| index[reduced] as i32).collect();
            let init = if largest { f32::NEG_INFINITY } else { f32::INFINITY };
            let op = arg_op(F32, S32, largest, &dims, reduced);
            let results = op.run(&[bytes(&values), bytes(&iota), bytes(&[init]), bytes(&[0i32])]);
            let pairs: Vec<(f32, i32)> = values.into_iter().zip(iota).collect();
            let expected = naive(&pairs, &dims, &[reduced], (init, 0), |a, b| {
                let better = if largest { a.0 > b.0 } else { a.0 < b.0 } || a.0.is_nan();
                (if better { a.0 } else { b.0 }, if better || a.0 == b.0 && a.1 < b.1 { a.1 } else { b.1 })
            });
            assert_eq!(elements::<i32>(&results[1]), expected.iter().map(|pair| pair.1).collect::<Vec<_>>());
            let bits = |x: f32| if x.is_nan() { 0x7FC0_0000 } else { x.to_bits() };
            let values: Vec<u32> = elements(&results[0]).into_iter().map(bits).collect();
            assert_eq!(values, expected.iter().map(|pair| bits(pair.0)).collect::<Vec<_>>());
        }
    }
}

#[test]
fn argmax_and_argmin_of_integers_find_the_first() {
    let random = &mut Random(28);
    for row in [0, 1, 2, 3, 4, 8, 15, 16, 17, 40] {
        for (dims, largest) in [([35, row], true), ([16, row], false), ([3, row], true)] {
            let values: Vec<i64> = (0..dims[0] * row).map(|_| random.between(-5, 5)).collect();
            let iota: Vec<i64> = indices(&dims).map(|index| index[1] as i64).collect();
            let init = if largest { i64::MIN } else { i64::MAX };
            let pairs: Vec<(i64, i64)> = values.iter().copied().zip(iota.iter().copied()).collect();
            let expected = naive(&pairs, &dims, &[1], (init, 0), |a, b| {
                let better = if largest { a.0 > b.0 } else { a.0 < b.0 };
                if better || a.0 == b.0 && a.1 < b.1 { a } else { b }
            });
            let expected: Vec<i64> = expected.into_iter().map(|pair| pair.1).collect();
            let results = arg_op(S64, S64, largest, &dims, 1).run(&[
                bytes(&values),
                bytes(&iota),
                bytes(&[init]),
                bytes(&[0i64]),
            ]);
            assert_eq!(elements::<i64>(&results[1]), expected, "{dims:?}");
            let narrow = |numbers: &[i64]| numbers.iter().map(|&x| x as i32).collect::<Vec<i32>>();
            let init = if largest { i32::MIN } else { i32::MAX };
            let results = arg_op(S32, S32, largest, &dims, 1).run(&[
                bytes(&narrow(&values)),
                bytes(&narrow(&iota)),
                bytes(&[init]),
                bytes(&[0i32]),
            ]);
            assert_eq!(elements::<i32>(&results[1]), narrow(&expected), "{dims:?}");
        }
    }
}

#[test]
fn any_body_of_any_number_of_operands() {
    let random = &mut Random(24);
    for (dims, reduced) in cases(random).into_iter().take(40) {
        let count: usize = dims.iter().product();
        let first: Vec<i32> = (0..count).map(|_| random.between(-9, 9) as i32).collect();
        let second: Vec<f64> = (0..count).map(|_| random.float()).collect();
        // A sum of absolute values, and a difference, in the order of the specification's simplest schedule.
        let op = reduce_op(&[S32, F64], &dims, &reduced).region(&[S32, F64, S32, F64], |body| {
            let [a, x, b, y] = body.params[..] else { unreachable!("four parameters") };
            let absolute = body.op(OpKind::Unary(UnaryOp::Abs), &[b], S32);
            vec![
                body.op(OpKind::Binary(BinaryOp::Add), &[a, absolute], S32),
                body.op(OpKind::Binary(BinaryOp::Subtract), &[x, y], F64),
            ]
        });
        let results = op.run(&[bytes(&first), bytes(&second), bytes(&[7i32]), bytes(&[1f64])]);
        assert_eq!(elements::<i32>(&results[0]), naive(&first, &dims, &reduced, 7, |a, b| a + b.abs()));
        assert_eq!(elements::<f64>(&results[1]), naive(&second, &dims, &reduced, 1.0, |a, b| a - b));
    }
}
