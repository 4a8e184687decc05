//! Git: the commit and the tag of a release.

use crate::shell::{self, Failure, Result};

fn output(args: &[&str]) -> Result<String> {
    Ok(shell::output(shell::command("git").args(args))?.trim().to_owned())
}

/// The commit of a revision; `None` if there is no such revision.
pub(super) fn commit_of(revision: &str) -> Option<String> {
    output(&["rev-parse", "--verify", "--quiet", &format!("{revision}^{{commit}}")]).ok()
}

/// The tag of the newest release before the current commit, or at it.
pub(super) fn last_release() -> Result<Option<String>> {
    // `git describe` fails where there is no tag, and where something is wrong.
    let tags = output(&["tag", "--list", "v*", "--merged", "HEAD", "--sort=-version:refname"])?;
    let head = commit_of("HEAD");
    Ok(tags.lines().find(|tag| commit_of(tag) != head).map(str::to_owned))
}

/// An error unless everything is committed.
pub(super) fn need_clean_tree() -> Result<()> {
    let changes = output(&["status", "--porcelain"])?;
    if changes.is_empty() {
        return Ok(());
    }
    let mend = "commit them, or undo them with `git restore .` if a release stopped while it wrote them";
    Err(Failure::new(format!("there are changes that are not committed: {mend}:\n{changes}")))
}

/// Commits everything.
pub(super) fn commit(subject: &str) -> Result<()> {
    shell::run(shell::command("git").args(["commit", "--quiet", "--all", "--message", subject]))
}

/// Puts an annotated tag on the current commit.
pub(super) fn tag(name: &str, message: &str) -> Result<()> {
    // A line of the message may begin with `#`, which git takes for a comment.
    shell::output(shell::command("git").args(["tag", "--annotate", "--cleanup=verbatim", "-m", message, name]))
        .map(drop)
}

/// The branch that is checked out; `None` in a checkout of a tag.
pub(super) fn branch() -> Option<String> {
    output(&["symbolic-ref", "--quiet", "--short", "HEAD"]).ok()
}
