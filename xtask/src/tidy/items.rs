//! Items in the inline code of the documents about the code, `module::item`: each is defined somewhere.

use std::collections::HashSet;

use super::{Complaint, markdown};
use crate::tidy::sources::{Source, Sources};

/// Words before the name of an item.
const KEYWORDS: [&str; 9] = ["fn", "struct", "enum", "union", "trait", "mod", "const", "static", "type"];

pub(super) fn check(sources: &Sources) -> Vec<Complaint> {
    let modules: HashSet<String> = sources.rust().map(module).chain(packages(sources)).map(path_name).collect();
    let defined: HashSet<&str> = sources.rust().flat_map(|file| definitions(&file.text)).collect();
    let mut complaints = Vec::new();
    for file in sources.markdown().filter(|file| is_about_the_code(&file.path)) {
        for code in markdown::inline_code(&file.text) {
            for name in names(&code.text) {
                let mut segments = name.split("::");
                if !segments.next().is_some_and(|first| modules.contains(first)) {
                    continue;
                }
                if let Some(unknown) = segments.find(|name| !defined.contains(name) && !modules.contains(*name)) {
                    let message = format!("`{name}`: nothing in the sources is called `{unknown}`; name what is there");
                    complaints.push(file.complaint(code.line, message));
                }
            }
        }
    }
    complaints
}

/// The guide and the READMEs also name public items of other crates.
fn is_about_the_code(path: &str) -> bool {
    let page = path.strip_prefix("docs/").is_some_and(|rest| !rest.contains('/') || rest.starts_with("decisions/"));
    page || matches!(path, "ARCHITECTURE.md" | "CONTRIBUTING.md" | "SECURITY.md")
}

/// The module that a file is: its own name, or that of its folder.
fn module(file: &Source) -> &str {
    match file.name().trim_end_matches(".rs") {
        "mod" | "lib" | "main" => file.folder().trim_end_matches("/src").rsplit('/').next().unwrap_or_default(),
        name => name,
    }
}

/// A name as paths have it.
fn path_name(name: &str) -> String {
    name.replace('-', "_")
}

/// Names of packages.
fn packages(sources: &Sources) -> impl Iterator<Item = &str> {
    let manifests = sources.ending("Cargo.toml");
    let names = manifests.filter_map(|file| file.text.lines().find_map(|line| line.strip_prefix("name = \"")));
    names.map(|name| name.trim_end_matches('"'))
}

/// Paths of at least two segments, without generic arguments.
fn names(code: &str) -> impl Iterator<Item = &str> {
    let in_name = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let words = code.split(move |letter| !in_name(letter)).map(|word| word.trim_matches(':'));
    words.filter(|word| word.contains("::"))
}

/// Names that a source defines: items, and what begins a line as variants and fields do.
fn definitions(text: &str) -> impl Iterator<Item = &str> {
    let in_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let items = text.lines().flat_map(move |line| {
        let mut words = line.split(move |letter| !in_name(letter)).filter(|word| !word.is_empty()).peekable();
        let mut found = Vec::new();
        while let Some(word) = words.next() {
            if KEYWORDS.contains(&word) || word == "macro_rules" {
                found.extend(words.peek().copied());
            }
        }
        found
    });
    let starts = text.lines().filter_map(move |line| {
        let line = line.trim_start();
        let name = &line[..line.find(|letter| !in_name(letter)).unwrap_or(line.len())];
        let next = line[name.len()..].trim_start().chars().next();
        (!name.is_empty() && next.is_none_or(|sign| ",({=:".contains(sign))).then_some(name)
    });
    items.chain(starts)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCES: [(&str, &str); 3] = [
        ("plugin/engine/src/passes/mod.rs", "pub(crate) fn peel() {}\npub enum Edge {\n    Inner,\n}\n"),
        ("plugin/engine/src/engine.rs", "mod later {}\n"),
        ("plugin/engine/Cargo.toml", "[package]\nname = \"oxcall-engine\"\n"),
    ];

    #[test]
    fn items_of_modules_are_known() {
        let text = "`passes::peel`, `oxcall_engine::passes::Edge::Inner`, `engine::engine`, `engine::later(x)`, `std::nothing`, `a:: b`";
        let sources = Sources::of(&[SOURCES[0], SOURCES[1], SOURCES[2], ("ARCHITECTURE.md", text)]);
        assert_eq!(check(&sources), []);
    }

    #[test]
    fn an_unknown_item_is_reported() {
        let files = [
            SOURCES[0],
            SOURCES[1],
            SOURCES[2],
            ("docs/a.md", "one\n`oxcall_engine::pell`\n"),
            ("README.md", "`engine::none`\n"),
        ];
        let messages: Vec<_> = check(&Sources::of(&files)).iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            ["docs/a.md:2: `oxcall_engine::pell`: nothing in the sources is called `pell`; name what is there"]
        );
    }
}
