//! `links` in Cargo.toml needs a build script; there is nothing to do.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
