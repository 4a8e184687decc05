//! A user's crate with `panic = "abort"`.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Checks a crate with one operation; what the compiler says.
fn check(name: &str, profile: &str) -> (bool, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(folder.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[lib]\ncrate-type = [\"cdylib\"]\n\n\
         [dependencies]\noxcall = {{ path = {:?} }}\n\n[workspace]\n\n{profile}",
        root.join("ffi")
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    // The versions that are here already.
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let source = "use oxcall::prelude::*;\n\n#[custom_call]\nfn op(x: Scalar<f32>, mut y: ScalarOut<f32>) {\n    y.set(*x);\n}\n";
    fs::write(folder.join("src/lib.rs"), source).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", folder.parent().unwrap().join("panic_abort_target"))
        .output()
        .unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn it_is_a_compile_error_that_says_why() {
    let (compiles, said) = check("unwinds", "");
    assert!(compiles, "{said}");
    let (compiles, said) = check("aborts", "[profile.dev]\npanic = \"abort\"\n");
    assert!(!compiles, "{said}");
    assert!(said.contains("custom calls need `panic = \"unwind\"`"), "{said}");
    assert!(said.contains("remove `panic = \"abort\"` from the profile"), "{said}");
}
