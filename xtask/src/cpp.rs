//! C++ with whatever compiler the machine has, or with the one in a wheel.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::python::{self, Venv, pins};
use crate::shell::{self, Context, Result};
use crate::{progress, workspace};

/// A C++ compiler: the program and the arguments that come before any other.
pub(crate) struct Compiler {
    words: Vec<String>,
}

impl Compiler {
    /// `CXX`, else g++ or clang++ from PATH.
    pub(crate) fn on_this_machine() -> Option<Self> {
        if let Some(words) = std::env::var("CXX").ok().filter(|cxx| !cxx.trim().is_empty()) {
            return Some(Self { words: words.split_whitespace().map(ToOwned::to_owned).collect() });
        }
        let name = ["g++", "clang++"].into_iter().find(|name| shell::succeeds(name, &["--version"]))?;
        Some(Self { words: vec![name.to_owned()] })
    }

    /// The machine's compiler, else zig's clang, which [`python::default_venv`] then holds as a wheel.
    pub(crate) fn find(venv: &Venv) -> Self {
        Self::on_this_machine().unwrap_or_else(|| {
            let python = venv.program("python").to_string_lossy().into_owned();
            Self { words: [&python, "-m", "ziglang", "c++"].map(str::to_owned).to_vec() }
        })
    }

    /// Compiles one source file into a program (`shared` false) or a shared library.
    pub(crate) fn compile(&self, source: &Path, include: &Path, output: &Path, shared: bool) -> Result<()> {
        self.compile_with(source, include, output, shared, &[])
    }

    /// As [`compile`](Compiler::compile), with more arguments.
    fn compile_with(&self, source: &Path, include: &Path, output: &Path, shared: bool, more: &[String]) -> Result<()> {
        if let Some(folder) = output.parent() {
            std::fs::create_dir_all(folder).context(folder.display())?;
        }
        let mut command = self.command();
        // The headers are not ours, so their warnings are not either.
        command.args(["-std=c++20", "-O2", "-DNDEBUG", "-w"]).arg("-isystem").arg(include);
        if shared {
            command.args(["-shared", "-fPIC"]);
        }
        shell::output(command.arg(source).arg("-o").arg(output).args(more)).map(drop)
    }

    /// The first line of what the compiler says of its version.
    pub(crate) fn version(&self) -> String {
        let text = shell::output(self.command().arg("--version")).unwrap_or_default();
        text.lines().next().unwrap_or("an unnamed C++ compiler").to_owned()
    }

    /// The program, and the arguments that come before any other.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    fn command(&self) -> Command {
        let mut command = shell::command(&self.words[0]);
        command.args(&self.words[1..]);
        command
    }
}

/// Compiles `tests/cpp/peers.cc` against the headers of each of these jaxlibs, unless that was done already, and gives
/// the folder of the resulting `libpeers-<jaxlib>.so`, where none is of another source.
pub(crate) fn peers(venv: &Venv, versions: &[&str]) -> Result<PathBuf> {
    let source = workspace::root().join("tests/cpp/peers.cc");
    let folder = workspace::scratch("peers")?;
    let stamp = folder.join("source");
    let text = workspace::read(&source)?;
    let fresh = std::fs::read_to_string(&stamp).is_ok_and(|compiled| compiled == text);
    if !fresh {
        for version in pins::ALL_PEERS {
            // There may be none.
            let _ = std::fs::remove_file(peer(&folder, version));
        }
    }
    let compiler = Compiler::find(venv);
    for version in versions {
        let output = peer(&folder, version);
        if !output.is_file() {
            let include = python::headers(venv, version)?;
            progress::step(&format!("compiling the C++ peers for jaxlib {version}"), || {
                compiler.compile(&source, &include, &output, true)
            })?;
        }
    }
    workspace::write(&stamp, &text)?;
    Ok(folder)
}

/// The library of peers for one jaxlib.
pub(crate) fn peer(folder: &Path, version: &str) -> PathBuf {
    folder.join(format!("libpeers-{version}.so"))
}

/// Compiles `tests/cpp/<name>.cc` against the torch of an environment.
pub(crate) fn torch_peer(compiler: &Compiler, venv: &Venv, name: &str) -> Result<PathBuf> {
    let torch = PathBuf::from(venv.eval("import torch, os; print(os.path.dirname(torch.__file__))")?);
    let source = workspace::root().join("tests/cpp").join(format!("{name}.cc"));
    let output = workspace::scratch("peers")?.join(format!("lib{name}.so"));
    // torch's libraries are not visible to others in the process: the peer must say that it needs them.
    let libraries = format!("-L{}", torch.join("lib").display());
    let more = ["-O3".to_owned(), libraries, "-ltorch_cpu".to_owned(), "-lc10".to_owned()];
    progress::step(&format!("compiling {name}.cc"), || {
        compiler.compile_with(&source, &torch.join("include"), &output, true, &more)
    })?;
    Ok(output)
}
