//! The artifacts that JAX and others wrote, of all releases; also for the tests of `oxcall-engine`.

use std::fs;
use std::path::{Path, PathBuf};

/// The directory of the corpus.
pub(crate) fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../hlo/tests/bytecode/corpus")
}

/// Each artifact: the program's name, the release, and the bytes.
pub(crate) fn artifacts() -> Vec<(String, String, Vec<u8>)> {
    let mut artifacts = Vec::new();
    let folders = fs::read_dir(directory()).unwrap().map(|folder| folder.unwrap().path());
    for folder in folders.filter(|path| path.is_dir()) {
        for file in fs::read_dir(&folder).unwrap() {
            let file = file.unwrap().path();
            if file.extension().is_some_and(|extension| extension == "mlirbc") {
                // The names of folders end in versions of JAX, whose dots begin no extension.
                let program = folder.file_name().unwrap().to_str().unwrap().to_owned();
                let release = file.file_stem().unwrap().to_str().unwrap().to_owned();
                artifacts.push((program, release, fs::read(&file).unwrap()));
            }
        }
    }
    artifacts.sort();
    assert!(artifacts.len() > 150, "the corpus is missing");
    artifacts
}

/// The numbers of a release: `1.17.0`.
#[allow(dead_code, reason = "not every test that has this module orders releases")]
pub(crate) fn version(release: &str) -> [i64; 3] {
    let numbers: Vec<i64> = release.split('.').map(|number| number.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}
