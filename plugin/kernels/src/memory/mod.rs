//! Memory: buffers, and the caching allocator behind them.
//!
//! * `raw`: addresses and sizes of buffers.
//! * `buffer`, `scratch`, `handlers`: memory of arguments and results, of kernels, and of custom calls.
//! * `allocator`: the cache, by size class (`sizes`); `cache`: limits of what is kept, by size and time; `limit`: the
//!   memory of the process.
//! * `system`: memory of the system, and the global allocator.

mod allocator;
mod buffer;
mod cache;
mod handlers;
mod limit;
mod raw;
mod scratch;
mod sizes;
mod system;

pub use allocator::{Allocator, MemoryUse};
pub use buffer::Buffer;
pub use cache::{CacheLimit, CacheOptions};
pub use handlers::PoolScratch;
pub use raw::{BUFFER_ALIGN, NOWHERE, RawBuffer};
pub use scratch::Scratch;
pub use system::{SystemAllocator, reserve, room};
