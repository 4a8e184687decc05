//! Reductions of what a fusion computes, against sums in double precision.

use super::*;

#[test]
fn the_last_strip_of_columns_may_be_narrow() {
    // Strips have 4096 columns; the rows of a piece are several chains.
    let (rows, columns) = (1600, 4097);
    let module = func(|f| {
        let x = f.param(f32s([rows, columns]));
        let square = binary(f, BinaryOp::Multiply, x, x)?;
        let zero = f.splat(f32s([]), 0f32.to_le_bytes());
        let scalars = [f32s([]), f32s([])];
        let add = f.region(scalars, |f, params| Ok(vec![binary(f, BinaryOp::Add, params[0], params[1])?]))?;
        f.with_regions(OpKind::Reduce { dims: vec![0] }, [square, zero], [add])
    });
    let x: Vec<f32> = (0..rows * columns).map(|i| (i * 37 % 101) as f32 / 8.0 - 6.0).collect();
    let results = run(module, &|e| vec![shared(e, &x)]).unwrap();
    for (column, &found) in values::<f32>(&results[0]).iter().enumerate() {
        let squares = x.iter().skip(column).step_by(columns).map(|&x| f64::from(x) * f64::from(x));
        let expected: f64 = squares.sum();
        // Chains of 32, joined in pairs: half a unit in the last place for each of 38 additions, at most.
        assert!((f64::from(found) - expected).abs() <= 38.0 / 2.0 * f64::from(f32::EPSILON) * expected, "{column}");
    }
}

/// Functions of all pairs of rows of `x` and `y`, `count` and `others` rows of `row` elements, reduced by `function`:
/// squares of differences if those are added up, and differences otherwise.
fn of_pairs(element: ElementType, function: BinaryOp, [count, others, row]: [usize; 3]) -> Module {
    func(|f| {
        let ty = |dims: &[usize]| TensorType::new(element, dims.iter().copied());
        let all = ty(&[count, others, row]);
        let [x, y] = [ty(&[count, row]), ty(&[others, row])].map(|ty| f.param(ty));
        let x = f.typed(OpKind::BroadcastInDim { dims: vec![0, 2] }, [x], all.clone())?;
        let y = f.typed(OpKind::BroadcastInDim { dims: vec![1, 2] }, [y], all)?;
        let mut value = binary(f, BinaryOp::Subtract, x, y)?;
        if function == BinaryOp::Add {
            value = binary(f, BinaryOp::Multiply, value, value)?;
        }
        let init = f.splat(ty(&[]), vec![0; element.byte_width()]);
        let scalars = [ty(&[]), ty(&[])];
        let body = f.region(scalars, |f, params| Ok(vec![binary(f, function, params[0], params[1])?]))?;
        f.with_regions(OpKind::Reduce { dims: vec![2] }, [value, init], [body])
    })
}

/// Checks such functions of arrays of small numbers, to within roundings of a relative `epsilon`.
fn check_pairs<T: Pod>(element: ElementType, number: fn(usize) -> T, value: fn(T) -> f64, epsilon: f64) {
    for [count, others, row] in
        [[20, 300, 16], [33, 130, 100], [9, 140, 1024], [9, 4100, 20], [17, 128, 33], [300, 20, 16], [4100, 7, 33]]
    {
        for function in [BinaryOp::Add, BinaryOp::Maximum] {
            let x: Vec<T> = (0..count * row).map(|i| number(i * 37 % 1009)).collect();
            let y: Vec<T> = (0..others * row).map(|i| number(i * 53 % 1013)).collect();
            let module = of_pairs(element, function, [count, others, row]);
            let results = run(module, &|e| vec![shared(e, &x), shared(e, &y)]).unwrap();
            for (pair, found) in values::<T>(&results[0]).into_iter().enumerate() {
                let (x, y) = (&x[pair / others * row..][..row], &y[pair % others * row..][..row]);
                let differences = x.iter().zip(y).map(|(&x, &y)| value(x) - value(y));
                let (expected, roundings) = match function {
                    // The difference, twice, the square, chains of 32, joined in pairs, and the initial value.
                    BinaryOp::Add => (differences.map(|d| d * d).sum::<f64>(), 36.0 + (row as f64).log2()),
                    _ => (differences.fold(0.0, f64::max), 1.0),
                };
                let error = (value(found) - expected).abs();
                assert!(error <= roundings / 2.0 * epsilon * expected, "{element} {function:?} {row}: {error}");
            }
        }
    }
}

#[test]
fn functions_of_all_pairs_of_rows_are_reduced() {
    check_pairs(ElementType::F32, |i| i as f32 / 7.0 - 60.0, f64::from, f64::from(f32::EPSILON));
    check_pairs(ElementType::F64, |i| i as f64 / 8.0 - 60.0, |x| x, f64::EPSILON);
    check_pairs(ElementType::S32, |i| i as i32 - 500, f64::from, 0.0);
}

#[test]
fn sums_of_narrow_floats_round_once() {
    use oxcall_kernels::element::{bf16, f16};
    let sums = |element: ElementType, rows: usize, columns: usize| {
        func(|f| {
            let x = f.param(TensorType::new(element, [rows, columns]));
            let init = f.splat(TensorType::new(element, []), vec![0; 2]);
            let scalars = [TensorType::new(element, []), TensorType::new(element, [])];
            let add = f.region(scalars, |f, params| Ok(vec![binary(f, BinaryOp::Add, params[0], params[1])?]))?;
            f.with_regions(OpKind::Reduce { dims: vec![0] }, [x, init], [add])
        })
    };
    // One after another, bf16 would stay at 256 and f16 at 2048.
    let results = run(sums(ElementType::BF16, 3000, 1), &|e| vec![shared(e, &[bf16::ONE; 3000])]).unwrap();
    assert_eq!(values::<bf16>(&results[0]), [bf16::from_f32(3000.0)]);
    let results = run(sums(ElementType::F16, 5000, 3), &|e| vec![shared(e, &[f16::ONE; 15_000])]).unwrap();
    assert_eq!(values::<f16>(&results[0]), [f16::from_f32(5000.0); 3]);
}
