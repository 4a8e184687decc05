//! Libraries that the process has loaded, and their symbols.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

/// A library that was found loaded; it stays so, as nothing here closes it.
#[derive(Clone, Copy)]
pub(crate) struct Library(
    #[cfg_attr(any(not(target_os = "linux"), miri), expect(dead_code, reason = "never found"))] NonNull<c_void>,
);

#[cfg(all(target_os = "linux", not(miri)))]
mod linux {
    use std::ffi::{c_char, c_int, c_void};

    pub(super) const RTLD_LAZY: c_int = 1;
    pub(super) const RTLD_NOLOAD: c_int =
        if cfg!(any(target_arch = "mips64", target_arch = "mips64r6")) { 8 } else { 4 };

    unsafe extern "C" {
        pub(super) fn dlopen(file: *const c_char, mode: c_int) -> *mut c_void;
        pub(super) fn dlsym(library: *mut c_void, symbol: *const c_char) -> *mut c_void;
        pub(super) fn dladdr(address: *const c_void, info: *mut Info) -> c_int;
    }

    /// `Dl_info`
    #[repr(C)]
    pub(super) struct Info {
        pub(super) file: *const c_char,
        pub(super) base: *mut c_void,
        pub(super) symbol: *const c_char,
        pub(super) address: *mut c_void,
    }
}

impl Library {
    /// The library of a name, if it is loaded.
    pub(crate) fn find(name: &CStr) -> Option<Library> {
        #[cfg(all(target_os = "linux", not(miri)))]
        {
            // SAFETY: loads nothing; counts one more user of a library that is there.
            let library = unsafe { linux::dlopen(name.as_ptr(), linux::RTLD_LAZY | linux::RTLD_NOLOAD) };
            NonNull::new(library).map(Library)
        }
        #[cfg(not(all(target_os = "linux", not(miri))))]
        {
            let _ = name;
            None
        }
    }

    /// Loads the library of a path, for all that look for it by its name.
    #[cfg(feature = "cuda")]
    pub(crate) fn open(path: &std::path::Path) -> Option<Library> {
        #[cfg(all(target_os = "linux", not(miri)))]
        {
            let path = std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).ok()?;
            // SAFETY: the libraries that are opened, of NVIDIA, have constructors that are safe to run.
            let library = unsafe { linux::dlopen(path.as_ptr(), linux::RTLD_LAZY) };
            NonNull::new(library).map(Library)
        }
        #[cfg(not(all(target_os = "linux", not(miri))))]
        {
            let _ = path;
            None
        }
    }

    /// The address of a symbol of the library, or of those that it was linked with.
    pub(crate) fn symbol(self, name: &CStr) -> Option<NonNull<c_void>> {
        #[cfg(all(target_os = "linux", not(miri)))]
        {
            // SAFETY: an open library and a C string.
            NonNull::new(unsafe { linux::dlsym(self.0.as_ptr(), name.as_ptr()) })
        }
        #[cfg(not(all(target_os = "linux", not(miri))))]
        {
            let _ = name;
            None
        }
    }
}

/// The address of a symbol of the program itself, or of what was loaded for all to see.
pub(crate) fn global(name: &CStr) -> Option<NonNull<c_void>> {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        // SAFETY: `RTLD_DEFAULT`, which is null, and a C string.
        NonNull::new(unsafe { linux::dlsym(std::ptr::null_mut(), name.as_ptr()) })
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    {
        let _ = name;
        None
    }
}

/// The path of the library or program that this code is in, as it was loaded.
pub(crate) fn own_path() -> Option<String> {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        let mut info = std::mem::MaybeUninit::<linux::Info>::uninit();
        // SAFETY: any address, and room for what is found, of which the path lives as long as the library.
        unsafe {
            if linux::dladdr(own_path as *const c_void, info.as_mut_ptr()) == 0 {
                return None;
            }
            let file = info.assume_init().file;
            NonNull::new(file.cast_mut()).map(|file| CStr::from_ptr(file.as_ptr()).to_string_lossy().into_owned())
        }
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    None
}
