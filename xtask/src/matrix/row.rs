//! Runs a script of checks on one release of what loads our libraries.

use std::path::PathBuf;
use std::process::Stdio;

use crate::progress;
use crate::python::{self, Interpreter, Venv, pins};
use crate::shell::{Context, Result};

/// A release of a package that loads our libraries.
pub(super) trait Host {
    /// The package, as tables have it.
    fn name(&self) -> &'static str;
    fn version(&self) -> &'static str;
    /// The Pythons that it is tried on.
    fn pythons(&self) -> pins::Minors;
    /// An environment with it.
    fn environment(&self, interpreter: &Interpreter) -> Result<Venv>;
}

impl Host for pins::Jax {
    fn name(&self) -> &'static str {
        "jaxlib"
    }

    fn version(&self) -> &'static str {
        self.version
    }

    fn pythons(&self) -> pins::Minors {
        self.python
    }

    fn environment(&self, interpreter: &Interpreter) -> Result<Venv> {
        python::jax_venv(self, interpreter)
    }
}

impl Host for pins::Torch {
    fn name(&self) -> &'static str {
        "torch"
    }

    fn version(&self) -> &'static str {
        self.version
    }

    fn pythons(&self) -> pins::Minors {
        self.python
    }

    fn environment(&self, interpreter: &Interpreter) -> Result<Venv> {
        python::with_torch(&format!("torch-{}", self.version), self, interpreter, &[])
    }
}

/// Checks that run on every release of a host.
pub(super) struct Suite {
    /// What is checked, in a word.
    pub(super) what: &'static str,
    /// Prints `check<TAB>result` lines. Its argument is `library`.
    pub(super) script: &'static str,
    /// The ops that checks call.
    pub(super) library: PathBuf,
    /// Folders of Python packages that it imports.
    pub(super) packages: Vec<PathBuf>,
    /// The plugin's library.
    pub(super) plugin: Option<PathBuf>,
}

/// What one release did.
pub(super) struct Row {
    pub(super) host: &'static str,
    pub(super) version: &'static str,
    /// `None`: no interpreter on this machine fits.
    pub(super) interpreter: Option<Interpreter>,
    /// Name and result of each check, in the script's order.
    pub(super) checks: Vec<(String, String)>,
    /// What went wrong beside failed checks: how the process ended.
    pub(super) failure: Option<String>,
}

impl Suite {
    /// Runs the checks on one release, in an environment that holds little else.
    pub(super) fn run(&self, host: &dyn Host) -> Result<Row> {
        let name = format!("{} {}", host.name(), host.version());
        let mut row =
            Row { host: host.name(), version: host.version(), interpreter: None, checks: Vec::new(), failure: None };
        let interpreter = match python::find(host.pythons()) {
            Ok(interpreter) => interpreter,
            // A row is left out only for this: once there is an interpreter, any failure is one.
            Err(reason) => {
                println!("{name}: skipped: {reason}");
                return Ok(row);
            }
        };
        row.interpreter = Some(interpreter.clone());
        let venv = host.environment(&interpreter)?;
        let output = progress::step(&format!("{} on {name}", self.what), || {
            let path = std::env::join_paths(&self.packages).context("PYTHONPATH")?;
            let mut command = venv.python();
            command.arg(self.script).arg(&self.library).env("PYTHONPATH", path).stdin(Stdio::null());
            if let Some(plugin) = &self.plugin {
                command.env("OXCALL_PLUGIN_LIBRARY", plugin);
            }
            command.output().context(self.script)
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
}

impl Row {
    /// What to say when the row is not as it should be.
    pub(super) fn complaint(&self) -> Option<String> {
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
        Some(format!("{} {}:\n{}{end}", self.host, self.version, bad.join("\n")))
    }
}
