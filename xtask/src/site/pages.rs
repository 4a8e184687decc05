//! The pages: their paths in the site, and their text.

use super::links::Map;
use crate::tidy::markdown;
use crate::tidy::sources::Sources;

/// A page of the site.
pub(super) struct Page {
    /// Its path in the site.
    pub(super) path: String,
    /// The file of the repository that it is made from.
    pub(super) source: String,
    pub(super) text: String,
}

impl Page {
    /// The heading.
    pub(super) fn title(&self) -> &str {
        title(&self.text)
    }
}

/// The first heading of a text.
pub(super) fn title(text: &str) -> &str {
    markdown::headings(text).next().map_or("", |(_, heading)| heading)
}

/// Where a Markdown file of the repository is in the site: `docs` is its root, and a folder's README its index.
pub(super) fn path(source: &str) -> String {
    let path = match source.strip_prefix("docs/") {
        Some(path) => path.to_owned(),
        None if source == "README.md" => source.to_owned(),
        None => format!("project/{}", source.to_lowercase()),
    };
    match path.strip_suffix("README.md") {
        Some(folder) => format!("{folder}index.md"),
        None => path,
    }
}

/// The page of a Markdown file.
pub(super) fn of(sources: &Sources, map: &Map<'_>, source: &str) -> Option<Page> {
    let file = sources.file(source)?;
    let path = path(source);
    let text = map.rewritten(source, &path, &file.text);
    Some(Page { path, source: source.to_owned(), text })
}

/// The images of `docs`, each with its path in the site.
pub(super) fn images(sources: &Sources) -> Vec<(String, String)> {
    let files = sources.files().iter().map(|file| file.path.as_str());
    let images = files.filter(|path| path.ends_with(".svg") || path.ends_with(".png"));
    images.filter_map(|path| Some((path.to_owned(), path.strip_prefix("docs/")?.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_the_site() {
        assert_eq!(path("README.md"), "index.md");
        assert_eq!(path("docs/guide/README.md"), "guide/index.md");
        assert_eq!(path("docs/guide/06-jax.md"), "guide/06-jax.md");
        assert_eq!(path("ARCHITECTURE.md"), "project/architecture.md");
    }
}
