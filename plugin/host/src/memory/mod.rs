//! Memory: buffers, and the caching allocator that they come from.

mod allocator;
mod buffer;
mod cache;
mod handlers;
mod limit;
mod scratch;
mod sizes;
mod system;

pub use allocator::{Allocator, MemoryUse};
pub use buffer::Buffer;
pub(crate) use buffer::NOWHERE;
pub use cache::{CacheLimit, CacheOptions};
pub(crate) use handlers::PoolScratch;
pub(crate) use scratch::Scratch;
pub(crate) use system::reserve;
pub use system::{SystemAllocator, room};
