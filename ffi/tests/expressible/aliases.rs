//! Memory that several operands share.

use oxcall::element::U4;
use oxcall::prelude::*;
use oxcall::testing::{Value, call};

use super::host::{Frame, bare};
use super::says;

/// `x += y`.
#[custom_call]
fn accumulate(#[dims(..s)] mut x: InOut<f32>, #[dims(..s)] y: Array<f32>) {
    assert_eq!((x.shape(), x.dtype()), (y.shape(), y.dtype()));
    for (x, y) in x.iter_mut().zip(y.iter()) {
        *x += y;
    }
}

#[custom_call]
fn negate(#[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y = -x;
    }
}

#[custom_call]
fn split(x: Array<f32>, mut y: Out<f32>, mut z: Out<f32>) {
    y.fill(x.len() as f32);
    z.fill(-1.0);
}

#[custom_call]
fn first(xs: Variadic<Array<f32>>, mut y: Out<f32>) {
    y.fill(xs.first().map_or(0.0, |x| x[0]));
}

#[custom_call]
fn flip(mut bits: InOut<bool>, mut small: InOut<U4>) {
    for bit in bits.iter_mut() {
        *bit = !*bit;
    }
    for index in 0..small.len() {
        let value = small.get(index).unwrap();
        small.set(index, U4::wrapping(15 - value.get()));
    }
}

/// All bits are ones.
#[custom_call]
fn fifteens(#[dims(..)] mut y: Out<U4>, #[dims(..)] mut z: Out<U4>) {
    for index in 0..y.len() {
        y.set(index, U4::MAX);
    }
    for index in 0..z.len() {
        z.set(index, U4::MAX);
    }
}

#[custom_call(platform = "CUDA")]
fn device_update(#[dims(n)] mut x: DeviceInOut<f32>, #[dims(n)] y: DeviceArray<f32>) {
    assert_eq!((x.len(), x.size_in_bytes()), (y.len(), 4 * y.len()));
    assert!(!x.as_mut_ptr().is_null() && !y.as_ptr().is_null());
}

#[test]
fn an_in_out_is_updated_in_place() {
    let outputs = call::<accumulate>().arg([1f32, 2.0]).arg([10f32, 20.0]).alias(0, 0).run().unwrap();
    assert_eq!(outputs.get::<f32>(0).as_slice().unwrap(), [11.0, 22.0]);
}

#[test]
fn an_in_out_in_two_buffers_is_copied_and_the_argument_kept() {
    let (x, y, mut out) = ([1f32, 2.0], [10f32, 20.0], [0f32; 2]);
    let frame = Frame::default().arg(x.as_ptr(), &[2]).arg(y.as_ptr(), &[2]).ret(out.as_mut_ptr(), &[2]);
    // SAFETY: all buffers have two elements.
    unsafe { frame.execute::<accumulate>(&bare()) }.unwrap();
    assert_eq!((out, x), ([11.0, 22.0], [1.0, 2.0]));
    let empty = call::<accumulate>().arg([0f32; 0]).arg([0f32; 0]).run().unwrap();
    assert!(empty.bytes(0).is_empty());
}

#[test]
fn in_outs_of_bool_and_packed_elements() {
    let call = || call::<flip>().arg([true, false]).arg([1u8, 2, 3].map(U4::wrapping));
    for outputs in [call().run().unwrap(), call().alias(0, 0).alias(1, 1).run().unwrap()] {
        assert_eq!(outputs.get::<bool>(0).as_slice().unwrap(), [false, true]);
        assert_eq!(outputs.get::<U4>(1).as_slice().unwrap(), [14u8, 13, 12].map(U4::wrapping));
    }
    let bad = oxcall::testing::call::<flip>().arg(Value::from_bytes(DType::Pred, &[1], &[3])).arg([U4::MAX]);
    says(bad, &["argument `bits`", "byte 3"]);
}

#[test]
fn overlap_that_is_not_declared_is_an_error() {
    let aliased = call::<negate>().arg([1f32, 2.0]).alias(0, 0);
    says(aliased, &["negate: result `y` and argument `x` share memory", "InOut"]);
    let other = call::<accumulate>().arg([1f32]).arg([2f32]).alias(1, 0);
    says(other, &["accumulate: result `x` and argument `y` share memory"]);
    says(call::<first>().arg([1f32]).arg([2f32]).alias(1, 0), &["first: result `y` and argument `xs[1]` share memory"]);
}

#[test]
fn overlap_of_one_byte_is_found() {
    let mut memory = [0f32; 8];
    let base = memory.as_mut_ptr();
    // Offsets in elements of `y` (two of them) and `z` (two) from `x` (four elements at 2).
    let at = |offset: usize| base.wrapping_add(offset);
    for (y, z, expected) in [
        (0, 6, None),
        (1, 6, Some("result `y` and argument `x`")),
        (0, 5, Some("result `z` and argument `x`")),
        (6, 7, Some("result `z` and result `y`")),
        (6, 6, Some("result `z` and result `y`")),
    ] {
        let frame = Frame::default().arg(at(2), &[4]).ret(at(y), &[2]).ret(at(z), &[if z == 7 { 1 } else { 2 }]);
        // SAFETY: all buffers lie in `memory`.
        match (unsafe { frame.execute::<split>(&bare()) }, expected) {
            (Ok(()), None) => {}
            (Err(error), Some(part)) => assert!(error.message().contains(part), "{error}"),
            (result, _) => panic!("{y} {z}: {result:?}"),
        }
    }
    // A part of an in-out's own argument.
    let frame = Frame::default().arg(at(0), &[3]).arg(at(6), &[3]).ret(at(1), &[3]);
    // SAFETY: only checked, since it is refused; `y` would end past the memory, but no byte of it is read.
    let error = unsafe { frame.execute::<accumulate>(&bare()) }.unwrap_err();
    assert!(error.message().contains("share memory"), "{error}");
}

#[test]
fn packed_results_share_no_byte() {
    let mut memory = [0u8; 8];
    let base = memory.as_mut_ptr().cast::<U4>();
    // Seven elements are four bytes.
    for z in 0..=4 {
        let frame = Frame::default().ret(base, &[7]).ret(base.wrapping_byte_add(z), &[7]);
        // SAFETY: all buffers lie in `memory`.
        match unsafe { frame.execute::<fifteens>(&bare()) } {
            Ok(()) => assert_eq!(z, 4),
            Err(error) => assert!(z < 4 && error.message().contains("share memory"), "{z}: {error}"),
        }
    }
}

#[test]
fn empty_buffers_overlap_nothing() {
    let mut memory = [0f32; 2];
    let base = memory.as_mut_ptr();
    let frame = Frame::default().arg(base, &[2]).ret(base, &[0]).ret(base.wrapping_add(1), &[0, 5]);
    // SAFETY: the results are empty.
    unsafe { frame.execute::<split>(&bare()) }.unwrap();
}

#[test]
fn device_memory_is_never_copied() {
    let call = || call::<device_update>().arg([1f32, 2.0]).arg([3f32, 4.0]);
    call().alias(0, 0).run().unwrap();
    says(call(), &["argument `x`", "must be the same memory", "input_output_aliases"]);
}

#[test]
fn misaligned_buffers_are_errors() {
    let mut memory = [0u64; 4];
    let base = memory.as_mut_ptr().cast::<u8>();
    let at = |offset: usize| base.wrapping_add(offset).cast::<f32>();
    for (x, y, name) in [(1, 16, "argument `x`"), (0, 18, "result `y`")] {
        let frame = Frame::default().arg(at(x), &[2]).ret(at(y), &[2]);
        // SAFETY: all buffers lie in `memory`.
        let error = unsafe { frame.execute::<negate>(&bare()) }.unwrap_err();
        let message = error.message();
        assert!(message.contains(name) && message.contains("not aligned to 4 bytes"), "{message}");
    }
}

/// As `accumulate`, with a term that may be left out: operands whose number is not fixed are checked another way.
#[custom_call]
fn accumulate_some(
    #[dims(..s)] mut x: InOut<f32>,
    #[dims(..s)] y: Option<Array<f32>>,
    #[dims(..s)] mut copy: Out<f32>,
) {
    for (x, y) in x.iter_mut().zip(y.iter().flat_map(|y| y.iter())) {
        *x += y;
    }
    copy.copy_from_slice(&x);
}

#[test]
fn an_in_out_parameter_beside_an_optional_one() {
    let x = [1f32, 2.0];
    for (call, expected) in [
        (call::<accumulate_some>().arg(x).alias(0, 0), [1f32, 2.0]),
        (call::<accumulate_some>().arg(x).arg([10f32, 20.0]).alias(0, 0), [11.0, 22.0]),
        (call::<accumulate_some>().arg(x).arg([10f32, 20.0]), [11.0, 22.0]),
    ] {
        let out = call.run().unwrap();
        assert_eq!(out.get::<f32>(0).as_slice().unwrap(), expected);
        assert_eq!(out.get::<f32>(1).as_slice().unwrap(), expected);
    }
    let crossed = call::<accumulate_some>().arg(x).arg([10f32, 20.0]).alias(1, 0);
    says(crossed, &["accumulate_some: result `x` and argument `y` share memory"]);
}
