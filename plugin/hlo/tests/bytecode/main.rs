//! The bytecode reader, against what jaxlib reads in the same artifacts (`corpus.py` writes them), and against input
//! that is truncated, mutated or made up.

mod attributes;
#[path = "../common/corpus.rs"]
mod corpus;
mod hostile;
mod outline;
#[path = "../common/random.rs"]
mod random;

use std::fs;

use oxcall_hlo::{Module, read_bytecode};

/// The newest artifact of a program.
fn artifact(program: &str) -> Vec<u8> {
    fs::read(corpus::directory().join(program).join("1.17.0.mlirbc")).unwrap()
}

/// What is read of the newest artifact of a program.
fn newest(program: &str) -> Module {
    read_bytecode(&artifact(program)).unwrap_or_else(|error| panic!("{program}: {error}"))
}
