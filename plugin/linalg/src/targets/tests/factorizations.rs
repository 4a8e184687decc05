//! Cholesky, LU and QR.

use oxcall::testing::{Call, call};

use super::*;
use crate::targets::cholesky::*;
use crate::targets::lu::*;
use crate::targets::qr::*;
use crate::targets::{C64, C128};

const SIZES: [usize; 4] = [1, 2, 5, 40];

fn check_cholesky<T: Number>(potrf: fn() -> Call) {
    // Around the sizes of plain loops; the last is factored by blocks.
    for n in SIZES.into_iter().chain([8, 9, 16, 17, 130]) {
        for (uplo, lower) in [(b'L', true), (b'U', false)] {
            let matrices = [definite::<T>(n, 1), definite::<T>(n, 2)];
            let triangle = |i: usize, j: usize| if lower { i >= j } else { i <= j };
            let given = matrices.concat();
            let out = run(potrf().arg(array(&[2, n, n], &given)).attr("uplo", uplo));
            assert_eq!(result::<i32>(&out, 1), [0, 0]);
            for (a, factor) in matrices.iter().zip(result::<T>(&out, 0).chunks(n * n)) {
                // The other triangle is left as it was.
                assert_near(&part(factor, n, |i, j| !triangle(i, j)), &part(a, n, |i, j| !triangle(i, j)), 0.0, "rest");
                let factor = part(factor, n, triangle);
                let other = adjoint(&factor, n);
                let [l, r] = if lower { [&factor, &other] } else { [&other, &factor] };
                assert_near(&product(l, r, n, n), a, 20.0 * n as f64, "cholesky");
            }
        }
    }
    let mut indefinite = identity::<T>(3);
    indefinite[4] = -T::one();
    let mut undefined = identity::<T>(3);
    undefined[8] = T::real(num_traits::Float::nan());
    let out = run(potrf().arg(array(&[2, 3, 3], &[indefinite, undefined].concat())).attr("uplo", b'L'));
    assert_eq!(result::<i32>(&out, 1), [2, 3]);
}

#[test]
fn cholesky_of_every_type() {
    check_cholesky::<f32>(call::<spotrf>);
    check_cholesky::<f64>(call::<dpotrf>);
    check_cholesky::<C64>(call::<cpotrf>);
    check_cholesky::<C128>(call::<zpotrf>);
    let error = call::<spotrf>().arg(array(&[1, 1], &[1f32])).attr("uplo", b'X').run().unwrap_err();
    assert!(error.message().contains("attribute `uplo`: expected one of `L`, `U`, got `X`"), "{error}");
}

#[test]
fn exchanges_of_rows_are_a_permutation() {
    let permutation = |shape: &[usize], pivots: &[i32], result: &[i64]| {
        let pivots = ArrayD::from_shape_vec(IxDyn(shape), pivots.to_vec()).unwrap();
        call::<pivots_to_permutation>().arg(pivots).ret_of::<i32>(result).run()
    };
    let out = permutation(&[2, 2], &[2, 2, 0, 1], &[2, 4]).unwrap();
    assert_eq!(result::<i32>(&out, 0), [2, 0, 1, 3, 0, 1, 2, 3]);
    for pivots in [[0, 4], [-1, 1]] {
        let error = permutation(&[2], &pivots, &[4]).unwrap_err();
        assert!(error.message().contains("`pivots`: row"), "{error}");
    }
    assert!(permutation(&[2], &[0, 1], &[1]).is_err());
}

fn check_lu<T: Number>(getrf: fn() -> Call) {
    // A column of zeros has no pivot: nothing is divided by it.
    let regular = [(1, 1), (4, 4), (7, 3), (3, 7), (16, 16), (17, 16), (16, 17), (40, 40), (35, 20)];
    let regular = regular.map(|shape| (shape, None));
    let singular = [((4, 4), Some(1)), ((7, 3), Some(0)), ((5, 5), Some(4)), ((40, 40), Some(17))];
    for ((m, n), zero) in regular.into_iter().chain(singular) {
        let k = m.min(n);
        let mut a = numbers::<T>(m * n, (m + n) as u64);
        if let Some(zero) = zero {
            a[zero * m..][..m].fill(T::zero());
        }
        let out = run(getrf()
            .arg(array(&[1, m, n], &a))
            .ret_of::<T>(&[1, m as i64, n as i64])
            .ret_of::<i32>(&[1, k as i64])
            .ret_of::<i32>(&[1]));
        let lu = result::<T>(&out, 0);
        assert_eq!(result::<i32>(&out, 2), [zero.map_or(0, |zero| zero as i32 + 1)]);
        let l: Vec<T> = (0..k)
            .flat_map(|j| (0..m).map(move |i| (i, j)))
            .map(|(i, j)| {
                if i == j {
                    T::one()
                } else if i > j {
                    lu[j * m + i]
                } else {
                    T::zero()
                }
            })
            .collect();
        let u: Vec<T> = (0..n)
            .flat_map(|j| (0..k).map(move |i| (i, j)))
            .map(|(i, j)| if i <= j { lu[j * m + i] } else { T::zero() })
            .collect();
        let mut exchanged = a.clone();
        for (row, &pivot) in result::<i32>(&out, 1).iter().enumerate() {
            exchanged.chunks_mut(m).for_each(|column| column.swap(row, pivot as usize - 1));
        }
        assert_near(&product(&l, &u, m, k), &exchanged, 10.0 * m as f64, "lu");
        // As LAPACK does, pivots may be chosen by the sum of both parts.
        assert!(l.iter().all(|x| x.modulus() <= Real::of(1.4143)), "the largest element is the pivot");
    }
    // The second column is a multiple of the first.
    let singular = [1.0, 2.0, 2.0, 4.0].map(|x| T::real(Real::of(x)));
    let out = run(getrf().arg(array(&[2, 2], &singular)).ret_of::<T>(&[2, 2]).ret_of::<i32>(&[2]).ret_of::<i32>(&[]));
    assert_eq!(result::<i32>(&out, 2), [2]);
}

#[test]
fn lu_of_every_type() {
    check_lu::<f32>(call::<sgetrf>);
    check_lu::<f64>(call::<dgetrf>);
    check_lu::<C64>(call::<cgetrf>);
    check_lu::<C128>(call::<zgetrf>);
}

/// `geqrf`, `geqp3`, `orgqr` and `ormqr` of a type.
type QrCalls = [fn() -> Call; 4];

fn check_qr<T: Number>([geqrf, geqp3, orgqr, ormqr]: QrCalls) {
    for (m, n) in [(1, 1), (5, 3), (3, 5), (36, 20), (20, 36), (70, 68)] {
        let k = m.min(n);
        let slack = 20.0 * (m + n) as f64;
        let a = numbers::<T>(m * n, (3 * m + n) as u64);
        let shape = [1, m as i64, n as i64];
        let out = run(geqrf().arg(array(&[1, m, n], &a)).ret_of::<T>(&shape).ret_of::<T>(&[1, k as i64]));
        let (packed, taus) = (result::<T>(&out, 0), result::<T>(&out, 1));
        let r: Vec<T> =
            packed.chunks(m).enumerate().flat_map(|(j, column)| part(&column[..k], k, |i, _| i <= j)).collect();
        // LAPACK makes the diagonal of R real.
        assert!((0..k).all(|i| r[i * k + i].im() == num_traits::Zero::zero()));

        let first = packed[..m * k].to_vec();
        let q = result::<T>(&run(orgqr().arg(array(&[1, m, k], &first)).arg(array(&[1, k], &taus))), 0);
        assert_orthonormal(&q, m, slack, "q");
        assert_near(&product(&q, &r, m, k), &a, slack, "qr");

        // Products with Q are those with the matrix that `orgqr` makes of all its columns.
        let mut wide = first.clone();
        wide.resize(m * m, T::zero());
        let q = result::<T>(&run(orgqr().arg(array(&[1, m, m], &wide)).arg(array(&[1, k], &taus))), 0);
        assert_orthonormal(&q, m, slack, "all of q");
        for (left, transpose) in [(true, false), (true, true), (false, false), (false, true)] {
            let factor = if transpose { adjoint(&q, m) } else { q.clone() };
            let c = numbers::<T>(m * 4, 9);
            let (dims, expected) =
                if left { ([1, m, 4], product(&factor, &c, m, m)) } else { ([1, 4, m], product(&c, &factor, 4, m)) };
            let call = ormqr().arg(array(&[1, m, k], &first)).arg(array(&[1, k], &taus)).arg(array(&dims, &c));
            let out = run(call.attr("left", left).attr("transpose", transpose));
            assert_near(&result::<T>(&out, 0), &expected, slack, "product with q");
        }

        let pivots = vec![0i32; n];
        let call =
            geqp3().arg(array(&[1, m, n], &a)).arg(oxcall::ndarray::Array2::from_shape_vec((1, n), pivots).unwrap());
        let out = run(call.ret_of::<T>(&shape).ret_of::<i32>(&[1, n as i64]).ret_of::<T>(&[1, k as i64]));
        let (packed, pivots, taus) = (result::<T>(&out, 0), result::<i32>(&out, 1), result::<T>(&out, 2));
        let r: Vec<T> =
            packed.chunks(m).enumerate().flat_map(|(j, column)| part(&column[..k], k, |i, _| i <= j)).collect();
        let q = result::<T>(&run(orgqr().arg(array(&[1, m, k], &packed[..m * k])).arg(array(&[1, k], &taus))), 0);
        let ordered: Vec<T> = pivots.iter().flat_map(|&j| &a[(j as usize - 1) * m..][..m]).copied().collect();
        assert_near(&product(&q, &r, m, k), &ordered, slack, "pivoted qr");
        let diagonal: Vec<T::Part> = (0..k).map(|i| r[i * k + i].modulus()).collect();
        assert!(diagonal.windows(2).all(|pair| pair[1] <= pair[0] * <T::Part as Real>::of(1.001)), "{diagonal:?}");
    }
}

#[test]
fn qr_of_every_type() {
    check_qr::<f32>([call::<sgeqrf>, call::<sgeqp3>, call::<sorgqr>, call::<sormqr>]);
    check_qr::<f64>([call::<dgeqrf>, call::<dgeqp3>, call::<dorgqr>, call::<dormqr>]);
    check_qr::<C64>([call::<cgeqrf>, call::<cgeqp3>, call::<cungqr>, call::<cunmqr>]);
    check_qr::<C128>([call::<zgeqrf>, call::<zgeqp3>, call::<zungqr>, call::<zunmqr>]);
}

#[test]
fn columns_that_are_asked_for_come_first() {
    let a = [1f64, 0.0, 0.0, 9.0, 5.0, 5.0];
    let pivots = oxcall::ndarray::array![0i32, 0, 1];
    let call = call::<dgeqp3>().arg(array(&[2, 3], &a)).arg(pivots);
    let out = run(call.ret_of::<f64>(&[2, 3]).ret_of::<i32>(&[3]).ret_of::<f64>(&[2]));
    assert_eq!(result::<i32>(&out, 1)[0], 3);
}
