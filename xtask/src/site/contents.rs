//! The order of the pages: the guide's own, then what is looked up.

use super::pages::{self, Page};
use crate::tidy::Complaint;
use crate::tidy::links::resolve;
use crate::tidy::markdown;
use crate::tidy::sources::Sources;

const FRONT: &str = "README.md";
const GUIDE: &str = "docs/guide/README.md";

/// A part of the contents, under a title; the first has none.
pub(super) struct Part {
    pub(super) title: Option<String>,
    pub(super) chapters: Vec<Chapter>,
}

/// A page, with those below it.
pub(super) struct Chapter {
    pub(super) title: String,
    pub(super) path: String,
    /// The file of the repository, unless the page is made from code.
    source: Option<String>,
    pub(super) below: Vec<Chapter>,
}

impl Part {
    fn chapters(&self) -> impl Iterator<Item = &Chapter> {
        self.chapters.iter().flat_map(|chapter| std::iter::once(chapter).chain(&chapter.below))
    }

    /// The Markdown files of its pages.
    pub(super) fn sources(&self) -> impl Iterator<Item = &str> {
        self.chapters().filter_map(|chapter| chapter.source.as_deref())
    }

    /// The paths of its pages in the site.
    #[cfg(test)]
    pub(super) fn pages(&self) -> impl Iterator<Item = &str> {
        self.chapters().map(|chapter| chapter.path.as_str())
    }
}

/// An entry of the parts that follow the guide.
enum Entry {
    /// A Markdown file.
    File(&'static str),
    /// The index of a folder, with the pages below it in the order in which it links them.
    Folder(&'static str),
    /// A page that is made from the code, by its path in the site, and those of its folder below it.
    Made(&'static str),
}

use Entry::{File, Folder, Made};

const PARTS: &[(&str, &[Entry])] = &[
    ("Coming from elsewhere", &[Folder("docs/coming-from"), File("docs/not-for.md")]),
    ("Examples", &[Made("gallery/index.md")]),
    (
        "Reference",
        &[
            Made("reference/options.md"),
            Made("reference/crates.md"),
            File("docs/plugin-ops.md"),
            File("docs/c-boundary.md"),
            File("docs/legacy-encoding.md"),
            File("docs/limitations.md"),
            File("docs/stability.md"),
        ],
    ),
    (
        "Supported versions",
        &[
            File("docs/reference/matrix.md"),
            File("docs/reference/plugin-matrix.md"),
            File("docs/reference/torch-matrix.md"),
            File("docs/reference/abi.md"),
        ],
    ),
    (
        "Performance",
        &[
            File("docs/bench/plugin.md"),
            File("docs/bench/ffi.md"),
            File("docs/bench/jax.md"),
            File("docs/bench/pointwise.md"),
            File("docs/bench/torch.md"),
            File("docs/bench/gpu.md"),
            File("docs/bench/linalg.md"),
            File("docs/bench/devices.md"),
            File("docs/bench/lines.md"),
        ],
    ),
    (
        "Evidence",
        &[
            File("docs/testing.md"),
            File("docs/reference/conformance.md"),
            File("docs/reference/downstream.md"),
            File("docs/jax-tests.md"),
            File("docs/fuzz.md"),
            File("docs/mutants.md"),
            File("docs/reference/coverage.md"),
            File("docs/reference/soak.md"),
        ],
    ),
    (
        "Project",
        &[
            File("CHANGELOG.md"),
            File("ARCHITECTURE.md"),
            Folder("docs/decisions"),
            File("CONTRIBUTING.md"),
            File("SECURITY.md"),
        ],
    ),
];

/// The contents, in which `made` are the pages from the code.
pub(super) fn of(sources: &Sources, made: &[Page]) -> Vec<Part> {
    let front = [FRONT, GUIDE].into_iter().filter_map(|path| chapter(sources, path));
    let mut parts = vec![Part { title: None, chapters: front.collect() }];
    parts.extend(guide(sources));
    for (title, entries) in PARTS {
        let chapters = entries.iter().filter_map(|entry| match entry {
            File(path) => chapter(sources, path),
            Folder(folder) => {
                let index = format!("{folder}/README.md");
                let linked = linked(sources, &index).into_iter().filter(|path| path.starts_with(folder));
                let below: Vec<Chapter> = linked.filter_map(|path| chapter(sources, &path)).collect();
                Some(Chapter { below, ..chapter(sources, &index)? })
            }
            Made(path) => {
                let mut pages = made.iter().filter(|page| page.path == *path).chain(below(made, path)).map(of_page);
                let first = pages.next()?;
                Some(Chapter { below: pages.collect(), ..first })
            }
        });
        parts.push(Part { title: Some((*title).to_owned()), chapters: chapters.collect() });
    }
    parts.retain(|part| !part.chapters.is_empty());
    parts
}

/// The pages of the folder of which `index` is the index.
fn below<'a>(made: &'a [Page], index: &str) -> impl Iterator<Item = &'a Page> {
    let folder = index.strip_suffix("index.md").map(str::to_owned);
    let index = index.to_owned();
    made.iter()
        .filter(move |page| folder.as_deref().is_some_and(|folder| page.path.starts_with(folder)) && page.path != index)
}

fn of_page(page: &Page) -> Chapter {
    Chapter { title: page.title().to_owned(), path: page.path.clone(), source: None, below: Vec::new() }
}

/// The entry of a Markdown file; `None` where there is no such file.
fn chapter(sources: &Sources, source: &str) -> Option<Chapter> {
    let title = pages::title(&sources.file(source)?.text).to_owned();
    Some(Chapter { title, path: pages::path(source), source: Some(source.to_owned()), below: Vec::new() })
}

/// The Markdown files to which a page links, each once.
fn linked(sources: &Sources, page: &str) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(file) = sources.file(page) {
        add_linked(file.folder(), &file.text, &mut found);
    }
    found
}

fn add_linked(folder: &str, text: &str, found: &mut Vec<String>) {
    for link in markdown::links(text) {
        let path = resolve(folder, link.text.split('#').next().unwrap_or_default());
        if path.ends_with(".md") && !found.contains(&path) {
            found.push(path);
        }
    }
}

/// The parts of the guide, as its index has them: a heading for each, and links to the chapters below it.
fn guide(sources: &Sources) -> Vec<Part> {
    let Some(index) = sources.file(GUIDE) else { return Vec::new() };
    let mut parts = Vec::new();
    for section in index.text.split("\n## ").skip(1) {
        let (title, rest) = section.split_once('\n').unwrap_or((section, ""));
        if !title.starts_with("Part ") {
            continue;
        }
        let mut paths = Vec::new();
        add_linked(index.folder(), rest, &mut paths);
        let chapters = paths.iter().filter_map(|path| chapter(sources, path)).collect();
        parts.push(Part { title: Some(format!("Guide, {}", title.replacen("Part", "part", 1))), chapters });
    }
    parts
}

/// The chapters of the guide, in its order.
pub(super) fn guide_chapters(sources: &Sources) -> Vec<String> {
    let parts = guide(sources);
    parts.iter().flat_map(Part::sources).map(str::to_owned).collect()
}

/// Pages of `docs` that are missing, pages that are there twice, and entries without a page.
pub(super) fn check(sources: &Sources, contents: &[Part]) -> Vec<Complaint> {
    let listed: Vec<&str> = contents.iter().flat_map(Part::sources).collect();
    let mut complaints = Vec::new();
    for page in sources.markdown().filter(|file| file.path.starts_with("docs/")) {
        let times = listed.iter().filter(|path| **path == page.path).count();
        if times == 0 {
            let message = "the site's contents lack this page: add it to `PARTS` in xtask/src/site/contents.rs";
            complaints.push(page.complaint(1, message));
        } else if times > 1 {
            complaints.push(page.complaint(1, "the site's contents have this page twice: remove it from one place"));
        }
    }
    let entries = PARTS.iter().flat_map(|(_, entries)| *entries);
    for path in entries.filter_map(|entry| if let File(path) = entry { Some(path) } else { None }) {
        if let (None, Some(front)) = (sources.file(path), sources.file(FRONT)) {
            let message = format!("the site's contents have `{path}`, which is not there: remove it from contents.rs");
            complaints.push(front.complaint(1, message));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(files: &[(&str, &str)]) -> Vec<String> {
        let sources = Sources::of(files);
        check(&sources, &of(&sources, &[])).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_page_that_the_contents_lack_is_reported() {
        let guide = "# Guide\n\n## Part 1: One\n\n[1](01-a.md#b)\n\n## Other\n\n[2](02-b.md)\n";
        let files = [(GUIDE, guide), ("docs/guide/01-a.md", "# 1 A\n"), ("docs/guide/02-b.md", "# 2 B\n")];
        let found = messages(&files);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("docs/guide/02-b.md:1: the site's contents lack this page"), "{found:?}");
    }

    #[test]
    fn an_entry_without_a_page_is_reported() {
        let found = messages(&[(FRONT, "# a\n")]);
        assert!(
            found.iter().any(|message| message.contains("have `docs/testing.md`, which is not there")),
            "{found:?}"
        );
    }

    #[test]
    fn a_folder_has_its_pages_below_its_index() {
        let index = "# Decisions\n\n[2](0002-b.md) [1](0001-a.md) [again](0002-b.md) [out](../testing.md)\n";
        let sources = Sources::of(&[
            ("docs/decisions/README.md", index),
            ("docs/decisions/0001-a.md", "# 0001: A\n"),
            ("docs/decisions/0002-b.md", "# 0002: B\n"),
            ("docs/testing.md", "# Tests\n"),
        ]);
        let contents = of(&sources, &[]);
        let project = contents.last().unwrap();
        let titles: Vec<&str> = project.chapters().map(|chapter| chapter.title.as_str()).collect();
        assert_eq!(titles, ["Decisions", "0002: B", "0001: A"]);
    }
}
