//! `cargo xtask lint`: everything that reads the sources and runs none of them.

use crate::shell::{self, Failure, Result};
use crate::tools::{self, Tool};
use crate::{python, release, tidy};

/// Checks the dependencies against deny.toml.
const CARGO_DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2", features: &[], profile: "dev" };

/// A part of the command, under the name that selects it.
pub(crate) type Part = (&'static str, fn() -> Result<()>);

pub(crate) const PARTS: &[Part] = &[
    ("fmt", fmt),
    ("tidy", tidy),
    ("ruff", ruff),
    ("clippy", clippy),
    // After clippy, which compiles what the crates depend on in the same way.
    ("package", package),
    ("features", features),
    ("rustdoc", rustdoc),
    ("deny", deny),
];

pub(crate) fn run(args: &[String]) -> Result<()> {
    select(args, PARTS)
}

/// Runs the named parts of a command in the table's order, or all of them.
pub(crate) fn select(args: &[String], parts: &[Part]) -> Result<()> {
    if let Some(unknown) = args.iter().find(|arg| parts.iter().all(|(name, _)| name != arg)) {
        let names: Vec<&str> = parts.iter().map(|(name, _)| *name).collect();
        return Err(Failure::new(format!("`{unknown}` is not a part; the parts are {}", names.join(", "))));
    }
    for (name, part) in parts {
        if args.is_empty() || args.iter().any(|arg| arg == name) {
            part()?;
        }
    }
    Ok(())
}

fn fmt() -> Result<()> {
    shell::run(shell::cargo().args(["fmt", "--all", "--check"]))
}

fn tidy() -> Result<()> {
    tidy::run(&[])
}

fn package() -> Result<()> {
    release::check()
}

fn clippy() -> Result<()> {
    shell::run(shell::cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

/// The SDK and a library of ops, with each feature of `oxcall` alone, none, and all: without warnings. An option whose
/// feature is off is an error that names the feature.
fn features() -> Result<()> {
    const FEATURES: [&str; 5] = ["torch", "habana", "legacy", "testing", "cuda"];
    let sets = [&[][..], &FEATURES].into_iter().chain(FEATURES.chunks(1));
    let command = |subcommand, features: &[String]| {
        let mut command = shell::cargo();
        command.args([subcommand, "--package", "oxcall", "--package", "plain_ops", "--lib", "--no-default-features"]);
        command.args(["--features", &features.join(",")]);
        command
    };
    for set in sets {
        let features = set.iter().flat_map(|name| ["oxcall", "plain_ops"].map(|package| format!("{package}/{name}")));
        shell::run(command("clippy", &features.collect::<Vec<_>>()).args(["--", "-D", "warnings"]))?;
    }
    let mut refused = command("check", &["plain_ops/refused".to_owned()]);
    let errors = match shell::output(&mut refused) {
        Ok(_) => return Err(Failure::new(format!("`{}` succeeded", shell::line(&refused)))),
        Err(failure) => failure.to_string(),
    };
    let unnamed: Vec<&str> = FEATURES.into_iter().filter(|name| !errors.contains(&gate(name))).collect();
    if unnamed.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("no error names the features that are off: {}\n{errors}", unnamed.join(", "))))
}

/// The part of an error that names a feature: of `oxcall` for options, of the compiler for modules.
fn gate(feature: &str) -> String {
    match feature {
        "torch" | "legacy" => format!("needs the feature `{feature}` of `oxcall`, which is off"),
        _ => format!("the item is gated behind the `{feature}` feature"),
    }
}

fn rustdoc() -> Result<()> {
    let mut command = shell::cargo();
    command.args(["doc", "--workspace", "--no-deps", "--document-private-items", "--features", "oxcall/testing"]);
    shell::run(command.env("RUSTDOCFLAGS", "-D warnings"))
}

fn ruff() -> Result<()> {
    let ruff = python::default_venv()?.program("ruff");
    shell::run(shell::command(&ruff).args(["format", "--check"]))?;
    shell::run(shell::command(&ruff).arg("check"))
}

/// Licences, sources and duplicates of the dependencies, and their security advisories.
///
/// The advisory database is a git repository; where it cannot be reached, the rest is still checked.
fn deny() -> Result<()> {
    let program = tools::installed(&CARGO_DENY)?;
    let check = |what: &[&str]| shell::run(shell::command(&program).arg("check").args(what));
    check(&["licenses", "bans", "sources"])?;
    if shell::succeeds(&program, &["fetch", "db"]) {
        return check(&["--disable-fetch", "advisories"]);
    }
    println!("advisories: not checked, because their database could not be fetched");
    Ok(())
}
