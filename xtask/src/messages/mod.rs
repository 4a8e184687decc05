//! `cargo xtask messages`: the index of error messages, a chapter of the guide, from the literals in the sources.
//!
//! * `rust`, `python`: literals of error constructors, in the form that the index shows;
//! * `areas`: the sections, by the folders of the sources;
//! * `cures`: causes and cures of messages that do not state them;
//! * `page`: the chapter.

mod areas;
mod cures;
mod page;
mod python;
mod rust;

use crate::shell::{Failure, Result};
use crate::tidy::Complaint;
use crate::tidy::sources::Sources;
use crate::workspace;
use areas::Area;

/// The chapter.
const PAGE: &str = "docs/guide/24-messages.md";

/// The table of causes and cures.
const TABLE: &str = "xtask/src/messages/cures.rs";

/// A message, with its placeholders.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Message {
    text: String,
    /// The status code; empty where it is that of the error around it, or where there is none.
    code: &'static str,
    /// What the message itself says besides, as notes of the compiler.
    help: Option<String>,
}

/// The messages of an area, sorted, each once.
fn of_area(sources: &Sources, area: &Area) -> Vec<Message> {
    let files = sources.files().iter().filter(|file| areas::of(&file.path).is_some_and(|of| std::ptr::eq(of, area)));
    let mut messages: Vec<Message> = files
        .flat_map(
            |file| if file.path.ends_with(".py") { python::messages(&file.text) } else { rust::messages(&file.text) },
        )
        .collect();
    messages.sort();
    messages.dedup_by(|next, before| next.text == before.text);
    messages
}

/// Writes the chapter.
pub(crate) fn run(args: &[String]) -> Result<()> {
    if !args.is_empty() {
        return Err(crate::commands::usage("messages"));
    }
    let sources = Sources::read()?;
    workspace::write(&workspace::root().join(PAGE), &page::of(&sources))?;
    match faults(&sources).as_slice() {
        [] => Ok(()),
        faults => Err(Failure::new(faults.join("\n"))),
    }
}

/// Entries of the table for messages that are not there, and messages that lack an entry.
fn faults(sources: &Sources) -> Vec<String> {
    let mut unknown: Vec<&str> = cures::CURES.iter().map(|(text, _)| *text).collect();
    let mut faults = Vec::new();
    for area in areas::AREAS {
        for message in of_area(sources, area) {
            let entry = unknown.iter().position(|text| *text == message.text);
            if let Some(entry) = entry {
                unknown.remove(entry);
            } else if cures::cure(&message.text).is_none() && !area.is_settled(&message) {
                faults.push(format!(
                    "`{}` says neither what to do nor what was expected: add it to {TABLE}",
                    message.text
                ));
            }
        }
    }
    faults.extend(unknown.iter().map(|text| format!("{TABLE} has `{text}`, which is not in the sources")));
    faults
}

/// The chapter is the one that the sources give, and the table fits them.
pub(crate) fn check(sources: &Sources) -> Vec<Complaint> {
    let Some(chapter) = sources.file(PAGE) else { return Vec::new() };
    let mut complaints: Vec<Complaint> = faults(sources).into_iter().map(|fault| chapter.complaint(1, fault)).collect();
    if chapter.text != page::of(sources) {
        complaints.push(chapter.complaint(1, "not up to date: run `cargo xtask messages`"));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHECK: &str = "fn a() -> Result<()> {\n    Err(Error::invalid_argument(\"expected a tuple, got {ty}\"))\n}\n";

    fn messages(files: &[(&str, &str)]) -> Vec<String> {
        let complaints = check(&Sources::of(files)).into_iter();
        // These sources have none of the messages that the table has.
        complaints.map(|complaint| complaint.to_string()).filter(|text| !text.contains(TABLE)).collect()
    }

    #[test]
    fn the_chapter_of_the_sources_passes() {
        let path = "plugin/engine/src/a.rs";
        let text = page::of(&Sources::of(&[(path, CHECK)]));
        assert!(text.contains("expected a tuple, got {ty}"), "{text}");
        assert_eq!(messages(&[(path, CHECK), (PAGE, &text)]), [""; 0]);
    }

    #[test]
    fn a_changed_message_is_reported() {
        let path = "plugin/engine/src/a.rs";
        let text = page::of(&Sources::of(&[(path, CHECK)]));
        let changed = CHECK.replace("a tuple", "a tensor");
        let expected = format!("{PAGE}:1: not up to date: run `cargo xtask messages`");
        assert_eq!(messages(&[(path, &changed), (PAGE, &text)]), [expected]);
    }

    #[test]
    fn a_message_without_a_cure_and_a_cure_without_a_message_are_reported() {
        let sources = Sources::of(&[("ffi/src/a.rs", "fn a() { Err(Error::not_found(\"it is gone\")) }\n")]);
        let faults = faults(&sources);
        let lacks = format!("`it is gone` says neither what to do nor what was expected: add it to {TABLE}");
        assert_eq!(faults[0], lacks);
        assert_eq!(faults.len(), 1 + cures::CURES.len());
    }

    /// The table against this repository, which `tidy` checks too.
    #[test]
    fn every_message_of_this_repository_has_a_cure() {
        assert_eq!(faults(&Sources::read().unwrap()), [""; 0]);
    }
}
