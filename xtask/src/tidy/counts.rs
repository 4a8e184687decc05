//! Numbers in the documents that follow from the sources.

use std::collections::BTreeSet;

use super::Complaint;
use super::markdown::{Kind, lines};
use crate::python::pins;
use crate::tidy::sources::{Source, Sources};

/// A phrase with a number in it, in digits or as a word, and what it counts.
struct Count {
    before: &'static str,
    after: &'static str,
    count: fn(&Sources) -> usize,
}

const COUNTS: &[Count] = &[
    Count { before: " exports ", after: " functions", count: exports },
    Count { before: " ", after: " exported symbols", count: exports },
    Count { before: " ", after: " status codes", count: codes },
    Count { before: " artifacts of ", after: " releases", count: releases },
    Count { before: " headers of ", after: " jaxlibs", count: |_| pins::PEERS.len() },
    Count { before: " all ", after: " layouts", count: |_| pins::ALL_PEERS.len() },
    Count { before: " C++ handlers of ", after: " jaxlibs", count: |_| pins::ALL_PEERS.len() },
];

const WORDS: [&str; 21] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];

/// C functions that an op library exports.
fn exports(sources: &Sources) -> usize {
    let file = sources.file("ffi/src/exports.rs");
    file.map_or(0, |file| file.text.matches(" unsafe(no_mangle))]").count())
}

/// Status codes of errors.
fn codes(sources: &Sources) -> usize {
    sources.file("ffi/src/error.rs").map_or(0, |file| file.text.matches(" = XLA_FFI_Error_Code_").count())
}

/// Releases of StableHLO whose artifacts the reader is tested with: a file of each program for each.
fn releases(sources: &Sources) -> usize {
    let artifacts = sources.ending(".mlirbc").filter(|file| file.path.starts_with("plugin/hlo/tests/bytecode/corpus/"));
    artifacts.map(Source::name).collect::<BTreeSet<_>>().len()
}

pub(super) fn check(sources: &Sources) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in sources.markdown().filter(|file| file.path != "CHANGELOG.md") {
        let (text, starts) = prose(&file.text);
        for &Count { before, after, count } in COUNTS {
            for (end, _) in text.match_indices(after) {
                let start = text[..end].rfind(' ').map_or(0, |at| at + 1);
                let Some(stated) = number(&text[start..end]).filter(|_| text[..start].ends_with(before)) else {
                    continue;
                };
                let actual = count(sources);
                if stated != actual {
                    let line = starts.iter().rfind(|(at, _)| *at <= start).map_or(1, |(_, line)| *line);
                    let message = format!("`{}{after}`: the sources have {actual}", &text[start..end]);
                    complaints.push(file.complaint(line, message));
                }
            }
        }
    }
    complaints
}

/// A number in digits or as a word.
fn number(word: &str) -> Option<usize> {
    let word = word.to_lowercase();
    WORDS.iter().position(|name| *name == word).or_else(|| word.replace(',', "").parse().ok())
}

/// The text outside code in one line, and where in it each line begins.
fn prose(text: &str) -> (String, Vec<(usize, usize)>) {
    let (mut joined, mut starts) = (String::from(" "), Vec::new());
    for (number, _, line) in lines(text).filter(|(_, kind, _)| *kind != Kind::Code) {
        starts.push((joined.len(), number));
        joined.push_str(line.trim());
        joined.push(' ');
    }
    (joined, starts)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPORTS: (&str, &str) = (
        "ffi/src/exports.rs",
        "#[cfg_attr(not(test), unsafe(no_mangle))]\nfn a()\n\n#[cfg_attr(not(test), unsafe(no_mangle))]\nfn b()\n",
    );

    #[test]
    fn true_numbers_pass() {
        let text = "It exports\ntwo functions. The 2 exported symbols; several functions\n";
        assert_eq!(check(&Sources::of(&[EXPORTS, ("a.md", text)])), []);
    }

    #[test]
    fn a_false_number_is_reported() {
        let text = "# A\n\nIt exports three\nfunctions. Two exported symbols; 7 exported symbols\n";
        let messages: Vec<_> =
            check(&Sources::of(&[EXPORTS, ("a.md", text)])).iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            ["a.md:3: `three functions`: the sources have 2", "a.md:4: `7 exported symbols`: the sources have 2",]
        );
    }
}
