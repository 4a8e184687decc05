//! Loop nests over several arrays at once.

use smallvec::SmallVec;

/// One loop: a number of steps, and the distance of a step in each of `N` arrays, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loop<const N: usize> {
    /// The number of steps.
    pub size: usize,
    /// The distances of a step.
    pub strides: [isize; N],
}

/// Loops, outermost first.
pub type Nest<const N: usize> = SmallVec<[Loop<N>; 4]>;

/// Drops loops of one step, and merges neighbours that form one longer loop. May leave none.
pub fn collapse<const N: usize>(loops: impl IntoIterator<Item = Loop<N>>) -> Nest<N> {
    let mut collapsed: Nest<N> = Nest::new();
    for each in loops.into_iter().filter(|each| each.size != 1) {
        match collapsed.last_mut() {
            Some(outer) if (0..N).all(|i| outer.strides[i] == each.strides[i] * each.size as isize) => {
                *outer = Loop { size: outer.size * each.size, strides: each.strides };
            }
            _ => collapsed.push(each),
        }
    }
    collapsed
}

/// The number of iterations of a nest.
pub(crate) fn iterations<const N: usize>(loops: &[Loop<N>]) -> usize {
    loops.iter().map(|each| each.size).product()
}

/// The offsets of the iterations of a nest, in order.
pub struct Walk<'a, const N: usize> {
    loops: &'a [Loop<N>],
    index: SmallVec<[usize; 4]>,
    offsets: [isize; N],
}

impl<'a, const N: usize> Walk<'a, N> {
    /// Starts at iteration `first`; no loop is empty.
    pub fn new(loops: &'a [Loop<N>], offsets: [isize; N], first: usize) -> Walk<'a, N> {
        let (mut index, mut rest, mut offsets) = (SmallVec::from_elem(0, loops.len()), first, offsets);
        for (i, each) in index.iter_mut().zip(loops).rev() {
            *i = rest % each.size;
            rest /= each.size;
            for (offset, stride) in offsets.iter_mut().zip(each.strides) {
                *offset += *i as isize * stride;
            }
        }
        Walk { loops, index, offsets }
    }

    /// Returns the offsets of this iteration, and advances to the next; after the last comes the first.
    #[inline]
    pub fn step(&mut self) -> [isize; N] {
        let offsets = self.offsets;
        for (i, each) in self.index.iter_mut().zip(self.loops).rev() {
            *i += 1;
            for (offset, stride) in self.offsets.iter_mut().zip(each.strides) {
                *offset += stride;
            }
            if *i < each.size {
                break;
            }
            *i = 0;
            for (offset, stride) in self.offsets.iter_mut().zip(each.strides) {
                *offset -= each.size as isize * stride;
            }
        }
        offsets
    }
}
