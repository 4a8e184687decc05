//! `rng`: numbers of a distribution, from a hidden state.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use num_traits::AsPrimitive;
use oxcall::Error;
use oxcall_hlo::{ElementType, RngDistribution, TensorType};

use super::philox;
use crate::element::{Element, bf16, f16};
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::pool::{Cost, Pool};

/// Random numbers between two scalar operands, or around them.
#[derive(Debug)]
pub(super) struct Rng {
    distribution: RngDistribution,
    element: ElementType,
    count: usize,
    /// A key that differs between processes and between ops.
    key: u64,
    /// The first counter that no run has used.
    next: AtomicU64,
}

/// The number of elements that are made from one piece of random words.
const PIECE: usize = 256;

impl Rng {
    pub(super) fn new(distribution: RngDistribution, result: &TensorType) -> Result<Rng, Error> {
        let element = result.element;
        let narrow = element.bits() < 8 && element != ElementType::Pred;
        let supported = match distribution {
            RngDistribution::Uniform => !element.is_complex() && !narrow,
            RngDistribution::Normal => element.is_float(),
        };
        if !supported || element.is_float() && element.bits() <= 8 {
            return Err(Error::unimplemented(format!(
                "the distribution {} of element type {element} is not supported",
                distribution.name()
            )));
        }
        let key = RandomState::new().hash_one(element.bits());
        Ok(Rng { distribution, element, count: result.count(), key, next: AtomicU64::new(0) })
    }

    /// Fills `out` by `make`, from pieces of an even number of random words.
    fn fill<T: bytemuck::Pod + Send>(&self, pool: &Pool, out: &mut [T], make: impl Fn(&[u64], &mut [T]) + Send + Sync) {
        let used = philox::counters::<u64>(self.count).next_multiple_of(PIECE);
        let first = self.next.fetch_add(used as u64, Ordering::Relaxed);
        pool.for_chunks(self.cost(), out, PIECE, |start, chunk| {
            let mut words = [0; PIECE];
            for (i, piece) in chunk.chunks_mut(PIECE).enumerate() {
                let counter = (start + i * PIECE) / philox::per_counter::<u64>();
                philox::fill(self.key, u128::from(first) + counter as u128, &mut words);
                make(&words, piece);
            }
        });
    }

    /// Floats of a type with `bits` bits after the leading one.
    fn floats<T: Element>(&self, pool: &Pool, [a, b]: [T; 2], out: &mut [T], bits: u32)
    where
        T::Wide: AsPrimitive<f64>,
        f64: AsPrimitive<T::Wide>,
    {
        let (a, b): (f64, f64) = (a.widen().as_(), b.widen().as_());
        // As many bits as the type holds: more would sometimes round to 1.
        let unit = |word: u64| (word >> (64 - bits)) as f64 * (-f64::from(bits)).exp2();
        let narrow = |x: f64| T::narrow(x.as_());
        match self.distribution {
            RngDistribution::Uniform => self.fill(pool, out, |words, piece| {
                piece.iter_mut().zip(words).for_each(|(to, &word)| *to = narrow(a + unit(word) * (b - a)));
            }),
            // Box-Muller: two normal numbers from two uniform ones.
            RngDistribution::Normal => self.fill(pool, out, |words, piece| {
                for (pair, words) in piece.chunks_mut(2).zip(words.chunks_exact(2)) {
                    // In (0, 1], for the logarithm.
                    let radius = (-2.0 * (((words[0] >> 11) + 1) as f64 * (-53f64).exp2()).ln()).sqrt();
                    let (sin, cos) = (std::f64::consts::TAU * ((words[1] >> 11) as f64 * (-53f64).exp2())).sin_cos();
                    let both = [a + b * (radius * sin), a + b * (radius * cos)];
                    pair.iter_mut().zip(both).for_each(|(to, x)| *to = narrow(x));
                }
            }),
        }
    }

    fn integers<T: Element>(&self, pool: &Pool, [a, b]: [T; 2], out: &mut [T])
    where
        T::Wide: AsPrimitive<i128>,
        i128: AsPrimitive<T::Wide>,
    {
        let (a, b): (i128, i128) = (a.widen().as_(), b.widen().as_());
        let range = (b - a).max(1);
        self.fill(pool, out, |words, piece| {
            piece.iter_mut().zip(words).for_each(|(to, &word)| *to = T::narrow((a + i128::from(word) % range).as_()));
        });
    }
}

impl Kernel for Rng {
    fn name(&self) -> String {
        "rng".into()
    }

    fn cost(&self) -> Cost {
        Cost { flops: 80.0 * self.count as f64, bytes: (self.count * self.element.byte_width()) as f64 }
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        macro_rules! fill {
            ($method:ident::<$T:ty>($($bits:literal)?)) => {{
                let bounds = [inputs.get::<$T>(0)[0], inputs.get::<$T>(1)[0]];
                self.$method::<$T>(cx.pool, bounds, outputs.take(0) $(, $bits)?)
            }};
        }
        match self.element {
            ElementType::F64 => fill!(floats::<f64>(52)),
            ElementType::F32 => fill!(floats::<f32>(23)),
            ElementType::F16 => fill!(floats::<f16>(10)),
            ElementType::BF16 => fill!(floats::<bf16>(7)),
            ElementType::S64 => fill!(integers::<i64>()),
            ElementType::S32 => fill!(integers::<i32>()),
            ElementType::S16 => fill!(integers::<i16>()),
            ElementType::S8 => fill!(integers::<i8>()),
            ElementType::U64 => fill!(integers::<u64>()),
            ElementType::U32 => fill!(integers::<u32>()),
            ElementType::U16 => fill!(integers::<u16>()),
            ElementType::U8 | ElementType::Pred => fill!(integers::<u8>()),
            other => return Err(Error::internal(format!("unexpected element type {other}"))),
        }
        Ok(())
    }
}
