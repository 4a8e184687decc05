//! Random numbers: bits of a given state, and distributions.
//!
//! Both generators are functions of a key and a counter, so that each part of the result can be computed separately.
//! The order of words in the result is that of XLA, where `DEFAULT` is Philox on CPUs.

mod distribution;
mod generator;
mod philox;
#[cfg(test)]
mod tests;
mod threefry;

use oxcall::Error;
use oxcall_hlo::{Func, Op, OpKind};

use super::movement::tensor;
use crate::kernel::Kernel;

/// The kernel of an op of this family.
pub(crate) fn make(op: &Op, func: &Func) -> Result<Box<dyn Kernel>, Error> {
    Ok(match op.kind {
        OpKind::RngBitGenerator(algorithm) => {
            let (state, bits) = (tensor(func, op.results[0])?, tensor(func, op.results[1])?);
            Box::new(generator::RngBitGenerator::new(algorithm, state, bits)?)
        }
        OpKind::Rng(distribution) => Box::new(distribution::Rng::new(distribution, tensor(func, op.results[0])?)?),
        ref other => return Err(Error::internal(format!("expected rng or rng_bit_generator, got {}", other.name()))),
    })
}

/// The number of counters that are computed together, one in each lane of a vector.
const LANES: usize = 16;

/// An element made from the low bits of random words.
trait Word: bytemuck::Pod + Send + Sync {
    /// Whether it takes two words.
    const WIDE: bool;
    /// The element for a word, and the next word if it takes two.
    fn from_words(low: u32, high: u32) -> Self;
}

macro_rules! words {
    ($($ty:ty),*) => {$(
        impl Word for $ty {
            const WIDE: bool = size_of::<$ty>() == 8;
            #[inline(always)]
            fn from_words(low: u32, high: u32) -> $ty {
                (u64::from(low) | u64::from(high) << 32) as $ty
            }
        }
    )*};
}

words!(u8, u16, u32, u64);
