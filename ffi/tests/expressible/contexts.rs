//! A handler's requests to its host.

use std::ops::Range;
use std::panic::panic_any;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};

use oxcall::__private::sys;
use oxcall::host::{HostVersion, InvokeContext, TaskPool};
use oxcall::prelude::*;
use oxcall::testing::call;

use super::host::Frame;
use super::{error, says};

#[custom_call]
fn asks_stream(stream: Stream, mut y: ScalarOut<u64>) {
    y.set(stream.as_ptr().addr() as u64);
}

#[custom_call]
fn asks_run(run: RunId, mut y: ScalarOut<i64>) {
    y.set(run.0);
}

#[custom_call]
fn asks_device(device: DeviceOrdinal, mut y: ScalarOut<i32>) {
    y.set(device.0);
}

#[custom_call]
fn asks_api(context: Context, mut y: ScalarOut<i32>) {
    y.set(context.api_minor());
}

#[test]
fn stream_run_and_device_on_every_host() {
    let mut stream = 0u8;
    let stream = (&raw mut stream).cast();
    for &version in super::HOSTS {
        let outputs = call::<asks_stream>().stream(stream).host(version).run().unwrap();
        assert_eq!(outputs.get::<u64>(0)[[]], stream.addr() as u64);
        says(
            call::<asks_stream>().host(version),
            &["asks_stream: parameter `stream`: XLA FFI GPU context is not available"],
        );
        let run = call::<asks_run>().run_id(77).host(version).run();
        let device = call::<asks_device>().device_ordinal(3).host(version).run();
        if version >= HostVersion::V0_6 {
            assert_eq!(run.unwrap().get::<i64>(0)[[]], 77);
            assert_eq!(device.unwrap().get::<i32>(0)[[]], 3);
        } else {
            let (run, device) = (run.unwrap_err(), device.unwrap_err());
            assert_eq!((run.code(), device.code()), (Code::Unimplemented, Code::Unimplemented));
            assert_eq!(run.message(), "asks_run: parameter `run`: this host (XLA FFI API 0.1) has no RunId");
            assert!(device.message().contains("has no DeviceOrdinal"), "{device}");
        }
        let outputs = call::<asks_api>().host(version).run().unwrap();
        assert_eq!(outputs.get::<i32>(0)[[]], version.minor());
    }
}

/// Uses scratch memory that a context lends.
#[custom_call]
fn asks_scratch(
    #[attr] size: usize,
    #[attr(default = 16)] align: usize,
    scratch: Scratch,
    mut y: ScalarOut<u8>,
) -> Result<()> {
    let mut memory = scratch.allocate(size, align)?;
    assert_eq!((memory.len(), memory.is_empty()), (size, size == 0));
    let data = memory.as_mut_ptr().cast::<u8>();
    assert_eq!(data.addr() % align, 0);
    for index in 0..size {
        // SAFETY: inside the memory, which is the heap's in this test.
        unsafe { data.add(index).write(7) };
    }
    // Freed here, so that the limit allows as much once more.
    drop(memory);
    let _again = scratch.allocate(size, align)?;
    y.set(1);
    Ok(())
}

#[test]
fn scratch_memory_and_the_reason_why_there_is_none() {
    for &version in super::HOSTS {
        let go = |size: i64| call::<asks_scratch>().attr("size", size).host(version);
        for size in [0, 1, 100] {
            assert_eq!(go(size).scratch(100).run().unwrap().get::<u8>(0)[[]], 1);
        }
        says(
            go(8),
            &["asks_scratch: scratch memory of 8 bytes: No device memory allocator available on this platform"],
        );
        let much = error(go(101).scratch(100));
        // Errors of hosts before API 0.4 come without their code.
        let known = version >= HostVersion::V0_11_1;
        assert_eq!(much.code(), if known { Code::ResourceExhausted } else { Code::Internal });
        assert!(much.message().contains("scratch memory of 101 bytes: 101 bytes of scratch memory, but 100 are left"));
        says(go(8).attr("align", 32).scratch(100), &["Unsupported alignment: 32"]);
    }
}

static WEIGHTS: AtomicUsize = AtomicUsize::new(0);

struct Weights(Vec<f32>);

impl Drop for Weights {
    fn drop(&mut self) {
        WEIGHTS.fetch_add(1, SeqCst);
    }
}

oxcall::user_data!(unsafe Weights as "oxcall.tests.weights");

#[custom_call]
fn asks_user_data(weights: UserData<Weights>, mut y: ScalarOut<f32>) {
    y.set(weights.0.iter().sum());
}

#[test]
fn user_data_on_every_host() {
    for &version in super::HOSTS {
        let outputs = call::<asks_user_data>().user_data(Weights(vec![1.0, 2.0])).host(version).run().unwrap();
        assert_eq!(outputs.get::<f32>(0)[[]], 3.0);
        let message = says(call::<asks_user_data>().host(version), &["asks_user_data: parameter `weights`"]);
        assert!(message.contains("User data with type id"), "{message}");
    }
    assert_eq!(WEIGHTS.load(SeqCst), super::HOSTS.len());
}

#[custom_call]
fn asks_options(options: CustomOptions, #[dims(2)] mut y: Out<i64>) -> Result<()> {
    y[0] = options.len() as i64;
    y[1] = options.get::<i64>("k")?.unwrap_or(-1);
    Ok(())
}

#[test]
fn custom_options_since_api_0_5() {
    for &version in super::HOSTS {
        let go = || call::<asks_options>().ret_of::<i64>(&[2]).host(version);
        if version >= HostVersion::V0_12 {
            let get = |call: oxcall::testing::Call| call.run().unwrap().get::<i64>(0).into_raw_vec_and_offset().0;
            assert_eq!(get(go()), [0, -1]);
            assert_eq!(get(go().custom_option("k", 5i8).custom_option("a", "x")), [2, 5]);
            says(go().custom_option("k", "x"), &["attribute `k`", "the string \"x\""]);
        } else {
            let error = error(go().custom_option("k", 5));
            assert_eq!(error.code(), Code::Unimplemented);
            assert!(error.message().contains("has no CustomOptions"), "{error}");
        }
    }
}

#[custom_call]
fn asks_extension(#[attr] id: i64, context: Context, #[dims(3)] mut y: Out<i64>) -> Result<()> {
    let extension = context.extension(id)?;
    let (major, minor) = extension.version();
    assert!(!extension.as_ptr().is_null());
    y.copy_from_slice(&[major.into(), minor.into(), extension.struct_size() as i64]);
    Ok(())
}

#[test]
fn extensions_since_api_0_4() {
    let size = size_of::<sys::XLA_FFI_Extension>();
    let mut extension = sys::XLA_FFI_Extension { struct_size: size, ..Default::default() };
    extension.id.extension_type = 128;
    extension.id.major_version = 0;
    extension.id.minor_version = 2;
    for &version in super::HOSTS {
        let mut y = [0i64; 3];
        let frame = |y: &mut [i64; 3], id: i64| Frame::default().attr("id", id).ret(y.as_mut_ptr(), &[3]);
        // SAFETY: the extension is whole, and outlives the context.
        let context = unsafe { InvokeContext::builder().version(version).extension(&raw const extension) }.build();
        // SAFETY: the result has three elements.
        let found = unsafe { frame(&mut y, 128).execute::<asks_extension>(&context) };
        if version >= HostVersion::V0_11_1 {
            found.unwrap();
            assert_eq!(y, [0, 2, size as i64]);
            // SAFETY: as above.
            let missing = unsafe { frame(&mut y, 129).execute::<asks_extension>(&context) }.unwrap_err();
            assert_eq!(missing.code(), Code::NotFound);
            assert_eq!(missing.message(), "asks_extension: this host has no XLA FFI extension of type 129");
        } else {
            assert_eq!(found.unwrap_err().code(), Code::Unimplemented);
        }
    }
}

/// Which thread has taken each index, and how the loop ends.
#[custom_call]
fn loops(
    #[attr] count: usize,
    #[attr] grain: usize,
    #[attr(default = -1)] panic_at: i64,
    pool: ThreadPool,
    #[dims(1)] mut y: Out<i64>,
) {
    let seen: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
    pool.parallel_for(count, grain, |range: Range<usize>| {
        for index in range {
            seen[index].fetch_add(1, SeqCst);
            if panic_at == index as i64 {
                panic!("in the body at {index}");
            }
        }
    });
    assert!(seen.iter().all(|seen| seen.load(SeqCst) == 1));
    let mut squares = vec![0usize; count];
    pool.for_each_chunk(&mut squares, 3, grain, |index, piece| {
        for (offset, square) in piece.iter_mut().enumerate() {
            *square = (3 * index + offset).pow(2);
        }
    });
    assert!(squares.iter().enumerate().all(|(index, square)| *square == index * index));
    y[0] = pool.num_threads() as i64;
}

#[test]
fn parallel_loops_on_every_host() {
    for &version in super::HOSTS {
        let large = if cfg!(miri) { 40 } else { 1000 };
        for (count, grain) in [(0, 1), (1, 1), (large, 1), (large, 0), (large, large - 1), (7, large), (64, 16)] {
            let go = || call::<loops>().attr("count", count).attr("grain", grain).ret_of::<i64>(&[1]).host(version);
            let threads = |call: oxcall::testing::Call| call.run().unwrap().get::<i64>(0)[[0]];
            let lent = if version == HostVersion::V0_4_34 { 1 } else { 4 };
            assert_eq!(threads(go().threads(4)), lent);
            assert_eq!(threads(go().threads(0)), 1, "no pool: the calling thread alone");
            if count > 0 {
                says(go().threads(3).attr("panic_at", count - 1), &["loops: panicked", "in the body at"]);
            }
        }
    }
}

/// A pool of one kind of malice or another.
struct Pool {
    threads: usize,
    kept: Mutex<Vec<Box<dyn FnOnce() + Send>>>,
    schedule: fn(&Pool, Box<dyn FnOnce() + Send>),
}

impl TaskPool for Pool {
    fn schedule(&self, task: Box<dyn FnOnce() + Send>) {
        (self.schedule)(self, task);
    }

    fn num_threads(&self) -> usize {
        self.threads
    }
}

fn with_pool(schedule: fn(&Pool, Box<dyn FnOnce() + Send>)) -> (InvokeContext, Arc<Pool>) {
    let pool = Arc::new(Pool { threads: 8, kept: Mutex::default(), schedule });
    (InvokeContext::builder().pool(Arc::clone(&pool) as Arc<dyn TaskPool>).build(), pool)
}

fn run_loops(context: &InvokeContext, panic_at: i64) -> Result<()> {
    let mut y = [0i64];
    let frame =
        Frame::default().attr("count", 100).attr("grain", 1).attr("panic_at", panic_at).ret(y.as_mut_ptr(), &[1]);
    // SAFETY: the result has one element.
    unsafe { frame.execute::<loops>(context) }
}

#[test]
fn loops_end_whatever_the_pool_does() {
    // Never runs anything, but keeps the tasks: they are run when their loop is long gone.
    let (context, pool) = with_pool(|pool, task| pool.kept.lock().unwrap().push(task));
    run_loops(&context, -1).unwrap();
    run_loops(&context, 50).unwrap_err();
    let late = std::mem::take(&mut *pool.kept.lock().unwrap());
    assert!(late.len() >= 14);
    late.into_iter().for_each(|task| task());
    // Runs tasks at once, on the calling thread.
    let (context, _) = with_pool(|_, task| task());
    run_loops(&context, -1).unwrap();
    run_loops(&context, 50).unwrap_err();
    // Refuses tasks: the host reports an error for each.
    let (context, _) = with_pool(|_, task| {
        std::mem::forget(task);
        panic!("the pool is closed");
    });
    run_loops(&context, -1).unwrap();
}

/// Panics while it is dropped, as a payload.
struct Payload;

impl Drop for Payload {
    fn drop(&mut self) {
        panic!("a payload's drop panics too");
    }
}

#[custom_call]
fn every_body_panics(pool: ThreadPool, y: ScalarOut<u8>) {
    let _ = y;
    pool.parallel_for(64, 1, |_| panic_any(Payload));
}

#[test]
fn payloads_of_many_panics_are_contained() {
    for threads in [0, 1, 2, 4] {
        let error = error(call::<every_body_panics>().threads(threads));
        assert_eq!(error.code(), Code::Internal);
        assert!(error.message().contains("a payload that is not a string"), "{error}");
    }
}

#[custom_call]
fn nested(pool: ThreadPool, mut y: ScalarOut<u64>) {
    let sum = AtomicUsize::new(0);
    let threads = pool.num_threads();
    pool.parallel_for(4, 1, |outer| {
        for index in outer {
            sum.fetch_add(index * threads, SeqCst);
        }
    });
    // One after the other, and one with a body that owns nothing.
    pool.parallel_for(10, 1, |range| {
        sum.fetch_add(range.len(), SeqCst);
    });
    y.set(sum.load(SeqCst) as u64);
}

#[test]
fn several_loops_of_one_handler() {
    assert_eq!(call::<nested>().threads(2).run().unwrap().get::<u64>(0)[[]], 6 * 2 + 10);
}

/// Everything through the one context, when it is needed.
#[custom_call]
fn lazily(#[attr] ask: &str, context: Context, mut y: ScalarOut<u8>) -> Result<()> {
    match ask {
        "stream" => drop(context.get::<Stream>()?),
        "pool" => drop(context.get::<ThreadPool>()?),
        "run" => drop(context.get::<RunId>()?),
        "options" => drop(context.get::<CustomOptions>()?),
        "nothing" => {}
        _ => return Err(Error::not_found(ask)),
    }
    y.set(1);
    Ok(())
}

#[test]
fn contexts_are_asked_for_when_needed() {
    for (ask, ok) in [("nothing", true), ("pool", true), ("run", true), ("options", true), ("stream", false)] {
        assert_eq!(call::<lazily>().attr("ask", ask).run().is_ok(), ok, "{ask}");
    }
}
