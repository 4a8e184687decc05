//! The verifier accepts what MLIR's does: the programs of the bytecode corpus.

use std::{fs, path::Path};

use oxcall_hlo::{read_bytecode, verify};

#[test]
fn the_corpus_is_valid() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bytecode/corpus");
    let mut verified = 0;
    let mut refused = Vec::new();
    for directory in fs::read_dir(corpus).unwrap() {
        let directory = directory.unwrap().path();
        if !directory.is_dir() {
            continue;
        }
        for file in fs::read_dir(&directory).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "mlirbc") {
                continue;
            }
            // What the reader refuses is unsupported.
            let Ok(module) = read_bytecode(&fs::read(&path).unwrap()) else { continue };
            verified += 1;
            if let Err(error) = verify(&module) {
                refused.push(format!("{}: {error}", path.display()));
            }
        }
    }
    assert!(verified > 150, "the corpus is missing");
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
