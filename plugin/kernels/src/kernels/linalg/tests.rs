//! Factors and solutions, multiplied again.

use num_traits::{Float, Zero};
use oxcall_hlo::{OpKind, Transpose};
use oxcall_linalg::row_major::Element as Dense;
use oxcall_linalg::scalar::{Real, Scalar};

use crate::element::{Complex, Element};
use crate::kernels::testing::{Random, Single, bytes, elements, ty};

trait Number: Element + Dense + Zero {}

impl<T: Element + Dense + Zero> Number for T {}

fn numbers<T: Number>(count: usize) -> Vec<T> {
    let mut random = Random(count as u64);
    let mut part = || <T::Part as Real>::of(random.float());
    (0..count).map(|_| T::new(part(), part())).collect()
}

/// The product of row-major matrices of `k` columns and rows.
fn product<T: Number>(a: &[T], b: &[T], k: usize) -> Vec<T> {
    let (m, n) = (a.len() / k, b.len() / k);
    let element = |i: usize, j: usize| (0..k).fold(T::zero(), |sum, l| sum + a[i * k + l] * b[l * n + j]);
    (0..m * n).map(|at| element(at / n, at % n)).collect()
}

fn adjoint<T: Number>(a: &[T], n: usize) -> Vec<T> {
    (0..n * n).map(|at| Scalar::conj(a[at % n * n + at / n])).collect()
}

fn assert_near<T: Number>(found: &[T], expected: &[T], slack: f64, what: &str) {
    let tolerance: T::Part = Real::of(slack);
    for (found, expected) in found.iter().zip(expected) {
        let error = (*found - *expected).modulus();
        assert!(error <= tolerance * <T::Part as Float>::epsilon(), "{what}: {found:?} for {expected:?}");
    }
}

fn check_cholesky<T: Number>() {
    for (batch, n) in [(1, 1), (3, 4), (30, 3), (1, 60), (0, 3)] {
        let matrices: Vec<T> = (0..batch)
            .flat_map(|_| {
                let a = numbers::<T>(n * n);
                let mut square = product(&a, &adjoint(&a, n), n);
                (0..n).for_each(|i| square[i * n + i] = T::real(square[i * n + i].re() + <T::Part as Real>::of(1.0)));
                square
            })
            .collect();
        for lower in [true, false] {
            let tensor = ty(T::TYPE, &[batch, n, n]);
            let op =
                Single::new(OpKind::Cholesky { lower }, std::slice::from_ref(&tensor), std::slice::from_ref(&tensor));
            let out: Vec<T> = elements(&op.run(&[bytes(&matrices)])[0]);
            for (factor, a) in out.chunks(n * n).zip(matrices.chunks(n * n)) {
                let other = adjoint(factor, n);
                let back = if lower { product(factor, &other, n) } else { product(&other, factor, n) };
                assert_near(&back, a, 30.0 * (n * n) as f64, "cholesky");
                let zero = |at: usize| if lower { at % n > at / n } else { at % n < at / n };
                assert!((0..n * n).all(|at| !zero(at) || factor[at].is_zero()));
            }
        }
    }
    let tensor = ty(T::TYPE, &[2, 2, 2]);
    let op =
        Single::new(OpKind::Cholesky { lower: true }, std::slice::from_ref(&tensor), std::slice::from_ref(&tensor));
    let given = [1.0, 0.0, 0.0, -1.0, 4.0, 0.0, 0.0, 9.0].map(|x| T::real(Real::of(x)));
    let out: Vec<T> = elements(&op.run(&[bytes(&given)])[0]);
    assert!(out[..4].iter().all(|x| !x.finite()), "not positive definite");
    assert_near(&out[4..], &[2.0, 0.0, 0.0, 3.0].map(|x| T::real(Real::of(x))), 1.0, "definite");
}

#[test]
fn cholesky_of_every_type() {
    check_cholesky::<f32>();
    check_cholesky::<f64>();
    check_cholesky::<Complex<f32>>();
    check_cholesky::<Complex<f64>>();
}

fn check_solve<T: Number>() {
    let of = |x: f64| T::real(Real::of(x));
    for case in 0..24 {
        let (left_side, lower, unit_diagonal) = (case % 2 == 0, case / 2 % 2 == 0, case / 4 % 2 == 0);
        let transpose = Transpose::ALL[case / 8];
        for (batch, rows, cols) in [(1, 1, 1), (2, 4, 3), (20, 3, 2), (1, 20, 17), (2, 0, 3)] {
            let n = if left_side { rows } else { cols };
            // Small beside the diagonal, so that the solution is as large as the right side.
            let mut a: Vec<T> = numbers::<T>(batch * n * n).iter().map(|&x| x * of(1.0 / (2.0 * n as f64))).collect();
            (0..batch * n).for_each(|i| a[i / n * n * n + i % n * (n + 1)] = of(1.5));
            let b = numbers::<T>(batch * rows * cols);
            let types = [ty(T::TYPE, &[batch, n, n]), ty(T::TYPE, &[batch, rows, cols])];
            let kind = OpKind::TriangularSolve { left_side, lower, unit_diagonal, transpose };
            let out: Vec<T> = elements(&Single::new(kind, &types, &types[1..]).run(&[bytes(&a), bytes(&b)])[0]);
            for index in 0..if n * cols == 0 { 0 } else { batch } {
                let mut op: Vec<T> = a[index * n * n..][..n * n]
                    .iter()
                    .enumerate()
                    .map(|(at, &x)| match (at / n).cmp(&(at % n)) {
                        std::cmp::Ordering::Equal if unit_diagonal => of(1.0),
                        std::cmp::Ordering::Less if lower => T::zero(),
                        std::cmp::Ordering::Greater if !lower => T::zero(),
                        _ => x,
                    })
                    .collect();
                if transpose != Transpose::NoTranspose {
                    op = adjoint(&op, n);
                }
                if transpose == Transpose::Transpose {
                    op.iter_mut().for_each(|x| *x = Scalar::conj(*x));
                }
                let x = &out[index * rows * cols..][..rows * cols];
                let back = if left_side { product(&op, x, n) } else { product(x, &op, n) };
                assert_near(&back, &b[index * rows * cols..][..rows * cols], 100.0, "triangular");
            }
        }
    }
}

#[test]
fn triangular_systems_of_every_type() {
    check_solve::<f32>();
    check_solve::<f64>();
    check_solve::<Complex<f32>>();
    check_solve::<Complex<f64>>();
}
