//! Errors as C++ exceptions, which torch turns into Python's.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

use super::shim::Shim;
use crate::loaded::Library;
use crate::{Code, Error};

thread_local! {
    /// The message of the latest exception of this thread. It is read while the exception is made, and is owned here so
    /// that no frame that the exception passes has to drop it.
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Throws: `std::out_of_range`, which is an `IndexError` in Python, for [`Code::OutOfRange`]; otherwise a
/// `c10::Error`, which is a `RuntimeError`. Returns only if torch could not throw.
///
/// Nothing that must be dropped may be alive in the caller.
#[cold]
pub(crate) fn throw(shim: &Shim, error: Error) {
    let index_error = error.code() == Code::OutOfRange;
    let text = CString::new(error.message().replace('\0', "\\0")).unwrap_or_default();
    drop(error);
    let message = MESSAGE.with_borrow_mut(|message| {
        *message = text;
        message.as_ptr()
    });
    if index_error && let Some(cpp) = Cpp::get() {
        // SAFETY: the functions of libstdc++ under their mangled names; the message is a C string.
        unsafe { cpp.throw_out_of_range(message) }
    }
    // SAFETY: C strings; torch copies them before it throws.
    unsafe { (shim.check)(false, c"oxcall".as_ptr(), c"".as_ptr(), 0, message) }
}

/// The functions and data for throwing a `std::out_of_range` (Itanium C++ ABI).
struct Cpp {
    allocate: unsafe extern "C" fn(usize) -> *mut c_void,
    construct: unsafe extern "C" fn(*mut c_void, *const c_char),
    throw: unsafe extern "C-unwind" fn(*mut c_void, *const c_void, *const c_void) -> !,
    type_info: NonNull<c_void>,
    destroy: NonNull<c_void>,
}

// SAFETY: addresses of functions and of constant data.
unsafe impl Send for Cpp {}
// SAFETY: as above.
unsafe impl Sync for Cpp {}

/// `sizeof(std::out_of_range)`: a vtable pointer and a reference-counted string.
const OUT_OF_RANGE_SIZE: usize = 16;

impl Cpp {
    fn get() -> Option<&'static Cpp> {
        static CPP: OnceLock<Option<Cpp>> = OnceLock::new();
        CPP.get_or_init(Cpp::find).as_ref()
    }

    /// Finds them as libtorch does, since a process may hold several.
    fn find() -> Option<Cpp> {
        let library = Library::find(c"libtorch_cpu.so")?;
        let symbol = |name: &CStr| library.symbol(name);
        // SAFETY: the mangled names determine the arguments of the functions.
        unsafe {
            Some(Cpp {
                allocate: std::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn(usize) -> *mut c_void>(symbol(
                    c"__cxa_allocate_exception",
                )?),
                construct: std::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn(*mut c_void, *const c_char)>(
                    symbol(c"_ZNSt12out_of_rangeC1EPKc")?,
                ),
                throw: std::mem::transmute::<
                    NonNull<c_void>,
                    unsafe extern "C-unwind" fn(*mut c_void, *const c_void, *const c_void) -> !,
                >(symbol(c"__cxa_throw")?),
                type_info: symbol(c"_ZTISt12out_of_range")?,
                destroy: symbol(c"_ZNSt12out_of_rangeD1Ev")?,
            })
        }
    }

    /// # Safety
    /// `message` is a C string.
    unsafe fn throw_out_of_range(&self, message: *const c_char) -> ! {
        // SAFETY: as much memory as the class has, constructed before it is thrown with its own destructor.
        unsafe {
            let exception = (self.allocate)(OUT_OF_RANGE_SIZE);
            (self.construct)(exception, message);
            (self.throw)(exception, self.type_info.as_ptr(), self.destroy.as_ptr())
        }
    }
}
