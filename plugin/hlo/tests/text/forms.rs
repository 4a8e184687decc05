//! One program in several forms reads as one.

use std::fs;
use std::path::PathBuf;

use oxcall_hlo::{STABLEHLO_VERSIONS, parse_text, print_module, read_bytecode};

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

/// Bounds that operands and results do not share are written for each.
#[test]
fn bounds_of_operands_and_results() {
    const BOUNDED: &str = "tensor<?xf32, #stablehlo.bounds<4>>";
    const STATIC: &str = "tensor<4xf32>";
    let loop_to = |carried: &str, result: &str| {
        format!(
            "\"stablehlo.while\"(%x) ({{ ^bb0(%a: {carried}): %c = stablehlo.constant dense<true> : tensor<i1> \
             \"stablehlo.return\"(%c) : (tensor<i1>) -> () }}, {{ ^bb0(%a: {BOUNDED}): \
             \"stablehlo.return\"(%a) : ({BOUNDED}) -> () }}) : ({BOUNDED}) -> {result}"
        )
    };
    for op in [
        format!("stablehlo.add %x, %x : ({BOUNDED}, {BOUNDED}) -> {STATIC}"),
        format!("stablehlo.optimization_barrier %x : ({BOUNDED}) -> {STATIC}"),
        format!("\"stablehlo.tuple\"(%x) : ({BOUNDED}) -> tuple<{STATIC}>"),
        format!("stablehlo.select %p, %x, %x : (tensor<i1>, {BOUNDED}, {BOUNDED}) -> {STATIC}"),
        format!("stablehlo.complex %x, %x : ({BOUNDED}, {BOUNDED}) -> tensor<4xcomplex<f32>>"),
        loop_to(BOUNDED, STATIC),
        loop_to(STATIC, BOUNDED),
    ] {
        let text = format!("func.func @main(%x: {BOUNDED}, %p: tensor<i1>) {{ %y = {op} return }}");
        let printed = print_module(&parse(&op, &text));
        assert_eq!(print_module(&parse(&op, &printed)), printed, "{op}");
        let (bounded, all) = (printed.matches(BOUNDED).count(), op.matches(BOUNDED).count());
        assert_eq!(bounded, all + 1, "{op} is printed as\n{printed}");
    }
    let constant =
        "func.func @main() { %y = stablehlo.constant dense<1.0> : tensor<?xf32, #stablehlo.bounds<4>> return }";
    let error = parse_text(constant).unwrap_err().to_string();
    assert!(error.contains("a constant must have a static shape, got tensor<?xf32, #stablehlo.bounds<4>>"), "{error}");
}
