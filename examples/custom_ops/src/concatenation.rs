//! Any number of arguments, and a function for the shape of the result.

use oxcall::prelude::*;
use oxcall::shape::ShapeContext;

/// Arrays joined along `axis`; a negative axis counts from the last one.
///
/// The result's shape is no pattern of names, so `shape` gives a function for it. JAX asks it when the call is traced;
/// the operation checks the result that it is given by the same rule.
///
/// # Errors
/// `INVALID_ARGUMENT` if there are no arrays, `axis` is out of range, or the arrays differ in rank or in a dimension
/// other than `axis`.
#[custom_call(T = numbers, shape = concatenated_shape)]
pub fn concatenate<T: Number>(#[attr(default = 0)] axis: i64, xs: Variadic<Array<T>>, mut y: Out<T>) -> Result<()> {
    let shapes: Vec<&[usize]> = xs.iter().map(|x| x.shape()).collect();
    let (axis, joined) = join(&shapes, axis)?;
    if y.shape() != joined {
        let given = y.shape();
        return Err(Error::invalid_argument(format!(
            "result `y` has shape {given:?}, but the arguments give {joined:?}"
        )));
    }
    // Before `axis` the arrays alternate; from it on, each is one block of memory.
    let mut blocks: Vec<_> = xs
        .iter()
        .map(|x| {
            let size = x.shape()[axis..].iter().product::<usize>();
            (size, x.as_slice())
        })
        .collect();
    let mut rest: &mut [T] = &mut y;
    for _ in 0..joined[..axis].iter().product::<usize>() {
        for (size, x) in &mut blocks {
            let (from, x_rest) = x.split_at(*size);
            let (to, y_rest) = std::mem::take(&mut rest).split_at_mut(*size);
            to.copy_from_slice(from);
            (*x, rest) = (x_rest, y_rest);
        }
    }
    Ok(())
}

/// The shape rule of [`concatenate`](fn@concatenate).
fn concatenated_shape(call: &ShapeContext<'_>) -> Result<Vec<Vec<i64>>> {
    let shapes: Vec<Vec<usize>> =
        call.variadic("xs")?.iter().map(|x| x.dims.iter().map(|&dim| dim as usize).collect()).collect();
    let shapes: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
    let (_, joined) = join(&shapes, call.attr("axis")?)?;
    Ok(vec![joined.iter().map(|&dim| dim as i64).collect()])
}

/// The axis, counted from the first one, and the shape of the joined array.
fn join(shapes: &[&[usize]], axis: i64) -> Result<(usize, Vec<usize>)> {
    let Some(first) = shapes.first() else {
        return Err(Error::invalid_argument("expected at least one array `xs[0]`, got none"));
    };
    let rank = first.len();
    let from_first = if axis < 0 { axis + rank as i64 } else { axis };
    let Some(axis) = usize::try_from(from_first).ok().filter(|&axis| axis < rank) else {
        return Err(Error::invalid_argument(format!("attribute `axis` is {axis}, but the arrays have rank {rank}")));
    };
    let mut joined = first.to_vec();
    for (i, shape) in shapes.iter().enumerate().skip(1) {
        let fits = shape.len() == rank && (0..rank).all(|d| d == axis || shape[d] == first[d]);
        if !fits {
            return Err(Error::invalid_argument(format!(
                "argument `xs[{i}]` has shape {shape:?}, expected that of `xs[0]`, {first:?}, except along axis {axis}"
            )));
        }
        joined[axis] += shape[axis];
    }
    Ok((axis, joined))
}

#[cfg(test)]
mod tests {
    use oxcall::ndarray::{ArrayD, ArrayView, Axis, IxDyn, concatenate as nd_concatenate};
    use oxcall::testing::call;

    use super::*;

    fn iota(shape: &[usize], start: i32) -> ArrayD<i32> {
        let count: usize = shape.iter().product();
        ArrayD::from_shape_vec(IxDyn(shape), (start..).take(count).collect()).unwrap()
    }

    #[test]
    fn joins_along_every_axis() {
        for axis in 0..3 {
            let shape = |size| {
                let mut shape = [2, 3, 4];
                shape[axis] = size;
                shape
            };
            let xs = [iota(&shape(1), 0), iota(&shape(5), 100), iota(&shape(0), 0), iota(&shape(2), 200)];
            let views: Vec<ArrayView<'_, i32, IxDyn>> = xs.iter().map(|x| x.view()).collect();
            let expected = nd_concatenate(Axis(axis), &views).unwrap();
            for axis in [axis as i64, axis as i64 - 3] {
                let outputs = call::<concatenate>().args(&xs).attr("axis", axis).run().unwrap();
                assert_eq!(outputs.get::<i32>(0), expected);
            }
        }
    }

    #[test]
    fn mistakes_are_explained() {
        let message = |call: oxcall::testing::Call| call.run().unwrap_err().message().to_owned();
        let xs = || call::<concatenate>().arg(iota(&[2, 3], 0)).arg(iota(&[3, 3], 0));
        assert!(message(xs().attr("axis", 1i64)).contains("`xs[1]` has shape [3, 3]"));
        assert!(message(xs().attr("axis", -3i64)).contains("`axis` is -3, but the arrays have rank 2"));
        assert!(message(xs().ret_of::<i32>(&[4, 3])).contains("the arguments give [5, 3]"));
        assert!(message(call::<concatenate>().ret_of::<i32>(&[0])).contains("at least one array"));
    }
}
