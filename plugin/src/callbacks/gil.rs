//! Python's lock, where this thread may hold it.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use libloading::os::unix::Library;
use oxcall::host::{EndingFunction, call_ending};

/// The functions of Python's C interface; `None` in processes without Python.
struct Python {
    is_held: unsafe extern "C" fn() -> c_int,
    save: unsafe extern "C" fn() -> *mut c_void,
    restore: EndingFunction,
}

fn python() -> Option<&'static Python> {
    static PYTHON: OnceLock<Option<Python>> = OnceLock::new();
    let find = || {
        let process = Library::this();
        // SAFETY: the functions have these types in every version of Python 3; that the last one returns nothing
        // matters to nobody.
        unsafe {
            Some(Python {
                is_held: *process.get(b"PyGILState_Check\0").ok()?,
                save: *process.get(b"PyEval_SaveThread\0").ok()?,
                restore: *process.get(b"PyEval_RestoreThread\0").ok()?,
            })
        }
    };
    PYTHON.get_or_init(find).as_ref()
}

/// Runs `work` without Python's lock, which is taken again afterwards if this thread held it.
pub(crate) fn without_gil<T>(work: impl FnOnce() -> T) -> T {
    // SAFETY: it may be asked on any thread.
    let Some(python) = python().filter(|python| unsafe { (python.is_held)() } == 1) else { return work() };
    struct Released(&'static Python, *mut c_void);
    impl Drop for Released {
        fn drop(&mut self) {
            // SAFETY: the state that this thread gave up. Where Python has begun to end, the thread does not return.
            unsafe { call_ending(self.0.restore, self.1) }
        }
    }
    // SAFETY: this thread holds the lock.
    let _released = Released(python, unsafe { (python.save)() });
    work()
}

#[cfg(test)]
mod tests {
    #[test]
    fn work_is_done_without_python_too() {
        assert_eq!(super::without_gil(|| 3), 3);
    }
}
