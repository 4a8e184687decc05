//! The order of modules, in crates whose root lists them from the top to the bottom and says [`PROMISE`].

use std::collections::HashMap;

use super::Complaint;
use crate::tidy::sources::{Source, Sources};

/// The sentence in the documentation of a crate's root, under `# Modules`.
const PROMISE: &str = "Each uses those below it, and none above";

pub(super) fn check(sources: &Sources) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for root in sources.ending("src/lib.rs").filter(|root| root.text.contains(PROMISE)) {
        let ranks = ranks(root);
        for (number, line) in root.lines() {
            if let Some(module) = declared(line).filter(|module| !ranks.contains_key(module) && !is_test(module)) {
                complaints.push(root.complaint(number, format!("the list of modules lacks `{module}`: put it there")));
            }
        }
        let folder = format!("{}/", root.folder());
        for file in sources.rust() {
            let Some(module) = file.path.strip_prefix(&folder).and_then(module_of) else { continue };
            let Some(rank) = ranks.get(module) else { continue };
            let mut above: Vec<&str> = Vec::new();
            for (number, used) in uses(file) {
                if ranks.get(used).is_some_and(|other| other < rank) && !above.contains(&used) {
                    above.push(used);
                    let message = format!("`{module}` uses `{used}`, which {} lists above it: move one", root.path);
                    complaints.push(file.complaint(number, message));
                }
            }
        }
    }
    complaints
}

/// The place of each module in the list of the crate's root. Modules that one item lists are in this order, too.
fn ranks(root: &Source) -> HashMap<&str, usize> {
    let items = root.text.lines().skip_while(|line| *line != "//! # Modules").skip(1);
    let items = items.take_while(|line| line.starts_with("//!") && !line.starts_with("//! #"));
    let heads = items.filter_map(|line| line.strip_prefix("//! * ")?.split_once(": ").map(|(names, _)| names));
    heads.flat_map(|names| names.split('`').skip(1).step_by(2)).enumerate().map(|(rank, name)| (name, rank)).collect()
}

/// The module that a line of a crate's root declares.
fn declared(line: &str) -> Option<&str> {
    let line = line.trim_start_matches("pub(crate) ").trim_start_matches("pub ");
    line.strip_prefix("mod ")?.strip_suffix(';')
}

/// The top module that a file under `src` belongs to; none for the root and for tests.
fn module_of(path: &str) -> Option<&str> {
    let path = path.strip_suffix(".rs")?;
    let module = path.split('/').next()?;
    (module != "lib" && !path.split('/').any(is_test)).then_some(module)
}

/// Whether a file or module of this name has tests, or what tests need.
fn is_test(name: &str) -> bool {
    matches!(name, "tests" | "testing") || name.ends_with("_tests")
}

/// The names after `crate::` in the code of a file that is not a test's, with their lines.
fn uses(file: &Source) -> impl Iterator<Item = (usize, &str)> {
    let lines = file.lines().take_while(|(_, line)| !line.starts_with("#[cfg(test)]"));
    lines.flat_map(|(number, line)| {
        let code = line.split_once("//").map_or(line, |(code, _)| code);
        code.split("crate::").skip(1).flat_map(move |rest| {
            let inside = rest.strip_prefix('{').map_or(rest, |list| list.split('}').next().unwrap_or_default());
            let count = if inside.len() == rest.len() { 1 } else { usize::MAX };
            let names = inside.split(',').take(count).map(|name| {
                let name = name.trim();
                let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
                &name[..end]
            });
            names.map(move |name| (number, name)).collect::<Vec<_>>()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "//! # Modules\n//!\n//! Each uses those below it, and none above.\n//!\n//! * `top`: one.\n\
                        //! * `middle`, `low`: two.\n\nmod low;\nmod middle;\nmod top;\n";

    fn messages(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<(&str, &str)> = [("a/src/lib.rs", ROOT)].into_iter().chain(files.iter().copied()).collect();
        check(&Sources::of(&files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn modules_use_those_below() {
        let top = "use crate::middle::x;\nuse crate::{low, Other};\n";
        let low = "// crate::top\n#[cfg(test)]\nmod tests { use crate::top; }\n";
        assert_eq!(messages(&[("a/src/top/mod.rs", top), ("a/src/low.rs", low)]), [""; 0]);
    }

    #[test]
    fn modules_that_use_those_above_are_reported() {
        let middle = "use crate::low;\nuse crate::{low, top};\n";
        let low = "fn f() { crate::middle::g() }\n";
        assert_eq!(
            messages(&[("a/src/middle/inner.rs", middle), ("a/src/low.rs", low)]),
            [
                "a/src/middle/inner.rs:2: `middle` uses `top`, which a/src/lib.rs lists above it: move one",
                "a/src/low.rs:1: `low` uses `middle`, which a/src/lib.rs lists above it: move one",
            ]
        );
    }

    #[test]
    fn modules_that_are_not_listed_are_reported() {
        let root = format!("{ROOT}pub(crate) mod other;\n");
        let complaints = check(&Sources::of(&[("a/src/lib.rs", &root)]));
        let messages: Vec<_> = complaints.iter().map(ToString::to_string).collect();
        assert_eq!(messages, ["a/src/lib.rs:11: the list of modules lacks `other`: put it there"]);
    }
}
