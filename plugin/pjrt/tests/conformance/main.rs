//! XLA's tests of the C API (`pjrt_c_api_test.cc`, `pjrt_client_test.cc`), through the function table.
//!
//! They run on the toy platform, or, with `OXCALL_TEST_PLUGIN`, on a plugin that compiles StableHLO.

#[path = "../common/mod.rs"]
mod common;

mod abi;
mod analysis;
mod buffers;
mod client;
mod clients;
mod counts;
mod donation;
mod events;
mod execution;
mod extensions;
mod lifecycle;
mod programs;
