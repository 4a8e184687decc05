//! The reference of the macros: their documentation, and the chapters of the guide that use each option.

use super::pages::Page;
use super::{contents, rustdoc};
use crate::tidy::Complaint;
use crate::tidy::markdown;
use crate::tidy::sources::Sources;

const MACROS: &str = "macros/src/lib.rs";

const HEAD: &str = "# Options of the macros

What may stand in `#[custom_call]`, `#[pointwise]` and the other macros. The compiler refuses everything else, and names
the options that there are. [The guide](/guide/index.md) introduces them one by one; the table at the end says where.
";

/// The words that a parser accepts, and the macro whose documentation has to have them.
struct Words {
    file: &'static str,
    constant: &'static str,
    item: &'static str,
}

const WORDS: [Words; 5] = [
    Words { file: "macros/src/options.rs", constant: "OPTIONS", item: "#[custom_call]" },
    Words { file: "macros/src/options.rs", constant: "VMAP", item: "#[custom_call]" },
    Words { file: "macros/src/options.rs", constant: "AUTOCAST", item: "#[custom_call]" },
    Words { file: "macros/src/attrs.rs", constant: "HELPERS", item: "#[custom_call]" },
    Words { file: "macros/src/pointwise.rs", constant: "OPTIONS", item: "#[pointwise]" },
];

/// The page.
pub(super) fn page(sources: &Sources) -> Option<Page> {
    let macros = macros(&sources.file(MACROS)?.text);
    let mut text = HEAD.to_owned();
    for (item, docs) in &macros {
        text += &format!("\n## `{item}`\n\n{}", rustdoc::markdown(docs, 2, |target| address(target, &macros)));
    }
    text += "\n## Options in the guide\n\n| option | chapters |\n|---|---|\n";
    for option in words(sources, &WORDS[0]) {
        let chapters = chapters(sources, &option);
        if !chapters.is_empty() {
            text += &format!("| `{option}` | {} |\n", chapters.join(", "));
        }
    }
    Some(Page { path: "reference/options.md".to_owned(), source: MACROS.to_owned(), text })
}

/// The macros that a crate exports, as they are written, with their documentation.
fn macros(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut docs: Vec<&str> = Vec::new();
    let mut mark = "";
    for line in text.lines() {
        if line.starts_with("///") {
            docs.push(line);
        } else if line.starts_with("#[proc_macro") {
            mark = line;
        } else if let (Some(rest), false) = (line.strip_prefix("pub fn "), mark.is_empty()) {
            let function = rest.split('(').next().unwrap_or_default();
            let item = match mark.strip_prefix("#[proc_macro_derive(") {
                Some(derive) => format!("#[derive({})]", derive.split([',', ')']).next().unwrap_or_default()),
                None if mark == "#[proc_macro_attribute]" => format!("#[{function}]"),
                None => format!("{function}!"),
            };
            found.push((item, rustdoc::text(docs.drain(..), "///")));
            mark = "";
        } else {
            docs.clear();
        }
    }
    found
}

/// Where a link of the documentation leads.
fn address(target: &str, macros: &[(String, String)]) -> Option<String> {
    // The API docs of another crate, from this one's.
    if let Some(path) = target.strip_prefix("../") {
        return Some(format!("/api/{path}"));
    }
    let item = format!("#[{}]", target.strip_prefix("macro@")?);
    let is_known = macros.iter().any(|(known, _)| *known == item);
    is_known.then(|| format!("#{}", markdown::slug(&item)))
}

/// The strings of a constant.
fn words(sources: &Sources, words: &Words) -> Vec<String> {
    let text = sources.file(words.file).map_or("", |file| &file.text);
    let start = format!("const {}: &[&str] = &[", words.constant);
    let list = text.split_once(&start).and_then(|(_, rest)| rest.split_once(']')).map_or("", |(list, _)| list);
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The chapters whose text or snippets use an option of `#[custom_call]`, as links.
fn chapters(sources: &Sources, option: &str) -> Vec<String> {
    let mut found = Vec::new();
    for path in contents::guide_chapters(sources) {
        let Some(file) = sources.file(&path).filter(|file| uses(&file.text, option)) else { continue };
        let number = super::pages::title(&file.text).split(' ').next().unwrap_or_default();
        found.push(format!("[{number}](/{})", super::pages::path(&path)));
    }
    found
}

/// Whether a text has an option in the attribute `#[custom_call(...)]`, or explains it as inline code.
fn uses(text: &str, option: &str) -> bool {
    let is_option = |part: &str| part.trim_start().strip_prefix(option).is_some_and(|rest| !rest.starts_with(is_word));
    let attributes = text.split("#[custom_call(").skip(1).filter_map(|rest| rest.split_once(")]"));
    let mut entries = attributes.flat_map(|(entries, _)| entries.split(','));
    // Names that are words of other things too need the equals sign.
    let mut codes = markdown::inline_code(text).into_iter().filter(|code| code.text.contains(" = "));
    entries.any(is_option) || codes.any(|code| is_option(&code.text))
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The words with which inline code in the documentation of a macro begins and ends.
fn documented(docs: &str) -> Vec<String> {
    let words = |code: &str| {
        let words: Vec<&str> = code.split(|letter| !is_word(letter)).filter(|word| !word.is_empty()).collect();
        [words.first(), words.last()].into_iter().flatten().map(|word| (*word).to_owned()).collect::<Vec<_>>()
    };
    markdown::inline_code(docs).iter().flat_map(|code| words(&code.text)).collect()
}

/// Words that the parsers accept and the documentation lacks.
pub(super) fn check(sources: &Sources) -> Vec<Complaint> {
    let Some(file) = sources.file(MACROS) else { return Vec::new() };
    let macros = macros(&file.text);
    let mut complaints = Vec::new();
    for list in &WORDS {
        let docs = macros.iter().find(|(item, _)| item == list.item).map_or("", |(_, docs)| docs);
        let documented = documented(docs);
        let accepted = words(sources, list);
        if accepted.is_empty() {
            let message =
                format!("`{}` has no list `{}`, which the reference of options is made from", list.file, list.constant);
            complaints.push(file.complaint(1, message));
        }
        for word in accepted.iter().filter(|word| !documented.contains(word)) {
            let message =
                format!("the documentation of `{}` lacks `{word}`, of `{}` in {}", list.item, list.constant, list.file);
            complaints.push(file.complaint(1, message));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "//! Head.\n\n/// Makes an op.\n///\n/// | `a = path` | see [`#[stage]`](macro@stage) |\n/// | `b` | [m](../oxcall/m.html) |\n\
        #[proc_macro_attribute]\npub fn custom_call(args: T) -> T {\n    // `no`\n}\n\n/// A stage.\n#[proc_macro_attribute]\n\
        pub fn stage(args: T) {}\n\n/// An enum.\n#[proc_macro_derive(AttrEnum, attributes(attr))]\npub fn derive_attr_enum() {}\n\n\
        /// Crates.\n#[proc_macro]\npub fn library() {}\n\n/// No macro.\nfn expanded() {}\n";

    #[test]
    fn macros_have_names_and_documentation() {
        let macros = macros(TEXT);
        let names: Vec<&str> = macros.iter().map(|(item, _)| item.as_str()).collect();
        assert_eq!(names, ["#[custom_call]", "#[stage]", "#[derive(AttrEnum)]", "library!"]);
        let docs = rustdoc::markdown(&macros[0].1, 2, |target| address(target, &macros));
        assert!(docs.contains("see [`#[stage]`](#stage)") && docs.contains("[m](/api/oxcall/m.html)"), "{docs}");
    }

    #[test]
    fn an_option_without_documentation_is_reported() {
        let sources = Sources::of(&[
            (MACROS, TEXT),
            ("macros/src/options.rs", "const OPTIONS: &[&str] = &[\n    \"a\",\n    \"b\",\n    \"c\",\n];\n"),
        ]);
        let messages: Vec<String> = check(&sources).iter().map(ToString::to_string).collect();
        let expected = format!(
            "{MACROS}:1: the documentation of `#[custom_call]` lacks `c`, of `OPTIONS` in macros/src/options.rs"
        );
        assert_eq!(messages[0], expected);
        let missing = format!(
            "{MACROS}:1: `macros/src/options.rs` has no list `VMAP`, which the reference of options is made from"
        );
        assert_eq!(messages[1], missing);
    }

    #[test]
    fn options_are_found_in_attributes_and_explanations() {
        assert!(uses("```rust\n#[custom_call(T = floats, vmap = \"x\", legacy)]\n```\n", "legacy"));
        assert!(uses("write `vjp = path` there", "vjp"));
        assert!(!uses("`vjp` alone, and `vjps = 1`", "vjp"));
    }
}
