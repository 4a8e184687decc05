//! Size classes: four for each power of two, so that a freed block fits most later requests of about its size.

use super::raw::BUFFER_ALIGN;

/// The number of classes; the largest covers half the address space.
pub(super) const CLASSES: usize = 4 * (usize::BITS as usize - 7);

/// The smallest class that holds `len` bytes; `None` if `len` is too large for all.
pub(super) fn class_of(len: usize) -> Option<usize> {
    if len <= BUFFER_ALIGN {
        return Some(0);
    }
    let power = (len - 1).ilog2() as usize;
    // Steps of a quarter of the power of two below; from 64 on they are multiples of 16 bytes.
    let quarter = ((len - 1) >> (power - 2)) & 3;
    let class = 4 * (power - 6) + quarter + 1;
    (class < CLASSES).then_some(class)
}

/// The bytes of a block of `class`.
pub(super) fn class_size(class: usize) -> usize {
    let (power, quarter) = (class / 4 + 6, class % 4);
    (4 + quarter) << (power - 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_what_they_are_for() {
        let lens = (0..5000).chain((13..46).flat_map(|power| [(1 << power) - 1, 1 << power, (1 << power) + 1]));
        for len in lens {
            let class = class_of(len).unwrap();
            assert!(class_size(class) >= len, "{len}");
            assert!(class == 0 || class_size(class - 1) < len, "{len} fits a smaller class");
            assert!(len <= 64 || class_size(class) <= len + len / 4 + 1, "{len} wastes much");
        }
        assert_eq!(class_of(usize::MAX), None);
    }

    #[test]
    fn every_class_is_its_own() {
        for class in 0..CLASSES {
            assert_eq!(class_of(class_size(class)), Some(class));
        }
    }
}
