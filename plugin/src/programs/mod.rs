//! Programs as clients send, store and share them.
//!
//! * `read`: from bytes in a named format to a verified module; `stored`: stored executables.
//! * `shared`: programs that several executables run.
//! * `analysis`: the operations of a program, as XLA counts them.
//! * `xla_options`: XLA's compiler options, checked and not used.

pub(crate) mod analysis;
mod read;
pub(crate) mod shared;
pub(crate) mod stored;
pub(crate) mod xla_options;

pub(crate) use read::read;
