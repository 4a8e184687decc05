//! Elements that repeat for the row that each stands for.

use bytemuck::Pod;

use crate::math::level::vectorised;

/// Repeats each element `N` times: a fill of a few elements takes longer to begin than to do.
#[inline(always)]
fn spread_by<T: Pod, const N: usize>(from: &[T], out: &mut [T]) {
    for (out, &x) in out.as_chunks_mut::<N>().0.iter_mut().zip(from) {
        *out = [x; N];
    }
}

/// Repeats each element for a row of at most a few times `N` elements: whole vectors are written, whose ends the next
/// row overwrites.
#[inline(always)]
fn spread_over<T: Pod, const N: usize>(from: &[T], row: usize, out: &mut [T]) {
    let out = &mut out[..from.len() * row];
    for (index, &x) in from.iter().enumerate() {
        let end = (index + 1) * row;
        for start in (index * row..end).step_by(N) {
            match out[start..].first_chunk_mut::<N>() {
                Some(chunk) => *chunk = [x; N],
                None => out[start..end].fill(x),
            }
        }
    }
}

/// The longest row that is written by whole vectors.
const LONGEST: usize = 64;

vectorised! {
/// Repeats each element for its row, of `row` elements; `out` has those of all rows.
pub(super) fn spread<T: Pod>(from: &[T], row: usize, out: &mut [T]) {
    match row {
        // LLVM makes vectors of products of wider numbers, but not of copies side by side.
        2 if size_of::<T>() == 1 => {
            let (from, out) = (bytemuck::cast_slice::<T, u8>(from), bytemuck::cast_slice_mut::<T, u8>(out));
            for (out, &x) in out.as_chunks_mut::<2>().0.iter_mut().zip(from) {
                *out = (u16::from(x) * 0x101).to_ne_bytes();
            }
        }
        2 if size_of::<T>() == 2 => {
            let (from, out) = (bytemuck::cast_slice::<T, u16>(from), bytemuck::cast_slice_mut::<T, u8>(out));
            for (out, &x) in out.as_chunks_mut::<4>().0.iter_mut().zip(from) {
                *out = (u32::from(x) * 0x1_0001).to_ne_bytes();
            }
        }
        2 => spread_by::<T, 2>(from, out),
        3 => spread_by::<T, 3>(from, out),
        4 => spread_by::<T, 4>(from, out),
        8 => spread_by::<T, 8>(from, out),
        5..8 => spread_over::<T, 8>(from, row, out),
        9..=LONGEST if size_of::<T>() <= 4 => spread_over::<T, 16>(from, row, out),
        9..=LONGEST => spread_over::<T, 8>(from, row, out),
        _ => {
            for (out, &x) in out.chunks_exact_mut(row).zip(from) {
                out.fill(x);
            }
        }
    }
}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Pod + PartialEq + std::fmt::Debug>(number: impl Fn(u8) -> T) {
        for row in 1..=LONGEST + 2 {
            for rows in [0, 1, 2, 3, 17] {
                let from: Vec<T> = (0..rows).map(&number).collect();
                let mut out = vec![number(99); usize::from(rows) * row];
                spread(&from, row, &mut out);
                let expected: Vec<T> = from.iter().flat_map(|&x| std::iter::repeat_n(x, row)).collect();
                assert_eq!(out, expected, "{rows} rows of {row}");
            }
        }
    }

    #[test]
    fn rows_of_all_lengths_are_filled() {
        check(|x| x);
        check(u16::from);
        check(f32::from);
        check(f64::from);
    }
}
