//! Every data type of the ABI, and dispatch on them.

use ndarray::array;
use oxcall::element::*;
use oxcall::prelude::*;
use oxcall::testing::{Value, call};

use super::says;

#[custom_call]
fn any(x: AnyArray, mut y: AnyOut) {
    assert_eq!(Some(x.size_in_bytes()), x.dtype().size_in_bytes(x.len()));
    assert_eq!(x.size_in_bytes(), x.as_bytes().len());
    y.copy_from_bytes(x.as_bytes());
}

/// Copies the elements of every type one by one.
#[custom_call(T = [bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, Complex<f32>, Complex<f64>,
    S1, S2, S4, U1, U2, U4, F4E2M1FN,
    F8E5M2, F8E3M4, F8E4M3, F8E4M3FN, F8E4M3B11FNUZ, F8E5M2FNUZ, F8E4M3FNUZ, F8E8M0FNU])]
fn each<T: Element>(#[dims(..s)] x: Array<T>, #[dims(..s)] mut y: Out<T>) {
    assert_eq!(x.as_bytes().len(), T::DTYPE.size_in_bytes(x.len()).unwrap());
    assert_eq!(y.as_bytes_mut().len(), x.as_bytes().len());
    for index in 0..x.len() {
        // SAFETY: the index is in range, and the argument is whole.
        y.set(index, unsafe { T::load(x.as_bytes().as_ptr(), index) });
    }
}

/// A value of each dtype: bytes that are valid for it.
fn value(dtype: DType, len: usize) -> Value {
    let size = dtype.size_in_bytes(len).unwrap();
    let bytes: Vec<u8> = (0..size)
        .map(|i| if dtype == DType::Pred { i as u8 % 2 } else { (i as u8).wrapping_mul(37).wrapping_add(11) })
        .collect();
    Value::from_bytes(dtype, &[len as i64], &bytes)
}

/// All bits that belong to elements: those above the last element of a packed array are nobody's.
fn bits(value: &Value) -> Vec<u8> {
    let mut bytes = value.bytes().to_vec();
    let used = value.dims()[0] as usize * value.dtype().bits() % 8;
    if let Some(last) = bytes.last_mut().filter(|_| used > 0) {
        *last &= (1 << used) - 1;
    }
    bytes
}

#[test]
fn every_dtype_is_passed_with_its_size() {
    assert_eq!(DType::ALL.len(), 31);
    for &dtype in DType::ALL {
        let lengths: &[usize] = if cfg!(miri) { &[0, 9] } else { &[0, 1, 2, 3, 7, 8, 9, 17] };
        for &len in lengths {
            let x = value(dtype, len);
            let outputs = call::<any>().arg(x.clone()).run().unwrap();
            assert_eq!(outputs.bytes(0), x.bytes(), "{dtype}");
            if dtype != DType::Token {
                let outputs = call::<each>().arg(x.clone()).run().unwrap();
                assert_eq!(bits(outputs.value(0)), bits(&x), "{len} of {dtype}");
            }
        }
    }
    assert_eq!(value(DType::S4, 9).bytes().len(), 5);
    assert_eq!(value(DType::U1, 9).bytes().len(), 2);
    assert_eq!(value(DType::F4E2M1FN, 3).bytes().len(), 2);
    assert_eq!(value(DType::F8E8M0FNU, 3).bytes().len(), 3);
}

#[custom_call]
fn unpack(#[dims(..s)] x: Array<S4>, #[dims(..s)] y: &mut [i8]) {
    assert_eq!((x.get(x.len()), x.iter().len()), (None, y.len()));
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y = x.get();
    }
}

#[custom_call]
fn pack(#[dims(..s)] x: &[u8], #[dims(..s)] mut y: Out<U2>) {
    y.fill(U2::MAX);
    for (index, &x) in x.iter().enumerate() {
        y.set(index, U2::wrapping(x));
    }
}

#[custom_call]
fn quantise(#[dims(..s)] x: &[f32], #[dims(..s)] y: &mut [F8E4M3FN]) {
    for (x, y) in x.iter().zip(y) {
        *y = F8E4M3FN::from_f32(*x);
    }
}

#[custom_call]
fn not(#[dims(..s)] x: &[bool], #[dims(..s)] mut y: Out<bool>) {
    for (index, x) in x.iter().enumerate() {
        y.set(index, !x);
    }
}

#[custom_call]
fn conjugate(x: ArrayViewD<Complex<f32>>, mut y: ArrayViewMutD<Complex<f32>>) {
    y.zip_mut_with(&x, |y, x| *y = x.conj());
}

#[test]
fn packed_bool_complex_and_small_floats() {
    let s4 = |v: i8| S4::new(v).unwrap();
    let outputs = call::<unpack>().arg([s4(-8), s4(7), s4(-1)]).run().unwrap();
    assert_eq!(outputs.get::<i8>(0), array![-8i8, 7, -1].into_dyn());
    let outputs = call::<pack>().arg([0u8, 1, 2, 3, 6]).run().unwrap();
    assert_eq!(outputs.bytes(0)[0], 0b11_10_01_00);
    assert_eq!(outputs.get::<U2>(0)[[4]], U2::wrapping(2));
    let outputs = call::<quantise>().arg([0.5f32, 448.0, 1e9, -1.0]).run().unwrap();
    let y = outputs.get::<F8E4M3FN>(0).mapv(F8E4M3FN::to_f32);
    assert_eq!((y[[0]], y[[1]], y[[3]]), (0.5, 448.0, -1.0));
    let outputs = call::<not>().arg([true, false]).run().unwrap();
    assert_eq!(outputs.get::<bool>(0), array![false, true].into_dyn());
    let z = Complex::new(1f32, 2.0);
    assert_eq!(call::<conjugate>().arg(z).run().unwrap().get::<Complex<f32>>(0)[[]], z.conj());
}

#[test]
fn bool_bytes_are_0_or_1() {
    for byte in (2..=255).step_by(if cfg!(miri) { 50 } else { 1 }) {
        let x = Value::from_bytes(DType::Pred, &[3], &[1, 0, byte]);
        says(call::<not>().arg(x), &["not: argument `x`: element 2 is the byte", &byte.to_string()]);
    }
}

#[custom_call(T = floats)]
fn mean<T: Float>(x: Array<T>, mut y: ScalarOut<T>) {
    let sum = x.iter().fold(T::Wide::default(), |sum, x| sum + x.widen());
    y.set(T::narrow(sum / T::Wide::from_f64(x.len() as f64)));
}

#[custom_call(T = numbers)]
fn square<T: Number>(#[dims(..s)] x: Array<T>, #[dims(..s)] mut y: Out<T>) {
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y = *x * *x;
    }
}

/// A user's own bound.
trait FromF64: Plain {
    fn of(value: f64) -> Self;
}

impl FromF64 for f64 {
    fn of(value: f64) -> Self {
        value
    }
}

impl FromF64 for i64 {
    fn of(value: f64) -> Self {
        value as i64
    }
}

/// Every combination of two element types; the second follows from the result alone.
#[custom_call(T = [f16, f32, i32], U = [f64, i64])]
fn convert<T: Plain + Into<f64>, U: FromF64>(#[dims(..s)] x: Array<T>, #[dims(..s)] mut y: Out<U>) {
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y = U::of((*x).into());
    }
}

#[test]
fn dispatch_on_one_type() {
    for x in [Value::from([1f32, 2.0]), [1f64, 2.0].into(), [f16::ONE, f16::from_f32(2.0)].into()] {
        let dtype = x.dtype();
        let outputs = call::<mean>().arg(x).run().unwrap();
        assert_eq!(outputs.value(0).dtype(), dtype);
    }
    let outputs = call::<mean>().arg([bf16::from_f32(1.0), bf16::from_f32(2.0)]).run().unwrap();
    assert_eq!(outputs.get::<bf16>(0)[[]], bf16::from_f32(1.5));
    says(
        call::<mean>().arg([1i32]).ret_of::<i32>(&[]),
        &["mean: argument `x`: expected dtype one of f16, bf16, f32, f64, got s32"],
    );
    says(
        call::<mean>().arg([1f32]).ret_of::<f64>(&[]),
        &["result `y`: expected dtype f32, got f64 (T is f32 in this call)"],
    );
    assert_eq!(call::<square>().arg([3u64]).run().unwrap().get::<u64>(0)[[0]], 9);
    let i = Complex::new(0f64, 1.0);
    assert_eq!(call::<square>().arg(i).run().unwrap().get::<Complex<f64>>(0)[[]], Complex::new(-1.0, 0.0));
    says(call::<square>().arg([true]).ret_of::<bool>(&[1]), &["got pred"]);
}

#[test]
fn dispatch_on_two_types() {
    for x in [Value::from([1.5f32]), [f16::from_f32(1.5)].into(), [1i32].into()] {
        let whole = call::<convert>().arg(x.clone()).dtype("U", DType::S64).run().unwrap();
        assert_eq!(whole.get::<i64>(0)[[0]], 1);
        let exact = call::<convert>().arg(x.clone()).ret_of::<f64>(&[1]).run().unwrap();
        assert_eq!(exact.get::<f64>(0)[[0]], if x.dtype() == DType::S32 { 1.0 } else { 1.5 });
    }
    says(
        call::<convert>().arg([1u8]).ret_of::<f64>(&[1]),
        &["argument `x`: expected dtype one of f16, f32, s32, got u8"],
    );
    says(call::<convert>().arg([1f32]).ret_of::<f32>(&[1]), &["result `y`: expected dtype one of f64, s64, got f32"]);
}
