//! Many small matrices at once: each lane of a vector has an element of another matrix, so that no loop is short and no
//! lane waits for another.
//!
//! Loops over lanes, and nothing else, become vectors. `black_box` hides the row of a loop where LLVM would otherwise
//! gather elements of several rows, and scatter results. Matrices lie one after another. Where there are fewer than
//! lanes, the last one is computed several times.

#![allow(clippy::needless_range_loop, reason = "several arrays have the same lanes")]

use std::hint::black_box;

use oxcall_math::level::vectorised;

use super::triangular::Triangle;
use crate::scalar::Real;

/// The number of matrices that are computed at once.
pub const LANES: usize = 16;

/// The most rows and columns: more do not fit a cache near the processor.
const MOST: usize = 32;

/// The fewest matrices.
const FEWEST: usize = 4;

/// An element of each matrix.
type Lanes<T> = [T; LANES];

/// Whether `count` matrices of this shape are computed faster so: the processor has products that are rounded once with
/// the sum, in vectors.
pub fn fits([rows, cols]: [usize; 2], count: usize) -> bool {
    rows.max(cols) <= MOST && rows.min(cols) > 0 && count >= FEWEST && has_fused()
}

/// Whether vectors have products that are rounded once with the sum.
fn has_fused() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    cfg!(target_arch = "aarch64")
}

/// The places of elements in a matrix: the distances of neighbours in a column and in a row.
#[derive(Debug, Clone, Copy)]
pub struct Strides {
    row: usize,
    col: usize,
}

impl Strides {
    /// Those of a column-major matrix.
    pub fn column_major(rows: usize) -> Strides {
        Strides { row: 1, col: rows }
    }

    /// Those of a row-major matrix.
    pub fn row_major(cols: usize) -> Strides {
        Strides { row: cols, col: 1 }
    }

    /// Those of the transposed matrix.
    pub fn transposed(self) -> Strides {
        Strides { row: self.col, col: self.row }
    }

    #[inline(always)]
    fn at(self, row: usize, col: usize) -> usize {
        row * self.row + col * self.col
    }
}

/// The elements of up to [`LANES`] matrices of `len` elements, side by side.
#[inline(always)]
fn load<T: Real>(matrices: &[T], len: usize) -> Vec<Lanes<T>> {
    let last = matrices.len() / len - 1;
    let mut lanes = vec![[T::zero(); LANES]; len];
    for lane in 0..LANES {
        let matrix = &matrices[lane.min(last) * len..][..len];
        lanes.iter_mut().zip(matrix).for_each(|(lanes, &x)| lanes[lane] = x);
    }
    lanes
}

/// Writes the elements back.
#[inline(always)]
fn store<T: Real>(lanes: &[Lanes<T>], matrices: &mut [T]) {
    for (lane, matrix) in matrices.chunks_exact_mut(lanes.len()).enumerate() {
        matrix.iter_mut().zip(lanes).for_each(|(x, lanes)| *x = lanes[lane]);
    }
}

/// `sum - a * b`, rounded once.
#[inline(always)]
fn less_product<T: Real>(mut sum: Lanes<T>, a: &Lanes<T>, b: &Lanes<T>) -> Lanes<T> {
    for lane in 0..LANES {
        sum[lane] = (-a[lane]).mul_add(b[lane], sum[lane]);
    }
    sum
}

#[inline(always)]
fn quotient<T: Real>(mut a: Lanes<T>, b: &Lanes<T>) -> Lanes<T> {
    for lane in 0..LANES {
        a[lane] /= b[lane];
    }
    a
}

/// `yes` where `of` is zero, otherwise `no`.
#[inline(always)]
fn if_zero<T: Real>(of: &Lanes<T>, yes: &Lanes<T>, mut no: Lanes<T>) -> Lanes<T> {
    for lane in 0..LANES {
        no[lane] = if of[lane] == T::zero() { yes[lane] } else { no[lane] };
    }
    no
}

vectorised! {
/// Cholesky factors of up to [`LANES`] hermitian matrices of `n` rows, in place of their lower triangles by `strides`;
/// what is above stays. `minors` are the orders (from 1) of the first leading minors that are not positive definite, or
/// 0.
pub fn cholesky<T: Real>(a: &mut [T], n: usize, strides: Strides, minors: &mut [i32]) {
    let (mut lanes, mut failed) = (load(a, n * n), [0; LANES]);
    for j in 0..n {
        for i in j..n {
            let mut sum = lanes[strides.at(i, j)];
            for k in 0..j {
                sum = less_product(sum, &lanes[strides.at(i, k)], &lanes[strides.at(j, k)]);
            }
            lanes[strides.at(i, j)] = if i > j {
                quotient(sum, &lanes[strides.at(j, j)])
            } else {
                for lane in 0..LANES {
                    let is_root = sum[lane] > T::zero() && sum[lane] < T::infinity();
                    failed[lane] = if failed[lane] == 0 && !is_root { j as i32 + 1 } else { failed[lane] };
                    sum[lane] = sum[lane].sqrt();
                }
                sum
            };
        }
    }
    store(&lanes, a);
    minors.copy_from_slice(&failed[..minors.len()]);
}
}

vectorised! {
/// LU factorizations with partial pivoting of up to [`LANES`] column-major matrices, as by [`lu`](super::factor::lu):
/// row `k` was exchanged with row `pivots[k]` (from 1). `zeros` are the places (from 1) of the first zeros on the
/// diagonals of `U`, or 0.
pub fn lu<T: Real>(a: &mut [T], [rows, cols]: [usize; 2], pivots: &mut [i32], zeros: &mut [i32]) {
    let steps = rows.min(cols);
    let (mut lanes, mut found) = (load(a, rows * cols), [0; LANES]);
    let nothing = [T::zero(); LANES];
    let mut factors = [nothing; MOST];
    for k in 0..steps {
        let chosen = exchange(&mut lanes, rows, k);
        for (pivots, chosen) in pivots.chunks_exact_mut(steps).zip(chosen) {
            pivots[k] = chosen + 1;
        }
        let diagonal = lanes[k * rows + k];
        for lane in 0..LANES {
            let is_first = found[lane] == 0 && diagonal[lane] == T::zero();
            found[lane] = if is_first { k as i32 + 1 } else { found[lane] };
        }
        // Nothing is eliminated below a zero: what is subtracted there is the product of zeros.
        for i in (k + 1..rows).map(black_box) {
            let x = lanes[k * rows + i];
            let factor = quotient(x, &diagonal);
            lanes[k * rows + i] = if_zero(&diagonal, &x, factor);
            factors[i] = if_zero(&diagonal, &nothing, factor);
        }
        for column in lanes[(k + 1) * rows..].chunks_exact_mut(rows) {
            let pivot = if_zero(&diagonal, &nothing, column[k]);
            for i in (k + 1..rows).map(black_box) {
                column[i] = less_product(column[i], &factors[i], &pivot);
            }
        }
    }
    store(&lanes, a);
    zeros.copy_from_slice(&found[..zeros.len()]);
}
}

/// Exchanges row `k` of each column-major matrix with the one from there on whose element of column `k` is the largest,
/// and gives the number of that row.
#[inline(always)]
fn exchange<T: Real>(lanes: &mut [Lanes<T>], rows: usize, k: usize) -> [i32; LANES] {
    // NaN is greater than nothing, so another element is the pivot.
    let (mut chosen, mut largest) = ([k as i32; LANES], [T::zero(); LANES]);
    for i in k..rows {
        let column = &lanes[k * rows + i];
        for lane in 0..LANES {
            let size = column[lane].abs();
            let is_larger = size > largest[lane];
            chosen[lane] = if is_larger { i as i32 } else { chosen[lane] };
            largest[lane] = if is_larger { size } else { largest[lane] };
        }
    }
    if chosen == [k as i32; LANES] {
        return chosen;
    }
    // One element at a time: most lanes choose different rows, and vectors would need a pass for each row.
    for column in lanes.chunks_exact_mut(rows) {
        let above = column[k];
        let mut pivots = above;
        for lane in 0..LANES {
            pivots[lane] = column[chosen[lane] as usize][lane];
        }
        for lane in 0..LANES {
            column[chosen[lane] as usize][lane] = above[lane];
        }
        column[k] = pivots;
    }
    chosen
}

vectorised! {
/// Solves `a x = b` for up to [`LANES`] triangular matrices of `n` rows, each with `cols` columns of `b`, which become
/// `x`. For `x a = b` transpose both.
pub fn solve<T: Real>(
    (a, a_strides): (&[T], Strides),
    triangle: Triangle,
    (b, b_strides): (&mut [T], Strides),
    [n, cols]: [usize; 2],
) {
    let (a, mut x) = (load(a, n * n), load(b, n * cols));
    for step in 0..n {
        let i = if triangle.lower { step } else { n - 1 - step };
        let known = if triangle.lower { 0..i } else { i + 1..n };
        for col in 0..cols {
            let mut sum = x[b_strides.at(i, col)];
            for j in known.clone() {
                sum = less_product(sum, &a[a_strides.at(i, j)], &x[b_strides.at(j, col)]);
            }
            let is_unit = triangle.unit;
            x[b_strides.at(i, col)] = if is_unit { sum } else { quotient(sum, &a[a_strides.at(i, i)]) };
        }
    }
    store(&x, b);
}
}

#[cfg(test)]
mod tests {
    use faer::{MatMut, MatRef, Par};

    use super::*;
    use crate::dense::{factor, small, triangular};
    use crate::matrix::Matrix;

    /// Numbers between -1 and 1, of which many are equal, and some zero.
    fn numbers<T: Real>(count: usize, seed: &mut u64) -> Vec<T> {
        let mut next = || {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            T::of(((*seed >> 40) as f64 / f64::from(1 << 23) - 1.0) * 8.0).round() / T::of(8.0)
        };
        (0..count).map(|_| next()).collect()
    }

    fn assert_near<T: Real>(actual: &[T], expected: &[T], scale: f64, name: &str) {
        let slack = T::epsilon() * T::of(scale);
        for (x, y) in actual.iter().zip(expected) {
            let is_near = (*x - *y).abs() <= slack * T::of(1.0).max(y.abs()) || x.is_nan() && y.is_nan();
            assert!(is_near, "{name}: got {x:?}, expected {y:?}");
        }
    }

    fn check_cholesky<T: Real>() {
        let mut seed = 1;
        for n in [1, 2, 5, 8, 32] {
            for count in [1, 7, LANES] {
                for lower in [false, true] {
                    let mut a = numbers::<T>(count * n * n, &mut seed);
                    for (index, a) in a.chunks_exact_mut(n * n).enumerate() {
                        // Some are not positive definite, and one has NaN.
                        (0..n)
                            .for_each(|i| a[i * n + i] = T::of(if index % 5 == 3 && i == n / 2 { -1.0 } else { 64.0 }));
                        if index == 6 {
                            a[n * n - 1] = T::nan();
                        }
                    }
                    let (mut expected, mut minors) = (a.clone(), vec![9; count]);
                    let strides = if lower { Strides::column_major(n) } else { Strides::row_major(n) };
                    cholesky(&mut a, n, strides, &mut minors);
                    for (index, (a, expected)) in a.chunks(n * n).zip(expected.chunks_mut(n * n)).enumerate() {
                        let one = factor::cholesky(&mut Matrix::new(expected, n, n), lower, Par::Seq);
                        assert_eq!(minors[index], one.err().map_or(0, |minor| minor as i32), "{n} {index} {lower}");
                        if one.is_ok() {
                            assert_near(a, expected, 40.0, &format!("{n} {index} {lower}"));
                        }
                    }
                }
            }
        }
    }

    fn check_lu<T: Real>() {
        let mut seed = 2;
        for [rows, cols] in [[1, 1], [3, 5], [8, 8], [9, 4], [32, 31]] {
            for count in [1, 6, LANES] {
                let (len, steps) = (rows * cols, rows.min(cols));
                let mut a = numbers::<T>(count * len, &mut seed);
                // Multiples of powers of two, so that both ways round the same for a few steps; a column of zeros and
                // a NaN.
                if count > 2 {
                    a[len..][(steps / 2) * rows..][..rows].fill(T::zero());
                    a[2 * len + rows / 2] = T::nan();
                }
                let (mut expected, mut pivots, mut zeros) = (a.clone(), vec![9; count * steps], vec![9; count]);
                lu(&mut a, [rows, cols], &mut pivots, &mut zeros);
                for index in 0..count {
                    let (a, expected) = (&a[index * len..][..len], &mut expected[index * len..][..len]);
                    let mut own = vec![0; steps];
                    let zero = small::lu(&mut Matrix::new(expected, rows, cols), &mut own);
                    let name = format!("{rows} x {cols}, {index}");
                    let pivots = &pivots[index * steps..][..steps];
                    // Later pivots may be chosen between numbers that differ by rounding.
                    if steps <= 9 && index != 2 {
                        assert_eq!((pivots, zeros[index]), (&own[..], zero), "{name}");
                        assert_near(a, expected, 4000.0, &name);
                    }
                    assert!((0..steps).all(|k| (k as i32 + 1..=rows as i32).contains(&pivots[k])), "{name}");
                }
            }
        }
    }

    fn check_solve<T: Real>() {
        let mut seed = 3;
        for (round, [n, cols]) in [[1, 1], [5, 3], [8, 1], [32, 2]].into_iter().cycle().take(64).enumerate() {
            let (lower, unit) = (round % 2 == 0, round % 8 < 4);
            let (count, transposed) = (1 + round % LANES, round % 3 == 0);
            let (mut a, mut b) = (numbers::<T>(count * n * n, &mut seed), numbers::<T>(count * n * cols, &mut seed));
            for a in a.chunks_exact_mut(n * n) {
                a.iter_mut().for_each(|x| *x /= T::of(n as f64));
                (0..n).for_each(|i| a[i * n + i] = T::of(2.0));
            }
            let mut expected = b.clone();
            let strides = Strides::column_major(n);
            let a_strides = if transposed { strides.transposed() } else { strides };
            let triangle = Triangle { lower, unit };
            solve((&a, a_strides), triangle, (&mut b, strides), [n, cols]);
            for (index, expected) in expected.chunks_exact_mut(n * cols).enumerate() {
                let a = MatRef::from_column_major_slice(&a[index * n * n..][..n * n], n, n);
                let a = if transposed { a.transpose() } else { a };
                let x = MatMut::from_column_major_slice_mut(expected, n, cols);
                triangular::solve_in_place(a, triangle, false, x, Par::Seq);
                assert_near(&b[index * n * cols..][..n * cols], expected, 200.0, &format!("{n} {cols} {round}"));
            }
        }
    }

    #[test]
    fn lanes_compute_what_matrices_do_alone() {
        check_cholesky::<f32>();
        check_cholesky::<f64>();
        check_lu::<f32>();
        check_lu::<f64>();
        check_solve::<f32>();
        check_solve::<f64>();
    }
}
