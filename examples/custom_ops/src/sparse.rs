//! Linear algebra that JAX lacks on the CPU, or has only in a general form.
//!
//! Indices come from the caller, so they are checked before they are used: a wrong one is an error that says where it
//! is, never an access outside a buffer.

use oxcall::prelude::*;

/// A sparse matrix times a dense one: `y = A x`.
///
/// `A` has compressed sparse rows: row `r` holds `values[start[r]..start[r + 1]]` in the columns
/// `columns[start[r]..start[r + 1]]`. Entries of the same place are added.
///
/// # Errors
/// `INVALID_ARGUMENT` if `start` does not rise from 0 to the number of values, or a column is out of range.
#[custom_call(T = [f32, f64, complex])]
pub fn csr_matmul<T: Number>(
    #[dims(nnz)] values: &[T],
    #[dims(nnz)] columns: &[i32],
    #[dims(ends)] start: &[i32],
    #[dims(n, m)] x: Array<T, Rank<2>>,
    #[dims(ends - 1, m)] mut y: Out<T, Rank<2>>,
    pool: ThreadPool,
) -> Result<()> {
    let [n, m] = x.shape();
    check_rows(start, values.len())?;
    if let Some(i) = columns.iter().position(|&column| column < 0 || column as usize >= n) {
        let column = columns[i];
        return Err(Error::invalid_argument(format!("`columns[{i}]` is {column}, but `x` has {n} rows")));
    }
    let work = values.len() * m / (start.len() - 1).max(1);
    pool.for_each_chunk(&mut y, m, crate::grain(work), |row, y| {
        y.fill(T::default());
        let entries = start[row] as usize..start[row + 1] as usize;
        for (&value, &column) in values[entries.clone()].iter().zip(&columns[entries]) {
            let x = &x[column as usize * m..][..m];
            for (y, x) in y.iter_mut().zip(x) {
                *y += value * *x;
            }
        }
    });
    Ok(())
}

fn check_rows(start: &[i32], nnz: usize) -> Result<()> {
    if let Some(r) = start.windows(2).position(|pair| pair[0] > pair[1]) {
        return Err(Error::invalid_argument(format!(
            "`start` falls from {} to {} at row {r}, expected it to rise",
            start[r],
            start[r + 1]
        )));
    }
    match (start.first(), start.last()) {
        (Some(0), Some(&last)) if last as usize == nnz => Ok(()),
        (first, last) => Err(Error::invalid_argument(format!(
            "`start` goes from {} to {}, expected from 0 to the number of values, {nnz}",
            first.copied().unwrap_or_default(),
            last.copied().unwrap_or_default()
        ))),
    }
}

/// Solves `A x = b` for tridiagonal `A`: for each `i`, `lower[i] x[i-1] + diag[i] x[i] + upper[i] x[i+1] = b[i]`.
/// `lower[0]` and `upper[n-1]` are not used. Leading dimensions are a batch; `b` has one column for each system.
///
/// The Thomas algorithm (S. D. Conte and C. de Boor, "Elementary Numerical Analysis", section 4.3): no pivoting, so
/// stable where `A` is diagonally dominant or symmetric positive definite.
///
/// # Errors
/// `FAILED_PRECONDITION` with the row where a pivot is zero.
#[custom_call(T = [f32, f64], vmap = "broadcast_all")]
pub fn tridiagonal_solve<T: Float>(
    #[dims(..batch, n)] lower: Array<T>,
    #[dims(..batch, n)] diag: Array<T>,
    #[dims(..batch, n)] upper: Array<T>,
    #[dims(..batch, n, m)] b: Array<T>,
    #[dims(..batch, n, m)] mut x: Out<T>,
) -> Result<()> {
    let &[.., n, m] = b.shape() else { return Err(Error::internal("`b` has at least two dimensions")) };
    if n == 0 || m == 0 {
        return Ok(());
    }
    x.copy_from_slice(&b);
    // What elimination leaves above a diagonal of ones.
    let mut above = vec![T::default(); n];
    let systems = lower.rows().zip(diag.rows()).zip(upper.rows()).zip(x.chunks_exact_mut(n * m));
    for (((lower, diag), upper), x) in systems {
        for i in 0..n {
            let (solved, current) = x.split_at_mut(i * m);
            let current = &mut current[..m];
            let mut pivot = diag[i];
            if i > 0 {
                pivot -= lower[i] * above[i - 1];
                for (x, before) in current.iter_mut().zip(&solved[(i - 1) * m..]) {
                    *x -= lower[i] * *before;
                }
            }
            if pivot == T::default() {
                return Err(Error::failed_precondition(format!("the pivot of row {i} is zero")));
            }
            above[i] = upper[i] / pivot;
            current.iter_mut().for_each(|x| *x /= pivot);
        }
        for i in (0..n - 1).rev() {
            let (current, solved) = x[i * m..].split_at_mut(m);
            for (x, after) in current.iter_mut().zip(solved) {
                *x -= above[i] * *after;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use oxcall::ndarray::{Array2, Array3, array};
    use oxcall::testing::{Call, call};

    use crate::testing::{assert_close, numbers};

    use super::*;

    fn multiply(start: &[i32], columns: &[i32]) -> Call {
        let values: Vec<f64> = (0..columns.len()).map(|i| i as f64 + 1.0).collect();
        call::<csr_matmul>().arg(values).arg(columns).arg(start).arg(array![[1f64, -1.0], [2.0, -2.0], [4.0, 0.5]])
    }

    #[test]
    fn sparse_products() {
        // [[1, 0, 2], [0, 0, 0], [0, 3 + 4, 0]]: the last row has two entries in one place.
        let y = multiply(&[0, 2, 2, 4], &[0, 2, 1, 1]).run().unwrap();
        assert_eq!(y.get::<f64>(0), array![[9.0, 0.0], [0.0, 0.0], [14.0, -14.0]].into_dyn());
        assert_eq!(multiply(&[0], &[]).run().unwrap().get::<f64>(0).shape(), [0, 2]);
    }

    #[test]
    fn large_sparse_products_use_threads() {
        let (rows, per_row, n, m) = (500, 7, 60, 16);
        let x: Vec<f64> = numbers(n * m);
        let values: Vec<f64> = numbers(rows * per_row);
        let column = |i: usize| (i * 31 + i / 7) % n;
        let start: Vec<i32> = (0..=rows).map(|r| (r * per_row) as i32).collect();
        let columns: Vec<i32> = (0..rows * per_row).map(|i| column(i) as i32).collect();
        let y = call::<csr_matmul>().arg(values.as_slice()).arg(columns).arg(start);
        let y = y.arg(Array2::from_shape_vec((n, m), x.clone()).unwrap()).run().unwrap().get::<f64>(0);
        let expected: Vec<f64> = (0..rows * m)
            .map(|e| (0..per_row).map(|p| e / m * per_row + p).map(|i| values[i] * x[column(i) * m + e % m]).sum())
            .collect();
        assert_close(y.as_slice().unwrap(), &expected, 1e-13);
    }

    #[test]
    fn wrong_indices_are_found() {
        let message = |call: Call| call.run().unwrap_err().message().to_owned();
        assert!(message(multiply(&[0, 1], &[3])).contains("`columns[0]` is 3, but `x` has 3 rows"));
        assert!(message(multiply(&[0, 1], &[-1])).contains("`columns[0]` is -1"));
        assert!(message(multiply(&[0, 2, 1], &[0])).contains("`start` falls from 2 to 1 at row 1"));
        assert!(message(multiply(&[0, 5], &[0])).contains("`start` goes from 0 to 5"));
        assert!(message(multiply(&[1, 1], &[0])).contains("`start` goes from 1 to 1"));
        let none = multiply(&[], &[]).ret_of::<f64>(&[0, 2]);
        assert_eq!(none.run().unwrap_err().code(), Code::InvalidArgument);
    }

    #[test]
    fn tridiagonal_systems() {
        let (batch, n, m) = (3, 20, 2);
        let lower = Array2::from_shape_vec((batch, n), numbers::<f64>(batch * n)).unwrap();
        let upper = lower.mapv(|x| 1.0 - x);
        let diag = lower.mapv(|x| 6.0 + x);
        let x = Array3::from_shape_vec((batch, n, m), numbers::<f64>(batch * n * m)).unwrap();
        let b = Array3::from_shape_fn((batch, n, m), |(s, i, c)| {
            let below = if i > 0 { lower[[s, i]] * x[[s, i - 1, c]] } else { 0.0 };
            let above = if i + 1 < n { upper[[s, i]] * x[[s, i + 1, c]] } else { 0.0 };
            below + diag[[s, i]] * x[[s, i, c]] + above
        });
        let solved = call::<tridiagonal_solve>().arg(&lower).arg(&diag).arg(&upper).arg(&b).run().unwrap();
        assert_close(solved.get::<f64>(0).as_slice().unwrap(), x.as_slice().unwrap(), 1e-13);
    }

    #[test]
    fn a_zero_pivot_is_reported() {
        let zero = array![1f32, 0.0];
        let run = call::<tridiagonal_solve>().arg(array![0f32, 0.0]).arg(&zero).arg(&zero).arg(array![[1f32], [1.0]]);
        let error = run.run().unwrap_err();
        assert_eq!(error.code(), Code::FailedPrecondition);
        assert_eq!(error.message(), "tridiagonal_solve: the pivot of row 1 is zero");
    }
}
