//! `cargo xtask matrix`: one binary on every supported jaxlib, and every struct against each one's header.

mod abi;
mod history;
mod layout;
mod probe;

use std::path::Path;
use std::process::Stdio;

use crate::python::{self, Interpreter, pins};
use crate::shell::{Context, Failure, Result};
use crate::{progress, test, workspace};

/// The bindings of the newest header.
const NEWEST: &str = "ffi-sys/src/xla_ffi.rs";

/// Calls ops of the gallery; prints `check<TAB>result` lines.
const SCRIPT: &str = "tests/matrix/check.py";

/// What one jaxlib did.
struct Row {
    version: &'static str,
    /// `None`: no interpreter on this machine fits.
    interpreter: Option<Interpreter>,
    /// Name and result of each check, in the script's order.
    checks: Vec<(String, String)>,
    /// What went wrong beside failed checks: how the process ended.
    failure: Option<String>,
}

pub(crate) fn run(args: &[String]) -> Result<()> {
    match args {
        [] => {}
        [part] if part == "abi" => return abi::run(),
        [part] if part == "peers" => return test::all_peers(),
        _ => return Err(Failure::new("usage: cargo xtask matrix [abi|peers]")),
    }
    abi::run()?;
    test::all_peers()?;
    let library = workspace::build_library("custom_ops")?;
    let mut rows = Vec::new();
    for jax in pins::JAX {
        rows.push(row(jax, &library)?);
    }
    let table = markdown(&rows);
    println!("\n{table}");
    let failed: Vec<String> = rows.iter().filter_map(Row::complaint).collect();
    if !failed.is_empty() {
        return Err(Failure::new(failed.join("\n")));
    }
    workspace::write(&workspace::root().join("docs/matrix.md"), &page(&table))?;
    println!("written: docs/matrix.md, docs/abi.md");
    Ok(())
}

fn row(jax: &'static pins::Jax, library: &Path) -> Result<Row> {
    let mut row = Row { version: jax.version, interpreter: None, checks: Vec::new(), failure: None };
    let interpreter = match python::find(jax.python) {
        Ok(interpreter) => interpreter,
        // A row is left out only for this: once there is an interpreter, any failure is one.
        Err(reason) => {
            println!("jaxlib {}: skipped: {reason}", jax.version);
            return Ok(row);
        }
    };
    row.interpreter = Some(interpreter.clone());
    let venv = python::venv(&format!("jax-{}", jax.version), &interpreter, &pins::jax_requirements(jax.version))?;
    let output = progress::step(&format!("ops on jax {}", jax.version), || {
        let mut command = venv.python();
        command.arg(SCRIPT).arg(library).env("PYTHONPATH", python::package_source()).stdin(Stdio::null());
        command.output().context(SCRIPT)
    })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    row.checks = lines.map(|(check, result)| (check.to_owned(), result.to_owned())).collect();
    if !output.status.success() || row.checks.is_empty() {
        let errors = String::from_utf8_lossy(&output.stderr);
        row.failure = Some(format!("{}\n{}", output.status, errors.trim_end()));
    }
    Ok(row)
}

impl Row {
    /// What to say when the row is not as it should be.
    fn complaint(&self) -> Option<String> {
        let bad: Vec<String> = self
            .checks
            .iter()
            .filter(|(_, result)| result != "ok")
            .map(|(check, result)| format!("  {check}: {result}"))
            .collect();
        if bad.is_empty() && self.failure.is_none() {
            return None;
        }
        let end = self.failure.as_ref().map(|end| format!("\n  {end}")).unwrap_or_default();
        Some(format!("jaxlib {}:\n{}{end}", self.version, bad.join("\n")))
    }
}

fn markdown(rows: &[Row]) -> String {
    // A process that died early leaves checks out, so the longest list names the columns.
    let longest = rows.iter().max_by_key(|row| row.checks.len());
    let columns: Vec<&str> =
        longest.map(|row| row.checks.iter().map(|(check, _)| check.as_str()).collect()).unwrap_or_default();
    let mut text = format!("| jaxlib | Python | {} |\n", columns.join(" | "));
    text += &format!("|---|---|{}\n", "---|".repeat(columns.len()));
    for row in rows {
        let cells = columns.iter().map(|column| match row.checks.iter().find(|(check, _)| check == column) {
            Some((_, result)) if result == "ok" => "ok",
            Some(_) => "**fails**",
            None if row.interpreter.is_none() => "not run",
            None => "**died**",
        });
        let python = row.interpreter.as_ref().map_or("none here".into(), |found| found.to_string());
        text += &format!("| {} | {python} | {} |\n", row.version, cells.collect::<Vec<_>>().join(" | "));
    }
    text
}

fn page(table: &str) -> String {
    format!(
        "# One binary on every supported jaxlib\n\n\
         Written by `cargo xtask matrix`. The same `libcustom_ops.so`, built once, is loaded by each of these, with the\n\
         jax of the same version. The columns are the checks of [{SCRIPT}](../{SCRIPT}). How the C header differs\n\
         between them is in [abi.md](abi.md).\n\n{table}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(version: &'static str, checks: &[(&str, &str)], failure: Option<&str>) -> Row {
        Row {
            version,
            interpreter: Some(Interpreter { path: "python3".into(), version: (11, 7) }),
            checks: checks.iter().map(|(check, result)| ((*check).to_owned(), (*result).to_owned())).collect(),
            failure: failure.map(str::to_owned),
        }
    }

    #[test]
    fn a_process_that_dies_is_seen() {
        let rows =
            [row("1", &[("load", "ok"), ("async", "ok")], None), row("2", &[("load", "ok")], Some("signal: 11"))];
        assert!(rows[0].complaint().is_none());
        assert!(rows[1].complaint().unwrap().contains("signal: 11"));
        assert!(markdown(&rows).contains("| 2 | Python 3.11.7 | ok | **died** |"), "{}", markdown(&rows));
    }

    #[test]
    fn a_failed_check_is_named() {
        let failed = row("1", &[("load", "wrong")], None);
        assert!(failed.complaint().unwrap().contains("load: wrong"));
        assert!(markdown(&[failed]).contains("**fails**"));
    }
}
