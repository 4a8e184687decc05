//! The indexes: each chapter of the guide is in its lists, and each page of `docs` is linked from somewhere.

use std::collections::BTreeSet;

use super::links::resolve;
use super::{Complaint, markdown};
use crate::tidy::sources::{Source, Sources};

const GUIDE: &str = "docs/guide";

/// The lists of chapters; those that are there have all.
const INDEXES: [&str; 2] = ["docs/guide/README.md", "docs/guide/SUMMARY.md"];

pub(super) fn check(sources: &Sources) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for index in INDEXES.iter().filter_map(|path| sources.file(path)) {
        let linked: BTreeSet<String> = targets(index).collect();
        let chapters = sources.markdown().filter(|file| file.folder() == GUIDE);
        for chapter in chapters.filter(|file| !INDEXES.contains(&file.path.as_str()) && !linked.contains(&file.path)) {
            complaints.push(index.complaint(1, format!("the chapter `{}` is missing: link it", chapter.name())));
        }
    }
    let others = |page: &Source| {
        let files = sources.markdown().filter(|file| file.path != page.path);
        files.flat_map(targets).any(|target| target == page.path)
    };
    for page in sources.markdown().filter(|file| file.folder() == "docs" && !others(file)) {
        complaints.push(page.complaint(1, "no Markdown file links to this page: link it where readers look for it"));
    }
    complaints
}

/// The files to which the links of a page lead.
fn targets(file: &Source) -> impl Iterator<Item = String> {
    let paths = markdown::links(&file.text).into_iter().map(|link| link.text.split('#').next().map(str::to_owned));
    paths.flatten().filter(|path| !path.contains("://")).map(|path| resolve(file.folder(), &path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complete_indexes_pass() {
        let sources = Sources::of(&[
            ("docs/guide/README.md", "[1](01-a.md)"),
            ("docs/guide/01-a.md", "see [abi](../abi.md#old)"),
            ("docs/abi.md", ""),
        ]);
        assert_eq!(check(&sources), []);
    }

    #[test]
    fn a_chapter_and_a_page_without_links_are_reported() {
        let sources = Sources::of(&[
            ("docs/guide/README.md", "[1](01-a.md)"),
            ("docs/guide/SUMMARY.md", "[1](01-a.md) [2](02-b.md)"),
            ("docs/guide/01-a.md", ""),
            ("docs/guide/02-b.md", ""),
            ("docs/abi.md", "[self](abi.md)"),
        ]);
        let messages: Vec<_> = check(&sources).iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            [
                "docs/guide/README.md:1: the chapter `02-b.md` is missing: link it",
                "docs/abi.md:1: no Markdown file links to this page: link it where readers look for it",
            ]
        );
    }
}
