//! The targets of XLA, row-major.

use oxcall::ndarray::{Array1, Array3, array};
use oxcall::prelude::{bf16, f16};
use oxcall::testing::{Call, call};

use super::*;
use crate::targets::generic::*;
use crate::targets::qr::*;
use crate::targets::top_k::*;
use crate::targets::{C64, C128};

#[test]
fn row_major_qr_is_that_of_lapack() {
    let (m, n) = (5, 3);
    let columns = numbers::<C64>(m * n, 1);
    let rows: Vec<C64> = (0..m).flat_map(|i| columns.iter().skip(i).step_by(m).copied()).collect();
    let turn = |rows: &[C64]| -> Vec<C64> { (0..n).flat_map(|j| rows.iter().skip(j).step_by(n).copied()).collect() };
    let dims = |call: oxcall::testing::Call| run(call.ret_of::<C64>(&[m as i64, n as i64]).ret_of::<C64>(&[n as i64]));
    let expected = dims(call::<cgeqrf>().arg(super::array(&[m, n], &columns)));
    let found = dims(call::<geqrf>().arg(super::array(&[m, n], &rows)));
    let (packed, taus) = (result::<C64>(&found, 0), result::<C64>(&found, 1));
    assert_eq!(turn(&packed), result::<C64>(&expected, 0));
    assert_eq!(taus, result::<C64>(&expected, 1));

    let taus = super::array(&[n], &taus);
    let q = run(call::<householder_product>().arg(super::array(&[m, n], &packed)).arg(&taus));
    let expected = run(call::<cungqr>().arg(super::array(&[m, n], &result::<C64>(&expected, 0))).arg(&taus));
    assert_eq!(turn(&result::<C64>(&q, 0)), result::<C64>(&expected, 0));
}

fn check_eigenvectors<T: Number>(eigh: fn() -> Call)
where
    T::Part: Number,
{
    for (n, lower) in [(1, true), (5, true), (5, false)] {
        let full = definite::<T>(n, 3);
        // A hermitian matrix row by row is its conjugate column by column; the other triangle is not read.
        let nan = T::real(num_traits::Float::nan());
        let triangle = |at: usize| if lower { at % n <= at / n } else { at % n >= at / n };
        let rows: Vec<T> = full.iter().enumerate().map(|(at, x)| if triangle(at) { x.conj() } else { nan }).collect();
        let out = run(eigh().arg(super::array(&[n, n], &rows)).attr("lower", lower));
        let (rows, w) = (result::<T>(&out, 0), result::<T::Part>(&out, 1));
        let v: Vec<T> = (0..n).flat_map(|j| rows.iter().skip(j).step_by(n).copied()).collect();
        let scaled: Vec<T> = v.chunks(n).zip(&w).flat_map(|(v, &w)| v.iter().map(move |&v| v * T::real(w))).collect();
        assert_orthonormal(&v, n, 60.0 * n as f64, "eigenvectors");
        assert_near(&product(&full, &v, n, n), &scaled, 60.0 * n as f64, "eigen");
        assert!(w.windows(2).all(|pair| pair[0] <= pair[1]));
    }
    let infinite = T::real(num_traits::Float::infinity());
    let out = run(eigh().arg(super::array(&[1, 1], &[infinite])).attr("lower", true));
    assert!(num_traits::Float::is_nan(result::<T::Part>(&out, 1)[0]));
}

#[test]
fn eigenvectors_of_hermitian_matrices() {
    check_eigenvectors::<f32>(call::<eigh_f32>);
    check_eigenvectors::<f64>(call::<eigh_f64>);
    check_eigenvectors::<C64>(call::<eigh_c64>);
    check_eigenvectors::<C128>(call::<eigh_c128>);
}

#[test]
fn largest_and_smallest_along_any_dimension() {
    // Element (0, i, j) along dimension 1.
    let x = Array3::from_shape_fn((1, 7, 2), |(_, i, j)| ((i * 3 + j * 5) % 7) as f32);
    let index = Array3::from_shape_fn((1, 7, 2), |(_, i, _)| i as i32);
    for (initial, largest) in [(f32::NEG_INFINITY, true), (f32::INFINITY, false)] {
        let call = call::<approx_top_k>().arg(&x).arg(&index).arg(initial).arg(-1i32).attr("reduction_dim", 1i64);
        let call = call.attr("top_k", 3i64).attr("recall_target", 0.95f32).attr("is_fallback", true);
        let out = run(call.ret_of::<f32>(&[1, 3, 2]).ret_of::<i32>(&[1, 3, 2]));
        let (values, indices) = (out.get::<f32>(0), out.get::<i32>(1));
        for j in 0..2 {
            let expected = if largest { [6.0, 5.0, 4.0] } else { [0.0, 1.0, 2.0] };
            for (i, expected) in expected.into_iter().enumerate() {
                assert_eq!(values[[0, i, j]], expected);
                assert_eq!(x[[0, indices[[0, i, j]] as usize, j]], expected);
            }
        }
    }
}

#[test]
fn integers_and_more_than_there_are() {
    let index = Array1::from_iter(0..4i32);
    let top = |k: i64| {
        let call = call::<approx_top_k>().arg(array![3u8, 9, 9, 1]).arg(&index).arg(0u8).arg(-1i32);
        call.attr("reduction_dim", 0i64).ret_of::<u8>(&[k]).ret_of::<i32>(&[k]).run()
    };
    let out = top(2).unwrap();
    assert_eq!((result::<u8>(&out, 0), result::<i32>(&out, 1)), (vec![9, 9], vec![1, 2]));
    assert_eq!(result::<u8>(&top(4).unwrap(), 0), [9, 9, 3, 1]);
    assert!(top(5).is_err());
}

/// A comparison by the specification: NaN above all, zeros equal, and of equal elements the one with the lower index.
fn check_order<T: Sortable>(values: Vec<T>, lowest: T, highest: T) {
    let count = values.len() as i64;
    let index = Array1::from_iter(0..count as i32);
    for (initial, largest) in [(lowest, true), (highest, false)] {
        let mut expected: Vec<usize> = (0..values.len()).collect();
        let is_nan = |x: T| x.partial_cmp(&x).is_none();
        let ascending = |a: T, b: T| a.partial_cmp(&b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)));
        expected
            .sort_by(|&a, &b| if largest { ascending(values[b], values[a]) } else { ascending(values[a], values[b]) });
        let expected: Vec<i32> = expected.into_iter().map(|i| i as i32).collect();
        for kept in [1, 3, count - 1, count] {
            let call = call::<approx_top_k>().arg(Array1::from_vec(values.clone())).arg(&index);
            let call = call.arg(initial).arg(-1i32).attr("reduction_dim", 0i64);
            let out = call.ret_of::<T>(&[kept]).ret_of::<i32>(&[kept]).run().unwrap();
            assert_eq!(result::<i32>(&out, 1), expected[..kept as usize], "{:?} {largest}", T::DTYPE);
        }
    }
}

#[test]
fn elements_of_every_type_are_in_order() {
    macro_rules! integers {
        ($($ty:ident)*) => {$(
            let numbers = [3, 0, 1, $ty::MAX, $ty::MIN, 2, $ty::MAX / 2 + 1, 3, $ty::MIN, 0, $ty::MAX - 1];
            check_order(numbers.to_vec(), $ty::MIN, $ty::MAX);
        )*};
    }
    integers!(i8 i16 i32 i64 u8 u16 u32 u64);
    macro_rules! floats {
        ($($ty:ident)*) => {$(
            let (inf, nan) = (<$ty as num_traits::Float>::infinity(), <$ty as num_traits::Float>::nan());
            let [one, small] = [<$ty as num_traits::One>::one(), <$ty as num_traits::Float>::min_positive_value()];
            let zero = one - one;
            let numbers = [one, -zero, nan, -one, zero, inf, -inf, small, -small, -nan, one + one, -zero, -one];
            check_order(numbers.to_vec(), -inf, inf);
        )*};
    }
    floats!(f16 bf16 f32 f64);
}
