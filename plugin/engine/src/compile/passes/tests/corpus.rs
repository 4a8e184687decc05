//! Programs that JAX and others wrote, through all passes.

#[path = "../../../../../hlo/tests/common/corpus.rs"]
mod artifacts;

use oxcall_hlo::{read_bytecode, write_hlo_proto};

use super::*;

#[test]
fn the_corpus_of_bytecode_stays_valid() {
    let mut count = 0;
    for (program, release, bytes) in artifacts::artifacts() {
        // What the reader refuses is unsupported.
        let Ok(module) = read_bytecode(&bytes) else { continue };
        let types = |module: &Module| -> Vec<Type> {
            let main = module.main();
            main.body.params.iter().chain(&main.body.results).map(|&value| main.ty(value).clone()).collect()
        };
        let before = types(&module);
        let after = crate::compile::passes::run(module).unwrap_or_else(|error| panic!("{program} {release}: {error}"));
        verify(&after).unwrap_or_else(|error| panic!("{program} {release}: {error}"));
        // XLA has no floats of six bits.
        assert!(write_hlo_proto(&after).is_some() != (program == "newest_types"), "{program} {release}");
        // Dynamic dimensions have their sizes beside them.
        let is_dynamic = |ty: &Type| ty.tensor().is_some_and(|ty| !ty.dynamic.is_empty());
        if !before.iter().any(|ty| matches!(ty, Type::Tuple(_)) || is_dynamic(ty)) {
            assert_eq!(before, types(&after), "{program} {release}");
        }
        count += 1;
    }
    assert!(count > 150, "the corpus is missing");
}
