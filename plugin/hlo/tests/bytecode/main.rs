//! The bytecode reader, against what jaxlib reads in the same artifacts (`corpus.py` writes them), and against input
//! that is truncated, mutated or made up.

mod attributes;
#[path = "../common/corpus.rs"]
mod corpus;
mod hostile;
#[path = "../common/bytecode.rs"]
mod made;
mod malformed;
mod outline;
#[path = "../common/random.rs"]
mod random;

use std::fs;

use oxcall_hlo::{Module, STABLEHLO_VERSIONS, read_bytecode};

/// The newest artifact of a program.
fn artifact(program: &str) -> Vec<u8> {
    let files = fs::read_dir(corpus::directory().join(program)).unwrap().map(|file| file.unwrap().path());
    let artifacts = files.filter(|path| path.extension().is_some_and(|extension| extension == "mlirbc"));
    let newest = artifacts.max_by_key(|path| corpus::version(path.file_stem().unwrap().to_str().unwrap()));
    fs::read(newest.unwrap()).unwrap()
}

/// What is read of the newest artifact of a program.
fn newest(program: &str) -> Module {
    read_bytecode(&artifact(program)).unwrap_or_else(|error| panic!("{program}: {error}"))
}

/// What is announced is what was tried: a newer release needs artifacts, an op of one that is read is in one.
#[test]
fn the_announced_releases_are_those_of_the_corpus() {
    let releases: Vec<[i64; 3]> = corpus::artifacts().iter().map(|(_, release, _)| corpus::version(release)).collect();
    assert_eq!(releases.iter().min(), Some(STABLEHLO_VERSIONS.start()));
    assert_eq!(releases.iter().max(), Some(STABLEHLO_VERSIONS.end()));
}
