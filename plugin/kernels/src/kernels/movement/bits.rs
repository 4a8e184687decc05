//! Bitcasts of elements narrower than a byte, which take a whole byte in buffers.

use oxcall::Error;
use oxcall_hlo::{ElementType, TensorType};

use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::pool::Cost;

/// A bitcast: the bits of the operand's elements in order, lowest first, split into the result's elements.
#[derive(Debug)]
pub(super) struct BitcastConvert {
    from: ElementType,
    to: ElementType,
    count: usize,
}

impl BitcastConvert {
    pub(super) fn new(operand: &TensorType, result: &TensorType) -> BitcastConvert {
        BitcastConvert { from: operand.element, to: result.element, count: result.count() }
    }
}

/// Bits that have been read but not yet written; the widest element has 64.
#[derive(Default)]
struct Queue {
    bits: u128,
    len: usize,
}

impl Queue {
    fn push(&mut self, bits: u64, len: usize) {
        let mask = u64::MAX >> (64 - len);
        self.bits |= u128::from(bits & mask) << self.len;
        self.len += len;
    }

    fn pop(&mut self, len: usize) -> u64 {
        let bits = self.bits as u64 & (u64::MAX >> (64 - len));
        self.bits >>= len;
        self.len -= len;
        bits
    }
}

impl Kernel for BitcastConvert {
    fn name(&self) -> String {
        "bitcast_convert".into()
    }

    fn cost(&self) -> Cost {
        Cost { flops: 16.0 * self.count as f64, bytes: 2.0 * self.count as f64 }
    }

    fn run(&self, _: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        let mut elements = inputs.get::<u8>(0).chunks_exact(self.from.byte_width());
        let mut queue = Queue::default();
        for result in outputs.take::<u8>(0).chunks_exact_mut(self.to.byte_width()) {
            while queue.len < self.to.bits() {
                let Some(element) = elements.next() else { break };
                let mut wide = [0; 8];
                wide[..element.len()].copy_from_slice(element);
                queue.push(u64::from_le_bytes(wide), self.from.bits());
            }
            let bits = queue.pop(self.to.bits());
            // Narrow signed integers are stored sign-extended to a byte.
            let unused = 64 - self.to.bits();
            let extended = if self.to.is_signed() { ((bits << unused) as i64 >> unused) as u64 } else { bits };
            result.copy_from_slice(&extended.to_le_bytes()[..result.len()]);
        }
        Ok(())
    }
}
