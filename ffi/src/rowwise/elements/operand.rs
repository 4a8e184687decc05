//! Operands, broadcast to the shape of the results by NumPy's rules: their elements, block by block.

use std::ops::Range;

/// An array whose elements an operation reads, some of them several times.
#[derive(Debug)]
pub struct Operand<'a, T> {
    elements: &'a [T],
    /// The dimensions of the results, outermost first, as few as tell where elements are repeated; none where each
    /// result has an element of its own.
    axes: Vec<Axis>,
}

/// Adjacent dimensions of the results.
#[derive(Debug, Clone, Copy)]
struct Axis {
    size: usize,
    /// How far apart in the operand the elements for two neighbours are: 0 where they are one.
    stride: usize,
}

impl<'a, T: Copy> Operand<'a, T> {
    /// An array of some shape, broadcast to that of the results.
    ///
    /// # Panics
    /// If it cannot be.
    pub fn new(elements: &'a [T], shape: &[usize], results: &[usize]) -> Self {
        let is_one = |axis: usize| (axis + shape.len()).checked_sub(results.len()).is_none_or(|at| shape[at] == 1);
        let fits = shape.len() <= results.len()
            && results
                .iter()
                .enumerate()
                .all(|(axis, &size)| is_one(axis) || shape[axis + shape.len() - results.len()] == size);
        assert!(fits, "an operand of shape {shape:?} for results of shape {results:?}");
        let mut axes: Vec<Axis> = Vec::new();
        if shape != results {
            let mut stride = 1;
            for (axis, &size) in results.iter().enumerate().rev().filter(|(_, size)| **size != 1) {
                let own = if is_one(axis) { 0 } else { stride };
                match axes.last_mut() {
                    Some(inner) if (inner.stride == 0) == (own == 0) => inner.size *= size,
                    _ => axes.push(Axis { size, stride: own }),
                }
                stride *= if own == 0 { 1 } else { size };
            }
            axes.reverse();
            if axes.iter().all(|axis| axis.stride != 0) {
                axes.clear();
            }
        }
        Operand { elements, axes }
    }

    /// Whether some elements are read several times.
    pub(super) fn is_repeated(&self) -> bool {
        !self.axes.is_empty()
    }

    /// The elements for some results, if they lie side by side.
    #[inline]
    pub(super) fn slice(&self, results: Range<usize>) -> Option<&'a [T]> {
        let Some((inner, outer)) = self.axes.split_last() else { return Some(&self.elements[results]) };
        let (first, count) = (results.start % inner.size, results.len());
        if inner.stride == 0 || first + count > inner.size {
            return None;
        }
        let start = first + offset(outer, results.start / inner.size);
        Some(&self.elements[start..start + count])
    }

    /// Copies the elements for the results from `first` on.
    pub(super) fn gather(&self, mut first: usize, mut copies: &mut [T]) {
        let Some((inner, outer)) = self.axes.split_last() else { return };
        while !copies.is_empty() {
            let within = first % inner.size;
            let count = copies.len().min(inner.size - within);
            let start = offset(outer, first / inner.size);
            let run;
            (run, copies) = copies.split_at_mut(count);
            if inner.stride == 0 {
                run.fill(self.elements[start]);
            } else {
                run.copy_from_slice(&self.elements[start + within..start + within + count]);
            }
            first += count;
        }
    }
}

/// Where the elements for a result are, by its index among those of some dimensions.
fn offset(axes: &[Axis], mut index: usize) -> usize {
    let mut offset = 0;
    for Axis { size, stride } in axes.iter().rev() {
        offset += index % size * stride;
        index /= size;
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What NumPy's rules say, one result at a time.
    fn expected(shape: &[usize], results: &[usize]) -> Vec<usize> {
        let count = results.iter().product();
        let element = |mut result: usize| {
            let (mut found, mut stride) = (0, 1);
            for (back, size) in results.iter().rev().enumerate() {
                let at = result % size;
                result /= size;
                if let Some(own) = shape.len().checked_sub(back + 1).map(|axis| shape[axis]) {
                    found += if own == 1 { 0 } else { at * stride };
                    stride *= own;
                }
            }
            found
        };
        (0..count).map(element).collect()
    }

    #[test]
    fn blocks_have_the_elements_of_numpys_rules() {
        let results: &[&[usize]] = &[&[], &[7], &[3, 5], &[4, 1, 6], &[2, 3, 1, 4, 2]];
        for results in results {
            let rank = results.len();
            for kept in 0..1usize << rank {
                for missing in 0..=rank {
                    let shape: Vec<usize> =
                        (missing..rank).map(|axis| if kept >> axis & 1 == 1 { results[axis] } else { 1 }).collect();
                    let elements: Vec<usize> = (0..shape.iter().product()).collect();
                    let operand = Operand::new(&elements, &shape, results);
                    let expected = expected(&shape, results);
                    for start in 0..expected.len() {
                        for end in start + 1..=expected.len().min(start + 9) {
                            let mut copies = vec![usize::MAX; end - start];
                            let found = operand.slice(start..end).unwrap_or_else(|| {
                                operand.gather(start, &mut copies);
                                &copies
                            });
                            assert_eq!(found, &expected[start..end], "{shape:?} to {results:?} from {start}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn rows_and_whole_arrays_are_not_copied() {
        let elements: Vec<u8> = (0..12).collect();
        assert!(!Operand::new(&elements, &[12], &[1, 12]).is_repeated());
        let row = Operand::new(&elements, &[12], &[100, 12]);
        assert_eq!(row.slice(24..36), Some(&elements[..]));
        assert_eq!(row.slice(30..37), None);
    }
}
