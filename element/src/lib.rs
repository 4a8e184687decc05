//! Element types: one table of their codes and names, and the Rust types that no other crate has.
//!
//! [`DType`] has the types of the XLA FFI, [`ElementType`] those of StableHLO programs. Both come from the rows of one
//! table (`table.rs`), which also has each type's number in the other interfaces: [`pjrt`], [`hlo_proto`], [`bytecode`]
//! and [`torch`]. A new type is a new row.
//!
//! # Modules
//!
//! * `table`: the table, and every lookup in it.
//! * `dtype`, `element_type`: the methods of the two enums.
//! * [`minifloat`]: the codec of floats of at most eight bits; `float8`, `float6`: the types.
//! * `packed`: integers and floats that share bytes.
//! * `float`: floats of all formats, as bits and as numbers.
#![forbid(unsafe_code)]

mod dtype;
mod element_type;
mod float;
mod float6;
mod float8;
pub mod minifloat;
mod packed;
mod table;

pub use float::round_to_odd;
pub use float6::{F6E2M3FN, F6E3M2FN};
pub use float8::{F8E3M4, F8E4M3, F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU};
pub use packed::{F4E2M1FN, S1, S2, S4, U1, U2, U4};
pub use table::{DType, ElementType, bytecode, hlo_proto, pjrt, torch};
