//! Arrays that are put together from boxes of others, in one pass.

use bytemuck::Pod;
use oxcall::Error;
use oxcall_hlo::ElementType;
use smallvec::SmallVec;

use super::access::Cursor;
use super::rings::Parts;
use crate::by_width;
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::pool::Cost;

/// A kernel whose result consists of boxes of operands' elements.
#[derive(Debug)]
pub struct Copies {
    name: String,
    element: ElementType,
    count: usize,
    /// The operands, with the maps to their elements. Each element of the result is in the box of one of them.
    parts: Parts,
}

/// What a run takes beside its elements, in operations for each part: its cursor goes on.
const RUN_FLOPS: f64 = 20.0;

impl Copies {
    /// An array of `count` elements. Each is in the box of one of the parts: the number of an operand, and the map to
    /// its elements.
    pub fn new(name: String, element: ElementType, count: usize, parts: Parts) -> Copies {
        debug_assert!(parts.iter().all(|(_, access)| access.count() == count), "all parts are of one array");
        Copies { name, element, count, parts }
    }

    fn copy<T: Pod>(&self, operands: &[&[T]], first: usize, out: &mut [T]) {
        let mut cursors: SmallVec<[Cursor<'_>; 4]> =
            self.parts.iter().map(|(_, access)| Cursor::new(access, first)).collect();
        let mut rest = out;
        while !rest.is_empty() {
            let (mut count, mut found) = (rest.len(), None);
            for (cursor, &(operand, _)) in cursors.iter().zip(&self.parts) {
                let run = cursor.run();
                count = count.min(run.count);
                found = run.place.map(|place| (operand, place)).or(found);
            }
            let (run, others) = rest.split_at_mut(count);
            if let Some((operand, place)) = found {
                place.copy(operands[operand], run);
            }
            cursors.iter_mut().for_each(|cursor| cursor.advance(count));
            rest = others;
        }
    }
}

impl Kernel for Copies {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn cost(&self) -> Cost {
        let runs: usize = self.parts.iter().map(|(_, access)| access.runs()).sum();
        let bytes = 2 * self.count * self.element.byte_width();
        Cost { flops: RUN_FLOPS * (runs * self.parts.len()) as f64, bytes: bytes as f64 }
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        let line = self.parts.iter().map(|(_, access)| access.line()).filter(|&line| line > 1).min().unwrap_or(1);
        by_width!(self.element, T => {
            let operands: SmallVec<[&[T]; 4]> = (0..inputs.len()).map(|index| inputs.get(index)).collect();
            cx.pool.for_chunks(self.cost(), outputs.take::<T>(0), line, |first, chunk| {
                self.copy::<T>(&operands, first, chunk);
            });
        });
        Ok(())
    }
}
