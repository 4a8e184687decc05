//! Finds Python interpreters on this machine.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::pins::Minors;
use crate::shell::{self, Failure, Result};

/// A CPython 3 that can make virtual environments.
#[derive(Clone, Debug)]
pub(crate) struct Interpreter {
    pub(crate) path: PathBuf,
    /// `(11, 7)` for 3.11.7.
    pub(crate) version: (u32, u32),
}

impl std::fmt::Display for Interpreter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Python 3.{}.{}", self.version.0, self.version.1)
    }
}

/// Prints the version, and whether venv and ensurepip are there: some distributions split them off.
const PROBE: &str = "
import sys, sysconfig
from importlib.util import find_spec
usable = sys.implementation.name == 'cpython' and sys.version_info[0] == 3 and not sysconfig.get_config_var('Py_GIL_DISABLED')
complete = find_spec('venv') is not None and find_spec('ensurepip') is not None
print(int(usable), int(complete), sys.version_info[1], sys.version_info[2])
";

/// What the probe found at a path.
enum Probe {
    Usable(Interpreter),
    /// A fitting interpreter without venv or ensurepip.
    Incomplete(Interpreter),
}

fn probe(path: &Path) -> Option<Probe> {
    let text = shell::output(shell::command(path).args(["-c", PROBE])).ok()?;
    let numbers: Vec<u32> = text.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let [1, complete, minor, patch] = numbers[..] else { return None };
    let interpreter = Interpreter { path: path.to_path_buf(), version: (minor, patch) };
    Some(if complete == 1 { Probe::Usable(interpreter) } else { Probe::Incomplete(interpreter) })
}

/// The interpreter that a person chose with `OXCALL_PYTHON`, which must fit then, or else the first that fits.
pub(crate) fn chosen(minors: Minors) -> Result<Interpreter> {
    match std::env::var_os("OXCALL_PYTHON") {
        Some(path) => first(minors, [PathBuf::from(path)]),
        None => find(minors),
    }
}

/// The first interpreter of this machine whose minor version lies in the range: `python3`, so that the machine's
/// default wins, then the newest.
pub(crate) fn find(minors: Minors) -> Result<Interpreter> {
    let mut candidates = vec![PathBuf::from("python3")];
    for minor in (minors.0..=minors.1).rev() {
        candidates.push(PathBuf::from(format!("python3.{minor}")));
        candidates.extend(version_managers(minor));
    }
    first(minors, candidates)
}

fn first(minors: Minors, candidates: impl IntoIterator<Item = PathBuf>) -> Result<Interpreter> {
    let wanted = |interpreter: &Interpreter| (minors.0..=minors.1).contains(&interpreter.version.0);
    let mut incomplete = None;
    let mut others = BTreeSet::new();
    for path in candidates {
        match probe(&path) {
            Some(Probe::Usable(interpreter)) if wanted(&interpreter) => return Ok(interpreter),
            Some(Probe::Incomplete(interpreter)) if wanted(&interpreter) => incomplete = Some(interpreter),
            Some(Probe::Usable(other) | Probe::Incomplete(other)) => {
                others.insert(other.to_string());
            }
            None => {}
        }
    }
    Err(Failure::new(explain(minors, incomplete.as_ref(), &others)))
}

fn explain(minors: Minors, incomplete: Option<&Interpreter>, others: &BTreeSet<String>) -> String {
    if let Some(found) = incomplete {
        return format!(
            "{found} ({}) lacks the modules `venv` or `ensurepip`, which make virtual environments.\n\
             On Debian and Ubuntu they come with: apt-get install python3.{}-venv",
            found.path.display(),
            found.version.0
        );
    }
    let range =
        if minors.0 == minors.1 { format!("3.{}", minors.0) } else { format!("3.{} to 3.{}", minors.0, minors.1) };
    let found = if others.is_empty() {
        String::from("no Python 3 was found")
    } else {
        format!("found only {}", others.iter().cloned().collect::<Vec<_>>().join(", "))
    };
    format!("this needs CPython {range} with venv and pip; {found}. Set OXCALL_PYTHON to the path of one.")
}

/// Interpreters that pyenv or uv installed but that are not on PATH (or are there only as a shim that refuses to run).
fn version_managers(minor: u32) -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let pyenv = std::env::var_os("PYENV_ROOT").map_or_else(|| home.join(".pyenv"), PathBuf::from);
    let mut found = Vec::new();
    for (folder, prefix) in [
        (pyenv.join("versions"), format!("3.{minor}.")),
        (home.join(".local/share/uv/python"), format!("cpython-3.{minor}.")),
    ] {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        let names = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
        found.extend(names.map(|entry| entry.path().join("bin/python3")).filter(|path| path.exists()));
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_names_what_is_missing() {
        let none = explain((11, 13), None, &BTreeSet::new());
        assert!(none.contains("3.11 to 3.13") && none.contains("no Python 3 was found"), "{none}");
        let split = Interpreter { path: "python3".into(), version: (12, 1) };
        assert!(explain((11, 13), Some(&split), &BTreeSet::new()).contains("python3.12-venv"));
        let old = BTreeSet::from([String::from("Python 3.9.1")]);
        assert!(explain((12, 12), None, &old).contains("found only Python 3.9.1"));
    }
}
