//! Frames that are not as a host makes them.

use std::ptr;

use oxcall::__private::sys;
use oxcall::descriptor::{Op, Stage};
use oxcall::host::{self, HostVersion};
use oxcall::prelude::*;

use super::host::{Frame, bare};

/// The number of arguments.
#[custom_call]
fn tally(xs: Variadic<Scalar<f32>>, mut y: ScalarOut<i32>) {
    y.set(xs.len() as i32);
}

/// The result of `tally`, or its error message, for a frame with one argument that `damage` has changed.
fn damaged(damage: impl FnOnce(&mut sys::XLA_FFI_CallFrame)) -> Result<i32, String> {
    let (x, mut y) = (2f32, 0i32);
    let result = &raw mut y;
    let mut frame = Frame::default().arg(&raw const x, &[]).ret(result, &[]).build();
    // SAFETY: the frame is whole, and the tests leave it no pointer or count that leads out of it.
    let outcome = unsafe {
        damage(&mut *frame.as_ptr());
        host::call(tally::HANDLER.execute, &mut frame, &bare(), Stage::Execute)
    };
    // SAFETY: the call is over.
    outcome.map(|_| unsafe { result.read() }).map_err(|error| error.message().to_owned())
}

#[test]
fn many_arguments() {
    let xs = [1f32; 100];
    for len in [0, 1, 7, 8, 9, 100] {
        let mut y = 0i32;
        let frame = xs[..len].iter().fold(Frame::default(), |frame, x| frame.arg(x, &[])).ret(&raw mut y, &[]);
        // SAFETY: the operands are alive, and nothing else uses the result.
        unsafe { frame.execute::<tally>(&bare()) }.unwrap();
        assert_eq!(y as usize, len);
    }
}

#[test]
fn lists_without_types_or_buffers() {
    assert_eq!(damaged(|_| {}), Ok(1));
    for message in [
        damaged(|frame| frame.args.types = ptr::null_mut()),
        damaged(|frame| frame.args.args = ptr::null_mut()),
        damaged(|frame| frame.args.size = -1),
        damaged(|frame| frame.args.size = i64::MAX),
        damaged(|frame| frame.rets.types = ptr::null_mut()),
        damaged(|frame| frame.rets.rets = ptr::null_mut()),
        damaged(|frame| frame.rets.size = 0),
    ] {
        let message = message.unwrap_err();
        assert!(message.starts_with("tally: "), "{message}");
    }
}

#[test]
fn frames_that_cannot_be_answered_do_not_look_like_success() {
    // SAFETY: handlers accept null.
    assert!(!unsafe { (tally::HANDLER.execute)(ptr::null_mut()) }.is_null());
    let (x, mut y) = (2f32, 0i32);
    let damages: [fn(&mut sys::XLA_FFI_CallFrame); 3] =
        [|frame| frame.struct_size -= 1, |frame| frame.struct_size = 8, |frame| frame.api = ptr::null()];
    for damage in damages {
        let mut frame = Frame::default().arg(&raw const x, &[]).ret(&raw mut y, &[]).build();
        let frame = frame.as_ptr();
        // SAFETY: the frame is as large as it says, or larger.
        let error = unsafe {
            (*frame).api = HostVersion::V0_12.api();
            damage(&mut *frame);
            (tally::HANDLER.execute)(frame)
        };
        assert!(!error.is_null());
    }
}
