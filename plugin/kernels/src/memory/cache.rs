//! Limits of the freed memory that is kept, by size and by time.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use super::allocator::Shared;
use super::limit::memory_limit;

/// Options for the freed memory that an allocator keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheOptions {
    /// The largest amount to keep.
    pub limit: CacheLimit,
    /// Memory that has not been needed for this time goes back to the system; `None` keeps it.
    pub idle: Option<Duration>,
}

/// The largest amount of freed memory to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheLimit {
    /// A number of bytes.
    Bytes(usize),
    /// A percentage of the memory that the process may use.
    Percent(u8),
}

impl Default for CacheOptions {
    fn default() -> CacheOptions {
        CacheOptions { limit: CacheLimit::Percent(25), idle: Some(Duration::from_secs(2)) }
    }
}

impl CacheLimit {
    /// The limit in bytes.
    pub(super) fn bytes(self) -> usize {
        match self {
            CacheLimit::Bytes(bytes) => bytes,
            CacheLimit::Percent(percent) => memory_limit() / 100 * usize::from(percent),
        }
    }
}

/// The number of bytes that are always kept: a thread that returns them would cost more.
pub(super) const ALWAYS_KEPT: usize = 8 << 20;

/// Starts the thread that returns idle blocks to the system; it ends when little is kept. Returns whether it was
/// started.
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
