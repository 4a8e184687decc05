//! The site in HTML: mdBook's input, its run, and the API docs beside it.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::contents::{Chapter, Part};
use super::links::{API, repository};
use super::{Site, html};
use crate::shell::{self, Context, Failure, Result};
use crate::tidy::sources::Sources;
use crate::tools::{self, Tool};
use crate::{docs, workspace};

/// Makes HTML of Markdown. Without its server, which has most of its dependencies.
const MDBOOK: Tool = Tool { name: "mdbook", version: "0.5.4", features: &["search"], profile: "release" };

const STYLE: &str = include_str!("style.css");

/// Builds the site, and gives its folder.
pub(crate) fn build() -> Result<PathBuf> {
    let sources = Sources::read()?;
    let faults = super::check(&sources);
    if !faults.is_empty() {
        let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
        return Err(Failure::new(lines.join("\n")));
    }
    let mdbook = tools::installed(&MDBOOK)?;
    let book = workspace::scratch("site")?;
    clear(&book)?;
    write(&Site::assemble(&sources), &repository(&sources), &book)?;
    let folder = workspace::target().join("site");
    clear(&folder)?;
    shell::run(shell::command(mdbook).arg("build").arg(&book).arg("--dest-dir").arg(&folder))?;
    copy(&docs::api()?, &folder.join(API))?;
    html::check(&folder)?;
    Ok(folder)
}

/// Writes mdBook's input.
fn write(site: &Site, repository: &str, book: &Path) -> Result<()> {
    workspace::write(&book.join("book.toml"), &settings(repository))?;
    workspace::write(&book.join("style.css"), STYLE)?;
    let folder = book.join("src");
    workspace::write(&folder.join("SUMMARY.md"), &summary(&site.contents))?;
    for page in &site.pages {
        workspace::write(&folder.join(&page.path), &page.text)?;
    }
    for (source, image) in &site.images {
        let bytes = std::fs::read(workspace::root().join(source)).context(source)?;
        std::fs::write(folder.join(image), bytes).context(image)?;
    }
    Ok(())
}

/// `book.toml`. The text is final: nothing is included, and no sign becomes another.
fn settings(repository: &str) -> String {
    format!(
        "[book]\ntitle = \"oxcall\"\nlanguage = \"en\"\nsrc = \"src\"\n\n\
         [build]\nuse-default-preprocessors = false\ncreate-missing = false\n\n\
         [output.html]\ndefault-theme = \"light\"\npreferred-dark-theme = \"navy\"\nsmart-punctuation = false\n\
         definition-lists = false\nadmonitions = false\nno-section-label = true\nadditional-css = [\"style.css\"]\n\
         git-repository-url = \"{repository}\"\n\n\
         [output.html.fold]\nenable = true\nlevel = 0\n\n\
         [output.html.print]\nenable = false\n\n\
         [output.html.playground]\nrunnable = false\n\n\
         [output.html.search]\nlimit-results = 30\nheading-split-level = 3\n"
    )
}

/// `SUMMARY.md`, the contents in mdBook's form.
fn summary(contents: &[Part]) -> String {
    let mut text = "# Contents\n".to_owned();
    for Part { title, chapters } in contents {
        match title {
            Some(title) => {
                text += &format!("\n# {title}\n\n");
                for chapter in chapters {
                    item(chapter, 0, &mut text);
                }
            }
            None => text.extend(chapters.iter().map(|Chapter { title, path, .. }| format!("\n[{title}]({path})\n"))),
        }
    }
    text
}

fn item(chapter: &Chapter, depth: usize, text: &mut String) {
    let Chapter { title, path, below, .. } = chapter;
    let _ = writeln!(text, "{:1$}- [{title}]({path})", "", 2 * depth);
    for chapter in below {
        item(chapter, depth + 1, text);
    }
}

/// Removes a folder with what it has.
fn clear(folder: &Path) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).context(folder.display())?;
    }
    Ok(())
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to).context(to.display())?;
    for entry in std::fs::read_dir(from).context(from.display())? {
        let path = entry.context(from.display())?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            std::fs::copy(&path, &target).context(path.display())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_a_summary() {
        let sources = Sources::of(&[
            ("README.md", "# oxcall\n"),
            ("docs/testing.md", "# Tests\n"),
            ("docs/decisions/README.md", "# Decisions\n\n[1](0001-a.md)\n"),
            ("docs/decisions/0001-a.md", "# 0001: A\n"),
        ]);
        let expected = "# Contents\n\n[oxcall](index.md)\n\n# Evidence\n\n- [Tests](testing.md)\n\n# Project\n\n\
            - [Decisions](decisions/index.md)\n  - [0001: A](decisions/0001-a.md)\n";
        assert_eq!(summary(&Site::assemble(&sources).contents), expected);
    }

    #[test]
    fn a_book_has_every_page() {
        let folder = std::env::temp_dir().join(format!("oxcall-site-{}", std::process::id()));
        let sources = Sources::read().unwrap();
        let site = Site::assemble(&sources);
        write(&site, &repository(&sources), &folder).unwrap();
        let summary = workspace::read(&folder.join("src/SUMMARY.md")).unwrap();
        for page in &site.pages {
            assert!(folder.join("src").join(&page.path).is_file(), "{}", page.path);
            assert!(summary.contains(&format!("]({})\n", page.path)), "{}", page.path);
        }
        assert!(folder.join("src/bench/plugin-programs.svg").is_file());
        assert!(workspace::read(&folder.join("book.toml")).unwrap().contains("git-repository-url = \"https://"));
        clear(&folder).unwrap();
    }
}
