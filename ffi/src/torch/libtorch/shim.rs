//! The functions of libtorch's stable C interface, found by name in the process.
//!
//! Nothing links torch: one binary serves all versions, and processes without torch.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

use xla_ffi_sys::torch as sys;

use super::dtype::DTypes;
use super::no_derivative::NoDerivative;
use crate::loaded::Library;
use crate::{DType, Error, Result};

/// The type of a kernel in torch: arguments in and results out, on one stack of 64-bit values.
pub type RawKernel = unsafe extern "C-unwind" fn(*mut sys::StableIValue, u64, u64);

/// Defines [`Shim`]: a function pointer for each symbol, with a type that the bindings confirm.
macro_rules! shim {
    (
        required { $($name:ident = $symbol:ident($($arg:ty),*) $(-> $ret:ty)?;)* }
        since { $($later:ident = $later_symbol:ident($($later_arg:ty),*) $(-> $later_ret:ty)?, $version:literal;)* }
    ) => {
        /// The functions of one libtorch. Those that came after torch 2.7 are optional.
        pub(crate) struct Shim {
            /// Major and minor version.
            pub(crate) version: (u8, u8, u8),
            /// The codes of dtypes.
            pub(crate) dtypes: DTypes,
            /// `aoti_torch_device_type_cpu()`.
            pub(crate) cpu: i32,
            /// `aoti_torch_device_type_meta()`.
            pub(crate) meta: i32,
            /// Throws a `c10::Error` if its first argument is false.
            pub(crate) check: unsafe extern "C-unwind" fn(bool, *const c_char, *const c_char, u32, *const c_char),
            /// `torch::autograd::impl::bump_version(const at::Tensor&)`, which every version has had: the C interface
            /// has nothing that tells autograd of an update. Throws for inference tensors outside inference mode.
            pub(crate) bump_version: Option<unsafe extern "C-unwind" fn(TensorHandle)>,
            /// `c10::TensorImpl::requires_grad() const`, which the C interface lacks too.
            pub(crate) requires_grad: Option<RequiresGrad>,
            /// `c10::get_default_dtype_as_scalartype()`, which the C interface lacks too.
            pub(crate) default_dtype: Option<unsafe extern "C" fn() -> i8>,
            /// Makes derivatives of an operator an error.
            pub(crate) no_derivative: Option<NoDerivative>,
            $(
                #[doc = concat!("`", stringify!($symbol), "`")]
                pub(crate) $name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,
            )*
            $(
                #[doc = concat!("`", stringify!($later_symbol), "`, since torch ", $version)]
                pub(crate) $later: Option<unsafe extern "C" fn($($later_arg),*) $(-> $later_ret)?>,
            )*
        }

        impl Shim {
            /// The table of a libtorch whose symbols `find` finds; `None` before torch 2.7.
            ///
            /// # Safety
            /// What is found under a symbol is the function of that name.
            pub(crate) unsafe fn load(find: &dyn Fn(&CStr) -> Option<NonNull<c_void>>) -> Option<Shim> {
                /// # Safety
                /// `F` is the type of the function at this address.
                unsafe fn function<F: Copy>(address: NonNull<c_void>) -> F {
                    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
                    // SAFETY: as the caller guarantees; both are one pointer.
                    unsafe { std::mem::transmute_copy(&address.as_ptr()) }
                }

                let symbol = |name: &str| {
                    let name = std::ffi::CString::new(name).ok()?;
                    find(&name)
                };
                // SAFETY: the types are those of the header, as the constants below confirm; `check` unwinds.
                unsafe {
                    let abi_version: unsafe extern "C" fn() -> u64 = function(symbol("aoti_torch_abi_version")?);
                    let code = |name: &str| {
                        let getter: unsafe extern "C" fn() -> i32 = function(symbol(name)?);
                        Some(getter())
                    };
                    let version = abi_version();
                    Some(Shim {
                        version: ((version >> 56) as u8, (version >> 48) as u8, (version >> 40) as u8),
                        dtypes: DTypes::new(&code),
                        cpu: code("aoti_torch_device_type_cpu")?,
                        meta: code("aoti_torch_device_type_meta")?,
                        check: function(symbol("aoti_torch_check")?),
                        bump_version: symbol(BUMP_VERSION).map(|address| function(address)),
                        requires_grad: symbol(REQUIRES_GRAD).map(|address| function(address)),
                        default_dtype: symbol(DEFAULT_DTYPE).map(|address| function(address)),
                        no_derivative: NoDerivative::load(find),
                        $($name: function(symbol(stringify!($symbol))?),)*
                        $($later: symbol(stringify!($later_symbol)).map(|address| function(address)),)*
                    })
                }
            }
        }

        const _: () = {
            const _: unsafe extern "C" fn(bool, *const c_char, *const c_char, u32, *const c_char) = sys::aoti_torch_check;
            $(const _: unsafe extern "C" fn($($arg),*) $(-> $ret)? = sys::$symbol;)*
            $(const _: unsafe extern "C" fn($($later_arg),*) $(-> $later_ret)? = sys::$later_symbol;)*
        };
    };
}

/// The mangled name; a handle is the address of an `at::Tensor`, as a reference to one is.
pub(crate) const BUMP_VERSION: &str = "_ZN5torch8autograd4impl12bump_versionERKN2at6TensorE";

/// The mangled name.
pub(crate) const REQUIRES_GRAD: &str = "_ZNK3c1010TensorImpl13requires_gradEv";

/// The mangled name.
pub(crate) const DEFAULT_DTYPE: &str = "_ZN3c1031get_default_dtype_as_scalartypeEv";

/// Takes the first word of an `at::Tensor`, which is its only one.
pub(crate) type RequiresGrad = unsafe extern "C" fn(*const c_void) -> bool;

/// Whether autograd records operations on the tensor.
///
/// # Safety
/// The function of that name, and a live tensor.
#[inline]
pub(crate) unsafe fn requires_grad(function: RequiresGrad, tensor: TensorHandle) -> bool {
    // SAFETY: a handle is the address of an `at::Tensor`, which is one pointer that is never null.
    unsafe { function(tensor.cast::<*const c_void>().read()) }
}

/// 0 for success.
pub(crate) type Status = sys::AOTITorchError;
pub(crate) type TensorHandle = sys::AtenTensorHandle;
pub(crate) type LibraryHandle = sys::TorchLibraryHandle;
pub(crate) type ListHandle = sys::StableListHandle;
pub(crate) type StringHandle = sys::StringHandle;
/// The type of kernels in the header, which does not say that they throw.
pub(crate) type HeaderKernel = Option<unsafe extern "C" fn(*mut u64, u64, u64)>;

shim! {
    required {
        delete_tensor = aoti_torch_delete_tensor_object(TensorHandle) -> Status;
        data_ptr = aoti_torch_get_data_ptr(TensorHandle, *mut *mut c_void) -> Status;
        dim = aoti_torch_get_dim(TensorHandle, *mut i64) -> Status;
        sizes = aoti_torch_get_sizes(TensorHandle, *mut *mut i64) -> Status;
        strides = aoti_torch_get_strides(TensorHandle, *mut *mut i64) -> Status;
        storage_offset = aoti_torch_get_storage_offset(TensorHandle, *mut i64) -> Status;
        storage_size = aoti_torch_get_storage_size(TensorHandle, *mut i64) -> Status;
        dtype = aoti_torch_get_dtype(TensorHandle, *mut i32) -> Status;
        device_type = aoti_torch_get_device_type(TensorHandle, *mut i32) -> Status;
        device_index = aoti_torch_get_device_index(TensorHandle, *mut i32) -> Status;
        empty_strided = aoti_torch_empty_strided(i64, *const i64, *const i64, i32, i32, i32, *mut TensorHandle) -> Status;
        copy = aoti_torch_copy_(TensorHandle, TensorHandle, i32) -> Status;
        grad_mode = aoti_torch_grad_mode_is_enabled() -> bool;
        set_grad_mode = aoti_torch_grad_mode_set_enabled(bool);
        init_fragment = aoti_torch_library_init_fragment(*const c_char, *const c_char, u32, *mut LibraryHandle) -> Status;
        init_impl = aoti_torch_library_init_impl(*const c_char, *const c_char, *const c_char, u32, *mut LibraryHandle)
            -> Status;
        define = aoti_torch_library_def(LibraryHandle, *const c_char) -> Status;
        implement = aoti_torch_library_impl(LibraryHandle, *const c_char, HeaderKernel) -> Status;
    }
    since {
        list_size = torch_list_size(ListHandle, *mut usize) -> Status, "2.10";
        list_item = torch_list_get_item(ListHandle, usize, *mut u64) -> Status, "2.10";
        new_list = torch_new_list_reserve_size(usize, *mut ListHandle) -> Status, "2.10";
        list_push = torch_list_push_back(ListHandle, u64) -> Status, "2.10";
        delete_list = torch_delete_list(ListHandle) -> Status, "2.10";
        string_length = torch_string_length(StringHandle, *mut usize) -> Status, "2.10";
        string_data = torch_string_c_str(StringHandle, *mut *const c_char) -> Status, "2.10";
        delete_string = torch_delete_string(StringHandle) -> Status, "2.10";
        num_threads = torch_get_num_threads(*mut u32) -> Status, "2.10";
        delete_value = torch_delete_stable_ivalue(*mut u64) -> Status, "2.13";
        cuda_stream = aoti_torch_get_current_cuda_stream(i32, *mut *mut c_void) -> Status, "2.7";
        exception = torch_exception_get_what_without_backtrace() -> *const c_char, "2.13";
    }
}

/// The reason why there is no [`Shim`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// The process has no torch, or none yet.
    NotLoaded,
    /// Its torch has no stable interface for operators.
    TooOld,
}

impl Absent {
    pub(crate) const fn message(self) -> &'static str {
        match self {
            Absent::NotLoaded => "torch is not loaded",
            Absent::TooOld => "this torch has no stable interface for operators; 2.7 is the first version that has",
        }
    }
}

impl Shim {
    /// The table of the process's torch. The search is repeated until there is one, since torch may be imported later.
    pub(crate) fn get() -> Result<&'static Shim, Absent> {
        static SHIM: OnceLock<Shim> = OnceLock::new();
        if let Some(shim) = SHIM.get() {
            return Ok(shim);
        }
        let library = Library::find(c"libtorch_cpu.so").ok_or(Absent::NotLoaded)?;
        // Functions for CUDA are in a separate library, which may be absent.
        let cuda = Library::find(c"libtorch_cuda.so");
        let find = |name: &CStr| library.symbol(name).or_else(|| cuda?.symbol(name));
        // SAFETY: found in libtorch under the names of its header.
        let shim = unsafe { Shim::load(&find) }.ok_or(Absent::TooOld)?;
        Ok(SHIM.get_or_init(|| shim))
    }

    /// torch's default dtype; `f32` where libtorch lacks the function that says so.
    pub(crate) fn default_dtype(&self) -> DType {
        // SAFETY: it takes no arguments.
        let code = self.default_dtype.map(|function| unsafe { function() });
        code.and_then(|code| self.dtypes.known(i32::from(code))).unwrap_or(DType::F32)
    }

    /// Whether strings, lists and dtypes, and optional values of them, can be arguments.
    pub(crate) fn has_lists(&self) -> bool {
        self.list_size.is_some()
    }

    /// The message of the function that just failed on this thread, if this torch provides it (since 2.13).
    pub(crate) fn reason(&self) -> Option<String> {
        let what = self.exception?;
        // SAFETY: it takes no arguments, and returns a C string of this thread that lives until the next failure.
        let text = unsafe { what() };
        if text.is_null() {
            return None;
        }
        // SAFETY: as above.
        Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    }
}

/// Converts the status of a torch function.
#[inline]
pub(crate) fn check(shim: &Shim, status: Status, doing: &str) -> Result<()> {
    if status == 0 { Ok(()) } else { Err(failed(shim, doing)) }
}

#[cold]
fn failed(shim: &Shim, doing: &str) -> Error {
    let reason = shim.reason().unwrap_or_else(|| "torch says why on stderr".to_owned());
    Error::internal(format!("{doing} failed: {reason}"))
}
