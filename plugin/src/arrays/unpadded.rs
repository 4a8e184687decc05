//! Arrays with dynamic dimensions: their sizes, and their elements without the padding between them.

use oxcall_pjrt::{Error, Layout, Result};

use crate::arrays::contents::Contents;

/// The size that a scalar of `S32` holds.
///
/// # Errors
/// The error of the program that computes it.
pub(crate) fn read_size(size: &Contents) -> Result<i32> {
    let buffer = size.get()?;
    let bytes = buffer
        .as_bytes()
        .try_into()
        .map_err(|_| Error::internal(format!("the size of a dimension has {} bytes; expected 4", buffer.len())))?;
    Ok(i32::from_le_bytes(bytes))
}

/// The elements of an array of `dims` that is `unpadded` without its padding, in the same layout. Elements have `width`
/// bytes.
///
/// # Errors
/// RESOURCE_EXHAUSTED if memory is short, INTERNAL if a dimension is larger without padding.
pub(crate) fn dense(bytes: &[u8], dims: &[i64], unpadded: &[i64], layout: &Layout, width: usize) -> Result<Vec<u8>> {
    if dims.iter().zip(unpadded).any(|(&dim, &size)| !(0..=dim).contains(&size)) {
        return Err(Error::internal(format!("the sizes {unpadded:?} exceed the bounds {dims:?}")));
    }
    let len = unpadded.iter().product::<i64>() as usize * width;
    let mut dense = Vec::new();
    let exhausted =
        |_| Error::resource_exhausted(format!("out of memory: {len} bytes for an array without its padding"));
    dense.try_reserve_exact(len).map_err(exhausted)?;
    if len > 0 {
        // From the slowest dimension to the fastest.
        let sizes = layout.minor_to_major.iter().rev().map(|&dim| (dims[dim as usize], unpadded[dim as usize]));
        let sizes: Vec<(usize, usize)> = sizes.map(|(dim, size)| (dim as usize, size as usize)).collect();
        append(bytes, &sizes, width, &mut dense);
    }
    Ok(dense)
}

/// Appends the elements of an array whose dimensions have these bounds and sizes.
fn append(bytes: &[u8], sizes: &[(usize, usize)], width: usize, dense: &mut Vec<u8>) {
    match sizes {
        [] => dense.extend_from_slice(bytes),
        [(_, size)] => dense.extend_from_slice(&bytes[..size * width]),
        [(bound, size), inner @ ..] => {
            bytes.chunks_exact(bytes.len() / bound).take(*size).for_each(|part| append(part, inner, width, dense));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_left_out() {
        let bytes: Vec<u8> = (0..12).collect();
        let without = |unpadded: &[i64], layout: &Layout| dense(&bytes, &[3, 4], unpadded, layout, 1).unwrap();
        let rows = Layout::row_major(2);
        assert_eq!(without(&[2, 3], &rows), [0, 1, 2, 4, 5, 6]);
        assert_eq!(without(&[3, 4], &rows), bytes);
        assert!(without(&[0, 4], &rows).is_empty());
        assert!(without(&[3, 0], &rows).is_empty());
        let columns = Layout { minor_to_major: vec![0, 1], tiles: Vec::new() };
        assert_eq!(without(&[2, 3], &columns), [0, 1, 3, 4, 6, 7]);
        assert!(dense(&bytes, &[3, 4], &[4, 4], &rows, 1).is_err());
    }
}
