//! The floating-point environment of all computations.
//!
//! Callers may come with any environment: jaxlib compiles with subnormal numbers flushed to zero, libraries set that
//! for the thread that loads them, and a thread inherits the environment of the one that starts it. Rust's arithmetic,
//! and so the engine's, is defined only in the default environment: rounding to nearest, subnormal numbers, no traps.

/// Calls `work` in the default floating-point environment, and restores the caller's afterwards, even after a panic.
pub fn with_default_environment<R>(work: impl FnOnce() -> R) -> R {
    let _callers = Callers::replace();
    kept_inside(work)
}

/// Sets this thread's environment to the default.
#[inline]
pub fn set_default_environment() {
    if control::get() != control::DEFAULT {
        control::set(control::DEFAULT);
    }
}

/// Calls `work`, and keeps the compiler from moving its arithmetic outside.
#[inline(never)]
fn kept_inside<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// The caller's environment, restored on drop.
struct Callers(control::Word);

impl Callers {
    #[inline]
    fn replace() -> Callers {
        let callers = control::get();
        if callers != control::DEFAULT {
            control::set(control::DEFAULT);
        }
        Callers(callers)
    }
}

impl Drop for Callers {
    #[inline]
    fn drop(&mut self) {
        // Code that ran in between may have left another one, as handlers of custom calls do.
        if control::get() != self.0 {
            control::set(self.0);
        }
    }
}

/// MXCSR. The control word of the x87 unit does not matter, since none of our code uses that unit.
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod control {
    use std::arch::asm;

    pub(super) type Word = u32;

    /// All exceptions masked, and nothing else.
    pub(super) const DEFAULT: Word = 0x1f80;
    /// The exception flags: they are results, not part of the environment.
    const FLAGS: Word = 0x3f;

    #[inline(always)]
    pub(super) fn get() -> Word {
        let mut word: Word = 0;
        // SAFETY: it stores four bytes to `word`. Every x86-64 processor has the instruction.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack, preserves_flags)) };
        word & !FLAGS
    }

    #[inline(always)]
    pub(super) fn set(word: Word) {
        // SAFETY: it loads four bytes from `word`, whose bits are a default's or were read from the register, so none
        // is reserved. The code that follows is Rust code in the default environment, or the caller's return to its
        // own.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack, preserves_flags)) };
    }
}

/// FPCR.
#[cfg(all(target_arch = "aarch64", not(miri)))]
mod control {
    use std::arch::asm;

    pub(super) type Word = u64;

    pub(super) const DEFAULT: Word = 0;

    #[inline(always)]
    pub(super) fn get() -> Word {
        let word: Word;
        // SAFETY: it reads a register that every AArch64 processor has.
        unsafe { asm!("mrs {}, fpcr", out(reg) word, options(nostack, preserves_flags)) };
        word
    }

    #[inline(always)]
    pub(super) fn set(word: Word) {
        // SAFETY: as on x86-64.
        unsafe { asm!("msr fpcr, {}", in(reg) word, options(nostack, preserves_flags)) };
    }
}

/// On other processors the environment stays unchanged.
#[cfg(not(any(miri, target_arch = "x86_64", target_arch = "aarch64")))]
mod control {
    pub(super) type Word = ();

    pub(super) const DEFAULT: Word = ();

    pub(super) fn get() -> Word {}

    pub(super) fn set((): Word) {}
}

/// Miri has the default environment alone.
#[cfg(miri)]
mod control {
    pub(super) type Word = u32;

    pub(super) const DEFAULT: Word = 0x1f80;

    pub(super) fn get() -> Word {
        DEFAULT
    }

    pub(super) fn set(_: Word) {}
}

/// Environments that callers may have, for tests.
#[cfg(all(any(test, feature = "testing"), target_arch = "x86_64"))]
pub mod testing {
    use super::{Callers, control, kept_inside};

    /// Each rounding mode, flushing to zero, and traps.
    pub const ODD: [(&str, u32); 6] = [
        ("flushed results", 0x9f80),
        ("flushed results and operands", 0x9fc0),
        ("rounding down", 0x3f80),
        ("rounding up, flushed", 0xdfc0),
        ("rounding to zero", 0x7f80),
        ("traps", 0x0000),
    ];

    /// Calls `work` in an environment, and checks that it leaves that environment unchanged.
    pub fn within<R>(word: u32, work: impl FnOnce() -> R) -> R {
        let _ours = Callers::replace();
        control::set(word);
        let result = kept_inside(work);
        assert_eq!(control::get(), word, "the caller's environment was changed");
        result
    }

    /// The environment of this thread.
    pub fn current() -> u32 {
        control::get()
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::hint::black_box;

    use super::{control, set_default_environment, testing, with_default_environment};

    #[test]
    fn work_sees_the_default_and_the_caller_gets_its_own_back() {
        for (name, word) in testing::ODD {
            let tiny = testing::within(word, || with_default_environment(|| black_box(1e-30f32) * black_box(1e-10)));
            assert_eq!(tiny.to_bits(), 1e-40f32.to_bits(), "{name}");
        }
    }

    #[test]
    fn a_panic_gives_it_back_too() {
        testing::within(0x9fc0, || {
            let panicked = std::panic::catch_unwind(|| with_default_environment(|| panic!("on purpose")));
            assert!(panicked.is_err());
        });
    }

    #[test]
    fn what_work_leaves_does_not_reach_the_caller() {
        testing::within(0x9fc0, || with_default_environment(|| control::set(0x3f80)));
        with_default_environment(|| control::set(0x3f80));
        assert_eq!(testing::current(), control::DEFAULT);
    }

    #[test]
    fn threads_inherit_their_starters_until_they_set_their_own() {
        testing::within(0x9fc0, || {
            let inherited = std::thread::spawn(testing::current).join().unwrap();
            let set = std::thread::spawn(|| {
                set_default_environment();
                testing::current()
            });
            assert_eq!((inherited, set.join().unwrap()), (0x9fc0, control::DEFAULT));
        });
    }
}
