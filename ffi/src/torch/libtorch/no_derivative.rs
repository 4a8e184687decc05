//! The derivative of operators that declare none: torch's own kernel, which raises an error with the operator's name.
//!
//! Without an autograd kernel, torch lets gradients pass as zeros, with a warning, and silently drops the tangents of
//! forward mode. The C interface cannot register this kernel, so this module calls C++ functions of libtorch by their
//! mangled names; every version has had them. Only these functions move the objects that they exchange.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::NonNull;

use xla_ffi_sys::torch::TorchLibraryHandle;

/// `torch::autograd::autogradNotImplementedFallback()`, with the place for its result.
type Make = unsafe extern "C-unwind" fn(*mut CppFunction) -> *mut CppFunction;
/// `torch::Library::_impl(const char*, CppFunction&&, _RegisterOrVerify) &`
type Implement = unsafe extern "C-unwind" fn(TorchLibraryHandle, *const c_char, *mut CppFunction, i32) -> *mut c_void;
/// `torch::CppFunction::~CppFunction()`
type Destroy = unsafe extern "C-unwind" fn(*mut CppFunction);

const MAKE: &CStr = c"_ZN5torch8autograd30autogradNotImplementedFallbackEv";
const IMPLEMENT: &CStr = c"_ZNR5torch7Library5_implEPKcONS_11CppFunctionENS_17_RegisterOrVerifyE";
const DESTROY: &CStr = c"_ZN5torch11CppFunctionD1Ev";

/// `_RegisterOrVerify::REGISTER`
const REGISTER: i32 = 0;

/// Room for a `torch::CppFunction`, several times its size.
#[repr(C, align(64))]
struct CppFunction([u8; 4096]);

/// The functions.
pub(crate) struct NoDerivative {
    make: Make,
    implement: Implement,
    destroy: Destroy,
}

impl NoDerivative {
    /// The functions of a libtorch; `None` where one is missing, or results are not returned through the first
    /// argument.
    ///
    /// # Safety
    /// Each symbol that is found is the function of that name.
    pub(crate) unsafe fn load(find: &dyn Fn(&CStr) -> Option<NonNull<c_void>>) -> Option<NoDerivative> {
        if cfg!(not(target_arch = "x86_64")) {
            return None;
        }
        let (make, implement, destroy) = (find(MAKE)?, find(IMPLEMENT)?, find(DESTROY)?);
        // SAFETY: the types are those of the functions in the Itanium ABI on x86-64.
        unsafe {
            Some(NoDerivative {
                make: std::mem::transmute::<NonNull<c_void>, Make>(make),
                implement: std::mem::transmute::<NonNull<c_void>, Implement>(implement),
                destroy: std::mem::transmute::<NonNull<c_void>, Destroy>(destroy),
            })
        }
    }

    /// Makes derivatives of an operator an error.
    /// # Safety
    /// `library` is for the key `Autograd` in the namespace of an operator that is defined under this name.
    pub(crate) unsafe fn register(&self, library: TorchLibraryHandle, name: &CStr) {
        let mut function = Box::new_uninit();
        let place = function.as_mut_ptr();
        // SAFETY: there is room for the object, which is made, passed on and destroyed once. None of these functions
        // throws for an operator that is defined.
        unsafe {
            (self.make)(place);
            (self.implement)(library, name.as_ptr(), place, REGISTER);
            (self.destroy)(place);
        }
    }
}
