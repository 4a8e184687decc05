//! Links: those of the repository's files as links of the site, and whether those of the site lead somewhere.

use std::collections::BTreeMap;

use super::Site;
use super::pages::{self, Page};
use crate::tidy::Complaint;
use crate::tidy::links::resolve;
use crate::tidy::markdown;
use crate::tidy::sources::Sources;

/// The folder of the API docs in the site.
pub(super) const API: &str = "api";

/// Where files of the repository are in the site.
pub(super) struct Map<'a> {
    sources: &'a Sources,
    places: BTreeMap<String, String>,
    repository: String,
}

impl<'a> Map<'a> {
    pub(super) fn new(sources: &'a Sources, listed: &[&str], made: &[Page], images: &[(String, String)]) -> Self {
        let mut places: BTreeMap<String, String> = images.iter().cloned().collect();
        let of_code = made.iter().filter(|page| page.source.ends_with(".rs"));
        places.extend(of_code.map(|page| (page.source.clone(), page.path.clone())));
        places.extend(listed.iter().map(|source| ((*source).to_owned(), pages::path(source))));
        Self { sources, places, repository: repository(sources) }
    }

    /// The text of a file with the links that it has as the page `page`.
    pub(super) fn rewritten(&self, source: &str, page: &str, text: &str) -> String {
        let folder = source.rsplit_once('/').map_or("", |(folder, _)| folder);
        markdown::with_targets(text, |target| Some(self.target(folder, page, target)))
    }

    fn target(&self, folder: &str, page: &str, target: &str) -> String {
        if target.contains("://") || target.starts_with("mailto:") || target.starts_with('#') {
            return target.to_owned();
        }
        let (path, anchor) =
            target.split_once('#').map_or((target, String::new()), |(path, anchor)| (path, format!("#{anchor}")));
        // Pages that are made from code name others by their paths in the site.
        if let Some(path) = path.strip_prefix('/') {
            return relative(page, path) + &anchor;
        }
        let path = resolve(folder, path);
        let indexes = ["", "/README.md", "/src/lib.rs"];
        match indexes.iter().find_map(|index| self.places.get(&format!("{path}{index}"))) {
            Some(place) => relative(page, place) + &anchor,
            None => {
                let kind = if self.sources.file(&path).is_some() { "blob" } else { "tree" };
                format!("{}/{kind}/main/{path}{anchor}", self.repository)
            }
        }
    }
}

/// The repository's address, from the workspace's manifest.
pub(super) fn repository(sources: &Sources) -> String {
    let manifest = sources.file("Cargo.toml").map_or("", |file| &file.text);
    let value = manifest.lines().find_map(|line| line.strip_prefix("repository = \"")?.strip_suffix('"'));
    value.unwrap_or_default().trim_end_matches('/').to_owned()
}

/// The way from one path to another, below one root.
fn relative(from: &str, to: &str) -> String {
    let from: Vec<&str> = from.split('/').collect();
    let to: Vec<&str> = to.split('/').collect();
    let folders = from.len() - 1;
    let shared = from[..folders].iter().zip(&to[..to.len() - 1]).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", folders - shared);
    up.chain(to[shared..].iter().copied()).collect::<Vec<_>>().join("/")
}

/// Links of the assembled pages that lead to no page, image or heading.
pub(super) fn check(sources: &Sources, site: &Site) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let anchors: BTreeMap<&str, Vec<String>> =
        site.pages.iter().map(|page| (page.path.as_str(), markdown::anchors(&page.text))).collect();
    for page in &site.pages {
        let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for link in markdown::links(&page.text) {
            let link = link.text;
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (path, anchor) = link.split_once('#').map_or((&*link, None), |(path, anchor)| (path, Some(anchor)));
            let path = if path.is_empty() { page.path.clone() } else { resolve(folder, path) };
            let known = match anchors.get(path.as_str()) {
                Some(anchors) => anchor.is_none_or(|anchor| anchors.iter().any(|known| known == anchor)),
                None => path.starts_with(API) || site.images.iter().any(|(_, image)| *image == path),
            };
            if let (false, Some(file)) = (known, sources.file(&page.source)) {
                let message = format!("in the site, as `{}`, its link `{link}` leads nowhere", page.path);
                complaints.push(file.complaint(1, message));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [(&str, &str); 5] = [
        ("Cargo.toml", "[workspace.package]\nrepository = \"https://host/owner/name\"\n"),
        ("README.md", "# Name\n"),
        ("docs/decisions/README.md", "# Decisions\n"),
        ("docs/bench/a.svg", ""),
        ("ffi/src/lib.rs", ""),
    ];

    fn target(page: &str, target: &str) -> String {
        let sources = Sources::of(&FILES);
        let images = [("docs/bench/a.svg".to_owned(), "bench/a.svg".to_owned())];
        let map = Map::new(&sources, &["README.md", "docs/decisions/README.md"], &[], &images);
        let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
        map.target(folder, &pages::path(page), target)
    }

    #[test]
    fn links_of_files_are_links_of_pages() {
        assert_eq!(target("docs/guide/01-a.md", "../decisions/README.md#x"), "../decisions/index.md#x");
        assert_eq!(target("docs/guide/01-a.md", "../decisions"), "../decisions/index.md");
        assert_eq!(target("docs/guide/01-a.md", "../../README.md"), "../index.md");
        assert_eq!(target("docs/bench/a.md", "a.svg"), "a.svg");
        assert_eq!(target("README.md", "docs/bench/a.svg"), "bench/a.svg");
        assert_eq!(target("SECURITY.md", "README.md"), "../index.md");
        assert_eq!(target("docs/a.md", "#b"), "#b");
    }

    #[test]
    fn links_to_other_files_lead_to_the_repository() {
        let found = target("docs/guide/01-a.md", "../../ffi/src/lib.rs");
        assert_eq!(found, "https://host/owner/name/blob/main/ffi/src/lib.rs");
        assert_eq!(target("README.md", "ffi"), "https://host/owner/name/tree/main/ffi");
    }

    #[test]
    fn a_dead_link_of_a_page_is_reported() {
        let sources = Sources::of(&[("docs/a.md", "")]);
        let page = |path: &str, text: &str| Page {
            path: path.to_owned(),
            source: "docs/a.md".to_owned(),
            text: text.to_owned(),
        };
        let pages =
            vec![page("a.md", "[b](b/c.md#d) [e](b/c.md#f) [g](g.md) [h](api/h.html)"), page("b/c.md", "# D\n")];
        let site = Site { pages, contents: Vec::new(), images: Vec::new() };
        let messages: Vec<String> = check(&sources, &site).iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            [
                "docs/a.md:1: in the site, as `a.md`, its link `b/c.md#f` leads nowhere",
                "docs/a.md:1: in the site, as `a.md`, its link `g.md` leads nowhere",
            ]
        );
    }
}
