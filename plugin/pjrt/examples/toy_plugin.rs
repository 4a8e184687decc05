//! The toy platform of the tests as a plugin's library: what a vendor's crate looks like, beside the platform itself.
//!
//! `cargo build -p oxcall-pjrt --example toy_plugin`, then load `libtoy_plugin.so` with a framework.

#[path = "../tests/common/toy.rs"]
mod toy;

oxcall_pjrt::export_platform!(toy::Toy);
