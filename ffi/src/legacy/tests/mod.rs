//! Legacy calls as hosts make them: pointers, and descriptors from an encoder written from the specification.

mod cpu;
mod encode;
mod gpu;
mod wire;

use std::ffi::c_void;
use std::sync::MutexGuard;

use encode::Descriptor;

use crate::DType;
use crate::descriptor::{Handler, Legacy, Op};
use crate::prelude::*;
use crate::sync::Mutex;

/// Multiplies. Negative factors are errors; zero panics.
#[custom_call(crate = crate, legacy)]
fn legacy_scale(
    #[attr] factor: f32,
    #[attr(rest)] rest: Dict<'_>,
    #[dims(..s)] x: Array<f32>,
    #[dims(..s)] mut y: Out<f32>,
) -> Result<()> {
    assert!(factor != 0.0, "the factor is zero");
    if factor < 0.0 {
        return Err(Error::invalid_argument(format!("factor {factor} is negative\nand there are {}", rest.len())));
    }
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y = x * factor;
    }
    Ok(())
}

/// The sum, and twice the number of elements. Nothing to sum is an error.
#[custom_call(crate = crate, legacy)]
fn legacy_sum(x: Array<f64>, mut sum: ScalarOut<f64>, #[dims(2)] mut count: Out<i32>, pool: ThreadPool) -> Result<()> {
    let total = Mutex::new(0.0);
    pool.parallel_for(x.len(), 1, |range| {
        let part: f64 = x.iter().skip(range.start).take(range.len()).sum();
        *total.lock() += part;
    });
    sum.set(*total.lock());
    if x.is_empty() {
        return Err(Error::out_of_range("there is nothing to sum"));
    }
    count.fill(x.len() as i32);
    Ok(())
}

/// Adds 1 on another thread; fails there for negative numbers.
#[custom_call(crate = crate, legacy)]
fn legacy_later<'f>(x: Scalar<'f, f32>, mut y: ScalarOut<'f, f32>, later: Async<'f>) -> Result<Future<'f>> {
    later.spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(20));
        if *x < 0.0 {
            return Err(Error::out_of_range("negative"));
        }
        y.set(*x + 1.0);
        Ok(())
    })
}

/// Asks for what legacy calls do not have.
#[custom_call(crate = crate, legacy)]
fn legacy_where(_x: Scalar<f32>, _y: ScalarOut<f32>, _ordinal: DeviceOrdinal) {}

/// Fills memory of a device, which is the CPU's in these tests, with the stream's address.
#[custom_call(crate = crate, platform = "CUDA", legacy)]
fn legacy_device(#[attr] fail: bool, x: DeviceArray<f32>, mut y: DeviceOut<u64>, stream: Stream) -> Result<()> {
    if fail {
        return Err(Error::internal("the device is lost"));
    }
    // SAFETY: the tests give one element each, on the CPU.
    unsafe {
        let x = x.as_ptr().cast::<f32>().read();
        y.as_mut_ptr().cast::<u64>().write(stream.as_ptr().addr() as u64 + x as u64);
    }
    Ok(())
}

fn table<O: Op>() -> &'static Legacy {
    let handler: &'static Handler = O::HANDLER;
    handler.legacy.expect("asked for")
}

/// The last error belongs to the process: tests that look at it take turns.
fn taking_turns() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let guard = TURN.lock();
    super::take_last_error();
    guard
}

fn scale(factor: f32, len: i64) -> Descriptor {
    Descriptor::default().operand(DType::F32, &[len]).result(DType::F32, &[len]).attr("factor", factor)
}

/// A pointer to data as hosts pass operands.
fn data<T>(values: &[T]) -> *const c_void {
    values.as_ptr().cast()
}

/// The struct behind `XlaCustomCallStatus*`, large enough for any. It may point into itself, so it stays in its box.
#[cfg(not(miri))]
#[derive(Default)]
#[repr(C, align(16))]
struct Status([u64; 8]);

#[cfg(not(miri))]
impl Status {
    fn new() -> Box<Status> {
        Box::default()
    }

    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::from_mut(self).cast()
    }

    fn is_failure(&self) -> bool {
        self.0[4] & 0xff == 1
    }

    fn message(&self) -> String {
        assert!(self.is_failure());
        let text = std::ptr::with_exposed_provenance::<u8>(self.0[0] as usize);
        // SAFETY: the string that the call left, of its length.
        let bytes = unsafe { std::slice::from_raw_parts(text, self.0[1] as usize) };
        String::from_utf8(bytes.to_vec()).unwrap()
    }
}
