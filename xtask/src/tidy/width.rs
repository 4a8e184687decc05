//! The width of comments and of Markdown's prose, which no formatter wraps.

use super::Complaint;
use super::markdown::{Kind, lines};
use crate::tidy::sources::Sources;

/// As rustfmt.toml and ruff.toml have it for code.
const COLUMNS: usize = 120;

pub(super) fn check(sources: &Sources) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in sources.files() {
        let mark = match file.path.rsplit('.').next() {
            Some("md") => None,
            Some("rs") => Some("//"),
            Some("py" | "toml") => Some("#"),
            _ => continue,
        };
        let mut report = |number, line: &str| {
            let columns = line.chars().count();
            if columns > COLUMNS && can_be_wrapped(line) {
                let message = format!("{columns} columns: wrap the text at {COLUMNS}");
                complaints.push(file.complaint(number, message));
            }
        };
        match mark {
            Some(mark) => {
                let comments = file.lines().filter(|(_, line)| line.trim_start().starts_with(mark));
                comments.for_each(|(number, line)| report(number, line));
            }
            None => {
                let prose = lines(&file.text).filter(|(_, kind, _)| *kind == Kind::Prose);
                prose.for_each(|(number, _, line)| report(number, line));
            }
        }
    }
    complaints
}

/// Whether a line has words to wrap: after the mark of a comment or a list, it is more than one address, link or piece
/// of inline code, and not a row of a table.
fn can_be_wrapped(line: &str) -> bool {
    let text = line.trim_start().trim_start_matches(['/', '!', '#', '-', '*', '>', ' ']);
    let link = text.starts_with(['[', '<']) && text.ends_with([')', '>']) && text.matches("](").count() <= 1;
    let code = text.trim_end_matches(['.', ',', ';', ':']).strip_prefix('`').and_then(|text| text.strip_suffix('`'));
    let code = code.is_some_and(|code| !code.contains('`'));
    text.contains(' ') && !link && !code && !text.starts_with('|')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_comments_tables_and_addresses_pass() {
        let (wide, word) = ("word ".repeat(30), "w".repeat(130));
        let rust = format!("// short\nlet text = \"{wide}\";\n// https://{word}\n/// | {wide} |\n");
        let text = format!("| {wide} |\n```\n{wide}\n```\n- [{wide}]({word})\n  `{wide}`.\n");
        assert_eq!(check(&Sources::of(&[("a.rs", &rust), ("a.md", &text), ("a.json", &wide)])), []);
    }

    #[test]
    fn wide_comments_and_prose_are_reported() {
        let wide = "word ".repeat(25);
        let rust = format!("fn a() {{\n    /// {wide}\n}}\n");
        let (python, text) = (format!("# {wide}\n"), format!("# A\n\n{wide}\n"));
        let found = check(&Sources::of(&[("a.rs", &rust), ("a.py", &python), ("a.md", &text)]));
        let messages: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            [
                "a.rs:2: 133 columns: wrap the text at 120",
                "a.py:1: 127 columns: wrap the text at 120",
                "a.md:3: 125 columns: wrap the text at 120",
            ]
        );
    }
}
