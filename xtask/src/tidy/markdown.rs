//! Markdown, as far as the checks need it: kinds of lines, inline code, links and the anchors of headings.

use std::collections::BTreeMap;
use std::ops::Range;

/// A part of a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The line on which it begins.
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A line of a fenced block, or one of its fences.
    Code,
    Heading,
    Table,
    Blank,
    /// A paragraph or a list.
    Prose,
}

/// Every line, with its number and kind.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, Kind, &str)> {
    let mut fence = None;
    (1..).zip(text.lines()).map(move |(number, line)| (number, kind(line, &mut fence), line))
}

/// The kind of a line, and whether it opens or closes a block of code.
fn kind(line: &str, fence: &mut Option<&'static str>) -> Kind {
    let start = line.trim_start();
    let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
    match (*fence, mark) {
        (None, Some(mark)) => *fence = Some(mark),
        (Some(open), Some(mark)) if open == mark => *fence = None,
        (None, None) if start.is_empty() => return Kind::Blank,
        (None, None) if start.starts_with('|') => return Kind::Table,
        (None, None) if line.starts_with('#') => return Kind::Heading,
        (None, None) => return Kind::Prose,
        _ => {}
    }
    Kind::Code
}

/// A paragraph outside blocks of code. A row of a table is one, and so is a heading.
struct Paragraph<'a> {
    /// The number of its first line.
    line: usize,
    /// Where it begins in the whole text.
    at: usize,
    text: &'a str,
}

fn paragraphs(text: &str) -> Vec<Paragraph<'_>> {
    let mut found: Vec<Paragraph<'_>> = Vec::new();
    let mut open = false;
    for (number, kind, line) in lines(text) {
        // A line is a part of the text.
        let at = line.as_ptr().addr() - text.as_ptr().addr();
        match found.last_mut().filter(|_| open && kind == Kind::Prose) {
            Some(paragraph) => paragraph.text = &text[paragraph.at..at + line.len()],
            None if matches!(kind, Kind::Code | Kind::Blank) => {}
            None => found.push(Paragraph { line: number, at, text: line }),
        }
        open = kind == Kind::Prose;
    }
    found
}

/// Takes a paragraph apart: its inline code, and the text with as many bytes of spaces in the place of the code.
fn split(paragraph: &str) -> (Vec<(usize, &str)>, String) {
    let (mut codes, mut prose, mut at) = (Vec::new(), String::new(), 0);
    while let Some(start) = paragraph[at..].find('`').map(|found| at + found) {
        let ticks = paragraph[start..].bytes().take_while(|byte| *byte == b'`').count();
        let inside = start + ticks;
        prose.push_str(&paragraph[at..start]);
        match closing(&paragraph[inside..], ticks) {
            Some(len) => {
                codes.push((inside, &paragraph[inside..inside + len]));
                at = inside + len + ticks;
                let bytes = paragraph[start..at].bytes();
                prose.extend(bytes.map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
            }
            None => {
                prose.push_str(&paragraph[start..inside]);
                at = inside;
            }
        }
    }
    prose.push_str(&paragraph[at..]);
    (codes, prose)
}

/// Where the next run of exactly this many backticks begins.
fn closing(text: &str, ticks: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(start) = text[at..].find('`').map(|found| at + found) {
        let run = text[start..].bytes().take_while(|byte| *byte == b'`').count();
        if run == ticks {
            return Some(start);
        }
        at = start + run;
    }
    None
}

/// The line of a place in a text whose first line has the number `first`.
fn line_of(text: &str, at: usize, first: usize) -> usize {
    first + text[..at].matches('\n').count()
}

/// Inline code, outside blocks of code. What a table escapes, `\|`, is a plain bar.
pub(crate) fn inline_code(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    for paragraph in paragraphs(text) {
        let spans = split(paragraph.text).0.into_iter();
        found.extend(spans.map(|(at, code)| Span {
            line: line_of(paragraph.text, at, paragraph.line),
            text: code.replace("\\|", "|").replace('\n', " "),
        }));
    }
    found
}

/// A link `[text](target)`, by its places in the whole text.
struct Link {
    line: usize,
    /// From the first bracket to the last parenthesis.
    whole: Range<usize>,
    text: Range<usize>,
    target: Range<usize>,
}

/// The links outside code.
fn all_links(text: &str) -> Vec<Link> {
    let mut found = Vec::new();
    for paragraph in paragraphs(text) {
        let prose = split(paragraph.text).1;
        found.extend(prose.match_indices("](").filter_map(|(middle, mark)| {
            let begin = middle + mark.len();
            let inside = prose[begin..].split_once(')')?.0;
            // A title may follow the target.
            let target = begin..begin + inside.split_whitespace().next()?.len();
            let start = prose[..middle].rfind('[')?;
            let place = |range: Range<usize>| paragraph.at + range.start..paragraph.at + range.end;
            Some(Link {
                line: line_of(&prose, begin, paragraph.line),
                whole: place(start..begin + inside.len() + 1),
                text: place(start + 1..middle),
                target: place(target),
            })
        }));
    }
    found
}

/// The targets of `[text](target)` outside code.
pub(crate) fn links(text: &str) -> Vec<Span> {
    let links = all_links(text).into_iter();
    links.map(|link| Span { line: link.line, text: text[link.target].to_owned() }).collect()
}

/// The text with other targets of links; a link without one is replaced by its text.
pub(crate) fn with_targets(text: &str, mut target: impl FnMut(&str) -> Option<String>) -> String {
    let (mut written, mut at) = (String::new(), 0);
    for link in all_links(text) {
        match target(&text[link.target.clone()]) {
            Some(target) => {
                written.push_str(&text[at..link.target.start]);
                written.push_str(&target);
                at = link.target.end;
            }
            None => {
                written.push_str(&text[at..link.whole.start]);
                written.push_str(&text[link.text]);
                at = link.whole.end;
            }
        }
    }
    written.push_str(&text[at..]);
    written
}

/// Headings, without their marks.
pub(crate) fn headings(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let headings = lines(text).filter(|(_, kind, _)| *kind == Kind::Heading);
    headings.map(|(number, _, line)| (number, line.trim_start_matches('#').trim()))
}

/// The anchors to which links may lead: those that GitHub makes of headings, and those that are written as HTML.
pub(crate) fn anchors(text: &str) -> Vec<String> {
    let mut times = BTreeMap::<String, usize>::new();
    let mut found = Vec::new();
    for (_, heading) in headings(text) {
        let slug = slug(heading);
        let count = times.entry(slug.clone()).or_default();
        found.push(if *count == 0 { slug } else { format!("{slug}-{count}") });
        *count += 1;
    }
    for mark in ["<a id=\"", "<a name=\""] {
        found.extend(text.split(mark).skip(1).filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())));
    }
    found
}

/// A heading's anchor: what it shows in lower case, with hyphens for spaces and without other signs.
pub(crate) fn slug(heading: &str) -> String {
    // Of a link, only the text is shown.
    let mut shown = String::new();
    let mut rest = heading;
    while let Some((before, after)) = rest.split_once("](") {
        shown.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    shown.push_str(rest);
    let kept = shown.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.flat_map(char::to_lowercase).map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(spans: &[Span]) -> Vec<(usize, &str)> {
        spans.iter().map(|span| (span.line, span.text.as_str())).collect()
    }

    #[test]
    fn links_outside_code_are_found() {
        let text =
            "[a](x.md) and [b](y.md#z), `#[dims](no)`\n```\n[c](no)\n```\nover\n[d](z \"title\") `[e](no`\n`no)`";
        assert_eq!(texts(&links(text)), [(1, "x.md"), (1, "y.md#z"), (6, "z")]);
    }

    #[test]
    fn targets_are_replaced_and_links_without_one_become_text() {
        let text = "[`a[0]` é](x.md) and [b](gone) over\n[c](z \"title\") `[d](no)`\n```\n[e](no)\n```\n";
        let written = with_targets(text, |target| (target != "gone").then(|| format!("to/{target}")));
        let expected = "[`a[0]` é](to/x.md) and b over\n[c](to/z \"title\") `[d](no)`\n```\n[e](no)\n```\n";
        assert_eq!(written, expected);
    }

    #[test]
    fn inline_code_may_go_over_lines() {
        let text = "`a` and ``b ` c``, a lone ` here\n\n| `d\\|e` |\n```\n`no`\n```\n`f\ng` `h`";
        assert_eq!(texts(&inline_code(text)), [(1, "a"), (1, "b ` c"), (3, "d|e"), (7, "f g"), (8, "h")]);
    }

    #[test]
    fn lines_have_kinds() {
        let text = "# a\n\n| b |\n~~~\n# c\n```\n~~~\nd";
        let kinds: Vec<_> = lines(text).map(|(_, kind, _)| kind).collect();
        use Kind::{Blank, Code, Heading, Prose, Table};
        assert_eq!(kinds, [Heading, Blank, Table, Code, Code, Code, Code, Prose]);
    }

    #[test]
    fn anchors_are_those_of_github() {
        let text =
            "# `ffi-sys`: crate `xla_ffi`\n## One, [two](x.md#y) & three\n## Again\n## Again\n<a id=\"here\"></a>";
        assert_eq!(anchors(text), ["ffi-sys-crate-xla_ffi", "one-two--three", "again", "again-1", "here"]);
    }
}
