//! CPU calls.

use super::*;

/// Calls as XLA:CPU does under API v1: the descriptor leads the operands.
fn v1<O: Op>(descriptor: &[u8], operands: &[*const c_void], out: *mut c_void) {
    let mut ins = vec![data(descriptor)];
    ins.extend(operands);
    // SAFETY: the tests give pointers for the descriptor's types.
    unsafe { (table::<O>().cpu_v1)(out, ins.as_mut_ptr()) }
}

fn last_error() -> String {
    crate::legacy::take_last_error()
}

#[test]
fn a_single_result_is_the_pointer() {
    let (x, mut y) = ([1f32, 2.0, 3.0], [0f32; 3]);
    v1::<legacy_scale>(&scale(4.0, 3).leading().encode(), &[data(&x)], y.as_mut_ptr().cast());
    assert_eq!(y, [4.0, 8.0, 12.0]);
}

#[test]
fn several_results_are_an_array_of_pointers() {
    let descriptor = Descriptor::default()
        .operand(DType::F64, &[2, 2])
        .result(DType::F64, &[])
        .result(DType::S32, &[2])
        .leading()
        .encode();
    let (x, mut sum, mut count) = ([1f64, 2.0, 3.0, 4.0], 0f64, [0i32; 2]);
    let mut out: [*mut c_void; 2] = [(&raw mut sum).cast(), count.as_mut_ptr().cast()];
    v1::<legacy_sum>(&descriptor, &[data(&x)], out.as_mut_ptr().cast());
    assert_eq!((sum, count), (10.0, [4, 4]));
}

#[test]
fn futures_are_waited_for() {
    let _turn = taking_turns();
    let descriptor = Descriptor::default().operand(DType::F32, &[]).result(DType::F32, &[]).leading().encode();
    let mut y = 0f32;
    v1::<legacy_later>(&descriptor, &[data(&[1f32])], (&raw mut y).cast());
    assert_eq!(y, 2.0);
    v1::<legacy_later>(&descriptor, &[data(&[-1f32])], (&raw mut y).cast());
    assert!(y.is_nan());
    assert!(last_error().contains("negative"));
}

#[test]
fn v1_failures_are_nan_or_zero_and_remembered() {
    let _turn = taking_turns();
    let (x, mut y) = ([1f32, 2.0], [7f32; 2]);
    v1::<legacy_scale>(&scale(-1.0, 2).leading().encode(), &[data(&x)], y.as_mut_ptr().cast());
    assert!(y.iter().all(|y| y.is_nan()));
    assert_eq!(last_error(), "legacy_scale: factor -1 is negative\nand there are 0");
    assert_eq!(last_error(), "");

    let descriptor = Descriptor::default()
        .operand(DType::F64, &[0])
        .result(DType::F64, &[])
        .result(DType::S32, &[2])
        .leading()
        .encode();
    let (mut sum, mut count) = (0f64, [7i32; 2]);
    let mut out: [*mut c_void; 2] = [(&raw mut sum).cast(), count.as_mut_ptr().cast()];
    v1::<legacy_sum>(&descriptor, &[data::<f64>(&[])], out.as_mut_ptr().cast());
    assert!(sum.is_nan());
    assert_eq!(count, [0, 0]);
    assert_eq!(last_error(), "legacy_sum: there is nothing to sum");
}

#[test]
fn panics_are_failures() {
    let _turn = taking_turns();
    let mut y = [7f32; 1];
    v1::<legacy_scale>(&scale(0.0, 1).leading().encode(), &[data(&[1f32])], y.as_mut_ptr().cast());
    assert!(y[0].is_nan());
    let error = last_error();
    assert!(error.starts_with("legacy_scale: panicked at ") && error.ends_with("the factor is zero"), "{error}");
}

#[test]
fn decoding_errors_of_the_handler_are_failures() {
    let _turn = taking_turns();
    let mut y = [7f32; 1];
    let descriptor = Descriptor::default().operand(DType::F32, &[1]).result(DType::F32, &[1]).leading().encode();
    v1::<legacy_scale>(&descriptor, &[data(&[1f32])], y.as_mut_ptr().cast());
    assert!(y[0].is_nan());
    let error = last_error();
    assert!(error.starts_with("legacy_scale: ") && error.contains("`factor`"), "{error}");
}

#[test]
fn the_device_is_not_known() {
    let _turn = taking_turns();
    let descriptor = Descriptor::default().operand(DType::F32, &[]).result(DType::F32, &[]).leading().encode();
    let mut y = 7f32;
    v1::<legacy_where>(&descriptor, &[data(&[1f32])], (&raw mut y).cast());
    assert!(y.is_nan());
    let error = last_error();
    assert!(error.contains("legacy custom call API") && error.contains("_ordinal"), "{error}");
}

/// Without a descriptor the results' sizes are unknown: they stay as they are.
#[test]
fn calls_without_a_descriptor_say_how_to_call() {
    let _turn = taking_turns();
    let mut y = [7f32; 2];
    let out: *mut c_void = y.as_mut_ptr().cast();
    let mut damaged = scale(4.0, 2).leading().encode().to_vec();
    damaged[20] = 0xff;
    let damaged = encode::Bytes::new(&damaged);
    let not_counted = scale(4.0, 2).encode();
    for (first, expected) in [
        (data(&[1f64]), "the call has no call descriptor"),
        (std::ptr::null(), "the call has no call descriptor"),
        (data(&damaged), "unknown flags"),
        (data(&not_counted), "does not count itself"),
    ] {
        let mut ins = [first, data(&[1f32, 2.0])];
        // SAFETY: two operands, and room for the result.
        unsafe { (table::<legacy_scale>().cpu_v1)(out, ins.as_mut_ptr()) };
        let error = last_error();
        assert!(error.starts_with("legacy_scale: ") && error.contains(expected), "{error}");
    }
    // SAFETY: nothing is read through null.
    unsafe { (table::<legacy_scale>().cpu_v1)(out, std::ptr::null_mut()) };
    assert!(last_error().contains("oxcall.load(...).legacy_scale(..., custom_call_api_version=3)"));
    assert_eq!(y, [7.0, 7.0]);
}

#[cfg(not(miri))]
#[test]
fn v2_and_v3_fail_by_their_status() {
    let _turn = taking_turns();
    let (x, mut y) = ([1f32], [7f32]);
    let out: *mut c_void = y.as_mut_ptr().cast();
    let call_v2 = |factor: f32| {
        let descriptor = scale(factor, 1).leading().encode();
        let (mut status, mut ins) = (Status::new(), [data(&descriptor), data(&x)]);
        // SAFETY: pointers for the descriptor's types.
        unsafe { (table::<legacy_scale>().cpu_v2)(out, ins.as_mut_ptr(), status.as_ptr()) };
        (status.is_failure(), status)
    };
    let call_v3 = |opaque: &[u8]| {
        let (mut status, mut ins) = (Status::new(), [data(&x)]);
        let (text, len) = (opaque.as_ptr().cast(), opaque.len());
        // SAFETY: pointers for the descriptor's types.
        unsafe { (table::<legacy_scale>().cpu_v3)(out, ins.as_mut_ptr(), text, len, status.as_ptr()) };
        (status.is_failure(), status)
    };
    assert!(!call_v2(2.0).0);
    // Opaque bytes may have any address.
    let descriptor = scale(3.0, 1).encode();
    let shifted = [&[0], &*descriptor].concat();
    assert!(!call_v3(&shifted[1..]).0);
    let failures: [&dyn Fn() -> (bool, Box<Status>); 4] =
        [&|| call_v2(-1.0), &|| call_v3(&scale(-1.0, 1).encode()), &|| call_v3(&[]), &|| call_v3(b"OXC1")];
    for failure in failures {
        let (failed, status) = failure();
        assert!(failed);
        let message = status.message();
        // Without libstdc++ in the process, the message has its place elsewhere.
        let message = if message == "see last_error" { last_error() } else { message };
        assert!(message.starts_with("legacy_scale: "), "{message}");
    }
    // Results of failed calls are left alone: nobody looks at them.
    // SAFETY: the pointer is to `y`, which is alive.
    assert_eq!(unsafe { out.cast::<f32>().read() }, 3.0);
}

/// A status that is missing is no reason to report success.
#[test]
fn failures_without_a_status_are_those_of_v1() {
    let _turn = taking_turns();
    let mut y = [7f32];
    let (descriptor, mut ins) = (scale(-1.0, 1).encode(), [data(&[1f32])]);
    // SAFETY: pointers for the descriptor's types; the status may be null.
    unsafe {
        let (opaque, len) = (descriptor.as_ptr().cast(), descriptor.len());
        (table::<legacy_scale>().cpu_v3)(y.as_mut_ptr().cast(), ins.as_mut_ptr(), opaque, len, std::ptr::null_mut());
    }
    assert!(y[0].is_nan());
    assert!(last_error().contains("negative"));
}
