//! No operation at all.

oxcall::library! { ops: [oxcall] }
