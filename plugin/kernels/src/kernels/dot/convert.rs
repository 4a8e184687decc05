//! Conversions between stored elements and the types in which contractions are computed.

use num_complex::Complex;
use oxcall::Error;
use oxcall_hlo::ElementType;

use super::Number;
use super::vector::Stored;
use crate::by_element;
use crate::element::{Element, bf16};
use crate::kernel::{Context, Inputs, Outputs};
use crate::math::level::vectorised;
use crate::math::round::{f16_to_f32, f32_to_f16};
use crate::memory::Scratch;
use crate::pool::Cost;

/// The type of the computation for operands and a result of `elements`: the narrowest of `F32`, `F64`, `C64`, `C128`,
/// `S32` and `S64` that loses nothing. Products of narrow floats are exact in `F32`; integers are computed modulo 2^32
/// or 2^64, which agrees with any narrower result.
pub(in crate::kernels) fn compute_type(elements: &[ElementType]) -> ElementType {
    let any = |test: fn(ElementType) -> bool| elements.iter().any(|&element| test(element));
    let double = any(|element| matches!(element, ElementType::F64 | ElementType::C128));
    match (any(ElementType::is_complex), any(ElementType::is_float)) {
        (true, _) if double => ElementType::C128,
        (true, _) => ElementType::C64,
        (false, true) if double => ElementType::F64,
        (false, true) => ElementType::F32,
        (false, false) if any(|element| element.bits() > 32) => ElementType::S64,
        (false, false) => ElementType::S32,
    }
}

/// The float in which sums of `terms` products of narrow integers are exact, if there is one: `gemm` multiplies floats
/// many times faster than loops multiply integers. The result has to hold all sums, since floats do not wrap.
pub(in crate::kernels) fn exact_float([lhs, rhs, out]: [ElementType; 3], terms: usize) -> Option<ElementType> {
    let is_narrow = |element: ElementType| element == ElementType::Pred || element.is_integer() && element.bits() <= 16;
    if !is_narrow(lhs) || !is_narrow(rhs) || !matches!(out, ElementType::S32 | ElementType::S64) {
        return None;
    }
    // The largest absolute value is at most two to this power.
    let power = |element: ElementType| element.bits() - usize::from(element.is_signed());
    let bits = power(lhs) + power(rhs);
    let fits = |digits: usize| digits.checked_sub(bits).is_some_and(|left| terms <= 1 << left);
    [(24, ElementType::F32), (if out == ElementType::S32 { 30 } else { 53 }, ElementType::F64)]
        .into_iter()
        .find_map(|(digits, float)| fits(digits).then_some(float))
}

/// The number of products of narrow integers whose sum is exact in `F32`, if the result's bits are those of an `S32`:
/// longer sums are sums of such parts, and wrap as integers do. `gemm` multiplies `F32` twice as fast as `F64`.
pub(super) fn exact_terms([lhs, rhs, out]: [ElementType; 3], terms: usize) -> Option<usize> {
    let is_exact = |terms: usize| exact_float([lhs, rhs, ElementType::S32], terms) == Some(ElementType::F32);
    let holds = matches!(out, ElementType::S32 | ElementType::U32);
    if !holds || is_exact(terms) {
        return None;
    }
    let longer = |&part: &usize| Some(2 * part);
    std::iter::successors(Some(LEAST_TERMS), longer).take_while(|&part| is_exact(part)).last()
}

/// The fewest products in a part of a sum: the results of a part are added in a pass of their own.
const LEAST_TERMS: usize = 256;

/// Evaluates `$body` with `$C` as the Rust type of a [`compute_type`].
macro_rules! with_number {
    ($compute:expr, $C:ident => $body:expr) => {
        match $compute {
            ::oxcall_hlo::ElementType::F64 => {
                type $C = f64;
                $body
            }
            ::oxcall_hlo::ElementType::C64 => {
                type $C = $crate::element::Complex<f32>;
                $body
            }
            ::oxcall_hlo::ElementType::C128 => {
                type $C = $crate::element::Complex<f64>;
                $body
            }
            ::oxcall_hlo::ElementType::S32 => {
                type $C = i32;
                $body
            }
            ::oxcall_hlo::ElementType::S64 => {
                type $C = i64;
                $body
            }
            _ => {
                type $C = f32;
                $body
            }
        }
    };
}
pub(in crate::kernels) use with_number;

/// A conversion with the rules for constants: floats to integers truncate, complex numbers lose their imaginary part.
trait Cast<C> {
    fn cast(self) -> C;
}

macro_rules! real_casts {
    (@ $from:ty, $($part:ty),*) => {$(
        impl Cast<Complex<$part>> for $from {
            #[inline(always)]
            fn cast(self) -> Complex<$part> { Complex::new(self as $part, 0.0) }
        }
        impl Cast<$from> for Complex<$part> {
            #[inline(always)]
            fn cast(self) -> $from { self.re as $from }
        }
    )*};
    ($($from:ty: $($to:ty),*;)*) => {$(
        $(impl Cast<$to> for $from {
            #[inline(always)]
            fn cast(self) -> $to { self as $to }
        })*
        real_casts!(@ $from, f32, f64);
    )*};
}

real_casts! {
    u8: f32, f64, i32, i64; u16: f32, f64, i32, i64; u32: f32, f64, i32, i64; u64: f32, f64, i32, i64;
    i8: f32, f64, i32, i64; i16: f32, f64, i32, i64;
    i32: f32, f64, i32, i64, u8, u16, u32, u64, i8, i16;
    i64: f32, f64, i32, i64, u8, u16, u32, u64, i8, i16;
    f32: f32, f64, i32, i64, u8, u16, u32, u64, i8, i16;
    f64: f32, f64, i32, i64, u8, u16, u32, u64, i8, i16;
}

macro_rules! complex_casts {
    ($($from:ty => $to:ty),*) => {$(
        impl Cast<Complex<$to>> for Complex<$from> {
            #[inline(always)]
            fn cast(self) -> Complex<$to> { Complex::new(self.re as $to, self.im as $to) }
        }
    )*};
}

complex_casts!(f32 => f32, f32 => f64, f64 => f32, f64 => f64);

/// Converts the elements of an operand, starting at an index.
type WidenPart<C> = fn(Inputs<'_>, usize, usize, &mut [C]);

/// Converts elements to the bytes of a result's elements.
type NarrowPart<C> = fn(&[C], &mut [u8]);

/// The conversion from an operand's elements to type `C`.
#[derive(Debug, Clone, Copy)]
pub(in crate::kernels) struct Widen<C> {
    /// `None` where the elements are `C` already.
    convert: Option<WidenPart<C>>,
    from: ElementType,
}

impl<C: Number> Widen<C> {
    /// The elements of operand `index`, converted into `memory` if they are not `C`.
    pub(in crate::kernels) fn get<'a>(
        &self,
        cx: Context<'_>,
        inputs: Inputs<'a>,
        index: usize,
        memory: &'a mut Scratch<C>,
    ) -> Result<&'a [C], Error> {
        let Some(convert) = self.convert else { return Ok(inputs.get(index)) };
        let width = self.from.byte_width();
        let count = inputs.get::<u8>(index).len() / width;
        *memory = cx.scratch(count)?;
        cx.pool.for_chunks(conversion::<C>(count, width), memory, 64, |start, out| {
            convert(inputs, index, start, out);
        });
        Ok(memory)
    }

    /// The type of stored elements.
    pub(super) fn from(&self) -> ElementType {
        self.from
    }

    /// All elements of operand `index`, if they are `C` already.
    pub(super) fn whole<'a>(&self, inputs: Inputs<'a>, index: usize) -> Option<&'a [C]> {
        self.convert.is_none().then(|| inputs.get(index))
    }

    /// The elements of operand `index` from `start` on, as many as `out` has.
    pub(super) fn part(&self, inputs: Inputs<'_>, index: usize, start: usize, out: &mut [C]) {
        match self.convert {
            Some(convert) => convert(inputs, index, start, out),
            None => out.copy_from_slice(&inputs.get(index)[start..][..out.len()]),
        }
    }
}

/// The conversion from type `C` to a result's elements.
#[derive(Debug, Clone, Copy)]
pub(in crate::kernels) struct Narrow<C> {
    /// `None` where the result stores `C`.
    convert: Option<NarrowPart<C>>,
    /// The bytes of a stored element.
    width: usize,
}

impl<C: Number> Narrow<C> {
    /// Result `index`: `compute` writes it directly, or writes elements that are then converted.
    pub(in crate::kernels) fn put(
        &self,
        cx: Context<'_>,
        outputs: &mut Outputs<'_>,
        index: usize,
        count: usize,
        compute: impl FnOnce(&mut [C]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(convert) = self.convert else { return compute(outputs.take(index)) };
        let mut elements = cx.scratch(count)?;
        compute(&mut elements)?;
        if elements.is_empty() {
            return Ok(());
        }
        let (elements, width): (&[C], usize) = (&elements, self.width);
        cx.pool.for_chunks(conversion::<C>(count, width), outputs.take::<u8>(index), 64 * width, |start, out| {
            convert(&elements[start / width..][..out.len() / width], out);
        });
        Ok(())
    }
}

/// The conversions between elements and one type of computation.
pub(in crate::kernels) trait Convert: Number {
    /// Adds numbers, which are integers of 32 bits, to sums that wrap.
    fn add_to(numbers: &[Self], sums: &mut [i32]);
    /// From elements of this type.
    fn widen(element: ElementType) -> Widen<Self>;
    /// To elements of this type.
    fn narrow(element: ElementType) -> Narrow<Self>;
}

macro_rules! conversions {
    ($($C:ty),*) => {$(
        impl Convert for $C {
            fn add_to(numbers: &[$C], sums: &mut [i32]) {
                let add = |(sum, &number): (&mut i32, &$C)| *sum = sum.wrapping_add(Cast::<i32>::cast(number));
                sums.iter_mut().zip(numbers).for_each(add);
            }

            fn widen(element: ElementType) -> Widen<$C> {
                let convert = match element {
                    _ if <$C>::holds(element) => None,
                    _ => by_element!(element, T => Some(widen_part::<T, $C> as _)),
                };
                Widen { convert, from: element }
            }

            fn narrow(element: ElementType) -> Narrow<$C> {
                let convert = match element {
                    _ if <$C>::holds(element) => None,
                    ElementType::Pred => Some(truth::<$C> as _),
                    _ => by_element!(element, T => Some(narrow_part::<T, $C> as _)),
                };
                Narrow { convert, width: element.byte_width() }
            }
        }
    )*};
}

conversions!(f32, f64, Complex<f32>, Complex<f64>, i32, i64);

/// The cost of converting `count` elements between `C` and a type of `width` bytes.
fn conversion<C>(count: usize, width: usize) -> Cost {
    Cost { flops: count as f64 * 4.0, bytes: (count * (width + size_of::<C>())) as f64 }
}

fn widen_part<T: Element, C: Number>(inputs: Inputs<'_>, index: usize, start: usize, out: &mut [C])
where
    T::Wide: Cast<C>,
{
    let elements = &inputs.get::<T>(index)[start..][..out.len()];
    // The conversions of these types have branches.
    if C::holds(ElementType::F32) {
        match T::TYPE {
            ElementType::F16 => {
                return widen_by(f16_to_f32, bytemuck::cast_slice(elements), bytemuck::cast_slice_mut(out));
            }
            ElementType::BF16 => {
                let widen = |bits: u16| bf16::from_bits(bits).load();
                return widen_by(widen, bytemuck::cast_slice(elements), bytemuck::cast_slice_mut(out));
            }
            _ => {}
        }
    }
    out.iter_mut().zip(elements).for_each(|(out, element)| *out = element.widen().cast());
}

fn narrow_part<T: Element, C: Number + Cast<T::Wide>>(elements: &[C], out: &mut [u8]) {
    let out: &mut [T] = bytemuck::cast_slice_mut(out);
    if T::TYPE == ElementType::F16 && C::holds(ElementType::F32) {
        return narrow_halves(bytemuck::cast_slice(elements), bytemuck::cast_slice_mut(out));
    }
    out.iter_mut().zip(elements).for_each(|(out, &element)| *out = T::narrow(element.cast()));
}

vectorised! {
fn widen_by(widen: impl Fn(u16) -> f32, codes: &[u16], out: &mut [f32]) {
    for (out, &code) in out.iter_mut().zip(codes) {
        *out = widen(code);
    }
}
}

vectorised! {
fn narrow_halves(floats: &[f32], out: &mut [u16]) {
    for (out, &float) in out.iter_mut().zip(floats) {
        *out = f32_to_f16(float);
    }
}
}

/// Sums of booleans are their disjunction.
fn truth<C: Number>(elements: &[C], out: &mut [u8]) {
    out.iter_mut().zip(elements).for_each(|(out, &element)| *out = u8::from(element != C::ZERO));
}
