//! Programs that JAX and others wrote, through all passes.

use std::{fs, path::Path};

use oxcall_hlo::read_bytecode;

use super::*;

#[test]
fn the_corpus_of_bytecode_stays_valid() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hlo/tests/bytecode/corpus");
    let mut count = 0;
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
            let types = |module: &Module| -> Vec<Type> {
                let main = module.main();
                main.body.params.iter().chain(&main.body.results).map(|&value| main.ty(value).clone()).collect()
            };
            let before = types(&module);
            let after = crate::passes::run(module).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            verify(&after).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            if !before.iter().any(|ty| matches!(ty, Type::Tuple(_))) {
                assert_eq!(before, types(&after), "{}", path.display());
            }
            count += 1;
        }
    }
    assert!(count > 150, "the corpus is missing");
}
