//! The verifier accepts what MLIR's does: the programs of the bytecode corpus.

#[path = "common/corpus.rs"]
mod corpus;

use oxcall_hlo::{read_bytecode, verify};

#[test]
fn the_corpus_is_valid() {
    let mut verified = 0;
    let mut refused = Vec::new();
    for (program, release, bytes) in corpus::artifacts() {
        // What the reader refuses is unsupported.
        let Ok(module) = read_bytecode(&bytes) else { continue };
        verified += 1;
        if let Err(error) = verify(&module) {
            refused.push(format!("{program} {release}: {error}"));
        }
    }
    assert!(verified > 150, "the corpus is missing");
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
