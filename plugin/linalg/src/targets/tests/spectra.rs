//! Eigenvalues, singular values, Schur, Hessenberg and tridiagonal forms.

use num_complex::Complex;
use oxcall::testing::{Call, call};

use super::*;
use crate::targets::eigen::*;
use crate::targets::hessenberg::*;
use crate::targets::qr::*;
use crate::targets::schur::*;
use crate::targets::svd::*;
use crate::targets::symmetric::*;
use crate::targets::{C64, C128};

fn diagonal<T: Number>(values: &[T::Part], rows: usize, cols: usize) -> Vec<T> {
    let mut out = vec![T::zero(); rows * cols];
    values.iter().enumerate().for_each(|(i, &x)| out[i * rows + i] = T::real(x));
    out
}

fn check_svd<T: Number>(svd: fn() -> Call)
where
    T::Part: Number,
{
    for (m, n) in [(1, 1), (4, 4), (9, 4), (4, 9), (40, 24), (80, 10)] {
        let k = m.min(n);
        let a = numbers::<T>(2 * m * n, (m * n) as u64);
        for (mode, columns, rows) in [(b'A', m, n), (b'S', k, k), (b'N', k, k)] {
            let dims = |dims: [usize; 2]| [2, dims[0] as i64, dims[1] as i64];
            let call = svd().arg(array(&[2, m, n], &a)).attr("mode", mode).ret_of::<T>(&dims([m, n]));
            let call = call.ret_of::<T::Part>(&[2, k as i64]).ret_of::<T>(&dims([m, columns]));
            let out = run(call.ret_of::<T>(&dims([rows, n])).ret_of::<i32>(&[2]));
            assert_eq!(result::<i32>(&out, 4), [0, 0]);
            let s = result::<T::Part>(&out, 1);
            for (index, s) in s.chunks(k).enumerate() {
                assert!(s.windows(2).all(|pair| pair[1] <= pair[0]) && s[k - 1] >= num_traits::Zero::zero());
                if mode == b'N' {
                    continue;
                }
                let u = &result::<T>(&out, 2)[index * m * columns..][..m * columns];
                let vt = &result::<T>(&out, 3)[index * rows * n..][..rows * n];
                let slack = 40.0 * (m + n) as f64;
                assert_orthonormal(u, m, slack, "u");
                assert_orthonormal(&adjoint(vt, rows), n, slack, "v");
                let us = product(u, &diagonal::<T>(s, columns, rows), m, columns);
                assert_near(&product(&us, vt, m, rows), &a[index * m * n..][..m * n], slack, "svd");
            }
        }
    }
    let mut a = numbers::<T>(6, 1);
    a[3] = T::real(num_traits::Float::nan());
    let call = svd().arg(array(&[2, 3], &a)).attr("mode", b'N').ret_of::<T>(&[2, 3]).ret_of::<T::Part>(&[2]);
    let out = run(call.ret_of::<T>(&[2, 2]).ret_of::<T>(&[2, 3]).ret_of::<i32>(&[]));
    assert_eq!(result::<i32>(&out, 4), [-4]);
}

#[test]
fn svd_of_every_type() {
    check_svd::<f32>(call::<sgesdd>);
    check_svd::<f64>(call::<dgesdd>);
    check_svd::<C64>(call::<cgesdd>);
    check_svd::<C128>(call::<zgesdd>);
    check_svd::<f64>(call::<dgesvd>);
    check_svd::<C64>(call::<cgesvd>);
    check_svd::<f32>(call::<sgesvd>);
    check_svd::<C128>(call::<zgesvd>);
}

fn check_symmetric<T: Number>(evd: fn() -> Call, trd: fn() -> Call)
where
    T::Part: Number,
{
    for n in [1, 2, 3, 10, 40] {
        let full = definite::<T>(n, n as u64);
        for (uplo, lower) in [(b'L', true), (b'U', false)] {
            let slack = 60.0 * n as f64;
            // The other triangle is not read.
            let nan = T::real(num_traits::Float::nan());
            let given: Vec<T> = full
                .iter()
                .enumerate()
                .map(|(at, &x)| if if lower { at % n >= at / n } else { at % n <= at / n } { x } else { nan })
                .collect();
            let out = run(evd().arg(array(&[n, n], &given)).attr("uplo", uplo).attr("mode", b'V'));
            assert_eq!(result::<i32>(&out, 2), [0]);
            let (v, w) = (result::<T>(&out, 0), result::<T::Part>(&out, 1));
            assert!(w.windows(2).all(|pair| pair[0] <= pair[1]));
            assert_orthonormal(&v, n, slack, "eigenvectors");
            let scaled = product(&v, &diagonal::<T>(&w, n, n), n, n);
            assert_near(&product(&full, &v, n, n), &scaled, slack, "eigen");
            let none = run(evd().arg(array(&[n, n], &given)).attr("uplo", uplo).attr("mode", b'N'));
            assert_near(&result::<T::Part>(&none, 1), &w, slack, "eigenvalues alone");

            let out = run(trd().arg(array(&[n, n], &given)).attr("uplo", uplo));
            let (packed, d, e) = (result::<T>(&out, 0), result::<T::Part>(&out, 1), result::<T::Part>(&out, 2));
            if n == 1 {
                assert_eq!(d[0], full[0].re());
                continue;
            }
            let mut t = diagonal::<T>(&d, n, n);
            e.iter().enumerate().for_each(|(i, &e)| {
                t[i * n + i + 1] = T::real(e);
                t[(i + 1) * n + i] = T::real(e);
            });
            // Q is the product of the reflectors, in the order and place that LAPACK describes.
            let taus = result::<T>(&out, 3);
            let mut q = identity::<T>(n);
            for i in 0..n - 1 {
                let i = if lower { i } else { n - 2 - i };
                let mut v = vec![T::zero(); n];
                if lower {
                    v[i + 1] = T::one();
                    v[i + 2..].copy_from_slice(&packed[i * n + i + 2..(i + 1) * n]);
                } else {
                    v[i] = T::one();
                    v[..i].copy_from_slice(&packed[(i + 1) * n..][..i]);
                }
                let outer = product(&v, &adjoint(&v, n), n, 1);
                let h: Vec<T> = identity::<T>(n).iter().zip(outer).map(|(&x, o)| x - taus[i] * o).collect();
                q = product(&q, &h, n, n);
            }
            assert_orthonormal(&q, n, slack, "q");
            assert_near(&product(&product(&q, &t, n, n), &adjoint(&q, n), n, n), &full, slack, "tridiagonal");
        }
    }
    let out =
        run(evd().arg(array(&[1, 1], &[T::real(num_traits::Float::nan())])).attr("uplo", b'L').attr("mode", b'V'));
    assert_ne!(result::<i32>(&out, 2), [0]);
}

#[test]
fn hermitian_matrices_of_every_type() {
    check_symmetric::<f32>(call::<ssyevd>, call::<ssytrd>);
    check_symmetric::<f64>(call::<dsyevd>, call::<dsytrd>);
    check_symmetric::<C64>(call::<cheevd>, call::<chetrd>);
    check_symmetric::<C128>(call::<zheevd>, call::<zhetrd>);
}

/// The same numbers as complex ones.
fn complex<T: Number>(a: &[T]) -> Vec<Complex<T::Part>> {
    a.iter().map(|x| Complex::new(x.re(), x.im())).collect()
}

fn check_eigen<T: Number>(geev: fn() -> Call)
where
    Complex<T::Part>: Number + Scalar<Part = T::Part>,
    T::Part: Number,
{
    for n in [1, 2, 3, 10, 33] {
        let a = numbers::<T>(n * n, n as u64);
        let out = run(geev().arg(array(&[1, n, n], &a)).attr("compute_left", b'V').attr("compute_right", b'V'));
        let real = out.values().len() == 5;
        let values: Vec<Complex<T::Part>> = if real {
            let parts = result::<T>(&out, 0).into_iter().zip(result::<T>(&out, 1));
            parts.map(|(re, im)| Complex::new(re.re(), im.re())).collect()
        } else {
            complex(&result::<T>(&out, 0))
        };
        let first = if real { 2 } else { 1 };
        assert_eq!(result::<i32>(&out, first + 2), [0]);
        let [left, right] = [first, first + 1].map(|index| result::<Complex<T::Part>>(&out, index));
        let (a, slack) = (complex(&a), 200.0 * n as f64);
        let scale = |v: &[Complex<T::Part>], conjugate: bool| -> Vec<Complex<T::Part>> {
            let value = |j: usize| if conjugate { Scalar::conj(values[j]) } else { values[j] };
            v.iter().enumerate().map(|(at, &x)| x * value(at / n)).collect()
        };
        assert_near(&product(&a, &right, n, n), &scale(&right, false), slack, "right eigenvectors");
        assert_near(&product(&adjoint(&a, n), &left, n, n), &scale(&left, true), slack, "left eigenvectors");
        for v in left.chunks(n).chain(right.chunks(n)) {
            let square: Complex<T::Part> = v.iter().map(|x| Scalar::conj(*x) * *x).sum();
            assert_near(&[square], &[num_traits::One::one()], slack, "length");
            let largest = v.iter().fold(v[0], |most, &x| if x.modulus() > most.modulus() { x } else { most });
            let small: T::Part = Real::of(1e-3);
            assert!(largest.im <= small && largest.im >= -small, "the largest element is real: {largest:?}");
        }
        if real {
            // Of a pair of eigenvalues the one above the real axis comes first.
            let zero = num_traits::Zero::zero();
            let first_of_pair = (0..n).find(|&k| values[k].im != zero);
            assert!(first_of_pair.is_none_or(|k| values[k].im > zero && values[k + 1] == values[k].conj()));
        }
        let none = run(geev()
            .arg(array(&[1, n, n], &numbers::<T>(n * n, n as u64)))
            .attr("compute_left", b'N')
            .attr("compute_right", b'N'));
        assert_eq!(result::<i32>(&none, first + 2), [0]);
    }
    let infinite = [T::real(num_traits::Float::infinity())];
    let out = run(geev().arg(array(&[1, 1], &infinite)).attr("compute_left", b'N').attr("compute_right", b'N'));
    assert_eq!(result::<i32>(&out, out.values().len() - 1), [-4]);
}

#[test]
fn eigenvectors_of_every_type() {
    check_eigen::<f32>(call::<sgeev>);
    check_eigen::<f64>(call::<dgeev>);
    check_eigen::<C64>(call::<cgeev>);
    check_eigen::<C128>(call::<zgeev>);
}

/// Matrices that are hard for QR algorithms: a cycle, one Jordan block, zero, a pair of pairs.
fn hard<T: Number>() -> Vec<(usize, Vec<T>)> {
    let of = |elements: &[f64]| elements.iter().map(|&x| T::real(Real::of(x))).collect::<Vec<T>>();
    vec![
        (3, of(&[0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0])),
        (4, of(&[0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0])),
        (3, of(&[2.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 1.0, 2.0])),
        (2, of(&[0.0; 4])),
        (2, of(&[0.0, 1.0, -1.0, 0.0])),
        (2, of(&[1.0, 1e-12, 1e12, 1.0])),
        (4, of(&[1.0, 2.0, 0.0, 0.0, -2.0, 1.0, 0.0, 0.0, 5.0, 6.0, 1.0, 2.0, 7.0, 8.0, -2.0, 1.0])),
    ]
}

fn check_schur<T: Number>(gees: fn() -> Call)
where
    T::Part: Number,
{
    let random = [1, 2, 3, 4, 12, 25].map(|n| (n, numbers::<T>(n * n, 5 + n as u64)));
    for (n, a) in random.into_iter().chain(hard()) {
        let call = |mode: u8| gees().arg(array(&[1, n, n], &a)).attr("mode", mode).attr("sort", b'N');
        let out = run(call(b'V'));
        let last = out.values().len() - 1;
        assert_eq!((result::<i32>(&out, last), result::<i32>(&out, last - 1)), (vec![0], vec![0]));
        let (t, z) = (result::<T>(&out, 0), result::<T>(&out, 1));
        let slack = 100.0 * n as f64;
        assert_orthonormal(&z, n, slack, "schur vectors");
        assert_near(&product(&product(&z, &t, n, n), &adjoint(&z, n), n, n), &a, slack, "schur");
        let real = last == 5;
        let mut blocks = 0;
        for j in 0..n {
            for i in j + 1..n {
                let x = t[j * n + i];
                assert!(x == T::zero() || (real && i == j + 1), "below the diagonal");
                if x != T::zero() {
                    // Blocks are apart, with an equal diagonal and signs that make the eigenvalues complex.
                    blocks += 1;
                    assert!(j == 0 || t[(j - 1) * n + j] == T::zero());
                    assert_eq!(t[j * n + j], t[i * n + i]);
                    assert!((x * t[i * n + j]).re() < num_traits::Zero::zero());
                    let im = result::<T::Part>(&out, 3);
                    assert!(im[j] > num_traits::Zero::zero() && im[i] == -im[j]);
                }
            }
        }
        let diagonal: Vec<T> = (0..n).map(|i| t[i * n + i]).collect();
        assert_eq!(result::<T>(&out, 2), diagonal);
        if real {
            let pairs = result::<T::Part>(&out, 3).iter().filter(|im| **im > num_traits::Zero::zero()).count();
            assert_eq!(pairs, blocks);
        }
        let alone = result::<T>(&run(call(b'N')), 0);
        assert_near(&alone, &t, slack, "schur form alone");
    }
    let nan = [T::real(num_traits::Float::nan())];
    let out = run(gees().arg(array(&[1, 1], &nan)).attr("mode", b'V').attr("sort", b'N'));
    assert_ne!(result::<i32>(&out, out.values().len() - 1), [0]);
    let error = gees().arg(array(&[1, 1], &nan)).attr("mode", b'V').attr("sort", b'S').run().unwrap_err();
    assert_eq!(error.code(), oxcall::Code::Unimplemented);
}

#[test]
fn schur_of_every_type() {
    check_schur::<f32>(call::<sgees>);
    check_schur::<f64>(call::<dgees>);
    check_schur::<C64>(call::<cgees>);
    check_schur::<C128>(call::<zgees>);
}

fn check_hessenberg<T: Number>(gehrd: fn() -> Call, orgqr: fn() -> Call) {
    for n in [2, 3, 8, 20] {
        let a = numbers::<T>(n * n, n as u64);
        let out = run(gehrd().arg(array(&[1, n, n], &a)).attr("low", 1i32).attr("high", n as i32));
        assert_eq!(result::<i32>(&out, 2), [0]);
        let (packed, taus) = (result::<T>(&out, 0), result::<T>(&out, 1));
        let h = part(&packed, n, |i, j| i <= j + 1);
        let reflectors: Vec<T> = (0..n - 1).flat_map(|j| packed[j * n + 1..(j + 1) * n].to_vec()).collect();
        let call = orgqr().arg(array(&[1, n - 1, n - 1], &reflectors)).arg(array(&[1, n - 1], &taus));
        let inner = result::<T>(&run(call), 0);
        let mut q = identity::<T>(n);
        for j in 1..n {
            q[j * n + 1..(j + 1) * n].copy_from_slice(&inner[(j - 1) * (n - 1)..][..n - 1]);
        }
        assert_near(&product(&product(&q, &h, n, n), &adjoint(&q, n), n, n), &a, 60.0 * n as f64, "hessenberg");
    }
}

#[test]
fn hessenberg_of_every_type() {
    check_hessenberg::<f32>(call::<sgehrd>, call::<sorgqr>);
    check_hessenberg::<f64>(call::<dgehrd>, call::<dorgqr>);
    check_hessenberg::<C64>(call::<cgehrd>, call::<cungqr>);
    check_hessenberg::<C128>(call::<zgehrd>, call::<zungqr>);
}
