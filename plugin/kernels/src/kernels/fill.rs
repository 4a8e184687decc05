//! A kernel that makes a large constant of equal elements each time it is needed. A stored constant would take memory
//! as long as the program lives, and could not be updated in place.

use oxcall::Error;
use oxcall_hlo::Literal;

use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::pool::Cost;

/// Writes `element` over and over.
pub fn fill(out: &mut [u8], element: &[u8]) {
    if element.iter().all(|byte| *byte == element[0]) {
        return out.fill(element[0]);
    }
    /// Of a known size, an element is a part of a vector.
    fn of_size<const N: usize>(out: &mut [u8], element: &[u8]) {
        let element: &[u8; N] = element.first_chunk().expect("an element of this size");
        out.as_chunks_mut::<N>().0.fill(*element);
    }
    match element.len() {
        2 => of_size::<2>(out, element),
        4 => of_size::<4>(out, element),
        8 => of_size::<8>(out, element),
        16 => of_size::<16>(out, element),
        len => out.chunks_exact_mut(len).for_each(|chunk| chunk.copy_from_slice(element)),
    }
}

/// The size in bytes from which constants are filled when needed.
pub const WORTH_FILLING: usize = 4096;

/// A kernel that fills its result with one element.
pub struct Fill {
    element: Vec<u8>,
    bytes: usize,
}

impl Fill {
    /// The kernel of a splat.
    pub fn from_splat(literal: &Literal) -> Option<Fill> {
        let element = literal.splat_element()?.to_vec(); // Bounded: an element.
        Some(Fill { element, bytes: literal.ty().byte_size() })
    }
}

impl Kernel for Fill {
    fn name(&self) -> String {
        "fill".to_owned()
    }

    fn cost(&self) -> Cost {
        Cost { flops: 0.0, bytes: self.bytes as f64 }
    }

    fn run(&self, cx: Context<'_>, _: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        cx.pool.for_chunks(self.cost(), outputs.take::<u8>(0), 64, |_, out| fill(out, &self.element));
        Ok(())
    }
}
