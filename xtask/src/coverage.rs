//! `cargo xtask coverage`: the lines of each crate that its tests run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::shell::{self, Context, Failure, Result};
use crate::workspace;

/// Set where this program runs in the place of rustc, as cargo asks it to for the crates of the workspace: what they
/// depend on is compiled as ever.
const INSTRUMENT: &str = "XTASK_INSTRUMENT_COVERAGE";

/// Crates, by the folder of their sources.
const CRATES: &[(&str, &str)] = &[
    ("element/src/", "oxcall-element"),
    ("ffi/src/", "oxcall"),
    ("macros/src/", "oxcall-macros"),
    ("math/src/", "oxcall-math"),
    ("plugin/hlo/src/", "oxcall-hlo"),
    ("plugin/engine/src/", "oxcall-engine"),
    ("plugin/jit/src/", "oxcall-jit"),
    ("plugin/kernels/src/", "oxcall-kernels"),
    ("plugin/linalg/src/", "oxcall-linalg"),
    ("plugin/pjrt/src/", "oxcall-pjrt"),
    ("plugin/proto/src/", "oxcall-proto"),
    ("plugin/src/", "oxcall-plugin"),
];

/// What has tests of them, in the crate itself or beside it.
const PACKAGES: &[&str] = &[
    "oxcall",
    "oxcall-element",
    "oxcall-math",
    "oxcall-macros",
    "oxcall-hlo",
    "oxcall-engine",
    "oxcall-jit",
    "oxcall-kernels",
    "oxcall-linalg",
    "oxcall-pjrt",
    "oxcall-proto",
    "oxcall-plugin",
    "oxcall-fuzz",
    "oxcall-fuzz-programs",
];

const HEAD: &str = "# Coverage

Written by `cargo xtask coverage`: the functions and lines of each crate that the Rust tests of the workspace run; the
tests themselves are not counted. The macros also run inside the compiler, and most tests of the plugin (`tests/plugin`,
`cargo xtask conformance`) are Python programs: what these reach comes on top.

| crate | functions | of | lines | of | lines % | date |
|---|--:|--:|--:|--:|--:|---|
";

/// What was run of what there is.
#[derive(Clone, Copy, Default)]
struct Count {
    functions: (u64, u64),
    lines: (u64, u64),
}

/// Measures the packages that are named, or all, and writes their lines of the documentation's page.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let tools = Tools::find()?;
    let folder = workspace::scratch("coverage")?;
    let raw = folder.join("raw");
    // Counts of earlier runs would be added to these.
    let _ = std::fs::remove_dir_all(&raw);
    let packages: Vec<&str> = match args {
        [] => PACKAGES.to_vec(),
        named => named.iter().map(String::as_str).collect(),
    };
    let wrapper = std::env::current_exe().context("the path of this program")?;
    let test = || {
        let mut test = shell::cargo();
        test.args(["test", "--no-fail-fast", "--lib", "--tests"]);
        test.args(packages.iter().flat_map(|package| ["--package", package]));
        test.env("RUSTC_WORKSPACE_WRAPPER", &wrapper).env(INSTRUMENT, "1");
        test.env("LLVM_PROFILE_FILE", raw.join("%p-%m.profraw"));
        test
    };
    let messages = shell::output(test().args(["--no-run", "--message-format=json"]))?;
    let programs = executables(&messages);
    shell::run(&mut test())?;
    let profile = folder.join("merged.profdata");
    let mut merge = shell::command(&tools.profdata);
    shell::run(merge.args(["merge", "--sparse"]).arg(&raw).arg("-o").arg(&profile))?;
    let date = shell::output(shell::command("date").args(["-u", "+%Y-%m-%d"]))?;
    let measured = crates(&tools.export(&profile, &programs)?);
    let page = workspace::root().join("docs/reference/coverage.md");
    let mut rows = rows(&std::fs::read_to_string(&page).unwrap_or_default());
    // Of other crates, only what these tests use of them has been run.
    for (name, count) in measured.iter().filter(|(name, _)| packages.contains(name)) {
        rows.insert((*name).to_owned(), row(name, count, date.trim()));
    }
    let text = HEAD.to_owned() + &rows.into_values().collect::<String>();
    print!("{text}");
    workspace::write(&page, &text)
}

/// Compiles for cargo, if it is cargo that has started this program, to do so.
pub(crate) fn compile() -> Option<ExitCode> {
    std::env::var_os(INSTRUMENT)?;
    let mut args = std::env::args_os().skip(1);
    let rustc = args.next()?;
    let args: Vec<_> = args.collect();
    let has = |what: &str| args.iter().any(|arg| arg == what);
    // What runs inside of compilers would leave counts of its own.
    let runs_elsewhere = has("build_script_build") || (has("proc-macro") && !has("--test"));
    let mut command = Command::new(rustc);
    command.args(&args).args((!runs_elsewhere).then_some("-Cinstrument-coverage"));
    Some(if command.status().is_ok_and(|status| status.success()) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The toolchain's component `llvm-tools`: a distribution's LLVM does not read what another version wrote.
struct Tools {
    profdata: PathBuf,
    cov: PathBuf,
}

impl Tools {
    fn find() -> Result<Self> {
        let root = shell::output(shell::command("rustc").args(["--print", "sysroot"]))?;
        let version = shell::output(shell::command("rustc").arg("-vV"))?;
        let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
        let folder = Path::new(root.trim()).join("lib/rustlib").join(host).join("bin");
        let tools = Self { profdata: folder.join("llvm-profdata"), cov: folder.join("llvm-cov") };
        if tools.profdata.is_file() && tools.cov.is_file() {
            Ok(tools)
        } else {
            Err(Failure::new("coverage needs a component of the toolchain:\n  rustup component add llvm-tools"))
        }
    }

    /// Counts of each file, in the format of lcov.
    fn export(&self, profile: &Path, programs: &[&str]) -> Result<String> {
        let mut command = shell::command(&self.cov);
        command.args(["export", "--format=lcov", "--summary-only"]);
        command.arg(format!("--instr-profile={}", profile.display()));
        command.arg("--ignore-filename-regex=(/registry/|/rustc/|/tests/|tests[.]rs|testing)");
        command.args(programs.iter().flat_map(|program| ["--object", program]));
        shell::output(&mut command)
    }
}

/// The test programs that cargo names in its messages.
fn executables(messages: &str) -> Vec<&str> {
    let programs = messages.lines().filter_map(|line| line.split_once("\"executable\":\"")?.1.split('"').next());
    programs.collect()
}

/// Counts by crate, from lcov's lines: `SF` begins a file, `FNF` and `LF` are what it has, `FNH` and `LH` what ran.
fn crates(lcov: &str) -> BTreeMap<&'static str, Count> {
    let mut counts = BTreeMap::<_, Count>::new();
    let root = format!("{}/", workspace::root().display());
    let mut owner = None;
    for (key, value) in lcov.lines().filter_map(|line| line.split_once(':')) {
        if key == "SF" {
            let name = value.strip_prefix(&root).unwrap_or(value);
            owner = CRATES.iter().find(|(folder, _)| name.starts_with(folder)).map(|(_, owner)| *owner);
        }
        let (Some(owner), Ok(number)) = (owner, value.parse::<u64>()) else { continue };
        let count = counts.entry(owner).or_default();
        match key {
            "FNH" => count.functions.0 += number,
            "FNF" => count.functions.1 += number,
            "LH" => count.lines.0 += number,
            "LF" => count.lines.1 += number,
            _ => {}
        }
    }
    counts
}

/// The lines of a page's table, by their crates.
fn rows(page: &str) -> BTreeMap<String, String> {
    let rows = page.lines().filter_map(|line| Some((line.strip_prefix("| ")?.split(' ').next()?, line)));
    rows.filter(|(name, _)| *name != "crate").map(|(name, line)| (name.to_owned(), format!("{line}\n"))).collect()
}

fn row(name: &str, Count { functions, lines }: &Count, date: &str) -> String {
    let share = 100.0 * lines.0 as f64 / lines.1.max(1) as f64;
    format!("| {name} | {} | {} | {} | {} | {share:.1} | {date} |\n", functions.0, functions.1, lines.0, lines.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_count_for_their_crates() {
        let root = workspace::root().display();
        let lcov = format!(
            "SF:{root}/ffi/src/frame.rs\nFNF:4\nFNH:3\nLF:20\nLH:15\nend_of_record\n\
             SF:{root}/ffi/src/entry.rs\nFNF:6\nFNH:6\nLF:30\nLH:25\nend_of_record\n\
             SF:/elsewhere/lib.rs\nFNF:7\nFNH:7\nLF:7\nLH:7\nend_of_record\n\
             SF:{root}/macros/src/lib.rs\nFNF:1\nFNH:1\nLF:10\nLH:10\nend_of_record\n"
        );
        let counts = crates(&lcov);
        assert_eq!(counts.keys().copied().collect::<Vec<_>>(), ["oxcall", "oxcall-macros"]);
        assert_eq!((counts["oxcall"].functions, counts["oxcall"].lines), ((9, 10), (40, 50)));
        let line = row("oxcall", &counts["oxcall"], "2026-11-22");
        assert_eq!(line, "| oxcall | 9 | 10 | 40 | 50 | 80.0 | 2026-11-22 |\n");
        assert_eq!(rows(&format!("{HEAD}{line}")), BTreeMap::from([("oxcall".to_owned(), line)]));
    }

    #[test]
    fn programs_are_those_of_the_messages() {
        let messages = "{\"reason\":\"compiler-artifact\",\"executable\":null}\n\
             {\"reason\":\"compiler-artifact\",\"executable\":\"/target/debug/deps/a-1\",\"fresh\":true}\n";
        assert_eq!(executables(messages), ["/target/debug/deps/a-1"]);
    }
}
