//! Iteration over the last axis.

/// The rows of an [`Array`](super::Array): slices along the last axis, in order of the leading indices.
#[derive(Clone, Debug)]
pub struct Rows<'a, T> {
    rest: &'a [T],
    width: usize,
    count: usize,
}

impl<'a, T> Rows<'a, T> {
    pub(super) fn new(elements: &'a [T], shape: &[usize]) -> Self {
        let (width, count) = split(shape);
        Rows { rest: elements, width, count }
    }
}

impl<'a, T> Iterator for Rows<'a, T> {
    type Item = &'a [T];

    #[inline]
    fn next(&mut self) -> Option<&'a [T]> {
        self.count = self.count.checked_sub(1)?;
        let (row, rest) = self.rest.split_at(self.width);
        self.rest = rest;
        Some(row)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count, Some(self.count))
    }
}

impl<T> ExactSizeIterator for Rows<'_, T> {}

/// The rows of an [`Out`](super::Out), to write.
#[derive(Debug)]
pub struct RowsMut<'a, T> {
    rest: &'a mut [T],
    width: usize,
    count: usize,
}

impl<'a, T> RowsMut<'a, T> {
    pub(super) fn new(elements: &'a mut [T], shape: &[usize]) -> Self {
        let (width, count) = split(shape);
        RowsMut { rest: elements, width, count }
    }
}

impl<'a, T> Iterator for RowsMut<'a, T> {
    type Item = &'a mut [T];

    #[inline]
    fn next(&mut self) -> Option<&'a mut [T]> {
        self.count = self.count.checked_sub(1)?;
        let (row, rest) = std::mem::take(&mut self.rest).split_at_mut(self.width);
        self.rest = rest;
        Some(row)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count, Some(self.count))
    }
}

impl<T> ExactSizeIterator for RowsMut<'_, T> {}

/// Width and number of rows; a rank-0 buffer is one row of one element.
fn split(shape: &[usize]) -> (usize, usize) {
    match shape.split_last() {
        Some((&width, leading)) => (width, leading.iter().product()),
        None => (1, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_awkward_shapes() {
        let x = [1, 2, 3, 4, 5, 6];
        assert_eq!(Rows::new(&x, &[3, 2]).collect::<Vec<_>>(), [&[1, 2], &[3, 4], &[5, 6]]);
        assert_eq!(Rows::new(&x[..1], &[]).collect::<Vec<_>>(), [&[1]]);
        assert_eq!(Rows::new(&x[..0], &[2, 0]).collect::<Vec<_>>(), [&[0; 0], &[0; 0]]);
        assert_eq!(Rows::new(&x[..0], &[0, 2]).len(), 0);
    }
}
