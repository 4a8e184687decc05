//! Ctrl-C, where the option `interrupt` asks for it: SIGINT ends the programs that run.
//!
//! The handler calls the one that was there before it, so Python hears of the signal as ever, and raises its
//! `KeyboardInterrupt` as soon as the call returns that waited for the program. Programs that wait rather than run are
//! ended by a thread, since a signal handler may do next to nothing.

use oxcall_engine::Engine;
use oxcall_pjrt::Result;

/// Has SIGINT end the programs of this engine, and those of all engines before it.
///
/// # Errors
/// UNIMPLEMENTED on systems other than Linux; INTERNAL if the system refuses the handler.
pub(crate) fn install(engine: &Engine) -> Result<()> {
    system::install(engine)
}

#[cfg(target_os = "linux")]
mod system {
    use std::ffi::{c_int, c_void};
    use std::mem::MaybeUninit;
    use std::ptr::{null, null_mut, with_exposed_provenance};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicI32, Ordering};
    use std::thread;

    use libc::{SA_SIGINFO, SIG_DFL, SIG_IGN, SIGINT, sigaction, siginfo_t};
    use oxcall::sync::Mutex;
    use oxcall_engine::{Engine, Waits};
    use oxcall_pjrt::{Error, Result};

    use crate::callbacks;

    type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

    /// The previous action of SIGINT.
    static BEFORE: OnceLock<sigaction> = OnceLock::new();
    /// Where the handler wakes the thread.
    static WAKE: AtomicI32 = AtomicI32::new(-1);
    static WAITS: Mutex<Vec<Waits>> = Mutex::new(Vec::new());

    pub(super) fn install(engine: &Engine) -> Result<()> {
        let mut all = WAITS.lock();
        all.retain(|waits| !waits.are_over());
        all.push(engine.waits());
        if BEFORE.get().is_some() {
            return Ok(());
        }
        let failed = |what| Error::internal(format!("SIGINT: {what}: {}", std::io::Error::last_os_error()));
        let mut before = MaybeUninit::<sigaction>::zeroed();
        // SAFETY: the place is one for an action.
        if unsafe { sigaction(SIGINT, null(), before.as_mut_ptr()) } != 0 {
            return Err(failed("cannot read its action"));
        }
        // SAFETY: it was written, and all zeros are an action, too.
        let before = unsafe { before.assume_init() };
        if before.sa_sigaction == SIG_IGN {
            // A process in the background: the signal is not meant for it.
            return Ok(());
        }
        let mut ends = [-1; 2];
        // SAFETY: there is room for two descriptors.
        if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
            return Err(failed("cannot create a pipe"));
        }
        let [read, write] = ends;
        // A full pipe has woken the thread already: the handler does not wait.
        // SAFETY: a descriptor of this function.
        unsafe { libc::fcntl(write, libc::F_SETFL, libc::O_NONBLOCK) };
        let thread = thread::Builder::new().name("oxcall-interrupt".to_owned());
        thread
            .spawn(move || serve(read))
            .map_err(|error| Error::internal(format!("SIGINT: cannot start a thread: {error}")))?;
        WAKE.store(write, Ordering::Release);
        let action =
            sigaction { sa_sigaction: on_signal as Handler as usize, sa_flags: before.sa_flags | SA_SIGINFO, ..before };
        let _ = BEFORE.set(before);
        // SAFETY: the handler does what handlers may do.
        if unsafe { sigaction(SIGINT, &raw const action, null_mut()) } != 0 {
            return Err(failed("cannot set its action"));
        }
        Ok(())
    }

    /// It adds to a number, writes a byte, and calls the handler before it: all of it is safe in signal handlers.
    extern "C" fn on_signal(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        // SAFETY: each thread has an error number.
        let errno = unsafe { *libc::__errno_location() };
        oxcall_engine::interrupt();
        // SAFETY: one byte of a place that lives; a bad descriptor is an error that nobody needs.
        unsafe { libc::write(WAKE.load(Ordering::Acquire), [0u8].as_ptr().cast(), 1) };
        // SAFETY: as above.
        unsafe { *libc::__errno_location() = errno };
        let Some(before) = BEFORE.get() else { return };
        match before.sa_sigaction {
            SIG_IGN => {}
            SIG_DFL => {
                // SAFETY: the default action ends the process, when this handler has returned.
                unsafe {
                    libc::signal(signal, SIG_DFL);
                    libc::raise(signal);
                }
            }
            handler if before.sa_flags & SA_SIGINFO != 0 => {
                // SAFETY: the flag says that it is a function of this type.
                let handler = unsafe { std::mem::transmute::<*const (), Handler>(with_exposed_provenance(handler)) };
                handler(signal, info, context);
            }
            handler => {
                // SAFETY: without the flag it is a function of this type.
                let handler =
                    unsafe { std::mem::transmute::<*const (), extern "C" fn(c_int)>(with_exposed_provenance(handler)) };
                handler(signal);
            }
        }
    }

    /// Ends what waits, after each signal.
    fn serve(wake: c_int) {
        let mut bytes = [0u8; 64];
        loop {
            // SAFETY: there is room for so many bytes.
            let read = unsafe { libc::read(wake, bytes.as_mut_ptr().cast(), bytes.len()) };
            let interrupted = read < 0 && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted;
            if read <= 0 && !interrupted {
                return;
            }
            callbacks::interrupt();
            let all: Vec<_> = WAITS.lock().clone();
            all.iter().for_each(Waits::interrupt);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use oxcall_engine::Engine;
    use oxcall_pjrt::{Error, Result};

    pub(super) fn install(_: &Engine) -> Result<()> {
        Err(Error::unimplemented("the client option `interrupt` is supported on Linux only"))
    }
}
