#![doc = include_str!("../README.md")]

mod api;
pub mod attr;
pub mod buffer;
pub mod context;
pub mod descriptor;
mod dtype;
pub mod element;
mod entry;
mod error;
mod explain;
mod exports;
mod frame;
pub mod habana;
pub mod host;
pub mod legacy;
mod loaded;
mod manifest;
mod names;
mod panics;
pub mod prelude;
pub mod registry;
pub mod shape;
mod state;
pub mod testing;
pub mod torch;
mod vjp;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

pub use dtype::DType;
pub use element::Element;
pub use error::{Code, Error, Result};
pub use half;
pub use ndarray;
pub use num_complex;
pub use oxcall_macros::{AttrEnum, AttrStruct, custom_call, library, stage};
pub use state::State;
