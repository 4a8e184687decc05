//! Child processes, and the one error type of the task runner.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Instant;

use crate::workspace;

/// A message for the person at the terminal. Nothing matches on failures, so there is no structure.
#[derive(Debug)]
pub(crate) struct Failure(String);

pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Says what was being done when an I/O error came.
pub(crate) trait Context<T> {
    fn context(self, what: impl fmt::Display) -> Result<T>;
}

impl<T, E: fmt::Display> Context<T> for std::result::Result<T, E> {
    fn context(self, what: impl fmt::Display) -> Result<T> {
        self.map_err(|error| Failure(format!("{what}: {error}")))
    }
}

/// `program` with the workspace root as its working directory.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(workspace::root());
    command
}

/// The cargo that runs this program.
pub(crate) fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Keeps the toolchain that runs this program from leaking into another one that the command runs.
pub(crate) fn forget_toolchain(command: &mut Command) {
    for name in ["RUSTUP_TOOLCHAIN", "CARGO", "RUSTC", "RUSTDOC"] {
        command.env_remove(name);
    }
}

/// Adds to an environment variable that holds options, such as `RUSTFLAGS`, after those that this process has.
pub(crate) fn add_flags<'a>(command: &'a mut Command, variable: &str, flags: &str) -> &'a mut Command {
    let before = std::env::var(variable).unwrap_or_default();
    command.env(variable, format!("{before} {flags}").trim_start())
}

/// The command line as a person would type it, with paths relative to the workspace.
pub(crate) fn line(command: &Command) -> String {
    let root = format!("{}/", workspace::root().display());
    let mut words = vec![
        Path::new(command.get_program())
            .file_name()
            .map_or_else(|| command.get_program().to_string_lossy(), |name| name.to_string_lossy())
            .into_owned(),
    ];
    words.extend(command.get_args().map(|arg| {
        let arg = arg.to_string_lossy().replace(&root, "");
        if arg.contains(' ') { format!("'{arg}'") } else { arg }
    }));
    words.join(" ")
}

/// When the first command started.
static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The command line, after the time that this program has run: the log of a long run says what took how long.
pub(crate) fn announcement(command: &Command) -> String {
    format!("[{:4}s] $ {}", STARTED.elapsed().as_secs(), line(command))
}

/// Runs with the terminal as its output, after printing the command line.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    println!("{}", announcement(command));
    finished(command)
}

/// Waits until the command has ended, with success.
pub(crate) fn finished(command: &mut Command) -> Result<()> {
    let status = command.status().map_err(|error| not_started(command, &error))?;
    if status.success() { Ok(()) } else { Err(Failure(format!("`{}` failed ({status})", line(command)))) }
}

/// Runs silently and gives standard output; standard error becomes the failure's text.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| not_started(command, &error))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(Failure(format!("`{}` failed ({})\n{}", line(command), output.status, errors.trim_end())));
    }
    String::from_utf8(output.stdout).context(format_args!("output of `{}`", line(command)))
}

/// Whether `program` starts and exits with success on these arguments.
pub(crate) fn succeeds(program: impl AsRef<OsStr>, args: &[&str]) -> bool {
    command(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

pub(crate) fn not_started(command: &Command, error: &std::io::Error) -> Failure {
    Failure(format!("`{}` did not start: {error}", line(command)))
}
