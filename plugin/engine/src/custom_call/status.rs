//! `XlaCustomCallStatus`, through which functions of v2 and v3 report failures.
//!
//! The first fields are those of XLA's struct in builds with libstdc++, a `std::optional<std::string>`. Functions that
//! find no `XlaCustomCallStatusSetFailure` to link against write them directly, since jaxlib exports none.

use std::ffi::{c_char, c_void};

/// The status of a call: a success until the function reports a failure.
#[repr(C)]
pub(super) struct Status {
    text: *mut u8,
    len: usize,
    local: [u64; 2],
    engaged: u8,
    /// The message given to [`XlaCustomCallStatusSetFailure`].
    message: Option<String>,
}

impl Default for Status {
    fn default() -> Status {
        Status { text: std::ptr::null_mut(), len: 0, local: [0; 2], engaged: 0, message: None }
    }
}

impl Status {
    /// The message of a failure.
    ///
    /// # Safety
    /// Only a custom call function wrote the fields, either directly from C++ or through the functions below.
    pub(super) unsafe fn take(&mut self) -> Option<String> {
        if self.engaged != 0 {
            // A long text is in memory of C++'s allocator, which is out of reach here: it leaks, once per failure.
            // SAFETY: a `std::string` of this length.
            let text = unsafe { std::slice::from_raw_parts(self.text, self.len) };
            return Some(String::from_utf8_lossy(text).into_owned());
        }
        self.message.take()
    }
}

/// XLA's C function for a success, which overrides an earlier failure.
///
/// # Safety
/// `status` is the status that the function received.
#[unsafe(no_mangle)]
#[allow(non_snake_case, unreachable_pub, reason = "XLA's name, for functions of other libraries")]
pub unsafe extern "C" fn XlaCustomCallStatusSetSuccess(status: *mut c_void) {
    // SAFETY: as the caller guarantees, it is a `Status`.
    if let Some(status) = unsafe { status.cast::<Status>().as_mut() } {
        (status.engaged, status.message) = (0, None);
    }
}

/// XLA's C function for a failure. The message ends at a NUL, or after `len` bytes.
///
/// # Safety
/// `status` is the status that the function received, and `message` points to `len` bytes, or to bytes up to a NUL.
#[unsafe(no_mangle)]
#[allow(non_snake_case, unreachable_pub, reason = "XLA's name, for functions of other libraries")]
pub unsafe extern "C" fn XlaCustomCallStatusSetFailure(status: *mut c_void, message: *const c_char, len: usize) {
    // SAFETY: as the caller guarantees, it is a `Status`.
    let Some(status) = (unsafe { status.cast::<Status>().as_mut() }) else { return };
    let mut text = Vec::new();
    if !message.is_null() {
        for index in 0..len {
            // SAFETY: before the end and the first NUL.
            match unsafe { message.cast::<u8>().add(index).read() } {
                0 => break,
                byte => text.push(byte),
            }
        }
    }
    status.message = Some(String::from_utf8_lossy(&text).into_owned());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_kept_until_success() {
        let mut status = Status::default();
        let raw = (&raw mut status).cast();
        // SAFETY: a status of ours.
        unsafe {
            assert_eq!(status.take(), None);
            XlaCustomCallStatusSetFailure(raw, c"went wrong".as_ptr(), 4);
            assert_eq!(status.take().as_deref(), Some("went"));
            XlaCustomCallStatusSetFailure(raw, c"went wrong".as_ptr(), 100);
            assert_eq!(status.take().as_deref(), Some("went wrong"));
            XlaCustomCallStatusSetFailure(raw, c"went wrong".as_ptr(), 100);
            XlaCustomCallStatusSetSuccess(raw);
            assert_eq!(status.take(), None);
        }
    }

    #[test]
    fn strings_of_cpp_are_read() {
        let mut text = *b"short\0";
        let mut status = Status { text: text.as_mut_ptr(), len: 5, engaged: 1, ..Status::default() };
        assert_eq!(std::mem::offset_of!(Status, engaged), 32);
        // SAFETY: the fields are those of a string.
        assert_eq!(unsafe { status.take() }.as_deref(), Some("short"));
    }
}
