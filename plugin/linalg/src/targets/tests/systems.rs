//! Triangular and tridiagonal systems.

use oxcall::testing::{Call, call};

use super::*;
use crate::targets::triangular::*;
use crate::targets::tridiagonal::*;
use crate::targets::{C64, C128};

fn check_triangular<T: Number>(trsm: fn() -> Call) {
    for (side, uplo, trans, diag) in
        (0..24).map(|i| (b"LR"[i % 2], b"LU"[i / 2 % 2], b"NTC"[i / 4 % 3], b"NU"[i / 12 % 2]))
    {
        for (rows, cols) in [(1, 1), (3, 5), (20, 7), (6, 17)] {
            let n = if side == b'L' { rows } else { cols };
            let mut a = numbers::<T>(2 * n * n, 3);
            (0..2 * n).for_each(|i| a[i / n * n * n + i % n * (n + 1)] += T::real(Real::of(4.0 + n as f64 / 4.0)));
            let b = numbers::<T>(2 * rows * cols, 4);
            let call = trsm().arg(array(&[2, n, n], &a)).arg(array(&[2, rows, cols], &b)).attr("side", side);
            let out = run(call.attr("uplo", uplo).attr("trans_x", trans).attr("diag", diag));
            for (index, x) in result::<T>(&out, 0).chunks(rows * cols).enumerate() {
                let mut op = part(&a[index * n * n..][..n * n], n, |i, j| if uplo == b'L' { i >= j } else { i <= j });
                if diag == b'U' {
                    (0..n).for_each(|i| op[i * n + i] = T::one());
                }
                if trans != b'N' {
                    op = adjoint(&op, n);
                }
                if trans == b'T' {
                    op.iter_mut().for_each(|x| *x = Scalar::conj(*x));
                }
                let back = if side == b'L' { product(&op, x, n, n) } else { product(x, &op, rows, n) };
                // A unit diagonal is small beside the other elements, so errors grow with x.
                let largest =
                    x.iter().map(|x| num_traits::ToPrimitive::to_f64(&x.modulus()).unwrap()).fold(1.0, f64::max);
                let slack = 100.0 * n as f64 * largest;
                assert_near(&back, &b[index * rows * cols..][..rows * cols], slack, "triangular");
            }
        }
    }
    // Older JAX passes a factor.
    let call = trsm().arg(array(&[1, 1], &[T::real(Real::of(2.0))])).arg(array(&[1, 1], &[T::one()]));
    let call = call.arg(array(&[], &[T::real(Real::of(6.0))])).attr("side", b'L').attr("uplo", b'L');
    let out = run(call.attr("trans_x", b'N').attr("diag", b'N'));
    assert_eq!(result::<T>(&out, 0), [T::real(Real::of(3.0))]);
}

#[test]
fn triangular_systems_of_every_type() {
    check_triangular::<f32>(call::<strsm>);
    check_triangular::<f64>(call::<dtrsm>);
    check_triangular::<C64>(call::<ctrsm>);
    check_triangular::<C128>(call::<ztrsm>);
}

/// The product of a tridiagonal matrix with columns of `b`.
fn multiply<T: Number>([lower, diagonal, upper]: [&[T]; 3], b: &[T]) -> Vec<T> {
    let n = diagonal.len();
    let element = |column: &[T], i: usize| {
        let mut sum = diagonal[i] * column[i];
        if i > 0 {
            sum += lower[i] * column[i - 1];
        }
        if i + 1 < n {
            sum += upper[i] * column[i + 1];
        }
        sum
    };
    b.chunks(n).flat_map(|column| (0..n).map(move |i| element(column, i))).collect()
}

fn check_tridiagonal<T: Number>(gtsv: fn() -> Call) {
    for (n, cols) in [(1, 1), (2, 3), (3, 1), (50, 4)] {
        let [lower, diagonal, upper] = [1, 2, 3].map(|seed| numbers::<T>(n, seed));
        let b = numbers::<T>(n * cols, 4);
        let with = |call: Call| {
            let call = call.arg(array(&[1, n], &lower)).arg(array(&[1, n], &diagonal)).arg(array(&[1, n], &upper));
            call.arg(array(&[1, n, cols], &b))
        };
        let out = run(with(gtsv()));
        assert_eq!(result::<i32>(&out, 4), [0]);
        let x = result::<T>(&out, 3);
        let largest = x.iter().map(|x| num_traits::ToPrimitive::to_f64(&x.modulus()).unwrap()).fold(1.0, f64::max);
        assert_near(&multiply([&lower, &diagonal, &upper], &x), &b, 30.0 * largest, "tridiagonal");
        let perturbed = result::<T>(&run(with(call::<tridiagonal_solve_perturbed>())), 0);
        assert_near(&perturbed, &x, 1000.0 * largest, "perturbed");
    }
    let zero = array(&[2], &[T::zero(); 2]);
    let diagonal = array(&[2], &[T::one(), T::zero()]);
    let b = array(&[2, 1], &[T::one(); 2]);
    let out = run(gtsv().arg(&zero).arg(&diagonal).arg(&zero).arg(&b));
    assert_eq!(result::<i32>(&out, 4), [2]);
    // The singular system has a finite, large solution when it is perturbed.
    let out = run(call::<tridiagonal_solve_perturbed>().arg(&zero).arg(&diagonal).arg(&zero).arg(&b));
    let x = result::<T>(&out, 0);
    assert!(x.iter().all(|x| x.finite()) && x[1].modulus() > Real::of(1e5), "{x:?}");
}

#[test]
fn tridiagonal_systems_of_every_type() {
    check_tridiagonal::<f32>(call::<sgtsv>);
    check_tridiagonal::<f64>(call::<dgtsv>);
    check_tridiagonal::<C64>(call::<cgtsv>);
    check_tridiagonal::<C128>(call::<zgtsv>);
}
