//! Packed 4-bit integers.
//!
//! XLA stores two `int4` in a byte, the first in the low half. [`Array<S4>`](Array) reads them one by one with `get`
//! and `iter`, and `as_bytes` gives the bytes for code that takes them apart itself.

use multiversion::multiversion;
use oxcall::element::S4;
use oxcall::prelude::*;

use crate::grain;

/// Weights from 4-bit integers, with one scale for each `group` of neighbours in a row: `y = scale * w`.
///
/// Nothing but the result has the dtype `T`, so the caller chooses it: `ops.dequantize_int4(w, s, group=32,
/// dtype="bfloat16")`. The pattern of `w` has an expression: rows are as long as their groups together.
#[custom_call(T = [f32, bf16, f16])]
pub fn dequantize_int4<T: Float<Wide = f32>>(
    #[attr] group: usize,
    #[dims(rows, groups * group)] w: Array<S4, Rank<2>>,
    #[dims(rows, groups)] scales: Array<f32, Rank<2>>,
    #[dims(rows, groups * group)] mut y: Out<T, Rank<2>>,
    pool: ThreadPool,
) {
    let (columns, groups) = (w.shape()[1], scales.shape()[1]);
    // With an even size every group starts at a whole byte.
    let whole_bytes = group.is_multiple_of(2).then(|| w.as_bytes());
    pool.for_each_chunk(&mut y, columns, grain(columns), |row, y| {
        let scales = &scales[row * groups..][..groups];
        match whole_bytes {
            Some(bytes) => unpack(&bytes[row * columns / 2..][..columns / 2], scales, y),
            None => {
                for (k, y) in y.iter_mut().enumerate() {
                    let value = w.get(row * columns + k).map_or(0, S4::get);
                    *y = T::narrow(scales[k / group] * f32::from(value));
                }
            }
        }
    });
}

/// A row: two results from each byte. The shifts extend the sign.
#[multiversion(targets = "simd")]
fn unpack<T: Float<Wide = f32>>(bytes: &[u8], scales: &[f32], y: &mut [T]) {
    let group = y.len() / scales.len();
    for ((y, bytes), scale) in y.chunks_exact_mut(group).zip(bytes.chunks_exact(group / 2)).zip(scales) {
        let (pairs, _) = y.as_chunks_mut::<2>();
        for ([low, high], &byte) in pairs.iter_mut().zip(bytes) {
            let byte = byte as i8;
            *low = T::narrow(scale * f32::from(byte << 4 >> 4));
            *high = T::narrow(scale * f32::from(byte >> 4));
        }
    }
}

#[cfg(test)]
mod tests {
    use oxcall::ndarray::Array2;
    use oxcall::testing::call;

    use super::*;

    fn check<T: Float<Wide = f32>>(rows: usize, groups: usize, group: usize) {
        let columns = groups * group;
        let value = |r: usize, c: usize| ((r * columns + c) * 7 % 16) as i8 - 8;
        let scale = |r: usize, g: usize| 0.25 + 0.125 * (r + 3 * g) as f32;
        let w = Array2::from_shape_fn((rows, columns), |(r, c)| S4::new(value(r, c)).unwrap());
        let scales = Array2::from_shape_fn((rows, groups), |(r, g)| scale(r, g));
        let run = call::<dequantize_int4>().arg(w).arg(scales).attr("group", group as i64).dtype("T", T::DTYPE);
        let expected = Array2::from_shape_fn((rows, columns), |(r, c)| {
            T::from_f64(f64::from(value(r, c)) * f64::from(scale(r, c / group)))
        });
        assert_eq!(run.run().unwrap().get::<T>(0), expected.into_dyn());
    }

    #[test]
    fn every_value_of_every_group_size() {
        check::<f32>(3, 4, 8);
        check::<bf16>(3, 4, 8);
        check::<f16>(2, 1, 2);
        // Groups that start in the middle of a byte, and rows that do.
        check::<f32>(3, 3, 5);
        check::<f32>(0, 4, 8);
        check::<f32>(64, 32, 32);
    }

    #[test]
    fn group_sizes_must_fit() {
        let w = Array2::from_elem((2, 10), S4::MAX);
        let run = call::<dequantize_int4>().arg(w).arg(Array2::<f32>::zeros((2, 3))).attr("group", 4i64);
        let error = run.ret_of::<f32>(&[2, 10]).run().unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        assert!(error.message().contains("`w`") && error.message().contains("groups * group"), "{error}");
    }
}
