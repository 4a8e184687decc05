//! Memory behind buffers: whole arrays, and arrays in tiles over devices.
//!
//! * `contents`: the memory of one tensor, perhaps not there yet.
//! * `results`: what the end of an execution leaves for its launch.
//! * `split`: where each tile of an array lies; putting arrays together and taking them apart.
//! * `partition`: the arguments and results of programs of several partitions, from parts to whole arrays and back.
//! * `unpadded`: arrays with dynamic dimensions.

pub(crate) mod contents;
pub(crate) mod partition;
pub(crate) mod results;
pub(crate) mod split;
pub(crate) mod unpadded;
