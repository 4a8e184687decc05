//! Input that is truncated, mutated or made up: an error or a module, in bounded memory and time, and never a panic.

use oxcall_hlo::{ErrorKind, is_bytecode, read_bytecode};

use crate::artifact;
use crate::corpus::artifacts;
use crate::random::Random;

#[test]
fn truncation_is_an_error() {
    for program in [
        "elementwise",
        "control",
        "custom_calls",
        "jax_lstm_0.12.0.1",
        "futures",
        "mesh_groups",
        "composite_regions",
        "legacy",
    ] {
        let bytes = artifact(program);
        for length in 0..bytes.len() {
            read_bytecode(&bytes[..length]).expect_err(program);
        }
    }
}

/// Changes some bytes: random, extreme, copied, inserted or removed ones.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len());
        match random.below(8) {
            0 | 1 => bytes[at] = random.number() as u8,
            2 => bytes[at] ^= 1 << random.below(8),
            3 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            4 => bytes[at] = bytes[at].wrapping_add(2),
            5 => bytes[at] = bytes[random.below(bytes.len())],
            6 => bytes.insert(at, random.number() as u8),
            _ => drop(bytes.remove(at)),
        }
    }
}

#[test]
fn mutations_never_panic() {
    let artifacts = artifacts();
    let mut random = Random(2);
    for _ in 0..10_000 {
        let (_, _, original) = &artifacts[random.below(artifacts.len())];
        let mut bytes = original.clone();
        mutate(&mut bytes, &mut random);
        // Most are errors; what matters is that each is an answer.
        let _ = read_bytecode(&bytes);
    }
}

#[test]
fn every_byte_at_its_extremes() {
    for program in ["indexing", "composites", "tuples", "locations"] {
        let mut bytes = artifact(program);
        for at in 0..bytes.len() {
            let original = bytes[at];
            for value in [0, 1, 2, 3, 0x7f, 0x80, 0xff, original ^ 2, original.wrapping_sub(2)] {
                bytes[at] = value;
                let _ = read_bytecode(&bytes);
            }
            bytes[at] = original;
        }
    }
}

#[test]
fn what_is_no_bytecode_is_told_apart() {
    assert!(!is_bytecode(b"module {}") && !is_bytecode(b"ML"));
    assert_eq!(read_bytecode(b"module {}").unwrap_err().to_string(), "not MLIR bytecode: the magic number is missing");
    let newer = read_bytecode(b"ML\xefR\x0f").unwrap_err();
    assert_eq!(newer.kind, ErrorKind::Unsupported);
    assert_eq!(newer.to_string(), "MLIR bytecode version 7 is newer than 6, the newest that is supported");
}
