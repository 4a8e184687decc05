//! The gallery: a page for each file of `examples/custom_ops`, with the source and the documentation of each op.

use super::pages::Page;
use super::rustdoc;
use crate::tidy::markdown;
use crate::tidy::sources::{Source, Sources};

const FOLDER: &str = "examples/custom_ops/src";
const ROOT: &str = "examples/custom_ops/src/lib.rs";

/// The index and the pages, in the order of the index.
pub(super) fn pages(sources: &Sources) -> Vec<Page> {
    let Some(root) = sources.file(ROOT) else { return Vec::new() };
    let head = rustdoc::text(root.text.lines(), "//!");
    let modules = modules(&head);
    let mut pages = vec![Page { path: path("index"), source: ROOT.to_owned(), text: index(&head) }];
    for module in &modules {
        let file = sources.file(&format!("{FOLDER}/{module}.rs"));
        pages.extend(file.map(|file| Page {
            path: path(module),
            source: file.path.clone(),
            text: page(file, &modules),
        }));
    }
    pages
}

fn path(name: &str) -> String {
    format!("gallery/{name}.md")
}

/// The modules that the head of the crate links, in its order.
fn modules(head: &str) -> Vec<String> {
    let links = markdown::links(head).into_iter();
    links.filter_map(|link| link.text.strip_prefix("mod@").map(str::to_owned)).collect()
}

fn index(head: &str) -> String {
    let about = rustdoc::markdown(head, 1, |target| Some(format!("/{}", path(target.strip_prefix("mod@")?))));
    let sources = FOLDER.trim_end_matches("/src");
    format!(
        "# Gallery\n\n{about}\nThe pages below are the files of `{sources}` as they are. `cargo xtask demo` builds the gallery and runs \
         each operation inside `jax.jit`, beside JAX's own functions.\n"
    )
}

/// The title of a file, which is the first phrase of its head, and what the head says besides.
fn title(head: &str) -> (String, &str) {
    let (first, rest) = head.split_once("\n\n").unwrap_or((head, ""));
    let end = first.find([':', ',', '.']).unwrap_or(first.len());
    let title = first[..end].replace('\n', " ");
    (title, if &first[end..] == "." { rest } else { head })
}

/// A part of a file.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    /// An operation: its name, its documentation, and its code.
    Op(String, String, String),
    /// What stands between them.
    Code(String),
    /// The tests, to the end.
    Tests(String),
}

fn page(file: &Source, modules: &[String]) -> String {
    let head = rustdoc::text(file.text.lines(), "//!");
    let pieces = pieces(&file.text);
    let names: Vec<&str> =
        pieces.iter().filter_map(|piece| if let Piece::Op(name, ..) = piece { Some(&**name) } else { None }).collect();
    let target = |link: &str| {
        let (kind, name) = link.split_once('@').unwrap_or(("", link));
        match kind {
            "mod" if modules.iter().any(|module| module == name) => Some(format!("/{}", path(name))),
            "fn" | "" if names.contains(&name) => Some(format!("#{name}")),
            _ => None,
        }
    };
    let (title, about) = title(&head);
    let mut text = format!("# {title}\n");
    if !about.is_empty() {
        text += &format!("\n{}", rustdoc::markdown(about, 1, target));
    }
    for piece in &pieces {
        match piece {
            Piece::Op(name, docs, code) => {
                text += &format!("\n## `{name}`\n\n{}\n{}", rustdoc::markdown(docs, 2, target), block(code));
            }
            Piece::Code(code) => text += &format!("\n{}", block(code)),
            Piece::Tests(code) => text += &format!("\n## Tests\n\n{}", block(code)),
        }
    }
    text
}

fn block(code: &str) -> String {
    format!("```rust\n{code}\n```\n")
}

/// The parts of a file after its head.
fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for item in items(text) {
        let piece = piece(&item);
        match (pieces.last_mut(), piece) {
            (Some(Piece::Tests(tests)), Piece::Code(code) | Piece::Op(_, _, code)) => *tests += &format!("\n\n{code}"),
            (Some(Piece::Code(before)), Piece::Code(code)) => *before += &format!("\n\n{code}"),
            (_, piece) => pieces.push(piece),
        }
    }
    pieces
}

/// The items of a formatted file: each begins after an empty line, in the first column.
fn items(text: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let mut after_blank = true;
    for line in text.lines().skip_while(|line| line.starts_with("//!") || line.is_empty()) {
        let begins = after_blank && !line.starts_with(char::is_whitespace);
        after_blank = line.is_empty();
        match items.last_mut() {
            Some(item) if !begins || line.is_empty() => *item += &format!("\n{line}"),
            _ => items.push(line.to_owned()),
        }
    }
    items.into_iter().map(|item| item.trim_end().to_owned()).collect()
}

fn piece(item: &str) -> Piece {
    let begins = |mark: &str| item.lines().any(|line| line.starts_with(mark));
    let named = if begins("#[custom_call") || begins("#[pointwise") {
        item.lines().find_map(function)
    } else if begins("oxcall::habana::register_custom_op!") {
        // The schema names the operator: `namespace::name(...)`.
        item.split_once('"').and_then(|(_, schema)| schema.split_once("::")?.1.split_once('(')).map(|(name, _)| name)
    } else {
        None
    };
    match named {
        Some(name) => {
            let is_docs = |line: &&str| line.trim_start().starts_with("///");
            let code: Vec<&str> = item.lines().filter(|line| !is_docs(line)).collect();
            Piece::Op(name.to_owned(), rustdoc::text(item.lines(), "///"), code.join("\n"))
        }
        None if begins("#[cfg(test)]") => Piece::Tests(item.to_owned()),
        None => Piece::Code(item.to_owned()),
    }
}

/// The name of the function that a line in the first column begins.
fn function(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ").unwrap_or(line).strip_prefix("fn ")?;
    rest.split(['<', '(']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "//! A norm: and more.\n//!\n//! It uses [`norm`](fn@norm), [`Other`] and [soft](mod@soft).\n\n\
        use oxcall::prelude::*;\n\nconst A: usize = 1;\n\n/// The norm of [`x`].\n///\n/// # Errors\n/// None.\n\
        #[custom_call]\npub fn norm<T: Float>(x: Array<T>) {\n    one();\n\n    two();\n}\n\n\
        oxcall::habana::register_custom_op! {\n    /// By descriptor.\n    pub Relu = New(\"custom_op::relu(Tensor self) -> Tensor\")\n}\n\n\
        fn one() {}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn a() {}\n}\n";

    #[test]
    fn a_file_is_a_page() {
        let file = Source { is_link: false, path: String::new(), text: FILE.to_owned() };
        let expected = "# A norm\n\nA norm: and more.\n\nIt uses [`norm`](#norm), `Other` and [soft](/gallery/soft.md).\n\n\
            ```rust\nuse oxcall::prelude::*;\n\nconst A: usize = 1;\n```\n\n## `norm`\n\nThe norm of `x`.\n\n\
            ### Errors\nNone.\n\n```rust\n#[custom_call]\npub fn norm<T: Float>(x: Array<T>) {\n    one();\n\n    two();\n}\n```\n\n\
            ## `relu`\n\nBy descriptor.\n\n```rust\noxcall::habana::register_custom_op! {\n    pub Relu = New(\"custom_op::relu(Tensor self) -> Tensor\")\n}\n```\n\n\
            ```rust\nfn one() {}\n```\n\n## Tests\n\n```rust\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn a() {}\n}\n```\n";
        assert_eq!(page(&file, &["soft".to_owned()]), expected);
    }

    #[test]
    fn titles_are_first_phrases() {
        assert_eq!(title("One norm.\n\nMore."), ("One norm".to_owned(), "More."));
        assert_eq!(title("One norm."), ("One norm".to_owned(), ""));
        assert_eq!(
            title("The style\nof habana: a norm."),
            ("The style of habana".to_owned(), "The style\nof habana: a norm.")
        );
    }

    /// Every op of the gallery has a heading on a page.
    #[test]
    fn the_gallery_has_every_op() {
        let sources = Sources::read().unwrap();
        let pages = pages(&sources);
        let headings = pages.iter().flat_map(|page| markdown::headings(&page.text).map(|(_, heading)| heading));
        let headings: Vec<&str> = headings.collect();
        let files = sources.rust().filter(|file| file.folder() == FOLDER && file.path != ROOT);
        for line in files.flat_map(|file| file.text.lines().zip(file.text.lines().skip(1))) {
            if let ("#[custom_call" | "#[pointwise", Some(name)) =
                (line.0.split(['(', ']']).next().unwrap(), function(line.1))
            {
                assert!(headings.contains(&format!("`{name}`").as_str()), "{name} has no heading");
            }
        }
        assert!(headings.len() > 40, "{headings:?}");
    }
}
