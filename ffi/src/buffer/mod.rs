//! Buffer parameters: arguments, results, and both in one.
//!
//! Decoding checks everything that makes these types safe: the description of the memory ([`BufferRef`]), dtype,
//! rank, alignment, bool bytes, and that results overlap nothing.

#[macro_use]
mod describe;

mod any;
mod array;
mod device;
mod inout;
mod out;
mod param;
mod rank;
mod raw;
mod rows;
mod scalar;
mod views;

pub use any::{AnyArray, AnyOut};
pub use array::Array;
pub use device::{DeviceArray, DeviceInOut, DeviceOut};
pub use inout::InOut;
pub use out::Out;
pub use param::{ArgParam, BufferSpec, InOutParam, Mismatch, RetParam, Token, TokenOut, Variadic};
pub use rank::{Dyn, Rank, Ranked};
pub use raw::{BufferError, BufferRef};
pub use rows::{Rows, RowsMut};
pub use scalar::{Scalar, ScalarOut};
