//! Memory: buffers, and the caching allocator that they come from.

mod allocator;
mod buffer;
mod limit;
mod scratch;
mod sizes;

pub use allocator::{Allocator, MemoryUse};
pub use buffer::Buffer;
pub(crate) use buffer::NOWHERE;
pub(crate) use scratch::PoolScratch;
