//! Dumps of programs and plans to files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use oxcall::Error;
use oxcall_hlo::{Module, print_module};

use super::object_file::object_file;
use crate::plan::Plan;

/// A directory for dumps of each compiled program: as it was read, after each pass that changed it, and as a plan. The
/// file names sort in this order: `module_0000.jit_f.00.read.mlir`, ..., `module_0000.jit_f.07.plan.txt`. Machine code
/// is beside the plan, as an object file: `module_0000.jit_f.07.plan.o`.
#[derive(Debug)]
pub struct Dump {
    directory: PathBuf,
    programs: AtomicU32,
}

impl Dump {
    /// Creates the directory, unless it exists.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if that fails.
    pub fn new(directory: &Path) -> Result<Dump, Error> {
        fs::create_dir_all(directory).map_err(|error| {
            Error::invalid_argument(format!(
                "OXCALL_DUMP: cannot create the directory {}: {error}",
                directory.display()
            ))
        })?;
        Ok(Dump { directory: directory.to_owned(), programs: AtomicU32::new(0) })
    }

    /// The files of the next program.
    pub(crate) fn program(&self, name: &str) -> ProgramDump {
        let number = self.programs.fetch_add(1, Ordering::Relaxed);
        let fits = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
        let name: String = name.chars().take(80).map(fits).collect();
        ProgramDump { prefix: self.directory.join(format!("module_{number:04}.{name}")), stage: 0, last: String::new() }
    }
}

/// The files of one program.
pub(crate) struct ProgramDump {
    prefix: PathBuf,
    stage: u32,
    last: String,
}

impl ProgramDump {
    /// Writes the program after `pass`, unless the pass changed nothing.
    pub(crate) fn module(&mut self, pass: &str, module: &Module) {
        let text = print_module(module);
        if text != self.last {
            self.write(pass, "mlir", text.as_bytes());
            self.stage += 1;
            self.last = text;
        }
    }

    /// Writes the plan and its machine code, which come last.
    pub(crate) fn plan(&self, plan: &Plan) {
        let code = plan.code();
        if !code.is_empty() {
            self.write("plan", "o", &object_file(&code));
        }
        self.write("plan", "txt", plan.to_string().as_bytes());
    }

    /// Writes a file. A failure does not stop the compilation.
    fn write(&self, what: &str, extension: &str, contents: &[u8]) {
        let mut path = self.prefix.clone().into_os_string();
        path.push(format!(".{:02}.{what}.{extension}", self.stage));
        if let Err(error) = fs::write(&path, contents) {
            eprintln!("oxcall: OXCALL_DUMP: cannot write {}: {error}", path.display());
        }
    }
}
