//! The links of the finished site: every file and heading that a page names is there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::links::API;
use crate::shell::{Context, Failure, Result};
use crate::tidy::links::resolve;
use crate::workspace;

/// Fails if a page of the site, outside of the API docs, has a dead link.
pub(super) fn check(folder: &Path) -> Result<()> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    let mut pages = BTreeMap::new();
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().into_owned();
        if name.ends_with(".html") && !name.starts_with(API) {
            pages.insert(name, workspace::read(&file)?);
        }
    }
    let dead = dead(&pages, |path| folder.join(path).is_file());
    if dead.is_empty() {
        println!("{} pages, and no dead link", pages.len());
        return Ok(());
    }
    Err(Failure::new(format!("dead links:\n{}", dead.join("\n"))))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).context(folder.display())? {
        let path = entry.context(folder.display())?.path();
        if path.is_dir() && !path.ends_with(API) {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// Links to files and headings that are not there, as `page: link`.
fn dead(pages: &BTreeMap<String, String>, is_file: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for (name, text) in pages {
        // The page for addresses that are not there has links from the site's root.
        if name == "404.html" {
            continue;
        }
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        for link in values(text, "href").chain(values(text, "src")) {
            let is_elsewhere =
                ["https:", "http:", "mailto:", "javascript:", "data:"].iter().any(|s| link.starts_with(s));
            let (path, anchor) = link.split_once('#').map_or((link, ""), |(path, anchor)| (path, anchor));
            let target = if path.is_empty() { name.clone() } else { resolve(folder, path) };
            let has_anchor = match pages.get(&target) {
                Some(page) => anchor.is_empty() || values(page, "id").any(|id| id == anchor),
                None => is_file(&target),
            };
            if !is_elsewhere && !has_anchor {
                found.push(format!("{name}: {link}"));
            }
        }
    }
    found
}

/// The values of an attribute.
fn values<'a>(text: &'a str, attribute: &str) -> impl Iterator<Item = &'a str> {
    let parts: Vec<&str> = text.split(&format!(" {attribute}=\"")).skip(1).collect();
    parts.into_iter().filter_map(|part| Some(part.split_once('"')?.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_links_are_found() {
        let page = "<h1 id=\"a\"></h1><a href=\"../b.html#c\"></a><a href=\"#a\"></a><a href=\"#d\"></a>\
            <img src=\"x.svg\"><a href=\"https://e\"></a><a href=\"../api/f.html\"></a><a href=\"../b.html#g\"></a>";
        let pages = [("guide/a.html", page), ("b.html", "<p id=\"c\">")];
        let pages = pages.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
        let found = dead(&pages, |path| path == "api/f.html");
        assert_eq!(found, ["guide/a.html: #d", "guide/a.html: ../b.html#g", "guide/a.html: x.svg"]);
    }
}
