//! One program in several forms reads as one.

use std::fs;
use std::path::PathBuf;

use oxcall_hlo::{STABLEHLO_VERSIONS, print_module, read_bytecode};

use super::{parse, pretty_programs, programs};

#[test]
fn pretty_and_generic_forms_are_one_program() {
    let generic = programs("text/generic");
    for (name, text) in pretty_programs() {
        let (_, generic) = generic.iter().find(|(each, _)| *each == name).expect(&name);
        assert_eq!(print_module(&parse(&name, &text)), print_module(&parse(&name, generic)), "{name}");
    }
}

/// The programs whose bytecode the tests of the bytecode reader have: jaxlib turned one into the other.
#[test]
fn text_and_bytecode_are_one_program() {
    let corpus = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/bytecode/corpus");
    let mut compared = 0;
    for (name, text) in programs("bytecode/programs") {
        // Bytecode does not keep whether an attribute was `array<...>`, and has a composite for `chlo.scan`.
        if name.starts_with("unsupported_") || ["custom_calls", "composite_regions"].contains(&&*name) {
            continue;
        }
        let [major, minor, patch] = STABLEHLO_VERSIONS.end();
        let bytes = fs::read(corpus.join(&name).join(format!("{major}.{minor}.{patch}.mlirbc"))).unwrap();
        let module = read_bytecode(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        // Bytecode has no default for precision.
        let normal = |printed: String| {
            printed
                .replace(", precision = [DEFAULT, DEFAULT]", "")
                .replace(", precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]", "")
        };
        assert_eq!(normal(print_module(&parse(&name, &text))), normal(print_module(&module)), "{name}");
        compared += 1;
    }
    assert!(compared > 18);
}
