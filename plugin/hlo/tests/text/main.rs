//! The reader of text and the printer, over programs that JAX printed (`corpus.py` writes them) and others; jaxlib's
//! own reading of them is the oracle. What the printer writes is checked against jaxlib by `check_printed.py`.

mod errors;
mod forms;
mod hostile;
mod limits;
mod literals;
#[path = "../common/pieces.rs"]
mod pieces;
#[path = "../common/random.rs"]
mod random;
mod spellings;

use std::fs;
use std::path::PathBuf;

use oxcall_hlo::{Module, parse_text, print_module, print_module_with_locations, verify};

/// The programs in a directory of the tests: names and texts.
fn programs(directory: &str) -> Vec<(String, String)> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(directory);
    let mut programs: Vec<(String, String)> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "mlir"))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(&path).unwrap()))
        .collect();
    programs.sort();
    assert!(!programs.is_empty());
    programs
}

/// The programs that have a generic form beside them.
fn pretty_programs() -> Vec<(String, String)> {
    [programs("text/programs"), programs("text/jax")].concat()
}

/// All programs of the tests: those of `older` are what other releases of JAX printed.
fn all_programs() -> Vec<(String, String)> {
    [pretty_programs(), programs("text/older")].concat()
}

/// The program; a panic names it.
fn parse(name: &str, text: &str) -> Module {
    parse_text(text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The program of one function with these lines.
fn program(lines: &str) -> String {
    format!(
        "module @test {{\n  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xi32>, %arg2: tensor<i1>) {{\n\
         {lines}\n    return\n  }}\n}}\n"
    )
}

/// The lines of [`program`] as the printer writes them.
fn reprint(lines: &str) -> String {
    let text = print_module(&parse(lines, &program(lines)));
    let body = text.split_once(") {\n").unwrap().1.rsplit_once("\n    return").map_or("", |(body, _)| body);
    body.lines().map(|line| line.trim_start().to_owned()).collect::<Vec<_>>().join("\n")
}

#[test]
fn programs_read_back_from_what_is_printed() {
    for (name, text) in all_programs() {
        let module = parse(&name, &text);
        for print in [print_module, print_module_with_locations] {
            let printed = print(&module);
            let again = print(&parse(&name, &printed));
            assert_eq!(printed, again, "{name}");
        }
        assert_eq!(module.to_string(), print_module(&module));
    }
}

#[test]
fn programs_pass_the_verifier() {
    for (name, text) in all_programs() {
        verify(&parse(&name, &text)).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn locations_are_kept() {
    let (_, text) = programs("text/jax").into_iter().find(|(name, _)| name == "locations").unwrap();
    let module = parse("locations", &text);
    let tanh = module.funcs.iter().flat_map(|func| &func.body.ops).find_map(|op| {
        let inner = op.regions.iter().flat_map(|region| &region.ops);
        [op].into_iter().chain(inner).find(|op| op.kind.name() == "stablehlo.tanh").map(|op| op.location)
    });
    let location = module.location(tanh.unwrap()).to_string();
    assert!(location.contains("tanh") && location.contains("corpus.py:"), "{location}");
}
