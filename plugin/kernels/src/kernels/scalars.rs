//! Elements of any type as scalars, for bodies that run as programs.

use oxcall_hlo::ElementType;
use smallvec::SmallVec;

use crate::element::Scalar;
use crate::kernel::{Inputs, Outputs};

/// Several operands of one shape.
#[derive(Debug)]
pub(crate) struct Arrays<'a>(SmallVec<[(&'a [u8], usize); 4]>);

impl<'a> Arrays<'a> {
    /// The operands from `first` on, of these element types.
    pub(crate) fn new(inputs: Inputs<'a>, first: usize, elements: &[ElementType]) -> Arrays<'a> {
        let operand = |(index, element): (usize, &ElementType)| (inputs.get(first + index), element.byte_width());
        Arrays(elements.iter().enumerate().map(operand).collect())
    }

    /// The elements at `place`, one of each.
    pub(crate) fn at(&self, place: usize) -> impl Iterator<Item = Scalar> + '_ {
        self.0.iter().map(move |(bytes, width)| Scalar::from_bytes(&bytes[place * width..][..*width]))
    }
}

/// Writes `values`, one for each result in turn, to the results.
pub(crate) fn write(values: &[Scalar], elements: &[ElementType], outputs: &mut Outputs<'_>) {
    for (index, element) in elements.iter().enumerate() {
        let width = element.byte_width();
        let results = outputs.take::<u8>(index).chunks_exact_mut(width);
        for (result, value) in results.zip(values[index.min(values.len())..].iter().step_by(elements.len())) {
            result.copy_from_slice(&value.0.to_le_bytes()[..width]);
        }
    }
}
