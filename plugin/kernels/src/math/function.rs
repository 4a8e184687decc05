//! Functions of elements, as loops over tiles and as calls for one scalar.
//!
//! A function is written once, as a closure over Rust numbers. [`Function`] holds it compiled as a loop for the vector
//! instructions of the processor, and for one element at a time.

use std::ptr::NonNull;

use bytemuck::Pod;
use oxcall_hlo::ElementType;

use super::generated::{Guard, Record};
use super::level::Level;
use crate::element::Scalar;

/// A loop: fills the first slice with the function of the others, element by element. Unused operands are empty.
pub(crate) type TileFn = fn(&mut [u8], [&[u8]; 3]);

/// A call for one element; unused operands are ignored.
pub(crate) type ScalarFn = fn(Scalar, Scalar, Scalar) -> Scalar;

/// A function of up to three elements, each of a type in which elements are computed (see [`crate::element`]).
#[derive(Clone, Copy)]
pub(crate) struct Function {
    /// The name of its op, without the dialect: `add`.
    pub name: &'static str,
    /// The number of operands.
    pub arity: usize,
    /// An estimate of the arithmetic operations of one element.
    pub flops: f32,
    /// The types of the operands; those from `arity` on are meaningless.
    pub args: [ElementType; 3],
    /// The type of the result.
    pub output: ElementType,
    /// The loop.
    pub tile: TileFn,
    /// The call; `None` for functions whose loop over one element is fast enough.
    pub scalar: Option<ScalarFn>,
    /// The function as operations of generated code, which give the same bits.
    pub record: Option<Record>,
    /// The same for most operands, in blocks, which call the function for others.
    pub guard: Option<Guard>,
    /// The narrow type of floats to which it rounds its operand, if it does nothing else.
    pub rounds_to: Option<ElementType>,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Function {
    /// The same function, with the result read as another type of the same width.
    pub(crate) fn giving(self, output: ElementType) -> Function {
        Function { output, ..self }
    }

    /// The same function at another cost.
    pub(crate) fn costing(self, flops: f32) -> Function {
        Function { flops, ..self }
    }

    /// The same function, with a form for generated code.
    pub(crate) fn recorded(self, record: Option<Record>) -> Function {
        Function { record, ..self }
    }

    /// The same function, with a form for most operands in blocks of generated code.
    pub(crate) fn guarded(self, guard: Option<Guard>) -> Function {
        Function { guard, ..self }
    }

    /// The same function, which rounds to a narrow type.
    pub(crate) fn rounding_to(self, element: ElementType) -> Function {
        Function { rounds_to: Some(element), ..self }
    }

    /// The function of one element.
    #[inline]
    pub(crate) fn call(&self, args: [Scalar; 3]) -> Scalar {
        match self.scalar {
            Some(scalar) => scalar(args[0], args[1], args[2]),
            None => {
                let width = |element: ElementType| element.byte_width();
                let mut out = Scalar::default();
                let [a, b, c] = [0, 1, 2].map(|index| match self.args.get(index).filter(|_| index < self.arity) {
                    Some(&element) => &bytemuck::bytes_of(&args[index])[..width(element)],
                    None => &[],
                });
                (self.tile)(&mut bytemuck::bytes_of_mut(&mut out)[..width(self.output)], [a, b, c]);
                out
            }
        }
    }

    /// The same function under a name, with a cost.
    pub(crate) fn named(self, name: &'static str, flops: f32) -> Function {
        Function { name, flops, ..self }
    }
}

/// A type in which elements are computed.
pub(crate) trait Wide: Pod + Send + Sync + PartialEq {
    /// As an element type; booleans are `U8`.
    const TYPE: ElementType;
}

macro_rules! wide {
    ($($ty:ty = $element:ident),*) => {$(
        impl Wide for $ty {
            const TYPE: ElementType = ElementType::$element;
        }
    )*};
}

wide!(i8 = S8, i16 = S16, i32 = S32, i64 = S64, u8 = U8, u16 = U16, u32 = U32, u64 = U64, f32 = F32, f64 = F64);
wide!(num_complex::Complex<f32> = C64, num_complex::Complex<f64> = C128);

/// The value of a type that has only one, such as a closure that captures nothing.
#[inline(always)]
fn only_value<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0) };
    // SAFETY: reading no bytes from an aligned address is allowed. `F` is inhabited and may be copied out of thin air,
    // since every caller of this module was given one, by value, in `unary`, `binary` or `ternary`.
    unsafe { NonNull::dangling().read() }
}

/// The weight of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// A few machine instructions: scalars have a separate call.
    Light,
    /// About this many operations: scalars use a loop over one element.
    Heavy(u16),
}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident $arity:literal: $($A:ident $a:ident $index:tt),*;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name<L: Level, $($A: Wide,)* R: Wide, F: Fn($($A),*) -> R + Copy>(weight: Weight, _: F) -> Function {
            fn tile<L: Level, $($A: Wide,)* R: Wide, F: Fn($($A),*) -> R + Copy>(out: &mut [u8], args: [&[u8]; 3]) {
                L::enter(#[inline(always)] || {
                    let f = only_value::<F>();
                    let out: &mut [R] = bytemuck::cast_slice_mut(out);
                    $(let $a: &[$A] = &bytemuck::cast_slice(args[$index])[..out.len()];)*
                    for index in 0..out.len() {
                        out[index] = f($($a[index]),*);
                    }
                });
            }
            fn light<$($A: Wide,)* R: Wide, F: Fn($($A),*) -> R + Copy>(a: Scalar, b: Scalar, c: Scalar) -> Scalar {
                let args = [a, b, c];
                Scalar::from_pod(only_value::<F>()($(args[$index].to_pod::<$A>()),*))
            }
            let (flops, scalar): (f32, Option<ScalarFn>) = match weight {
                Weight::Light => (1.0, Some(light::<$($A,)* R, F>)),
                Weight::Heavy(flops) => (f32::from(flops), None),
            };
            let tile = tile::<L, $($A,)* R, F>;
            let mut args = [R::TYPE; 3];
            $(args[$index] = $A::TYPE;)*
            Function { name: "", arity: $arity, flops, args, output: R::TYPE, tile, scalar, record: None, guard: None, rounds_to: None }
        }
    )*};
}

functions! {
    /// A function of one element.
    unary 1: A a 0;
    /// A function of two elements.
    binary 2: A a 0, B b 1;
    /// A function of three elements.
    ternary 3: A a 0, B b 1, C c 2;
}

/// The number of elements that a guarded loop checks together.
const GUARDED: usize = 64;

/// A function of `arity` elements of one type, by a loop that is fast enough for scalars too.
fn guarded<T: Wide>(arity: usize, flops: u16, tile: TileFn) -> Function {
    let (element, flops) = (T::TYPE, f32::from(flops));
    let args = [element; 3];
    Function {
        name: "",
        arity,
        flops,
        args,
        output: element,
        tile,
        scalar: None,
        record: None,
        guard: None,
        rounds_to: None,
    }
}

/// A function of one element, computed by `fast`, which vectorises, where `is_fast` holds, and by `slow` elsewhere.
pub(crate) fn guarded_unary<L, T, F, G, S>(flops: u16, _: F, _: G, _: S) -> Function
where
    L: Level,
    T: Wide,
    F: Fn(T) -> T + Copy,
    G: Fn(T) -> bool + Copy,
    S: Fn(T) -> T + Copy,
{
    fn tile<L, T, F, G, S>(out: &mut [u8], args: [&[u8]; 3])
    where
        L: Level,
        T: Wide,
        F: Fn(T) -> T + Copy,
        G: Fn(T) -> bool + Copy,
        S: Fn(T) -> T + Copy,
    {
        L::enter(
            #[inline(always)]
            || {
                let (fast, is_fast, slow) = (only_value::<F>(), only_value::<G>(), only_value::<S>());
                let out: &mut [T] = bytemuck::cast_slice_mut(out);
                let x: &[T] = bytemuck::cast_slice(args[0]);
                for (out, x) in out.chunks_mut(GUARDED).zip(x.chunks(GUARDED)) {
                    out.iter_mut().zip(x).for_each(|(out, &x)| *out = fast(x));
                    if !x.iter().fold(true, |all, &x| all & is_fast(x)) {
                        let rest = out.iter_mut().zip(x).filter(|(_, x)| !is_fast(**x));
                        rest.for_each(|(out, &x)| *out = slow(x));
                    }
                }
            },
        );
    }
    guarded::<T>(1, flops, tile::<L, T, F, G, S>)
}

/// Like [`guarded_unary`], for two elements.
pub(crate) fn guarded_binary<L, T, F, G, S>(flops: u16, _: F, _: G, _: S) -> Function
where
    L: Level,
    T: Wide,
    F: Fn(T, T) -> T + Copy,
    G: Fn(T, T) -> bool + Copy,
    S: Fn(T, T) -> T + Copy,
{
    fn tile<L, T, F, G, S>(out: &mut [u8], args: [&[u8]; 3])
    where
        L: Level,
        T: Wide,
        F: Fn(T, T) -> T + Copy,
        G: Fn(T, T) -> bool + Copy,
        S: Fn(T, T) -> T + Copy,
    {
        L::enter(
            #[inline(always)]
            || {
                let (fast, is_fast, slow) = (only_value::<F>(), only_value::<G>(), only_value::<S>());
                let out: &mut [T] = bytemuck::cast_slice_mut(out);
                let (x, y): (&[T], &[T]) = (bytemuck::cast_slice(args[0]), bytemuck::cast_slice(args[1]));
                for ((out, x), y) in out.chunks_mut(GUARDED).zip(x.chunks(GUARDED)).zip(y.chunks(GUARDED)) {
                    out.iter_mut().zip(x.iter().zip(y)).for_each(|(out, (&x, &y))| *out = fast(x, y));
                    if !x.iter().zip(y).fold(true, |all, (&x, &y)| all & is_fast(x, y)) {
                        let rest = out.iter_mut().zip(x.iter().zip(y)).filter(|(_, (x, y))| !is_fast(**x, **y));
                        rest.for_each(|(out, (&x, &y))| *out = slow(x, y));
                    }
                }
            },
        );
    }
    guarded::<T>(2, flops, tile::<L, T, F, G, S>)
}
