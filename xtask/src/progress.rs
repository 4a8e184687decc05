//! Progress of steps that are silent themselves (pip, venv, compilers): what is going on and for how long.

use std::fs::File;
use std::io::{IsTerminal, Write, stdout};
use std::process::{Command, Stdio};
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
    let log = workspace::scratch("log")?.join(format!("{}.log", slug(what)));
    step(what, || {
        let file = File::create(&log).context(log.display())?;
        let errors = file.try_clone().context(log.display())?;
        let status = command
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(errors)
            .status()
            .map_err(|error| shell::not_started(command, &error))?;
        if status.success() {
            return Ok(());
        }
        let text = std::fs::read(&log).context(log.display())?;
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        let tail = lines[lines.len().saturating_sub(TAIL)..].join("\n");
        Err(Failure::new(format!("`{}` failed ({status}):\n{tail}", shell::line(command))))
    })
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
