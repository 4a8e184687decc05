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
