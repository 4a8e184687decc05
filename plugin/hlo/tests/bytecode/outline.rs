//! Outlines of artifacts, against what jaxlib reads.

use std::fmt::Write;
use std::fs;

use oxcall_hlo::{
    ErrorKind, Func, Module, Region, ValueId, is_bytecode, parse_text, print_module_with_locations, read_bytecode,
    verify,
};

use crate::corpus::{artifacts, directory};
use crate::newest;

/// The functions, ops, operands and types of a module, as `corpus.py` writes them. Values get new numbers, in the
/// order of their definition.
fn outline(module: &Module) -> String {
    let mut text = String::new();
    for func in &module.funcs {
        writeln!(text, "func {}", func.name).unwrap();
        let mut outliner = Outliner { func, numbers: vec![None; func.values.len()], defined: 0, text: &mut text };
        outliner.region(&func.body, 1);
    }
    text
}

struct Outliner<'a> {
    func: &'a Func,
    numbers: Vec<Option<usize>>,
    defined: usize,
    text: &'a mut String,
}

impl Outliner<'_> {
    fn define(&mut self, values: &[ValueId]) -> String {
        let mut define = |&value: &ValueId| {
            self.numbers[value.0 as usize] = Some(self.defined);
            self.defined += 1;
            format!("%{}: {}", self.defined - 1, self.func.ty(value))
        };
        values.iter().map(&mut define).collect::<Vec<_>>().join(", ")
    }

    fn uses(&self, values: &[ValueId]) -> String {
        let number = |value: &ValueId| format!("%{}", self.numbers[value.0 as usize].unwrap());
        values.iter().map(number).collect::<Vec<_>>().join(", ")
    }

    fn region(&mut self, region: &Region, depth: usize) {
        let indent = "  ".repeat(depth);
        let params = self.define(&region.params);
        writeln!(self.text, "{indent}({params})").unwrap();
        for op in &region.ops {
            let operands = self.uses(&op.operands);
            let results = self.define(&op.results);
            writeln!(self.text, "{indent}{}({operands}) -> ({results})", op.kind.name()).unwrap();
            for region in &op.regions {
                self.region(region, depth + 1);
            }
        }
        let results = self.uses(&region.results);
        writeln!(self.text, "{indent}return ({results})").unwrap();
    }
}

#[test]
fn every_artifact_reads_as_in_jaxlib() {
    for (program, release, bytes) in artifacts() {
        assert!(is_bytecode(&bytes));
        let module = read_bytecode(&bytes);
        if program.starts_with("unsupported_") {
            let error = module.expect_err(&program);
            assert_eq!(error.kind, ErrorKind::Unsupported, "{program} {release}: {error}");
            continue;
        }
        let module = module.unwrap_or_else(|error| panic!("{program} {release}: {error}"));
        // These become several ops.
        if !["computed_slices", "einsums"].contains(&&program[..]) {
            let expected = fs::read_to_string(directory().join(&program).join("outline.txt")).unwrap();
            assert_eq!(outline(&module), expected, "{program} {release}");
        }
        // Every release says the same.
        let kinds = |module: &Module| format!("{:?}", module.funcs.iter().map(|func| &func.body).collect::<Vec<_>>());
        let newest = newest(&program);
        assert_eq!(kinds(&module), kinds(&newest), "{program} {release}");
        assert_eq!(format!("{:?}", module.attributes), format!("{:?}", newest.attributes), "{program} {release}");
    }
}

/// The reader of text is another way to the same module. It does not know legacy ops.
#[test]
fn every_artifact_reads_as_the_text_that_jaxlib_prints() {
    for (program, release, bytes) in artifacts() {
        let Ok(text) = fs::read_to_string(directory().join(&program).join("module.mlir")) else { continue };
        if ["dynamic_convolution", "einsums", "legacy"].contains(&&program[..])
            || program.starts_with("jax_random_bits")
        {
            continue;
        }
        let module = read_bytecode(&bytes).unwrap();
        let expected = parse_text(&text).unwrap_or_else(|error| panic!("{program}: {error}"));
        let [read, expected] = [&module, &expected].map(print_module_with_locations);
        for (line, expected) in read.lines().zip(expected.lines()) {
            assert_eq!(line, expected, "{program} {release}");
        }
        assert_eq!(read.lines().count(), expected.lines().count(), "{program} {release}");
    }
}

/// What becomes other ops, einsums for instance, has to be right as well.
#[test]
fn every_artifact_verifies() {
    for (program, release, bytes) in artifacts() {
        if let Ok(module) = read_bytecode(&bytes) {
            verify(&module).unwrap_or_else(|error| panic!("{program} {release}: {error}"));
        }
    }
}
