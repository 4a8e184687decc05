//! Floats of all formats, as bits and as numbers.

use half::{bf16, f16};
use oxcall::element as narrow;
use oxcall::element::minifloat::Format;

use crate::ElementType;

/// The nearest `f32` with an odd last bit, if `value` is none: rounding it to a narrower type rounds `value` itself.
fn to_f32_odd(value: f64) -> f32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    if back == value || value.is_nan() || nearest.to_bits() & 1 == 1 {
        return nearest;
    }
    let bits = nearest.to_bits();
    let towards_zero = back.abs() > value.abs();
    f32::from_bits(if towards_zero { bits - 1 } else { bits + 1 })
}

/// Evaluates `$body` with `$T` as the type of `$element`, a float of at most 16 bits; `$other` for other types.
macro_rules! by_narrow_float {
    ($element:expr, $T:ident => $body:expr, else $other:expr) => {
        by_narrow_float!(@ $element, $T => $body, else $other;
            F4E2M1FN narrow::F4E2M1FN, F8E3M4 narrow::F8E3M4, F8E4M3 narrow::F8E4M3, F8E4M3FN narrow::F8E4M3FN,
            F8E4M3FNUZ narrow::F8E4M3FNUZ, F8E4M3B11FNUZ narrow::F8E4M3B11FNUZ, F8E5M2 narrow::F8E5M2,
            F8E5M2FNUZ narrow::F8E5M2FNUZ, F8E8M0FNU narrow::F8E8M0FNU, F16 f16, BF16 bf16)
    };
    (@ $element:expr, $T:ident => $body:expr, else $other:expr; $($name:ident $ty:ty),*) => {
        match $element { $(ElementType::$name => { type $T = $ty; $body })* other => $other(other) }
    };
}

const F6E2M3_VALUES: [f32; 64] = Format::F6E2M3FN.table();
const F6E3M2_VALUES: [f32; 64] = Format::F6E3M2FN.table();

/// The bits of the number of type `element` that is nearest to `value`, ties to even.
pub(crate) fn encode(element: ElementType, value: f64) -> u64 {
    by_narrow_float!(element, T => T::from_f32(to_f32_odd(value)).to_bits().into(), else |element| match element {
        ElementType::F6E2M3FN => Format::F6E2M3FN.encode(to_f32_odd(value)).into(),
        ElementType::F6E3M2FN => Format::F6E3M2FN.encode(to_f32_odd(value)).into(),
        ElementType::F32 => (value as f32).to_bits().into(),
        _ => value.to_bits(),
    })
}

/// The number of type `element` that has these bits; exact.
pub(crate) fn decode(element: ElementType, bits: u64) -> f64 {
    by_narrow_float!(element, T => T::from_bits(bits as _).to_f32().into(), else |element| match element {
        ElementType::F6E2M3FN => F6E2M3_VALUES[(bits & 63) as usize].into(),
        ElementType::F6E3M2FN => F6E3M2_VALUES[(bits & 63) as usize].into(),
        ElementType::F32 => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits),
    })
}
