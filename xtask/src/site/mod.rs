//! `cargo xtask docs site`: the documentation as a site with search.
//!
//! The sources are the Markdown files that a code host shows. Assembling them is plain Rust, which `tidy` checks; only
//! the last step needs mdBook.
//!
//! * `contents`: the order of the pages;
//! * `pages`: their paths in the site, and their text;
//! * `links`: links of files of the repository, as links of the site;
//! * `rustdoc`: documentation of items as Markdown;
//! * `gallery`, `options`, `crates`: pages made from the code;
//! * `book`: mdBook's input, and the site in HTML;
//! * `html`: the links of the finished site.

mod book;
mod contents;
mod crates;
mod gallery;
mod html;
mod links;
mod options;
mod pages;
mod rustdoc;

pub(crate) use book::build;

use crate::tidy::Complaint;
use crate::tidy::sources::Sources;
use contents::Part;
use pages::Page;

/// The assembled documentation.
pub(crate) struct Site {
    pages: Vec<Page>,
    contents: Vec<Part>,
    /// Images: the file of the repository, and the path in the site.
    images: Vec<(String, String)>,
}

impl Site {
    fn assemble(sources: &Sources) -> Self {
        let mut pages = gallery::pages(sources);
        pages.extend(options::page(sources));
        pages.extend(crates::page(sources));
        let contents = contents::of(sources, &pages);
        let listed: Vec<&str> = contents.iter().flat_map(Part::sources).collect();
        let images = pages::images(sources);
        let map = links::Map::new(sources, &listed, &pages, &images);
        for page in &mut pages {
            page.text = map.rewritten(&page.source, &page.path, &page.text);
        }
        pages.extend(listed.iter().filter_map(|source| pages::of(sources, &map, source)));
        Self { pages, contents, images }
    }
}

/// Each page of `docs` is in the contents, each link of the site leads somewhere, and the reference of options has all.
pub(crate) fn check(sources: &Sources) -> Vec<Complaint> {
    let site = Site::assemble(sources);
    let mut complaints = contents::check(sources, &site.contents);
    complaints.extend(options::check(sources));
    complaints.extend(links::check(sources, &site));
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `tidy` checks too.
    #[test]
    fn this_repository_is_a_site_without_dead_links() {
        let complaints: Vec<String> = check(&Sources::read().unwrap()).iter().map(ToString::to_string).collect();
        assert_eq!(complaints, [""; 0]);
    }

    #[test]
    fn pages_are_read_in_the_guides_order() {
        let site = Site::assemble(&Sources::read().unwrap());
        let order: Vec<&str> = site.contents.iter().flat_map(Part::pages).collect();
        let place = |path: &str| order.iter().position(|page| *page == path).unwrap_or_else(|| panic!("no {path}"));
        assert_eq!(place("index.md"), 0);
        // Chapter 26 belongs to the first part.
        assert!(place("guide/08-testing.md") < place("guide/26-pointwise.md"));
        assert!(place("guide/26-pointwise.md") < place("guide/09-cookbook.md"));
        assert!(place("guide/27-shipping.md") < place("gallery/norm.md"));
        let mut once = order.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), order.len());
        assert_eq!(once.len(), site.pages.len());
    }
}
