//! The libFuzzer target; `cargo xtask fuzz` builds and runs it.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oxcall_fuzz::fuzz(data));
