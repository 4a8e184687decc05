//! The style of imports: a `use` for each module, whose braces hold names and no paths.

use super::Complaint;
use crate::tidy::sources::Sources;

const MESSAGE: &str = "a path within the braces of a `use`: write one `use` for each module";

pub(super) fn check(sources: &Sources) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in sources.rust() {
        // The line where an import begins, and its text up to here.
        let mut open: Option<(usize, String)> = None;
        for (number, line) in file.lines() {
            if open.is_none() && begins(line) {
                open = Some((number, String::new()));
            }
            let Some((first, text)) = &mut open else { continue };
            text.push_str(line);
            let Some((import, _)) = text.split_once(';') else { continue };
            if import.split_once('{').is_some_and(|(_, inside)| inside.contains("::") || inside.contains('{')) {
                complaints.push(file.complaint(*first, MESSAGE));
            }
            open = None;
        }
    }
    complaints
}

/// Whether a line begins an import.
fn begins(line: &str) -> bool {
    let line = line.trim_start();
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')').map_or(rest, |(_, rest)| rest).trim_start(),
        Some(rest) => rest.trim_start(),
        None => line,
    };
    line.starts_with("use ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_braces_pass() {
        let text = "use a::{self, b as c};\nuse d::e::{\n    f,\n    g,\n};\npub(crate) use h::i;\nfn used() { a::b::<{ 1 }>() }\n";
        assert_eq!(check(&Sources::of(&[("a.rs", text)])), []);
    }

    #[test]
    fn paths_in_braces_are_reported() {
        let text = "use z;\npub(crate) use a::{\n    b::{c, d},\n    e,\n};\n    pub use a::{b::c, d};\nuse {f, g};\n";
        let messages: Vec<_> = check(&Sources::of(&[("a.rs", text)])).iter().map(ToString::to_string).collect();
        assert_eq!(messages, [format!("a.rs:2: {MESSAGE}"), format!("a.rs:6: {MESSAGE}")]);
    }
}
