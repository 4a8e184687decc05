//! The page of the API docs: one line for each crate.

use super::links::API;
use super::pages::Page;
use crate::tidy::sources::Sources;

const HEAD: &str = "# API documentation

What `cargo doc` says of each public item, crate by crate. To write ops you need `oxcall` alone; its
[prelude](/api/oxcall/prelude/index.html) has what most ops use.

| crate | contents |
|---|---|
";

/// The page, with the crates that may be published, `oxcall` first.
pub(super) fn page(sources: &Sources) -> Option<Page> {
    let manifests = sources.ending("Cargo.toml").filter(|file| !file.text.contains("publish = false"));
    let value = |text: &str, key: &str| {
        let start = format!("{key} = \"");
        text.lines().find_map(|line| Some(line.strip_prefix(&start)?.strip_suffix('"')?.to_owned()))
    };
    let mut crates: Vec<(String, String)> = manifests
        .filter_map(|file| Some((value(&file.text, "name")?, value(&file.text, "description").unwrap_or_default())))
        .collect();
    crates.sort_by_key(|(name, _)| (name != "oxcall", name.clone()));
    let rows = crates
        .iter()
        .map(|(name, about)| format!("| [`{name}`](/{API}/{}/index.html) | {about} |\n", name.replace('-', "_")));
    let text = HEAD.to_owned() + &rows.collect::<String>();
    let source = "Cargo.toml".to_owned();
    (!crates.is_empty()).then(|| Page { path: "reference/crates.md".to_owned(), source, text })
}
