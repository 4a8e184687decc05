//! Environments with one torch, of which only the CPU's part works.

use super::{Interpreter, Venv, chosen, find, made, pins};
use crate::cpp::Compiler;
use crate::progress;
use crate::shell::{Failure, Result};
use crate::workspace;

/// The environment of the torch that tests and benches use, with more packages.
pub(crate) fn newest_torch(more: &[&str]) -> Result<Venv> {
    let interpreter = chosen(pins::PYTHON)?;
    let torch = pins::newest_torch(interpreter.version.0)
        .ok_or_else(|| Failure::new(format!("no pinned torch supports {interpreter}")))?;
    with_torch("torch", torch, &interpreter, more)
}

/// The environment of torch_xla, with its own torch.
pub(crate) fn torch_xla() -> Result<Venv> {
    let torch = &pins::TORCH_OF_XLA;
    with_torch("torch_xla", torch, &find(torch.python)?, pins::TORCH_XLA)
}

/// The environment `name` with this torch, pytest, and more packages.
pub(crate) fn with_torch(name: &str, torch: &pins::Torch, interpreter: &Interpreter, more: &[&str]) -> Result<Venv> {
    let mut requirements = vec![format!("torch=={}", torch.version)];
    requirements.extend(pins::TORCH_NEEDS.iter().chain(pins::PYTEST).chain(more).map(ToString::to_string));
    requirements.sort();
    requirements.dedup();
    if Compiler::on_this_machine().is_none() {
        requirements.push(pins::ZIG.to_owned());
    }
    let what = format!(
        "torch {} (a download of {} MB, once; 1.4 GB on disk; half a minute where the network is fast)",
        torch.version, torch.megabytes
    );
    made(name, interpreter, &requirements, &what, stub_libraries)
}

/// Puts stubs in the place of the CUDA libraries, which are three times as big as torch itself.
fn stub_libraries(venv: &Venv) -> Result<()> {
    let folder = venv.eval("import sysconfig; print(sysconfig.get_path('platlib'))")?;
    let mut command = venv.python();
    command.arg(workspace::root().join("xtask/src/python/stub_libraries.py"));
    command.arg(std::path::Path::new(&folder).join("torch")).args(Compiler::find(venv).words());
    progress::command("linking stubs of the CUDA libraries", &mut command)
}
