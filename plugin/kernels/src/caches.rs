//! The sizes of the machine's caches, for `gemm`.
//!
//! `gemm` looks for them under `/sys` before its first product. Where it cannot read these files, it would run `lscpu`,
//! or the first program of this name in `PATH`. So it looks on a thread that cannot start programs, and then asks the
//! processor.

use std::sync::Once;
use std::thread;

/// Lets `gemm` look, once; to be called before the first multiplication.
pub fn know() {
    static LOOK: Once = Once::new();
    LOOK.call_once(|| {
        // If a thread cannot be restricted or started, the first product looks.
        let look = || confined::cannot_start_programs().then(multiply);
        if let Ok(thread) = thread::Builder::new().name("oxcall-caches".to_owned()).spawn(look) {
            let _ = thread.join();
        }
    });
}

/// A product that is large enough for `gemm` to look.
fn multiply() {
    const SIZE: usize = 32;
    let (operand, mut product) = ([0f32; SIZE * SIZE], [0f32; SIZE * SIZE]);
    let (matrix, columns, rows) = (operand.as_ptr(), 1, SIZE as isize);
    // SAFETY: the pointers and strides are those of square matrices; the result is exclusively borrowed.
    unsafe {
        gemm::gemm(
            SIZE,
            SIZE,
            SIZE,
            product.as_mut_ptr(),
            columns,
            rows,
            false,
            matrix,
            columns,
            rows,
            matrix,
            columns,
            rows,
            0.0,
            1.0,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

#[cfg(all(target_os = "linux", not(miri), any(target_arch = "x86_64", target_arch = "aarch64")))]
mod confined {
    use std::ffi::{c_int, c_ulong};

    /// `struct sock_filter`: an instruction of the filter of system calls.
    #[repr(C)]
    struct Instruction {
        code: u16,
        if_true: u8,
        if_false: u8,
        value: u32,
    }

    /// `struct sock_fprog`.
    #[repr(C)]
    struct Filter {
        len: u16,
        instructions: *const Instruction,
    }

    unsafe extern "C" {
        fn prctl(option: c_int, ...) -> c_int;
    }

    const SET_SECCOMP: c_int = 22;
    const SET_NO_NEW_PRIVS: c_int = 38;
    const FILTER: c_ulong = 2;

    const LOAD: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    const ALLOW: u32 = 0x7fff_0000;
    /// `EPERM` instead of the call.
    const REFUSE: u32 = 0x0005_0001;
    /// The offsets in `struct seccomp_data` of the call's number and of the architecture to which the number belongs.
    const NUMBER: u32 = 0;
    const ARCHITECTURE: u32 = 4;

    #[cfg(target_arch = "x86_64")]
    const OWN: u32 = 0xc000_003e;
    #[cfg(target_arch = "x86_64")]
    const EXEC: [u32; 2] = [59, 322];
    #[cfg(target_arch = "aarch64")]
    const OWN: u32 = 0xc000_00b7;
    #[cfg(target_arch = "aarch64")]
    const EXEC: [u32; 2] = [221, 281];

    /// Permanently removes this thread's ability to start programs; false if the system does not allow that.
    pub(super) fn cannot_start_programs() -> bool {
        let is = |value, if_true, if_false| Instruction { code: JUMP_IF_EQUAL, if_true, if_false, value };
        let other = |code, value| Instruction { code, if_true: 0, if_false: 0, value };
        let instructions = [
            other(LOAD, ARCHITECTURE),
            is(OWN, 0, 3),
            other(LOAD, NUMBER),
            is(EXEC[0], 2, 0),
            is(EXEC[1], 1, 0),
            other(RETURN, ALLOW),
            other(RETURN, REFUSE),
        ];
        let filter = Filter { len: instructions.len() as u16, instructions: instructions.as_ptr() };
        let (on, none): (c_ulong, c_ulong) = (1, 0);
        // SAFETY: both concern this thread alone; the filter is read during the call.
        unsafe {
            prctl(SET_NO_NEW_PRIVS, on, none, none, none) == 0 && prctl(SET_SECCOMP, FILTER, &raw const filter) == 0
        }
    }
}

#[cfg(not(all(target_os = "linux", not(miri), any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod confined {
    /// Not supported here: the first product looks.
    pub(super) fn cannot_start_programs() -> bool {
        false
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use std::process::Command;
    use std::thread;

    #[test]
    fn a_confined_thread_starts_no_programs() {
        let start = || Command::new("true").status();
        let confined = thread::spawn(move || super::confined::cannot_start_programs().then(start));
        // A system may forbid restricting threads; the others continue as they were.
        assert!(confined.join().unwrap().is_none_or(|started| started.is_err()));
        assert!(start().is_ok_and(|status| status.success()));
    }
}
