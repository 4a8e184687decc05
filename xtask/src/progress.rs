//! Progress of steps that are silent themselves (pip, venv, compilers): what is going on and for how long.

use std::fs::File;
use std::io::{IsTerminal, Write, stdout};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::shell::{self, Context, Failure, Result};
use crate::workspace;

/// How many lines of a failed step's output are repeated.
const TAIL: usize = 40;

/// Runs `work` while the terminal shows `what` and the seconds gone: one line rewritten in place on a terminal, one
/// line every ten seconds elsewhere.
pub(crate) fn step<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let started = Instant::now();
    let terminal = stdout().is_terminal();
    let seconds = || started.elapsed().as_secs();
    thread::scope(|scope| {
        let (done, waiting) = channel::<()>();
        scope.spawn(move || {
            let tick = Duration::from_secs(if terminal { 1 } else { 10 });
            show(terminal, &format!("[ ...] {what}"));
            while waiting.recv_timeout(tick) == Err(RecvTimeoutError::Timeout) {
                show(terminal, &format!("[{:3}s] {what}", seconds()));
            }
        });
        let result = work();
        // The ticker ends before the last line is written, so that the two never mix.
        drop(done);
        result
    })
    .inspect(|_| finish(terminal, &format!("[{:3}s] {what}: done", seconds())))
    .inspect_err(|_| finish(terminal, &format!("[{:3}s] {what}: FAILED", seconds())))
}

/// A [`step`] that is one child process. Its output goes to `target/xtask/log`, and to the failure's text.
pub(crate) fn command(what: &str, command: &mut Command) -> Result<()> {
    step(what, || Started::new(what, command)?.wait())
}

/// A child process that runs beside other steps, until the program waits for it. It ends with the program's failures.
pub(crate) struct Started {
    what: String,
    line: String,
    log: PathBuf,
    child: Child,
}

impl Started {
    /// Starts a process, whose output is kept.
    pub(crate) fn new(what: &str, command: &mut Command) -> Result<Self> {
        let log = workspace::scratch("log")?.join(format!("{}.log", slug(what)));
        let file = File::create(&log).context(log.display())?;
        let errors = file.try_clone().context(log.display())?;
        command.stdin(Stdio::null()).stdout(file).stderr(errors);
        let child = command.spawn().map_err(|error| shell::not_started(command, &error))?;
        Ok(Self { what: what.to_owned(), line: shell::line(command), log, child })
    }

    /// A [`step`] that waits for it.
    pub(crate) fn finish(self) -> Result<()> {
        step(&self.what.clone(), || self.wait())
    }

    fn wait(mut self) -> Result<()> {
        let status = self.child.wait().context(&self.line)?;
        if status.success() {
            return Ok(());
        }
        let text = std::fs::read(&self.log).context(self.log.display())?;
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        let tail = lines[lines.len().saturating_sub(TAIL)..].join("\n");
        Err(Failure::new(format!("`{}` failed ({status}):\n{tail}", self.line)))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // One that has ended is not there any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn show(terminal: bool, text: &str) {
    if terminal {
        print!("\r{text}\x1b[K");
        // A closed terminal is no reason to stop the work.
        let _ = stdout().flush();
    } else {
        println!("{text}");
    }
}

fn finish(terminal: bool, text: &str) {
    show(terminal, text);
    if terminal {
        println!();
    }
}

fn slug(what: &str) -> String {
    what.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect()
}
