//! Results that are a box of a larger array: what is around it are the same elements of an operand, or copies of one.

use bytemuck::Pod;
use oxcall_hlo::ElementType;
use smallvec::SmallVec;

use super::access::{Access, Cursor, Dim};
use crate::by_width;
use crate::kernel::{Context, Inputs, Outputs};
use crate::pool::Cost;

/// A box of an array.
#[derive(Debug, Clone)]
pub struct Region {
    /// The map from the elements of the box, in row-major order, to those of the array.
    inside: Access,
    /// The array, whose elements outside of the box have no place.
    around: Access,
    /// The number of elements of the array.
    all: usize,
}

impl Region {
    /// The box of size `sizes`, from `starts` on, of an array of shape `dims`; `None` if it has no run of neighbours.
    pub fn new(dims: &[usize], starts: &[usize], sizes: &[usize]) -> Option<Region> {
        let mut inside: SmallVec<[Dim; 4]> = SmallVec::new();
        let mut around: SmallVec<[Dim; 4]> = SmallVec::new();
        let (mut stride, mut inner, mut offset) = (1, 1, 0);
        for ((&size, &start), &len) in dims.iter().zip(starts).zip(sizes).rev() {
            inside.push(Dim { size: len, start: 0, len, stride });
            around.push(Dim { size, start, len, stride: inner });
            offset += start * stride;
            (stride, inner) = (stride * size, inner * len);
        }
        let [inside, around] =
            [(inside, offset), (around, 0)].map(|(dims, offset)| Access::of_box(dims.into_iter().rev(), offset));
        (inside.stride() == 1).then_some(Region { inside, around, all: stride })
    }

    /// The number of runs of neighbours in the box.
    pub fn runs(&self) -> usize {
        self.inside.runs()
    }

    /// The number of elements of the array.
    pub(super) fn all(&self) -> usize {
        self.all
    }

    /// The map from the elements of the box to those of the array.
    pub(super) fn inside(&self) -> &Access {
        &self.inside
    }
}

/// A result that is an operand with other elements in a box, or copies of a scalar around a box.
#[derive(Debug, Clone)]
pub(super) struct Update {
    /// The result.
    pub(super) output: usize,
    /// The operand.
    pub(super) operand: usize,
    /// The type of their elements.
    pub(super) element: ElementType,
    /// The box.
    pub(super) region: Region,
}

/// The fewest elements that a thread copies.
const PIECE: usize = 4096;

impl Update {
    /// Writes what is outside of the box to the result, unless it is there.
    pub(super) fn copy_outside(&self, cx: Context<'_>, inputs: Inputs<'_>, outputs: &mut Outputs<'_>) {
        if inputs.is_in_place(self.operand) {
            return;
        }
        by_width!(self.element, T => {
            let (operand, result) = (inputs.get::<T>(self.operand), outputs.take::<T>(self.output));
            let bytes = 2 * size_of::<T>() * (result.len() - self.region.inside.count());
            let cost = Cost { flops: 0.0, bytes: bytes as f64 };
            let around = &self.region.around;
            cx.pool.for_chunks(cost, result, PIECE, |first, chunk| match operand {
                &[scalar] => for_runs_outside(around, first, chunk, |_, to| to.fill(scalar)),
                _ => for_runs_outside(around, first, chunk, |at, to| to.copy_from_slice(&operand[at..][..to.len()])),
            });
        });
    }
}

/// Calls `write` with each run of `part`, the elements of an array from `first` on, that has no place in a box, and
/// with the index of its first element.
fn for_runs_outside<T: Pod>(around: &Access, first: usize, part: &mut [T], write: impl Fn(usize, &mut [T])) {
    let mut cursor = Cursor::new(around, first);
    let mut done = 0;
    while done < part.len() {
        let run = cursor.run();
        let count = run.count.min(part.len() - done);
        if run.place.is_none() {
            write(first + done, &mut part[done..done + count]);
        }
        cursor.advance(count);
        done += count;
    }
}

#[cfg(test)]
mod tests {
    use oxcall_hlo::{OpKind, UnaryOp};

    use super::*;
    use crate::kernel::Kernel;
    use crate::kernels::testing::{bytes, elements, run_kernel};
    use crate::tile::Builder;

    /// The numbers of a box, negated, in an array or between copies of one number, on one thread and on several.
    #[test]
    fn what_is_around_a_box_stays() {
        let (dims, starts, sizes) = ([40, 70], [3, 2], [30, 64]);
        let count: usize = sizes.iter().product();
        let array: Vec<f32> = (0..dims[0] * dims[1]).map(|index| index as f32).collect();
        let values: Vec<f32> = (0..count).map(|index| 0.5 + index as f32).collect();
        for around in [&array[..], &[7.0]] {
            let inputs = [(ElementType::F32, count), (ElementType::F32, around.len())];
            let mut builder = Builder::new(count, inputs);
            let value = builder.input(0, Access::new(&[count], &[1]));
            let value = builder.op(&OpKind::Unary(UnaryOp::Negate), &[(value, ElementType::F32)], ElementType::F32);
            let region = Region::new(&dims, &starts, &sizes).unwrap();
            assert_eq!(region.runs(), 30);
            builder.output_update(value.unwrap(), ElementType::F32, 1, region).unwrap();
            let program = builder.build("update".to_owned());
            let is_array = around.len() > 1;
            assert_eq!(program.in_place(), if is_array { vec![(1, 0)] } else { vec![] });
            let mut expected: Vec<f32> = if is_array { array.clone() } else { vec![7.0; array.len()] };
            for (index, value) in values.iter().enumerate() {
                let (row, column) = (index / sizes[1], index % sizes[1]);
                expected[(starts[0] + row) * dims[1] + starts[1] + column] = -value;
            }
            let operands = [bytes(&values), bytes(around)];
            for threads in [1, 2] {
                for in_place in [vec![], program.in_place()] {
                    let found = run_kernel(&program, &operands, &[4 * array.len()], &in_place, threads);
                    assert_eq!(elements::<f32>(&found[0]), expected);
                }
            }
        }
    }

    #[test]
    fn boxes_without_runs_have_no_region() {
        assert!(Region::new(&[4, 5], &[0, 2], &[4, 1]).is_none());
        assert_eq!(Region::new(&[4, 5], &[1, 0], &[2, 5]).map(|region| region.runs()), Some(1));
        assert_eq!(Region::new(&[4, 5, 6], &[1, 1, 0], &[2, 3, 6]).map(|region| region.runs()), Some(2));
    }
}
