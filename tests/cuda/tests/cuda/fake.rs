//! A CUDA driver and NVRTC made for tests, and calls of handlers on them.

use std::env;
use std::ffi::{CString, c_char, c_int, c_void};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock};

use libloading::Library;
use oxcall::descriptor::{Handler, Stage};
use oxcall::host::{self, AttrValue, CallFrameBuilder, InvokeContext, StageState};
use oxcall::registry::registry;
use oxcall::sync::{Mutex, MutexGuard};
use oxcall::{Element, Result};

/// What the driver counts.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    pub(crate) launches: i64,
    pub(crate) live_modules: i64,
    pub(crate) loaded_modules: i64,
    pub(crate) bad_contexts: i64,
    pub(crate) unknown_streams: i64,
    pub(crate) allocations: i64,
    pub(crate) last_stream: usize,
}

/// The libraries, which are in the process before anything looks for CUDA by name.
pub(crate) struct Fake {
    driver: Library,
    nvrtc: Option<Library>,
}

/// The driver, for one test at a time: errors that end a context, and counts, are the process's.
pub(crate) fn fake() -> (&'static Fake, MutexGuard<'static, ()>) {
    static FAKE: LazyLock<Fake> = LazyLock::new(|| Fake::build(true));
    turn(&FAKE)
}

/// The driver alone, in a process of its own.
pub(crate) fn without_nvrtc() -> (&'static Fake, MutexGuard<'static, ()>) {
    static FAKE: LazyLock<Fake> = LazyLock::new(|| Fake::build(false));
    turn(&FAKE)
}

fn turn(fake: &'static Fake) -> (&'static Fake, MutexGuard<'static, ()>) {
    static TURNS: Mutex<()> = Mutex::new(());
    let turn = TURNS.lock();
    fake.call::<()>("fake_heal", ());
    fake.set_device(-1);
    (fake, turn)
}

/// Types of a function's arguments.
pub(crate) trait Arguments {
    /// Calls a function of these arguments.
    ///
    /// # Safety
    /// It has them.
    unsafe fn call<R>(self, library: &Library, name: &str) -> R;
}

macro_rules! arguments {
    ($(($($ty:ident $value:ident),*))*) => {$(
        impl<$($ty),*> Arguments for ($($ty,)*) {
            unsafe fn call<R>(self, library: &Library, name: &str) -> R {
                let ($($value,)*) = self;
                // SAFETY: as the caller guarantees.
                unsafe {
                    let function = library.get::<unsafe extern "C" fn($($ty),*) -> R>(name.as_bytes()).expect(name);
                    function($($value),*)
                }
            }
        }
    )*};
}
arguments! { () (A a) (A a, B b) (A a, B b, C c) }

fn compiler() -> Vec<String> {
    let given = env::var("OXCALL_TEST_CXX").or_else(|_| env::var("CXX")).unwrap_or_else(|_| "g++".to_owned());
    given.split_whitespace().map(str::to_owned).collect()
}

impl Fake {
    fn build(has_nvrtc: bool) -> Fake {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cpp/cuda");
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("cuda-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let words = compiler();
        let build = |source: &str, name: &str| {
            let library = folder.join(name);
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]).args(["-std=c++17", "-O1", "-fPIC", "-shared", "-Wall", "-Werror"]);
            // Looked for by this name, the library is found in the process, whatever the machine has.
            command.arg(format!("-Wl,-soname,{name}")).arg(sources.join(source)).arg("-o").arg(&library).arg("-ldl");
            assert!(command.status().expect("a C++ compiler: set CXX").success(), "{command:?}");
            // SAFETY: its constructors are those of C++'s library.
            unsafe { Library::new(&library) }.unwrap()
        };
        let driver = build("driver.cpp", "libcuda.so");
        if !has_nvrtc {
            return Fake { driver, nvrtc: None };
        }
        let nvrtc = build("nvrtc.cpp", "libnvrtc.so");
        let text = |text: String| CString::new(text).unwrap();
        let (command, shim) = (text(words.join(" ")), text(sources.join("shim.h").display().to_string()));
        let scratch = text(folder.display().to_string());
        // SAFETY: a function of these arguments, which it copies.
        unsafe { (command.as_ptr(), shim.as_ptr(), scratch.as_ptr()).call::<()>(&nvrtc, "fake_nvrtc_configure") };
        Fake { driver, nvrtc: Some(nvrtc) }
    }

    fn call<R>(&self, name: &str, arguments: impl Arguments) -> R {
        // SAFETY: the methods below pass what the functions take.
        unsafe { arguments.call(&self.driver, name) }
    }

    pub(crate) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.call::<()>("fake_counts", (&raw mut counts,));
        counts
    }

    /// A stream of a device.
    pub(crate) fn stream(&self, device: i32) -> Stream {
        Stream(self.call("fake_stream", (device,)))
    }

    pub(crate) fn capture(&self, stream: Stream, is_capturing: bool) {
        self.call::<()>("fake_capture", (stream.0, c_int::from(is_capturing)));
    }

    /// Lets the next call of a function fail.
    pub(crate) fn fail(&self, function: &str, code: i32, log: &str) {
        let (function, log) = (CString::new(function).unwrap(), CString::new(log).unwrap());
        self.call::<()>("fake_fail", (function.as_ptr() as *const c_char, code, log.as_ptr() as *const c_char));
    }

    pub(crate) fn heal(&self) {
        self.call::<()>("fake_heal", ());
    }

    /// The device whose context is current on this thread; -1 for none.
    pub(crate) fn device(&self) -> i32 {
        self.call("fake_current_device", ())
    }

    pub(crate) fn set_device(&self, device: i32) {
        self.call::<()>("fake_set_device", (device,));
    }

    /// The architecture of the last compilation: negative for PTX.
    pub(crate) fn architecture(&self) -> i32 {
        let nvrtc = self.nvrtc.as_ref().expect("an NVRTC that compiles");
        // SAFETY: a function without arguments.
        unsafe { ().call(nvrtc, "fake_nvrtc_architecture") }
    }

    /// An array on a device.
    pub(crate) fn array<T: Element>(&'static self, device: i32, elements: &[T]) -> Array<T> {
        let data: *mut T = self.call("fake_alloc", (device, size_of_val(elements)));
        // SAFETY: as many elements were allocated, aligned for any number.
        unsafe { data.copy_from_nonoverlapping(elements.as_ptr(), elements.len()) };
        Array { fake: self, data, len: elements.len() }
    }

    /// An array of elements that a kernel has to write.
    pub(crate) fn unwritten<T: Element + Default>(&'static self, device: i32, len: usize) -> Array<T> {
        self.array(device, &vec![T::default(); len])
    }
}

/// A stream of the driver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream(pub(crate) *mut c_void);

// SAFETY: an address.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

/// An array on a device, which checks that nothing was written beyond its end when it is dropped.
pub(crate) struct Array<T> {
    fake: &'static Fake,
    data: *mut T,
    len: usize,
}

impl<T: Element> Array<T> {
    pub(crate) fn elements(&self) -> Vec<T> {
        // SAFETY: so many elements; kernels have ended when their launch has.
        unsafe { std::slice::from_raw_parts(self.data, self.len) }.to_vec()
    }

    pub(crate) fn operand(&self) -> Operand {
        Operand { dtype: T::DTYPE, data: self.data.cast(), dims: vec![self.len as i64] }
    }

    pub(crate) fn shaped(&self, dims: &[i64]) -> Operand {
        Operand { dims: dims.to_vec(), ..self.operand() }
    }
}

impl<T> Drop for Array<T> {
    fn drop(&mut self) {
        let is_whole: c_int = self.fake.call("fake_free", (self.data.cast::<c_void>(),));
        assert!(is_whole != 0 || std::thread::panicking(), "a write beyond the end of an array");
    }
}

/// A buffer of a call.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub(crate) dtype: oxcall::DType,
    pub(crate) data: *mut c_void,
    pub(crate) dims: Vec<i64>,
}

/// The handler of an op for CUDA.
pub(crate) fn on_cuda(name: &str) -> &'static Handler {
    registry().find(name, "CUDA").unwrap_or_else(|| panic!("no handler of `{name}` for CUDA"))
}

/// A program of one call, as a host compiles it.
pub(crate) struct Program {
    handler: &'static Handler,
    attrs: Vec<(String, AttrValue)>,
    state: Arc<StageState>,
    pub(crate) device: i32,
    pub(crate) stream: Stream,
    /// The stages that the host runs before the execution.
    pub(crate) stages: &'static [Stage],
}

impl Program {
    pub(crate) fn new(
        handler: &'static Handler,
        attrs: &[(&str, AttrValue)],
        device: i32,
        stream: Stream,
    ) -> Result<Program> {
        let attrs = attrs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let state = Arc::new(StageState::new());
        let stages = &[Stage::Prepare, Stage::Initialize];
        let program = Program { handler, attrs, state, device, stream, stages };
        program.stage(Stage::Instantiate, &program.context(), &[], &[])?;
        Ok(program)
    }

    fn context(&self) -> InvokeContext {
        let builder = InvokeContext::builder().device_ordinal(self.device).stream(self.stream.0);
        builder.state(Stage::Instantiate, Arc::clone(&self.state)).build()
    }

    fn stage(&self, stage: Stage, context: &InvokeContext, args: &[Operand], rets: &[Operand]) -> Result<()> {
        let Some(handler) = self.handler.stage(stage) else { return Ok(()) };
        let mut frame = CallFrameBuilder::new();
        for arg in args {
            frame.arg(arg.dtype, arg.data, &arg.dims);
        }
        for ret in rets {
            frame.ret(ret.dtype, ret.data, &ret.dims);
        }
        for (name, value) in &self.attrs {
            frame.attr(name, value.clone());
        }
        // SAFETY: a handler, whose buffers live for the call.
        unsafe { host::call(handler, &mut frame.build(), context, stage) }.map(|future| assert!(future.is_none()))
    }

    /// The stage in which hosts load.
    pub(crate) fn initialize(&self) -> Result<()> {
        self.stage(Stage::Initialize, &self.context(), &[], &[])
    }

    pub(crate) fn run(&self, args: &[Operand], rets: &[Operand]) -> Result<()> {
        let context = self.context();
        for stage in self.stages.iter().copied().chain([Stage::Execute]) {
            self.stage(stage, &context, args, rets)?;
        }
        Ok(())
    }
}
