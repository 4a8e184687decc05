//! Dumps of programs and plans to files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use oxcall::Error;
use oxcall_hlo::{Module, print_module};

/// A directory for dumps of each compiled program: as it was read, after each pass that changed it, and as a plan. The
/// file names sort in this order: `module_0000.jit_f.00.read.mlir`, ..., `module_0000.jit_f.07.plan.txt`.
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
            self.write(pass, "mlir", &text);
            self.last = text;
        }
    }

    /// Writes the plan, which comes last.
    pub(crate) fn plan(&mut self, plan: &str) {
        self.write("plan", "txt", plan);
    }

    /// Writes a file. A failure does not stop the compilation.
    fn write(&mut self, what: &str, extension: &str, text: &str) {
        let mut path = self.prefix.clone().into_os_string();
        path.push(format!(".{:02}.{what}.{extension}", self.stage));
        self.stage += 1;
        if let Err(error) = fs::write(&path, text) {
            eprintln!("oxcall: OXCALL_DUMP: cannot write {}: {error}", path.display());
        }
    }
}
