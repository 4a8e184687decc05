//! `cargo xtask bench ffi`: what a call costs, ours beside C++, and what building an op library costs.
//! `cargo xtask bench plugin`: programs on the plugin beside stock JAX; `cargo xtask bench linalg`: linear algebra;
//! `cargo xtask bench devices`: programs over several devices beside the same work on one.
//! `cargo xtask bench jax`: what a call of an op costs from Python, ours beside `jax.ffi.ffi_call`.
//! `cargo xtask bench lines`: the lines that a user writes for one op, here and in C++ or Triton.
//! `cargo xtask bench pointwise`: pointwise functions beside the same formulas in JAX and torch; `rows` renews those
//! of rows alone.
//! `cargo xtask bench torch`: what a call of an operator costs from Python, ours beside C++.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::cpp::{self, Compiler};
use crate::python::{self, pins};
use crate::shell::{self, Context, Failure, Result};
use crate::{commands, progress, workspace};

/// Leaves AVX-512 out on both sides.
const AVX2: &str = "--avx2";

/// Where the numbers go that the repository keeps.
const FOLDER: &str = "docs/bench";

pub(crate) fn run(args: &[String]) -> Result<()> {
    match args {
        [what] if what == "ffi" => ffi(),
        [what, args @ ..] if what == "plugin" => plugin(args),
        [what] if what == "linalg" => linalg(),
        [what] if what == "devices" => devices(),
        [what] if what == "jax" => jax(),
        [what] if what == "lines" => lines(),
        [what] if what == "pointwise" => pointwise(),
        [what, set] if what == "pointwise" && set == "rows" => rows(&bench_ops()?, None),
        [what] if what == "torch" => torch(),
        _ => Err(commands::usage("bench")),
    }
}

/// Programs on the plugin and on XLA:CPU, in turns; `tests/bench/plugin/options.py` reads the arguments.
fn plugin(args: &[String]) -> Result<()> {
    let for_avx2 = args.iter().any(|arg| arg == AVX2);
    let library = if for_avx2 { workspace::build_plugin_for_avx2()? } else { workspace::build_plugin()? };
    let mut command = python::with_plugin(&venv()?, "bench.plugin", &library)?;
    if for_avx2 {
        shell::add_flags(&mut command, "XLA_FLAGS", "--xla_cpu_max_isa=AVX2");
    }
    command.arg(workspace::build_library("custom_ops")?).arg(bench_ops()?);
    command.arg(workspace::root().join(FOLDER).join("plugin")).arg(workspace::scratch("bench")?.join("plugin"));
    shell::run(command.args(args))
}

/// Linear algebra on the plugin and on XLA:CPU, in turns.
fn linalg() -> Result<()> {
    let mut command = python::on_plugin(&venv()?, "bench.plugin.linear_algebra")?;
    shell::run(command.arg(workspace::root().join(FOLDER).join("linalg")))
}

/// Programs over four devices of the plugin and on one, in turns.
fn devices() -> Result<()> {
    let mut command = python::on_plugin(&venv()?, "bench.plugin.devices")?;
    command.env("OXCALL_NUM_DEVICES", "4");
    shell::run(command.arg(workspace::root().join(FOLDER).join("devices")))
}

/// Calls from JAX, by the package and by JAX's own functions, in turns.
fn jax() -> Result<()> {
    let venv = venv()?;
    let mut command = venv.python();
    command.args(["-m", "bench.jax"]).current_dir(workspace::root().join("tests"));
    command.env("PYTHONPATH", python::source("oxcall"));
    command.arg(workspace::build_library("custom_ops")?).arg(about("cargo xtask bench jax", &Compiler::find(&venv)));
    shell::run(command.arg(workspace::root().join(FOLDER).join("jax")))
}

/// One op in several systems, each of which is built and checked before its lines are counted.
fn lines() -> Result<()> {
    let (venv, torch) = (venv()?, python::newest_torch(pins::MATPLOTLIB)?);
    let mut command = venv.python();
    command.args(["-m", "bench.lines"]).current_dir(workspace::root().join("tests"));
    command.env("PYTHONPATH", python::source("oxcall"));
    command.arg(workspace::build_library("rms_norm")?).arg(torch.program("python"));
    command.arg(workspace::scratch("bench")?.join("triton"));
    command.arg(about("cargo xtask bench lines", &Compiler::find(&venv)));
    shell::run(command.arg(workspace::root().join(FOLDER).join("lines")))
}

/// Operators of torch, written in Rust and in C++, in turns.
fn torch() -> Result<()> {
    // Zig's libc++ is not the library that torch was built with.
    let compiler = Compiler::on_this_machine()
        .ok_or_else(|| Failure::new("this needs g++ or clang++: operators in C++ are compiled with torch's headers"))?;
    let venv = python::newest_torch(pins::MATPLOTLIB)?;
    let ours = bench_ops()?;
    let [unboxed, stable] = ["torch_unboxed", "torch_stable"].map(|peer| cpp::torch_peer(&compiler, &venv, peer));
    let mut command = venv.python();
    command.args(["-m", "bench.torch"]).current_dir(workspace::root().join("tests"));
    command.arg(ours).arg(unboxed?).arg(stable?).arg(about("cargo xtask bench torch", &compiler));
    shell::run(command.arg(workspace::root().join(FOLDER).join("torch")))
}

/// Pointwise functions in torch, then in JAX, on XLA:CPU and on the plugin.
fn pointwise() -> Result<()> {
    let (torch, ours) = (python::newest_torch(pins::MATPLOTLIB)?, bench_ops()?);
    let tests = workspace::root().join("tests");
    let mut command = torch.python();
    let in_torch = command.args(["-m", "bench.pointwise.on_torch"]).current_dir(&tests).arg(&ours);
    let in_torch = progress::step("pointwise functions in torch", || shell::output(in_torch))?;
    rows(&ours, Some(in_torch))
}

/// Functions in JAX, on XLA:CPU and on the plugin: those of rows, and pointwise ones beside what torch measured.
fn rows(ours: &Path, in_torch: Option<String>) -> Result<()> {
    let venv = venv()?;
    let mut command = python::on_plugin(&venv, "bench.pointwise")?;
    command.arg(ours).arg(about("cargo xtask bench pointwise", &Compiler::find(&venv)));
    shell::run(command.arg(workspace::root().join(FOLDER).join("pointwise")).args(in_torch))
}

/// JAX, and what plots.
fn venv() -> Result<python::Venv> {
    python::with_jax("bench", pins::MATPLOTLIB)
}

/// The ops whose calls are timed; the driver that times them without JAX is built too.
fn bench_ops() -> Result<PathBuf> {
    shell::run(shell::cargo().args(["build", "--release", "--package", "oxcall-bench"]))?;
    Ok(workspace::release_library("bench_ops"))
}

fn ffi() -> Result<()> {
    let venv = venv()?;
    let compiler = Compiler::find(&venv);
    let peers = cpp::peers(&venv, &pins::PEERS)?;
    let ours = bench_ops()?;
    let jaxlib = venv.eval("import jaxlib; print(jaxlib.__version__)")?;

    let direct = progress::step("calling handlers directly", || {
        let mut driver = shell::command(workspace::target().join("release/oxcall-bench"));
        // The frames are those of API 0.3.
        shell::output(driver.arg(&ours).arg(cpp::peer(&peers, "0.10.2")))
    })?;
    let jit = progress::step("calling ops in a jitted loop", || {
        let mut script = venv.python();
        script.arg("tests/bench/ffi/jit.py").arg(&ours).arg(cpp::peer(&peers, &jaxlib));
        shell::output(script.env("PYTHONPATH", python::source("oxcall")))
    })?;
    let build = build()?;
    let about = about("cargo xtask bench ffi", &compiler);
    let measured = format!("{{\"about\": {about}, \"direct\": {direct}, \"jit\": {jit}, \"build\": {build}}}");
    let file = workspace::scratch("bench")?.join("ffi.json");
    workspace::write(&file, &measured)?;
    let mut report = venv.python();
    report.arg("tests/bench/ffi/report.py").arg(&file).arg(FOLDER).env("PYTHONPATH", workspace::root().join("tests"));
    shell::run(&mut report)?;
    println!("written: {FOLDER}/ffi.json, ffi.md, ffi.svg");
    Ok(())
}

/// Clean build, rebuild after an edit, and size of a crate with one op, as a user outside the workspace would have it.
/// Crates are fetched before the clock starts.
fn build() -> Result<String> {
    let folder = workspace::scratch("bench")?.join("one_op");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).context(folder.display())?;
    }
    let ffi = workspace::root().join("ffi");
    workspace::write(&folder.join("Cargo.toml"), &MANIFEST.replace("FFI", &ffi.to_string_lossy()))?;
    let lock = workspace::root().join("Cargo.lock");
    std::fs::copy(&lock, folder.join("Cargo.lock")).context(lock.display())?;
    let source = folder.join("src/lib.rs");
    workspace::write(&source, SOURCE)?;
    let cargo =
        |args: &[&str]| shell::output(shell::cargo().args(args).current_dir(&folder).env_remove("CARGO_TARGET_DIR"));
    cargo(&["fetch"])?;
    let timed = |what: &str| {
        let start = Instant::now();
        progress::step(what, || cargo(&["build", "--release"]))?;
        Ok(start.elapsed().as_secs_f64())
    };
    let clean = timed("building a one-op crate")?;
    workspace::write(&source, &SOURCE.replace("1e-5", "1e-6"))?;
    let rebuild = timed("building it again after an edit")?;
    let library: PathBuf = folder.join("target/release").join(format!(
        "{}one_op{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    ));
    let bytes = std::fs::metadata(&library).context(library.display())?.len();
    Ok(format!("{{\"clean_s\": {clean:.2}, \"rebuild_s\": {rebuild:.2}, \"bytes\": {bytes}}}"))
}

const MANIFEST: &str = r#"[package]
name = "one_op"
version = "0.1.0"
edition = "2024"

[lib]
crate-type = ["cdylib"]

[dependencies]
oxcall = { path = "FFI" }

[profile.release]
strip = true

[workspace]
"#;

const SOURCE: &str = r"//! One op.

use oxcall::prelude::*;

/// Root-mean-square norm over the last axis.
#[custom_call]
fn rms_norm(#[dims(..b, n)] x: Array<f32>, #[dims(..b, n)] mut y: Out<f32>) -> Result<()> {
    for (x, y) in x.rows().zip(y.rows_mut()) {
        let mean = x.iter().map(|x| x * x).sum::<f32>() / x.len() as f32;
        let factor = (mean + 1e-5).sqrt().recip();
        x.iter().zip(y).for_each(|(x, y)| *y = x * factor);
    }
    Ok(())
}
";

/// Machine, versions and date, as a JSON object.
fn about(command: &str, compiler: &Compiler) -> String {
    let first_line = |program: &str, args: &[&str]| {
        let text = shell::output(shell::command(program).args(args)).unwrap_or_default();
        text.lines().next().unwrap_or_default().trim().to_owned()
    };
    let cpuinfo = std::fs::read_to_string(Path::new("/proc/cpuinfo")).unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let cores = std::thread::available_parallelism().map_or(0, NonZero::get);
    let cpu = format!("{}, {cores} cores", model.map_or("unknown CPU", |(_, name)| name.trim()));
    let fields = [
        ("command", command.to_owned()),
        ("date", first_line("date", &["-u", "+%Y-%m-%d"])),
        ("cpu", cpu),
        ("os", first_line("uname", &["-sm"])),
        ("rustc", first_line("rustc", &["--version"])),
        ("cxx", compiler.version()),
    ];
    let fields = fields.map(|(name, value)| format!("\"{name}\": \"{}\"", value.replace(['"', '\\'], "'")));
    format!("{{{}}}", fields.join(", "))
}
