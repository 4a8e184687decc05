//! Lets the linker fold functions of equal code, of which generic kernels have many.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = env::var("TARGET").unwrap_or_default();
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    // Here rustc links with LLD, which can do it, unless it is told otherwise.
    let mut flags = flags.split('\x1f').filter(|flag| !flag.starts_with("--remap-path-prefix"));
    if target == "x86_64-unknown-linux-gnu" && !flags.any(|flag| flag.contains("link")) {
        println!("cargo::rustc-link-arg-cdylib=-Wl,--icf=all");
    }
}
