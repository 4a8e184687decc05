//! The ranges of supported releases in the documents: each ends at the newest that xtask tests.

use super::Complaint;
use super::markdown::{Kind, lines};
use crate::matrix;
use crate::python::pins;
use crate::tidy::sources::Sources;

pub(super) fn check(sources: &Sources) -> Vec<Complaint> {
    // The change log, the decisions and the benchmarks tell of the past.
    let present =
        |path: &str| path != "CHANGELOG.md" && !path.starts_with("docs/decisions/") && !path.starts_with("docs/bench/");
    let mut complaints = Vec::new();
    for file in sources.markdown().filter(|file| present(&file.path)) {
        for (number, _, line) in lines(&file.text).filter(|(_, kind, _)| *kind != Kind::Code) {
            for (first, last) in ranges(line) {
                let Some(newest) = newest(first).filter(|newest| !is_short_for(last, newest)) else {
                    continue;
                };
                complaints.push(file.complaint(number, format!("`{first} to {last}`: the newest tested is {newest}")));
            }
        }
    }
    complaints
}

/// The ranges `A to B` of versions in a line.
fn ranges(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let in_version = |letter: char| letter.is_ascii_digit() || letter == '.';
    line.match_indices(" to ").filter_map(move |(at, to)| {
        let (before, after) = (&line[..at], &line[at + to.len()..]);
        let first = before.rsplit(|letter| !in_version(letter)).next()?;
        let last = after.split(|letter| !in_version(letter)).next()?.trim_end_matches('.');
        (first.contains('.') && last.contains('.')).then_some((first, last))
    })
}

/// The newest of the releases of which this one is the oldest that is supported.
fn newest(first: &str) -> Option<&'static str> {
    let jax = [pins::JAX.first()?.version, matrix::PLUGIN_SINCE].map(|oldest| (oldest, pins::JAX.last()));
    let torch = (pins::TORCH.first()?.version, pins::TORCH.last()?.version);
    let ranges = jax.into_iter().filter_map(|(oldest, newest)| Some((oldest, newest?.version))).chain([torch]);
    ranges.into_iter().find(|(oldest, _)| is_short_for(first, oldest)).map(|(_, newest)| newest)
}

/// Whether a version is another one, perhaps without its last parts.
fn is_short_for(short: &str, version: &str) -> bool {
    version.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_up_to_the_newest_release_pass() {
        let (first, last) = (pins::JAX[0].version, pins::JAX[pins::JAX.len() - 1].version);
        let text = format!("jaxlib {first} to {last}. Releases 0.9.0 to 1.22.0, 3 to 4\n```\n{first} to 0.0.1\n```\n");
        assert_eq!(check(&Sources::of(&[("README.md", &text)])), []);
        assert!(is_short_for("2.15", "2.15.0") && !is_short_for("2.1", "2.15.0"));
    }

    #[test]
    fn a_range_that_ends_before_is_reported() {
        let (first, last) = (pins::JAX[0].version, pins::JAX[pins::JAX.len() - 1].version);
        let sources = Sources::of(&[("README.md", &format!("# A\n| jaxlib | {first} to 0.0.1 (all) |\n"))]);
        let messages: Vec<_> = check(&sources).iter().map(ToString::to_string).collect();
        assert_eq!(messages, [format!("README.md:2: `{first} to 0.0.1`: the newest tested is {last}")]);
    }
}
