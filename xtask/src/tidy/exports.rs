//! Public functions that nothing outside of their crate names, in crates whose root says one of [`PROMISES`]: the
//! compiler finds what is dead only where it is private.

use std::collections::HashSet;

use super::Complaint;
use crate::tidy::sources::{Source, Sources};

/// The sentences in the documentation of a crate's root: one of them.
const PROMISES: [&str; 2] = ["only what this file re-exports is public", "Public is only what the engine uses"];

const MESSAGE: &str = "nothing outside of the crate names this public function: make it pub(crate), or remove it";

pub(super) fn check(sources: &Sources) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for root in sources.ending("src/lib.rs").filter(|root| PROMISES.iter().any(|promise| root.text.contains(promise))) {
        let folder = format!("{}/", root.folder());
        // Tests of several crates compile the files of this name.
        let is_inside = |file: &&Source| file.path.starts_with(&folder) && !file.path.ends_with("/testing.rs");
        let (inside, outside): (Vec<_>, Vec<_>) = sources.rust().partition(is_inside);
        let named: HashSet<&str> = outside.iter().flat_map(|file| words(&file.text)).collect();
        for file in inside {
            for (number, line) in file.lines() {
                if public_function(line).is_some_and(|name| !named.contains(name)) {
                    complaints.push(file.complaint(number, MESSAGE));
                }
            }
        }
    }
    complaints
}

/// The name of the public function that a line declares; C functions are exported by their names.
fn public_function(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let (qualifiers, rest) = rest.split_once("fn ")?;
    let is_plain = qualifiers.split_whitespace().all(|word| matches!(word, "const" | "unsafe" | "async"));
    words(rest).next().filter(|_| is_plain)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_are_named_outside_pass() {
        let root = "//! Here only what this file re-exports is public.\npub const fn used() {}\n";
        let files = [("a/src/lib.rs", root), ("b/src/lib.rs", "fn f() { a::used() }\npub fn other() {}\n")];
        assert_eq!(check(&Sources::of(&files)), []);
    }

    #[test]
    fn functions_that_nothing_outside_names_are_reported() {
        let root = "//! Here only what this file re-exports is public.\npub(crate) fn inner() {}\n";
        let part = "impl A {\n    pub unsafe fn unused(&self) {}\n}\npub extern \"C\" fn exported() {}\n";
        let complaints = check(&Sources::of(&[("a/src/lib.rs", root), ("a/src/part.rs", part), ("b/x.rs", "")]));
        let messages: Vec<_> = complaints.iter().map(ToString::to_string).collect();
        assert_eq!(messages, [format!("a/src/part.rs:2: {MESSAGE}")]);
    }
}
