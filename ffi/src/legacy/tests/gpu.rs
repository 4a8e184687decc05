//! Calls by stream executor platforms.

use super::*;

const STREAM: usize = 0x1000;

fn device(fail: bool) -> Descriptor {
    Descriptor::default().operand(DType::F32, &[]).result(DType::U64, &[]).attr("fail", fail)
}

fn v1<O: Op>(descriptor: &[u8], buffers: &mut [*mut c_void]) {
    let stream = std::ptr::without_provenance_mut(STREAM);
    let (opaque, len) = (descriptor.as_ptr().cast(), descriptor.len());
    // SAFETY: the tests give pointers for the descriptor's types.
    unsafe { (table::<O>().gpu_v1)(stream, buffers.as_mut_ptr(), opaque, len) }
}

#[test]
fn buffers_are_operands_then_results() {
    let (mut x, mut y) = (3f32, 0u64);
    let mut buffers = [(&raw mut x).cast(), (&raw mut y).cast()];
    v1::<legacy_device>(&device(false).encode(), &mut buffers);
    assert_eq!(y, STREAM as u64 + 3);
}

/// Programs are traced for all platforms, so the descriptor may be among the operands too.
#[test]
fn a_descriptor_operand_is_skipped() {
    let (mut x, mut y) = (5f32, 0u64);
    let mut buffers = [std::ptr::null_mut(), (&raw mut x).cast(), (&raw mut y).cast()];
    v1::<legacy_device>(&device(false).leading().encode(), &mut buffers);
    assert_eq!(y, STREAM as u64 + 5);
}

#[test]
fn failures_leave_device_memory_alone() {
    let _turn = taking_turns();
    let (mut x, mut y) = (3f32, 7u64);
    let mut buffers = [(&raw mut x).cast(), (&raw mut y).cast()];
    v1::<legacy_device>(&device(true).encode(), &mut buffers);
    assert_eq!(crate::legacy::take_last_error(), "legacy_device: the device is lost");
    v1::<legacy_device>(&[], &mut buffers);
    assert!(crate::legacy::take_last_error().contains("no call descriptor"));
    assert_eq!(y, 7);
}

#[test]
fn host_operations_are_not_called_with_device_memory() {
    let _turn = taking_turns();
    v1::<legacy_scale>(&scale(1.0, 1).encode(), &mut [std::ptr::dangling_mut(), std::ptr::dangling_mut()]);
    let error = crate::legacy::take_last_error();
    assert!(error.starts_with("legacy_scale: the operation is for the platform Host"), "{error}");
}

#[cfg(not(miri))]
#[test]
fn v2_fails_by_its_status() {
    let _turn = taking_turns();
    let (mut x, mut y) = (3f32, 7u64);
    let mut buffers: [*mut c_void; 2] = [(&raw mut x).cast(), (&raw mut y).cast()];
    let mut call = |descriptor: &[u8]| {
        let mut status = Status::new();
        let stream = std::ptr::without_provenance_mut(STREAM);
        let (opaque, len) = (descriptor.as_ptr().cast(), descriptor.len());
        // SAFETY: pointers for the descriptor's types.
        unsafe {
            (table::<legacy_device>().gpu_v2)(stream, buffers.as_mut_ptr(), opaque, len, status.as_ptr());
        }
        status
    };
    assert!(!call(&device(false).encode()).is_failure());
    let message = call(&device(true).encode()).message();
    let message = if message == "see last_error" { crate::legacy::take_last_error() } else { message };
    assert_eq!(message, "legacy_device: the device is lost");
}
