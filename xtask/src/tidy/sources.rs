//! The files of the repository, read once.

use std::collections::BTreeSet;

use super::Complaint;
use crate::shell::{self, Context, Result};
use crate::workspace;

/// Endings of the files whose text some check reads; of the others, only the names are known.
const TEXTS: [&str; 7] = [".rs", ".md", ".py", ".toml", ".yml", "LICENSE-MIT", "LICENSE-APACHE"];

/// A file, by its path from the root.
pub(crate) struct Source {
    pub(crate) path: String,
    /// Empty unless the name has one of the endings that are read.
    pub(crate) text: String,
    /// Whether it is a symbolic link, whose text is that of the file it leads to.
    pub(crate) is_link: bool,
}

impl Source {
    /// Lines with their numbers.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }

    /// The folder that the file is in; empty for the root.
    pub(crate) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The name without its folder.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    pub(crate) fn complaint(&self, line: usize, message: impl Into<String>) -> Complaint {
        Complaint { file: self.path.clone(), line, message: message.into() }
    }
}

/// All files that git knows or would take.
pub(crate) struct Sources {
    files: Vec<Source>,
    /// Every file, and every folder that has one.
    paths: BTreeSet<String>,
}

impl Sources {
    pub(crate) fn read() -> Result<Self> {
        let listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let listed = shell::output(shell::command("git").args(listing))?;
        let mut files = Vec::new();
        for path in listed.split_terminator('\0') {
            let file = workspace::root().join(path);
            // What was deleted but is still in the index.
            if !file.is_file() {
                continue;
            }
            let read = TEXTS.iter().any(|ending| path.ends_with(ending));
            let text = if read { workspace::read(&file).context(path)? } else { String::new() };
            files.push(Source { path: path.to_owned(), text, is_link: file.is_symlink() });
        }
        Ok(Self::new(files))
    }

    fn new(files: Vec<Source>) -> Self {
        let mut paths = BTreeSet::new();
        for Source { path, .. } in &files {
            let folders = path.match_indices('/').map(|(at, _)| path[..at].to_owned());
            paths.extend(folders.chain([path.clone()]));
        }
        Self { files, paths }
    }

    /// Files with these paths and texts.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let source =
            |&(path, text): &(&str, &str)| Source { path: path.to_owned(), text: text.to_owned(), is_link: false };
        Self::new(files.iter().map(source).collect())
    }

    /// These files, and links at these paths.
    #[cfg(test)]
    pub(crate) fn with_links(mut self, paths: &[&str]) -> Self {
        let link = |path: &&str| Source { path: (*path).to_owned(), text: String::new(), is_link: true };
        self.files.extend(paths.iter().map(link));
        Self::new(self.files)
    }

    pub(crate) fn files(&self) -> &[Source] {
        &self.files
    }

    pub(crate) fn file(&self, path: &str) -> Option<&Source> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The files whose names end so.
    pub(crate) fn ending(&self, ending: &str) -> impl Iterator<Item = &Source> {
        self.files.iter().filter(move |file| file.path.ends_with(ending))
    }

    pub(crate) fn markdown(&self) -> impl Iterator<Item = &Source> {
        self.ending(".md")
    }

    pub(crate) fn rust(&self) -> impl Iterator<Item = &Source> {
        self.ending(".rs")
    }

    /// Files and folders.
    pub(crate) fn paths(&self) -> &BTreeSet<String> {
        &self.paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_paths() {
        let sources = Sources::of(&[("ffi/src/api/mod.rs", ""), ("README.md", "# Head\n")]);
        assert_eq!(
            sources.paths().iter().map(String::as_str).collect::<Vec<_>>(),
            ["README.md", "ffi", "ffi/src", "ffi/src/api", "ffi/src/api/mod.rs"]
        );
        let file = sources.file("ffi/src/api/mod.rs").unwrap();
        assert_eq!((file.folder(), file.name()), ("ffi/src/api", "mod.rs"));
        assert_eq!(sources.file("README.md").unwrap().lines().collect::<Vec<_>>(), [(1, "# Head")]);
    }
}
