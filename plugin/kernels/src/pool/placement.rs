//! The processors that threads run on.

pub(super) use self::system::{Allowed, current};

#[cfg(all(target_os = "linux", not(miri)))]
mod system {
    use std::mem::{MaybeUninit, size_of};

    use libc::cpu_set_t;

    /// The processor that this thread runs on; `None` if the system does not tell.
    pub(in super::super) fn current() -> Option<usize> {
        // SAFETY: the function has no requirements.
        usize::try_from(unsafe { libc::sched_getcpu() }).ok()
    }

    /// The processors that a thread may run on, and those that are left to it.
    pub(in super::super) struct Allowed {
        all: cpu_set_t,
        left: cpu_set_t,
    }

    impl Allowed {
        /// Those of this thread; `None` if the system does not tell.
        pub(in super::super) fn new() -> Option<Allowed> {
            let all = affinity()?;
            Some(Allowed { all, left: all })
        }

        /// Moves this thread to another processor than `taken`, if it may run on another one.
        pub(in super::super) fn leave(&mut self, taken: usize) {
            let Some(now) = affinity() else { return };
            // Someone else has set what this thread may run on.
            // SAFETY: both sets are initialised.
            if !unsafe { libc::CPU_EQUAL(&now, &self.left) } {
                self.all = now;
            }
            let mut left = self.all;
            if taken < 8 * size_of::<cpu_set_t>() {
                // SAFETY: the set has a bit for `taken`.
                unsafe { libc::CPU_CLR(taken, &mut left) };
            }
            // SAFETY: the set is initialised.
            if unsafe { libc::CPU_COUNT(&left) } == 0 {
                return;
            }
            // SAFETY: the size is that of the set; 0 is this thread.
            if unsafe { libc::sched_setaffinity(0, size_of::<cpu_set_t>(), &left) } == 0 {
                self.left = left;
            }
        }
    }

    /// What this thread may run on now; `None` on systems with more processors than the set has bits.
    fn affinity() -> Option<cpu_set_t> {
        let mut set = MaybeUninit::<cpu_set_t>::zeroed();
        // SAFETY: the size is that of the set, which the system fills, and any bits make a set; 0 is this thread.
        unsafe {
            let failed = libc::sched_getaffinity(0, size_of::<cpu_set_t>(), set.as_mut_ptr());
            (failed == 0).then(|| set.assume_init())
        }
    }
}

/// Systems that do not tell.
#[cfg(not(all(target_os = "linux", not(miri))))]
mod system {
    pub(in super::super) fn current() -> Option<usize> {
        None
    }

    pub(in super::super) struct Allowed;

    impl Allowed {
        pub(in super::super) fn new() -> Option<Allowed> {
            None
        }

        pub(in super::super) fn leave(&mut self, _: usize) {}
    }
}
