//! The oldest Rust that builds the project: one version in every manifest and every document.

use super::Complaint;
use super::markdown::{Kind, lines};
use crate::tidy::sources::Sources;

/// The words before the version in documents.
const PHRASES: [&str; 4] = ["Rust ", "(stable, ", " stable, ", "Rust older than "];

pub(super) fn check(sources: &Sources) -> Vec<Complaint> {
    let version = |line: &str| Some(line.strip_prefix("rust-version = \"")?.trim_end_matches('"').to_owned());
    let workspace = sources.file("Cargo.toml");
    let Some(expected) = workspace.and_then(|file| file.text.lines().find_map(version)) else { return Vec::new() };
    let mut complaints = Vec::new();
    for file in sources.ending(".toml") {
        for (number, line) in file.lines() {
            if let Some(other) = version(line).filter(|version| *version != expected) {
                let message = format!("rust-version is {other}, but {expected} in the workspace");
                complaints.push(file.complaint(number, message));
            }
        }
    }
    // The change log and the benchmarks tell of the past.
    let present = |path: &str| path != "CHANGELOG.md" && !path.starts_with("docs/bench/");
    for file in sources.markdown().filter(|file| present(&file.path)) {
        for (number, _, line) in lines(&file.text).filter(|(_, kind, _)| *kind != Kind::Code) {
            for rest in PHRASES.iter().flat_map(|phrase| line.split(phrase).skip(1)) {
                let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
                let other = rest[..end].trim_end_matches('.');
                if other.starts_with("1.") && other != expected {
                    let message = format!("Rust {other} is named, but the workspace needs {expected}");
                    complaints.push(file.complaint(number, message));
                }
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKSPACE: (&str, &str) = ("Cargo.toml", "[workspace.package]\nrust-version = \"1.95\"\n");

    #[test]
    fn one_version_passes() {
        let sources = Sources::of(&[
            WORKSPACE,
            ("ffi/Cargo.toml", "rust-version.workspace = true\n"),
            ("a.md", "You need Rust 1.95 or newer (stable, 1.95), and Python 3.11. Rust 1.95.\n"),
        ]);
        assert_eq!(check(&sources), []);
    }

    #[test]
    fn another_version_is_reported() {
        let sources = Sources::of(&[
            WORKSPACE,
            ("ffi/Cargo.toml", "[package]\nrust-version = \"1.88\"\n"),
            ("a.md", "Rust older than 1.90 is not tested.\n"),
        ]);
        let messages: Vec<_> = check(&sources).iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            [
                "ffi/Cargo.toml:2: rust-version is 1.88, but 1.95 in the workspace",
                "a.md:1: Rust 1.90 is named, but the workspace needs 1.95",
            ]
        );
    }
}
