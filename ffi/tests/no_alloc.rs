//! Allocations of calls: none where the number of operands is fixed, and none that is not freed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use oxcall::descriptor::{Op, Stage};
use oxcall::host::{self, AttrValue, CallFrame, CallFrameBuilder, HostVersion, InvokeContext, StageState};
use oxcall::prelude::*;

/// Counts per thread, so that tests beside each other do not count for each other.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static LIVE: Cell<i64> = const { Cell::new(0) };
}

fn count(allocations: u64, live: i64) {
    // A thread that ends has no counters any more.
    let _ = ALLOCATIONS.try_with(|cell| cell.set(cell.get() + allocations));
    let _ = LIVE.try_with(|cell| cell.set(cell.get() + live));
}

// SAFETY: the system's allocator does it all.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, 1);
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, data: *mut u8, layout: Layout) {
        count(0, -1);
        // SAFETY: passed on.
        unsafe { System.dealloc(data, layout) }
    }

    unsafe fn realloc(&self, data: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(1, 0);
        // SAFETY: passed on.
        unsafe { System.realloc(data, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations() -> u64 {
    ALLOCATIONS.get()
}

fn live() -> i64 {
    LIVE.get()
}

#[derive(AttrEnum, Clone, Copy)]
enum Mode {
    Add,
    Multiply,
}

#[derive(AttrStruct)]
struct Weights<'a> {
    bias: f32,
    #[attr(default = 1.0)]
    scale: f32,
    label: Option<&'a str>,
}

struct Calls(AtomicU64);

#[stage(instantiate)]
fn start() -> Calls {
    Calls(AtomicU64::new(0))
}

/// As much as a signature of fixed length can have.
#[custom_call(T = floats, U = [i32, i64], instantiate = start)]
fn everything<T: Float, U: Number>(
    #[state] calls: &Calls,
    #[attr] mode: Mode,
    #[attr] k: i64,
    #[attr(default = 1e-5)] eps: f32,
    #[attr] name: &str,
    #[attr] taps: &[i64],
    #[attr] pair: [f32; 2],
    #[attr] weights: Weights<'_>,
    #[attr] absent: Option<bool>,
    #[attr(rest)] rest: Dict<'_>,
    #[dims(..b, n)] x: Array<T>,
    #[dims(..b, n * k)] wide: Array<T>,
    #[dims(n)] index: Array<U, Rank<1>>,
    shift: Scalar<f64>,
    flag: AnyArray,
    #[dims(..b, n)] mut acc: InOut<T>,
    #[dims(..b, n)] mut y: Out<T>,
    #[dims(n, k)] mut v: ArrayViewMut2<f32>,
    mut sum: ScalarOut<f64>,
    context: Context,
    pool: ThreadPool,
    run: RunId,
    device: DeviceOrdinal,
) -> Result<()> {
    calls.0.fetch_add(1, Relaxed);
    if eps < 0.0 {
        return Err(Error::invalid_argument("negative"));
    }
    let wide_sum = wide.iter().fold(0.0, |sum, x| sum + x.as_f64());
    for ((y, x), acc) in y.iter_mut().zip(x.iter()).zip(acc.iter_mut()) {
        *y = match mode {
            Mode::Add => *x + *acc,
            Mode::Multiply => *x * *acc,
        };
        *acc += *x;
    }
    let small = taps.len() + name.len() + rest.len() + flag.len() + index.len() + weights.label.map_or(0, str::len);
    v.fill(weights.bias * weights.scale + pair[0] + small as f32);
    pool.parallel_for(1, 1, |_| ());
    assert_eq!(k, 2);
    sum.set(*shift + wide_sum + f64::from(context.api_minor()) + run.0 as f64 + f64::from(device.0));
    assert!(absent.is_none());
    Ok(())
}

#[custom_call]
fn identity(#[dims(..s)] x: &[f32], #[dims(..s)] y: &mut [f32]) {
    y.copy_from_slice(x);
}

/// Memory for a call of `everything`.
struct Buffers {
    x: [f32; 6],
    wide: [f32; 12],
    index: [i64; 3],
    shift: f64,
    flag: bool,
    acc: [f32; 6],
    y: [f32; 6],
    v: [f32; 6],
    sum: f64,
}

impl Buffers {
    fn new() -> Box<Buffers> {
        Box::new(Buffers {
            x: [1.0; 6],
            wide: [2.0; 12],
            index: [0; 3],
            shift: 0.5,
            flag: true,
            acc: [3.0; 6],
            y: [0.0; 6],
            v: [0.0; 6],
            sum: 0.0,
        })
    }

    /// A frame with these buffers, which several frames may share.
    fn frame(this: *mut Buffers, eps: f64) -> CallFrame {
        macro_rules! address {
            ($field:ident) => {
                // SAFETY: the buffers are there; no reference to them is made.
                unsafe { (&raw mut (*this).$field).cast::<c_void>() }
            };
        }
        let mut frame = CallFrameBuilder::new();
        let acc = address!(acc);
        frame
            .arg(DType::F32, address!(x), &[2, 3])
            .arg(DType::F32, address!(wide), &[2, 6])
            .arg(DType::S64, address!(index), &[3])
            .arg(DType::F64, address!(shift), &[])
            .arg(DType::Pred, address!(flag), &[])
            .arg(DType::F32, acc, &[2, 3])
            .ret(DType::F32, acc, &[2, 3])
            .ret(DType::F32, address!(y), &[2, 3])
            .ret(DType::F32, address!(v), &[3, 2])
            .ret(DType::F64, address!(sum), &[]);
        let weights: AttrValue = [("bias", 1f64.into()), ("label", "w".into())].into();
        frame
            .attr("mode", "multiply")
            .attr("k", 2i64)
            .attr("eps", eps)
            .attr("name", "a name of more than sixteen bytes")
            .attr("taps", [1i64, 2, 3])
            .attr("pair", [1f32, 2.0])
            .attr("weights", weights)
            .attr("other", "for the rest");
        frame.build()
    }
}

/// A context with what `instantiate` leaves.
fn context<O: Op>(version: HostVersion, frame: &mut CallFrame) -> InvokeContext {
    let pool = Arc::new(host::ThreadPool::new(0).unwrap());
    let context = InvokeContext::builder().version(version).pool(pool).run_id(1).build();
    for stage in O::HANDLER.stages {
        // SAFETY: a handler of a descriptor; its frame has attributes only as far as it looks.
        unsafe { host::call(stage.handler, frame, &context, stage.stage) }.unwrap();
    }
    context
}

#[test]
fn calls_of_fixed_arity_allocate_nothing() {
    let mut buffers = Buffers::new();
    let raw = &raw mut *buffers;
    for version in HostVersion::ALL.into_iter().filter(|version| *version >= HostVersion::V0_6) {
        let mut frame = Buffers::frame(raw, 0.0);
        let context = context::<everything>(version, &mut frame);
        // SAFETY: the frame's buffers are there, and whole.
        let mut call = || unsafe { host::call(everything::HANDLER.execute, &mut frame, &context, Stage::Execute) };
        assert!(call().unwrap().is_none());
        let before = allocations();
        for _ in 0..if cfg!(miri) { 1 } else { 100 } {
            assert!(call().is_ok());
        }
        assert_eq!(allocations() - before, 0, "{version:?}");
    }
    assert_eq!((buffers.y[0].is_finite(), buffers.sum), (true, 0.5 + 24.0 + 5.0 + 1.0));
    let (x, mut y) = ([1f32; 4], [0f32; 4]);
    let mut frame = CallFrameBuilder::new();
    frame.arg(DType::F32, x.as_ptr().cast(), &[4]).ret(DType::F32, y.as_mut_ptr().cast(), &[4]);
    let mut frame = frame.build();
    let context = InvokeContext::builder().build();
    let before = allocations();
    // SAFETY: the frame's buffers are there, and whole.
    unsafe { host::call(identity::HANDLER.execute, &mut frame, &context, Stage::Execute) }.unwrap();
    assert_eq!((allocations() - before, y), (0, x));
}

/// Completes in all ways, on the thread that calls.
#[custom_call]
fn later<'f>(#[attr] how: u8, y: ScalarOut<'f, f32>, later: Async<'f>) -> Result<Future<'f>> {
    let mut y = y;
    later.spawn_with(
        move || match how {
            0 => {
                y.set(1.0);
                Ok(())
            }
            1 => Err(Error::cancelled("no")),
            _ => panic!("later"),
        },
        |job| if how == 3 { drop(job) } else { job() },
    )
}

#[custom_call]
fn panics(y: ScalarOut<f32>) {
    let _ = y;
    std::panic::panic_any(String::from("a payload on the heap"));
}

#[custom_call]
fn any_number(#[attr(rest)] rest: Dict<'_>, xs: Variadic<Array<f32>>, ys: Variadic<Out<f32>>) -> Result<()> {
    if rest.len() > 1 {
        return Err(Error::internal("too many"));
    }
    for (x, mut y) in xs.iter().zip(ys) {
        y.copy_from_slice(x);
    }
    Ok(())
}

/// A million calls and all that comes with them leave the heap as it was.
#[test]
fn nothing_leaks() {
    let (rounds, repeat) = if cfg!(miri) { (2, 2) } else { (200, 1000) };
    std::panic::set_hook(Box::new(|_| ()));
    let round = |repeat: usize| {
        let mut buffers = Buffers::new();
        let raw = &raw mut *buffers;
        let (mut good, mut bad) = (Buffers::frame(raw, 0.0), Buffers::frame(raw, -1.0));
        let state = Arc::new(StageState::new());
        let pool = Arc::new(host::ThreadPool::new(0).unwrap());
        let context = InvokeContext::builder().pool(pool).state(Stage::Instantiate, Arc::clone(&state)).build();
        // SAFETY: in this closure: handlers of descriptors, with frames whose buffers are there, and whole.
        let call = |handler, frame: &mut CallFrame, stage| unsafe { host::call(handler, frame, &context, stage) };
        call(everything::HANDLER.stages[0].handler, &mut good, Stage::Instantiate).unwrap();
        let mut y = [0f32; 8];
        let y_data = y.as_mut_ptr();
        let mut empty = CallFrameBuilder::new();
        empty.ret(DType::F32, y_data.cast(), &[]);
        let mut all: Vec<CallFrame> = (0..4u8).map(|how| empty.clone().attr("how", how).build()).collect();
        let mut empty = empty.build();
        let mut many = CallFrameBuilder::new();
        many.arg(DType::F32, y_data.cast(), &[2]).attr("a", 1);
        // SAFETY: inside `y`.
        many.ret(DType::F32, unsafe { y_data.add(4) }.cast(), &[2]);
        let (mut many, mut too_many) = (many.clone().build(), many.attr("b", 2).build());
        for index in 0..repeat {
            call(everything::HANDLER.execute, &mut good, Stage::Execute).unwrap();
            call(everything::HANDLER.execute, &mut bad, Stage::Execute).unwrap_err();
            // Not its attributes, and not its buffers.
            call(identity::HANDLER.execute, &mut good, Stage::Execute).unwrap_err();
            call(any_number::HANDLER.execute, &mut many, Stage::Execute).unwrap();
            call(any_number::HANDLER.execute, &mut too_many, Stage::Execute).unwrap_err();
            if index % 100 == 0 {
                call(panics::HANDLER.execute, &mut empty, Stage::Execute).unwrap_err();
                for (how, frame) in all.iter_mut().enumerate() {
                    let future = call(later::HANDLER.execute, frame, Stage::Execute).unwrap().unwrap();
                    assert_eq!(future.wait().is_ok(), how == 0);
                }
            }
        }
        // A state that is set once more is refused, and dropped.
        call(everything::HANDLER.stages[0].handler, &mut good, Stage::Instantiate).unwrap_err();
    };
    round(repeat);
    let before = live();
    for _ in 0..rounds {
        round(repeat);
    }
    assert_eq!(live() - before, 0, "after {} calls", 5 * rounds * repeat);
    // Many states, few calls.
    for _ in 0..rounds {
        round(1);
    }
    assert_eq!(live() - before, 0);
    drop(std::panic::take_hook());
}
