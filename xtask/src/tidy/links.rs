//! Links between Markdown files: the file and the heading that each names.

use super::{Complaint, markdown};
use crate::tidy::sources::{Source, Sources};

pub(super) fn check(sources: &Sources) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in sources.markdown() {
        for link in markdown::links(&file.text) {
            if let Some(fault) = fault(sources, file, &link.text) {
                complaints.push(file.complaint(link.line, fault));
            }
        }
    }
    complaints
}

fn fault(sources: &Sources, file: &Source, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let target = if path.is_empty() { file.path.clone() } else { resolve(file.folder(), path) };
    if !target.is_empty() && !sources.paths().contains(&target) {
        return Some(format!("the link `{link}` leads nowhere: there is no `{target}`"));
    }
    let anchor = anchor.filter(|_| target.ends_with(".md"))?;
    let anchors = markdown::anchors(&sources.file(&target)?.text);
    let known = anchors.iter().any(|known| known == anchor);
    (!known).then(|| format!("the link `{link}` leads to no heading of `{target}`, which has: {}", anchors.join(", ")))
}

/// A relative path, from the root of the repository.
pub(crate) fn resolve(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_files_and_headings() {
        let sources = Sources::of(&[
            (
                "docs/a.md",
                "# A\n[b](guide/b.md#two) [root](../README.md) [folder](guide) [self](#a) [c](https://c#d)\n",
            ),
            ("docs/guide/b.md", "# One\n## Two\n"),
            ("README.md", "[a](docs/a.md)\n"),
        ]);
        assert_eq!(check(&sources), []);
    }

    #[test]
    fn a_link_to_nothing_is_reported() {
        let sources = Sources::of(&[("docs/a.md", "# A\n\n[b](b.md), [c](#c)\n")]);
        let messages: Vec<_> = check(&sources).iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            [
                "docs/a.md:3: the link `b.md` leads nowhere: there is no `docs/b.md`",
                "docs/a.md:3: the link `#c` leads to no heading of `docs/a.md`, which has: a",
            ]
        );
    }
}
