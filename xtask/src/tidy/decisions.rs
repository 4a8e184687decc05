//! The decisions: each has a number of its own, and a place in their list.

use std::collections::BTreeMap;

use super::links::resolve;
use super::{Complaint, markdown};
use crate::tidy::sources::Sources;

const FOLDER: &str = "docs/decisions";
const LIST: &str = "docs/decisions/README.md";

pub(super) fn check(sources: &Sources) -> Vec<Complaint> {
    let links = sources.file(LIST).map(|list| markdown::links(&list.text)).unwrap_or_default();
    let listed: Vec<String> = links.iter().map(|link| resolve(FOLDER, &link.text)).collect();
    let mut numbers = BTreeMap::new();
    let mut complaints = Vec::new();
    for file in sources.markdown().filter(|file| file.folder() == FOLDER && file.path != LIST) {
        let (number, _) = file.name().split_once('-').unwrap_or((file.name(), ""));
        if number.len() != 4 || !number.bytes().all(|digit| digit.is_ascii_digit()) {
            complaints.push(file.complaint(1, "the name of a decision begins with four digits: `NNNN-title.md`"));
        } else if let Some(other) = numbers.insert(number, file.name()) {
            complaints
                .push(file.complaint(1, format!("`{other}` has the number {number} too: take the next free one")));
        }
        if !listed.contains(&file.path) {
            complaints.push(file.complaint(1, format!("{LIST} does not list this decision: add a link")));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_decisions_pass() {
        let sources = Sources::of(&[
            (LIST, "[1](0001-a.md)\n[2](0002-b.md)\n"),
            ("docs/decisions/0001-a.md", "# A\n"),
            ("docs/decisions/0002-b.md", "# B\n"),
        ]);
        assert_eq!(check(&sources), []);
    }

    #[test]
    fn equal_numbers_names_without_one_and_unlisted_ones_are_reported() {
        let sources = Sources::of(&[
            (LIST, "[1](0001-a.md)\n[2](0001-b.md)\n"),
            ("docs/decisions/0001-a.md", "# A\n"),
            ("docs/decisions/0001-b.md", "# B\n"),
            ("docs/decisions/two.md", "# C\n"),
        ]);
        let messages: Vec<_> = check(&sources).iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            [
                "docs/decisions/0001-b.md:1: `0001-a.md` has the number 0001 too: take the next free one",
                "docs/decisions/two.md:1: the name of a decision begins with four digits: `NNNN-title.md`",
                "docs/decisions/two.md:1: docs/decisions/README.md does not list this decision: add a link",
            ]
        );
    }
}
