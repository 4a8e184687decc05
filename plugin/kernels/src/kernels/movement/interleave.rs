//! Elements of several arrays side by side.

use bytemuck::Pod;

use crate::math::level::vectorised;

vectorised! {
/// Writes rows of one element of each array.
fn interleave<T: Pod, const N: usize>(arrays: [&[T]; N], out: &mut [T]) {
    let rows = out.as_chunks_mut::<N>().0;
    let count = rows.len();
    let mut lines = arrays;
    for line in &mut lines {
        *line = &line[..count];
    }
    for (index, row) in rows.iter_mut().enumerate() {
        for column in 0..N {
            row[column] = lines[column][index];
        }
    }
}
}

/// Interleaves two to four arrays. Returns `false`, and writes nothing, for any other number of arrays.
pub(crate) fn interleave_few<T: Pod>(arrays: &[&[T]], out: &mut [T]) -> bool {
    match *arrays {
        [a, b] => interleave([a, b], out),
        [a, b, c] => interleave([a, b, c], out),
        [a, b, c, d] => interleave([a, b, c, d], out),
        _ => return false,
    }
    true
}

/// Writes the elements of one array to rows of `row` elements, each to its row's element `column`.
pub(crate) fn place<T: Pod>(array: &[T], column: usize, row: usize, out: &mut [T]) {
    for (to, &from) in out[column..].iter_mut().step_by(row).zip(array) {
        *to = from;
    }
}
