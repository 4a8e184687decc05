//! Calls of handlers and other C functions that may leave by unwinding: C++ exceptions, and the end of the thread.
//!
//! Rust can catch neither: one that reaches a function of Rust ends the process. So a function in assembly stands
//! between the two, and its personality, which the unwinder asks at every frame that it passes, lets nothing pass. An
//! exception becomes an error. A thread that is to end stays where it is: Python ends threads that want its lock when
//! it has begun to end itself, and from version 3.14 on has them wait for good, too.

use std::ffi::c_void;
use std::thread;
use std::time::Duration;

use xla_ffi_sys::xla_ffi as sys;

use crate::Result;
use crate::descriptor::RawHandler;

/// A C function that may end its thread.
pub type EndingFunction = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// Calls a C function that may end its thread, such as those of Python that take its lock. The thread then waits here
/// until the process ends. A C++ exception is swallowed.
///
/// # Safety
/// As for the function.
pub unsafe fn call_ending(function: EndingFunction, argument: *mut c_void) {
    #[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
    // SAFETY: handlers, too, are functions from a pointer to a pointer; the caller vouches for the call.
    unsafe {
        let function = std::mem::transmute::<EndingFunction, RawHandler>(function);
        // What it returns is not an error of a handler: only whether it returned is of interest.
        let _ = call(function, argument.cast());
    }
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
    // SAFETY: as the caller guarantees.
    unsafe {
        portable::call_ending(function, argument);
    }
}

/// Where a thread stays that is to end, but has frames of Rust: these cannot be unwound.
fn stay() -> ! {
    loop {
        thread::sleep(Duration::from_secs(3600));
    }
}

/// Calls a handler; an exception is an error, as in XLA.
///
/// # Errors
/// `UNKNOWN` with what the exception says.
///
/// # Safety
/// As for the handler.
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
pub(super) unsafe fn call(handler: RawHandler, frame: *mut sys::XLA_FFI_CallFrame) -> Result<*mut sys::XLA_FFI_Error> {
    let mut caught = std::ptr::null_mut();
    // SAFETY: as the caller guarantees; an exception is written to a variable that outlives the call.
    let error = unsafe { x86_64::call_catching(handler, frame, &raw mut caught) };
    if caught.is_null() {
        return Ok(error);
    }
    // SAFETY: an exception that nobody else handles.
    Err(unsafe { x86_64::error(caught) })
}

/// Calls a handler. Exceptions end the process on this platform.
///
/// # Errors
/// None.
///
/// # Safety
/// As for the handler.
#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
pub(super) unsafe fn call(handler: RawHandler, frame: *mut sys::XLA_FFI_CallFrame) -> Result<*mut sys::XLA_FFI_Error> {
    // SAFETY: as the caller guarantees.
    Ok(unsafe { handler(frame) })
}

/// Where there is no function in assembly: a destructor sees that the thread is to end.
#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
mod portable {
    use std::ffi::c_void;

    use super::EndingFunction;

    struct Stay;

    impl Drop for Stay {
        fn drop(&mut self) {
            super::stay();
        }
    }

    /// # Safety
    /// As for the function.
    pub(super) unsafe fn call_ending(function: EndingFunction, argument: *mut c_void) {
        let stay = Stay;
        // SAFETY: the same function, which may unwind; the frame of this one is never left by that.
        unsafe {
            let function = std::mem::transmute::<EndingFunction, unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void>(
                function,
            );
            function(argument);
        }
        std::mem::forget(stay);
    }
}

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod x86_64 {
    use std::arch::naked_asm;
    use std::ffi::{CStr, c_char, c_int, c_void};

    use xla_ffi_sys::xla_ffi as sys;

    use crate::Error;
    use crate::descriptor::RawHandler;

    // The unwinder's interface (Itanium C++ ABI, level I); the standard library links it.
    unsafe extern "C" {
        fn _Unwind_GetLanguageSpecificData(context: *mut c_void) -> usize;
        fn _Unwind_SetGR(context: *mut c_void, register: c_int, value: usize);
        fn _Unwind_SetIP(context: *mut c_void, address: usize);
        fn _Unwind_DeleteException(exception: *mut c_void);
        fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
        fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    }

    /// Calls `handler(frame)`. If an exception comes out of it, its address is written to `caught`, and null returned.
    ///
    /// # Safety
    /// As for the handler; `caught` points to a pointer.
    #[unsafe(naked)]
    pub(super) unsafe extern "C" fn call_catching(
        handler: RawHandler,
        frame: *mut sys::XLA_FFI_CallFrame,
        caught: *mut *mut c_void,
    ) -> *mut sys::XLA_FFI_Error {
        naked_asm!(
            ".cfi_startproc",
            // Both are addresses relative to their place, in four bytes. The language specific data is no table, but
            // where to go on after an exception.
            ".cfi_personality 0x1b, {personality}",
            ".cfi_lsda 0x1b, .Loxcall_caught",
            "push rbx",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset rbx, -16",
            "mov rbx, rdx",
            "mov rax, rdi",
            "mov rdi, rsi",
            "call rax",
            "jmp 2f",
            ".Loxcall_caught:",
            "mov [rbx], rax",
            "xor eax, eax",
            "2:",
            "pop rbx",
            ".cfi_def_cfa_offset 8",
            "ret",
            ".cfi_endproc",
            personality = sym personality,
        )
    }

    /// Tells the unwinder that [`call_catching`] handles every exception, and how to get there.
    unsafe extern "C" fn personality(
        _version: c_int,
        actions: c_int,
        _class: u64,
        exception: *mut c_void,
        context: *mut c_void,
    ) -> c_int {
        // `_Unwind_Action` and `_Unwind_Reason_Code`.
        const SEARCH_PHASE: c_int = 1;
        const FORCE_UNWIND: c_int = 8;
        const HANDLER_FOUND: c_int = 6;
        const INSTALL_CONTEXT: c_int = 7;
        /// The DWARF number of `rax`.
        const RAX: c_int = 0;
        if actions & FORCE_UNWIND != 0 {
            super::stay();
        }
        if actions & SEARCH_PHASE != 0 {
            return HANDLER_FOUND;
        }
        // SAFETY: the unwinder's context for the frame of `call_catching`, whose registers are restored by its CFI.
        unsafe {
            _Unwind_SetGR(context, RAX, exception.expose_provenance());
            _Unwind_SetIP(context, _Unwind_GetLanguageSpecificData(context));
        }
        INSTALL_CONTEXT
    }

    /// An exception as an error; the exception is destroyed.
    ///
    /// # Safety
    /// A caught exception, which is not used again.
    #[cold]
    pub(super) unsafe fn error(exception: *mut c_void) -> Error {
        // SAFETY: as the caller guarantees.
        let text = unsafe { describe(exception) }.unwrap_or_else(|| "an exception".to_owned());
        // SAFETY: as above; it is destroyed once.
        unsafe { _Unwind_DeleteException(exception) };
        Error::unknown(format!("XLA FFI call failed: {text}"))
    }

    /// What an exception of GNU's C++ library says, or the name of its type if that is none of the standard's; `None`
    /// for those of other languages and libraries.
    ///
    /// # Safety
    /// A caught exception.
    unsafe fn describe(exception: *mut c_void) -> Option<String> {
        /// `_Unwind_Exception` begins with what made it, here "GNUCC++\0".
        const GNU_CPP: u64 = u64::from_be_bytes(*b"GNUCC++\0");
        /// From the unwinder's part of a `__cxa_exception` back to its first field, the type; and on to the object.
        const TO_TYPE: usize = 80;
        const TO_OBJECT: usize = 32;
        /// Places in the tables of virtual functions of `std::type_info` and `std::exception`.
        const DO_CATCH: usize = 4;
        const WHAT: usize = 2;
        type Vtable = *const usize;
        /// `std::type_info`.
        #[repr(C)]
        struct TypeInfo {
            vtable: Vtable,
            name: *const c_char,
        }
        type DoCatch = unsafe extern "C" fn(*const TypeInfo, *const TypeInfo, *mut *mut c_void, u32) -> bool;
        type What = unsafe extern "C" fn(*const c_void) -> *const c_char;
        const RTLD_LAZY_NOLOAD: c_int = 1 | 4;

        // SAFETY: the layouts are those of libstdc++'s stable ABI, which the class vouches for; the library is loaded,
        // as the exception is its own; `what` is called only on what `__do_catch` says is a `std::exception`.
        unsafe {
            if exception.cast::<u64>().read() != GNU_CPP {
                return None;
            }
            let ty = exception.byte_sub(TO_TYPE).cast::<*const TypeInfo>().read();
            let name = || Some(format!("an exception of type {}", CStr::from_ptr((*ty).name).to_string_lossy()));
            let library = dlopen(c"libstdc++.so.6".as_ptr(), RTLD_LAZY_NOLOAD);
            if library.is_null() {
                return name();
            }
            let standard: *const TypeInfo = dlsym(library, c"_ZTISt9exception".as_ptr()).cast();
            if standard.is_null() {
                return name();
            }
            let mut object = exception.byte_add(TO_OBJECT);
            let do_catch = std::mem::transmute::<usize, DoCatch>((*standard).vtable.add(DO_CATCH).read());
            if !do_catch(standard, ty, &raw mut object, 1) {
                return name();
            }
            let what = std::mem::transmute::<usize, What>(object.cast::<Vtable>().read().add(WHAT).read());
            Some(CStr::from_ptr(what(object)).to_string_lossy().into_owned())
        }
    }
}

#[cfg(all(test, target_arch = "x86_64", target_os = "linux", not(miri)))]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::SeqCst;
    use std::sync::mpsc::{RecvTimeoutError, Sender, channel};

    use super::*;
    use crate::Code;

    static DESTROYED: AtomicUsize = AtomicUsize::new(0);

    /// `_Unwind_Exception`.
    #[repr(C, align(16))]
    struct Exception {
        class: u64,
        cleanup: extern "C" fn(i32, *mut Exception),
        private: [usize; 2],
    }

    extern "C" fn cleanup(_: i32, exception: *mut Exception) {
        DESTROYED.fetch_add(1, SeqCst);
        // SAFETY: made by `throws`, destroyed once.
        drop(unsafe { Box::from_raw(exception) });
    }

    unsafe extern "C-unwind" {
        fn _Unwind_RaiseException(exception: *mut Exception) -> i32;
    }

    /// Leaves by an exception of another language, unless the frame is null.
    unsafe extern "C-unwind" fn throws(frame: *mut c_void) -> *mut c_void {
        if !frame.is_null() {
            let exception = Exception { class: u64::from_be_bytes(*b"OXCTEST\0"), cleanup, private: [0; 2] };
            // SAFETY: a whole exception; `call` catches it.
            unsafe { _Unwind_RaiseException(Box::into_raw(Box::new(exception))) };
        }
        frame
    }

    unsafe extern "C-unwind" {
        fn pthread_exit(value: *mut c_void) -> !;
    }

    /// Ends its thread, unless the argument is null.
    unsafe extern "C-unwind" fn ends(argument: *mut c_void) -> *mut c_void {
        if !argument.is_null() {
            // SAFETY: nothing below is unwound, `call_ending` sees to that; and this function has nothing to drop.
            unsafe { pthread_exit(std::ptr::null_mut()) };
        }
        argument
    }

    #[test]
    fn threads_that_are_to_end_stay() {
        // SAFETY: the same function by the type of those that `call_ending` expects to unwind.
        let ends = unsafe {
            std::mem::transmute::<unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void, EndingFunction>(ends)
        };
        // SAFETY: it returns.
        unsafe { call_ending(ends, std::ptr::null_mut()) };
        struct Left(Sender<()>);
        impl Drop for Left {
            fn drop(&mut self) {
                let _ = self.0.send(());
            }
        }
        let (left, gone) = channel();
        let (reached, here) = channel();
        thread::spawn(move || {
            let _left = Left(left);
            let _ = std::panic::catch_unwind(|| {
                reached.send(()).unwrap();
                // SAFETY: it ends the thread, which has frames of Rust below.
                unsafe { call_ending(ends, std::ptr::without_provenance_mut(1)) };
            });
        });
        here.recv().unwrap();
        // Neither destructors run, nor does the thread end; the process lives, or the test would not pass.
        assert_eq!(gone.recv_timeout(Duration::from_millis(200)), Err(RecvTimeoutError::Timeout));
    }

    #[test]
    fn exceptions_are_errors() {
        // SAFETY: the same function by the type of handlers, which `call` expects to throw.
        let handler = unsafe {
            std::mem::transmute::<unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void, RawHandler>(throws)
        };
        let mut frame = sys::XLA_FFI_CallFrame::default();
        for round in 1..=3 {
            // SAFETY: the handler reads nothing.
            let error = unsafe { call(handler, &raw mut frame) }.unwrap_err();
            assert_eq!((error.code(), error.message()), (Code::Unknown, "XLA FFI call failed: an exception"));
            assert_eq!(DESTROYED.load(SeqCst), round);
            // SAFETY: as above.
            assert!(unsafe { call(handler, std::ptr::null_mut()) }.unwrap().is_null());
        }
    }
}
