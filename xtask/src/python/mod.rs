//! Virtual environments with pinned packages, under `target/xtask/venv`.

mod headers;
mod interpreter;
pub(crate) mod pins;
mod torch;

use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use headers::{TENSORFLOW, TORCH, headers, package_headers};
pub(crate) use interpreter::{Interpreter, chosen, find};
pub(crate) use torch::{newest_torch, torch_xla, with_torch};

use crate::cpp::Compiler;
use crate::shell::{self, Context, Failure, Result};
use crate::{progress, workspace};

/// Name of the file that records what an environment holds.
const STAMP: &str = "oxcall-requirements.txt";

/// Beside what pip itself says when it cannot reach the network.
const OFFLINE: &str = "no package could be fetched. pip needs its package index: check the network and, behind a proxy \
    or mirror, pip's own settings (`pip config list`). What was installed before is kept and needs no network.";

/// A virtual environment.
pub(crate) struct Venv {
    pub(crate) folder: PathBuf,
    pub(crate) interpreter: Interpreter,
}

impl Venv {
    /// Path of a program that a package of the environment installed.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.folder.join("bin").join(name)
    }

    pub(crate) fn python(&self) -> Command {
        let mut command = shell::command(self.program("python"));
        // The environment alone decides what is imported.
        command.env_remove("PYTHONPATH").env_remove("PYTHONHOME").env("PYTHONNOUSERSITE", "1");
        command
    }

    /// Runs a piece of Python and gives what it prints, trimmed.
    pub(crate) fn eval(&self, code: &str) -> Result<String> {
        Ok(shell::output(self.python().args(["-c", code]))?.trim().to_owned())
    }
}

/// The environment `name` with exactly these pinned requirements. Made anew when the interpreter changed; a second
/// call with the same requirements does nothing.
pub(crate) fn venv(name: &str, interpreter: &Interpreter, requirements: &[String]) -> Result<Venv> {
    made(name, interpreter, requirements, &summary(requirements), |_| Ok(()))
}

/// As [`venv`]: `what` is what the person at the terminal is told, and `finish` changes what was installed.
fn made(
    name: &str,
    interpreter: &Interpreter,
    requirements: &[String],
    what: &str,
    finish: impl FnOnce(&Venv) -> Result<()>,
) -> Result<Venv> {
    let folder = workspace::scratch("venv")?.join(name);
    let venv = Venv { folder, interpreter: interpreter.clone() };
    let stamp = venv.folder.join(STAMP);
    let head = format!("# {interpreter} at {}\n", interpreter.path.display());
    let wanted = format!("{head}{}\n", requirements.join("\n"));
    let present = std::fs::read_to_string(&stamp).unwrap_or_default();
    if present == wanted {
        return Ok(venv);
    }
    if !present.starts_with(&head) {
        create(&venv)?;
    }
    install(&venv, requirements, what)?;
    finish(&venv)?;
    workspace::write(&stamp, &wanted)?;
    Ok(venv)
}

fn create(venv: &Venv) -> Result<()> {
    if venv.folder.exists() {
        std::fs::remove_dir_all(&venv.folder).context(venv.folder.display())?;
    }
    let what = format!("making a virtual environment of {} ({})", venv.interpreter, name(&venv.folder));
    progress::command(&what, shell::command(&venv.interpreter.path).args(["-m", "venv"]).arg(&venv.folder))
}

/// Everything is pinned, so pip resolves nothing (`--no-deps`) and compiles nothing.
fn install(venv: &Venv, requirements: &[String], what: &str) -> Result<()> {
    let what = format!("installing {what} ({})", name(&venv.folder));
    let mut command = venv.python();
    command.args(["-m", "pip", "install", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check"]);
    progress::command(&what, command.args(requirements)).map_err(explain_offline)
}

fn name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The first three requirements: the ones that a person asked for come first.
fn summary(requirements: &[String]) -> String {
    let head: Vec<String> = requirements.iter().take(3).map(|pin| pin.replace("==", " ")).collect();
    let more = if requirements.len() > head.len() { ", ..." } else { "" };
    head.join(", ") + more
}

fn explain_offline(failure: Failure) -> Failure {
    let text = failure.to_string();
    let signs = ["No matching distribution", "Connection", "Temporary failure", "ProxyError", "timed out"];
    if signs.iter().any(|sign| text.contains(sign)) { Failure::new(format!("{text}\n\n{OFFLINE}")) } else { failure }
}

/// The environment that most commands share: jax as [`with_jax`] has it, pytest, ruff, mypy and hatchling.
pub(crate) fn default_venv() -> Result<Venv> {
    let tools: Vec<&str> =
        [pins::PYTEST, pins::JAX_TESTS_NEED, &[pins::RUFF, pins::YAML], pins::MYPY, pins::HATCHLING].concat();
    with_jax("main", &tools)
}

/// An environment that builds the Python packages of a release: hatchling, and Zig to link the plugin.
pub(crate) fn release_venv() -> Result<Venv> {
    let needs = pins::PYTEST.iter().chain(pins::MYPY).filter(|pin| pins::HATCHLING_NEEDS.contains(&pins::name(pin)));
    let requirements = pins::HATCHLING.iter().chain(needs).chain([&pins::ZIG]).map(ToString::to_string);
    venv("release", &chosen(pins::PYTHON)?, &requirements.collect::<Vec<_>>())
}

/// An environment with the newest jax for the interpreter, more packages, and a C++ compiler where the machine has
/// none.
pub(crate) fn with_jax(name: &str, more: &[&str]) -> Result<Venv> {
    let interpreter = chosen(pins::PYTHON)?;
    let jax = pins::newest_jax(interpreter.version.0)
        .ok_or_else(|| Failure::new(format!("no pinned jax supports {interpreter}")))?;
    let mut requirements = pins::jax_requirements(jax.version);
    requirements.extend(more.iter().map(ToString::to_string));
    if Compiler::on_this_machine().is_none() {
        requirements.push(pins::ZIG.to_owned());
    }
    venv(name, &interpreter, &requirements)
}

/// An environment with one jax.
pub(crate) fn jax_venv(jax: &pins::Jax, interpreter: &Interpreter) -> Result<Venv> {
    venv(&format!("jax-{}", jax.version), interpreter, &pins::jax_requirements(jax.version))
}

/// The folder of the jaxlib of an environment. It is not imported.
pub(crate) fn jaxlib(venv: &Venv) -> Result<PathBuf> {
    let code = "import importlib.util; print(importlib.util.find_spec('jaxlib').submodule_search_locations[0])";
    venv.eval(code).map(PathBuf::from)
}

/// A small environment for tools that need no jax.
pub(crate) fn tool_venv(name: &str, requirement: &str) -> Result<Venv> {
    venv(name, &chosen(pins::PYTHON)?, &[requirement.to_owned()])
}

/// Where a package of this workspace lies as source.
pub(crate) fn source(package: &str) -> PathBuf {
    workspace::root().join("python").join(package).join("src")
}

/// Installs this workspace's own packages as editable ones: an edit needs no second installation. The plugin's shared
/// library is not among what that installs; `OXCALL_PLUGIN_LIBRARY` says where it is.
pub(crate) fn install_packages(venv: &Venv) -> Result<()> {
    ["oxcall", "oxcall-plugin"].into_iter().try_for_each(|package| install_package(venv, package))
}

/// A command that runs one of the Python modules under `tests` in an environment with JAX, with the plugin, which is
/// built first.
pub(crate) fn on_plugin(venv: &Venv, module: &str) -> Result<Command> {
    with_plugin(venv, module, &workspace::build_plugin()?)
}

/// Such a command, with this library of the plugin.
pub(crate) fn with_plugin(venv: &Venv, module: &str, library: &Path) -> Result<Command> {
    install_packages(venv)?;
    let mut command = venv.python();
    command.args(["-m", module]).current_dir(workspace::root().join("tests"));
    command.env("OXCALL_PLUGIN_LIBRARY", library);
    Ok(command)
}

/// Installs one of these packages.
pub(crate) fn install_package(venv: &Venv, package: &str) -> Result<()> {
    let project = workspace::root().join("python").join(package).join("pyproject.toml");
    let wanted = workspace::read(&project)?;
    let stamp = venv.folder.join(format!("{package}-pyproject.toml"));
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    let mut command = venv.python();
    command.args(["-m", "pip", "install", "--no-deps", "--disable-pip-version-check", "--editable"]);
    command.arg(format!("python/{package}"));
    progress::command(&format!("installing the {package} package"), &mut command).map_err(explain_offline)?;
    workspace::write(&stamp, &wanted)
}
