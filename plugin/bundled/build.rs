//! Lets the linker fold functions of equal code, of which generic kernels have many.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = env::var("TARGET").unwrap_or_default();
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    // Here rustc links with LLD, which can do it, unless it is told otherwise, as for portable wheels: Zig's cannot.
    let mut flags = flags.split('\x1f').filter(|flag| !flag.starts_with("--remap-path-prefix"));
    let other_linker = env::var_os("RUSTC_LINKER").is_some() || flags.any(|flag| flag.contains("link"));
    if target == "x86_64-unknown-linux-gnu" && !other_linker {
        println!("cargo::rustc-link-arg-cdylib=-Wl,--icf=all");
    }
}
