//! Conversions of attributes: what each Rust type takes, and what it refuses.
//!
//! The rules: float to narrower float rounds, and is an error if a finite value becomes infinite; integer to integer is
//! range-checked; integer to float only if exact; float to integer never.

use half::f16 as F16;
use oxcall::descriptor::{DTypeRule, Op};
use oxcall::host::AttrValue as Wire;
use oxcall::prelude::*;
use oxcall::testing::call;

macro_rules! targets {
    ($($name:ident $ty:ty;)*) => {$(
        #[custom_call]
        fn $name(#[attr] a: $ty, mut y: ScalarOut<$ty>) {
            y.set(a);
        }
    )*};
}
targets! {
    to_bool bool; to_i8 i8; to_i16 i16; to_i32 i32; to_i64 i64; to_u8 u8; to_u16 u16; to_u32 u32; to_u64 u64;
    to_f16 f16; to_bf16 bf16; to_f32 f32; to_f64 f64; to_c64 Complex<f32>; to_c128 Complex<f64>;
}

#[custom_call]
fn to_usize(#[attr] a: usize, mut y: ScalarOut<u64>) {
    y.set(a as u64);
}

/// The value of a call, as bytes of the result; or what it says.
fn run<O: Op>(value: &Wire) -> Result<Vec<u8>, String> {
    let DTypeRule::One(dtype) = O::HANDLER.params[0].dtype else { panic!("the result has one dtype") };
    let call = call::<O>().attr("a", value.clone()).ret(dtype, &[]);
    call.run().map(|outputs| outputs.bytes(0).to_vec()).map_err(|e| e.message().to_owned())
}

macro_rules! accepted {
    ($($op:ident: $($given:expr => $expected:expr),* $(,)?;)*) => {$($({
        let expected = $expected;
        let bytes = run::<$op>(&Wire::from($given));
        let expected = oxcall::testing::Value::from(expected);
        assert_eq!(bytes.as_deref(), Ok(expected.bytes()), "{} of {}", stringify!($op), stringify!($given));
    })*)*};
}

macro_rules! refused {
    ($($op:ident: $($given:expr => $part:literal),* $(,)?;)*) => {$($({
        let message = run::<$op>(&Wire::from($given)).expect_err(stringify!($op $given));
        let start = concat!(stringify!($op), ": attribute `a`: expected ");
        assert!(message.starts_with(start) && message.contains($part), "{} of {}: {message}", stringify!($op), stringify!($given));
    })*)*};
}

#[test]
fn integers_are_range_checked() {
    accepted! {
        to_i8: -128i64 => -128i8, 127u64 => 127i8, 5u8 => 5i8;
        to_i16: i16::MIN => i16::MIN, 300i32 => 300i16;
        to_i32: i64::from(i32::MAX) => i32::MAX, -1i8 => -1i32;
        to_i64: u32::MAX => i64::from(u32::MAX), i64::MIN => i64::MIN;
        to_u8: 255i64 => 255u8, 0i8 => 0u8;
        to_u16: 65535i32 => u16::MAX;
        to_u32: 4294967295i64 => u32::MAX;
        to_u64: i64::MAX => i64::MAX as u64, u64::MAX => u64::MAX;
        to_usize: 7u8 => 7u64, i64::MAX => i64::MAX as u64;
    }
    refused! {
        to_i8: 128i64 => "128 (s64): it is out of range", -129i16 => "out of range";
        to_i16: 32768u16 => "out of range";
        to_i32: i64::from(i32::MAX) + 1 => "out of range", u64::MAX => "out of range";
        to_i64: u64::MAX => "18446744073709551615 (u64): it is out of range";
        to_u8: -1i64 => "out of range", 256i64 => "out of range";
        to_u64: -1i8 => "out of range";
        to_usize: -1i64 => "-1", u64::MAX => "out of range";
    }
}

#[test]
fn floats_never_become_integers() {
    refused! {
        to_i64: 1.0f64 => "1.0 (f64): floats are not converted to integers; give an int", f64::NAN => "NaN (f64)";
        to_u8: 1.0f32 => "floats are not converted";
        to_i32: F16::ONE => "1.0 (f16)";
        to_i16: true => "true (pred): give an int";
        to_i32: "1" => "the string \"1\"", [1i32] => "an array of 1 s32", [("a", 1.into())] => "a dictionary";
        to_i64: Complex::new(1f64, 0.0) => "(c128)";
    }
}

#[test]
fn floats_round_and_stay_finite() {
    accepted! {
        to_f32: 0.1f64 => 0.1f32, f64::INFINITY => f32::INFINITY, f64::NEG_INFINITY => f32::NEG_INFINITY,
            1e-300f64 => 0f32, f64::from(f32::MAX) => f32::MAX, F16::ONE => 1f32;
        to_f64: 0.1f32 => f64::from(0.1f32), bf16::ONE => 1f64;
        to_f16: 65504f64 => F16::MAX, 65519.9f64 => F16::MAX, 0.1f64 => F16::from_f64(0.1), f32::INFINITY => F16::INFINITY;
        to_bf16: 1.005f64 => bf16::from_f64(1.005), -0.0f64 => bf16::NEG_ZERO;
        to_c64: 0.1f64 => Complex::new(0.1f32, 0.0);
    }
    refused! {
        to_f32: 1e39f64 => "it is too large for this type", f64::MAX => "too large";
        to_f16: 65520f64 => "too large", 1e9f32 => "too large";
        to_bf16: f64::MAX => "too large";
        to_c64: Complex::new(1e300f64, 0.0) => "too large";
        to_f64: "1.0" => "the string", true => "true (pred): give a float", Complex::new(1f64, 0.0) => "(c128)";
    }
    let nan = run::<to_f32>(&f64::NAN.into()).unwrap();
    assert!(f32::from_ne_bytes(nan.try_into().unwrap()).is_nan());
}

#[test]
fn double_rounding_does_not_happen() {
    // Just above the middle of two f16 neighbours; through f32 it would round to the middle, and then to even.
    let value = 1.0 + 1.0 / 2048.0 + 1e-10;
    accepted! { to_f16: value => F16::from_bits(0x3c01); }
}

#[test]
fn integers_become_floats_only_if_exact() {
    accepted! {
        to_f32: 16777216i64 => 16777216f32, -1i8 => -1f32, 0u64 => 0f32;
        to_f64: i64::MIN => i64::MIN as f64, 9007199254740992i64 => 9007199254740992f64;
        to_f16: 2048i64 => F16::from_f32(2048.0);
        to_bf16: 256u16 => bf16::from_f32(256.0);
        to_c128: 3i64 => Complex::new(3f64, 0.0);
    }
    refused! {
        to_f32: 16777217i64 => "16777217 (s64): this integer is not exact in this type; give a float";
        to_f64: 9007199254740993i64 => "not exact", i64::MAX => "not exact", u64::MAX => "not exact";
        to_f16: 2049i64 => "not exact", 65536i64 => "not exact", i64::MAX => "not exact";
        to_bf16: 257i64 => "not exact";
    }
}

#[test]
fn bools_take_bools_and_bits() {
    accepted! { to_bool: true => true, false => false, 1i64 => true, 0u8 => false; }
    refused! { to_bool: 2i64 => "2 (s64): give True or False", 1.0f64 => "1.0 (f64)", "true" => "the string"; }
}

#[test]
fn complex_numbers_take_pairs() {
    accepted! {
        to_c64: Complex::new(1f64, -2.0) => Complex::new(1f32, -2.0), [1f64, 2.0] => Complex::new(1f32, 2.0),
            [1i64, 2] => Complex::new(1f32, 2.0);
        to_c128: Complex::new(1f32, -2.0) => Complex::new(1f64, -2.0), [0.5f32, 2.0] => Complex::new(0.5f64, 2.0);
    }
    refused! {
        to_c64: [1f64] => "an array [re, im], got an array of 1 f64", "i" => "the string \"i\"", true => "give a float";
        to_c128: [1f64, 2.0, 3.0] => "an array of 3 f64";
    }
}

#[custom_call]
fn lists(#[attr] a: Vec<f32>, #[dims(2)] mut y: Out<f32>) {
    y.copy_from_slice(&a);
}

#[custom_call]
fn borrows(#[attr] a: &[i32], mut y: ScalarOut<i64>) {
    y.set(a.iter().map(|&a| i64::from(a)).sum());
}

#[test]
fn arrays_convert_element_by_element_and_slices_do_not() {
    let list = |value: Wire| call::<lists>().attr("a", value).ret_of::<f32>(&[2]);
    let floats = |value: Wire| list(value).run().unwrap().get::<f32>(0).into_raw_vec_and_offset().0;
    for value in [Wire::from([1f64, 2.0]), [1f32, 2.0].into(), [1i64, 2].into(), [1u8, 2].into()] {
        assert_eq!(floats(value), [1.0, 2.0]);
    }
    super::says(list([1f64, 1e99].into()), &["attribute `a[1]`", "too large"]);
    super::says(list([1i64, 16777217].into()), &["attribute `a[1]`", "not exact"]);
    super::says(list(1f32.into()), &["expected an array of f32, got 1.0 (f32)"]);
    super::says(list("1".into()), &["expected an array of f32"]);
    let slice = |value: Wire| call::<borrows>().attr("a", value);
    assert_eq!(slice([1i32, 2].into()).run().unwrap().get::<i64>(0)[[]], 3);
    assert_eq!(slice([0i64; 0].into()).run().unwrap().get::<i64>(0)[[]], 0);
    super::says(slice([1i64].into()), &["an array of exactly s32 (a borrowed slice is not converted)", "1 s64"]);
}
