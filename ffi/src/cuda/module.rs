//! Modules of kernels, loaded once for each device.

use std::borrow::Cow;
use std::ffi::{CString, c_void};
use std::sync::Arc;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;

use super::{Argument, Cuda, CudaDevice, Launch, driver, nvrtc};
use crate::context::Context;
use crate::sync::Mutex;
use crate::{DType, Error, Result};

/// The code of a module.
#[derive(Clone, Debug)]
pub enum Source {
    /// PTX, as compilers write it.
    Ptx(Cow<'static, str>),
    /// CUDA C++, which NVRTC compiles on the machine that runs it. The kernels are `extern "C" __global__`.
    CudaC(Cow<'static, str>),
}

/// A kernel's declaration.
#[derive(Clone, Copy, Debug)]
pub struct KernelDecl {
    /// Its name in the source, without the dtype.
    pub name: &'static str,
    /// The dtypes for which there is one, named `<name>_<dtype>`; empty for a kernel without a type parameter.
    pub dtypes: &'static [DType],
    /// Names and sizes of its parameters.
    pub params: &'static [(&'static str, usize)],
}

impl KernelDecl {
    /// The dtypes of kernels with a type parameter.
    pub const FLOATS: &'static [DType] = &[DType::F16, DType::BF16, DType::F32, DType::F64];

    /// The names in the source.
    fn entries(&self) -> Vec<String> {
        match self.dtypes {
            [] => vec![self.name.to_owned()],
            dtypes => dtypes.iter().map(|dtype| format!("{}_{dtype}", self.name)).collect(),
        }
    }
}

/// The most arguments of a launch.
pub(super) const MOST_ARGUMENTS: usize = 64;

/// A kernel on a device.
#[derive(Clone, Copy)]
pub(super) struct Function(pub(super) sys::CUfunction);

/// A module of kernels; [`kernels!`](crate::cuda_kernels) makes one.
pub struct Module {
    name: &'static str,
    source: Source,
    kernels: Cow<'static, [KernelDecl]>,
    loaded: Mutex<Vec<Arc<OnDevice>>>,
}

/// The state of a stage that has loaded modules.
#[derive(Clone, Copy, Debug)]
pub struct Loaded;

/// A module on a device.
struct OnDevice {
    device: CudaDevice,
    module: sys::CUmodule,
    /// The kernels in their order, each for each of its dtypes.
    functions: Vec<Vec<sys::CUfunction>>,
}

// SAFETY: handles, which any thread may use on which the context is current.
unsafe impl Send for OnDevice {}
// SAFETY: as above.
unsafe impl Sync for OnDevice {}

impl Drop for OnDevice {
    fn drop(&mut self) {
        if let Ok(_current) = self.device.enter() {
            // SAFETY: loaded once, and not used again. A failure cannot be reported to anyone.
            let _ = unsafe { result::module::unload(self.module) };
        }
    }
}

impl Module {
    /// A module, which is loaded later.
    pub const fn new(name: &'static str, source: Source, kernels: &'static [KernelDecl]) -> Module {
        Module { name, source, kernels: Cow::Borrowed(kernels), loaded: Mutex::new(Vec::new()) }
    }

    /// A module that was made at run time.
    pub(super) fn owned(name: &'static str, source: Source, kernels: Vec<KernelDecl>) -> Module {
        Module { name, source, kernels: Cow::Owned(kernels), loaded: Mutex::new(Vec::new()) }
    }

    /// Loads it on a device, unless it is loaded there: compiles CUDA C, and checks the kernels' names and parameters.
    ///
    /// # Errors
    /// Without a driver or NVRTC; if the source does not compile or load; if a kernel is missing, or has other
    /// parameters.
    pub fn load(&self, device: CudaDevice) -> Result<Loaded> {
        self.on(device).map(|_| Loaded)
    }

    /// As [`load`](Module::load), on the device of a call: what the stage `load` does.
    ///
    /// # Errors
    /// As for [`load`](Module::load); if the module is not loaded, and the stream is being captured.
    pub fn load_for(&self, context: &Context<'_>) -> Result<Loaded> {
        let device: CudaDevice = context.get()?;
        if self.known(device).is_some() {
            return Ok(Loaded);
        }
        // A host may have none before the execution.
        if let Ok(cuda) = context.get::<Cuda<'_>>()
            && cuda.is_capturing()?
        {
            return Err(self.during_capture(device));
        }
        self.load(device)
    }

    /// Enqueues a kernel; loads the module first if that was not done, unless the stream is being captured.
    ///
    /// # Errors
    /// As for [`load`](Module::load), and those of the driver.
    ///
    /// # Safety
    /// The arguments are those of the kernel's declaration, which is that of the kernel; with them, the kernel accesses
    /// the memory of the buffers only, and writes only what is mutable.
    pub unsafe fn launch(
        &self,
        kernel: usize,
        dtype: Option<DType>,
        launch: Launch<'_>,
        arguments: &mut [Argument],
    ) -> Result<()> {
        if launch.is_empty() {
            return Ok(());
        }
        let loaded = self.for_launch(launch.cuda())?;
        let declared = &self.kernels[kernel];
        let place = match dtype {
            None => 0,
            Some(dtype) => declared.dtypes.iter().position(|other| *other == dtype).ok_or_else(|| {
                let known: Vec<String> = declared.dtypes.iter().map(DType::to_string).collect();
                Error::unimplemented(format!(
                    "kernel `{}`: expected {}, got {dtype}: declare it without `<T: floats>` for other dtypes",
                    declared.name,
                    known.join(", ")
                ))
            })?,
        };
        let function = Function(loaded.functions[kernel][place]);
        // SAFETY: as the caller guarantees.
        unsafe { launch.run(declared, function, arguments) }
    }

    fn known(&self, device: CudaDevice) -> Option<Arc<OnDevice>> {
        self.loaded.lock().iter().find(|loaded| loaded.device == device).cloned()
    }

    fn for_launch(&self, cuda: &Cuda<'_>) -> Result<Arc<OnDevice>> {
        let device = cuda.device();
        if let Some(loaded) = self.known(device) {
            return Ok(loaded);
        }
        if cuda.is_capturing()? {
            return Err(self.during_capture(device));
        }
        self.on(device)
    }

    /// Loading is not part of a graph, and would break its capture.
    #[cold]
    fn during_capture(&self, device: CudaDevice) -> Error {
        let name = self.name;
        let stage = match self.kernels {
            Cow::Borrowed(_) => format!("; in JAX, `initialize = {name}::load` in the op's options does so"),
            // The kernels of recorded functions have the stage.
            Cow::Owned(_) => String::new(),
        };
        Error::failed_precondition(format!(
            "kernel module `{name}` is not loaded on {device}, and cannot be loaded while the stream is captured into \
             a CUDA graph: call the op once before the capture{stage}"
        ))
    }

    fn on(&self, device: CudaDevice) -> Result<Arc<OnDevice>> {
        // One thread at a time, since compiling takes long.
        let mut all = self.loaded.lock();
        if let Some(loaded) = all.iter().find(|loaded| loaded.device == device) {
            return Ok(Arc::clone(loaded));
        }
        let named = |error: Error| error.context(format_args!("kernel module `{}`", self.name));
        let loaded = Arc::new(self.load_on(device).map_err(named)?);
        all.push(Arc::clone(&loaded));
        Ok(loaded)
    }

    fn load_on(&self, device: CudaDevice) -> Result<OnDevice> {
        let _current = device.enter()?;
        let module = match &self.source {
            Source::Ptx(ptx) => load_image(ptx.as_bytes().to_vec(), device)?,
            Source::CudaC(source) => load_image(nvrtc::compile(self.name, source, device)?, device)?,
        };
        let mut loaded = OnDevice { device, module, functions: Vec::with_capacity(self.kernels.len()) };
        for kernel in &*self.kernels {
            let entries = kernel.entries().into_iter();
            loaded
                .functions
                .push(entries.map(|entry| function(module, kernel, &entry, device)).collect::<Result<_>>()?);
        }
        Ok(loaded)
    }
}

/// Loads PTX or a cubin; the driver's log is part of the error.
fn load_image(mut image: Vec<u8>, device: CudaDevice) -> Result<sys::CUmodule> {
    use sys::CUjit_option_enum::{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    const LOG: usize = 4096;
    // PTX ends with a NUL.
    image.push(0);
    let mut log = vec![0u8; LOG];
    let mut options = [CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(LOG)];
    let mut module = std::ptr::null_mut();
    // SAFETY: an image that ends with a NUL, and options with their values.
    let loaded = unsafe {
        sys::cuModuleLoadDataEx(
            &raw mut module,
            image.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    loaded.result().map_err(|error| {
        let error = driver::error(format_args!("loading on {device}"), error);
        let end = log.iter().position(|byte| *byte == 0).unwrap_or(LOG);
        match String::from_utf8_lossy(&log[..end]).trim() {
            "" => error,
            log => Error::new(error.code(), format!("{}\n{log}", error.message())),
        }
    })?;
    Ok(module)
}

/// The kernel of a name, if its parameters are those of its declaration.
fn function(module: sys::CUmodule, kernel: &KernelDecl, entry: &str, device: CudaDevice) -> Result<sys::CUfunction> {
    let name = CString::new(entry).map_err(|_| Error::invalid_argument("a kernel's name has a NUL byte"))?;
    // SAFETY: a loaded module.
    let function = unsafe { result::module::get_function(module, name) }.map_err(|error| match error {
        DriverError(sys::CUresult::CUDA_ERROR_NOT_FOUND) => Error::not_found(format!(
            "no kernel `{entry}`: declare it `extern \"C\" __global__ void {entry}(...)` in CUDA C, or `.visible \
             .entry {entry}(...)` in PTX"
        )),
        error => driver::error(format_args!("getting kernel `{entry}`"), error),
    })?;
    // The driver tells parameters from 12.4 on.
    if device.driver_is(12040) {
        check_params(function, kernel, entry)?;
    }
    Ok(function)
}

fn check_params(function: sys::CUfunction, kernel: &KernelDecl, entry: &str) -> Result<()> {
    let mut found = Vec::new();
    loop {
        let (mut offset, mut size) = (0, 0);
        // SAFETY: a function of a loaded module, and room for the answers.
        let asked = unsafe { sys::cuFuncGetParamInfo(function, found.len(), &raw mut offset, &raw mut size) };
        match asked.result() {
            Ok(()) => found.push(size),
            Err(DriverError(sys::CUresult::CUDA_ERROR_INVALID_VALUE)) => break,
            Err(error) => {
                return Err(driver::error(format_args!("querying the parameters of kernel `{entry}`"), error));
            }
        }
    }
    if found.len() != kernel.params.len() {
        return Err(Error::invalid_argument(format!(
            "kernel `{entry}` has {} parameters, but `kernels!` declares {}",
            found.len(),
            kernel.params.len()
        )));
    }
    for (&(name, declared), found) in kernel.params.iter().zip(found) {
        if found != declared {
            return Err(Error::invalid_argument(format!(
                "kernel `{entry}`: parameter `{name}` has {found} bytes, but `kernels!` declares {declared}"
            )));
        }
    }
    Ok(())
}
