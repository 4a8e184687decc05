//! Paths in the inline code of Markdown files: each is a file or a folder of the repository.

use super::links::resolve;
use super::{Complaint, markdown};
use crate::tidy::sources::{Source, Sources};

/// Endings that make a word with a slash a path.
const ENDINGS: [&str; 4] = [".rs", ".py", ".md", ".toml"];

/// Files that tell of the past, and so of paths that are gone.
const HISTORY: &str = "CHANGELOG.md";

pub(super) fn check(sources: &Sources) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in sources.markdown().filter(|file| file.path != HISTORY) {
        for code in markdown::inline_code(&file.text) {
            for word in code.text.split_whitespace().filter(|word| is_path(sources, word)) {
                if !exists(sources, file, word) {
                    let message = format!("there is no `{word}` in the repository: correct the path");
                    complaints.push(file.complaint(code.line, message));
                }
            }
        }
    }
    complaints
}

/// Whether a word looks like a path: it begins in a folder of the root, or ends as the name of a source does.
fn is_path(sources: &Sources, word: &str) -> bool {
    let in_path = |letter: char| letter.is_ascii_alphanumeric() || "_-./*".contains(letter);
    let Some((first, _)) = word.split_once('/') else { return false };
    let folder = sources.paths().contains(first);
    word.chars().all(in_path) && (folder || ENDINGS.iter().any(|ending| word.ends_with(ending)))
}

/// Whether a path leads to something, from the root, from the file's folder, or as the end of a longer one. That of a
/// module may be without its ending.
fn exists(sources: &Sources, file: &Source, word: &str) -> bool {
    let path = word.trim_end_matches('/');
    let candidates = [resolve("", path), resolve(file.folder(), path), format!("{path}.rs")];
    if candidates.iter().any(|path| sources.paths().contains(path)) {
        return true;
    }
    let parts: Vec<&str> = path.split('/').collect();
    sources.paths().iter().any(|known| {
        let known: Vec<&str> = known.split('/').collect();
        let tail = &known[known.len().saturating_sub(parts.len())..];
        let whole = tail.len() == known.len() || !path.contains('*');
        whole && tail.len() == parts.len() && parts.iter().zip(tail).all(|(pattern, name)| matches(pattern, name))
    })
}

/// Whether a name is that of the pattern, which may have a star.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((before, after)) => {
            name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after)
        }
        None => pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [(&str, &str); 2] = [("xtask/src/docs.rs", ""), ("xtask/src/matrix/abi.rs", "")];

    #[test]
    fn paths_of_files_and_folders_are_known() {
        let text = "`xtask/src/docs.rs`, `xtask/src/d*.rs`, `cargo test a/b`, `matrix/abi.rs`, `xtask/src/docs`, `xtask/src/matrix/`, `and/or`";
        let sources = Sources::of(&[FILES[0], FILES[1], ("SECURITY.md", text)]);
        assert_eq!(check(&sources), []);
    }

    #[test]
    fn a_path_to_nothing_is_reported() {
        let text = "one\n| `xtask/none*` | `gone/abi.rs` |\n`python xtask/gone.py`";
        let sources = Sources::of(&[FILES[0], FILES[1], ("SECURITY.md", text)]);
        let found: Vec<_> = check(&sources).iter().map(|complaint| complaint.to_string()[..36].to_owned()).collect();
        assert_eq!(
            found,
            [
                "SECURITY.md:2: there is no `xtask/no",
                "SECURITY.md:2: there is no `gone/abi",
                "SECURITY.md:3: there is no `xtask/go",
            ]
        );
    }
}
