//! Modules, launches, contexts and errors.

use oxcall::cuda::{Cuda, Launch, kernels};
use oxcall::descriptor::Op;
use oxcall::prelude::*;

use crate::child::{in_a_process, is_child};
use crate::fake::{Array, Fake, Operand, Program, fake, on_cuda};

/// An op `factor * x` with a module of its own, in PTX. The driver of the tests knows the kernel by its name.
macro_rules! scaling {
    ($(#[$doc:meta])* $op:ident of $module:ident($ptx:expr) $(, $option:ident = $value:path)*) => {
        kernels! {
            mod $module = ptx($ptx);
            fn scale(x: *const f32, y: *mut f32, n: u64, factor: f32);
        }

        $(#[$doc])*
        #[custom_call(platform = "CUDA", command_buffer $(, $option = $value)*)]
        fn $op(
            cuda: Cuda,
            #[attr] factor: f32,
            #[dims(..s)] x: DeviceArray<f32>,
            #[dims(..s)] mut y: DeviceOut<f32>,
        ) -> Result<()> {
            let n = x.len() as u64;
            // SAFETY: the kernel reads and writes `n` elements of each.
            unsafe { $module::scale(Launch::elements(&cuda, n)?, &x, &mut y, n, factor) }
        }
    };
}

/// The shortest PTX of such a kernel.
const SCALE: &str = "
    .version 7.0
    .visible .entry scale(.param .u64 x, .param .u64 y, .param .u64 n, .param .f32 factor) { ret; }
";

// As rustc makes it of the Rust function in the guide's chapter 29.
scaling!(scale_ptx of ptx_kernels(include_str!("scale.ptx")), initialize = ptx_kernels::load);

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

/// Checks the code of an error, and parts of its message.
#[track_caller]
fn refused(outcome: Result<()>, code: Code, parts: &[&str]) {
    let error = outcome.unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    for part in parts {
        assert!(error.message().contains(part), "{part} in {error}");
    }
}

/// An op of `scaling!` with an array of one element, on the first device.
struct Scaling {
    fake: &'static Fake,
    x: Array<f32>,
    y: Array<f32>,
    program: Program,
}

impl Scaling {
    fn new<O: Op>(fake: &'static Fake) -> Scaling {
        let program = Program::new(O::HANDLER, &attr(2.0), 0, fake.stream(0)).unwrap();
        Scaling { fake, x: fake.array(0, &[1f32]), y: fake.unwritten(0, 1), program }
    }

    fn run(&self) -> Result<()> {
        self.program.run(&[self.x.operand()], &[self.y.operand()])
    }

    /// While the stream is captured into a graph.
    fn run_captured(&self) -> Result<()> {
        self.fake.capture(self.program.stream, true);
        let outcome = self.run();
        self.fake.capture(self.program.stream, false);
        outcome
    }
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
        "with_grid: expected a grid of at least 1 in each dimension, got (0, 1, 1): skip the launch when there is no \
         work, as `Launch::elements` and `Launch::rows` do"
    );
    assert!(run(1, 0).message().contains("expected a block of at least 1 in each dimension, got (0, 1, 1)"));
    let error = run(1, 2048);
    assert!(error.message().contains("kernel `hangs` with a grid of (1, 1, 1) and blocks of (2048, 1, 1)"), "{error}");
    assert!(error.message().contains("CUDA_ERROR_INVALID_VALUE"), "{error}");
}

#[test]
fn modules_that_do_not_load_say_why() {
    let (fake, _turn) = fake();
    let before = fake.counts();
    refused(
        call::<bad_ptx>(fake),
        Code::InvalidArgument,
        &[
            "bad_ptx (initialize stage): kernel module `bad_ptx_kernels`: loading on CUDA device 0 failed",
            "CUDA_ERROR_INVALID_PTX: the PTX is not valid",
            "ptxas fatal",
        ],
    );
    refused(call::<bad_c>(fake), Code::InvalidArgument, &["the CUDA C does not compile", "unknown_name"]);
    refused(
        call::<no_such_kernel>(fake),
        Code::NotFound,
        &["`no_such_kernel_kernels`: no kernel `g`", "extern \"C\" __global__ void g(...)"],
    );
    refused(
        call::<wrong_size>(fake),
        Code::InvalidArgument,
        &["kernel `f`: parameter `x` has 4 bytes, but `kernels!` declares 8"],
    );
    refused(
        call::<wrong_count>(fake),
        Code::InvalidArgument,
        &["kernel `f` has 2 parameters, but `kernels!` declares 1"],
    );
    fake.fail("cuModuleLoadDataEx", 222, "");
    refused(call::<never_loaded>(fake), Code::FailedPrecondition, &["UNSUPPORTED_PTX_VERSION", "update the driver"]);
    fake.fail("cuModuleLoadDataEx", 2, "");
    refused(call::<never_loaded>(fake), Code::ResourceExhausted, &["OUT_OF_MEMORY", "PREALLOCATE"]);
    assert_eq!(fake.counts().live_modules, before.live_modules, "what was refused is unloaded");
}

#[test]
fn errors_of_launches_say_what_to_do() {
    let (fake, _turn) = fake();
    let scaling = Scaling::new::<scale_ptx>(fake);
    scaling.run().unwrap();
    fake.fail("cuLaunchKernel", 701, "");
    refused(scaling.run(), Code::ResourceExhausted, &["LAUNCH_OUT_OF_RESOURCES", "launch smaller blocks"]);
    scaling.run().unwrap();
    // These end the context: each later call fails too. The second one is that of a device that was reset.
    for (code, name, help) in [
        (700, "CUDA_ERROR_ILLEGAL_ADDRESS", "a kernel launched earlier in this process corrupted the device's context"),
        (709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "the device was reset, by `cudaDeviceReset` or another library"),
    ] {
        fake.fail("cuLaunchKernel", code, "");
        for _ in 0..2 {
            let start = format!("failed with {name}: {help}");
            refused(scaling.run(), Code::Aborted, &["scale_ptx", &start, "restart the process"]);
        }
        fake.heal();
        scaling.run().unwrap();
    }
    let program = Program::new(hangs::HANDLER, &[], 0, fake.stream(0)).unwrap();
    refused(program.run(&[], &[scaling.y.operand()]), Code::Aborted, &["hangs"]);
    fake.heal();
}

#[test]
fn memory_that_the_device_cannot_use_is_refused() {
    let (fake, _turn) = fake();
    let Scaling { x, y, mut program, .. } = Scaling::new::<scale_ptx>(fake);
    let stream = program.stream;
    let mut memory = [1f32];
    let on_host = Operand { data: memory.as_mut_ptr().cast(), ..x.operand() };
    let address = format!("got host memory at {:#x}: pass an array on the device", on_host.data.addr());
    refused(
        program.run(std::slice::from_ref(&on_host), &[y.operand()]),
        Code::InvalidArgument,
        &["scale_ptx: kernel `scale`: argument `x`: expected memory of CUDA device 0, ", &address],
    );
    let elsewhere = fake.unwritten::<f32>(1, 1);
    refused(
        program.run(&[x.operand()], &[elsewhere.operand()]),
        Code::InvalidArgument,
        &["argument `y`: expected memory of CUDA device 0, got memory of CUDA device 1 at 0x", "arrays on one device"],
    );
    program.stream = fake.stream(1);
    refused(
        program.run(&[x.operand()], &[y.operand()]),
        Code::InvalidArgument,
        &["expected a stream of the primary context of CUDA device 0, got a stream of another context"],
    );
    (program.device, program.stream) = (7, stream);
    refused(
        program.run(&[x.operand()], &[y.operand()]),
        Code::InvalidArgument,
        &["opening CUDA device 7 failed with CUDA_ERROR_INVALID_DEVICE: no such device: compare `nvidia-smi -L`"],
    );
    program.device = -3;
    refused(
        program.run(&[x.operand()], &[y.operand()]),
        Code::InvalidArgument,
        &["CUDA device -3 does not exist: ordinals start at 0"],
    );
    assert_eq!(fake.device(), -1, "errors leave no context current");

    // Recorded functions name their own operands.
    for (name, operand, shape) in [("swiglu", "gate", vec![1]), ("softmax_cross_entropy", "logits", vec![1, 1])] {
        let program = Program::new(on_cuda(name), &[], 0, stream).unwrap();
        let on_host = Operand { dims: shape.clone(), ..on_host.clone() };
        let part = format!("argument `{operand}`: expected memory of CUDA device 0, got host memory");
        let outcome = program.run(&[on_host, x.shaped(&shape)], &[y.shaped(&shape[..1])]);
        refused(outcome, Code::InvalidArgument, &[name, &part]);
    }
}

/// Dtypes that the kernel is not declared for, and grids that no device has.
#[test]
fn launches_beyond_the_declaration_are_refused() {
    #[custom_call(platform = "CUDA", T = [f32, i32])]
    fn twice_of_any<T: Element>(
        cuda: Cuda,
        #[attr] blocks: u64,
        #[dims(..s)] x: DeviceArray<T>,
        #[dims(..s)] mut y: DeviceOut<T>,
    ) -> Result<()> {
        // SAFETY: the kernel reads and writes so many elements of each.
        unsafe { c_kernels::twice(Launch::rows(&cuda, blocks, 32)?, &x, &mut y, x.len() as u64) }
    }

    let (fake, _turn) = fake();
    let program =
        |blocks: u64| Program::new(twice_of_any::HANDLER, &[("blocks", blocks.into())], 0, fake.stream(0)).unwrap();
    let (x, y) = (fake.array(0, &[1i32]), fake.unwritten::<i32>(0, 1));
    refused(
        program(1).run(&[x.operand()], &[y.operand()]),
        Code::Unimplemented,
        &["kernel `twice`: expected f16, bf16, f32, f64, got s32: declare it without `<T: floats>`"],
    );
    let (x, y) = (fake.array(0, &[1f32]), fake.unwritten::<f32>(0, 1));
    refused(
        program(1 << 31).run(&[x.operand()], &[y.operand()]),
        Code::InvalidArgument,
        &["expected a grid of at most 2147483647 blocks, got 2147483648: let each block process several"],
    );
    program(1).run(&[x.operand()], &[y.operand()]).unwrap();
    assert_eq!(y.elements(), [2.0]);
}

#[test]
fn modules_are_not_loaded_during_a_capture() {
    scaling!(late_scale of late(SCALE));
    let (fake, _turn) = fake();
    let scaling = Scaling::new::<late_scale>(fake);
    refused(
        scaling.run_captured(),
        Code::FailedPrecondition,
        &[
            "late_scale: kernel module `late` is not loaded on CUDA device 0",
            "call the op once before the capture; in JAX, `initialize = late::load` in the op's options does so",
        ],
    );
    scaling.run().unwrap();
    scaling.run_captured().unwrap();

    // Those of recorded functions have the stage.
    let program = Program::new(on_cuda("softplus"), &[("beta", 1.75.into())], 0, scaling.program.stream).unwrap();
    let recorded = Scaling { program, ..scaling };
    let part = "softplus (initialize stage): kernel module `pointwise`";
    refused(recorded.run_captured(), Code::FailedPrecondition, &[part]);
    recorded.run().unwrap();
    recorded.run_captured().unwrap();
}

/// Hosts load before they capture: then the first execution may be captured. torch does both in one call.
#[test]
fn the_stage_that_loads_comes_before_the_capture() {
    scaling!(early_scale of early(SCALE), initialize = early::load);
    let (fake, _turn) = fake();
    let mut scaling = Scaling::new::<early_scale>(fake);
    refused(
        scaling.run_captured(),
        Code::FailedPrecondition,
        &["early_scale (initialize stage): kernel module `early` is not loaded"],
    );
    scaling.program.initialize().unwrap();
    scaling.program.stages = &[];
    scaling.run_captured().unwrap();
    assert_eq!(scaling.y.elements(), [2.0]);
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

#[test]
fn without_a_driver_there_is_an_error() {
    if is_child() {
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
    let text = in_a_process("launches::without_a_driver_there_is_an_error", &[]);
    assert!(text.contains("said: "), "{text}");
    if !text.contains("failed with CUDA_ERROR") && !text.contains("got host memory") {
        assert!(text.contains("no CUDA driver: libcuda.so.1 was not found; install the NVIDIA driver"), "{text}");
    }
}

/// The driver of the tests without their NVRTC: kernels in PTX run, and CUDA C is an error that says what to do.
#[test]
fn without_nvrtc_ptx_runs_and_cuda_c_is_an_error() {
    if is_child() {
        let (fake, _turn) = crate::fake::without_nvrtc();
        let scaling = Scaling::new::<scale_ptx>(fake);
        scaling.run().unwrap();
        assert_eq!(scaling.y.elements(), [2.0]);
        for (handler, operands) in [(twice::HANDLER, 1), (on_cuda("swiglu"), 2), (on_cuda("layer_norm"), 3)] {
            let args = vec![scaling.x.shaped(&[1, 1]); operands];
            let program = Program::new(handler, &[], 0, scaling.program.stream).unwrap();
            match program.run(&args, &[scaling.y.shaped(&[1, 1])]) {
                Ok(()) => println!("said: this machine has NVRTC"),
                Err(error) => println!("said: {:?} {error}", error.code()),
            }
        }
        scaling.run().unwrap();
        return;
    }
    let test = "launches::without_nvrtc_ptx_runs_and_cuda_c_is_an_error";
    let said = |variables: &[(&str, &str)]| -> Vec<String> {
        let text = in_a_process(test, variables);
        let said: Vec<String> = text.lines().filter_map(|line| Some(line.split_once("said: ")?.1.to_owned())).collect();
        assert_eq!(said.len(), 3, "{text}");
        said
    };
    // The machine may have an NVRTC, which has no driver of the tests.
    for said in said(&[]) {
        let missing = "libnvrtc.so, which compiles CUDA C, was found neither on the loader's path nor among the \
                       Python packages: install the wheel `nvidia-cuda-nvrtc-cu12` (CUDA 12) or `nvidia-cuda-nvrtc` \
                       (CUDA 13), or set OXCALL_NVRTC to the library's path";
        let is_missing = said.starts_with("FailedPrecondition") && said.contains(missing);
        assert!(is_missing || said.contains("loading on CUDA device 0") || said.contains("has NVRTC"), "{said}");
    }
    for (path, why) in
        [("/no/such/libnvrtc.so", "the library cannot be loaded"), ("libc.so.6", "the library is not NVRTC")]
    {
        for said in said(&[("OXCALL_NVRTC", path)]) {
            let start = format!("OXCALL_NVRTC={path}: {why}; set it to the path of libnvrtc.so, or unset it");
            assert!(said.starts_with("FailedPrecondition") && said.contains(&start), "{said}");
        }
    }
}
