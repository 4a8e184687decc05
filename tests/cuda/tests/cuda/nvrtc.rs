//! The real NVRTC, which needs no GPU: it compiles all kernels, and their parameters are those that the launches pass.
//! `OXCALL_TEST_NVRTC` names the library; `cargo xtask gpu --rehearse` installs a wheel of it.

use oxcall::Code;
use oxcall::registry::registry;

use crate::child::{in_a_process, is_child};
use crate::fake::{Program, without_nvrtc};

/// Ops with modules that cannot be loaded.
const FAULTY: [&str; 5] = ["bad_ptx", "bad_c", "no_such_kernel", "wrong_size", "wrong_count"];

#[test]
fn every_kernel_compiles() {
    if is_child() {
        let (fake, _turn) = without_nvrtc();
        let (mut compiled, mut refused) = (0, 0);
        for handler in registry().handlers().iter().filter(|handler| handler.platform == "CUDA") {
            let attrs: &[_] = match handler.name {
                "scale_ptx" | "early_scale" | "late_scale" => &[("factor", 1f32.into())],
                "twice_of_any" => &[("blocks", 1u64.into())],
                name if name.starts_with("every_kind") => &[("shift", 1.0.into())],
                name if name.starts_with("scaled_power") => &[("factor", 1.0.into())],
                "with_grid" => &[("blocks", 1u32.into()), ("threads", 1u32.into())],
                _ => &[],
            };
            let loaded = Program::new(handler, attrs, 0, fake.stream(0)).and_then(|program| program.initialize());
            match loaded {
                Ok(()) => compiled += 1,
                Err(error) => {
                    assert!(FAULTY.contains(&handler.name), "{error}");
                    assert_ne!(error.code(), Code::FailedPrecondition, "{error}");
                    println!("said: {error}");
                    refused += 1;
                }
            }
        }
        assert_eq!(refused, FAULTY.len());
        println!("said: {compiled} ops");
        return;
    }
    let Some(library) = std::env::var_os("OXCALL_TEST_NVRTC") else {
        println!("not run: OXCALL_TEST_NVRTC names no library");
        return;
    };
    let text = in_a_process("nvrtc::every_kernel_compiles", &[("OXCALL_NVRTC", &library.to_string_lossy())]);
    // Its own words, and not those of the tests' NVRTC.
    for part in ["identifier \"unknown_name\" is undefined", "no kernel `g`", "kernel `f` has 2 parameters"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(text.contains("kernel `f`: parameter `x` has 4 bytes, but `kernels!` declares 8"), "{text}");
}
