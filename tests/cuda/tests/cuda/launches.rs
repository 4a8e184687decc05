//! Modules, launches, contexts and errors.

use std::process::Command;

use oxcall::cuda::{Cuda, Launch, kernels};
use oxcall::descriptor::Op;
use oxcall::prelude::*;

use crate::fake::{Fake, Operand, Program, fake};

kernels! {
    /// A kernel in PTX, as rustc makes it of the Rust function in the guide's chapter 29. The driver of the tests knows
    /// it by its name.
    mod ptx_kernels = ptx(include_str!("scale.ptx"));

    fn scale(x: *const f32, y: *mut f32, n: u64, factor: f32);
}

/// `factor * x`, in PTX.
#[custom_call(platform = "CUDA", command_buffer, initialize = ptx_kernels::load)]
fn scale_ptx(
    cuda: Cuda,
    #[attr] factor: f32,
    #[dims(..s)] x: DeviceArray<f32>,
    #[dims(..s)] mut y: DeviceOut<f32>,
) -> Result<()> {
    let n = x.len() as u64;
    // SAFETY: the kernel reads and writes `n` elements of each.
    unsafe { ptx_kernels::scale(Launch::elements(&cuda, n)?, &x, &mut y, n, factor) }
}

kernels! {
    mod c_kernels = cuda_c(r#"
        template <typename T> __device__ void twice(const T* x, T* y, unsigned long long n) {
            const unsigned long long i = oxcall::index();
            if (i < n) y[i] = oxcall::store<T>(2 * oxcall::load(x[i]));
        }
        #define TWICE(T, dtype) \
            extern "C" __global__ void twice_##dtype(const T* x, T* y, unsigned long long n) { twice<T>(x, y, n); }
        OXCALL_FOR_FLOATS(TWICE)
        extern "C" __global__ void block_sums(const float* x, float* y, unsigned int n) {
            const unsigned long long i = oxcall::index();
            const float sum = oxcall::reduce<oxcall::sum>(i < n ? x[i] : 0.0f);
            if (threadIdx.x == 0) y[blockIdx.x] = sum;
        }
        extern "C" __global__ void hangs(float* y) {
            if (threadIdx.x < 32) __syncthreads();
            else oxcall::reduce<oxcall::sum>(1.0f);
        }
    "#);

    fn twice<T: floats>(x: *const T, y: *mut T, n: u64);
    fn block_sums(x: *const f32, y: *mut f32, n: u32);
    fn hangs(y: *mut f32);
}

/// `2 x`, in CUDA C.
#[custom_call(platform = "CUDA", T = floats, command_buffer, initialize = c_kernels::load)]
fn twice<T: Float>(cuda: Cuda, #[dims(..s)] x: DeviceArray<T>, #[dims(..s)] mut y: DeviceOut<T>) -> Result<()> {
    // SAFETY: the kernel reads and writes so many elements of each.
    unsafe { c_kernels::twice(Launch::elements(&cuda, x.len() as u64)?, &x, &mut y, x.len() as u64) }
}

/// Sums over blocks of 256 elements.
#[custom_call(platform = "CUDA", initialize = c_kernels::load)]
fn block_sums(cuda: Cuda, #[dims(m)] x: DeviceArray<f32>, #[dims(m / 256)] mut y: DeviceOut<f32>) -> Result<()> {
    // SAFETY: a block writes an element.
    unsafe { c_kernels::block_sums(Launch::elements(&cuda, x.len() as u64)?, &x, &mut y, x.len() as u32) }
}

/// A kernel that would never end.
#[custom_call(platform = "CUDA", initialize = c_kernels::load)]
fn hangs(cuda: Cuda, #[dims(1)] mut y: DeviceOut<f32>) -> Result<()> {
    // SAFETY: it writes nothing.
    unsafe { c_kernels::hangs(Launch::new(&cuda, (1, 1, 1), (64, 1, 1))?, &mut y) }
}

/// A launch with a grid that the caller gives.
#[custom_call(platform = "CUDA", initialize = c_kernels::load)]
fn with_grid(cuda: Cuda, #[attr] blocks: u32, #[attr] threads: u32, #[dims(1)] mut y: DeviceOut<f32>) -> Result<()> {
    // SAFETY: nothing is launched that is right.
    unsafe { c_kernels::hangs(Launch::new(&cuda, (blocks, 1, 1), (threads, 1, 1))?, &mut y) }
}

/// Ops of modules that cannot be loaded.
macro_rules! faulty {
    ($($op:ident $module:ident $kind:ident($source:expr) $kernel:ident($($param:ident: $ty:ty),*);)*) => {$(
        kernels! {
            mod $module = $kind($source);
            fn $kernel($($param: $ty),*);
        }

        #[custom_call(platform = "CUDA", initialize = $module::load)]
        fn $op(#[dims(..s)] _x: DeviceArray<f32>, #[dims(..s)] _y: DeviceOut<f32>) {}
    )*};
}
faulty! {
    bad_ptx bad_ptx_kernels ptx("nonsense") scale(x: *const f32);
    bad_c bad_c_kernels cuda_c("extern \"C\" __global__ void f() { unknown_name(); }") f();
    no_such_kernel no_such_kernel_kernels cuda_c("extern \"C\" __global__ void f() {}") g();
    wrong_size wrong_size_kernels cuda_c("extern \"C\" __global__ void f(float x) {}") f(x: f64);
    wrong_count wrong_count_kernels cuda_c("extern \"C\" __global__ void f(float x, int y) {}") f(x: f32);
    never_loaded never_loaded_kernels ptx(".version 7.0 .entry scale(.param .u64 x) {}") scale(x: *const f32);
}

fn attr(factor: f32) -> [(&'static str, oxcall::host::AttrValue); 1] {
    [("factor", factor.into())]
}

/// Calls an op on one array of a device.
fn call<O: Op>(fake: &'static Fake) -> Result<()> {
    let (x, y) = (fake.array(0, &[1f32, 2.0]), fake.unwritten::<f32>(0, 2));
    Program::new(O::HANDLER, &[], 0, fake.stream(0))?.run(&[x.operand()], &[y.operand()])
}

#[test]
fn kernels_run_on_the_stream_of_the_call() {
    let (fake, _turn) = fake();
    let before = fake.counts();
    for device in [0, 1] {
        let (x, y) = (fake.array(device, &[1f32, 2.0, 3.0]), fake.unwritten::<f32>(device, 3));
        let stream = fake.stream(device);
        // Another device is current, as torch may have it.
        fake.set_device(1 - device);
        let program = Program::new(scale_ptx::HANDLER, &attr(2.0), device, stream).unwrap();
        program.run(&[x.operand()], &[y.operand()]).unwrap();
        assert_eq!(y.elements(), [2.0, 4.0, 6.0]);
        assert_eq!(fake.counts().last_stream, stream.0.addr());
        assert_eq!(fake.device(), 1 - device, "the context before is current again");
    }
    let after = fake.counts();
    assert_eq!(after.launches - before.launches, 2);
    assert_eq!((after.bad_contexts, after.unknown_streams), (0, 0));
}

#[test]
fn the_null_stream_is_that_of_the_device() {
    let (fake, _turn) = fake();
    let (x, y) = (fake.array(1, &[1f32]), fake.unwritten::<f32>(1, 1));
    let stream = crate::fake::Stream(std::ptr::null_mut());
    Program::new(scale_ptx::HANDLER, &attr(3.0), 1, stream).unwrap().run(&[x.operand()], &[y.operand()]).unwrap();
    assert_eq!((y.elements(), fake.device()), (vec![3.0], -1));
}

#[test]
fn cuda_c_is_compiled_for_the_device_and_each_dtype() {
    let (fake, _turn) = fake();
    fn check<T: Float>(fake: &'static Fake, device: i32) {
        let x: Vec<T> = (0..1000).map(|i| T::from_f64(f64::from(i) / 8.0 - 60.0)).collect();
        let (x, y) = (fake.array(device, &x), fake.unwritten::<T>(device, x.len()));
        let program = Program::new(twice::HANDLER, &[], device, fake.stream(device)).unwrap();
        program.run(&[x.operand()], &[y.operand()]).unwrap();
        let expected: Vec<f64> = x.elements().iter().map(|x| 2.0 * x.as_f64()).collect();
        assert_eq!(y.elements().iter().map(|y| y.as_f64()).collect::<Vec<_>>(), expected);
    }
    let before = fake.counts();
    for device in [0, 1] {
        check::<f32>(fake, device);
        check::<f64>(fake, device);
        check::<f16>(fake, device);
        check::<bf16>(fake, device);
    }
    // One module for all of them on each device, of which other tests of this process may have made some.
    assert!(fake.counts().loaded_modules - before.loaded_modules <= 2);
}

/// The second device is newer than NVRTC: it gets PTX of the newest architecture below.
#[test]
fn newer_devices_get_ptx() {
    kernels! {
        mod fresh = cuda_c("extern \"C\" __global__ void f() {}");
        fn f();
    }
    #[custom_call(platform = "CUDA", initialize = fresh::load)]
    fn loads_only(#[dims(..s)] _x: DeviceArray<f32>, #[dims(..s)] _y: DeviceOut<f32>) {}

    let (fake, _turn) = fake();
    for (device, architecture) in [(0, 90), (1, -90)] {
        let (x, y) = (fake.array(device, &[1f32]), fake.unwritten::<f32>(device, 1));
        let program = Program::new(loads_only::HANDLER, &[], device, fake.stream(device)).unwrap();
        program.run(&[x.operand()], &[y.operand()]).unwrap();
        assert_eq!(fake.architecture(), architecture);
    }
}

#[test]
fn blocks_reduce_with_barriers() {
    let (fake, _turn) = fake();
    let x: Vec<f32> = (0..512).map(|i| (i % 256) as f32).collect();
    let (x, y) = (fake.array(0, &x), fake.unwritten::<f32>(0, 2));
    let program = Program::new(block_sums::HANDLER, &[], 0, fake.stream(0)).unwrap();
    program.run(&[x.operand()], &[y.operand()]).unwrap();
    assert_eq!(y.elements(), [32640.0, 32640.0]);
}

#[test]
fn launches_of_no_work_do_nothing_and_grids_of_zero_are_refused() {
    let (fake, _turn) = fake();
    let none = fake.unwritten::<f32>(0, 0);
    let before = fake.counts().launches;
    Program::new(scale_ptx::HANDLER, &attr(1.0), 0, fake.stream(0))
        .unwrap()
        .run(&[none.operand()], &[fake.unwritten::<f32>(0, 0).operand()])
        .unwrap();
    assert_eq!(fake.counts().launches, before);
    let y = fake.unwritten::<f32>(0, 1);
    let run = |blocks: u32, threads: u32| {
        let attrs = [("blocks", blocks.into()), ("threads", threads.into())];
        Program::new(with_grid::HANDLER, &attrs, 0, fake.stream(0)).unwrap().run(&[], &[y.operand()]).unwrap_err()
    };
    assert_eq!(
        run(0, 32).message(),
        "with_grid: a launch with a grid of (0, 1, 1): each number must be at least 1; leave a launch of no work out, as \
         `Launch::elements` and `Launch::rows` do"
    );
    assert!(run(1, 0).message().contains("a block of (0, 1, 1)"));
    let error = run(1, 2048);
    assert!(error.message().contains("kernel `hangs` with a grid of (1, 1, 1) and blocks of (2048, 1, 1)"), "{error}");
    assert!(error.message().contains("CUDA_ERROR_INVALID_VALUE"), "{error}");
}

#[test]
fn modules_that_do_not_load_say_why() {
    let (fake, _turn) = fake();
    let check = |outcome: Result<()>, code: Code, parts: &[&str]| {
        let error = outcome.unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        for part in parts {
            assert!(error.message().contains(part), "{part} in {error}");
        }
    };
    let before = fake.counts();
    check(
        call::<bad_ptx>(fake),
        Code::InvalidArgument,
        &["bad_ptx (initialize stage): module `bad_ptx_kernels` of kernels", "CUDA_ERROR_INVALID_PTX", "ptxas fatal"],
    );
    check(call::<bad_c>(fake), Code::InvalidArgument, &["the CUDA C does not compile", "unknown_name"]);
    check(call::<no_such_kernel>(fake), Code::NotFound, &["no kernel `g`", "extern \"C\" __global__ void g(...)"]);
    check(
        call::<wrong_size>(fake),
        Code::InvalidArgument,
        &["parameter `x` of kernel `f` has 4 bytes, and its declaration in `kernels!` has 8"],
    );
    check(call::<wrong_count>(fake), Code::InvalidArgument, &["kernel `f` has 2 parameters, and its declaration"]);
    fake.fail("cuModuleLoadDataEx", 222, "");
    check(call::<never_loaded>(fake), Code::FailedPrecondition, &["UNSUPPORTED_PTX_VERSION", "update the driver"]);
    fake.fail("cuModuleLoadDataEx", 2, "");
    check(call::<never_loaded>(fake), Code::ResourceExhausted, &["OUT_OF_MEMORY", "PREALLOCATE"]);
    assert_eq!(fake.counts().live_modules, before.live_modules, "what was refused is unloaded");
}

#[test]
fn errors_of_launches_say_what_to_do() {
    let (fake, _turn) = fake();
    let (x, y) = (fake.array(0, &[1f32]), fake.unwritten::<f32>(0, 1));
    let program = Program::new(scale_ptx::HANDLER, &attr(1.0), 0, fake.stream(0)).unwrap();
    let run = || program.run(&[x.operand()], &[y.operand()]);
    run().unwrap();
    fake.fail("cuLaunchKernel", 701, "");
    let error = run().unwrap_err();
    assert_eq!(error.code(), Code::ResourceExhausted);
    assert!(error.message().contains("launch smaller blocks"), "{error}");
    run().unwrap();
    fake.fail("cuLaunchKernel", 700, "");
    for _ in 0..2 {
        let error = run().unwrap_err();
        assert_eq!(error.code(), Code::Aborted, "{error}");
        assert!(error.message().starts_with("scale_ptx"), "{error}");
        assert!(error.message().contains("CUDA_ERROR_ILLEGAL_ADDRESS"), "{error}");
        assert!(error.message().contains("restart the process"), "{error}");
    }
    fake.heal();
    run().unwrap();
    let program = Program::new(hangs::HANDLER, &[], 0, fake.stream(0)).unwrap();
    assert_eq!(program.run(&[], &[y.operand()]).unwrap_err().code(), Code::Aborted);
    fake.heal();
}

#[test]
fn memory_that_the_device_cannot_use_is_refused() {
    let (fake, _turn) = fake();
    let stream = fake.stream(0);
    let mut program = Program::new(scale_ptx::HANDLER, &attr(1.0), 0, stream).unwrap();
    let (x, y) = (fake.array(0, &[1f32]), fake.unwritten::<f32>(0, 1));
    let mut on_host = [1f32];
    let on_host = Operand { data: on_host.as_mut_ptr().cast(), ..x.operand() };
    let error = program.run(&[on_host], &[y.operand()]).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().starts_with("scale_ptx: kernel `scale`: argument `x`: 0x"), "{error}");
    assert!(
        error
            .message()
            .ends_with("is in host memory, and the kernel runs on CUDA device 0: pass an array that is on the device")
    );
    let elsewhere = fake.unwritten::<f32>(1, 1);
    let error = program.run(&[x.operand()], &[elsewhere.operand()]).unwrap_err();
    assert!(error.message().contains("argument `y`: 0x"), "{error}");
    assert!(error.message().contains("is in memory of CUDA device 1, and the kernel runs on CUDA device 0"), "{error}");
    program.stream = fake.stream(1);
    let error = program.run(&[x.operand()], &[y.operand()]).unwrap_err();
    assert!(error.message().contains("the stream belongs to another context than the primary one of CUDA device 0"));
    (program.device, program.stream) = (7, stream);
    let error = program.run(&[x.operand()], &[y.operand()]).unwrap_err();
    assert!(error.message().contains("opening CUDA device 7 failed with CUDA_ERROR_INVALID_DEVICE"), "{error}");
    assert_eq!(fake.device(), -1, "errors leave no context current");
}

#[test]
fn modules_are_not_loaded_during_a_capture() {
    kernels! {
        mod late = ptx("
            .version 7.0
            .visible .entry scale(.param .u64 x, .param .u64 y, .param .u64 n, .param .f32 factor) { ret; }
        ");
        fn scale(x: *const f32, y: *mut f32, n: u64, factor: f32);
    }
    #[custom_call(platform = "CUDA", command_buffer)]
    fn late_scale(cuda: Cuda, #[dims(n)] x: DeviceArray<f32>, #[dims(n)] mut y: DeviceOut<f32>) -> Result<()> {
        // SAFETY: the kernel reads and writes so many elements of each.
        unsafe { late::scale(Launch::elements(&cuda, x.len() as u64)?, &x, &mut y, x.len() as u64, 2.0) }
    }

    let (fake, _turn) = fake();
    let (x, y) = (fake.array(0, &[1f32]), fake.unwritten::<f32>(0, 1));
    let stream = fake.stream(0);
    let program = Program::new(late_scale::HANDLER, &[], 0, stream).unwrap();
    let run = || program.run(&[x.operand()], &[y.operand()]);
    fake.capture(stream, true);
    let error = run().unwrap_err();
    assert_eq!(error.code(), Code::FailedPrecondition);
    assert!(error.message().contains("module `late` of kernels is not loaded on CUDA device 0"), "{error}");
    assert!(error.message().contains("`initialize = late::load`"), "{error}");
    fake.capture(stream, false);
    run().unwrap();
    fake.capture(stream, true);
    run().unwrap();
    fake.capture(stream, false);
}

/// Hosts load before they capture: then the first execution may be captured. torch does both in one call.
#[test]
fn the_stage_that_loads_comes_before_the_capture() {
    kernels! {
        mod early = ptx("
            .version 7.0
            .visible .entry scale(.param .u64 x, .param .u64 y, .param .u64 n, .param .f32 factor) { ret; }
        ");
        fn scale(x: *const f32, y: *mut f32, n: u64, factor: f32);
    }
    #[custom_call(platform = "CUDA", command_buffer, initialize = early::load)]
    fn early_scale(cuda: Cuda, #[dims(n)] x: DeviceArray<f32>, #[dims(n)] mut y: DeviceOut<f32>) -> Result<()> {
        // SAFETY: the kernel reads and writes so many elements of each.
        unsafe { early::scale(Launch::elements(&cuda, x.len() as u64)?, &x, &mut y, x.len() as u64, 2.0) }
    }

    let (fake, _turn) = fake();
    let (x, y) = (fake.array(0, &[1f32]), fake.unwritten::<f32>(0, 1));
    let stream = fake.stream(0);
    let mut program = Program::new(early_scale::HANDLER, &[], 0, stream).unwrap();
    fake.capture(stream, true);
    let error = program.run(&[x.operand()], &[y.operand()]).unwrap_err();
    assert!(error.message().starts_with("early_scale (initialize stage): module `early` of kernels"), "{error}");
    fake.capture(stream, false);
    program.initialize().unwrap();
    fake.capture(stream, true);
    program.stages = &[];
    program.run(&[x.operand()], &[y.operand()]).unwrap();
    assert_eq!(y.elements(), [2.0]);
}

#[test]
fn calls_leave_nothing_behind() {
    let (fake, _turn) = fake();
    let (x, y) = (fake.array(0, &[1f32]), fake.unwritten::<f32>(0, 1));
    let program = Program::new(scale_ptx::HANDLER, &attr(1.0), 0, fake.stream(0)).unwrap();
    program.run(&[x.operand()], &[y.operand()]).unwrap();
    let before = fake.counts();
    for _ in 0..10_000 {
        program.run(&[x.operand()], &[y.operand()]).unwrap();
    }
    let after = fake.counts();
    assert_eq!(after.launches - before.launches, 10_000);
    assert_eq!(crate::fake::Counts { launches: before.launches, ..after }, before);
}

#[test]
fn threads_have_streams_and_devices_of_their_own() {
    let (fake, _turn) = fake();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || {
                let device = thread % 2;
                let factor = thread as f32;
                let program = Program::new(scale_ptx::HANDLER, &attr(factor), device, fake.stream(device)).unwrap();
                let (x, y) = (fake.array(device, &[1f32, 2.0]), fake.unwritten::<f32>(device, 2));
                for _ in 0..200 {
                    program.run(&[x.operand()], &[y.operand()]).unwrap();
                    assert_eq!(y.elements(), [factor, 2.0 * factor]);
                }
                assert_eq!(fake.device(), -1);
            });
        }
    });
    let counts = fake.counts();
    assert_eq!((counts.bad_contexts, counts.unknown_streams), (0, 0));
}

/// Set for the process that does not load the libraries of the tests.
const CHILD: &str = "OXCALL_TEST_NO_DRIVER";

/// In a process of its own: a driver that was found stays.
#[test]
fn without_a_driver_there_is_an_error() {
    if std::env::var_os(CHILD).is_some() {
        let mut memory = [1f32];
        let mut operand = || Operand { dtype: DType::F32, data: memory.as_mut_ptr().cast(), dims: vec![1] };
        let stream = crate::fake::Stream(std::ptr::null_mut());
        let program = Program::new(scale_ptx::HANDLER, &attr(1.0), 0, stream).unwrap();
        let error = program.run(&[operand()], &[operand()]).unwrap_err();
        // Where there is a driver, it is without a GPU, or the memory is not the GPU's.
        assert!(matches!(error.code(), Code::FailedPrecondition | Code::InvalidArgument | Code::Internal), "{error}");
        println!("said: {error}");
        return;
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "launches::without_a_driver_there_is_an_error", "--nocapture"]);
    let output = child.env(CHILD, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    if !text.contains("libcuda.so.1, which the driver of NVIDIA installs, was not found") {
        assert!(text.contains("said: "), "{text}");
    }
}
