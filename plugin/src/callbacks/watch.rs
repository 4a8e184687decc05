//! Callbacks that take too long, where `OXCALL_CALLBACK_TIMEOUT` says how long that is.

use std::env;
use std::sync::OnceLock;
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use super::queue::queue;

/// The limit that the environment sets, in seconds; none by default, since a callback may be a debugger.
pub(super) fn limit() -> Option<Duration> {
    static LIMIT: OnceLock<Option<Duration>> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        let seconds = env::var("OXCALL_CALLBACK_TIMEOUT").ok()?.trim().parse().ok()?;
        Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero())
    })
}

/// Has a thread watch over the calls; it lives as long as the process, and sleeps while there is none.
pub(super) fn start() {
    static WATCH: OnceLock<Option<Thread>> = OnceLock::new();
    let watch = WATCH.get_or_init(|| {
        let started = thread::Builder::new().name("oxcall-watch".to_owned()).spawn(|| {
            let after = format!("{} s", limit().unwrap_or_default().as_secs_f64());
            loop {
                match queue().expire(Instant::now(), &after) {
                    Some(next) => thread::park_timeout(next.saturating_duration_since(Instant::now())),
                    None => thread::park(),
                }
            }
        });
        started.ok().map(|handle| handle.thread().clone())
    });
    if let Some(thread) = watch {
        thread.unpark();
    }
}
