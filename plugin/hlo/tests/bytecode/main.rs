//! The bytecode reader, against what jaxlib reads in the same artifacts (`corpus.py` writes them), and against input
//! that is truncated, mutated or made up.

mod attributes;
mod hostile;
mod outline;
#[path = "../common/random.rs"]
mod random;

use std::{fs, path::PathBuf};

use oxcall_hlo::{Module, read_bytecode};

/// The directory of the corpus.
fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/bytecode/corpus")
}

/// Each artifact: the program's name, the release, and the bytes.
fn artifacts() -> Vec<(String, String, Vec<u8>)> {
    let mut artifacts = Vec::new();
    for directory in fs::read_dir(corpus()).unwrap() {
        let directory = directory.unwrap().path();
        for file in fs::read_dir(&directory).unwrap() {
            let file = file.unwrap().path();
            if file.extension().is_some_and(|extension| extension == "mlirbc") {
                let name = |path: &PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
                artifacts.push((name(&directory), name(&file), fs::read(&file).unwrap()));
            }
        }
    }
    artifacts.sort();
    assert!(artifacts.len() > 150, "the corpus is missing");
    artifacts
}

/// The newest artifact of a program.
fn artifact(program: &str) -> Vec<u8> {
    fs::read(corpus().join(program).join("1.17.0.mlirbc")).unwrap()
}

/// What is read of the newest artifact of a program.
fn newest(program: &str) -> Module {
    read_bytecode(&artifact(program)).unwrap_or_else(|error| panic!("{program}: {error}"))
}
