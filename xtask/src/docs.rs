//! `cargo xtask docs`: the API docs, the links of the Markdown files, and the tests that promises name.

use std::path::{Path, PathBuf};

use crate::shell::{self, Context, Failure, Result};
use crate::workspace;

pub(crate) fn run(args: &[String]) -> Result<()> {
    if !args.is_empty() {
        return Err(Failure::new("usage: cargo xtask docs"));
    }
    let mut command = shell::cargo();
    command.args(["doc", "--workspace", "--no-deps", "--exclude", "xtask"]);
    // Internal crates' docs point at their private modules; `lint` documents those too.
    shell::run(command.env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links"))?;
    println!("API docs: {}", workspace::target().join("doc/oxcall/index.html").display());
    check_links()
}

/// The page of promises, each with its tests.
const PROMISES: &str = "SECURITY.md";

/// Every relative link of every Markdown file must lead to a file of the workspace, and so must every path of a promise.
fn check_links() -> Result<()> {
    let mut files = Vec::new();
    markdown_files(workspace::root(), &mut files)?;
    let mut broken = Vec::new();
    for file in &files {
        let text = workspace::read(file)?;
        for link in links(&text) {
            let path = link.split('#').next().unwrap_or_default();
            let here = file.parent().unwrap_or(workspace::root());
            if !path.is_empty() && !path.contains("://") && !path.starts_with("mailto:") && !here.join(path).exists() {
                let file = file.strip_prefix(workspace::root()).unwrap_or(file);
                broken.push(format!("{}: {link}", file.display()));
            }
        }
    }
    let promises = workspace::read(&workspace::root().join(PROMISES))?;
    let missing = paths(&promises).filter(|path| !exists(path));
    broken.extend(missing.map(|path| format!("{PROMISES}: {path}")));
    if !broken.is_empty() {
        return Err(Failure::new(format!("links that lead nowhere:\n{}", broken.join("\n"))));
    }
    println!("{} Markdown files, no broken link", files.len());
    Ok(())
}

fn markdown_files(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).context(folder.display())?.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            markdown_files(&path, found)?;
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
    Ok(())
}

/// The targets of `[text](target)` outside code blocks.
fn links(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            code = !code;
        }
        if code {
            continue;
        }
        // Every other piece between backticks is inline code.
        for prose in line.split('`').step_by(2) {
            found.extend(prose.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0)));
        }
    }
    found
}

/// The paths of files and folders in inline code: what has a slash and consists of what such names consist of.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let in_path = |letter: char| letter.is_ascii_alphanumeric() || "_-./*".contains(letter);
    let code = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    code.filter(move |code| code.contains('/') && code.chars().all(in_path))
}

/// Whether a path of the workspace leads to something; a name may have a star.
fn exists(path: &str) -> bool {
    let path = workspace::root().join(path);
    let Some((before, after)) = path.file_name().and_then(|name| name.to_str()?.split_once('*')) else {
        return path.exists();
    };
    let names = path.parent().and_then(|folder| folder.read_dir().ok()).into_iter().flatten().flatten();
    names.map(|entry| entry.file_name()).any(|name| {
        let name = name.to_string_lossy();
        name.starts_with(before) && name.ends_with(after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_outside_code_are_found() {
        let text = "[a](x.md) and [b](y.md#z), `#[dims](no)`\n```\n[c](no)\n```\n[d](z)";
        assert_eq!(links(text), ["x.md", "y.md#z", "z"]);
    }

    #[test]
    fn nothing_is_broken() {
        check_links().unwrap();
    }

    #[test]
    fn paths_of_promises_are_found() {
        let text =
            "| `unsafe` and a/b | `xtask/src/docs.rs` (T), `xtask/src/d*.rs`; `cargo xtask a/b` |\n`xtask/none*`";
        let found: Vec<_> = paths(text).map(|path| (path, exists(path))).collect();
        assert_eq!(found, [("xtask/src/docs.rs", true), ("xtask/src/d*.rs", true), ("xtask/none*", false)]);
    }
}
