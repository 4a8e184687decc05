//! The bytecode reader, against what jaxlib reads in the same artifacts (`corpus.py` writes them), and against input
//! that is truncated, mutated or made up.

use std::{fmt::Write, fs, path::PathBuf};

use oxcall_hlo::{ErrorKind, Func, Module, Region, is_bytecode, read_bytecode};

/// The directory of the corpus.
fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/bytecode")
}

/// Each artifact: the program's name, the release, and the bytes.
fn artifacts() -> Vec<(String, String, Vec<u8>)> {
    let mut artifacts = Vec::new();
    for directory in fs::read_dir(corpus()).unwrap() {
        let directory = directory.unwrap().path();
        for file in fs::read_dir(&directory).unwrap() {
            let file = file.unwrap().path();
            if file.extension().is_some_and(|extension| extension == "mlirbc") {
                let name = |path: &PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
                artifacts.push((name(&directory), name(&file), fs::read(&file).unwrap()));
            }
        }
    }
    artifacts.sort();
    assert!(artifacts.len() > 150, "the corpus is missing");
    artifacts
}

/// The newest artifact of a program.
fn newest(program: &str) -> Module {
    let path = corpus().join(program).join("1.17.0.mlirbc");
    read_bytecode(&fs::read(path).unwrap()).unwrap_or_else(|error| panic!("{program}: {error}"))
}

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
    fn define(&mut self, values: &[oxcall_hlo::ValueId]) -> String {
        let mut define = |&value: &oxcall_hlo::ValueId| {
            self.numbers[value.0 as usize] = Some(self.defined);
            self.defined += 1;
            format!("%{}: {}", self.defined - 1, self.func.ty(value))
        };
        values.iter().map(&mut define).collect::<Vec<_>>().join(", ")
    }

    fn uses(&self, values: &[oxcall_hlo::ValueId]) -> String {
        let number = |value: &oxcall_hlo::ValueId| format!("%{}", self.numbers[value.0 as usize].unwrap());
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
        // Einsums become several ops.
        if program != "einsums" {
            let expected = fs::read_to_string(corpus().join(&program).join("outline.txt")).unwrap();
            assert_eq!(outline(&module), expected, "{program} {release}");
        }
        // Every release says the same.
        let kinds = |module: &Module| format!("{:?}", module.funcs.iter().map(|func| &func.body).collect::<Vec<_>>());
        let newest = newest(&program);
        assert_eq!(kinds(&module), kinds(&newest), "{program} {release}");
        assert_eq!(format!("{:?}", module.attributes), format!("{:?}", newest.attributes), "{program} {release}");
    }
}
