//! Documentation of Rust items as Markdown.

use crate::tidy::markdown::{self, Kind};

/// The text of the comments that begin with `mark`, such as `///`.
pub(super) fn text<'a>(lines: impl Iterator<Item = &'a str>, mark: &str) -> String {
    let lines = lines.filter_map(|line| line.trim_start().strip_prefix(mark));
    let lines: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    lines.join("\n")
}

/// Documentation as a section below a heading of level `level`. `target` gives the address of what a link names; links
/// without one become text.
pub(super) fn markdown(docs: &str, level: usize, target: impl FnMut(&str) -> Option<String>) -> String {
    let mut written = String::new();
    let mut is_open = false;
    for (_, kind, line) in markdown::lines(docs) {
        written += &match kind {
            Kind::Code if line.starts_with("```") => {
                is_open = !is_open;
                if is_open { fence(line) } else { line.to_owned() }
            }
            Kind::Heading => format!("{}{line}", "#".repeat(level)),
            Kind::Code => line.to_owned(),
            _ => without_bare_links(line),
        };
        written.push('\n');
    }
    markdown::with_targets(&written, target)
}

/// The line that opens a block of code: rustdoc's own language is Rust.
fn fence(line: &str) -> String {
    match line.trim_start_matches('`') {
        "" => "```rust".to_owned(),
        "ignore" | "no_run" | "should_panic" | "compile_fail" => line.replacen("```", "```rust,", 1),
        _ => line.to_owned(),
    }
}

/// Links that rustdoc finds by their text alone, as text.
fn without_bare_links(line: &str) -> String {
    let (mut written, mut rest) = (String::new(), line);
    while let Some((before, after)) = rest.split_once("[`") {
        written.push_str(before);
        match after.split_once("`]").filter(|(_, end)| !end.starts_with('(')) {
            Some((code, end)) => {
                written.push_str(&format!("`{code}`"));
                rest = end;
            }
            None => {
                written.push_str("[`");
                rest = after;
            }
        }
    }
    written + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_is_markdown() {
        let item = "/// Sums [`Wide`] and [`one`](fn@one),\n/// or [`two`](Two).\n///\n/// # Errors\n/// None.\n///\n\
                    /// ```\n/// let a = [`b`];\n/// ```\nfn a() {}";
        let docs = text(item.lines(), "///");
        let written = markdown(&docs, 2, |target| (target == "fn@one").then(|| "#one".to_owned()));
        let expected =
            "Sums `Wide` and [`one`](#one),\nor `two`.\n\n### Errors\nNone.\n\n```rust\nlet a = [`b`];\n```\n";
        assert_eq!(written, expected);
    }

    #[test]
    fn blocks_of_code_have_a_language() {
        let opened = ["```", "```ignore", "```text", "```rust"].map(fence);
        assert_eq!(opened, ["```rust", "```rust,ignore", "```text", "```rust"]);
    }
}
