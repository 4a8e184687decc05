//! `cargo xtask mutants`: whether the tests see each change of what decodes frames, dimensions and programs.

use crate::shell::{self, Failure, Result};
use crate::workspace;

/// What is changed, and the tests that are to see it.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    package: &'static str,
    files: &'static [&'static str],
    tests: &'static [&'static str],
}

/// The tests of many threads and of allocations take longer than all others. Each reader has tests of its own: every
/// program of tests that a mutant does not need is one to link.
const SDK: Part = Part { name: "", package: "oxcall", files: &[], tests: &["--lib", "--test=expressible"] };
const READERS: Part = Part { package: "oxcall-hlo", ..SDK };

const BYTECODE: &[&str] = &["--lib", "--test=bytecode", "--test=bytecode_limits", "--test=jaxlib"];
const HLO_PROTO: &[&str] = &["--lib", "--test=hlo_proto", "--test=hlo_proto_limits"];

pub(crate) const PARTS: &[Part] = &[
    Part { name: "frames", files: &["ffi/src/frame.rs", "ffi/src/entry.rs", "ffi/src/metadata.rs"], ..SDK },
    Part { name: "dims", files: &["ffi/src/shape/*.rs"], ..SDK },
    Part { name: "bytecode", files: &["plugin/hlo/src/bytecode/**/*.rs"], tests: BYTECODE, ..READERS },
    Part { name: "text", files: &["plugin/hlo/src/text/**/*.rs"], tests: &["--lib", "--test=text"], ..READERS },
    Part { name: "hlo_proto", files: &["plugin/hlo/src/hlo_proto/**/*.rs"], tests: HLO_PROTO, ..READERS },
];

/// Runs the parts that are named, or all; what follows goes to cargo-mutants, as `--shard 0/8`.
pub(crate) fn run(args: &[String]) -> Result<()> {
    if !shell::succeeds("cargo", &["mutants", "--version"]) {
        return Err(Failure::new("mutation testing needs cargo-mutants:\n  cargo install cargo-mutants --locked"));
    }
    let named = args.iter().take_while(|arg| PARTS.iter().any(|part| part.name == *arg)).count();
    let (names, rest) = args.split_at(named);
    if let Some(unknown) = rest.first().filter(|arg| !arg.starts_with('-')) {
        let known = PARTS.iter().map(|part| part.name).collect::<Vec<_>>().join(", ");
        return Err(Failure::new(format!("`{unknown}` is none of: {known}")));
    }
    let chosen = PARTS.iter().filter(|part| names.is_empty() || names.iter().any(|name| name == part.name));
    let mut survived = Vec::new();
    for part in chosen {
        let mut command = shell::cargo();
        // No mutant is debugged: without lines for backtraces it is compiled and linked sooner.
        command.env("CARGO_PROFILE_DEV_DEBUG", "0");
        command.args(["mutants", "--package", part.package, "--no-shuffle", "--output"]);
        command.arg(workspace::scratch(&format!("mutants/{}", part.name))?);
        command.args(part.files.iter().flat_map(|file| ["--file", file]));
        // As arguments of the build too: what is not run need not be compiled.
        command.args(part.tests.iter().map(|test| format!("--cargo-arg={test}")));
        if shell::run(command.args(rest)).is_err() {
            survived.push(part.name);
        }
    }
    match &survived[..] {
        [] => Ok(()),
        names => Err(Failure::new(format!(
            "mutants of {} survived: add a test that fails, or an `exclude_re` with its reason to .cargo/mutants.toml",
            names.join(", ")
        ))),
    }
}
