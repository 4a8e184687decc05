//! Times one call of a handler, ours and the C++ one in turns, in one process and on equal call frames.
//!
//! Usage: `oxcall-bench OURS.so PEERS.so`; prints JSON. Every number is the median over repetitions of a batch's mean.

use std::path::Path;
use std::time::Instant;

use oxcall::descriptor::{RawHandler, Stage};
use oxcall::host::{self, CallFrame, CallFrameBuilder, HostVersion, InvokeContext};
use oxcall::{DType, Error};
use oxcall_tests::library::Library;

/// Calls in a batch of the cheap cases, and how many batches of each kind there are.
const BATCH: usize = 20_000;
const REPETITIONS: usize = 301;

/// What is called: the op's name (the peer is `peer_` and the name), its buffers' shape, its arguments and attributes.
struct Case {
    op: &'static str,
    shows: &'static str,
    dims: &'static [i64],
    args: usize,
    attrs: fn(&mut CallFrameBuilder),
    batch: usize,
    /// How far the two may differ, relative to the value.
    tolerance: f32,
}

const CASES: &[Case] = &[
    Case {
        op: "identity",
        shows: "1 argument, 1 result",
        dims: &[16],
        args: 1,
        attrs: |_| {},
        batch: BATCH,
        tolerance: 0.0,
    },
    Case {
        op: "four",
        shows: "4 arguments, 1 result, 4 attributes",
        dims: &[16],
        args: 4,
        attrs: |frame| {
            frame.attr("axes", vec![3i64, 1, 2]).attr("count", 7i64).attr("mode", "precise").attr("scale", 0.5f32);
        },
        batch: BATCH,
        tolerance: 0.0,
    },
    Case {
        op: "rms_norm",
        shows: "a whole op: f32[64, 512]",
        dims: &[64, 512],
        args: 1,
        attrs: |frame| {
            frame.attr("eps", 1e-5f32);
        },
        batch: BATCH / 1000,
        tolerance: 1e-5,
    },
];

/// Buffers that both handlers are called with in turns, each with a call frame of its own.
struct Calls {
    _args: Vec<Vec<f32>>,
    results: [Vec<f32>; 2],
    frames: [CallFrame; 2],
}

impl Calls {
    fn new(case: &Case) -> Self {
        let size = case.dims.iter().product::<i64>() as usize;
        let args: Vec<Vec<f32>> =
            (0..case.args).map(|arg| (0..size).map(|i| 1.0 + (arg + i) as f32 / 8.0).collect()).collect();
        let mut results = [vec![0f32; size], vec![0f32; size]];
        let frames = results.each_mut().map(|result| {
            let mut frame = CallFrameBuilder::new();
            for arg in &args {
                frame.arg(DType::F32, arg.as_ptr().cast(), case.dims);
            }
            frame.ret(DType::F32, result.as_mut_ptr().cast(), case.dims);
            (case.attrs)(&mut frame);
            frame.build()
        });
        Self { _args: args, results, frames }
    }
}

/// Mean nanoseconds of one call over a batch.
fn batch(handler: RawHandler, frame: &mut CallFrame, calls: usize) -> f64 {
    let frame = frame.as_ptr();
    let start = Instant::now();
    for _ in 0..calls {
        // SAFETY: `host::call` made this frame ready for this handler, and its buffers and context are alive.
        let error = unsafe { handler(std::hint::black_box(frame)) };
        assert!(error.is_null(), "a handler that succeeded now fails");
    }
    start.elapsed().as_nanos() as f64 / calls as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn time(case: &Case, handlers: [RawHandler; 2], version: HostVersion) -> Result<serde_json::Value, String> {
    let context = InvokeContext::builder().version(version).build();
    let mut calls = Calls::new(case);
    for (frame, handler) in calls.frames.iter_mut().zip(handlers) {
        // SAFETY: both handlers obey the XLA FFI; the buffers are as large as the frame says and live in `calls`.
        unsafe { host::call(handler, frame, &context, Stage::Execute) }
            .map_err(|error: Error| format!("{}: {error}", case.op))?;
    }
    let [ours, cpp] = &calls.results;
    if let Some(i) = (0..ours.len()).find(|&i| (ours[i] - cpp[i]).abs() > case.tolerance * cpp[i].abs()) {
        return Err(format!("{}: element {i} is {} in Rust and {} in C++", case.op, ours[i], cpp[i]));
    }
    let mut times = [Vec::new(), Vec::new()];
    for repetition in 0..REPETITIONS {
        // Which one comes first alternates, so that neither always runs on the warmer caches.
        for turn in 0..2 {
            let which = (repetition + turn) % 2;
            times[which].push(batch(handlers[which], &mut calls.frames[which], case.batch));
        }
    }
    let [ours, cpp] = times.map(median);
    Ok(serde_json::json!({
        "op": case.op, "shows": case.shows, "ours_ns": ours, "cpp_ns": cpp, "ratio": ours / cpp,
        "batch": case.batch, "repetitions": REPETITIONS,
    }))
}

fn open(path: &str) -> Result<Library, String> {
    Library::open(Path::new(path), false).map_err(|error| error.to_string())
}

fn run() -> Result<(), String> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [ours, peers] = &args[..] else { return Err("usage: oxcall-bench OURS.so PEERS.so".into()) };
    let (ours, peers) = (open(ours)?, open(peers)?);
    let mut rows = Vec::new();
    for case in CASES {
        // SAFETY: `peers.cc` defines every `peer_*` that is asked for as a handler.
        let peer = unsafe { peers.exported(&format!("peer_{}", case.op)) }.map_err(|error| error.to_string())?;
        let handlers = [ours.execute(case.op), peer];
        // The peers are compiled with the headers of jaxlib 0.10.2, whose API is 0.3.
        rows.push(time(case, handlers, HostVersion::V0_9_2)?);
    }
    println!("{}", serde_json::Value::Array(rows));
    Ok(())
}

fn main() -> std::process::ExitCode {
    match run() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("oxcall-bench: {message}");
            std::process::ExitCode::FAILURE
        }
    }
}
