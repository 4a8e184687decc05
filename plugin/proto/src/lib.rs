//! The wire format of protocol buffers, read and written field by field: no descriptions of messages, no generated
//! code.
//!
//! Input is untrusted: whatever is no message is [`Malformed`], and reading takes memory in proportion to the input.
#![forbid(unsafe_code)]

mod read;
mod write;

pub use read::{Field, Malformed, Message, Reader};
pub use write::Writer;
