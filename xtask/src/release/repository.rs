//! The address of the repository, which several files have.

use super::places::is_history;
use crate::shell::{Failure, Result};
use crate::tidy::sources::Sources;
use crate::workspace;

/// The line of Cargo.toml that has it.
const LINE: &str = "\nrepository = \"";

/// Writes another address to every file.
pub(super) fn change(address: &str) -> Result<()> {
    let sources = Sources::read()?;
    for (path, text) in changed(&sources, address)? {
        workspace::write(&workspace::root().join(&path), &text)?;
        println!("{path}: {address}");
    }
    Ok(())
}

/// The files that change, with their new texts.
fn changed(sources: &Sources, address: &str) -> Result<Vec<(String, String)>> {
    let parts: Vec<&str> = address.strip_prefix("https://").unwrap_or_default().split('/').collect();
    if parts.len() < 3 || parts.iter().any(|part| part.is_empty()) || address.ends_with(".git") {
        let expected = "expected that of a web page, `https://HOST/ACCOUNT/NAME`";
        return Err(Failure::new(format!("`{address}` is not the address of a repository: {expected}")));
    }
    let manifest = sources.file("Cargo.toml").map_or("", |file| &file.text);
    let old = manifest.split_once(LINE).and_then(|(_, rest)| rest.split_once('"')).map_or("", |(old, _)| old);
    if old.is_empty() {
        return Err(Failure::new("Cargo.toml has no line `repository = \"...\"`: write it into [workspace.package]"));
    }
    let change = |text: &str| {
        let mut pieces = text.split(old);
        let mut changed = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let goes_on = piece.starts_with(|next: char| next.is_alphanumeric() || matches!(next, '-' | '_'));
            changed += if goes_on { old } else { address };
            changed += piece;
        }
        changed
    };
    let files = sources.files().iter().filter(|file| !is_history(&file.path) && !file.is_link);
    let texts = files.map(|file| (file, change(&file.text))).filter(|(file, text)| file.text != *text);
    Ok(texts.map(|(file, text)| (file.path.clone(), text)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_command_changes_every_address() {
        let files = [
            ("Cargo.toml", "[workspace.package]\nrepository = \"https://a.b/OWNER/c\"\n"),
            ("p/pyproject.toml", "Issues = \"https://a.b/OWNER/c/issues\"\nOther = \"https://a.b/OWNER/cd\"\n"),
            ("docs/decisions/1.md", "https://a.b/OWNER/c"),
            ("x.md", "text"),
        ];
        let found = changed(&Sources::of(&files), "https://d.e/us/c").unwrap();
        let expected = [
            ("Cargo.toml", "[workspace.package]\nrepository = \"https://d.e/us/c\"\n"),
            ("p/pyproject.toml", "Issues = \"https://d.e/us/c/issues\"\nOther = \"https://a.b/OWNER/cd\"\n"),
        ];
        assert_eq!(found, expected.map(|(path, text)| (path.to_owned(), text.to_owned())));
    }

    #[test]
    fn mistakes() {
        let files = [("Cargo.toml", "[workspace.package]\nrepository = \"https://a.b/OWNER/c\"\n")];
        for address in ["us", "https://a.b", "https://a.b/us/", "https://a.b/us/c.git", "git@a.b:us/c"] {
            let error = changed(&Sources::of(&files), address).unwrap_err().to_string();
            assert!(error.contains("expected that of a web page"), "{error}");
        }
        let error = changed(&Sources::of(&[("Cargo.toml", "")]), "https://a.b/us/c").unwrap_err().to_string();
        assert!(error.contains("write it into [workspace.package]"), "{error}");
    }
}
