//! `cargo xtask test`: every test, after building what they load.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::python::{self, Venv, pins};
use crate::shell::{self, Context, Failure, Result};
use crate::{cpp, lanes, lint, workspace};

pub(crate) const PARTS: &[lint::Part] = &[
    ("lint", || lint::run(&[])),
    ("rust", rust),
    ("python", pytest),
    ("torch", torch),
    ("thorough", thorough),
    ("avx2", avx2),
];

pub(crate) fn run(args: &[String]) -> Result<()> {
    const DEFAULT: [&str; 3] = ["rust", "python", "torch"];
    let args = if args.is_empty() { DEFAULT.map(str::to_owned).to_vec() } else { args.to_vec() };
    lint::select(&args, PARTS)
}

/// What tests load, built before any of them runs.
struct Libraries {
    /// `custom_ops`, and the cdylibs under `tests/libs`.
    folder: PathBuf,
    /// `libpeers-<jaxlib>.so`: handlers written with jaxlib's own C++ headers.
    peers: PathBuf,
    /// The bundled PJRT plugin.
    plugin: PathBuf,
}

impl Libraries {
    fn build(venv: &Venv) -> Result<Self> {
        Ok(Self { folder: libraries()?, peers: cpp::peers(venv, &pins::PEERS)?, plugin: workspace::plugin_library() })
    }

    /// Tells the tests where the libraries are.
    fn tell(&self, command: &mut Command) {
        command.env("OXCALL_TEST_LIBS", &self.folder).env("OXCALL_TEST_PEERS", &self.peers);
        command.env("OXCALL_TEST_PLUGIN", &self.plugin).env("OXCALL_PLUGIN_LIBRARY", &self.plugin);
    }

    /// The Python tests of a folder.
    fn tests(&self, venv: &Venv, folder: &str) -> Command {
        let mut command = venv.python();
        command.args(["-m", "pytest", folder]);
        self.tell(&mut command);
        command
    }
}

/// The C++ peers of every jaxlib in [`pins::ALL_PEERS`], through call frames and through the engine.
pub(crate) fn all_peers() -> Result<()> {
    let peers = cpp::peers(&python::default_venv()?, &pins::ALL_PEERS)?;
    let mut command = shell::cargo();
    command.args(["test", "--package", "oxcall-tests", "--test", "peers"]).env("OXCALL_TEST_PEERS", peers);
    shell::run(&mut command)
}

/// The names of VHLO that every supported jaxlib knows, against those that the plugin reads.
pub(crate) fn stablehlo() -> Result<()> {
    let mut folders = Vec::new();
    for jax in pins::JAX {
        match python::find(jax.python) {
            Ok(interpreter) => folders.push(python::jaxlib(&python::jax_venv(jax, &interpreter)?)?),
            Err(reason) => println!("jaxlib {}: skipped: {reason}", jax.version),
        }
    }
    let mut command = shell::cargo();
    command.args(["test", "--package", "oxcall-hlo", "--test", "jaxlib", "--", "--nocapture"]);
    command.env("OXCALL_TEST_JAXLIB", std::env::join_paths(folders).context("OXCALL_TEST_JAXLIB")?);
    shell::run(&mut command)
}

/// The library that is built alone: with others, cargo gives it the features of `oxcall` that it does without.
const ALONE: &str = "plain_ops";

/// Builds the gallery, the libraries of tests and the bundled plugin, and gives their folder. One command builds them,
/// because each of the large crates keeps only one core busy.
fn libraries() -> Result<PathBuf> {
    let tests = test_libraries()?;
    let others = tests.iter().map(String::as_str).filter(|package| *package != ALONE);
    let packages: Vec<&str> = ["custom_ops", workspace::PLUGIN].into_iter().chain(others).collect();
    shell::run(&mut workspace::release_build(&packages))?;
    let alone = workspace::build_library(ALONE)?;
    Ok(alone.parent().unwrap_or(Path::new(".")).to_path_buf())
}

/// The bundled plugin, as it is built with the libraries of tests: alone, cargo compiles its dependencies anew, without
/// the object code that libraries of other kinds need.
pub(crate) fn plugin() -> Result<PathBuf> {
    libraries()?;
    Ok(workspace::plugin_library())
}

/// Names of the packages under `tests/libs`, each a cdylib.
fn test_libraries() -> Result<Vec<String>> {
    let folder = workspace::root().join("tests/libs");
    let Ok(entries) = std::fs::read_dir(&folder) else { return Ok(Vec::new()) };
    let mut names = Vec::new();
    for manifest in entries.flatten().map(|entry| entry.path().join("Cargo.toml")).filter(|path| path.is_file()) {
        let text = workspace::read(&manifest)?;
        let name = text.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
        let name = name.ok_or_else(|| Failure::new(format!("{}: no `name = \"...\"` line", manifest.display())))?;
        names.push(name.to_owned());
    }
    names.sort();
    Ok(names)
}

/// Unit, integration and documentation tests of every crate, and of the task runner itself.
fn rust() -> Result<()> {
    let venv = python::default_venv()?;
    let libraries = Libraries::build(&venv)?;
    let mut command = shell::cargo();
    // One broken target should not hide the others.
    command
        .args(["test", "--workspace", "--exclude", CUDA_TESTS, "--no-fail-fast"])
        .env("OXCALL_TEST_JAXLIB", python::jaxlib(&venv)?);
    libraries.tell(&mut command);
    shell::run(&mut command)?;
    cuda(None)
}

/// The package of the tests of kernels.
const CUDA_TESTS: &str = "oxcall-cuda-tests";

/// Kernels, on a driver made for tests; compiled by a library of NVRTC too, if there is one.
pub(crate) fn cuda(nvrtc: Option<&Path>) -> Result<()> {
    let compiler = match cpp::Compiler::on_this_machine() {
        Some(compiler) => compiler,
        None => cpp::Compiler::find(&python::default_venv()?),
    };
    let mut command = shell::cargo();
    command.args(["test", "--package", CUDA_TESTS]);
    command.envs(nvrtc.map(|library| ("OXCALL_TEST_NVRTC", library)));
    shell::run(command.env("OXCALL_TEST_CXX", compiler.words().join(" ")))
}

/// The gallery with kernels, beside the one without.
fn with_kernels() -> Result<PathBuf> {
    shell::run(shell::cargo().args(["build", "--package", "custom_ops", "--features", "cuda"]))?;
    Ok(workspace::dev_library("custom_ops"))
}

/// The Python tests, through real JAX.
fn pytest() -> Result<()> {
    let venv = python::default_venv()?;
    python::install_packages(&venv)?;
    let libraries = Libraries::build(&venv)?;
    let with_kernels = with_kernels()?;
    // Each in a process of its own: JAX's platforms and options are those of a process.
    let tests = |folder, mode: Option<&str>| {
        let mut command = libraries.tests(&venv, folder);
        command.envs(mode.map(|mode| ("OXCALL_TEST_MODE", mode))).env("OXCALL_TEST_CUDA", &with_kernels);
        command
    };
    let behaviour = ["cpu", "oxcall"].map(|mode| tests("tests/jax_behaviour", Some(mode)));
    let mut others = vec![tests("tests/python", None)];
    others.extend(behaviour);
    others.push(independent_client(&libraries.plugin)?);
    lanes::run(vec![tests("tests/plugin", None)], others)
}

/// The tests of the plugin with more of their many cases than each run has.
fn thorough() -> Result<()> {
    let venv = python::default_venv()?;
    python::install_packages(&venv)?;
    let mut command = Libraries::build(&venv)?.tests(&venv, "tests/plugin");
    shell::run(command.env("OXCALL_TEST_EXTENT", "thorough"))
}

/// The tests of the plugin, built without code for AVX-512.
fn avx2() -> Result<()> {
    let venv = python::default_venv()?;
    python::install_packages(&venv)?;
    let libraries = Libraries { plugin: workspace::build_plugin_for_avx2()?, ..Libraries::build(&venv)? };
    shell::run(&mut libraries.tests(&venv, "tests/plugin"))
}

/// The ops as PyTorch operators, where there is no JAX.
fn torch() -> Result<()> {
    let venv = python::newest_torch(&[])?;
    let mut command = venv.python();
    command.args(["-m", "pytest", "tests/torch"]).env("PYTHONPATH", python::source("oxcall"));
    command.env("OXCALL_TEST_LIBS", libraries()?).env("OXCALL_TEST_CUDA", with_kernels()?);
    shell::run(&mut command)
}

/// The plugin as a device of torch_xla, which sends it programs as HLO protos, and as StableHLO.
pub(crate) fn torch_xla() -> Result<()> {
    let venv = python::torch_xla()?;
    let libraries = workspace::build_library("custom_ops")?;
    let plugin = workspace::build_plugin()?;
    for stablehlo in [false, true] {
        let mut command = venv.python();
        command.args(["-m", "pytest", "tests/torch_xla"]).env("OXCALL_PLUGIN_LIBRARY", &plugin);
        command.env("OXCALL_TEST_LIBS", libraries.parent().unwrap_or(Path::new(".")));
        if stablehlo {
            command.env("XLA_STABLEHLO_COMPILE", "1");
        }
        shell::run(&mut command)?;
    }
    Ok(())
}

/// The plugin through a PJRT client that shares no code with XLA or with us.
fn independent_client(plugin: &Path) -> Result<Command> {
    let mut command = python::tool_venv("pypjrt", pins::PYPJRT)?.python();
    command.arg("plugin/pjrt/tests/pypjrt_check.py").arg(plugin);
    Ok(command)
}
