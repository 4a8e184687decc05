//! `cargo xtask lint`: everything that reads the sources and runs none of them.

use std::path::PathBuf;

use crate::shell::{self, Failure, Result};
use crate::{progress, python, tidy, workspace};

/// Checks the dependencies against deny.toml.
const CARGO_DENY: &str = "0.20.2";

/// A part of the command, under the name that selects it.
pub(crate) type Part = (&'static str, fn() -> Result<()>);

pub(crate) const PARTS: &[Part] = &[
    ("fmt", fmt),
    ("tidy", tidy),
    ("package", package),
    ("ruff", ruff),
    ("clippy", clippy),
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

/// The packages of the crates that may be published: versions of what they depend on, their files, their licences.
///
/// They are not built from these files, which takes as long as the whole workspace.
fn package() -> Result<()> {
    let mut command = shell::cargo();
    command.args(["package", "--quiet", "--no-verify", "--allow-dirty"]);
    let crates = tidy::published_crates()?;
    shell::run(command.args(crates.iter().flat_map(|name| ["--package", name])))
}

fn clippy() -> Result<()> {
    shell::run(shell::cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

fn rustdoc() -> Result<()> {
    let mut command = shell::cargo();
    command.args(["doc", "--workspace", "--no-deps", "--document-private-items"]);
    shell::run(command.env("RUSTDOCFLAGS", "-D warnings"))
}

fn ruff() -> Result<()> {
    let ruff = python::default_venv()?.program("ruff");
    shell::run(shell::command(&ruff).args(["format", "--check"]))?;
    shell::run(shell::command(&ruff).arg("check"))
}

/// Licences, sources and duplicates of the dependencies, and their security advisories.
///
/// cargo-deny itself is compiled once, into the target directory, unless it is on PATH: two to three minutes on two
/// cores. The advisory database is a git repository; where it cannot be reached, the rest is still checked.
fn deny() -> Result<()> {
    let program = cargo_deny()?;
    let check = |what: &[&str]| shell::run(shell::command(&program).arg("check").args(what));
    check(&["licenses", "bans", "sources"])?;
    if shell::succeeds(&program, &["fetch", "db"]) {
        return check(&["--disable-fetch", "advisories"]);
    }
    println!("advisories: not checked, because their database could not be fetched");
    Ok(())
}

fn cargo_deny() -> Result<PathBuf> {
    if shell::succeeds("cargo-deny", &["--version"]) {
        return Ok("cargo-deny".into());
    }
    let root = workspace::scratch("tools")?;
    let program = root.join("bin/cargo-deny");
    if !program.exists() {
        let mut command = shell::cargo();
        command.args(["install", "cargo-deny", "--locked", "--version", CARGO_DENY, "--root"]).arg(&root);
        // Its own folder: `CARGO_TARGET_DIR`, where set, is for this workspace.
        progress::command("compiling cargo-deny", command.arg("--target-dir").arg(root.join("build")))?;
    }
    Ok(program)
}
