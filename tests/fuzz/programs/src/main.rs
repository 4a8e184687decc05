//! The libFuzzer target, which the variable `OXCALL_FUZZ_TARGET` chooses; `cargo xtask fuzz` builds and runs it.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use oxcall_fuzz_programs::{Random, Target, mutate};

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("OXCALL_FUZZ_TARGET").unwrap_or_default();
    Target::from_name(&name).unwrap_or_else(|| panic!("OXCALL_FUZZ_TARGET={name}: there is no such target"))
});

fuzz_target!(|data: &[u8]| {
    TARGET.fuzz(data);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = Random(seed.into());
    let text = str::from_utf8(&data[..size]).ok().filter(|text| TARGET.is_text() && !text.is_empty());
    match text {
        // Mostly by words: other changes rarely leave a program.
        Some(text) if random.below(8) > 0 => {
            let mutated = mutate(text, &mut random);
            let length = mutated.len().min(max_size);
            data[..length].copy_from_slice(&mutated.as_bytes()[..length]);
            length
        }
        _ => fuzzer_mutate(data, size, max_size),
    }
});
