//! Elements in memory and in computations.

use half::{bf16, f16};
use oxcall_math::level::Level;
use oxcall_math::real::Float as Computed;
use oxcall_math::{round, with_level};

use super::block::Block;
use crate::element::Float;

/// A floating-point element, with the format in which pointwise functions compute it: halves in `f32`.
pub trait Stored: Float {
    /// The format.
    type Computed: Computed;

    /// Copies operands, at most as many as a block has.
    fn read_block(elements: &[Self], copy: &mut Block<Self::Computed>);

    /// A whole block of operands in the memory of the array, if computations can read it there.
    fn whole_block(elements: &[Self]) -> Option<&Block<Self::Computed>>;

    /// A whole block of results in the memory of the array, if computations can write it there.
    fn whole_block_mut(elements: &mut [Self]) -> Option<&mut Block<Self::Computed>>;

    /// Stores what `compute` gives: in the memory of the array, or by way of `spare`.
    fn compute(
        elements: &mut [Self],
        spare: &mut Block<Self::Computed>,
        compute: impl FnOnce(&mut Block<Self::Computed>),
    ) {
        if let Some(block) = Self::whole_block_mut(elements) {
            return compute(block);
        }
        compute(spare);
        Self::write_block(spare, elements);
    }

    /// Stores results, each rounded once.
    fn write_block(block: &Block<Self::Computed>, elements: &mut [Self]);
}

macro_rules! as_computed {
    ($($float:ident)*) => {$(
        impl Stored for $float {
            type Computed = $float;

            #[inline]
            fn read_block(elements: &[$float], copy: &mut Block<$float>) {
                copy[..elements.len()].copy_from_slice(elements);
            }
            #[inline]
            fn whole_block(elements: &[$float]) -> Option<&Block<$float>> {
                elements.try_into().ok()
            }
            #[inline]
            fn whole_block_mut(elements: &mut [$float]) -> Option<&mut Block<$float>> {
                elements.try_into().ok()
            }
            #[inline]
            fn write_block(block: &Block<$float>, elements: &mut [$float]) {
                elements.copy_from_slice(&block[..elements.len()]);
            }
        }
    )*};
}
as_computed!(f32 f64);

macro_rules! halves {
    ($($half:ident |$code:ident| $widen:expr, |$x:ident| $narrow:expr;)*) => {$(
        impl Stored for $half {
            type Computed = f32;

            fn read_block(elements: &[$half], copy: &mut Block<f32>) {
                fn widen<L: Level>(elements: &[$half], copy: &mut Block<f32>) {
                    L::enter(#[inline(always)] || {
                        for (x, half) in copy.iter_mut().zip(elements) {
                            let $code = half.to_bits();
                            *x = $widen;
                        }
                    });
                }
                with_level!(L => widen::<L>(elements, copy));
            }
            fn whole_block(_elements: &[$half]) -> Option<&Block<f32>> {
                None
            }
            fn whole_block_mut(_elements: &mut [$half]) -> Option<&mut Block<f32>> {
                None
            }
            fn write_block(block: &Block<f32>, elements: &mut [$half]) {
                fn narrow<L: Level>(block: &Block<f32>, elements: &mut [$half]) {
                    L::enter(#[inline(always)] || {
                        for (half, &$x) in elements.iter_mut().zip(block) {
                            *half = $half::from_bits($narrow);
                        }
                    });
                }
                with_level!(L => narrow::<L>(block, elements));
            }
        }
    )*};
}
halves! {
    f16 |code| round::f16_to_f32(code), |x| round::f32_to_f16(x);
    bf16 |code| f32::from_bits(u32::from(code) << 16), |x| (round::to_bf16(x).to_bits() >> 16) as u16;
}
