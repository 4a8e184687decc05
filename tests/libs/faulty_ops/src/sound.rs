//! Operations without a fault that are hard to check: kinks, domains, and integers.

use oxcall::prelude::*;

use crate::{map, zip};

/// `max(x, 0)`, whose derivative at 0 is said to be 0.
#[custom_call(vjp = ramp_vjp, batch = s)]
fn ramp(#[dims(..s)] x: Array<f64>, #[dims(..s)] mut y: Out<f64>) {
    map(&x, &mut y, |x| x.max(0.0));
}

#[custom_call(batch = s)]
fn ramp_vjp(#[dims(..s)] x: Array<f64>, #[dims(..s)] dy: Array<f64>, #[dims(..s)] mut dx: Out<f64>) {
    zip(&x, &dy, &mut dx, |x, dy| if x > 0.0 { dy } else { 0.0 });
}

/// `ln x` of positive numbers.
///
/// # Errors
/// `INVALID_ARGUMENT` if an element is not positive.
#[custom_call(vjp = logarithm_vjp, batch = s)]
fn logarithm(#[dims(..s)] x: Array<f64>, #[dims(..s)] mut y: Out<f64>) -> Result<()> {
    if x.iter().any(|&x| x <= 0.0) {
        return Err(Error::invalid_argument("an element is not positive"));
    }
    map(&x, &mut y, f64::ln);
    Ok(())
}

#[custom_call(batch = s)]
fn logarithm_vjp(#[dims(..s)] x: Array<f64>, #[dims(..s)] dy: Array<f64>, #[dims(..s)] mut dx: Out<f64>) {
    zip(&x, &dy, &mut dx, |x, dy| dy / x);
}

/// The rows of a table at indices.
///
/// # Errors
/// `OUT_OF_RANGE` if the table has no such row.
#[custom_call(vjp = rows_at_vjp)]
fn rows_at(
    #[dims(m)] indices: Array<i32>,
    #[dims(rows, n)] table: Array<f64>,
    #[dims(m, n)] mut y: Out<f64>,
) -> Result<()> {
    let rows: Vec<_> = table.rows().collect();
    for (y, &index) in y.rows_mut().zip(indices.iter()) {
        let row = usize::try_from(index).ok().and_then(|index| rows.get(index));
        y.copy_from_slice(row.ok_or_else(|| Error::out_of_range(format!("there is no row {index}")))?);
    }
    Ok(())
}

#[custom_call]
fn rows_at_vjp(
    #[dims(m)] indices: Array<i32>,
    #[dims(rows, n)] table: Array<f64>,
    #[dims(m, n)] dy: Array<f64>,
    #[dims(rows, n)] mut dtable: Out<f64>,
) {
    let _ = table;
    dtable.fill(0.0);
    let mut rows: Vec<_> = dtable.rows_mut().collect();
    for (dy, &index) in dy.rows().zip(indices.iter()) {
        rows[index as usize].iter_mut().zip(dy).for_each(|(sum, dy)| *sum += dy);
    }
}
