//! `cargo xtask fuzz`: damaged calls, programs and compile options under libFuzzer and AddressSanitizer; and random JAX
//! programs against stock JAX.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{self, Context, Failure, Result};
use crate::{python, workspace};

/// What `cargo fuzz` gives to rustc, for one program alone.
const FLAGS: &str = "--cfg fuzzing -Zsanitizer=address -Cpasses=sancov-module -Ccodegen-units=1 -Cdebug-assertions \
    -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Cllvm-args=-simplifycfg-branch-fold-threshold=0";

const TRIPLE: &str = "x86_64-unknown-linux-gnu";
const DEFAULT_SECONDS: u32 = 300;

/// What is fuzzed.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    package: &'static str,
    features: &'static str,
    binary: &'static str,
    /// Longest input in bytes: longer ones only slow the search down.
    max_len: u32,
    /// Where the corpus is.
    corpus: &'static str,
    /// Real inputs that other tests have.
    seeds: &'static [&'static str],
}

const fn programs(
    name: &'static str,
    features: &'static str,
    max_len: u32,
    corpus: &'static str,
    seeds: &'static [&'static str],
) -> Target {
    Target { name, package: "oxcall-fuzz-programs", features, binary: "fuzz-programs", max_len, corpus, seeds }
}

const TEXTS: &[&str] = &[
    "plugin/hlo/tests/bytecode/programs",
    "plugin/hlo/tests/text/programs",
    "plugin/hlo/tests/text/generic",
    "plugin/hlo/tests/text/jax",
    "plugin/hlo/tests/text/older",
];

pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "calls",
        package: "oxcall-fuzz",
        features: "libfuzzer",
        binary: "fuzz",
        max_len: 400,
        corpus: "tests/fuzz/corpus",
        seeds: &[],
    },
    programs(
        "bytecode",
        "libfuzzer",
        1 << 14,
        "tests/fuzz/programs/corpus/bytecode",
        &["plugin/hlo/tests/bytecode/corpus"],
    ),
    programs("text", "libfuzzer", 1 << 13, "tests/fuzz/programs/corpus/text", TEXTS),
    programs(
        "hlo_proto",
        "libfuzzer",
        1 << 12,
        "tests/fuzz/programs/corpus/hlo_proto",
        &["plugin/hlo/tests/hlo_proto/corpus"],
    ),
    programs("options", "libfuzzer", 1 << 10, "tests/fuzz/programs/corpus/options", &[]),
    programs("run", "libfuzzer,engine", 1 << 12, "tests/fuzz/programs/corpus/run", TEXTS),
];

/// How long a target is fuzzed.
#[derive(Clone, Copy)]
enum Length {
    /// For so many seconds, each time with other inputs.
    Seconds(u32),
    /// For so many inputs, the same each time.
    Inputs(u32),
}

/// Fuzzes the targets of these names with so many inputs each, which depend on the code alone: what passed, passes.
pub(crate) fn repeatable(names: &[&str], inputs: u32) -> Result<()> {
    let mut chosen = TARGETS.iter().filter(|target| names.contains(&target.name));
    chosen.try_for_each(|target| target.fuzz(Length::Inputs(inputs), false))
}

/// Fuzzes the targets that are named, or all, each for a number of seconds. `keep` adds to the corpora what was found.
pub(crate) fn run(args: &[String]) -> Result<()> {
    if let Some((name, rest)) = args.split_first().filter(|(name, _)| *name == "jax") {
        return jax(name, rest);
    }
    let mut chosen = Vec::new();
    let (mut seconds, mut keep) = (DEFAULT_SECONDS, false);
    for arg in args {
        if let Some(target) = TARGETS.iter().find(|target| target.name == arg) {
            chosen.push(target);
        } else if arg == "keep" {
            keep = true;
        } else {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            seconds =
                arg.parse().context(format!("a target ({}), a number of seconds, or `keep`", names.join(", ")))?;
        }
    }
    if chosen.is_empty() {
        chosen.extend(TARGETS);
    }
    chosen.into_iter().try_for_each(|target| target.fuzz(Length::Seconds(seconds), keep))
}

/// Random JAX programs on the plugin and on stock JAX.
fn jax(name: &str, args: &[String]) -> Result<()> {
    let mut command = python::on_plugin(&python::default_venv()?, "fuzz_jax")?;
    let findings = workspace::scratch(&format!("fuzz/{name}"))?;
    shell::run(command.arg("--findings").arg(findings).args(args))
}

/// Whether there is a nightly toolchain.
pub(crate) fn can_build() -> bool {
    shell::succeeds("rustup", &["run", "nightly", "rustc", "--version"])
}

impl Target {
    fn fuzz(&self, length: Length, keep: bool) -> Result<()> {
        println!("{}:", self.name);
        let program = self.build()?;
        let found = match length {
            Length::Seconds(_) => workspace::scratch(&format!("fuzz/corpus/{}", self.name))?,
            // What earlier runs found would change what this one tries.
            Length::Inputs(_) => workspace::empty_scratch(&format!("fuzz/repeatable/{}", self.name))?,
        };
        let crashes = workspace::scratch(&format!("fuzz/crashes/{}", self.name))?;
        let corpus = workspace::root().join(self.corpus);
        let mut fuzz = self.fuzzer(&program);
        // Handlers' own words on stderr are thrown away; reports are not.
        fuzz.args(["-close_fd_mask=3", "-timeout=10", "-rss_limit_mb=4096", "-print_final_stats=1"]);
        fuzz.arg(format!("-max_len={}", self.max_len));
        match length {
            Length::Seconds(seconds) => fuzz.arg(format!("-max_total_time={seconds}")),
            Length::Inputs(inputs) => fuzz.arg(format!("-runs={inputs}")).arg("-seed=1"),
        };
        fuzz.arg(format!("-artifact_prefix={}/", crashes.display()));
        fuzz.arg(&found).arg(&corpus).args(self.seeds.iter().map(|seeds| workspace::root().join(seeds)));
        shell::run(&mut fuzz)?;
        if keep {
            let mut merge = self.fuzzer(&program);
            merge.args(["-close_fd_mask=3", "-set_cover_merge=1"]);
            shell::run(merge.arg(&corpus).arg(&found))?;
        }
        Ok(())
    }

    /// Builds the fuzzer with the nightly toolchain, beside what the others build.
    fn build(&self) -> Result<PathBuf> {
        if !can_build() {
            return Err(Failure::new("fuzzing needs a nightly toolchain:\n  rustup toolchain install nightly"));
        }
        let folder = workspace::target().join("fuzz");
        let mut command = shell::command("rustup");
        command.args(["run", "nightly", "cargo", "build", "--release", "--target", TRIPLE, "--package", self.package]);
        command
            .args(["--no-default-features", "--features", self.features, "--bin", self.binary, "--target-dir"])
            .arg(&folder);
        command.env("RUSTFLAGS", FLAGS);
        for (name, value) in [("LTO", "false"), ("STRIP", "none"), ("DEBUG", "1")] {
            command.env(format!("CARGO_PROFILE_RELEASE_{name}"), value);
        }
        shell::forget_toolchain(&mut command);
        shell::run(&mut command)?;
        Ok(folder.join(TRIPLE).join("release").join(self.binary))
    }

    /// Leaks are not looked for: an error object that a handler makes of a damaged host may have no owner.
    fn fuzzer(&self, program: &Path) -> Command {
        let mut command = shell::command(program);
        command.env("ASAN_OPTIONS", "detect_leaks=0").env("OXCALL_FUZZ_TARGET", self.name);
        command
    }
}
