//! Two sequences of commands side by side, for tests that keep one core busy most of the time.

use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;

use crate::shell::{self, Context, Failure, Result};
use crate::workspace;

/// Runs both lanes at once; a lane ends at its first command that fails. The output of `shown` appears as it comes,
/// that of `logged` when both have ended.
pub(crate) fn run(shown: Vec<Command>, logged: Vec<Command>) -> Result<()> {
    let path = workspace::scratch("log")?.join("second-lane.log");
    let log = File::create(&path).context(path.display())?;
    let (first, second) = thread::scope(|scope| {
        let second = scope.spawn(|| in_turn(logged, |command| write(command, &log)));
        let first = in_turn(shown, shell::run);
        (first, second.join().unwrap_or_else(|_| Err(Failure::new("the second lane of commands panicked"))))
    });
    let text = std::fs::read(&path).context(path.display())?;
    print!("{}", String::from_utf8_lossy(&text));
    match (first, second) {
        (Err(first), Err(second)) => Err(Failure::new(format!("{first}\n{second}"))),
        (first, second) => first.and(second),
    }
}

fn in_turn(commands: Vec<Command>, run: impl Fn(&mut Command) -> Result<()>) -> Result<()> {
    commands.into_iter().try_for_each(|mut command| run(&mut command))
}

/// [`shell::run`] with a file in place of the terminal.
fn write(command: &mut Command, mut log: &File) -> Result<()> {
    let line = shell::line(command);
    writeln!(log, "{}", shell::announcement(command)).context(&line)?;
    let copy = || log.try_clone().context(&line);
    command.stdin(Stdio::null()).stdout(copy()?).stderr(copy()?);
    shell::finished(command)
}
