//! Programs as XLA's protocol buffers.
//!
//! * `read`: an `HloModuleProto`, which torch_xla and other clients of XLA's builders send.
//! * `write`: an `HloModuleProtoWithConfig`, the form in which XLA's tools take optimised programs
//!   (`compiled.as_text()`).
//! * `fields`, `element`: the numbers of fields and element types, for both.

mod element;
mod fields;
mod read;
mod write;

pub use read::{read_hlo_proto, read_hlo_proto_with_config};
pub use write::write_hlo_proto;
