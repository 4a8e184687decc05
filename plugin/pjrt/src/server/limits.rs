//! Limits of the lists that callers pass.
//!
//! A count says how far a list is read, so it is checked before anything is: against what the call knows, such as the
//! number of a program's parameters, or else against these limits, which no working caller reaches.

/// The dimensions of an array, of its layout, or of one tile.
pub(super) const RANK: usize = 1 << 10;
/// The tiles of a layout.
pub(super) const TILES: usize = 64;
/// The options of a client or a topology.
pub(super) const OPTIONS: usize = 1 << 10;
/// The bytes, or the numbers, of an option's value.
pub(super) const VALUE: usize = 1 << 20;
/// The bytes of a name.
pub(super) const NAME: usize = 1 << 16;
/// The bytes of an error's message.
pub(super) const MESSAGE: usize = 1 << 24;
/// The bytes of a message of protocol buffers, which have the same limit.
pub(super) const PROTO: usize = i32::MAX as usize;
/// The bytes of a program, constants included.
pub(super) const PROGRAM: usize = 1 << 36;
