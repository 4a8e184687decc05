//! `XlaCustomCallStatus`, by which calls through API v2 and v3 fail.
//!
//! XLA sets it with `XlaCustomCallStatusSetFailure`, which jaxlib does not export: an undefined symbol of that name
//! would make a library impossible to load. So the function is looked up, and where there is none, the message is
//! written into the struct, whose layout in builds with libstdc++ is known.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::NonNull;

/// How much of a failure the host was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// The whole message.
    All,
    /// That the call failed.
    Failed,
    /// Nothing: the host takes the call for a success.
    Nothing,
}

/// Makes the call a failure with `message`.
///
/// # Safety
/// `status` is an `XlaCustomCallStatus` of the host, whose call has not been given a failure yet.
pub(super) unsafe fn set_failure(status: Option<NonNull<c_void>>, message: &str) -> Told {
    let Some(status) = status else { return Told::Nothing };
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    {
        let setter = linux::find(linux::DEFAULT, c"XlaCustomCallStatusSetFailure");
        if let Some(setter) = setter {
            type SetFailure = unsafe extern "C" fn(*mut c_void, *const c_char, usize);
            // SAFETY: XLA's C API gives this function this type.
            let set: SetFailure = unsafe { std::mem::transmute(setter) };
            // SAFETY: a status of the host, and a message with its length.
            unsafe { set(status.as_ptr(), message.as_ptr().cast(), message.len()) };
            return Told::All;
        }
        // SAFETY: on Linux, XLA is built with libstdc++.
        unsafe { write(status.cast(), message, linux::operator_new()) }
    }
    #[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
    {
        // The layout of libc++, with which XLA is built elsewhere, has not been measured.
        let _ = (status, message);
        Told::Nothing
    }
}

/// `std::optional<std::string>` of libstdc++ (64-bit, C++11 ABI), which is all that the status holds.
#[repr(C)]
pub(super) struct OptionalString {
    text: *mut u8,
    len: usize,
    /// Short strings, with their NUL; else the first 8 bytes are the capacity.
    local: [u64; 2],
    engaged: u8,
}

/// `operator new(size_t)`.
pub(super) type OperatorNew = unsafe extern "C" fn(usize) -> *mut c_void;

/// Longest string that is stored inside, in bytes.
const LOCAL_CAPACITY: usize = 15;

/// Stands for a message that does not fit inside, and has no other place.
const SHORT: &str = "see last_error";

/// Makes the string `message`. The host destroys it: a long one must come from the `operator new` that it uses.
///
/// # Safety
/// `status` points to the struct, which is empty; `operator_new` is the host's.
pub(super) unsafe fn write(status: NonNull<OptionalString>, message: &str, operator_new: Option<OperatorNew>) -> Told {
    let status = status.as_ptr();
    let capacity = message.len();
    let allocated = match operator_new {
        // SAFETY: `operator new`, which never returns null.
        Some(new) if capacity > LOCAL_CAPACITY => unsafe { new(capacity + 1) }.cast::<u8>(),
        _ => std::ptr::null_mut(),
    };
    let (stored, told) =
        if capacity > LOCAL_CAPACITY && allocated.is_null() { (SHORT, Told::Failed) } else { (message, Told::All) };
    // SAFETY: the struct is the caller's to write; the text and its NUL fit into the local buffer, or into what was
    // allocated for them.
    unsafe {
        let text = if allocated.is_null() {
            (&raw mut (*status).local).cast::<u8>()
        } else {
            (*status).local[0] = capacity as u64;
            allocated
        };
        std::ptr::copy_nonoverlapping(stored.as_ptr(), text, stored.len());
        text.add(stored.len()).write(0);
        (*status).text = text;
        (*status).len = stored.len();
        (*status).engaged = 1;
    }
    told
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod linux {
    //! Symbols of libraries that the process has already loaded; nothing is loaded here.

    use super::*;

    /// `RTLD_DEFAULT`: the program and what was loaded globally.
    pub(super) const DEFAULT: *mut c_void = std::ptr::null_mut();
    const RTLD_LAZY: i32 = 1;
    const RTLD_NOLOAD: i32 = if cfg!(any(target_arch = "mips64", target_arch = "mips64r6")) { 8 } else { 4 };

    /// The head of `dl_phdr_info`.
    #[repr(C)]
    struct ObjectInfo {
        address: usize,
        name: *const c_char,
    }

    type OnObject = unsafe extern "C" fn(*mut ObjectInfo, usize, *mut c_void) -> i32;

    unsafe extern "C" {
        fn dlopen(file: *const c_char, mode: i32) -> *mut c_void;
        fn dlsym(library: *mut c_void, symbol: *const c_char) -> *mut c_void;
        fn dlclose(library: *mut c_void) -> i32;
        fn dl_iterate_phdr(callback: OnObject, data: *mut c_void) -> i32;
    }

    /// A symbol of an open library.
    pub(super) fn find(library: *mut c_void, symbol: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: a handle from `dlopen`, or `RTLD_DEFAULT`, and a C string.
        NonNull::new(unsafe { dlsym(library, symbol.as_ptr()) })
    }

    /// `operator new` of the process. Python loads jaxlib, and so its libstdc++, locally: then it is found by name, or
    /// by the name under which a wheel carries its own.
    pub(super) fn operator_new() -> Option<OperatorNew> {
        let symbol = c"_Znwm";
        let found = find(DEFAULT, symbol)
            .or_else(|| find_in(c"libstdc++.so.6", symbol))
            .or_else(|| loaded_libstdcxx().iter().find_map(|name| find_in(name, symbol)))?;
        // SAFETY: the mangled name says that it is a function of one size_t, which returns a pointer.
        Some(unsafe { std::mem::transmute::<NonNull<c_void>, OperatorNew>(found) })
    }

    /// A symbol of a library, if it is loaded.
    fn find_in(file: &CStr, symbol: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: loads nothing.
        let library = NonNull::new(unsafe { dlopen(file.as_ptr(), RTLD_LAZY | RTLD_NOLOAD) })?;
        let found = find(library.as_ptr(), symbol);
        // SAFETY: gives up the reference from above; the host has its own.
        unsafe { dlclose(library.as_ptr()) };
        found
    }

    /// Paths of loaded libraries named `libstdc++...`. Others may export an `operator new` of their own.
    fn loaded_libstdcxx() -> Vec<std::ffi::CString> {
        unsafe extern "C" fn note(info: *mut ObjectInfo, _size: usize, names: *mut c_void) -> i32 {
            // SAFETY: called by `dl_iterate_phdr` with an object's info, and the vector from below.
            unsafe {
                let name = (*info).name;
                if !name.is_null() {
                    let name = CStr::from_ptr(name);
                    let start = name.to_bytes().iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
                    if name.to_bytes()[start..].starts_with(b"libstdc++") {
                        (*names.cast::<Vec<std::ffi::CString>>()).push(name.to_owned());
                    }
                }
            }
            0
        }
        let mut names = Vec::new();
        // SAFETY: the callback is called only meanwhile.
        unsafe { dl_iterate_phdr(note, (&raw mut names).cast()) };
        names
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;
    use std::sync::Mutex;

    use super::*;

    /// The struct as XLA makes it: `engaged` is zero, the string's bytes are whatever was there.
    fn fresh() -> OptionalString {
        OptionalString { text: std::ptr::dangling_mut(), len: 77, local: [u64::MAX; 2], engaged: 0 }
    }

    /// The fields that `std::string` reads.
    unsafe fn read(status: *const OptionalString) -> Vec<u8> {
        // SAFETY: written by `write`, with a NUL at the end.
        unsafe {
            assert_eq!((*status).engaged, 1);
            assert_eq!((*status).text.add((*status).len).read(), 0);
            std::slice::from_raw_parts((*status).text, (*status).len).to_vec()
        }
    }

    static ALLOCATED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

    unsafe extern "C" fn allocate(size: usize) -> *mut c_void {
        ALLOCATED.lock().unwrap().push(size);
        vec![0xEEu8; size].leak().as_mut_ptr().cast()
    }

    #[test]
    fn layout_is_that_of_libstdcxx() {
        assert_eq!((size_of::<OptionalString>(), align_of::<OptionalString>()), (40, 8));
        assert_eq!((offset_of!(OptionalString, len), offset_of!(OptionalString, local)), (8, 16));
        assert_eq!(offset_of!(OptionalString, engaged), 32);
    }

    #[test]
    fn messages_are_stored_as_strings_are() {
        let long = "a message of more than 15 bytes, ä";
        for (message, new, stored, told) in [
            ("", Some(allocate as OperatorNew), "", Told::All),
            ("fifteen bytes!!", None, "fifteen bytes!!", Told::All),
            ("fifteen bytes!!", Some(allocate as OperatorNew), "fifteen bytes!!", Told::All),
            ("sixteen bytes!!!", None, SHORT, Told::Failed),
            (long, Some(allocate as OperatorNew), long, Told::All),
        ] {
            let mut status = fresh();
            let status = &raw mut status;
            // SAFETY: the struct is empty.
            unsafe {
                assert_eq!(write(NonNull::new_unchecked(status), message, new), told, "{message}");
                assert_eq!(read(status), stored.as_bytes());
                // Strings that are stored inside are told by the address; others have a capacity.
                let local = (&raw mut (*status).local).cast::<u8>();
                assert_eq!((*status).text == local, stored.len() <= LOCAL_CAPACITY);
                if stored.len() > LOCAL_CAPACITY {
                    assert_eq!((*status).local[0], stored.len() as u64);
                    drop(Vec::from_raw_parts((*status).text, stored.len() + 1, stored.len() + 1));
                }
            }
        }
        assert_eq!(*ALLOCATED.lock().unwrap(), [long.len() + 1]);
    }

    #[test]
    fn no_status_is_no_success() {
        // SAFETY: there is no status.
        assert_eq!(unsafe { set_failure(None, "failed") }, Told::Nothing);
    }

    /// This program has no libstdc++, unless a dependency brings one; either way the host learns of the failure.
    #[test]
    #[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
    fn failures_are_told_with_what_the_process_has() {
        let mut status = fresh();
        let status = &raw mut status;
        let message = "a message of more than 15 bytes";
        // SAFETY: the struct is empty, and has the layout of builds with libstdc++.
        let (told, text) = unsafe { (set_failure(NonNull::new(status.cast()), message), read(status)) };
        match linux::operator_new() {
            Some(_) => assert_eq!((told, text), (Told::All, message.as_bytes().to_vec())),
            None => assert_eq!((told, text), (Told::Failed, SHORT.as_bytes().to_vec())),
        }
    }
}
