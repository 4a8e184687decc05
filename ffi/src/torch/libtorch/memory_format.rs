//! torch's memory format `channels_last`: the second dimension is the innermost one.

use super::tensor::is_contiguous;

/// The dimensions from the innermost one outwards.
fn order(rank: usize) -> impl Iterator<Item = usize> {
    std::iter::once(1).chain((2..rank).rev()).chain(std::iter::once(0))
}

/// Whether a tensor is in this format and not also row-major. Only images and volumes with a batch and channels, that
/// is tensors of rank 4 and 5, have it.
pub(crate) fn is_channels_last(sizes: &[i64], strides: &[i64]) -> bool {
    if !matches!(sizes.len(), 4 | 5) || is_contiguous(sizes, strides) {
        return false;
    }
    let mut step = 1i64;
    order(sizes.len()).all(|dim| {
        let fits = sizes[dim] == 1 || strides[dim] == step;
        step = step.wrapping_mul(sizes[dim]);
        fits
    })
}

/// Writes the strides of a tensor in this format to `strides`, which has one place for each size.
pub(crate) fn channels_last_strides(sizes: &[i64], strides: &mut [i64]) {
    let mut step = 1i64;
    for dim in order(sizes.len()) {
        strides[dim] = step;
        step = step.saturating_mul(sizes[dim].max(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_and_back() {
        for (sizes, expected) in
            [(&[2i64, 3, 4, 5][..], &[60i64, 1, 15, 3][..]), (&[2, 3, 4, 5, 6], &[360, 1, 90, 18, 3])]
        {
            let mut strides = vec![0; sizes.len()];
            channels_last_strides(sizes, &mut strides);
            assert_eq!(strides, expected);
            assert!(is_channels_last(sizes, &strides));
        }
        assert!(!is_channels_last(&[2, 3, 4, 5], &[60, 20, 5, 1]));
        // One channel or one pixel: the tensor has both formats, and counts as row-major.
        assert!(!is_channels_last(&[2, 1, 4, 5], &[20, 1, 5, 1]));
        assert!(!is_channels_last(&[3, 4, 5], &[20, 1, 4]));
    }
}
