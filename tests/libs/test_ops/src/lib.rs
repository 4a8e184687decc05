//! Operations that only tests need.

pub mod buffers;
pub mod names;
pub mod panicking;
pub mod promises;
pub mod stages;
