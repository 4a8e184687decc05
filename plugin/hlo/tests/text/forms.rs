//! One program in several forms reads as one.

use std::fs;
use std::ops::Range;
use std::path::PathBuf;

use oxcall_hlo::{STABLEHLO_VERSIONS, parse_text, print_module, read_bytecode, verify};

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

/// Lists of integers in the attributes of generic forms, as ranges of the text between their brackets.
fn lists(text: &str) -> Vec<Range<usize>> {
    let starts = ["array<i64", "dims = [", "dimensions = [", "_dim = [", "_map = ["]
        .into_iter()
        .flat_map(|start| text.match_indices(start).map(move |(at, _)| at + start.len()));
    starts.filter_map(|from| Some(from..from + text[from..].find(['>', ']'])?)).collect()
}

/// A pretty form that cannot say all that an op has is not used: what is wrong with the op stays wrong. Each list of
/// each op becomes longer, shorter and empty.
#[test]
fn invalid_ops_stay_invalid() {
    let mut refused = 0;
    // Long programs have the same ops, many times.
    for (name, text) in programs("text/generic").into_iter().filter(|(_, text)| text.len() < 10_000) {
        for list in lists(&text) {
            let (items, is_array) = (text[list.clone()].trim_start_matches(':'), text[..list.start].ends_with("i64"));
            let longer = if items.is_empty() { "0".into() } else { format!("{items}, 0") };
            for items in [&*longer, items.rsplit_once(',').map_or("", |(rest, _)| rest), ""] {
                let colon = if is_array && !items.is_empty() { ":" } else { "" };
                let mut changed = text.clone();
                changed.replace_range(list.clone(), &format!("{colon}{items}"));
                let Ok(module) = parse_text(&changed) else { continue };
                let printed = print_module(&module);
                let again = parse(&name, &printed);
                assert_eq!(print_module(&again), printed);
                let message = |module| verify(module).err().map(|error| error.message);
                assert_eq!(message(&again), message(&module), "{name}: {changed}\n{printed}");
                refused += usize::from(message(&module).is_some());
            }
        }
    }
    assert!(refused > 100, "{refused}");
}

/// XLA refuses empty groups too, which cannot be told from no groups.
#[test]
fn groups_are_not_empty() {
    let groups = |ids: &str| {
        format!(
            "func.func @main(%x: tensor<f32>) {{ %y = \"stablehlo.collective_broadcast\"(%x) <{{replica_groups = \
             {ids}}}> : (tensor<f32>) -> tensor<f32> return }}"
        )
    };
    assert!(parse_text(&groups("dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>")).is_ok());
    for empty in ["dense<-1> : tensor<1x1xi64>", "dense<[[0, 1], [-1, -1]]> : tensor<2x2xi64>"] {
        let error = parse_text(&groups(empty)).unwrap_err().to_string();
        assert!(error.contains("replica_groups must have a process in each group"), "{error}");
    }
}
