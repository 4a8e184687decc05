//! Limits of the freed memory that is kept, in size and in time.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use super::allocator::Shared;
use super::limit::memory_limit;

/// What an allocator keeps of what is freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheOptions {
    /// The most that is kept.
    pub limit: CacheLimit,
    /// What was not needed for this time goes back to the system; `None` keeps it.
    pub idle: Option<Duration>,
}

/// The most that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheLimit {
    /// So many bytes.
    Bytes(usize),
    /// So many hundredths of the memory that the process may use.
    Percent(u8),
}

impl Default for CacheOptions {
    fn default() -> CacheOptions {
        CacheOptions { limit: CacheLimit::Percent(25), idle: Some(Duration::from_secs(2)) }
    }
}

impl CacheLimit {
    /// In bytes.
    pub(super) fn bytes(self) -> usize {
        match self {
            CacheLimit::Bytes(bytes) => bytes,
            CacheLimit::Percent(percent) => memory_limit() / 100 * usize::from(percent),
        }
    }
}

/// So many bytes are kept in any case: a thread that gives them back would cost more.
pub(super) const ALWAYS_KEPT: usize = 8 << 20;

/// Starts the thread that gives back what an allocator keeps in vain; it ends when little is kept. The answer is
/// whether there is one.
pub(super) fn start(allocator: &Arc<Shared>, idle: Duration) -> bool {
    let allocator = Arc::downgrade(allocator);
    thread::Builder::new().name("oxcall-memory".to_owned()).spawn(move || run(&allocator, idle)).is_ok()
}

fn run(allocator: &Weak<Shared>, idle: Duration) {
    loop {
        thread::sleep(idle);
        let Some(allocator) = allocator.upgrade() else { return };
        if !allocator.give_back_idle() {
            return;
        }
    }
}
